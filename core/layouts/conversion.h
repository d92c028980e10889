/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/conversion.h - how long conversions of multiformat data take:
 * conversions are parts of the tasks that use the data, but have models as tasks have.
 * Any context, no lock held.
 */
#pragma once

#include <starpu.h>

struct orr_handle;
struct orr_runtime;
struct orr_worker;

/* Simulated: µs of the codelet by its model, or as assumed; 0 if it has no model or is
 * not for workers of the class. A model without a value ends the run with a message. */
double orr_conversion_us(struct orr_runtime *rt, struct starpu_codelet *cl,
                         struct orr_handle *handle, unsigned class_id);

/* The codelet took `us` on a real machine's worker: adds that to its model, if it has
 * one. */
void orr_conversion_measure(struct orr_runtime *rt, struct starpu_codelet *cl,
                            struct orr_handle *handle,
                            const struct orr_worker *worker, double us);

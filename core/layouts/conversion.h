/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/conversion.h - what conversions of multiformat data take: they are no
 * tasks, but parts of those that use the data, and have models as if they were. Any
 * context, no lock held.
 */
#pragma once

#include <starpu.h>

struct orr_handle;
struct orr_runtime;
struct orr_worker;

/* Simulated: µs of the codelet's model, or what is assumed; 0 if it has no model or
 * is not for workers of the class. Ends the run with a message if it has one that
 * does not know. */
double orr_conversion_us(struct orr_runtime *rt, struct starpu_codelet *cl,
                         struct orr_handle *handle, unsigned class_id);

/* It took `us` on the worker of a real machine: feeds the model, if there is one. */
void orr_conversion_measure(struct orr_runtime *rt, struct starpu_codelet *cl,
                            struct orr_handle *handle,
                            const struct orr_worker *worker, double us);

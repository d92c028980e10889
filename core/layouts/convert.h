/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/convert.h - data that have a form per sort of device get that of the
 * node on which a job uses them. Called by the context that is about to use them, when
 * it has them; no lock held.
 */
#pragma once

#include "core/device/kind.h"

struct orr_job;
struct orr_runtime;
struct orr_worker;

struct orr_converter {
    /* The function of a codelet that converts, on the device where the data are used;
     * NULL: it has none. */
    orr_kernel_func_t (*function_of)(const struct starpu_codelet *cl,
                                     const struct orr_worker *worker);
    const struct orr_worker *worker; /* NULL: the application uses them */
};

/* Converts what has to be converted; where kernels are skipped it is only marked as
 * converted. Feeds the models of the codelets on a real machine, and returns the µs
 * that it took there. */
double orr_job_convert(struct orr_runtime *rt, const struct orr_job *job,
                       const struct orr_converter *converter);

/* Simulated: µs that this takes on a worker of the class, by the models of the
 * codelets; those without a model take none. Before orr_job_convert. */
double orr_job_conversion_us(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned class_id);

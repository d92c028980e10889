/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/results.h - the parts of the results of `orrery validate`:
 * kernels.c, links.c, ends.c. One thread.
 */
#pragma once

#include "tools/validate/validate.h"

/* Sorts the values. */
struct validate_spread validate_spread_of(double *values, unsigned n);

static inline const struct report *validation_report(const struct validation *v,
                                                     unsigned size,
                                                     unsigned rep,
                                                     bool simulated)
{
    return &validation_run(v, size, rep, simulated)->report;
}

/* Each fills its part of the results; `work` has room for a value of each
 * repetition and each size. Errors: -ENOMEM. */
int validate_measure_kernels(struct validation *v, double *work);
int validate_compare_links(struct validation *v, double *work);
void validate_compare_ends(struct validation *v, double *work);

/* The verdicts on kernels that were measured. Errors: -ENOMEM; -EINVAL, with a
 * message, when models cannot be read. */
int validate_judge_kernels(struct validation *v);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/curve_private.h - points prepared for fitting, shared by curve.c,
 * power_regression.c and interpolate.c. Plain data, no threads.
 */
#pragma once

#include "perfmodel/curve.h"

/* Points sorted by size, one per size, with their logarithms. */
struct orr_series {
    unsigned n;
    double *x, *y; /* as they came, joined where sizes were equal */
    double *u, *v; /* ln x, ln y */
    double *error; /* relative standard error of y; 0: not known */
    double *var;   /* variance of v: from the errors where they are known, else
                    * from the numbers of samples */
    void *memory;  /* owned, all of the above */
};

/* Sorts and joins. Points of equal x become their mean, weighted by n. Errors:
 * -ENOMEM; -EINVAL for a size or a time that is not positive and finite. */
int orr_series_init(struct orr_series *series, const struct orr_point *points,
                    unsigned n);
void orr_series_done(struct orr_series *series);

/* Robust fits of a series that the functions of curve.h stand on. Errors as
 * there. Without `validate` the regression's error stays NaN, which saves most
 * of the time with an offset. */
int orr_series_fit_power(const struct orr_series *series,
                         struct orr_power_regression *ret);
int orr_series_fit_offset(const struct orr_series *series, bool validate,
                          struct orr_power_regression *ret);

/* Median of n values, which it sorts; of sorted ones. NaN without values. */
double orr_median_of(double *values, unsigned n);
double orr_median_sorted(const double *values, unsigned n);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/curve.h - from times at some sizes to times at others: power laws,
 * power laws with an offset, interpolation that keeps the shape, polynomials of
 * several parameters; each with an estimate of its error. Pure functions of
 * arrays.
 */
#pragma once

#include <stdbool.h>

/* One size. Sizes and times are positive and finite. */
struct orr_point {
    double x;     /* size */
    double y;     /* time at that size */
    double error; /* relative standard error of y; 0: not known */
    double n;     /* samples behind y; weighs it when errors are not known */
};

/* A value and its error. */
struct orr_estimate {
    double value; /* NaN: no answer */
    double error; /* expected relative error, from leaving points out */
};

/* y = a·x^b + c, with c = 0 in plain power laws. */
struct orr_power_regression {
    double a, b, c;
    double minx, maxx;   /* range of the points */
    double error;        /* relative, of points left out: cross-validated;
                          * NaN: too few points for that */
    unsigned npoints;    /* different sizes */
    unsigned noutliers;  /* points that were set aside */
    unsigned iterations; /* of the solver */
    bool converged;
};

/* Fits y = a·x^b by robust least squares of ln y over ln x. Points need no
 * order; those of equal x are joined. Errors: -EDOM when there are fewer than 2
 * different sizes, or `a` would be beyond what a double holds; -EINVAL for a
 * point that is not positive and finite; -ENOMEM. */
int orr_fit_power(const struct orr_point *points, unsigned n,
                  struct orr_power_regression *ret);

/* Fits y = a·x^b + c, a, b > 0, c >= 0, by robust least squares of ln y.
 * Errors: -EDOM when there are fewer than 3 different sizes; else as above. A
 * fit that did not converge is returned all the same, with `converged`
 * unset. */
int orr_fit_offset(const struct orr_point *points, unsigned n,
                   struct orr_power_regression *ret);

double orr_power_regression_value(const struct orr_power_regression *regression,
                                  double x);

/* The value at x from the points themselves. At a point's own size it is that
 * point's y. NaN beyond the outermost points, below 3 different sizes, and
 * where the fits above fail. Fits the offset regression on the way. */
struct orr_estimate orr_interpolate(const struct orr_point *points, unsigned n,
                                    double x);

/* The same for many sizes: the part that does not depend on the size is done
 * once. Owned by the caller, freed with orr_curve_free, which accepts NULL.
 * `offset`: the regression of orr_fit_offset through the points, NULL where
 * that fails. Errors: as orr_fit_power, but for -EDOM. */
struct orr_curve;
int orr_curve_new(const struct orr_point *points, unsigned n,
                  const struct orr_power_regression *offset,
                  struct orr_curve **ret);
void orr_curve_free(struct orr_curve *curve);

/* As orr_interpolate, in some ns per point. */
struct orr_estimate orr_curve_value(const struct orr_curve *curve, double x);

/* The straight line in (ln x, ln y) between the neighbours of x, of two sizes or
 * more. `error` is half of what the value may be off where the time neither
 * falls with the size nor grows faster than its square: a bound, not an estimate.
 * At a point's own size, that point's. NaN beyond the outermost points. */
struct orr_estimate orr_curve_line(const struct orr_curve *curve, double x);

/* The relative error of `value` at x because the times step between the points
 * around x; 0 where they do not. x > 0. */
double orr_curve_step(const struct orr_curve *curve, double x, double value);

/* Whether x is one of the sizes. */
bool orr_curve_has(const struct orr_curve *curve, double x);

/* y = Σ coeff[i] · Π_j p_j^exponent[i][j]; term 0 is the constant. */
struct orr_terms {
    unsigned nparameters;
    unsigned nterms;           /* without the constant */
    const unsigned *exponents; /* nterms × nparameters, borrowed */
};

struct orr_observation {
    const double *parameters; /* borrowed */
    double y;
};

struct orr_polynomial {
    unsigned ncoeff; /* nterms + 1 */
    double *coeff;   /* owned; free() */
    double error;    /* relative, of parameters left out, cross-validated; NaN:
                      * too few different ones */
    unsigned n, noutliers;
    unsigned rank; /* of the matrix: below ncoeff nothing is fitted */
};

/* Robust least squares of the relative error, through LAPACK, which lies in a
 * module of its own that is opened at the first call. Errors: -EDOM: not more
 * observations than coefficients, or no full rank (*ret then has the rank, 0
 * where it was not computed, and no coefficients); -EINVAL: a term, or a time,
 * that is not finite, or a time that is not positive; -ENOMEM; -ENOENT or
 * -EINVAL, with a message on stderr, when the module is missing or cannot be
 * opened. */
int orr_fit_polynomial(const struct orr_terms *terms,
                       const struct orr_observation *observations, unsigned n,
                       struct orr_polynomial *ret);

/* The polynomial's value; 1e-5 when it is negative. */
double orr_polynomial_value(const struct orr_terms *terms, const double *coeff,
                            const double *parameters);

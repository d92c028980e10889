/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/interpolate.c - times between measured sizes, from the points
 * themselves. Pure functions.
 *
 * A cubic through the points in (ln x, ln y) whose slopes are bounded so that
 * it is monotone between points wherever they are (Fritsch & Carlson, SIAM J.
 * Numer. Anal. 17, 1980; the bound, twice the flatter neighbouring secant, is
 * Steffen's, Astron. Astrophys. 239, 1990). The slope at a point is that of the
 * parabola through it and its neighbours, plus a correction: kernels that go
 * from a constant overhead to a power of the size bend more sharply than a
 * parabola can follow where points are far apart. The error of the parabola for
 * such a bend is known exactly for the regression y = a·x^b + c that fits the
 * points; half of that is added. Half, because the regression may be wrong: it
 * is the middle between trusting the points alone and trusting the regression
 * for what lies between them. Where points are dense the correction vanishes.
 */
#include "perfmodel/curve_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/step.h"

#define TRUST_IN_REGRESSION 0.5

/* Exponent of the size beyond which no time is taken to grow: products of
 * matrices have 1.5 in bytes, what looks at all pairs of elements has 2. */
#define STEEPEST 2.0

/* ln of the smallest step between two sizes that counts: less is noise, or within
 * what else an estimate may be off. */
#define LEAST_STEP 0.2

/* Points, and the regression that fits them, in logarithms. */
struct shape {
    unsigned n;
    double *u, *v;
    double *regression; /* ln of the regression's value */
    double *slope;      /* of the regression in (ln x, ln y) */
};

/* Slope at point i of the parabola through it and its neighbours; at the ends
 * of the one through the last three; of the line where there are two. */
static double parabola_slope(const double *u, const double *v, unsigned n,
                             unsigned i)
{
    unsigned first = i == 0 ? 0 : i == n - 1 ? (n > 2 ? n - 3 : 0) : i - 1;
    double h0, h1, m0, m1;

    h0 = u[first + 1] - u[first];
    m0 = (v[first + 1] - v[first]) / h0;
    if (n == 2)
        return m0;
    h1 = u[first + 2] - u[first + 1];
    m1 = (v[first + 2] - v[first + 1]) / h1;
    if (i == first)
        return m0 - h0 * (m1 - m0) / (h0 + h1);
    if (i == first + 2)
        return m1 + h1 * (m1 - m0) / (h0 + h1);
    return (m0 * h1 + m1 * h0) / (h0 + h1);
}

/* Keeps a slope between 0 and twice the flatter of the secants beside it. */
static double shape_limit_slope(const struct shape *s, unsigned i, double slope)
{
    double left, right, flatter;

    left =
        i > 0 ? (s->v[i] - s->v[i - 1]) / (s->u[i] - s->u[i - 1]) : (double)NAN;
    right =
        i + 1 < s->n ? (s->v[i + 1] - s->v[i]) / (s->u[i + 1] - s->u[i]) : left;
    if (i == 0)
        left = right;
    if (left * right <= 0)
        return 0; /* a peak, a valley or a level */
    flatter = fabs(left) < fabs(right) ? left : right;
    if (slope * flatter <= 0)
        return 0;
    return fabs(slope) < 2 * fabs(flatter) ? slope : 2 * flatter;
}

static double slope_at(const struct shape *s, unsigned i)
{
    double parabola = parabola_slope(s->u, s->v, s->n, i);
    double wrong = s->slope[i] - parabola_slope(s->u, s->regression, s->n, i);

    return shape_limit_slope(s, i, parabola + TRUST_IN_REGRESSION * wrong);
}

/* The interval of t: points k and k + 1. */
static unsigned shape_find_interval(const struct shape *s, double t)
{
    unsigned lo = 0, hi = s->n - 1;

    while (hi - lo > 1) {
        unsigned middle = lo + (hi - lo) / 2;

        if (s->u[middle] <= t)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* ln y at ln x = t. */
static double shape_value(const struct shape *s, double t)
{
    unsigned k = shape_find_interval(s, t);
    double h = s->u[k + 1] - s->u[k], p = (t - s->u[k]) / h, q = 1 - p;

    return s->v[k] * (1 + 2 * p) * q * q + s->v[k + 1] * p * p * (1 + 2 * q) +
           h * p * q * (slope_at(s, k) * q - slope_at(s, k + 1) * p);
}

/* A shape with room for n points; the caller free()s u. */
static int shape_init(struct shape *s, unsigned n)
{
    double *d = malloc(4 * (size_t)n * sizeof(*d));

    if (!d)
        return -ENOMEM;
    *s = (struct shape){n, d, d + n, d + 2 * (size_t)n, d + 3 * (size_t)n};
    return 0;
}

static void shape_fill(struct shape *s, const struct orr_series *series,
                       const struct orr_power_regression *regression)
{
    for (unsigned i = 0; i < s->n; i++) {
        double power = regression->a * pow(series->x[i], regression->b);

        s->u[i] = series->u[i];
        s->v[i] = series->v[i];
        s->regression[i] = log(power + regression->c);
        s->slope[i] = regression->b * power / (power + regression->c);
    }
}

static void copy_without_point(double *to, const double *from, unsigned n,
                               unsigned i)
{
    memcpy(to, from, i * sizeof(*to));
    memcpy(to + i, from + i + 1, (n - 1 - i) * sizeof(*to));
}

/* Error of ln y at point i when it is left out. The regression stays: fitting
 * it anew changes these errors by a hundredth of themselves. Two neighbours on
 * each side are all that the value there depends on. */
static double left_out(const struct shape *s, unsigned i)
{
    unsigned first = i > 2 ? i - 2 : 0, last = i + 2 < s->n ? i + 2 : s->n - 1;
    unsigned count = last - first + 1;
    double room[4][4];
    struct shape without = {count - 1, room[0], room[1], room[2], room[3]};

    copy_without_point(without.u, s->u + first, count, i - first);
    copy_without_point(without.v, s->v + first, count, i - first);
    copy_without_point(without.regression, s->regression + first, count,
                       i - first);
    copy_without_point(without.slope, s->slope + first, count, i - first);
    return shape_value(&without, s->u[i]) - s->v[i];
}

struct orr_curve {
    struct orr_series series;
    struct shape shape; /* u is owned; NULL: no estimate between points */
    double *own;        /* owned; per inner point, its error when left out,
                         * squared, over the product of its distances */
};

/* The cross-validated error at t. Between two points it varies like the
 * standard deviation of a Brownian bridge, the root of the product of the
 * distances: nothing at the points, the more the wider the gap. Near points
 * count more. */
static double expected_error(const struct orr_curve *curve, double t)
{
    const struct shape *s = &curve->shape;
    unsigned k = shape_find_interval(s, t);
    double gap = (t - s->u[k]) * (s->u[k + 1] - t), sum = 0, weights = 0;

    for (unsigned i = 1; i + 1 < s->n; i++) {
        double away = i <= k ? k - i : i - k - 1, weight;

        weight = 1 / ((1 + away) * (1 + away));
        sum += weight * curve->own[i] * gap;
        weights += weight;
    }
    return sqrt(sum / weights);
}

static struct orr_estimate curve_interpolate(const struct orr_curve *curve,
                                             double x)
{
    const struct shape *s = &curve->shape;
    const double *errors = curve->series.error;
    double t = log(x), p, e0, e1, error = expected_error(curve, t);
    unsigned k = shape_find_interval(s, t);

    p = (t - s->u[k]) / (s->u[k + 1] - s->u[k]);
    e0 = (1 - p) * errors[k];
    e1 = p * errors[k + 1];
    return (struct orr_estimate){
        exp(shape_value(s, t)),
        expm1(sqrt(error * error + e0 * e0 + e1 * e1)),
    };
}

/* The first point that is not smaller than x, which is within. */
static unsigned first_from(const struct orr_series *series, double x)
{
    unsigned lo = 0, hi = series->n - 1;

    while (lo < hi) {
        unsigned middle = lo + (hi - lo) / 2;

        if (series->x[middle] < x)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

struct orr_estimate orr_curve_value(const struct orr_curve *curve, double x)
{
    const struct orr_series *s = &curve->series;
    struct orr_estimate ret = {(double)NAN, (double)NAN};
    unsigned i;

    if (s->n < 3 || !(x >= s->x[0] && x <= s->x[s->n - 1]))
        return ret;
    i = first_from(s, x);
    if (s->x[i] == x)
        return (struct orr_estimate){s->y[i], s->error[i]};
    return curve->shape.u ? curve_interpolate(curve, x) : ret;
}

bool orr_curve_has(const struct orr_curve *curve, double x)
{
    const struct orr_series *s = &curve->series;

    return s->n > 0 && x <= s->x[s->n - 1] && s->x[first_from(s, x)] == x;
}

double orr_curve_step(const struct orr_curve *curve, double x, double value)
{
    const struct orr_series *s = &curve->series;

    return expm1(orr_step_furthest(s->u, s->v, s->n, log(x), log(value),
                                   LEAST_STEP));
}

/* The furthest from v that ln y may be at t, between points i and i + 1. */
static double series_furthest(const struct orr_series *s, unsigned i, double t,
                              double v)
{
    double rise0 = STEEPEST * (t - s->u[i]);
    double rise1 = STEEPEST * (s->u[i + 1] - t);
    double least = fmin(s->v[i], s->v[i + 1]);
    double most = fmax(s->v[i], s->v[i + 1]);

    if (s->v[i + 1] >= s->v[i]) {
        least = fmin(fmax(least, s->v[i + 1] - rise1), v);
        most = fmax(fmin(most, s->v[i] + rise0), v);
    }
    return fmax(most - v, v - least);
}

struct orr_estimate orr_curve_line(const struct orr_curve *curve, double x)
{
    const struct orr_series *s = &curve->series;
    struct orr_estimate ret = {(double)NAN, (double)NAN};
    double t = log(x), p, v, noise;
    unsigned i;

    if (s->n < 2 || !(x >= s->x[0] && x <= s->x[s->n - 1]))
        return ret;
    i = first_from(s, x);
    if (s->x[i] == x)
        return (struct orr_estimate){s->y[i], s->error[i]};
    i--;
    p = (t - s->u[i]) / (s->u[i + 1] - s->u[i]);
    v = (1 - p) * s->v[i] + p * s->v[i + 1];
    noise = fmax(s->error[i], s->error[i + 1]);
    return (struct orr_estimate){
        exp(v), hypot(expm1(series_furthest(s, i, t, v)) / 2, noise)};
}

static int curve_fill(struct orr_curve *curve,
                      const struct orr_power_regression *offset)
{
    struct shape *s = &curve->shape;

    if (curve->series.n < 3 || !offset)
        return 0;
    curve->own = calloc(curve->series.n, sizeof(*curve->own));
    if (!curve->own || shape_init(s, curve->series.n))
        return -ENOMEM;
    shape_fill(s, &curve->series, offset);
    for (unsigned i = 1; i + 1 < s->n; i++) {
        double e = left_out(s, i);

        curve->own[i] =
            e * e / ((s->u[i] - s->u[i - 1]) * (s->u[i + 1] - s->u[i]));
    }
    return 0;
}

int orr_curve_new(const struct orr_point *points, unsigned n,
                  const struct orr_power_regression *offset,
                  struct orr_curve **ret)
{
    struct orr_curve *curve = calloc(1, sizeof(*curve));
    int rc;

    if (!curve)
        return -ENOMEM;
    rc = orr_series_init(&curve->series, points, n);
    if (!rc)
        rc = curve_fill(curve, offset);
    if (rc) {
        orr_curve_free(curve);
        return rc;
    }
    *ret = curve;
    return 0;
}

void orr_curve_free(struct orr_curve *curve)
{
    if (!curve)
        return;
    orr_series_done(&curve->series);
    free(curve->shape.u);
    free(curve->own);
    free(curve);
}

struct orr_estimate orr_interpolate(const struct orr_point *points, unsigned n,
                                    double x)
{
    struct orr_estimate ret = {(double)NAN, (double)NAN};
    struct orr_series series;
    struct orr_curve *curve;
    struct orr_power_regression regression;
    bool fitted;

    if (orr_series_init(&series, points, n))
        return ret;
    fitted = orr_series_fit_offset(&series, false, &regression) == 0;
    orr_series_done(&series);
    if (orr_curve_new(points, n, fitted ? &regression : NULL, &curve))
        return ret;
    ret = orr_curve_value(curve, x);
    orr_curve_free(curve);
    return ret;
}

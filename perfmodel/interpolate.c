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
 * parabola can follow where points are far apart. How wrong the parabola is for
 * such a bend is known exactly for the law y = a·x^b + c that fits the points;
 * half of that is added. Half, because the law may be wrong: it is the middle
 * between trusting the points alone and trusting the law for what lies between
 * them. Where points are dense the correction vanishes by itself.
 */
#include "perfmodel/curve_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRUST_IN_LAW 0.5

/* Points, and the law that fits them, in logarithms. */
struct shape {
    unsigned n;
    double *u, *v;
    double *law;   /* ln of the law's value */
    double *slope; /* of the law in (ln x, ln y) */
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
static double limit(const struct shape *s, unsigned i, double slope)
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
    double wrong = s->slope[i] - parabola_slope(s->u, s->law, s->n, i);

    return limit(s, i, parabola + TRUST_IN_LAW * wrong);
}

/* The interval of t: points k and k + 1. */
static unsigned locate(const struct shape *s, double t)
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
    unsigned k = locate(s, t);
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
                       const struct orr_law *law)
{
    for (unsigned i = 0; i < s->n; i++) {
        double power = law->a * pow(series->x[i], law->b);

        s->u[i] = series->u[i];
        s->v[i] = series->v[i];
        s->law[i] = log(power + law->c);
        s->slope[i] = law->b * power / (power + law->c);
    }
}

static void drop(double *to, const double *from, unsigned n, unsigned i)
{
    memcpy(to, from, i * sizeof(*to));
    memcpy(to + i, from + i + 1, (n - 1 - i) * sizeof(*to));
}

/* Error of ln y at point i when it is left out. The law stays: fitting it anew
 * changes these errors by a hundredth of themselves. */
static double left_out(const struct shape *s, struct shape *without, unsigned i)
{
    without->n = s->n - 1;
    drop(without->u, s->u, s->n, i);
    drop(without->v, s->v, s->n, i);
    drop(without->law, s->law, s->n, i);
    drop(without->slope, s->slope, s->n, i);
    return shape_value(without, s->u[i]) - s->v[i];
}

/* What points left out say of the error at t. Between two points it goes like
 * the standard deviation of a Brownian bridge, the root of the product of the
 * distances: nothing at the points, the more the wider the gap. Near points
 * count more. */
static int expected_error(const struct shape *s, double t, double *ret)
{
    unsigned k = locate(s, t);
    double gap = (t - s->u[k]) * (s->u[k + 1] - t), sum = 0, weights = 0;
    struct shape without;
    int rc = shape_init(&without, s->n);

    if (rc)
        return rc;
    for (unsigned i = 1; i + 1 < s->n; i++) {
        double own = (s->u[i] - s->u[i - 1]) * (s->u[i + 1] - s->u[i]);
        double e = left_out(s, &without, i);
        double away = i <= k ? k - i : i - k - 1, weight;

        weight = 1 / ((1 + away) * (1 + away));
        sum += weight * e * e * gap / own;
        weights += weight;
    }
    free(without.u);
    *ret = sqrt(sum / weights);
    return 0;
}

static struct orr_guess between(const struct orr_series *series, double x)
{
    struct orr_guess ret = {(double)NAN, (double)NAN};
    struct orr_law law;
    struct shape s;
    double t = log(x), p, e0, e1, error;
    unsigned k;

    if (orr_series_fit_offset(series, false, &law) || shape_init(&s, series->n))
        return ret;
    shape_fill(&s, series, &law);
    if (expected_error(&s, t, &error) == 0) {
        k = locate(&s, t);
        p = (t - s.u[k]) / (s.u[k + 1] - s.u[k]);
        e0 = (1 - p) * series->error[k];
        e1 = p * series->error[k + 1];
        ret.value = exp(shape_value(&s, t));
        ret.error = expm1(sqrt(error * error + e0 * e0 + e1 * e1));
    }
    free(s.u);
    return ret;
}

struct orr_guess orr_interpolate(const struct orr_point *points, unsigned n,
                                 double x)
{
    struct orr_guess ret = {(double)NAN, (double)NAN};
    struct orr_series series;

    if (orr_series_init(&series, points, n))
        return ret;
    if (series.n >= 3 && x >= series.x[0] && x <= series.x[series.n - 1]) {
        unsigned i = 0;

        while (series.x[i] < x)
            i++;
        if (series.x[i] == x)
            ret = (struct orr_guess){series.y[i], series.error[i]};
        else
            ret = between(&series, x);
    }
    orr_series_done(&series);
    return ret;
}

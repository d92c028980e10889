/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/curve.c - points prepared for fitting, and the values of fitted
 * regressions. Pure functions.
 */
#include "perfmodel/curve_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust.h"

/* Relative spread of one sample where no error is known at all. It only sets
 * the weight of the number of samples against the misfit of the regression. */
#define USUAL_SPREAD 0.05

/* A standard error from few samples may be tiny by chance; none is taken to be
 * less than this share of the spread of all points. */
#define LEAST_SHARE 0.25

#define LEAST_ERROR 1e-4 /* clocks are no better */

double orr_median_sorted(const double *values, unsigned n)
{
    if (n == 0)
        return (double)NAN;
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double orr_median_of(double *values, unsigned n)
{
    orr_sort(values, n);
    return orr_median_sorted(values, n);
}

static int point_compare_total(const void *a, const void *b)
{
    const struct orr_point *p = a, *q = b;

    /* The order of equal sizes must not depend on the order of the call. */
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->n > q->n) - (p->n < q->n);
}

static double point_samples(const struct orr_point *point)
{
    return point->n > 0 && isfinite(point->n) ? point->n : 1;
}

static bool has_error(const struct orr_point *point)
{
    return point->error > 0 && isfinite(point->error);
}

/* Makes one of `count` points of equal size. */
static struct orr_point points_join_equal(const struct orr_point *points,
                                          unsigned count)
{
    struct orr_point ret = {.x = points->x};
    double square = 0;
    bool known = true;

    if (count == 1)
        return *points;
    for (unsigned i = 0; i < count; i++) {
        double n = point_samples(&points[i]);

        ret.n += n;
        ret.y += n * points[i].y;
        known = known && has_error(&points[i]);
        square += n * n * points[i].error * points[i].error;
    }
    ret.y /= ret.n;
    ret.error = known ? sqrt(square) / ret.n : 0;
    return ret;
}

/* The usual relative spread of one sample: the median over the points whose
 * error is known. `scratch` has room for n. */
static double usual_spread(const struct orr_point *points, unsigned n,
                           double *scratch)
{
    unsigned known = 0;

    for (unsigned i = 0; i < n; i++)
        if (has_error(&points[i]))
            scratch[known++] =
                points[i].error * sqrt(point_samples(&points[i]));
    return known ? orr_median_of(scratch, known) : USUAL_SPREAD;
}

static void series_fill(struct orr_series *series,
                        const struct orr_point *points)
{
    /* u is free until it is filled. */
    double spread = usual_spread(points, series->n, series->u);

    for (unsigned i = 0; i < series->n; i++) {
        double error = spread / sqrt(point_samples(&points[i]));

        if (has_error(&points[i]))
            error = fmax(points[i].error, LEAST_SHARE * error);
        error = fmax(error, LEAST_ERROR);
        series->x[i] = points[i].x;
        series->y[i] = points[i].y;
        series->u[i] = log(points[i].x);
        series->v[i] = log(points[i].y);
        series->error[i] = has_error(&points[i]) ? points[i].error : 0;
        series->var[i] = error * error;
    }
}

static bool is_valid(const struct orr_point *point)
{
    return point->x > 0 && isfinite(point->x) && point->y > 0 &&
           isfinite(point->y);
}

int orr_series_init(struct orr_series *series, const struct orr_point *points,
                    unsigned n)
{
    struct orr_point *sorted;
    double *d;
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++)
        if (!is_valid(&points[i]))
            return -EINVAL;
    d = malloc((size_t)(n + 1) * (6 * sizeof(*d) + sizeof(*sorted)));
    if (!d)
        return -ENOMEM;
    sorted = (struct orr_point *)(d + 6 * (size_t)(n + 1));
    if (n)
        memcpy(sorted, points, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), point_compare_total);
    for (unsigned i = 0, next; i < n; i = next) {
        next = i + 1;
        while (next < n && sorted[next].x == sorted[i].x)
            next++;
        sorted[count++] = points_join_equal(&sorted[i], next - i);
    }
    *series = (struct orr_series){.n = count, .memory = d};
    series->x = d;
    series->y = d + (size_t)n;
    series->u = d + 2 * (size_t)n;
    series->v = d + 3 * (size_t)n;
    series->error = d + 4 * (size_t)n;
    series->var = d + 5 * (size_t)n;
    series_fill(series, sorted);
    return 0;
}

void orr_series_done(struct orr_series *series)
{
    free(series->memory);
}

int orr_fit_power(const struct orr_point *points, unsigned n,
                  struct orr_power_regression *ret)
{
    struct orr_series series;
    int rc = orr_series_init(&series, points, n);

    if (rc)
        return rc;
    rc = orr_series_fit_power(&series, ret);
    orr_series_done(&series);
    return rc;
}

int orr_fit_offset(const struct orr_point *points, unsigned n,
                   struct orr_power_regression *ret)
{
    struct orr_series series;
    int rc = orr_series_init(&series, points, n);

    if (rc)
        return rc;
    rc = orr_series_fit_offset(&series, true, ret);
    orr_series_done(&series);
    return rc;
}

double orr_power_regression_value(const struct orr_power_regression *regression,
                                  double x)
{
    return regression->a * pow(x, regression->b) + regression->c;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/between.c - estimates of history models for sizes that have no row:
 * in simulations only, which otherwise would have to end. A real machine measures
 * instead. What has no known error is no answer. Pure functions of records that
 * the caller has locked.
 */
#include <math.h>
#include <stdlib.h>

#include "perfmodel/model_private.h"

static const struct orr_answer no_answer = {(double)NAN, (double)NAN,
                                            ORR_ANSWER_NONE};

static int point_compare_xy(const void *a, const void *b)
{
    const struct orr_point *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Relative standard deviation of the times. */
static double points_relative_deviation(const struct orr_point *points,
                                        unsigned n)
{
    double mean = 0, square = 0;

    for (unsigned i = 0; i < n; i++)
        mean += points[i].y / n;
    for (unsigned i = 0; i < n; i++)
        square += (points[i].y - mean) * (points[i].y - mean);
    return sqrt(square / (n - 1)) / mean;
}

/* Joined, n points of one size have a standard error of theirs over sqrt(n); a
 * further layout deviates by the whole spread. */
void orr_points_widen(struct orr_point *points, unsigned n)
{
    qsort(points, n, sizeof(*points), point_compare_xy);
    for (unsigned i = 0, next; i < n; i = next) {
        double spread;

        for (next = i + 1; next < n && points[next].x == points[i].x; next++)
            ;
        if (next == i + 1)
            continue;
        spread = points_relative_deviation(&points[i], next - i) *
                 sqrt((double)(next - i));
        for (unsigned j = i; j < next; j++)
            points[j].error = hypot(points[j].error, spread);
    }
}

/* Another layout of a size that has a row: the bytes are the same, the time need
 * not be. It is taken to be as far off as the regression is at a size that is
 * left out. */
static struct orr_answer same_size(const struct orr_regression *r, double x)
{
    struct orr_estimate at = orr_curve_line(r->curve, x);
    double off = r->has_offset ? r->offset.error : (double)NAN;

    if (!isfinite(off) && r->has_power)
        off = r->power.error;
    if (!(at.value > 0) || !isfinite(off))
        return no_answer;
    return (struct orr_answer){at.value, fmax(at.error, off),
                               ORR_ANSWER_INTERPOLATED};
}

struct orr_answer orr_model_between(const struct orr_model *model,
                                    const struct orr_regression *r, double x)
{
    struct orr_answer answer;
    struct orr_estimate line;

    if (r->curve && orr_curve_has(r->curve, x))
        return same_size(r, x);
    answer = orr_model_curve(model, r, x);
    if (answer.value > 0 && isfinite(answer.error)) {
        /* Left out, a point may be met by chance; never better than measured. */
        answer.error = hypot(answer.error, sqrt(r->noise));
        return answer;
    }
    if (!r->curve)
        return no_answer;
    line = orr_curve_line(r->curve, x);
    if (!(line.value > 0) || !isfinite(line.error))
        return no_answer;
    return (struct orr_answer){line.value, line.error, ORR_ANSWER_INTERPOLATED};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/estimates.c - see estimates.h. */
#include "tools/perfmodel/estimates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/distributions.h"
#include "perfmodel/window.h"

static const double level = 0.95;

double perfmodel_gflops(const struct orr_model_row *row, double us)
{
    return row->flops > 0 && us > 0 ? row->flops / us / 1e3 : (double)NAN;
}

static bool is_interval(const struct orr_interval *interval)
{
    return isfinite(interval->lo) && isfinite(interval->hi);
}

/* From the samples that the side entry has, those that the estimate is of. */
static int know_series(struct perfmodel_known *known)
{
    const struct orr_side_entry *side = known->side;
    double kept[ORR_WINDOW_SIZE];
    unsigned n = 0;
    int rc;

    for (unsigned i = 0; i < side->nrecent && n < ORR_WINDOW_SIZE; i++)
        if (!side->set_aside[i])
            kept[n++] = side->recent[i];
    rc = orr_summarise(kept, n, &known->summary);
    if (rc == -EINVAL) /* a side file may hold a sample of 0 */
        rc = orr_summarise(NULL, 0, &known->summary);
    if (rc < 0)
        return rc;
    orr_window_range(side, &known->range.lo, &known->range.hi);
    known->interval = orr_mean_interval(side->blocks, side->nblocks, level);
    known->from_blocks = is_interval(&known->interval);
    if (!known->from_blocks)
        known->interval = known->summary.mean_ci;
    return 0;
}

static struct orr_interval row_interval(const struct orr_model_row *row)
{
    double error = orr_model_row_error(row), half;

    if (row->n < 2 || !(row->mean > 0))
        return (struct orr_interval){(double)NAN, (double)NAN};
    half = orr_student_within(level, row->n - 1.0) * error * row->mean;
    return (struct orr_interval){row->mean - half, row->mean + half};
}

int perfmodel_know(const struct orr_side *side,
                   const struct orr_model_comb *comb, unsigned impl,
                   const struct orr_model_row *row, struct perfmodel_known *ret)
{
    struct perfmodel_known known = {.estimate = (double)NAN,
                                    .interval = {(double)NAN, (double)NAN},
                                    .range = {(double)NAN, (double)NAN}};
    int rc;

    if (side)
        known.side = orr_side_find(side, comb->devices, comb->ndevices, impl,
                                   row, &known.stale);
    rc = known.side ? know_series(&known)
                    : orr_summarise(NULL, 0, &known.summary);
    if (rc < 0)
        return rc;
    known.estimate = orr_row_estimate(row, known.side, &known.n);
    known.unknown = orr_row_unknown(row, known.side);
    known.independent = !is_interval(&known.interval);
    if (known.independent)
        known.interval = row_interval(row);
    known.half_width =
        (known.interval.hi - known.interval.lo) / 2 / known.estimate;
    *ret = known;
    return 0;
}

/* -- regressions -- */

/* Rows with samples, size and time as points; `ret` has room for all. Errors:
 * -ENOMEM. */
static int make_points(const struct perfmodel_data *data,
                       const struct orr_model_comb *comb, unsigned impl,
                       struct orr_point *ret, unsigned *ret_n)
{
    const struct orr_model_impl *rows = &comb->impls[impl];

    *ret_n = 0;
    for (unsigned r = 0; r < rows->nrows; r++) {
        const struct orr_model_row *row = &rows->rows[r];
        struct perfmodel_known known;
        int rc = perfmodel_know(data->side, comb, impl, row, &known);

        if (rc < 0)
            return rc;
        if (row->size > 0 && isfinite(known.estimate))
            ret[(*ret_n)++] = (struct orr_point){
                .x = (double)row->size,
                .y = known.estimate,
                /* 0 when unknown. */
                .error = known.half_width > 0
                             ? known.half_width / orr_normal_quantile(0.975)
                             : 0,
                .n = known.n};
    }
    return 0;
}

/* Whether an earlier point has this one's size. */
static bool seen_before(const struct orr_point *points, unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (points[j].x == points[i].x)
            return true;
    return false;
}

/* Leaves each inner size out in turn. `others` has room for n points. */
static void cross_validate_sizes(const struct orr_point *points, unsigned n,
                                 struct orr_point *others,
                                 struct perfmodel_regressions *regressions)
{
    double sum = 0, worst = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned nothers = 0;
        struct orr_estimate estimate;
        double error;

        if (seen_before(points, i))
            continue;
        for (unsigned j = 0; j < n; j++)
            if (points[j].x != points[i].x)
                others[nothers++] = points[j];
        estimate = orr_interpolate(others, nothers, points[i].x);
        error = fabs(estimate.value / points[i].y - 1);
        if (isnan(error))
            continue; /* an outermost size, or too few others */
        regressions->ninner++;
        sum += error;
        worst = fmax(worst, error);
    }
    regressions->inner_mean =
        regressions->ninner ? sum / regressions->ninner : (double)NAN;
    regressions->inner_worst = regressions->ninner ? worst : (double)NAN;
}

int perfmodel_regressions(const struct perfmodel_data *data,
                          const struct orr_model_comb *comb, unsigned impl,
                          struct perfmodel_regressions *ret)
{
    struct perfmodel_regressions regressions = {0};
    size_t slots = (size_t)comb->impls[impl].nrows + 1;
    struct orr_point *points = calloc(slots, sizeof(*points));
    struct orr_point *others = calloc(slots, sizeof(*others));
    int rc = points && others ? 0 : -ENOMEM, offset;
    unsigned n;

    if (rc == 0)
        rc = make_points(data, comb, impl, points, &n);
    if (rc == 0) {
        rc = orr_fit_power(points, n, &regressions.power);
        offset = orr_fit_offset(points, n, &regressions.offset);
        regressions.has_power = rc == 0;
        regressions.has_offset = offset == 0;
        rc = rc == -ENOMEM || offset == -ENOMEM ? -ENOMEM : 0;
        cross_validate_sizes(points, n, others, &regressions);
    }
    free(others);
    free(points);
    if (rc == 0)
        *ret = regressions;
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel_figures.c - see perfmodel_figures.h. */
#include "tools/perfmodel_figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Half the width of a 95 % interval in standard errors. */
#define Z95 1.96

double perfmodel_predicted(const struct orr_model_row *row,
                           const struct orr_side_entry *side)
{
    return side && side->estimate > 0 ? side->estimate : row->mean;
}

double perfmodel_gflops(const struct orr_model_row *row, double us)
{
    return row->flops > 0 && us > 0 ? row->flops / us / 1e3 : (double)NAN;
}

static bool is_interval(const struct orr_interval *interval)
{
    return isfinite(interval->lo) && isfinite(interval->hi);
}

int perfmodel_robust(const struct perfmodel_data *data,
                     const struct orr_model_comb *comb, unsigned impl,
                     const struct orr_model_row *row,
                     struct perfmodel_robust *ret)
{
    struct perfmodel_robust robust = {0};
    int rc;

    robust.side = perfmodel_side_of(data, comb, impl, row, &robust.stale);
    if (!robust.side) {
        *ret = robust;
        return 0;
    }
    rc = orr_summarise(robust.side->recent, robust.side->nrecent,
                       &robust.summary);
    /* A side file may hold a sample of 0: there is no summary of that. */
    if (rc == -EINVAL)
        rc = orr_summarise(NULL, 0, &robust.summary);
    if (rc < 0)
        return rc;
    robust.interval =
        orr_mean_interval(robust.side->blocks, robust.side->nblocks, 0.95);
    robust.from_blocks = is_interval(&robust.interval);
    if (!robust.from_blocks)
        robust.interval = robust.summary.median_ci;
    *ret = robust;
    return 0;
}

/* -- laws -- */

/* The relative standard error of what is predicted for a row, 0 when nothing
 * tells. */
static double point_error(const struct orr_model_row *row, double y,
                          const struct orr_side_entry *side)
{
    struct orr_interval interval = {(double)NAN, (double)NAN};

    if (side)
        interval = orr_mean_interval(side->blocks, side->nblocks, 0.95);
    if (is_interval(&interval) && interval.hi > interval.lo)
        return (interval.hi - interval.lo) / (2 * Z95 * y);
    return row->dev > 0 && row->n > 1 ? row->dev / sqrt(row->n) / y : 0;
}

/* Rows with samples, size and time as points. Returns how many; *ret is for
 * the caller to free(), NULL without memory. */
static unsigned make_points(const struct perfmodel_data *data,
                            const struct orr_model_comb *comb, unsigned impl,
                            struct orr_point **ret)
{
    const struct orr_model_impl *rows = &comb->impls[impl];
    struct orr_point *points = calloc((size_t)rows->nrows + 1, sizeof(*points));
    unsigned n = 0;

    for (unsigned r = 0; points && r < rows->nrows; r++) {
        const struct orr_model_row *row = &rows->rows[r];
        const struct orr_side_entry *side =
            perfmodel_side_of(data, comb, impl, row, NULL);
        double y = perfmodel_predicted(row, side);

        if (row->n > 0 && row->size > 0 && y > 0 && isfinite(y))
            points[n++] = (struct orr_point){.x = (double)row->size,
                                             .y = y,
                                             .error = point_error(row, y, side),
                                             .n = row->n};
    }
    *ret = points;
    return n;
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
static void leave_out(const struct orr_point *points, unsigned n,
                      struct orr_point *others, struct perfmodel_laws *laws)
{
    double sum = 0, worst = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned nothers = 0;
        struct orr_guess guess;
        double error;

        if (seen_before(points, i))
            continue;
        for (unsigned j = 0; j < n; j++)
            if (points[j].x != points[i].x)
                others[nothers++] = points[j];
        guess = orr_interpolate(others, nothers, points[i].x);
        error = fabs(guess.value / points[i].y - 1);
        if (isnan(error))
            continue; /* an outermost size, or too few others */
        laws->ninner++;
        sum += error;
        worst = fmax(worst, error);
    }
    laws->inner_mean = laws->ninner ? sum / laws->ninner : (double)NAN;
    laws->inner_worst = laws->ninner ? worst : (double)NAN;
}

int perfmodel_laws(const struct perfmodel_data *data,
                   const struct orr_model_comb *comb, unsigned impl,
                   struct perfmodel_laws *ret)
{
    struct perfmodel_laws laws = {0};
    struct orr_point *points = NULL, *others;
    unsigned n = make_points(data, comb, impl, &points);
    int rc = -ENOMEM, offset;

    others = calloc((size_t)n + 1, sizeof(*others));
    if (points && others) {
        rc = orr_fit_power(points, n, &laws.power);
        offset = orr_fit_offset(points, n, &laws.offset);
        laws.has_power = rc == 0;
        laws.has_offset = offset == 0;
        rc = rc == -ENOMEM || offset == -ENOMEM ? -ENOMEM : 0;
        leave_out(points, n, others, &laws);
    }
    free(others);
    free(points);
    if (rc == 0)
        *ret = laws;
    return rc;
}

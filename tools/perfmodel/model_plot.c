/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/model_plot.c - gathers the data to draw, see model_plot.h.
 * One thread. */
#include "tools/perfmodel/model_plot.h"
#include "tools/perfmodel/perfmodel.h"

#include "perfmodel/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NSAMPLES 160 /* places on a curve */

static int line_new(unsigned slots, struct model_plot_line *ret)
{
    ret->n = 0;
    ret->at = calloc(slots ? slots : 1, sizeof(*ret->at));
    return ret->at ? 0 : -ENOMEM;
}

static int plot_point_compare_x(const void *va, const void *vb)
{
    const struct model_plot_point *a = va, *b = vb;

    return (a->x > b->x) - (a->x < b->x);
}

/* -- points -- */

static int plot_line_add_point(const struct check_model *model,
                               const struct orr_model_comb *comb, unsigned impl,
                               const struct orr_model_row *row,
                               struct model_plot_line *line)
{
    double value, half;
    enum orr_origin origin;
    int rc = check_value(model, comb, impl, row, &value, &half, &origin);

    if (rc < 0 || isnan(value) || row->size == 0)
        return rc;
    line->at[line->n++] =
        (struct model_plot_point){.x = (double)row->size,
                                  .y = value,
                                  .lo = value * fmax(1 - half, 0.01),
                                  .hi = value * (1 + half),
                                  .flops = isnan(row->flops) ? 0 : row->flops,
                                  .n = row->n,
                                  .origin = origin};
    return 0;
}

static int build_points(const struct check_model *model,
                        const struct orr_model_comb *comb, unsigned impl,
                        struct model_plot_line *ret)
{
    const struct orr_model_impl *rows = &comb->impls[impl];
    int rc = line_new(rows->nrows, ret);

    for (unsigned i = 0; i < rows->nrows && rc == 0; i++)
        rc = plot_line_add_point(model, comb, impl, &rows->rows[i], ret);
    if (rc == 0)
        qsort(ret->at, ret->n, sizeof(*ret->at), plot_point_compare_x);
    return rc;
}

/* -- curves -- */

/* The points as curves take them, one per size: those of equal size are joined,
 * weighed by their samples. Returns how many. */
static unsigned join_points(const struct model_plot_line *points,
                            struct orr_point *ret)
{
    unsigned n = 0;

    for (unsigned i = 0; i < points->n; i++) {
        const struct model_plot_point *p = &points->at[i];
        struct orr_point *last = n ? &ret[n - 1] : NULL;

        if (last && last->x == p->x) {
            last->y = (last->y * last->n + p->y * p->n) / (last->n + p->n);
            last->n += p->n;
            continue;
        }
        ret[n++] = (struct orr_point){
            .x = p->x,
            .y = p->y,
            .error = isnan(p->hi) ? 0 : (p->hi / p->y - 1) / 1.96,
            .n = p->n};
    }
    return n;
}

/* The points as (size, flops), one per size. Returns how many; 0 when those of
 * some size are not known. */
static unsigned flops_points_by_size(const struct model_plot_line *points,
                                     struct orr_point *ret)
{
    unsigned n = 0;

    for (unsigned i = 0; i < points->n; i++) {
        const struct model_plot_point *p = &points->at[i];

        if (!(p->flops > 0))
            return 0;
        if (n == 0 || ret[n - 1].x != p->x)
            ret[n++] = (struct orr_point){.x = p->x, .y = p->flops, .n = 1};
    }
    return n;
}

/* Puts flops to each place of a line: as the points have them, and between them
 * by the interpolation that the times have, so that both bend alike. */
static int add_flops(const struct model_plot_line *points,
                     struct model_plot_line *line)
{
    struct orr_point *joined = calloc(points->n + 1, sizeof(*joined));
    unsigned n;

    if (!joined)
        return -ENOMEM;
    n = flops_points_by_size(points, joined);
    for (unsigned i = 0; i < line->n; i++) {
        struct orr_estimate estimate =
            orr_interpolate(joined, n, line->at[i].x);

        line->at[i].flops = estimate.value > 0 ? estimate.value : 0;
    }
    free(joined);
    return 0;
}

static double sample_x(double low, double high, unsigned i, bool linear)
{
    double share = (double)i / (NSAMPLES - 1);

    if (i == 0 || i == NSAMPLES - 1)
        return i ? high : low; /* no rounding beyond the points */
    return linear ? low + share * (high - low) : low * pow(high / low, share);
}

/* Between the outermost points, if there are enough for a curve. */
static int build_curve(const struct model_plot_line *points, bool linear,
                       struct model_plot_line *ret)
{
    struct orr_point *joined = calloc(points->n + 1, sizeof(*joined));
    unsigned n = joined ? join_points(points, joined) : 0;
    int rc = joined ? line_new(NSAMPLES + points->n, ret) : -ENOMEM;

    for (unsigned i = 0; rc == 0 && n >= 3 && i < NSAMPLES + n; i++) {
        double x = i < NSAMPLES
                       ? sample_x(joined[0].x, joined[n - 1].x, i, linear)
                       : joined[i - NSAMPLES].x;
        struct orr_estimate estimate = orr_interpolate(joined, n, x);
        double error = isfinite(estimate.error) ? fmin(estimate.error, 10) : 0;

        if (estimate.value > 0)
            ret->at[ret->n++] =
                (struct model_plot_point){.x = x,
                                          .y = estimate.value,
                                          .lo = estimate.value / (1 + error),
                                          .hi = estimate.value * (1 + error)};
    }
    if (rc == 0)
        qsort(ret->at, ret->n, sizeof(*ret->at), plot_point_compare_x);
    free(joined);
    return rc;
}

static double regression_at(const struct orr_model_fit *fit, double x)
{
    double y = orr_model_fit_offset(fit, x);

    return isfinite(y) ? y : orr_model_fit_power(fit, x);
}

/* Where StarPU uses the formula. */
static int build_regression(const struct orr_model_fit *fit, bool linear,
                            struct model_plot_line *ret)
{
    double low = 0.9 * (double)fit->minx, high = 1.1 * (double)fit->maxx;
    int rc = line_new(NSAMPLES, ret);

    if (!(low > 0 && high > low))
        return rc;
    for (unsigned i = 0; rc == 0 && i < NSAMPLES; i++) {
        double x = sample_x(low, high, i, linear), y = regression_at(fit, x);

        if (y > 0)
            ret->at[ret->n++] =
                (struct model_plot_point){.x = x, .y = y, .lo = y, .hi = y};
    }
    return rc;
}

/* The power law through two sizes, between which nothing interpolates. */
static int build_power(const struct model_plot_line *points, bool linear,
                       struct model_plot_line *regression)
{
    struct orr_point *joined = calloc(points->n + 1, sizeof(*joined));
    unsigned n = joined ? join_points(points, joined) : 0;
    struct orr_power_regression power;
    int rc = joined ? 0 : -ENOMEM;

    if (n == 2)
        rc = orr_fit_power(joined, n, &power);
    for (unsigned i = 0; rc == 0 && n == 2 && i < NSAMPLES; i++) {
        double x = sample_x(joined[0].x, joined[1].x, i, linear);
        double y = orr_power_regression_value(&power, x);

        regression->at[regression->n++] =
            (struct model_plot_point){.x = x, .y = y, .lo = y, .hi = y};
    }
    free(joined);
    return rc == -ENOMEM ? rc : 0;
}

/* Curves have been drawn through all points; what was computed is shown apart. */
static int split_points(struct model_plot_line *points,
                        struct model_plot_line *ret_computed)
{
    unsigned n = 0;
    int rc = line_new(points->n, ret_computed);

    for (unsigned i = 0; rc == 0 && i < points->n; i++)
        if (orr_origin_is_measured(points->at[i].origin))
            points->at[n++] = points->at[i];
        else
            ret_computed->at[ret_computed->n++] = points->at[i];
    if (rc == 0)
        points->n = n;
    return rc;
}

/* -- GFlop/s -- */

/* Turns µs into GFlop/s; what has no flops is dropped. */
static void to_gflops(struct model_plot_line *line)
{
    unsigned n = 0;

    for (unsigned i = 0; i < line->n; i++) {
        struct model_plot_point p = line->at[i];
        double lo = p.lo;

        if (!(p.flops > 0))
            continue;
        p.y = p.flops / p.y / 1e3;
        p.lo = p.flops / p.hi / 1e3;
        p.hi = p.flops / lo / 1e3;
        line->at[n++] = p;
    }
    line->n = n;
}

/* -- all series -- */

static void model_plot_series_done(struct model_plot_series *series)
{
    free(series->points.at);
    free(series->computed.at);
    free(series->curve.at);
    free(series->regression.at);
}

static int model_plot_add_series(struct model_plot *plot,
                                 const struct orr_model_comb *comb,
                                 unsigned impl)
{
    const struct model_plot_choice *choice = &plot->choice;
    struct model_plot_series s = {{0}, {0}, {0}, {0}, {0}};
    char text[PERFMODEL_TEXT];
    int rc = build_points(plot->model, comb, impl, &s.points);

    snprintf(s.label, sizeof(s.label), comb->nimpls > 1 ? "%s impl %u" : "%s",
             perfmodel_arch_text(comb->devices, comb->ndevices, text), impl);
    if (rc == 0)
        rc = build_curve(&s.points, choice->linear, &s.curve);
    if (rc == 0)
        rc = build_regression(&comb->impls[impl].fit, choice->linear,
                              &s.regression);
    if (rc == 0 && s.regression.n == 0)
        rc = build_power(&s.points, choice->linear, &s.regression);
    if (rc == 0 && choice->gflops)
        rc = add_flops(&s.points, &s.curve);
    if (rc == 0 && choice->gflops)
        rc = add_flops(&s.points, &s.regression);
    if (rc == 0 && choice->gflops) {
        bool any = s.points.n > 0;

        to_gflops(&s.points);
        to_gflops(&s.curve);
        to_gflops(&s.regression);
        plot->nmissing += any && s.points.n == 0;
    }
    if (rc == 0)
        rc = split_points(&s.points, &s.computed);
    if (rc < 0 || s.points.n + s.computed.n + s.regression.n == 0)
        model_plot_series_done(&s);
    else
        plot->series[plot->nseries++] = s;
    return rc;
}

int model_plot_build(const struct check_model *model,
                     const struct model_plot_choice *choice,
                     struct model_plot *ret)
{
    struct model_plot plot = {.model = model, .choice = *choice};
    unsigned slots = 1;
    int rc = 0;

    for (unsigned c = 0; c < model->file->ncombs; c++)
        slots += model->file->combs[c].nimpls;
    plot.series = calloc(slots, sizeof(*plot.series));
    if (!plot.series)
        return -ENOMEM;
    for (unsigned c = 0; c < model->file->ncombs; c++) {
        const struct orr_model_comb *comb = &model->file->combs[c];

        if (!perfmodel_arch_wanted(choice->arch, comb->devices, comb->ndevices))
            continue;
        for (unsigned i = 0; i < comb->nimpls && rc == 0; i++)
            rc = model_plot_add_series(&plot, comb, i);
    }
    if (rc < 0)
        model_plot_done(&plot);
    else
        *ret = plot;
    return rc;
}

void model_plot_done(struct model_plot *plot)
{
    for (unsigned i = 0; i < plot->nseries; i++)
        model_plot_series_done(&plot->series[i]);
    free(plot->series);
    *plot = (struct model_plot){0};
}

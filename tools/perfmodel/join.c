/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/join.c - see join.h: rows and regressions. */
#include "tools/perfmodel/join.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/join_side.h"

#include "perfmodel/regression.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One step of joining: a row of both, or of one. */
struct step {
    struct perfmodel_report *report;
    struct orr_error *err;
    const struct orr_model_comb *comb; /* of the source */
    unsigned impl;
};

static void join_warn(const struct step *step, const struct orr_model_row *row,
                      const char *message)
{
    char arch[PERFMODEL_TEXT];

    perfmodel_arch_text(step->comb->devices, step->comb->ndevices, arch);
    tool_error("warning: %s, %s, implementation %u, footprint %08" PRIx32
               ": %s",
               step->report->name, arch, step->impl, row->hash, message);
}

/* The standard error of a row's mean: by batch means when blocks of the series
 * are known, since measures depend on those before them (Law & Kelton,
 * Simulation Modeling and Analysis, on batch means), else σ/√n. */
static double row_error(const struct orr_model_row *row,
                        const struct orr_side_entry *side)
{
    double sum = 0, squares = 0, n = side ? side->nblocks : 0, mean;

    if (n < 8)
        return row->dev / sqrt(row->n);
    for (unsigned i = 0; i < side->nblocks; i++)
        sum += side->blocks[i];
    mean = sum / n;
    for (unsigned i = 0; i < side->nblocks; i++)
        squares += (side->blocks[i] - mean) * (side->blocks[i] - mean);
    return sqrt(squares / (n - 1) / n);
}

/* Two standard errors, and more than one per cent: smaller differences do not
 * matter however many samples there are. */
static void compare_means(const struct step *step,
                          const struct orr_model_row *a,
                          const struct orr_side_entry *side_a,
                          const struct orr_model_row *b,
                          const struct orr_side_entry *side_b)
{
    double error = hypot(row_error(a, side_a), row_error(b, side_b));
    double apart = fabs(a->mean - b->mean);
    char first[PERFMODEL_TEXT], second[PERFMODEL_TEXT];
    char *message;

    if (!(apart > 2 * error && apart > 0.01 * fmin(a->mean, b->mean)))
        return;
    step->report->nmeans++;
    message = tool_format("means differ by more than their errors, %s (%u "
                          "samples) and %s (%u samples); joined all the same: "
                          "are both of the same machine and code?",
                          perfmodel_time_text(a->mean, first), a->n,
                          perfmodel_time_text(b->mean, second), b->n);
    if (message)
        join_warn(step, a, message);
    free(message);
}

/* StarPU's rule: 0 is unknown, NaN once tasks of a footprint disagreed. */
static double joined_flops(double a, double b)
{
    if (a == 0)
        return b;
    if (b == 0 || fabs(a - b) <= 1e-5 * fabs(a))
        return a;
    return (double)NAN;
}

static bool same_measures(const struct orr_model_row *a,
                          const struct orr_model_row *b)
{
    return a->n == b->n && a->sum == b->sum && a->sum2 == b->sum2;
}

/* The deviation of both together (Chan, Golub & LeVeque, The American
 * Statistician 37, 1983): from Σy² with a file's seven digits, a small one
 * would lose its digits. */
static double join_dev(const struct orr_model_row *a,
                       const struct orr_model_row *b)
{
    double n = (double)a->n + b->n, apart = a->mean - b->mean;

    if (!a->n || !b->n)
        return a->n ? a->dev : b->dev;
    return sqrt((a->n * a->dev * a->dev + b->n * b->dev * b->dev) / n +
                a->n / n * (b->n / n) * apart * apart);
}

/* Both have the row, with different sizes: the one with more samples stays. */
static void join_size_clash(const struct step *step, struct orr_model_row *to,
                            const struct orr_model_row *from)
{
    char *message = tool_format(
        "two sizes under one footprint, %" PRIu64 " (%u samples) and %" PRIu64
        " (%u samples); not joined, the one with more samples stays. A "
        "size_base or footprint function has changed",
        to->size, to->n, from->size, from->n);

    step->report->nsizes++;
    if (message)
        join_warn(step, to, message);
    free(message);
    if (from->n > to->n)
        *to = *from;
}

/* One of the rows was computed and the other measured: the latter stays, with
 * its samples. */
static int keep_measured(const struct step *step, struct perfmodel_data *to,
                         struct orr_model_row *row,
                         const struct orr_side_entry *other_side,
                         const struct orr_model_row *other,
                         enum orr_origin of_other)
{
    step->report->nreplaced++;
    if (!orr_origin_is_measured(of_other))
        return 0;
    *row = *other;
    orr_model_row_say_origin(row, to->file, of_other, false);
    return other_side ? perfmodel_side_put(to->side, other_side, row) : 0;
}

/* Both have the row. */
static int join_rows(const struct step *step, struct perfmodel_data *to,
                     struct orr_model_row *row,
                     const struct perfmodel_data *from,
                     const struct orr_model_row *other)
{
    const struct orr_side_entry *side =
        perfmodel_side_of(to, step->comb, step->impl, row, NULL);
    const struct orr_side_entry *other_side =
        perfmodel_side_of(from, step->comb, step->impl, other, NULL);
    enum orr_origin a = perfmodel_row_origin(row, to->file->origin, side);
    enum orr_origin b =
        perfmodel_row_origin(other, from->file->origin, other_side);
    bool ranged = orr_model_row_is_ranged(row, to->file) &&
                  orr_model_row_is_ranged(other, from->file);

    if (orr_origin_is_measured(a) != orr_origin_is_measured(b))
        return keep_measured(step, to, row, other_side, other, b);
    if (row->size != other->size && row->n && other->n) {
        bool replaced = other->n > row->n;

        join_size_clash(step, row, other);
        if (replaced)
            orr_model_row_say_origin(
                row, to->file, b, orr_model_row_is_ranged(other, from->file));
        return replaced && other_side
                   ? perfmodel_side_put(to->side, other_side, row)
                   : 0;
    }
    if (same_measures(row, other)) {
        step->report->nsame++;
        return side || !other_side
                   ? 0
                   : perfmodel_side_put(to->side, other_side, row);
    }
    if ((uint64_t)row->n + other->n > UINT32_MAX)
        return orr_fail(step->err, -EOVERFLOW,
                        "%s: footprint %08" PRIx32 " has more samples than a "
                        "model file can count",
                        step->report->name, row->hash);
    if (row->n && other->n)
        compare_means(step, row, side, other, other_side);
    step->report->njoined++;
    row->size = row->n ? row->size : other->size;
    row->flops = joined_flops(row->flops, other->flops);
    row->dev = join_dev(row, other);
    row->n += other->n;
    row->sum += other->sum;
    row->sum2 += other->sum2;
    row->mean = row->n ? row->sum / row->n : 0;
    orr_model_row_say_origin(row, to->file, a > b ? a : b, ranged);
    return perfmodel_side_join(to->side, side, other_side, row);
}

/* Only the source has the row. */
static int join_add_row(const struct step *step, struct perfmodel_data *to,
                        struct orr_model_impl *impl,
                        const struct perfmodel_data *from,
                        const struct orr_model_row *row)
{
    const struct orr_side_entry *side =
        perfmodel_side_of(from, step->comb, step->impl, row, NULL);
    struct orr_model_row added = *row;
    int rc;

    orr_model_row_say_origin(
        &added, to->file,
        orr_model_row_origin(row, from->file->origin, false),
        orr_model_row_is_ranged(row, from->file));
    rc = orr_model_impl_add_row(impl, &added);
    step->report->nadded++;
    if (rc == 0 && side)
        rc = perfmodel_side_put(to->side, side, row);
    return rc;
}

/* -- regressions -- */

static int take_coeff(struct orr_model_fit *to,
                      const struct orr_model_fit *from)
{
    double *copy;

    if (!from->ncoeff)
        return 0;
    copy = malloc(from->ncoeff * sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    memcpy(copy, from->coeff, from->ncoeff * sizeof(*copy));
    free(to->coeff);
    to->coeff = copy;
    to->ncoeff = from->ncoeff;
    return 0;
}

static bool same_fit(const struct orr_model_fit *a,
                     const struct orr_model_fit *b)
{
    return a->n == b->n && a->sumlnx == b->sumlnx && a->sumlny == b->sumlny &&
           a->sumlnx2 == b->sumlnx2 && a->sumlnxlny == b->sumlnxlny;
}

static int join_fit(const struct step *step, struct orr_model_fit *to,
                    const struct orr_model_fit *from)
{
    bool power = !isnan(to->alpha) || !isnan(from->alpha);
    int rc = 0;

    if (same_fit(to, from) && to->n)
        return 0; /* the same measures */
    if ((uint64_t)to->n + from->n > UINT32_MAX)
        return orr_fail(step->err, -EOVERFLOW,
                        "%s: the regression has more samples than a model "
                        "file can count",
                        step->report->name);
    if (isnan(to->a) || from->n > to->n) {
        to->a = isnan(from->a) ? to->a : from->a;
        to->b = isnan(from->a) ? to->b : from->b;
        to->c = isnan(from->a) ? to->c : from->c;
    }
    if (!to->ncoeff || from->n > to->n)
        rc = take_coeff(to, from);
    if (rc < 0 || same_fit(to, from) || !from->n)
        return rc;
    orr_sums_join(to, from);
    if (power && !orr_sums_regression(to, &to->alpha, &to->beta))
        to->alpha = to->beta = NAN;
    return 0;
}

/* -- all of it -- */

static int join_impl(const struct step *step, struct perfmodel_data *to,
                     struct orr_model_comb *comb,
                     const struct perfmodel_data *from)
{
    const struct orr_model_impl *source = &step->comb->impls[step->impl];
    bool fresh =
        step->impl >= comb->nimpls || comb->impls[step->impl].nrows == 0;
    struct orr_model_impl *impl;
    int rc = orr_model_comb_get_impl(comb, step->impl, &impl);

    if (rc == 0)
        rc = fresh && !impl->fit.n && !impl->fit.ncoeff
                 ? orr_model_fit_copy(&impl->fit, &source->fit)
                 : join_fit(step, &impl->fit, &source->fit);
    for (unsigned r = 0; rc == 0 && r < source->nrows; r++) {
        const struct orr_model_row *other = &source->rows[r];
        struct orr_model_row *row =
            fresh ? NULL : orr_model_impl_find_row(impl, other->hash);

        rc = row ? join_rows(step, to, row, from, other)
                 : join_add_row(step, to, impl, from, other);
    }
    return rc;
}

int perfmodel_join(struct perfmodel_data *to, const struct perfmodel_data *from,
                   struct perfmodel_report *report, struct orr_error *err)
{
    struct step step = {report, err, NULL, 0};
    int rc = 0;

    if (!to->side)
        to->side = orr_side_new();
    if (!to->side)
        return orr_fail(err, -ENOMEM, "out of memory");
    if (to->file->ncombs == 0) {
        to->file->origin = from->file->origin;
        to->file->ranged = from->file->ranged;
    }
    for (unsigned c = 0; rc == 0 && c < from->file->ncombs; c++) {
        const struct orr_model_comb *source = &from->file->combs[c];
        struct orr_model_comb *comb = orr_model_file_find_comb(
            to->file, source->devices, source->ndevices, 0);

        step.comb = source;
        if (!comb)
            rc = orr_model_file_add_comb(to->file, source->devices,
                                         source->ndevices, &comb);
        if (rc == 0 && !comb->nimpls)
            comb->number = source->number;
        for (step.impl = 0; rc == 0 && step.impl < source->nimpls; step.impl++)
            rc = join_impl(&step, to, comb, from);
    }
    return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/merge.c - three-way merge of history rows: the row as it was read,
 * as it is in this process, and as the file has it now. No threads.
 *
 * n, Σy and Σy² add up, so that "what was measured since" is a difference of
 * rows and merging is adding it.
 */
#include "perfmodel/merge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void orr_model_row_refresh(struct orr_model_row *row)
{
    if (row->n == 0) {
        row->mean = row->dev = 0;
        return;
    }
    row->mean = row->sum / row->n;
    row->dev = sqrt(fabs(row->sum2 - row->sum * row->mean) / row->n);
}

static bool samples_equal(const struct orr_model_row *a,
                          const struct orr_model_row *b)
{
    return a->n == b->n && a->sum == b->sum && a->sum2 == b->sum2;
}

/* Whether `later` can be `earlier` with more samples. */
static bool samples_include(const struct orr_model_row *later,
                            const struct orr_model_row *earlier)
{
    return later->n >= earlier->n && later->sum >= earlier->sum &&
           later->sum2 >= earlier->sum2;
}

static void samples_add(struct orr_model_row *row,
                        const struct orr_model_row *more)
{
    row->n = row->n > UINT32_MAX - more->n ? UINT32_MAX : row->n + more->n;
    row->sum += more->sum;
    row->sum2 += more->sum2;
}

static void samples_subtract(struct orr_model_row *row,
                             const struct orr_model_row *less)
{
    row->n -= less->n;
    row->sum -= less->sum;
    row->sum2 -= less->sum2;
}

/* `now` becomes the merged row. */
static void row_merge(struct orr_model_row *now,
                      const struct orr_model_change *change)
{
    struct orr_model_row mine = change->row;

    if (samples_equal(now, &change->base)) {
        *now = change->row;
        return;
    }
    if (!isfinite(now->sum) || !isfinite(now->sum2)) {
        now->n = 0; /* sums that nothing can be added to */
        now->sum = now->sum2 = 0;
    }
    if (!change->wiped && samples_include(&mine, &change->base))
        samples_subtract(&mine, &change->base);
    else if (samples_include(now, &change->base))
        samples_subtract(now, &change->base);
    samples_add(now, &mine);
    now->size = mine.size;
    if (mine.flops != 0)
        now->flops = mine.flops;
    orr_model_row_refresh(now);
}

static int add_measured(const struct orr_model_file *file,
                        struct orr_model_impl *impl,
                        const struct orr_model_row *row)
{
    struct orr_model_row measured = *row;

    orr_model_row_say_origin(&measured, file, ORR_ORIGIN_MEASURED, false);
    return orr_model_impl_add_row(impl, &measured);
}

static int change_apply(struct orr_model_file *file,
                        const struct orr_model_change *change,
                        unsigned homogeneous)
{
    struct orr_model_comb *comb = orr_model_file_find_comb(
        file, change->devices, change->ndevices, homogeneous);
    struct orr_model_impl *impl = NULL;
    struct orr_model_row *row, before;
    int rc = 0;

    if (!comb)
        rc = orr_model_file_add_comb(file, change->devices, change->ndevices,
                                     &comb);
    if (rc)
        return rc;
    comb->number = change->number;
    rc = orr_model_comb_get_impl(comb, change->impl, &impl);
    if (rc)
        return rc;
    row = orr_model_impl_find_row(impl, change->row.hash);
    if (!row)
        return add_measured(file, impl, &change->row);
    before = *row;
    row_merge(row, change);
    row->origin = before.origin;
    row->ranged = before.ranged;
    /* What was measured has replaced what was computed. */
    if (!samples_equal(&change->row, &change->base) &&
        orr_model_row_origin(row, file->origin, false) == ORR_ORIGIN_DERIVED)
        orr_model_row_say_origin(row, file, ORR_ORIGIN_MEASURED, false);
    return 0;
}

int orr_model_file_apply(struct orr_model_file *file,
                         const struct orr_model_change *changes,
                         unsigned nchanges, unsigned homogeneous)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < nchanges; i++)
        rc = change_apply(file, &changes[i], homogeneous);
    return rc;
}

static void impl_subtract(struct orr_model_impl *impl,
                          const struct orr_model_impl *old)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < impl->nrows; i++) {
        struct orr_model_row row = impl->rows[i];
        const struct orr_model_row *was =
            orr_model_impl_find_row(old, row.hash);

        if (was && samples_equal(&row, was))
            continue;
        if (was && samples_include(&row, was)) {
            samples_subtract(&row, was);
            orr_model_row_refresh(&row);
        }
        impl->rows[kept++] = row;
    }
    impl->nrows = kept;
    if (impl->fit.n != old->fit.n || impl->fit.sumlny != old->fit.sumlny)
        return;
    orr_model_fit_clear(&impl->fit);
}

void orr_model_file_subtract(struct orr_model_file *file,
                             const struct orr_model_file *old)
{
    for (unsigned i = 0; i < file->ncombs; i++) {
        struct orr_model_comb *comb = &file->combs[i];
        const struct orr_model_comb *was =
            orr_model_file_find_comb(old, comb->devices, comb->ndevices, 0);

        for (unsigned j = 0; was && j < comb->nimpls && j < was->nimpls; j++)
            impl_subtract(&comb->impls[j], &was->impls[j]);
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/variation_model.c - how the measures of a model's rows vary. Samples are
 * read with the first question: nobody else needs them in memory.
 */
#include "perfmodel/variation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "perfmodel/model_private.h"
#include "perfmodel/robust.h"
#include "perfmodel/side.h"

/* The side file with its samples; NULL without. A file that is broken has been
 * complained of when the model was loaded. */
static const struct orr_side *model_read_samples(struct orr_model *model)
{
    struct orr_error err = {""};
    char *path = NULL;

    if (model->samples_read || !model->path)
        return model->samples;
    model->samples_read = true;
    if (orr_side_path(model->path, &path) == 0)
        (void)orr_side_read(path, ORR_SIDE_SAMPLES, &model->samples, &err);
    free(path);
    return model->samples;
}

/* The variation of the samples that were no outliers; leaves *ret alone if
 * there are too few. */
static int from_samples(const struct orr_side_entry *entry,
                        struct orr_variation *ret)
{
    double kept[ORR_WINDOW_SIZE];
    unsigned n = 0;

    for (unsigned i = 0; i < entry->nrecent && n < ORR_WINDOW_SIZE; i++)
        if (!entry->set_aside[i])
            kept[n++] = entry->recent[i];
    return orr_variation_of(kept, n, ret);
}

/* Standard deviation over mean of a row that was measured; NaN of others. */
static double deviation_of(const struct orr_model *model,
                           const struct orr_entry *entry)
{
    struct orr_model_row row;

    orr_entry_read(entry, &row);
    if (row.n < 2 || !(row.mean > 0) || !isfinite(row.dev) ||
        orr_model_has_range(model, entry, &row))
        return (double)NAN;
    return row.dev / row.mean;
}

/* The median over the rows of the comb and implementation. */
static double usual_deviation(const struct orr_model *model, unsigned comb,
                              unsigned impl)
{
    const struct orr_history *history = &model->history;
    double *all = malloc((history->count + 1) * sizeof(*all)), median;
    unsigned n = 0;

    if (!all)
        return ORR_VARIATION_UNMEASURED;
    for (const struct orr_entry *entry = orr_history_next(history, NULL); entry;
         entry = orr_history_next(history, entry)) {
        struct orr_entry_key key = orr_entry_key(entry);
        double deviation = deviation_of(model, entry);

        if (key.comb == comb && key.impl == impl && !isnan(deviation))
            all[n++] = deviation;
    }
    orr_sort(all, n);
    median = n ? orr_quantile(all, n, 0.5) : ORR_VARIATION_UNMEASURED;
    free(all);
    return median;
}

static int variation_locked(struct orr_model *model, unsigned comb,
                            unsigned impl, uint32_t footprint,
                            struct orr_variation *ret)
{
    const struct orr_entry *entry =
        orr_model_find(model, comb, impl, footprint);
    const struct orr_comb *devices = orr_combs_at(model->models->combs, comb);
    const struct orr_side *side = model_read_samples(model);
    struct orr_model_row row;

    if (entry)
        ret->deviation = deviation_of(model, entry);
    if (!entry || isnan(ret->deviation))
        ret->deviation = usual_deviation(model, comb, impl);
    if (!entry || !side || !devices)
        return 0;
    orr_entry_read(entry, &row);
    for (unsigned i = 0; i < side->nentries; i++) {
        const struct orr_side_entry *at = &side->entries[i];

        if (at->hash == footprint && at->impl == impl &&
            orr_devices_equal(at->devices, at->ndevices, devices->devices,
                              devices->ndevices, model->models->homogeneous) &&
            orr_side_matches(at, &row))
            return from_samples(at, ret);
    }
    return 0;
}

int orr_model_variation(struct orr_model *model, unsigned comb, unsigned impl,
                        uint32_t footprint, struct orr_variation *ret)
{
    struct orr_variation variation = {.deviation = ORR_VARIATION_UNMEASURED};
    int rc;

    pthread_mutex_lock(&model->lock);
    rc = variation_locked(model, comb, impl, footprint, &variation);
    pthread_mutex_unlock(&model->lock);
    if (rc == 0)
        *ret = variation;
    return rc;
}

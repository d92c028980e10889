/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model_disk.c - models from and to their files. Loading happens
 * before other threads know the model; one thread saves while others measure.
 */
#include "perfmodel/model_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/log.h"
#include "perfmodel/side.h"

/* The regression in the file. */
static int load_fit(struct orr_model *model, unsigned comb, unsigned impl,
                    const struct orr_model_fit *fit)
{
    struct orr_regression *r = orr_model_regression(model, comb, impl);

    return r ? orr_model_fit_copy(&r->file, fit) : -ENOMEM;
}

static int load_impl(struct orr_model *model, unsigned comb, unsigned impl,
                     const struct orr_model_impl *from)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < from->nrows; i++) {
        const struct orr_model_row *row = &from->rows[i];
        struct orr_entry_key key = {comb, impl, row->hash};
        struct orr_entry *entry;

        /* The first of several rows counts. Sums that are not finite predict
         * nothing; saving replaces them once there are measures. */
        if (orr_history_find(&model->history, key) || !isfinite(row->mean) ||
            !isfinite(row->sum) || !isfinite(row->sum2))
            continue;
        rc = orr_history_add(&model->history, key, row, true, &entry);
        if (!rc && orr_model_row_origin(row, model->origin, false) ==
                       ORR_ORIGIN_DERIVED)
            orr_entry_set_derived(entry);
    }
    if (!rc && model->kind != ORR_MODEL_HISTORY)
        rc = load_fit(model, comb, impl, &from->fit);
    return rc;
}

static int load_file(struct orr_model *model, const struct orr_model_file *file)
{
    int rc = 0;

    model->origin = file->origin;
    model->ranged = file->ranged;
    for (unsigned i = 0; !rc && i < file->ncombs; i++) {
        const struct orr_model_comb *from = &file->combs[i];
        unsigned comb;

        rc = orr_combs_get(model->models->combs, from->devices, from->ndevices,
                           &comb);
        for (unsigned j = 0; !rc && j < from->nimpls && j < ORR_MODEL_MAXIMPL;
             j++)
            rc = load_impl(model, comb, j, &from->impls[j]);
    }
    return rc;
}

/* The estimates of the side file replace the means. */
static int load_side_entries(struct orr_model *model,
                             const struct orr_side *side)
{
    unsigned stale = 0;

    for (unsigned i = 0; i < side->nentries; i++) {
        const struct orr_side_entry *from = &side->entries[i];
        struct orr_entry *entry;
        struct orr_model_row row;
        double estimate;
        uint32_t n;
        unsigned comb;
        int rc = orr_combs_get(model->models->combs, from->devices,
                               from->ndevices, &comb);

        if (rc)
            return rc;
        entry = orr_history_find(
            &model->history,
            (struct orr_entry_key){comb, from->impl, from->hash});
        if (!entry)
            continue;
        orr_entry_read(entry, &row);
        if (!orr_side_matches(from, &row)) {
            stale++;
            continue;
        }
        /* One that has only had its first run has no estimate yet. */
        estimate = orr_row_estimate(&row, from, &n);
        if (from->estimate > 0 && n > 0)
            orr_entry_set_estimate(entry, estimate, n, from->low, from->high);
        /* More processes than measures: there is nothing but first runs. */
        if (from->nseen < from->nfirst)
            orr_entry_set_seldom(entry);
    }
    if (stale > 0)
        orr_log_notice("Performance model %s: another program has measured %u "
                       "of its rows since their samples were kept. Their means "
                       "count; the samples are not used.",
                       model->symbol, stale);
    return 0;
}

/* A side file that cannot be read is not used; the means remain. */
static int load_side(struct orr_model *model)
{
    struct orr_side *side = NULL;
    struct orr_error err = {""};
    char *path;
    int rc = orr_side_path(model->path, &path);

    if (rc)
        return rc == -ENOMEM ? rc : 0;
    rc = orr_side_read(path, ORR_SIDE_ESTIMATES, &side, &err);
    free(path);
    if (rc == -ENOMEM)
        return rc;
    if (rc && rc != -ENOENT)
        orr_log_warning("%s", err.text);
    if (rc)
        return 0;
    rc = load_side_entries(model, side);
    orr_side_free(side);
    return rc;
}

/* Reads the file of the model's path. */
static int model_load_path(struct orr_model *model, struct orr_error *err)
{
    struct orr_model_file *file = NULL;
    int rc = orr_model_file_read(model->path, &file, err);

    if (rc == -ENODATA) {
        orr_log_warning("%s", err->text);
        return 0;
    }
    if (rc)
        return rc == -ENOENT ? 0 : rc;
    if (orr_models_calibrate(model->models) >= 2) {
        model->dropped = file;
        return 0;
    }
    rc = load_file(model, file);
    orr_model_file_free(file);
    return rc ? rc : load_side(model);
}

int orr_model_load(struct orr_model *model, struct orr_error *err)
{
    struct orr_models *models = model->models;
    char *name;
    int rc = orr_model_name(model->symbol, models->host, &name, err);

    if (rc)
        return rc;
    rc = orr_sampling_find(models->sampling, ORR_SAMPLING_CODELETS, name,
                           &model->path);
    free(name);
    if (rc)
        return rc == -ENOENT ? 0 : rc;
    return model_load_path(model, err);
}

/* The state of one save. */
struct saving {
    struct orr_model *model;
    struct orr_model_change *changes; /* owned */
    struct orr_entry **entries;       /* owned, beside changes */
    struct orr_window **windows;      /* owned, beside changes; NULL: none */
    unsigned n;
    bool joined;           /* the windows were joined to the side file */
    struct orr_side *side; /* owned; its new content, NULL: it is broken */
};

static int saving_room(struct saving *saving, unsigned most)
{
    saving->changes = calloc(most ? most : 1, sizeof(*saving->changes));
    saving->entries = calloc(most ? most : 1, sizeof(struct orr_entry *));
    saving->windows = calloc(most ? most : 1, sizeof(struct orr_window *));
    return saving->changes && saving->entries && saving->windows ? 0 : -ENOMEM;
}

static void saving_done(struct saving *saving)
{
    for (unsigned i = 0; saving->windows && i < saving->n; i++)
        free(saving->windows[i]);
    free(saving->windows);
    free(saving->changes);
    free(saving->entries);
    orr_side_free(saving->side);
}

/* Nothing was saved. */
static void saving_undo(struct saving *saving)
{
    orr_regressions_untake(saving->model);
    for (unsigned i = 0; i < saving->n; i++)
        if (saving->windows[i])
            orr_entry_untake(saving->entries[i], saving->windows[i]);
}

/* Fills in the change of one entry, if it is worth saving. */
static bool saving_add(struct saving *saving, struct orr_entry *entry)
{
    struct orr_model_change *change = &saving->changes[saving->n];
    struct orr_entry_key key = orr_entry_key(entry);
    const struct orr_comb *comb =
        orr_combs_at(saving->model->models->combs, key.comb);

    if (!comb)
        return false; /* a measure for a comb that was never registered */
    if (!orr_entry_changed(entry, change, &saving->windows[saving->n]))
        return false;
    change->devices = comb->devices;
    change->ndevices = comb->ndevices;
    change->number = comb->id;
    change->impl = key.impl;
    saving->entries[saving->n++] = entry;
    return true;
}

static int saving_collect(struct saving *saving)
{
    struct orr_model *model = saving->model;
    struct orr_entry *entry = NULL;
    unsigned most;

    pthread_mutex_lock(&model->lock);
    most = model->history.count;
    pthread_mutex_unlock(&model->lock);
    if (saving_room(saving, most))
        return -ENOMEM;
    orr_regressions_take(model);
    for (unsigned i = 0; i < most; i++) {
        pthread_mutex_lock(&model->lock);
        entry = orr_history_next(&model->history, entry);
        pthread_mutex_unlock(&model->lock);
        saving_add(saving, entry);
    }
    return 0;
}

/* --- the side file --- */

static const struct orr_model_row *
row_of_change(const struct orr_model_file *file,
              const struct orr_model_change *change, unsigned homogeneous)
{
    const struct orr_model_comb *comb = orr_model_file_find_comb(
        file, change->devices, change->ndevices, homogeneous);

    if (!comb || change->impl >= comb->nimpls)
        return NULL;
    return orr_model_impl_find_row(&comb->impls[change->impl],
                                   change->row.hash);
}

/* Takes out of the side the entries whose row has gone from the file, or was
 * changed by another program. */
static void side_drop_stale(struct orr_side *side,
                            const struct orr_model_file *file)
{
    for (unsigned i = 0; i < side->nentries;) {
        const struct orr_side_entry *entry = &side->entries[i];
        struct orr_model_change key = {.devices = entry->devices,
                                       .ndevices = entry->ndevices,
                                       .impl = entry->impl,
                                       .row = {.hash = entry->hash}};
        const struct orr_model_row *row = row_of_change(file, &key, 0);

        if (row && orr_side_matches(entry, row))
            i++;
        else
            orr_side_remove(side, i);
    }
}

/* Joins the windows to what the side file holds of the rows as they are in
 * `file`, before this process's measures. */
static int side_join(struct saving *saving, const char *path,
                     const struct orr_model_file *file)
{
    struct orr_error err = {""};
    int rc = orr_side_read(path, ORR_SIDE_SAMPLES, &saving->side, &err);

    if (rc && rc != -ENOMEM && rc != -ENOENT) {
        orr_log_warning("%s", err.text);
        return 0; /* what cannot be read is not overwritten */
    }
    if (rc == -ENOENT)
        saving->side = orr_side_new();
    if (!saving->side)
        return -ENOMEM;
    side_drop_stale(saving->side, file);
    for (unsigned i = 0; i < saving->n; i++) {
        const struct orr_model_change *change = &saving->changes[i];
        struct orr_side_entry *entry =
            orr_side_get(saving->side, change->devices, change->ndevices,
                         change->impl, change->row.hash);

        if (!saving->windows[i])
            continue;
        if (!entry)
            entry =
                orr_side_append(saving->side, change->devices, change->ndevices,
                                change->impl, change->row.hash);
        if (!entry || orr_window_save(saving->windows[i], entry))
            return -ENOMEM;
        entry->last_time = (int64_t)time(NULL);
    }
    return 0;
}

/* Names the rows that the entries belong to from now on. */
static void side_stamp(const struct saving *saving,
                       const struct orr_model_file *file)
{
    for (unsigned i = 0; i < saving->n; i++) {
        const struct orr_model_change *change = &saving->changes[i];
        const struct orr_model_row *row =
            row_of_change(file, change, saving->model->models->homogeneous);
        struct orr_side_entry *entry =
            orr_side_get(saving->side, change->devices, change->ndevices,
                         change->impl, change->row.hash);

        if (!row || !entry || !saving->windows[i])
            continue;
        entry->row_n = row->n;
        entry->row_sum = row->sum;
    }
}

/* The means matter most: a side file that cannot be written is skipped, and
 * then is stale. */
static void side_write(struct saving *saving, const char *path,
                       const struct orr_model_file *file)
{
    struct orr_error err = {""};

    side_stamp(saving, file);
    if (orr_side_write(path, saving->side, &err))
        orr_log_warning("%s What was measured is saved without its samples.",
                        err.text);
}

/* Called again when another process has made the file meanwhile; the windows
 * join the side file only once. */
static int saving_edit(struct orr_model_file *file, void *arg,
                       struct orr_error *err)
{
    struct saving *saving = arg;
    const struct orr_model *model = saving->model;
    char *path = NULL;
    int rc = orr_side_path(model->path, &path);

    if (model->dropped)
        orr_model_file_subtract(file, model->dropped);
    if (rc == 0 && !saving->joined)
        rc = side_join(saving, path, file);
    saving->joined = true;
    if (rc != -ENOMEM)
        rc = orr_model_file_apply(file, saving->changes, saving->n,
                                  model->models->homogeneous);
    if (rc == 0)
        rc = orr_regressions_save(saving->model, file);
    if (rc == 0 && saving->side)
        side_write(saving, path, file);
    free(path);
    if (rc)
        return orr_fail(err, -ENOMEM, "Performance model %s: out of memory.",
                        model->symbol);
    return 0;
}

/* Lets the entries go on from what the file now holds. */
static void saving_adopt(const struct saving *saving,
                         const struct orr_model_file *file)
{
    for (unsigned i = 0; i < saving->n; i++) {
        const struct orr_model_change *change = &saving->changes[i];
        const struct orr_model_row *row =
            row_of_change(file, change, saving->model->models->homogeneous);

        if (row)
            orr_entry_saved(saving->entries[i], change, row);
    }
    orr_model_news(saving->model);
}

static int saving_path(struct orr_model *model, struct orr_error *err)
{
    char *name;
    int rc;

    if (model->path)
        return 0;
    rc = orr_model_name(model->symbol, model->models->host, &name, err);
    if (rc)
        return rc;
    rc = orr_sampling_place(model->models->sampling, ORR_SAMPLING_CODELETS,
                            name, &model->path);
    free(name);
    return rc;
}

static int saving_write(struct saving *saving, struct orr_error *err)
{
    struct orr_model *model = saving->model;
    struct orr_model_file *file = NULL;
    int rc = saving_path(model, err);

    if (!rc)
        rc =
            orr_model_file_update(model->path, saving_edit, saving, &file, err);
    if (rc)
        return rc;
    saving_adopt(saving, file);
    orr_regressions_saved(model, file);
    orr_model_file_free(model->dropped);
    model->dropped = NULL;
    orr_model_file_free(file);
    return 1;
}

int orr_model_save(struct orr_model *model, struct orr_error *err)
{
    struct saving saving = {.model = model};
    int rc;

    if (model->status || model->models->fixed)
        return 0;
    rc = saving_collect(&saving);
    if (rc)
        orr_fail(err, rc, "Performance model %s: out of memory.",
                 model->symbol);
    else if (saving.n > 0 || orr_regressions_have_news(model))
        rc = saving_write(&saving, err);
    if (rc < 0)
        saving_undo(&saving);
    saving_done(&saving);
    return rc;
}

int orr_models_save(struct orr_models *models,
                    void (*report)(const char *symbol,
                                   const struct orr_error *err, void *arg),
                    void *arg)
{
    struct orr_model *model;
    int first = 0;

    if (models->fixed || orr_models_calibrate(models) == 0)
        return 0;
    pthread_mutex_lock(&models->lock);
    model = models->first; /* models are added in front of it only */
    pthread_mutex_unlock(&models->lock);
    for (; model; model = model->next) {
        struct orr_error err = {""};
        int rc = orr_model_save(model, &err);

        if (rc >= 0)
            continue;
        if (report)
            report(model->symbol, &err, arg);
        if (!first)
            first = rc;
    }
    return first;
}

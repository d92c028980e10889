/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model_disk.c - models from and to their files. Loading happens
 * before anybody else knows the model; one thread saves while others measure.
 */
#include "perfmodel/model_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"

static int load_impl(struct orr_model *model, unsigned comb, unsigned impl,
                     const struct orr_model_impl *from)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < from->nrows; i++) {
        const struct orr_model_row *row = &from->rows[i];
        struct orr_entry_key key = {comb, impl, row->hash};

        /* The first of several rows counts. Sums that are not finite predict
         * nothing; saving replaces them once there are measures. */
        if (orr_history_find(&model->history, key) || !isfinite(row->mean) ||
            !isfinite(row->sum) || !isfinite(row->sum2))
            continue;
        rc = orr_history_add(&model->history, key, row, true, NULL);
    }
    return rc;
}

static int load_file(struct orr_model *model, const struct orr_model_file *file)
{
    int rc = 0;

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

/* Reads the file of the model's path. */
static int load_path(struct orr_model *model, struct orr_error *err)
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
    return rc;
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
    return load_path(model, err);
}

/* What one save is about. */
struct saving {
    struct orr_model *model;
    struct orr_model_change *changes; /* owned */
    struct orr_entry **entries;       /* owned, beside changes */
    unsigned n;
};

static int saving_room(struct saving *saving, unsigned most)
{
    saving->changes = calloc(most ? most : 1, sizeof(*saving->changes));
    saving->entries = calloc(most ? most : 1, sizeof(struct orr_entry *));
    return saving->changes && saving->entries ? 0 : -ENOMEM;
}

/* Fills in the change of one entry, if it is worth saving. */
static bool saving_add(struct saving *saving, struct orr_entry *entry)
{
    struct orr_model_change *change = &saving->changes[saving->n];
    struct orr_entry_key key = orr_entry_key(entry);
    const struct orr_comb *comb;

    /* A new entry without samples has only had its warm-up. It stays
     * unsaved: the next process needs a warm-up of its own. */
    if (!orr_entry_changed(entry, change) ||
        (change->row.n == 0 && change->base.n == 0))
        return false;
    comb = orr_combs_at(saving->model->models->combs, key.comb);
    if (!comb)
        return false; /* a measure for a comb that was never registered */
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
    for (unsigned i = 0; i < most; i++) {
        pthread_mutex_lock(&model->lock);
        entry = orr_history_next(&model->history, entry);
        pthread_mutex_unlock(&model->lock);
        saving_add(saving, entry);
    }
    return 0;
}

static int saving_edit(struct orr_model_file *file, void *arg,
                       struct orr_error *err)
{
    const struct saving *saving = arg;
    const struct orr_model *model = saving->model;

    if (model->dropped)
        orr_model_file_subtract(file, model->dropped);
    if (orr_model_file_apply(file, saving->changes, saving->n,
                             model->models->homogeneous))
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
        const struct orr_model_comb *comb =
            orr_model_file_find_comb(file, change->devices, change->ndevices,
                                     saving->model->models->homogeneous);
        const struct orr_model_row *row = NULL;

        if (comb && change->impl < comb->nimpls)
            row = orr_model_impl_find_row(&comb->impls[change->impl],
                                          change->row.hash);
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
    orr_model_file_free(model->dropped);
    model->dropped = NULL;
    orr_model_file_free(file);
    return 1;
}

int orr_model_save(struct orr_model *model, struct orr_error *err)
{
    struct saving saving = {.model = model};
    int rc;

    if (model->status || model->models->simulated)
        return 0;
    rc = saving_collect(&saving);
    if (rc)
        orr_fail(err, rc, "Performance model %s: out of memory.",
                 model->symbol);
    else if (saving.n > 0)
        rc = saving_write(&saving, err);
    free(saving.changes);
    free(saving.entries);
    return rc;
}

int orr_models_save(struct orr_models *models,
                    void (*report)(const char *symbol,
                                   const struct orr_error *err, void *arg),
                    void *arg)
{
    struct orr_model *model;
    int first = 0;

    if (models->simulated || orr_models_calibrate(models) == 0)
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/model_set.c - see model_set.h. One thread. */
#include "tools/perfmodel/model_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model_set_file {
    struct perfmodel_data data;
    char *symbol;
};

/* State while a set is read; all borrowed. */
struct reading {
    const struct perfmodel_place *place;
    bool (*wanted)(const char *symbol, const void *arg);
    const void *arg;
    struct model_set *set;
};

void model_set_done(struct model_set *set)
{
    for (unsigned i = 0; i < set->n; i++) {
        free(set->files[i].symbol);
        perfmodel_unload(&set->files[i].data);
    }
    free(set->models);
    free(set->files);
    orr_findings_done(&set->problems);
    *set = (struct model_set){0};
}

static int set_grow(struct model_set *set)
{
    unsigned slots = set->slots ? 2 * set->slots : 32;
    struct check_model *models;
    struct model_set_file *files;

    if (set->n < set->slots)
        return 0;
    models = realloc(set->models, slots * sizeof(*models));
    if (!models)
        return -ENOMEM;
    set->models = models;
    files = realloc(set->files, slots * sizeof(*files));
    if (!files)
        return -ENOMEM;
    set->files = files;
    set->slots = slots;
    return 0;
}

static void note_unreadable(struct model_set *set,
                            const struct perfmodel_item *item, int rc,
                            const struct orr_error *err)
{
    struct orr_finding_place place = {.kernel = item->symbol};

    if (rc == -ENODATA)
        orr_findings_add(&set->problems, ORR_SEVERITY_WARNING, "empty-file",
                         &place, "delete the file, or measure the kernel",
                         "%s is empty and counts as absent", item->path);
    else
        orr_findings_add(
            &set->problems, ORR_SEVERITY_ERROR, "broken-file", &place,
            "restore the file from a copy, or delete it and measure "
            "the kernel anew with STARPU_CALIBRATE=1",
            "%s", err->text[0] ? err->text : strerror(-rc));
}

static int model_set_add(struct model_set *set,
                         const struct perfmodel_place *place,
                         const struct perfmodel_item *item,
                         const struct perfmodel_data *data)
{
    char *symbol = strdup(item->symbol);
    int rc = symbol ? set_grow(set) : -ENOMEM;

    if (rc < 0) {
        free(symbol);
        return rc;
    }
    if (data->state == PERFMODEL_SIDE_BROKEN) {
        struct orr_finding_place where = {.kernel = item->symbol};

        orr_findings_add(
            &set->problems, ORR_SEVERITY_WARNING, "broken-side", &where,
            "delete the side file; the next measures make a new one",
            "%s; plain means count instead", data->problem.text);
    }
    set->files[set->n] = (struct model_set_file){*data, symbol};
    set->models[set->n++] = (struct check_model){
        .symbol = symbol,
        .file = data->file,
        .side = data->side,
        .origin = perfmodel_origin(place, item->path, data->file)};
    return 0;
}

static int model_set_visit(const struct perfmodel_item *item, void *arg)
{
    const struct reading *reading = arg;
    struct orr_error err = {""};
    struct perfmodel_data data;
    int rc;

    if (item->shadowed ||
        (reading->wanted && !reading->wanted(item->symbol, reading->arg)))
        return 0;
    rc = perfmodel_load(item->path, &data, &err);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0) {
        note_unreadable(reading->set, item, rc, &err);
        return 0;
    }
    rc = model_set_add(reading->set, reading->place, item, &data);
    if (rc < 0)
        perfmodel_unload(&data);
    return rc;
}

int model_set_read(const struct perfmodel_place *place,
                   bool (*wanted)(const char *symbol, const void *arg),
                   const void *arg, struct model_set *ret)
{
    struct reading reading = {place, wanted, arg, ret};

    *ret = (struct model_set){0};
    return perfmodel_each(place, place->host, model_set_visit, &reading);
}

const struct check_model *model_set_find(const struct model_set *set,
                                         const char *symbol)
{
    for (unsigned i = 0; i < set->n; i++)
        if (!strcmp(set->models[i].symbol, symbol))
            return &set->models[i];
    return NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/kernel_model.c - see kernel_model.h. Files are read when they are first
 * asked for, model and side file one after the other: entries of a side file
 * that do not belong to the rows are left out by their own stamp.
 */
#include "tools/kernel_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust.h"
#include "perfmodel/sampling.h"
#include "perfmodel/side.h"
#include "perfmodel/store.h"

static const double level = 0.95;
enum { ENOUGH = 32 }; /* samples for a lower quartile */

struct kernel_file {
    struct kernel_file *next;
    char *symbol;
    struct orr_model_file *file; /* NULL: there is none */
    struct orr_side *side;       /* the same */
};

struct kernel_models {
    struct orr_sampling *sampling;
    char *host;
    unsigned homogeneous;
    struct kernel_file *files;
};

int kernel_models_new(const char *host, struct kernel_models **ret)
{
    struct kernel_models *models = calloc(1, sizeof(*models));

    if (!models)
        return -ENOMEM;
    models->host = strdup(host);
    models->homogeneous = orr_homogeneous_from_env(orr_getenv);
    if (!models->host ||
        orr_sampling_from_env(orr_getenv, NULL, &models->sampling) < 0) {
        free(models->host);
        free(models);
        return -ENOMEM;
    }
    *ret = models;
    return 0;
}

void kernel_models_forget(struct kernel_models *models)
{
    struct kernel_file *next;

    for (struct kernel_file *file = models->files; file; file = next) {
        next = file->next;
        orr_model_file_free(file->file);
        orr_side_free(file->side);
        free(file->symbol);
        free(file);
    }
    models->files = NULL;
}

void kernel_models_free(struct kernel_models *models)
{
    if (!models)
        return;
    kernel_models_forget(models);
    orr_sampling_free(models->sampling);
    free(models->host);
    free(models);
}

/* A side file that cannot be read is as good as none: the row remains. */
static int read_side(const char *path, struct kernel_file *file)
{
    struct orr_error ignored = {""};
    char *side;
    int rc = orr_side_path(path, &side);

    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    rc = orr_side_read(side, ORR_SIDE_SAMPLES, &file->side, &ignored);
    free(side);
    return rc == -ENOMEM ? rc : 0;
}

static int read_files(const struct kernel_models *models,
                      struct kernel_file *file, struct orr_error *err)
{
    char *name, *path;
    int rc = orr_model_name(file->symbol, models->host, &name, err);

    if (rc < 0)
        return rc;
    rc =
        orr_sampling_find(models->sampling, ORR_SAMPLING_CODELETS, name, &path);
    free(name);
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    rc = orr_model_file_read(path, &file->file, err);
    if (rc == 0)
        rc = read_side(path, file);
    else if (rc == -ENOENT || rc == -ENODATA)
        rc = 0;
    free(path);
    return rc;
}

static int get_file(struct kernel_models *models, const char *symbol,
                    struct kernel_file **ret, struct orr_error *err)
{
    struct kernel_file *file = models->files;
    int rc = -ENOMEM;

    while (file && strcmp(file->symbol, symbol) != 0)
        file = file->next;
    *ret = file;
    if (file)
        return 0;
    file = calloc(1, sizeof(*file));
    if (file)
        file->symbol = strdup(symbol);
    if (file && file->symbol)
        rc = read_files(models, file, err);
    if (rc < 0) {
        if (file) {
            orr_model_file_free(file->file);
            free(file->symbol);
        }
        free(file);
        return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
    }
    file->next = models->files;
    models->files = file;
    *ret = file;
    return 0;
}

/* "cuda1" as a device. */
static int parse_arch(const char *arch, struct orr_device *ret)
{
    char type[ORR_ARCH_NAME_SIZE];
    size_t n = strcspn(arch, "0123456789");

    if (!arch[n] || n >= sizeof(type))
        return -EINVAL;
    memcpy(type, arch, n);
    type[n] = '\0';
    *ret = (struct orr_device){orr_device_type_find(type), atoi(arch + n), 1};
    return ret->type < 0 ? -EINVAL : 0;
}

/* Half the width of an interval, divided by its middle. */
static double relative(struct orr_interval interval)
{
    return (interval.hi - interval.lo) / (interval.hi + interval.lo);
}

/* Samples that were no outliers when they came; returns how many. */
static unsigned kept_samples(const struct orr_side_entry *side, double *ret)
{
    unsigned n = 0;

    for (unsigned i = 0; i < side->nrecent; i++)
        if (!side->set_aside[i])
            ret[n++] = side->recent[i];
    return n;
}

/* From the whole life of the entry, in blocks, or else from what is recent. */
static void know_series(const struct orr_side_entry *side,
                        struct kernel_knowledge *ret)
{
    double known = ret->confidence;
    double *kept = calloc(side->nrecent + 1, sizeof(*kept));
    unsigned n = kept ? kept_samples(side, kept) : 0;
    struct orr_summary summary;

    if (side->estimate > 0)
        ret->estimate = side->estimate;
    ret->confidence =
        relative(orr_mean_interval(side->blocks, side->nblocks, level));
    if (isnan(ret->confidence))
        ret->confidence = relative(orr_mean_interval(kept, n, level));
    ret->independent = isnan(ret->confidence);
    if (ret->independent)
        ret->confidence = known;
    if (n > 0 && orr_summarise(kept, n, &summary) == 0) {
        ret->autocorrelation = summary.autocorrelation;
        if (n >= ENOUGH)
            ret->p25 = summary.quantiles[ORR_Q25];
        ret->nregimes = summary.nregimes;
        ret->regimes[0] = summary.regimes[0].median;
        ret->regimes[1] = summary.regimes[summary.nregimes == 2].median;
    }
    free(kept);
}

static void know_row(const struct orr_model_row *row,
                     struct kernel_knowledge *ret)
{
    ret->n = row->n;
    if (row->n == 0 || !(row->mean > 0))
        return;
    ret->estimate = row->mean;
    if (row->n > 1)
        ret->confidence = 1.96 * row->dev / row->mean / sqrt(row->n);
    ret->independent = true;
}

int kernel_models_find(struct kernel_models *models,
                       const struct report_kernel *kernel,
                       struct kernel_knowledge *ret, struct orr_error *err)
{
    const struct orr_model_comb *comb = NULL;
    const struct orr_model_row *row = NULL;
    const struct orr_side_entry *side = NULL;
    struct kernel_file *file;
    struct orr_device device;
    int rc;

    *ret = (struct kernel_knowledge){.estimate = (double)NAN,
                                     .confidence = (double)NAN,
                                     .p25 = (double)NAN,
                                     .autocorrelation = (double)NAN};
    rc = get_file(models, kernel->name, &file, err);
    if (rc < 0)
        return rc;
    if (file->file && parse_arch(kernel->arch, &device) == 0)
        comb = orr_model_file_find_comb(file->file, &device, 1,
                                        models->homogeneous);
    if (comb && kernel->implementation < comb->nimpls)
        row = orr_model_impl_find_row(&comb->impls[kernel->implementation],
                                      kernel->footprint);
    if (!row)
        return 0;
    know_row(row, ret);
    if (file->side)
        side = orr_side_find(file->side, comb->devices, comb->ndevices,
                             kernel->implementation, row, NULL);
    if (!side)
        return 0;
    know_series(side, ret);
    return 0;
}

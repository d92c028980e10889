/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/kernel_model.c - see kernel_model.h. Files are read when they
 * are first asked for. One thread.
 */
#include "tools/common/kernel_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/perfmodel/estimates.h"

enum { ENOUGH = 32 }; /* samples for a lower quartile */

struct kernel_file {
    struct kernel_file *next;
    char *symbol;
    struct perfmodel_data data; /* file NULL: there is none */
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
        perfmodel_unload(&file->data);
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

static int kernel_file_read(const struct kernel_models *models,
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
    rc = perfmodel_load(path, &file->data, err);
    free(path);
    return rc == -ENOENT || rc == -ENODATA ? 0 : rc;
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
        rc = kernel_file_read(models, file, err);
    if (rc < 0) {
        if (file)
            free(file->symbol);
        free(file);
        return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
    }
    file->next = models->files;
    models->files = file;
    *ret = file;
    return 0;
}

int kernel_model_device(const char *arch, struct orr_device *ret)
{
    char type[ORR_ARCH_NAME_SIZE];
    size_t n = strcspn(arch, "0123456789");
    const char *cores = strchr(arch, ':');

    if (!arch[n] || n >= sizeof(type))
        return -EINVAL;
    memcpy(type, arch, n);
    type[n] = '\0';
    *ret = (struct orr_device){orr_device_type_find(type), atoi(arch + n),
                               cores ? atoi(cores + 1) : 1};
    return ret->type < 0 ? -EINVAL : 0;
}

/* The estimate of a row, for repeated runs. */
static void knowledge_from_row(const struct orr_model_row *row,
                               const struct perfmodel_known *known,
                               struct kernel_knowledge *ret)
{
    const struct orr_summary *summary = &known->summary;

    ret->n = known->n;
    ret->estimate = known->estimate;
    ret->confidence = known->half_width;
    ret->independent = known->independent;
    ret->mean = row->mean;
    if (known->side) {
        ret->nseen = known->side->nseen;
        ret->noutliers = known->side->noutliers;
    }
    if (summary->n == 0)
        return;
    ret->autocorrelation = summary->autocorrelation;
    if (summary->n >= ENOUGH)
        ret->p25 = summary->quantiles[ORR_Q25];
    ret->mixed = summary->mixed;
    if (ret->mixed) {
        ret->nregimes = 2;
        ret->regimes[0] = summary->mixture.level[0];
        ret->regimes[1] = summary->mixture.level[1];
        return;
    }
    ret->nregimes = summary->nregimes;
    ret->regimes[0] = summary->regimes[0].median;
    ret->regimes[1] = summary->regimes[summary->nregimes == 2].median;
}

int kernel_models_find(struct kernel_models *models,
                       const struct report_kernel *kernel,
                       struct kernel_knowledge *ret, struct orr_error *err)
{
    const struct orr_model_comb *comb = NULL;
    const struct orr_model_row *row = NULL;
    struct perfmodel_known known;
    struct kernel_file *file;
    struct orr_device device;
    int rc;

    *ret = (struct kernel_knowledge){.estimate = (double)NAN,
                                     .confidence = (double)NAN,
                                     .mean = (double)NAN,
                                     .p25 = (double)NAN,
                                     .autocorrelation = (double)NAN};
    rc = get_file(models, kernel->symbol, &file, err);
    if (rc < 0)
        return rc;
    if (file->data.file && kernel_model_device(kernel->arch, &device) == 0)
        comb = orr_model_file_find_comb(file->data.file, &device, 1,
                                        models->homogeneous);
    if (comb && kernel->implementation < comb->nimpls)
        row = orr_model_impl_find_row(&comb->impls[kernel->implementation],
                                      kernel->footprint);
    if (!row)
        return 0;
    rc = perfmodel_know(file->data.side, comb, kernel->implementation, row,
                        &known);
    if (rc < 0)
        return orr_fail(err, rc, "out of memory");
    knowledge_from_row(row, &known, ret);
    return 0;
}

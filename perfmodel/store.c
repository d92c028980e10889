/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/store.c - building, searching and freeing the content of a model
 * file. No threads: each file object belongs to one caller.
 */
#include "perfmodel/store.h"

#include "core/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int orr_model_file_new(struct orr_model_file **ret)
{
    struct orr_model_file *file = calloc(1, sizeof(*file));

    if (!file)
        return -ENOMEM;
    *ret = file;
    return 0;
}

static void impl_done(struct orr_model_impl *impl)
{
    free(impl->rows);
    free(impl->fit.coeff);
}

static void comb_done(struct orr_model_comb *comb)
{
    for (unsigned i = 0; i < comb->nimpls; i++)
        impl_done(&comb->impls[i]);
    free(comb->impls);
    free(comb->devices);
}

void orr_model_file_free(struct orr_model_file *file)
{
    if (!file)
        return;
    for (unsigned i = 0; i < file->ncombs; i++)
        comb_done(&file->combs[i]);
    free(file->combs);
    free(file);
}

int orr_model_file_add_comb(struct orr_model_file *file,
                            const struct orr_device *devices, unsigned ndevices,
                            struct orr_model_comb **ret)
{
    struct orr_device *copy;
    unsigned number = file->ncombs;

    copy = malloc((ndevices ? ndevices : 1) * sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    if (ndevices)
        memcpy(copy, devices, ndevices * sizeof(*copy));
    *ret = orr_array_add(file->combs, file->ncombs);
    if (!*ret) {
        free(copy);
        return -ENOMEM;
    }
    **ret = (struct orr_model_comb){
        .number = number, .ndevices = ndevices, .devices = copy};
    return 0;
}

int orr_model_comb_get_impl(struct orr_model_comb *comb, unsigned impl,
                            struct orr_model_impl **ret)
{
    while (comb->nimpls <= impl) {
        struct orr_model_impl *added = orr_array_add(comb->impls, comb->nimpls);

        if (!added)
            return -ENOMEM;
        orr_model_fit_clear(&added->fit);
    }
    *ret = &comb->impls[impl];
    return 0;
}

int orr_model_impl_add_row(struct orr_model_impl *impl,
                           const struct orr_model_row *row)
{
    struct orr_model_row *added = orr_array_add(impl->rows, impl->nrows);

    if (!added)
        return -ENOMEM;
    *added = *row;
    return 0;
}

struct orr_model_comb *
orr_model_file_find_comb(const struct orr_model_file *file,
                         const struct orr_device *devices, unsigned ndevices,
                         unsigned homogeneous)
{
    struct orr_model_comb *like = NULL;

    for (unsigned i = 0; i < file->ncombs; i++) {
        struct orr_model_comb *comb = &file->combs[i];

        if (orr_devices_equal(comb->devices, comb->ndevices, devices, ndevices,
                              0))
            return comb;
        if (!like && orr_devices_equal(comb->devices, comb->ndevices, devices,
                                       ndevices, homogeneous))
            like = comb;
    }
    return like;
}

struct orr_model_row *orr_model_impl_find_row(const struct orr_model_impl *impl,
                                              uint32_t hash)
{
    for (unsigned i = 0; i < impl->nrows; i++)
        if (impl->rows[i].hash == hash)
            return &impl->rows[i];
    return NULL;
}

int orr_model_fit_copy(struct orr_model_fit *to,
                       const struct orr_model_fit *from)
{
    double *coeff = NULL;

    if (from->ncoeff > 0) {
        coeff = malloc(from->ncoeff * sizeof(*coeff));
        if (!coeff)
            return -ENOMEM;
        memcpy(coeff, from->coeff, from->ncoeff * sizeof(*coeff));
    }
    free(to->coeff);
    *to = *from;
    to->coeff = coeff;
    return 0;
}

/* Values whose origin is not stated were measured. */
static enum orr_origin origin_or_measured(enum orr_origin origin)
{
    return origin == ORR_ORIGIN_UNKNOWN ? ORR_ORIGIN_MEASURED : origin;
}

enum orr_origin orr_model_row_origin(const struct orr_model_row *row,
                                     enum orr_origin of_file, bool sampled)
{
    enum orr_origin origin = origin_or_measured(
        row->origin == ORR_ORIGIN_UNKNOWN ? of_file : row->origin);

    return origin == ORR_ORIGIN_DERIVED && sampled ? ORR_ORIGIN_MEASURED
                                                   : origin;
}

bool orr_model_row_is_ranged(const struct orr_model_row *row,
                             const struct orr_model_file *file)
{
    return row->origin == ORR_ORIGIN_UNKNOWN ? file->ranged : row->ranged;
}

void orr_model_row_say_origin(struct orr_model_row *row,
                              const struct orr_model_file *file,
                              enum orr_origin origin, bool ranged)
{
    bool same =
        origin == origin_or_measured(file->origin) && ranged == file->ranged;

    row->origin = same ? ORR_ORIGIN_UNKNOWN : origin;
    row->ranged = !same && ranged;
}

void orr_model_fit_clear(struct orr_model_fit *fit)
{
    free(fit->coeff);
    *fit = (struct orr_model_fit){
        .alpha = NAN, .beta = NAN, .a = NAN, .b = NAN, .c = NAN};
}

bool orr_model_fit_is_empty(const struct orr_model_fit *fit)
{
    return fit->n == 0 && fit->ncoeff == 0 && isnan(fit->alpha) &&
           isnan(fit->a);
}

double orr_model_fit_power(const struct orr_model_fit *fit, double x)
{
    return fit->alpha * pow(x, fit->beta);
}

double orr_model_fit_offset(const struct orr_model_fit *fit, double x)
{
    return fit->a * pow(x, fit->b) + fit->c;
}

/* dev is over n, hence n - 1 here. */
double orr_model_row_error(const struct orr_model_row *row)
{
    if (row->n < 2 || !(row->mean > 0) || !(row->dev >= 0))
        return 0;
    return row->dev / (row->mean * sqrt(row->n - 1.0));
}

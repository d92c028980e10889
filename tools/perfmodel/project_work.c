/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/project_work.c - see project_work.h. */
#include "tools/perfmodel/project_work.h"

#include <math.h>
#include <stdlib.h>

/* Flops of one size that differ by more are not a function of the size. */
static const double same_flops = 0.01;

/* Exponents between neighbouring sizes that differ by more are no power law: the
 * lower terms of n³/3 + n²/2 + … make them differ by 0.02 at n = 100. */
static const double same_exponent = 0.1;

struct pair {
    double size, flops;
};

static int pair_compare_size(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->size > y->size) - (x->size < y->size);
}

static bool has_flops(const struct orr_model_row *row)
{
    return row->size > 0 && row->flops > 0 && isfinite(row->flops);
}

/* The pairs of all rows, sorted, one per size; owned. NULL: none, or they
 * disagree. */
static struct pair *list_pairs(const struct orr_model_file *file,
                               unsigned *ret_n)
{
    struct pair *pairs;
    unsigned n = 0, kept = 0;

    for (unsigned c = 0; c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++)
            n += file->combs[c].impls[i].nrows;
    pairs = calloc((size_t)n + 1, sizeof(*pairs));
    n = 0;
    for (unsigned c = 0; pairs && c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++) {
            const struct orr_model_impl *impl = &file->combs[c].impls[i];

            for (unsigned r = 0; r < impl->nrows; r++)
                if (has_flops(&impl->rows[r]))
                    pairs[n++] = (struct pair){(double)impl->rows[r].size,
                                               impl->rows[r].flops};
        }
    if (pairs)
        qsort(pairs, n, sizeof(*pairs), pair_compare_size);
    for (unsigned i = 0; i < n; i++) {
        if (kept == 0 || pairs[kept - 1].size < pairs[i].size) {
            pairs[kept++] = pairs[i];
        } else if (fabs(pairs[i].flops / pairs[kept - 1].flops - 1) >
                   same_flops) {
            kept = 0;
            break;
        }
    }
    if (kept == 0) {
        free(pairs);
        return NULL;
    }
    *ret_n = kept;
    return pairs;
}

static double work_exponent(const struct pair *a, const struct pair *b)
{
    return log(b->flops / a->flops) / log(b->size / a->size);
}

static bool is_power_law(const struct pair *pairs, unsigned n)
{
    double least = INFINITY, most = -INFINITY;

    for (unsigned i = 0; i + 1 < n; i++) {
        least = fmin(least, work_exponent(&pairs[i], &pairs[i + 1]));
        most = fmax(most, work_exponent(&pairs[i], &pairs[i + 1]));
    }
    return n > 1 && most - least <= same_exponent;
}

/* From the two sizes around, or the two that are nearest. */
static double flops_between(const struct pair *pairs, unsigned n, double size)
{
    unsigned i = 0;

    while (i < n && pairs[i].size < size)
        i++;
    if (i < n && pairs[i].size <= size)
        return pairs[i].flops;
    if (!is_power_law(pairs, n))
        return (double)NAN;
    i = i == 0 ? 0 : i == n ? n - 2 : i - 1;
    return pairs[i].flops *
           pow(size / pairs[i].size, work_exponent(&pairs[i], &pairs[i + 1]));
}

static double flops_at(const struct orr_model_file *file, double size)
{
    unsigned n = 0;
    struct pair *pairs = list_pairs(file, &n);
    double flops = pairs ? flops_between(pairs, n, size) : (double)NAN;

    free(pairs);
    return flops;
}

/* Of a single core, the first implementation. */
static double core_us_at(const struct orr_model_file *file, double size)
{
    static const struct orr_device core = {ORR_DEVICE_CPU, 0, 1};
    const struct orr_model_comb *comb =
        orr_model_file_find_comb(file, &core, 1, 0);

    for (unsigned r = 0; comb && comb->nimpls > 0 && r < comb->impls[0].nrows;
         r++) {
        const struct orr_model_row *row = &comb->impls[0].rows[r];

        if ((double)row->size >= size && (double)row->size <= size &&
            row->n > 0 && row->mean > 0)
            return row->mean;
    }
    return (double)NAN;
}

double project_work_at(const struct orr_model_file *file, enum orr_work kind,
                       double size)
{
    switch (kind) {
    case ORR_WORK_FLOPS:
        return flops_at(file, size);
    case ORR_WORK_CORE:
        return core_us_at(file, size);
    default:
        return size;
    }
}

static bool work_of_size_is_known(const struct orr_model_file *file,
                                  const struct orr_model_impl *impl,
                                  enum orr_work kind, double size)
{
    if (!(project_work_at(file, kind, size) > 0))
        return false;
    for (unsigned r = 0; r < impl->nrows; r++)
        if (impl->rows[r].size > 0 &&
            !(project_work_at(file, kind, (double)impl->rows[r].size) > 0))
            return false;
    return true;
}

enum orr_work project_work_choose(const struct orr_model_file *file,
                                  const struct orr_model_impl *impl,
                                  bool is_core, double size)
{
    if (work_of_size_is_known(file, impl, ORR_WORK_FLOPS, size))
        return ORR_WORK_FLOPS;
    if (!is_core && work_of_size_is_known(file, impl, ORR_WORK_CORE, size))
        return ORR_WORK_CORE;
    return ORR_WORK_BYTES;
}

const char *project_work_name(enum orr_work kind)
{
    static const char *const names[] = {[ORR_WORK_FLOPS] = "flops",
                                        [ORR_WORK_CORE] = "a core's time",
                                        [ORR_WORK_BYTES] = "bytes"};

    return names[kind];
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/noise_source.c - how the lengths of a row's kernels vary: what models know
 * of their measures, asked for once. One thread, the simulation's. */
#include <math.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/cost_private.h"
#include "core/cost/noise.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

/* All unknown: without a variation of its own, a kernel has the deviation 0. */
static struct orr_noise_source *sources_new(size_t n)
{
    struct orr_noise_source *sources = calloc(n, sizeof(*sources));

    for (size_t i = 0; sources && i < n; i++)
        sources[i].last = sources[i].variation.deviation = (double)NAN;
    return sources;
}

/* A kernel without a model in files: as one that was not measured. */
static int row_model_variation(const struct orr_runtime *rt,
                               const struct row *row, unsigned class_id,
                               unsigned impl, struct orr_variation *ret)
{
    if (row->model)
        return orr_model_variation(row->model,
                                   rt->workers->classes[class_id].comb, impl,
                                   row->pub.footprint, ret);
    *ret = (struct orr_variation){.deviation = ORR_VARIATION_UNMEASURED};
    return 0;
}

struct orr_noise_source *orr_cost_noise(const struct orr_runtime *rt,
                                        const struct orr_cost_row *pub,
                                        unsigned class_id, unsigned impl)
{
    struct row *row = (struct row *)(uintptr_t)pub;
    struct orr_noise_source *source;

    if (!row->noise)
        row->noise = sources_new((size_t)rt->workers->nclasses * NIMPL);
    if (!row->noise)
        return NULL;
    source = &row->noise[class_id * NIMPL + impl];
    if (isnan(source->variation.deviation) && !source->variation.n &&
        row_model_variation(rt, row, class_id, impl, &source->variation) < 0)
        return NULL;
    return source;
}

void orr_row_free_noise(const struct orr_runtime *rt, struct row *row)
{
    for (size_t i = 0; row->noise && i < (size_t)rt->workers->nclasses * NIMPL;
         i++)
        orr_variation_done(&row->noise[i].variation);
    free(row->noise);
}

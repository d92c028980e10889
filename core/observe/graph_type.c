/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_type.c - see graph_type.h. What a worker takes for a task
 * is what core/loop/kernel.c charges for it in a simulation.
 */
#include "core/observe/graph_type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/ask.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

/* µs, NaN: not known. */
static double charged_kernel_us(const struct orr_runtime *rt,
                                const struct orr_cost_row *row,
                                struct orr_job *job, unsigned worker,
                                unsigned impl)
{
    const struct starpu_codelet *cl = job->task->cl;
    bool given = rt->machine->kernels_take_their_length;
    double us;

    if (given && cl->flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)
        return (double)NAN; /* what it will really take */
    if (given && cl->flags & STARPU_CODELET_SIMGRID_EXECUTE)
        return 0;
    if (row->per_task && cl->model->type == STARPU_PER_WORKER) {
        orr_self->frozen++;
        us = orr_model_ask_worker(rt, cl->model, job->task, worker, impl);
        orr_self->frozen--;
    } else {
        us = orr_cost_length(row, rt->workers->at[worker].class_id, impl);
    }
    if (orr_cost_is_known(row, rt->workers->at[worker].class_id, impl, us))
        return us;
    return (double)NAN;
}

static void fill_worker(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_graph_type_record *type, unsigned w)
{
    unsigned bits = type->able[w];
    unsigned k = rt->workers->at[w].class_id;

    /* Workers of a class follow each other and take equal times. */
    if (w > 0 && !type->per_task && bits == type->able[w - 1] &&
        k == rt->workers->at[w - 1].class_id) {
        type->best[w] = type->best[w - 1];
        type->deviation[w] = type->deviation[w - 1];
        type->origin[w] = type->origin[w - 1];
        type->floor[w] = type->floor[w - 1];
        return;
    }
    type->best[w] = type->floor[w] = bits ? (double)NAN : (double)INFINITY;
    for (unsigned i = 0; bits >> i; i++) {
        double us = bits >> i & 1 ? charged_kernel_us(rt, type->row, job, w, i)
                                  : (double)NAN;

        if (isnan(us) || us >= type->best[w])
            continue;
        type->best[w] = us;
        type->deviation[w] = orr_cost_deviation(rt, type->row, k, i);
        type->origin[w] = (uint8_t)orr_cost_origin(type->row, k, i);
    }
    if (bits)
        type->floor[w] = orr_cost_at_best(rt, type->row, k);
}

/* What it takes with others: a bound that lets the worker do that alone is lower
 * than it could be, never too high. */
static void fill_combined(struct orr_runtime *rt, struct orr_job *job,
                          struct orr_graph_type_record *type,
                          const struct orr_combined *combined)
{
    unsigned bits = orr_job_able_combined(rt, job, type->row, combined);

    for (unsigned i = 0; bits >> i; i++) {
        struct orr_length length;
        double floor;

        if (!(bits >> i & 1))
            continue;
        length = orr_cost_wide(rt, job, combined->class_id, combined->size, i);
        floor = orr_cost_wide_at_best(rt, job, combined->class_id,
                                      combined->size, i);
        for (unsigned m = 0; m < combined->size; m++) {
            unsigned w = (unsigned)combined->members[m];

            if (orr_length_is_known(&length) && !(type->best[w] <= length.us)) {
                type->best[w] = length.us;
                type->deviation[w] = 0;
                type->origin[w] = (uint8_t)length.origin;
            }
            type->floor[w] = fmin(type->floor[w], floor);
        }
    }
}

static uint64_t type_hash_mix(uint64_t h, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) /* FNV-1a, 64 bits */
        h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211U;
    return h;
}

static uint64_t hash_of(const struct orr_graph_type_record *type,
                        unsigned nworkers)
{
    uint64_t h = 1469598103934665603U;

    h = type_hash_mix(h, &type->row, sizeof(type->row));
    h = type_hash_mix(h, &type->flops, sizeof(type->flops));
    h = type_hash_mix(h, type->able, nworkers);
    if (type->awaits)
        h = type_hash_mix(h, type->awaited, nworkers);
    if (type->per_task)
        h = type_hash_mix(h, type->best, nworkers * sizeof(*type->best));
    return h;
}

static bool alike(const struct orr_graph_type_record *a,
                  const struct orr_graph_type_record *b, unsigned nworkers)
{
    return a->hash == b->hash && a->row == b->row && a->flops == b->flops &&
           memcmp(a->able, b->able, nworkers) == 0 &&
           memcmp(a->awaited, b->awaited, nworkers) == 0 &&
           (a->row || strcmp(a->symbol, b->symbol) == 0) &&
           (!a->per_task ||
            memcmp(a->best, b->best, nworkers * sizeof(*a->best)) == 0);
}

/* Makes a type with its arrays behind it, which are not filled in yet: most types turn
 * out to be known already and need no times. */
static struct orr_graph_type_record *graph_type_make(size_t n)
{
    struct orr_graph_type_record *type =
        malloc(sizeof(*type) + n * (3 * sizeof(double) + sizeof(*type->able) +
                                    sizeof(*type->awaited) + sizeof(*type->origin)));

    if (!type)
        return NULL;
    memset(type, 0, sizeof(*type));
    type->best = (double *)(type + 1);
    type->deviation = type->best + n;
    type->floor = type->deviation + n;
    type->able = (uint8_t *)(type->floor + n);
    type->awaited = type->able + n;
    type->origin = type->awaited + n;
    return type;
}

/* Each class is asked once where its workers are alike to the job; those of a class
 * follow each other. */
static void fill_able(struct orr_runtime *rt, struct orr_job *job,
                      struct orr_graph_type_record *type)
{
    bool uniform = false;
    unsigned bits = 0;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        unsigned k = rt->workers->at[w].class_id;

        if (w == 0 || k != rt->workers->at[w - 1].class_id)
            bits = orr_job_able_class(rt, job, type->row, k, &uniform);
        type->able[w] =
            (uint8_t)(uniform ? bits : orr_job_able(rt, job, type->row, w));
    }
}

static void fill_awaited(struct orr_runtime *rt, const struct orr_job *job,
                         struct orr_graph_type_record *type)
{
    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];
        unsigned bits = type->able[w];
        bool awaited = bits && worker->desc->async;

        for (unsigned i = 0; awaited && bits >> i; i++)
            awaited = !(bits >> i & 1) || !orr_job_is_async(job, worker, i);
        type->awaited[w] = awaited;
        type->awaits |= awaited;
    }
}

static bool is_combined(const struct orr_runtime *rt, const struct orr_job *job)
{
    return job->task->cl->type != STARPU_SEQ && orr_combined_count(rt) > 0;
}

const struct orr_cost_row *orr_graph_type_row(struct orr_runtime *rt,
                                              struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);

    return row && !row->per_task && !is_combined(rt, job) &&
                   orr_job_able_as_row(rt, job, row)
               ? row
               : NULL;
}

struct orr_graph_type_record *orr_graph_type_new(struct orr_runtime *rt,
                                                 struct orr_job *job)
{
    struct orr_graph_type_record *type =
        graph_type_make((size_t)rt->workers->n + 1);

    if (!type)
        return NULL;
    type->row = orr_job_costs(rt, job);
    /* Another worker may be refreshing the row, as in orr_cost_length. */
    __atomic_load(&type->row->version, &type->version, __ATOMIC_RELAXED);
    type->footprint = type->row->footprint;
    type->per_task = type->row->per_task;
    type->flops = job->task->flops > 0 && isfinite(job->task->flops)
                      ? job->task->flops
                      : 0;
    fill_able(rt, job, type);
    fill_awaited(rt, job, type);
    /* Models that are being fed may know more of equal lengths. */
    if ((type->per_task || is_combined(rt, job) ||
         !rt->machine->kernels_take_their_length) &&
        !orr_graph_type_fill(rt, job, type)) {
        orr_graph_type_free(type);
        return NULL;
    }
    type->hash = hash_of(type, rt->workers->n);
    return type;
}

struct orr_graph_type_record *orr_graph_type_named(unsigned nworkers,
                                                   const char *symbol)
{
    struct orr_graph_type_record *type = graph_type_make((size_t)nworkers + 1);

    if (!type)
        return NULL;
    type->symbol = strdup(symbol);
    if (!type->symbol) {
        free(type);
        return NULL;
    }
    memset(type->able, 0, nworkers);
    memset(type->awaited, 0, nworkers);
    memset(type->origin, 0, nworkers);
    for (unsigned w = 0; w < nworkers; w++) {
        type->best[w] = (double)NAN;
        type->deviation[w] = type->floor[w] = 0;
    }
    type->hash = type_hash_mix(1469598103934665603U, symbol, strlen(symbol));
    return type;
}

bool orr_graph_type_fill(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_graph_type_record *type)
{
    type->symbol = strdup(orr_cost_symbol(job->costs));
    if (!type->symbol)
        return false;
    type->unmodelled = !orr_cost_has_model(job->costs);
    memset(type->deviation, 0, rt->workers->n * sizeof(*type->deviation));
    memset(type->origin, 0, rt->workers->n * sizeof(*type->origin));
    for (unsigned w = 0; w < rt->workers->n; w++)
        fill_worker(rt, job, type, w);
    for (unsigned i = 0; is_combined(rt, job) && i < orr_combined_count(rt);
         i++)
        fill_combined(rt, job, type, orr_combined_at(rt, rt->workers->n + i));
    return true;
}

void orr_graph_type_free(struct orr_graph_type_record *type)
{
    if (!type)
        return;
    free(type->symbol);
    free(type);
}

/* --- all of them --- */

static uint32_t *graph_types_find_slot(const struct orr_graph_types *types,
                                       unsigned nworkers,
                                       const struct orr_graph_type_record *type)
{
    uint32_t mask = 2 * types->room - 1;

    for (uint32_t i = (uint32_t)(type->hash >> 32);; i++) {
        uint32_t *slot = &types->slots[i & mask];

        if (*slot == 0 || alike(types->all[*slot - 1], type, nworkers))
            return slot;
    }
}

static bool graph_types_make_room(struct orr_graph_types *types,
                                  unsigned nworkers)
{
    uint32_t room = types->room ? 2 * types->room : 16;
    struct orr_graph_type_record **all =
        realloc(types->all, room * sizeof(*all));
    uint32_t *slots;

    if (!all)
        return false;
    types->all = all;
    slots = calloc(2 * (size_t)room, sizeof(*slots));
    if (!slots)
        return false;
    free(types->slots);
    types->slots = slots;
    types->room = room;
    for (uint32_t i = 0; i < types->n; i++)
        *graph_types_find_slot(types, nworkers, all[i]) = i + 1;
    return true;
}

uint32_t orr_graph_types_find(const struct orr_graph_types *types,
                              unsigned nworkers,
                              const struct orr_graph_type_record *type)
{
    uint32_t number =
        types->n ? *graph_types_find_slot(types, nworkers, type) : 0;

    return number && types->all[number - 1]->version == type->version
               ? number - 1
               : UINT32_MAX;
}

uint32_t orr_graph_types_put(struct orr_graph_types *types, unsigned nworkers,
                             struct orr_graph_type_record *type)
{
    uint32_t *slot;

    if (types->n == types->room && !graph_types_make_room(types, nworkers)) {
        orr_graph_type_free(type);
        return UINT32_MAX;
    }
    slot = graph_types_find_slot(types, nworkers, type);
    if (*slot) {
        orr_graph_type_free(types->all[*slot - 1]);
        types->all[*slot - 1] = type;
    } else {
        types->all[types->n++] = type;
        *slot = types->n;
    }
    return *slot - 1;
}

void orr_graph_types_done(struct orr_graph_types *types)
{
    for (uint32_t i = 0; i < types->n; i++)
        orr_graph_type_free(types->all[i]);
    free(types->all);
    free(types->slots);
    *types = (struct orr_graph_types){NULL, NULL, 0, 0};
}

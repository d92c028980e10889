/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/program.c - see program.h. */
#include "program.h"

#include "core/policies/names.h"

/* All built-in ones; the simplest is first. */
#define NAME(name, ops) name,
const char *const schedulers[] = {"eager", ORR_SCHED_NAMES(NAME)};
const unsigned nschedulers = sizeof(schedulers) / sizeof(*schedulers);

const char *const evictions[] = {"nextuse", "starpu", "lru"};
const unsigned nevictions = sizeof(evictions) / sizeof(*evictions);

const unsigned lengths_us[] = {1, 10, 100, 1000};
const unsigned nlengths = sizeof(lengths_us) / sizeof(*lengths_us);

bool data_makes_first(const struct data *data)
{
    return data->redux && data->home < 0 && data->parent < 0 &&
           data->kind != DATA_SCRATCH && !data->cuts[0].n && !data->cuts[1].n;
}

enum use use_of(const struct data *data, unsigned mode)
{
    if (mode & STARPU_SCRATCH)
        return TEMP;
    if (mode & (STARPU_REDUX | STARPU_COMMUTE))
        return SUM;
    if (data->kind == DATA_COUNTER)
        return mode & STARPU_W ? SUM : PEEK;
    switch (mode & STARPU_RW) {
    case STARPU_R:
        return READ;
    case STARPU_W:
        return WRITE;
    default:
        return UPDATE;
    }
}

struct around around_call(const struct call *call)
{
    struct around around = {false, 0};

    if (call->kind == CALL_TASK && !call->synchronous)
        around = (struct around){call->paused, call->away};
    return around;
}

bool is_main(const struct machine *machine, unsigned node)
{
    return node < machine->nram;
}

int place_of(enum places places, unsigned k)
{
    switch (places) {
    case PLACES_MAIN:
        return STARPU_SPECIFIC_NODE_CPU;
    case PLACES_NEAR:
        return STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;
    case PLACES_MIXED:
        return k % 2 ? STARPU_SPECIFIC_NODE_CPU : STARPU_SPECIFIC_NODE_LOCAL;
    case PLACES_FIRST:
        return k % 2 ? STARPU_SPECIFIC_NODE_LOCAL : 1;
    default:
        return STARPU_SPECIFIC_NODE_LOCAL;
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/tasks.c - see tasks.h. */
#include "openmp/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* -- data -- */

void openmp_uses_init(struct openmp_uses *uses)
{
    uses->n = 0;
    uses->all = false;
    uses->size = sizeof(uses->few) / sizeof(*uses->few);
    uses->at = uses->few;
}

static void uses_grow(struct openmp_uses *uses)
{
    struct orr_openmp_use *more = openmp_allocate(2 * uses->size * sizeof(*more));

    memcpy(more, uses->at, uses->n * sizeof(*more));
    openmp_uses_done(uses);
    uses->at = more;
    uses->size *= 2;
}

void openmp_uses_add(struct openmp_uses *uses, const void *address,
                     enum starpu_data_access_mode mode)
{
    if (!address && mode == OPENMP_INOUT) {
        uses->all = true;
        return;
    }
    for (size_t i = 0; i < uses->n; i++)
        if (uses->at[i].address == address) {
            if (uses->at[i].mode != mode)
                uses->at[i].mode = OPENMP_INOUT;
            return;
        }
    if (uses->n == uses->size)
        uses_grow(uses);
    uses->at[uses->n++] = (struct orr_openmp_use){address, mode};
}

void openmp_uses_done(struct openmp_uses *uses)
{
    if (uses->at != uses->few)
        free(uses->at);
}

bool openmp_uses_await_all(struct openmp_uses *uses)
{
    if (!uses->all)
        return false;
    uses->n = 0;
    starpu_omp_taskwait();
    return true;
}

/* -- events -- */

/* The body and the event end in any order; who comes second frees it. */
struct openmp_event {
    atomic_int state;
    struct starpu_task *task; /* before `state` is HELD */
};

enum { PENDING, HELD, FULFILLED };

struct openmp_event *openmp_event_new(void)
{
    return openmp_allocate(sizeof(struct openmp_event));
}

void openmp_event_body_ended(struct openmp_event *event)
{
    if (atomic_load(&event->state) != FULFILLED) {
        event->task = orr_openmp_hold_end();
        if (atomic_exchange(&event->state, HELD) != FULFILLED)
            return;
        orr_openmp_release_end(event->task);
    }
    free(event);
}

void openmp_event_fulfil(struct openmp_event *event)
{
    if (atomic_exchange(&event->state, FULFILLED) != HELD)
        return;
    orr_openmp_release_end(event->task);
    free(event);
}

/* -- taskloops -- */

struct openmp_parts openmp_parts_by_number(uint64_t n, uint64_t ntasks)
{
    if (ntasks == 0)
        ntasks = (uint64_t)starpu_omp_get_num_threads();
    if (ntasks > n)
        ntasks = n;
    return (struct openmp_parts){
        .ntasks = ntasks, .each = ntasks ? n / ntasks : 0, .more = ntasks ? n % ntasks : 0};
}

struct openmp_parts openmp_parts_by_grain(uint64_t n, uint64_t grain, bool strict)
{
    uint64_t ntasks = n / (grain ? grain : 1);

    if (!strict)
        return openmp_parts_by_number(n, ntasks ? ntasks : 1);
    return (struct openmp_parts){.ntasks = n ? (n - 1) / grain + 1 : 0, .each = grain};
}

uint64_t openmp_part_size(const struct openmp_parts *parts, uint64_t n, uint64_t i)
{
    uint64_t before = i * parts->each + (i < parts->more ? i : parts->more);
    uint64_t size = parts->each + (i < parts->more);

    return size < n - before ? size : n - before;
}

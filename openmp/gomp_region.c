/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/gomp_region.c - gcc's entries of regions, of what one thread does, of barriers and
 * of cancellation.
 */
#include <stdlib.h>

#include "openmp/gomp.h"
#include "openmp/reductions.h"

/* -- regions -- */

struct region {
    void (*code)(void *data);
    void *data;
    struct openmp_kept loop; /* which begins with it, if it `begins` */
    uintptr_t *reductions;   /* or NULL */
    unsigned nthreads;       /* that it got */
};

/* All threads use the memory that one of them makes. */
static void begin_reductions(uintptr_t *reductions)
{
    bool mine = starpu_omp_single_inline();

    if (mine)
        openmp_reduction_register(reductions);
    starpu_omp_barrier();
    if (!mine)
        *orr_openmp_inherited() = reductions;
}

static void region_body(void *buffers[], void *arg)
{
    struct region *region = arg;

    (void)buffers;
    if (region->loop.begins)
        *openmp_kept() = region->loop;
    if (region->reductions)
        begin_reductions(region->reductions);
    if (starpu_omp_get_thread_num() == 0)
        region->nthreads = (unsigned)starpu_omp_get_num_threads();
    region->code(region->data);
}

ENTRY void GOMP_parallel(void (*code)(void *), void *data, unsigned nthreads, unsigned flags)
{
    struct region region = {.code = code, .data = data};

    (void)flags; /* where threads are to be bound: they are bound to processors */
    openmp_enter("parallel");
    openmp_parallel(region_body, &region, nthreads);
}

/* The description of its reductions is where the data begin. */
ENTRY unsigned GOMP_parallel_reductions(void (*code)(void *), void *data, unsigned nthreads,
                                        unsigned flags)
{
    struct region region = {.code = code, .data = data, .reductions = *(uintptr_t **)data};

    (void)flags;
    openmp_enter("parallel");
    openmp_parallel(region_body, &region, nthreads);
    return region.nthreads;
}

void openmp_gomp_parallel_loop(void (*code)(void *), void *data, unsigned nthreads,
                               uint64_t first, uint64_t end, uint64_t step, int schedule,
                               uint64_t chunk)
{
    struct region region = {
        .code = code,
        .data = data,
        .loop = {.begins = true,
                 .first = first,
                 .end = end,
                 .step = step,
                 .n = openmp_count(first, end, step, true, (int64_t)step > 0),
                 .schedule = schedule,
                 .chunk = chunk},
    };

    openmp_enter("parallel for");
    openmp_parallel(region_body, &region, nthreads);
}

ENTRY void GOMP_parallel_sections(void (*code)(void *), void *data, unsigned nthreads,
                                  unsigned count, unsigned flags)
{
    (void)flags;
    openmp_gomp_parallel_loop(code, data, nthreads, 1, (uint64_t)count + 1, 1,
                              starpu_omp_sched_dynamic, 1);
}

/* Regions of one team, the host's. */
ENTRY void GOMP_teams_reg(void (*code)(void *), void *data, unsigned nteams, unsigned limit,
                          unsigned flags)
{
    (void)nteams;
    (void)limit;
    (void)flags;
    openmp_enter("teams");
    code(data);
}

/* -- barriers, cancellation -- */

ENTRY void GOMP_barrier(void)
{
    openmp_enter("barrier");
    starpu_omp_barrier();
}

ENTRY bool GOMP_barrier_cancel(void)
{
    openmp_enter("barrier");
    return orr_openmp_barrier();
}

/* Bits of gcc's. */
static enum orr_openmp_cancellable cancellable(int which)
{
    switch (which) {
    case 1:
        return ORR_OPENMP_PARALLEL;
    case 2: /* a loop */
    case 4: /* sections */
        return ORR_OPENMP_LOOP;
    case 8:
        return ORR_OPENMP_TASKGROUP;
    default:
        openmp_refuse("cancel", "names what is not known here: was the program compiled by a "
                                "newer gcc?");
    }
}

ENTRY bool GOMP_cancellation_point(int which)
{
    openmp_enter("cancellation point");
    return orr_openmp_is_cancelled(cancellable(which));
}

ENTRY bool GOMP_cancel(int which, bool really)
{
    openmp_enter("cancel");
    return really ? orr_openmp_cancel(cancellable(which))
                  : orr_openmp_is_cancelled(cancellable(which));
}

/* -- one thread, one at a time -- */

ENTRY bool GOMP_single_start(void)
{
    openmp_enter("single");
    return starpu_omp_single_inline();
}

ENTRY void *GOMP_single_copy_start(void)
{
    openmp_enter("single");
    return orr_openmp_copy_begin();
}

/* What the data are in stays until the barrier behind it. */
ENTRY void GOMP_single_copy_end(void *data)
{
    orr_openmp_copy_publish(data);
}

ENTRY void GOMP_critical_start(void)
{
    openmp_enter("critical");
    starpu_omp_critical_inline_begin(NULL);
}

ENTRY void GOMP_critical_end(void)
{
    starpu_omp_critical_inline_end(NULL);
}

ENTRY void GOMP_critical_name_start(void **name)
{
    openmp_enter("critical");
    openmp_critical_begin(name);
}

ENTRY void GOMP_critical_name_end(void **name)
{
    openmp_critical_end(name);
}

ENTRY void GOMP_atomic_start(void)
{
    openmp_enter("atomic");
    starpu_omp_atomic_fallback_inline_begin();
}

ENTRY void GOMP_atomic_end(void)
{
    starpu_omp_atomic_fallback_inline_end();
}

ENTRY void GOMP_ordered_start(void)
{
    starpu_omp_ordered_inline_begin();
}

ENTRY void GOMP_ordered_end(void)
{
    starpu_omp_ordered_inline_end();
}

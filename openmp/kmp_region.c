/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/kmp_region.c - LLVM's entries of regions, of what one thread does, of barriers and
 * of cancellation.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "openmp/kmp.h"

int32_t openmp_kmp_thread(void)
{
    return starpu_worker_get_id() + 1;
}

ENTRY int32_t __kmpc_global_thread_num(kmp_place *place)
{
    (void)place;
    return openmp_kmp_thread();
}

ENTRY int32_t __kmpc_global_num_threads(kmp_place *place)
{
    (void)place;
    return starpu_omp_get_num_procs() + 1;
}

ENTRY int32_t __kmpc_bound_thread_num(kmp_place *place)
{
    (void)place;
    return starpu_omp_get_thread_num();
}

ENTRY int32_t __kmpc_bound_num_threads(kmp_place *place)
{
    (void)place;
    return starpu_omp_get_num_threads();
}

ENTRY int32_t __kmpc_in_parallel(kmp_place *place)
{
    (void)place;
    return starpu_omp_in_parallel();
}

ENTRY int32_t __kmpc_ok_to_fork(kmp_place *place)
{
    (void)place;
    return 1;
}

ENTRY void __kmpc_begin(kmp_place *place, int32_t flags)
{
    (void)place;
    (void)flags;
}

ENTRY void __kmpc_end(kmp_place *place)
{
    (void)place;
}

ENTRY void __kmpc_flush(kmp_place *place)
{
    (void)place;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* -- regions -- */

/* The code gets the addresses of two numbers, and an address for each variable. */
typedef void code_fn(int32_t *global, int32_t *bound, ...);

enum { MOST_VARIABLES = 64 };

struct region {
    code_fn *code;
    int nvariables;
    void *variables[MOST_VARIABLES];
};

/* All arguments are addresses, and a function may be called with more of them than it has:
 * the conventions of all processors that clang knows leave their removal to the caller. */
#define FOUR(v, i) v[i], v[(i) + 1], v[(i) + 2], v[(i) + 3]
#define SIXTEEN(v, i) FOUR(v, i), FOUR(v, (i) + 4), FOUR(v, (i) + 8), FOUR(v, (i) + 12)

static void call(const struct region *region)
{
    int32_t global = openmp_kmp_thread(), bound = starpu_omp_get_thread_num();
    void *const *v = region->variables;

    if (region->nvariables <= 4)
        region->code(&global, &bound, FOUR(v, 0));
    else if (region->nvariables <= 16)
        region->code(&global, &bound, SIXTEEN(v, 0));
    else
        region->code(&global, &bound, SIXTEEN(v, 0), SIXTEEN(v, 16), SIXTEEN(v, 32),
                     SIXTEEN(v, 48));
}

static void region_body(void *buffers[], void *arg)
{
    (void)buffers;
    call(arg);
}

static void read_variables(struct region *region, int n, va_list variables)
{
    if (n > MOST_VARIABLES)
        openmp_refuse("parallel", "uses more than 64 variables of the function around it");
    region->nvariables = n;
    for (int i = 0; i < n; i++)
        region->variables[i] = va_arg(variables, void *);
}

ENTRY void __kmpc_fork_call(kmp_place *place, int32_t n, code_fn *code, ...)
{
    struct region region = {.code = code};
    struct openmp_kept *kept;
    unsigned nthreads;
    va_list variables;

    (void)place;
    openmp_enter("parallel");
    va_start(variables, code);
    read_variables(&region, n, variables);
    va_end(variables);
    kept = openmp_kept();
    nthreads = kept->nthreads;
    kept->nthreads = 0;
    openmp_parallel(region_body, &region, nthreads);
}

/* One team, the host's. */
ENTRY void __kmpc_fork_teams(kmp_place *place, int32_t n, code_fn *code, ...)
{
    struct region region = {.code = code};
    va_list variables;

    (void)place;
    openmp_enter("teams");
    va_start(variables, code);
    read_variables(&region, n, variables);
    va_end(variables);
    call(&region);
}

ENTRY void __kmpc_push_num_teams(kmp_place *place, int32_t thread, int32_t nteams,
                                 int32_t nthreads)
{
    (void)place;
    (void)thread;
    (void)nteams;
    openmp_enter("teams");
    if (nthreads > 0)
        openmp_kept()->nthreads = (unsigned)nthreads;
}

ENTRY void __kmpc_push_num_teams_51(kmp_place *place, int32_t thread, int32_t least,
                                    int32_t most, int32_t nthreads)
{
    (void)least;
    __kmpc_push_num_teams(place, thread, most, nthreads);
}

ENTRY void __kmpc_push_num_threads(kmp_place *place, int32_t thread, int32_t nthreads)
{
    (void)place;
    (void)thread;
    openmp_enter("parallel");
    openmp_kept()->nthreads = nthreads > 0 ? (unsigned)nthreads : 0;
}

ENTRY void __kmpc_pop_num_threads(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}

ENTRY void __kmpc_push_proc_bind(kmp_place *place, int32_t thread, int how)
{
    (void)place; /* threads are bound to processors */
    (void)thread;
    (void)how;
}

ENTRY void __kmpc_serialized_parallel(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("parallel");
    orr_openmp_begin_serial();
}

ENTRY void __kmpc_end_serialized_parallel(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    orr_openmp_end_serial();
}

/* -- barriers, cancellation -- */

ENTRY void __kmpc_barrier(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("barrier");
    starpu_omp_barrier();
}

ENTRY int32_t __kmpc_cancel_barrier(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("barrier");
    return orr_openmp_barrier();
}

/* Thread 0 gets 1, and lets the others go by __kmpc_end_barrier_master. */
ENTRY int32_t __kmpc_barrier_master(kmp_place *place, int32_t thread)
{
    __kmpc_barrier(place, thread);
    if (starpu_omp_get_thread_num() == 0)
        return 1;
    __kmpc_barrier(place, thread);
    return 0;
}

ENTRY void __kmpc_end_barrier_master(kmp_place *place, int32_t thread)
{
    __kmpc_barrier(place, thread);
}

ENTRY int32_t __kmpc_barrier_master_nowait(kmp_place *place, int32_t thread)
{
    __kmpc_barrier(place, thread);
    return starpu_omp_get_thread_num() == 0;
}

/* LLVM's numbers. */
static enum orr_openmp_cancellable cancellable(int32_t what)
{
    switch (what) {
    case 1:
        return ORR_OPENMP_PARALLEL;
    case 2: /* a loop */
    case 3: /* sections */
        return ORR_OPENMP_LOOP;
    case 4:
        return ORR_OPENMP_TASKGROUP;
    default:
        openmp_refuse("cancel", "names what is not known here: was the program compiled by a "
                                "newer clang?");
    }
}

ENTRY int32_t __kmpc_cancel(kmp_place *place, int32_t thread, int32_t what)
{
    (void)place;
    (void)thread;
    openmp_enter("cancel");
    return orr_openmp_cancel(cancellable(what));
}

ENTRY int32_t __kmpc_cancellationpoint(kmp_place *place, int32_t thread, int32_t what)
{
    (void)place;
    (void)thread;
    openmp_enter("cancellation point");
    return orr_openmp_is_cancelled(cancellable(what));
}

/* -- one thread, one at a time -- */

ENTRY int32_t __kmpc_master(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("master");
    return starpu_omp_master_inline();
}

ENTRY void __kmpc_end_master(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}

ENTRY int32_t __kmpc_masked(kmp_place *place, int32_t thread, int32_t filter)
{
    (void)place;
    (void)thread;
    openmp_enter("masked");
    return starpu_omp_get_thread_num() == filter;
}

ENTRY void __kmpc_end_masked(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}

ENTRY void __kmpc_scope(kmp_place *place, int32_t thread, void *reserved)
{
    (void)place;
    (void)thread;
    (void)reserved;
}

ENTRY void __kmpc_end_scope(kmp_place *place, int32_t thread, void *reserved)
{
    (void)place;
    (void)thread;
    (void)reserved;
}

ENTRY int32_t __kmpc_single(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("single");
    return starpu_omp_single_inline();
}

ENTRY void __kmpc_end_single(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}

/* The thread that executed the single publishes its data; all others copy them. */
ENTRY void __kmpc_copyprivate(kmp_place *place, int32_t thread, size_t size, void *data,
                              void (*copy)(void *to, void *from), int32_t mine)
{
    void **from;
    void *memory;
    struct orr_openmp_shared *shared = orr_openmp_share(sizeof(*from), &memory);

    (void)place;
    (void)thread;
    (void)size;
    from = memory;
    if (mine)
        *from = data;
    starpu_omp_barrier();
    if (!mine)
        copy(data, *from);
    orr_openmp_leave(shared);
    starpu_omp_barrier();
}

ENTRY void __kmpc_critical(kmp_place *place, int32_t thread, void **name)
{
    (void)place;
    (void)thread;
    openmp_enter("critical");
    openmp_critical_begin(name);
}

ENTRY void __kmpc_critical_with_hint(kmp_place *place, int32_t thread, void **name,
                                     uint32_t hint)
{
    (void)hint;
    __kmpc_critical(place, thread, name);
}

ENTRY void __kmpc_end_critical(kmp_place *place, int32_t thread, void **name)
{
    (void)place;
    (void)thread;
    openmp_critical_end(name);
}

ENTRY void __kmpc_ordered(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    starpu_omp_ordered_inline_begin();
}

ENTRY void __kmpc_end_ordered(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    starpu_omp_ordered_inline_end();
}

/* -- reductions: each thread adds its part itself, one at a time (1), until the end -- */

typedef void reduce_fn(void *to, void *from);

ENTRY int32_t __kmpc_reduce_nowait(kmp_place *place, int32_t thread, int32_t n, size_t size,
                                   void *data, reduce_fn *reduce, void **name)
{
    (void)n;
    (void)size;
    (void)data;
    (void)reduce;
    __kmpc_critical(place, thread, name);
    return 1;
}

ENTRY void __kmpc_end_reduce_nowait(kmp_place *place, int32_t thread, void **name)
{
    __kmpc_end_critical(place, thread, name);
}

ENTRY int32_t __kmpc_reduce(kmp_place *place, int32_t thread, int32_t n, size_t size,
                            void *data, reduce_fn *reduce, void **name)
{
    return __kmpc_reduce_nowait(place, thread, n, size, data, reduce, name);
}

ENTRY void __kmpc_end_reduce(kmp_place *place, int32_t thread, void **name)
{
    __kmpc_end_critical(place, thread, name);
    __kmpc_barrier(place, thread);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/prologue.c - what comes before a kernel with threads of its own, in a
 * context without policy: the master may use the processors of all members, and so may
 * the threads that it makes then. OpenMP and MKL belong to the program: they are told
 * only if the program has them. In the master's context.
 */
/* Prologues of parallel workers are declared where hwloc's header is read. */
#undef _ORR_LEAN
#include <starpu.h>

#include <dlfcn.h>
#include <string.h>

#include "core/api/bind.h"
#include "core/api/ctx.h"
#include "core/device/kind.h"
#include "core/worker/workers.h"

/* Calls the function called `name` with n, if the program has one. */
static void set_thread_count(const char *name, int n)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    void (*function)(int);

    /* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
    memcpy(&function, &symbol, sizeof(function));
    if (function)
        function(n);
}

/* The members' processors, or the worker's alone; returns how many workers. */
static unsigned list(const struct orr_sched *sched,
                     const struct orr_worker *worker, bool all, int *numbers)
{
    const struct orr_runtime *rt = sched->runtime;
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (all ? atomic_load(&sched->of_worker[w].member) &&
                      orr_device_kind(rt->workers->at[w].desc->type)
                          ->is_processor
                : &rt->workers->at[w] == worker)
            numbers[n++] = rt->workers->at[w].desc->cpu;
    return n;
}

/* Returns how many threads the kernel is to have; 0: as before. */
static int prologue_prepare(const char *call)
{
    const struct starpu_task *task = starpu_task_get_current();
    int numbers[STARPU_NMAXWORKERS], state;
    struct orr_sched *sched;
    unsigned n;

    if (!task || !orr_self->worker) {
        orr_log_error("%s: it is for prologue_callback_pop_func of tasks", call);
        abort();
    }
    sched = orr_api_sched(call, task->sched_ctx);
    if (sched->has_policy)
        return 0;
    state = task->possibly_parallel ? 2 : 1;
    if (atomic_exchange(&sched->said->bound_for, state) == state)
        return 0;
    n = list(sched, orr_self->worker, task->possibly_parallel, numbers);
    (void)orr_api_bind_self(numbers, n);
    return (int)n;
}

void starpu_parallel_worker_openmp_prologue(void *arg)
{
    int n = prologue_prepare(__func__);

    (void)arg;
    if (n)
        set_thread_count("omp_set_num_threads", n);
}

void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *arg)
{
    int n = prologue_prepare(__func__);

    (void)arg;
    if (!n)
        return;
    set_thread_count("omp_set_num_threads", n);
    set_thread_count("MKL_Set_Num_Threads", n);
}

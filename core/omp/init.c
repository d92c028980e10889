/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/init.c - starpu_omp_init and its end. The thread that calls them is the
 * initial one; it executes no tasks but those that are not deferred.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/slab.h"
#include "core/device/clock.h"
#include "core/exec/runtime.h"
#include "core/omp/closures.h"
#include "core/omp/entries.h"
#include "core/omp/omp.h"
#include "core/sched/direct.h"
#include "core/worker/workers.h"

/* Numbers the processors: omp->workers has the worker of each, proc_of the other
 * way; devices have the number nprocs. */
static int find_processors(struct orr_omp *omp)
{
    const struct orr_runtime *rt = omp->rt;

    omp->workers = calloc(rt->workers->n, sizeof(*omp->workers));
    omp->proc_of = calloc(rt->workers->n, sizeof(*omp->proc_of));
    if (!omp->workers || !omp->proc_of)
        return -ENOMEM;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (rt->workers->at[w].may_suspend) {
            omp->proc_of[w] = omp->nprocs;
            omp->workers[omp->nprocs++] = w;
        }
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (!rt->workers->at[w].may_suspend)
            omp->proc_of[w] = omp->nprocs;
    return omp->nprocs ? 0 : -EINVAL;
}

/* Bodies are executed on simulated machines as well. */
static void make_codelets(struct orr_omp *omp)
{
    omp->region = (struct starpu_codelet){
        .cpu_funcs = {orr_omp_team_run_first},
        .nbuffers = STARPU_VARIABLE_NBUFFERS,
        .flags = STARPU_CODELET_SIMGRID_EXECUTE,
        .name = "parallel region",
    };
    omp->thread = (struct starpu_codelet){
        .cpu_funcs = {orr_omp_team_run_other},
        .flags = STARPU_CODELET_SIMGRID_EXECUTE,
        .name = "thread of a parallel region",
    };
}

/* Main may take the place of the first processor's worker; and of all, the places. */
static int make_places(struct orr_omp *omp)
{
    struct orr_worker *worker = &omp->rt->workers->at[omp->workers[0]];

    omp->places = aligned_alloc(_Alignof(struct orr_omp_place),
                                omp->nprocs * sizeof(*omp->places));
    if (!omp->places)
        return -ENOMEM;
    for (unsigned i = 0; i < omp->nprocs; i++)
        omp->places[i] = (struct orr_omp_place){0};
    if (omp->rt->exec->one_thread || worker->driven)
        return 0;
    return orr_borrowing_init(&omp->first, worker, &omp->region);
}

static void do_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static int make_initial(struct orr_omp *omp)
{
    struct orr_omp_task *initial;

    if (orr_slab_new(sizeof(struct orr_omp_task), omp->rt->workers->n + 1,
                     &omp->tasks) != 0)
        return -ENOMEM;
    orr_omp_team_init(&omp->team, omp, NULL, 1);
    initial = orr_omp_task_new(NULL, &omp->team);
    omp->wait = orr_openmp_construct(do_nothing, "taskwait depend");
    omp->parts = (struct starpu_codelet){.where = STARPU_NOWHERE,
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "between readers and an inoutset"};
    if (!initial || !omp->wait)
        return -ENOMEM;
    initial->implicit = true;
    initial->icvs = (struct orr_omp_icvs){
        .nthreads = omp->env.nthreads[0],
        .schedule = omp->env.schedule,
        .chunk = omp->env.chunk,
        .dynamic = omp->env.dynamic,
    };
    omp->current = initial;
    return 0;
}

static void read_environment(struct orr_omp *omp)
{
    struct orr_omp_environment *env = &omp->env;
    size_t stack = omp->rt->exec->stack_size;

    orr_omp_environment_read(env, &omp->rt->config, omp->nprocs);
    if (env->nested && env->max_active_levels == 1)
        env->max_active_levels = (int)ORR_OMP_LEVELS;
    if (env->stack_bytes == 0)
        env->stack_bytes = stack;
    if (env->stack_bytes > stack)
        orr_log_warning("OMP_STACKSIZE: tasks have stacks of %zu bytes, which "
                        "is less, since the workers were there before: call "
                        "starpu_omp_init instead of starpu_init",
                        stack);
    if (env->display != ORR_OMP_QUIET)
        orr_omp_environment_print(env, stdout);
    atomic_init(&omp->max_active_levels, env->max_active_levels);
    atomic_init(&omp->nbusy, 1);
    atomic_init(&omp->default_device, env->default_device);
}

static void free_omp(struct orr_omp *omp)
{
    orr_omp_criticals_free(omp);
    orr_omp_codelets_free(omp);
    orr_omp_team_done(&omp->team);
    orr_omp_handles_done(&omp->handles);
    if (omp->current)
        orr_omp_handles_done(&omp->current->handles);
    orr_omp_closures_done(omp);
    orr_slab_free(omp->tasks);
    free(omp->wait);
    free(omp->places);
    free(omp->workers);
    free(omp->proc_of);
    free(omp);
}

static int omp_start(struct orr_runtime *rt)
{
    struct orr_omp *omp = aligned_alloc(_Alignof(struct orr_omp), sizeof(*omp));
    int rc;

    if (!omp)
        return -ENOMEM;
    memset(omp, 0, sizeof(*omp));
    omp->rt = rt;
    omp->nusers = 1;
    omp->main = orr_self;
    omp->begun_us = orr_exec_now(rt->exec);
    orr_omp_handles_init(&omp->handles);
    rc = find_processors(omp);
    if (rc == 0) {
        read_environment(omp);
        orr_omp_lock_init(&omp->atomic, omp->env.looks, NULL);
        make_codelets(omp);
        rc = make_initial(omp);
    }
    if (rc == 0)
        rc = make_places(omp);
    if (rc == 0)
        rc = orr_direct_init(rt);
    if (rc == 0)
        rc = orr_omp_closures_init(omp);
    if (rc == 0) {
        omp->arbiter = starpu_arbiter_create();
        rt->omp = omp;
    } else {
        free_omp(omp);
    }
    return rc;
}

int starpu_omp_init(void)
{
    struct orr_runtime *rt;
    int rc = starpu_init(NULL);

    if (rc != 0)
        return rc == -ENODEV ? -EINVAL : rc;
    rt = orr_runtime_need(__func__);
    if (rt->omp) {
        rt->omp->nusers++;
        return 0;
    }
    rc = omp_start(rt);
    if (rc == 0)
        return 0;
    if (rc == -EINVAL)
        orr_log_error("%s: there are no CPU workers, on which regions run: set "
                      "STARPU_NCPU",
                      __func__);
    starpu_shutdown();
    return rc;
}

static void warn_of_handles(struct orr_omp *omp)
{
    size_t n = orr_omp_handles_count(&omp->handles);

    if (n)
        orr_log_warning("starpu_omp_shutdown: %zu addresses of handles are "
                        "still entered that no region or task has: call "
                        "starpu_omp_handle_unregister and "
                        "starpu_data_unregister",
                        n);
}

void starpu_omp_shutdown(void)
{
    struct orr_omp *omp = orr_omp();

    if (!omp)
        return;
    if (orr_self != omp->main || omp->current->team != &omp->team) {
        orr_log_error("%s: call it from the thread that called "
                      "starpu_omp_init, outside of regions",
                      __func__);
        abort();
    }
    if (--omp->nusers > 0) {
        starpu_shutdown();
        return;
    }
    starpu_task_wait_for_all();
    orr_omp_handles_unregister(&omp->team.handles);
    warn_of_handles(omp);
    starpu_arbiter_destroy(omp->arbiter);
    orr_omp_closures_done(omp);
    omp->rt->omp = NULL;
    orr_borrowing_done(&omp->first);
    starpu_shutdown();
    free_omp(omp);
}

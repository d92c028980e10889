/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_worker.c - one worker, for policies: its lock, waking it, where
 * it stands in scheduling contexts. Any thread.
 */
#include <stdlib.h>

#include "core/api/ctx.h"
#include "core/api/state.h"
#include "core/exec/program.h"
#include "core/sched/ctxs.h"
#include "core/sched/toolbox.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

/* -- its lock -- */

static starpu_pthread_mutex_t *worker_mutex(const char *call, int workerid)
{
    (void)orr_api_worker(call, workerid);
    return &orr_api_state(call)->mutexes[workerid];
}

void starpu_worker_get_sched_condition(int workerid,
                                       starpu_pthread_mutex_t **sched_mutex,
                                       starpu_pthread_cond_t **sched_cond)
{
    *sched_mutex = worker_mutex(__func__, workerid);
    *sched_cond = &orr_api_state(__func__)->conds[workerid];
}

/* No program has such a mutex before the state is there. */
void starpu_pthread_mutex_check_sched(starpu_pthread_mutex_t *mutex, char *file,
                                      int line)
{
    const struct orr_api_state *state = atomic_load(&orr_program()->state);
    const starpu_pthread_mutex_t *first = state ? state->mutexes : NULL;

    if (!first || mutex < first ||
        mutex >= first + orr_runtime_need(__func__)->workers->n)
        return;
    orr_log_error(
        "%s:%d: the lock of worker %d, which "
        "starpu_worker_get_sched_condition gave, is used as any mutex: "
        "lock it by starpu_pthread_mutex_lock_sched and unlock it by "
        "starpu_pthread_mutex_unlock_sched, or use starpu_worker_lock",
        file, line, (int)(mutex - first));
    abort();
}

void starpu_worker_lock(int workerid)
{
    starpu_pthread_mutex_lock(worker_mutex(__func__, workerid));
}

int starpu_worker_trylock(int workerid)
{
    return starpu_pthread_mutex_trylock(worker_mutex(__func__, workerid));
}

void starpu_worker_unlock(int workerid)
{
    starpu_pthread_mutex_unlock(worker_mutex(__func__, workerid));
}

void starpu_worker_lock_self(void)
{
    starpu_worker_lock((int)_starpu_worker_get_id_check(__func__, 0));
}

void starpu_worker_unlock_self(void)
{
    starpu_worker_unlock((int)_starpu_worker_get_id_check(__func__, 0));
}

/* The runtime never waits for a worker that is in a policy's hook. */
void starpu_worker_relax_on(void)
{
}

void starpu_worker_relax_off(void)
{
}

int starpu_worker_get_relax_state(void)
{
    return 1;
}

int starpu_worker_sched_op_pending(void)
{
    return orr_self && orr_self->in_policy > 0;
}

static int wake(const char *call, int workerid)
{
    struct orr_worker *worker = orr_api_worker(call, workerid);
    bool slept = orr_worker_is_asleep(worker);

    orr_sched_wake(worker);
    return slept;
}

int starpu_wake_worker_relax(int workerid)
{
    return wake(__func__, workerid);
}

int starpu_wake_worker_no_relax(int workerid)
{
    return wake(__func__, workerid);
}

int starpu_wake_worker_locked(int workerid)
{
    return wake(__func__, workerid);
}

int starpu_wake_worker_relax_light(int workerid)
{
    return wake(__func__, workerid);
}

/* -- its contexts -- */

static bool is_member(const struct orr_runtime *rt, unsigned id, unsigned worker)
{
    return rt->sched_ctxs->places[id] &&
           atomic_load(&rt->sched_ctxs->places[id][worker].member);
}

static unsigned priority_of(const struct orr_runtime *rt, unsigned id,
                            unsigned worker)
{
    return atomic_load(&rt->sched_ctxs->places[id][worker].priority);
}

unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx)
{
    ORR_QUESTION();
    struct orr_worker *w = orr_api_worker(__func__, worker);
    struct orr_runtime *rt = w->runtime;
    unsigned *list = calloc(STARPU_NMAX_SCHED_CTXS, sizeof(*list)), n = 0;

    if (!list) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++) {
        unsigned at = n;

        if (!is_member(rt, c, w->id))
            continue;
        while (at > 0 && priority_of(rt, list[at - 1], w->id) <
                             priority_of(rt, c, w->id)) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = c;
        n++;
    }
    *sched_ctx = list;
    return n;
}

unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid)
{
    ORR_QUESTION();
    struct orr_worker *worker = orr_api_worker(__func__, workerid);
    unsigned n = 0;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
        n += is_member(worker->runtime, c, worker->id);
    return n > 1;
}

void starpu_sched_ctx_set_priority(int *workers, int nworkers,
                                   unsigned sched_ctx_id, unsigned priority)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    for (int i = 0; i < nworkers; i++)
        atomic_store(
            &sched->of_worker[orr_api_worker(__func__, workers[i])->id].priority,
            priority);
}

unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id)
{
    ORR_QUESTION();
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);
    unsigned w = orr_api_worker(__func__, worker)->id;

    return is_member(sched->runtime, sched_ctx_id, w)
               ? priority_of(sched->runtime, sched_ctx_id, w)
               : 0;
}

void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id)
{
    ORR_QUESTION();
    struct orr_sched *sched = orr_api_sched(__func__, (unsigned)sched_ctx_id);

    atomic_store(
        &sched->of_worker[orr_api_worker(__func__, workerid)->id].shares, true);
}

/* -- tasks that a policy has for a worker of several contexts -- */

static void worker_count_tasks(const char *call, unsigned sched_ctx_id,
                               int workerid, int change)
{
    struct orr_sched *sched = orr_api_sched(call, sched_ctx_id);
    struct orr_worker *worker = orr_api_worker(call, workerid);

    if (starpu_sched_ctx_overlapping_ctxs_on_worker(workerid))
        atomic_fetch_add(&sched->of_worker[worker->id].ntasks, change);
}

void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id,
                                                   int workerid)
{
    worker_count_tasks(__func__, sched_ctx_id, workerid, 1);
}

void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id,
                                                   int workerid)
{
    worker_count_tasks(__func__, sched_ctx_id, workerid, -1);
}

void starpu_sched_ctx_list_task_counters_reset(unsigned sched_ctx_id,
                                               int workerid)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    atomic_store(
        &sched->of_worker[orr_api_worker(__func__, workerid)->id].ntasks, 0);
}

static void workers_count_tasks(const char *call, unsigned sched_ctx_id,
                                int change)
{
    struct orr_sched *sched = orr_api_sched(call, sched_ctx_id);

    for (unsigned w = 0; w < sched->runtime->workers->n; w++)
        if (is_member(sched->runtime, sched_ctx_id, w))
            worker_count_tasks(call, sched_ctx_id, (int)w, change);
}

void starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(
    struct starpu_task *task, unsigned sched_ctx_id)
{
    (void)task;
    workers_count_tasks(__func__, sched_ctx_id, 1);
}

void starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(
    struct starpu_task *task, unsigned sched_ctx_id)
{
    (void)task;
    workers_count_tasks(__func__, sched_ctx_id, -1);
}

void starpu_sched_ctx_list_task_counters_reset_all(struct starpu_task *task,
                                                   unsigned sched_ctx_id)
{
    struct orr_sched *sched = orr_api_sched(__func__, sched_ctx_id);

    (void)task;
    for (unsigned w = 0; w < sched->runtime->workers->n; w++)
        atomic_store(&sched->of_worker[w].ntasks, 0);
}

/* -- those that are blocked -- */

unsigned starpu_worker_is_blocked_in_parallel(int workerid)
{
    ORR_QUESTION();
    return orr_worker_is_blocked(orr_api_worker(__func__, workerid));
}

/* Always 0: a blocked worker executes no part of the master's kernel, whose own threads
 * use its processor. */
unsigned starpu_worker_is_slave_somewhere(int workerid)
{
    ORR_QUESTION();

    (void)orr_api_worker(__func__, workerid);
    return 0;
}

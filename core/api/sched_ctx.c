/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/sched_ctx.c - the one scheduling context, number 0, with all
 * workers; walking over them; locks for what concerns one. Any thread.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/state.h"
#include "core/asleep.h"
#include "core/sched/toolbox.h"

/* -- the context -- */

void starpu_sched_ctx_set_context(unsigned *sched_ctx_id)
{
    if (!sched_ctx_id || *sched_ctx_id == 0 ||
        *sched_ctx_id == STARPU_NMAX_SCHED_CTXS)
        return;
    orr_log_error("%s: there is no scheduling context %u, only 0", __func__,
                  *sched_ctx_id);
    abort();
}

/* There is no other to choose: "none was chosen". */
unsigned starpu_sched_ctx_get_context(void)
{
    return STARPU_NMAX_SCHED_CTXS;
}

void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id)
{
    (void)sched_ctx_id;
    return NULL;
}

unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id,
                                           int **workerids)
{
    unsigned n = starpu_sched_ctx_get_nworkers(sched_ctx_id);

    *workerids = n ? malloc(n * sizeof(**workerids)) : NULL;
    if (!*workerids)
        return 0;
    for (unsigned w = 0; w < n; w++)
        (*workerids)[w] = (int)w;
    return n;
}

unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id)
{
    return sched_ctx_id == 0 ? ORR_API_RUNTIME()->nworkers : 0;
}

unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id)
{
    return workerid >= 0 &&
           (unsigned)workerid < starpu_sched_ctx_get_nworkers(sched_ctx_id);
}

unsigned
starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
                                         unsigned sched_ctx_id)
{
    return sched_ctx_id == 0 && starpu_worker_get_count_by_type(arch) > 0;
}

void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f)
{
    fprintf(f, "scheduling context %u:\n", sched_ctx_id);
    if (sched_ctx_id == 0)
        starpu_worker_display_all(f);
}

/* A policy's own counts; with one context only the policy needs them. */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id,
                                                   int workerid)
{
    (void)sched_ctx_id;
    (void)workerid;
}

void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id,
                                                   int workerid)
{
    (void)sched_ctx_id;
    (void)workerid;
}

/* -- the workers as a collection -- */

static unsigned has_next(struct starpu_worker_collection *workers,
                         struct starpu_sched_ctx_iterator *it)
{
    return it->cursor >= 0 && (unsigned)it->cursor < workers->nworkers;
}

static int get_next(struct starpu_worker_collection *workers,
                    struct starpu_sched_ctx_iterator *it)
{
    return workers->workerids[it->cursor++];
}

static void init_iterator(struct starpu_worker_collection *workers,
                          struct starpu_sched_ctx_iterator *it)
{
    (void)workers;
    it->cursor = 0;
}

static void init_parallel(struct starpu_worker_collection *workers,
                          struct starpu_sched_ctx_iterator *it,
                          struct starpu_task *task)
{
    it->possibly_parallel = task->possibly_parallel != 0;
    init_iterator(workers, it);
}

/* All workers are members from the beginning to the end. */
static int change(struct starpu_worker_collection *workers, int workerid)
{
    (void)workers;
    return workerid;
}

static void nothing(struct starpu_worker_collection *workers)
{
    (void)workers;
}

static struct starpu_worker_collection *
collection_new(unsigned n, enum starpu_worker_collection_type type)
{
    struct starpu_worker_collection *workers =
        calloc(1, sizeof(*workers) + n * sizeof(int));

    if (!workers)
        return NULL;
    workers->workerids = (int *)(workers + 1);
    workers->nworkers = workers->nunblocked_workers = workers->nmasters = n;
    workers->unblocked_workers = workers->masters = workers->workerids;
    workers->type = type;
    workers->has_next = has_next;
    workers->get_next = get_next;
    workers->add = workers->remove = change;
    workers->init = workers->deinit = nothing;
    workers->init_iterator = init_iterator;
    workers->init_iterator_for_parallel_tasks = init_parallel;
    for (unsigned w = 0; w < n; w++) {
        workers->workerids[w] = (int)w;
        workers->present[w] = workers->is_unblocked[w] = 1;
        workers->is_master[w] = 1;
    }
    return workers;
}

struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
    unsigned sched_ctx_id, enum starpu_worker_collection_type type)
{
    struct orr_api_state *state = orr_api_state(__func__);
    struct starpu_worker_collection *fresh, *workers;

    (void)sched_ctx_id;
    fresh = collection_new(ORR_API_RUNTIME()->nworkers, type);
    orr_lock(&state->lock);
    if (!state->workers) {
        state->workers = fresh;
        fresh = NULL;
    }
    workers = state->workers;
    orr_unlock(&state->lock);
    free(fresh);
    return workers;
}

/* It is freed with the runtime. */
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id)
{
    (void)sched_ctx_id;
}

struct starpu_worker_collection *
starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id)
{
    return starpu_sched_ctx_create_worker_collection(sched_ctx_id,
                                                     STARPU_WORKER_LIST);
}

/* -- one worker -- */

static starpu_pthread_mutex_t *mutex_of(const char *call, int workerid)
{
    (void)orr_api_worker(call, workerid);
    return &orr_api_state(call)->mutexes[workerid];
}

void starpu_worker_get_sched_condition(int workerid,
                                       starpu_pthread_mutex_t **sched_mutex,
                                       starpu_pthread_cond_t **sched_cond)
{
    *sched_mutex = mutex_of(__func__, workerid);
    *sched_cond = &orr_api_state(__func__)->conds[workerid];
}

void starpu_worker_lock(int workerid)
{
    starpu_pthread_mutex_lock(mutex_of(__func__, workerid));
}

int starpu_worker_trylock(int workerid)
{
    return starpu_pthread_mutex_trylock(mutex_of(__func__, workerid));
}

void starpu_worker_unlock(int workerid)
{
    starpu_pthread_mutex_unlock(mutex_of(__func__, workerid));
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/memaware.c - memaware: ready tasks wait in one pool until a worker has
 * nothing to do, which takes the one that needs least that its memory has not: so
 * what is in a device's memory is used up before more is brought there.
 *
 * When nothing runs without a copy, one of the data is chosen of which most tasks in
 * the pool lack nothing else. That is the rule of DARTS: M. Gonthier, L. Marchal,
 * S. Thibault, "Memory-aware scheduling of tasks sharing data on multiple GPUs with
 * dynamic runtime systems", 2022; the pool here has tasks of a graph as they become
 * ready, of priorities, and for workers of several speeds.
 *
 * Several devices share the data out: a task that writes what another one has written
 * last is left to that one, and what was not used longest leaves a memory first
 * (core/data/nextuse.c), since the order of submission says little here.
 *
 * A worker that is slower than others at a task leaves it to them, unless they have
 * work for longer than it would take.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/policies/policies.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

enum {
    MOST_DATA = 64,    /* whose tasks are counted for one decision */
    MOST_REFUSED = 16, /* jobs that can_execute refuses for one pop */
    WRITERS = 8192     /* data whose last writer is known, by number */
};

/* A worker that takes at most so many times as long as the fastest class does not leave
 * the task to that. */
#define ABOUT_AS_FAST 1.5

struct pool {
    struct orr_lock lock; /* rank ORR_RANK_SCHED */
    struct orr_list jobs; /* [lock] in the order of push */
    unsigned njobs;       /* [lock] */
    double work;          /* [lock] µs that they take where they are fastest */
    unsigned nasked; /* [lock] jobs that are out while can_execute is called */
    bool missed;     /* [lock] a worker found no job meanwhile */
    unsigned nrefreshed; /* [lock] how often the set of workers that take tasks
                          * has changed */
    /* [lock] jobs that only some workers of a class may take */
    unsigned ndiffer;
    /* [lock] Bits of classes whose workers have looked and found nothing for them since a
     * job came, or a length may have changed: where all workers are woken for a job, most
     * would look at the whole pool for nothing. */
    uint64_t nothing;
    /* [lock] By a handle's number modulo WRITERS: the device's node that has written
     * the data last, 0: none. A place that several data share may be wrong. */
    uint8_t writer[WRITERS];
};

/* A datum that tasks lack, and how many lack it alone. */
struct wanted {
    const struct orr_handle *handle;
    unsigned ntasks;
};

struct look {
    struct orr_sched *sched;
    struct orr_worker *worker;
    unsigned node;
    struct wanted wanted[MOST_DATA];
    unsigned nwanted;
    bool counted; /* `wanted` is that of this choice */
    const struct orr_job *refused[MOST_REFUSED];
    unsigned nrefused;
};

/* --- speeds --- */

/* Shortest known length of the job on a class; INFINITY: not known. */
static double job_length_on_class(const struct orr_job *job, unsigned class_id)
{
    double shortest = INFINITY;

    for (unsigned i = 0; job->costs->able[class_id] >> i; i++) {
        double us = orr_cost_length(job->costs, class_id, i);

        if (job->costs->able[class_id] >> i & 1 && us > 0 && us < shortest)
            shortest = us;
    }
    return shortest;
}

/* On which class it is fastest of those that have workers here. */
static unsigned fastest_class(const struct orr_sched *sched,
                              const struct orr_job *job, double *ret_us)
{
    const struct orr_runtime *rt = sched->runtime;
    const struct orr_members *members = &rt->workers->members[sched->id];
    unsigned best = 0;

    *ret_us = INFINITY;
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        double us;

        if (!(job->able_classes >> k & 1) || !orr_members_some(members, k))
            continue;
        us = job_length_on_class(job, k);
        if (us < *ret_us) {
            *ret_us = us;
            best = k;
        }
    }
    return best;
}

static bool job_is_for_worker(const struct look *look,
                              const struct orr_job *job, double work)
{
    unsigned mine = look->worker->class_id, fastest;
    double own = job_length_on_class(job, mine), best;

    fastest = fastest_class(look->sched, job, &best);
    if (fastest == mine || !isfinite(own) || !isfinite(best) ||
        own <= ABOUT_AS_FAST * best)
        return true;
    return own <
           work / look->sched->runtime->workers->classes[fastest].nworkers;
}

/* --- the choice --- */

static bool look_may_take(const struct look *look, const struct orr_job *job)
{
    bool ask;

    for (unsigned i = 0; i < look->nrefused; i++)
        if (look->refused[i] == job)
            return false;
    return (job->able_classes >> look->worker->class_id & 1 || job->differ) &&
           (orr_job_maybe_able(look->sched->runtime, job, job->costs,
                               look->worker->id, &ask) ||
            ask);
}

/* The only datum that the job reads and the node neither has nor gets. */
static const struct orr_handle *only_wanted(const struct orr_job *job,
                                            unsigned node)
{
    const struct orr_handle *only = NULL;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        uint64_t there =
            atomic_load_explicit(&access->handle->valid, memory_order_relaxed) |
            atomic_load_explicit(&access->handle->loading,
                                 memory_order_relaxed);

        if (access->duplicate || !(access->mode & STARPU_R) ||
            access->mode & STARPU_SCRATCH || there >> node & 1)
            continue;
        if (only && only != access->handle)
            return NULL;
        only = access->handle;
    }
    return only;
}

static void look_note_wanted(struct look *look, const struct orr_job *job)
{
    const struct orr_handle *handle = only_wanted(job, look->node);

    for (unsigned i = 0; handle && i < look->nwanted; i++)
        if (look->wanted[i].handle == handle) {
            look->wanted[i].ntasks++;
            return;
        }
    if (handle && look->nwanted < MOST_DATA)
        look->wanted[look->nwanted++] = (struct wanted){handle, 1};
}

/* Which data are wanted is counted at the first job that lacks some: mostly there is no
 * such job. */
static void count_wanted_locked(struct pool *pool, struct look *look)
    ORR_REQUIRES(pool->lock)
{
    look->nwanted = 0;
    look->counted = true;
    orr_list_foreach (link, &pool->jobs) {
        struct orr_job *job = orr_job_of_link(link);

        if (look_may_take(look, job))
            look_note_wanted(look, job);
    }
}

static unsigned ntasks_with_locked(struct pool *pool, struct look *look,
                                   const struct orr_job *job)
    ORR_REQUIRES(pool->lock)
{
    const struct orr_handle *handle = only_wanted(job, look->node);

    if (handle && !look->counted)
        count_wanted_locked(pool, look);
    for (unsigned i = 0; handle && i < look->nwanted; i++)
        if (look->wanted[i].handle == handle)
            return look->wanted[i].ntasks;
    return 0;
}

/* Whether another device's memory lacks less of the job's data. */
static bool belongs_elsewhere(const struct look *look,
                              const struct orr_job *job, uint64_t bytes)
{
    const struct orr_runtime *rt = look->sched->runtime;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        unsigned node = rt->workers->classes[k].node;

        if (node >= rt->nodes->nram && node != look->node &&
            job->able_classes >> k & 1 &&
            orr_job_missing(job, node, UINT64_MAX).loading < bytes)
            return true;
    }
    return false;
}

/* --- the node that has written a datum --- */

static const struct orr_handle *job_written_handle(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].mode & STARPU_W &&
            !(job->accesses[i].mode & STARPU_SCRATCH))
            return job->accesses[i].handle;
    return NULL;
}

static uint8_t *writer_of(struct pool *pool, const struct orr_job *job)
{
    const struct orr_handle *handle = job_written_handle(job);

    return handle ? &pool->writer[handle->id % WRITERS] : NULL;
}

/* Whether another device has written it last. */
static bool is_of_other(const struct look *look, struct pool *pool,
                        const struct orr_job *job)
{
    const uint8_t *writer = writer_of(pool, job);

    return writer && *writer &&
           look->node >= look->sched->runtime->nodes->nram &&
           *writer != look->node;
}

static void note_writer(const struct look *look, struct pool *pool,
                        const struct orr_job *job)
{
    uint8_t *writer = writer_of(pool, job);

    if (writer && look->node >= look->sched->runtime->nodes->nram)
        *writer = (uint8_t)look->node;
}

/* --- the best one --- */

/* What makes a task the better one, in the order of comparison: nothing is to be
 * copied; no other device has more of the task's data, or has written them last, and
 * should take it; the copy serves more tasks; fewer bytes are copied; the priority. The
 * oldest wins a tie. */
struct merit {
    uint64_t bytes;
    bool elsewhere;
    unsigned ntasks;
    int priority;
};

static bool merit_is_better(const struct merit *a, const struct merit *b)
{
    if ((a->bytes == 0) != (b->bytes == 0))
        return a->bytes == 0;
    if (a->elsewhere != b->elsewhere)
        return !a->elsewhere;
    if (a->bytes && a->ntasks != b->ntasks)
        return a->ntasks > b->ntasks;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->priority > b->priority;
}

static struct orr_job *choose_locked(struct pool *pool, struct look *look)
    ORR_REQUIRES(pool->lock)
{
    struct merit best = {.bytes = UINT64_MAX};
    struct orr_job *chosen = NULL;

    look->counted = false;
    orr_list_foreach (link, &pool->jobs) {
        struct orr_job *job = orr_job_of_link(link);
        struct merit merit = {.priority = job->priority};

        if (!look_may_take(look, job) ||
            !job_is_for_worker(look, job, pool->work))
            continue;
        merit.bytes = orr_job_missing(job, look->node, UINT64_MAX).loading;
        merit.elsewhere =
            merit.bytes && (is_of_other(look, pool, job) ||
                            belongs_elsewhere(look, job, merit.bytes));
        merit.ntasks = merit.bytes ? ntasks_with_locked(pool, look, job) : 0;
        if (chosen && !merit_is_better(&merit, &best))
            continue;
        chosen = job;
        best = merit;
    }
    return chosen;
}

/* --- who looks in vain --- */

/* Whether what one worker of the class finds, all of them find: whether a job is for a
 * worker is then asked of lengths, which are those of classes. */
static bool class_is_alike_locked(const struct pool *pool,
                                  const struct orr_sched *sched)
    ORR_REQUIRES(pool->lock)
{
    const struct orr_runtime *rt = sched->runtime;

    return pool->ndiffer == 0 && !orr_some_disabled(rt) &&
           orr_members_all(&rt->workers->members[sched->id]);
}

/* What leaves the pool makes the others wait no longer than before, so that a class for
 * which there was nothing has nothing still. */
static struct orr_job *look_for_job_locked(struct pool *pool, struct look *look)
    ORR_REQUIRES(pool->lock)
{
    uint64_t mine = UINT64_C(1) << look->worker->class_id;
    bool alike = class_is_alike_locked(pool, look->sched);
    struct orr_job *job;

    if (alike && pool->nothing & mine)
        return NULL;
    job = choose_locked(pool, look);
    if (!job && alike && look->nrefused == 0)
        pool->nothing |= mine;
    return job;
}

/* --- the policy --- */

/* False if the set of workers that take tasks has changed since `nrefreshed`
 * was read. */
static bool pool_enter(struct pool *pool, struct orr_job *job,
                       unsigned nrefreshed)
{
    bool same;

    orr_lock(&pool->lock);
    same = pool->nrefreshed == nrefreshed;
    if (same) {
        orr_list_append(&pool->jobs, &job->queue);
        pool->njobs++;
        pool->ndiffer += job->differ;
        pool->nothing = 0;
        pool->work += job->predicted;
    }
    orr_unlock(&pool->lock);
    return same;
}

/* Puts a job back into the pool, and notes which workers can run it now. */
static void enter_again(struct orr_sched *sched, struct orr_job *job)
{
    struct pool *pool = sched->data;
    unsigned nrefreshed;

    do {
        orr_lock(&pool->lock);
        nrefreshed = pool->nrefreshed;
        orr_unlock(&pool->lock);
        orr_sched_note_able(sched->runtime, job);
    } while (!pool_enter(pool, job, nrefreshed));
}

static struct orr_job *pool_leave(struct pool *pool, struct look *look)
{
    struct orr_job *job;

    orr_lock(&pool->lock);
    job = look_for_job_locked(pool, look);
    if (job) {
        orr_list_remove(&job->queue);
        note_writer(look, pool, job);
        pool->njobs--;
        pool->ndiffer -= job->differ;
        pool->work = pool->njobs ? pool->work - job->predicted : 0;
        pool->nasked++;
    } else if (pool->nasked) {
        pool->missed = true;
    }
    orr_unlock(&pool->lock);
    return job;
}

/* can_execute has answered for a job that was out of the pool. If it has refused, a
 * worker that found no job meanwhile may be the one that can run it. */
static void note_answer(struct orr_sched *sched, bool accepted)
{
    struct pool *pool = sched->data;
    bool wake;

    orr_lock(&pool->lock);
    wake = pool->missed && !accepted;
    if (--pool->nasked == 0)
        pool->missed = false;
    orr_unlock(&pool->lock);
    if (wake)
        orr_sched_wake_members(sched);
}

/* All are woken: a worker that is woken may leave the task to others. */
static int memaware_push(struct orr_sched *sched, struct orr_job *job)
{
    struct pool *pool = sched->data;
    unsigned nrefreshed;
    double us;

    do {
        orr_lock(&pool->lock);
        nrefreshed = pool->nrefreshed;
        orr_unlock(&pool->lock);
        orr_sched_note_able(sched->runtime, job);
        if (!job->able_classes)
            return -ENODEV;
        (void)fastest_class(sched, job, &us);
        job->predicted = isfinite(us) ? us : 0;
    } while (!pool_enter(pool, job, nrefreshed));
    orr_sched_wake_members(sched);
    return 0;
}

static bool memaware_accept(struct orr_runtime *rt, struct orr_worker *worker,
                            struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);
    unsigned bits = orr_job_able(rt, job, row, worker->id);

    if (!bits)
        return false;
    job->implementation =
        orr_recal_pick(row->recal, row, worker->class_id, bits);
    return true;
}

static struct orr_job *memaware_pop(struct orr_sched *sched,
                                    struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct look look = {.sched = sched,
                        .worker = worker,
                        .node = rt->workers->classes[worker->class_id].node};
    struct orr_job *job;

    while ((job = pool_leave(sched->data, &look))) {
        bool accepted = memaware_accept(rt, worker, job);
        double us;

        if (!accepted)
            enter_again(sched, job);
        note_answer(sched, accepted);
        if (accepted) {
            us = orr_cost_length(job->costs, worker->class_id,
                                 job->implementation);
            job->predicted = us > 0 ? us : 0;
            job->task->predicted = job->predicted;
            return job;
        }
        if (look.nrefused == MOST_REFUSED)
            return NULL;
        look.refused[look.nrefused++] = job;
    }
    return NULL;
}

/* Tasks may have been left to workers that are gone. */
static void memaware_refresh(struct orr_sched *sched)
{
    struct pool *pool = sched->data;
    struct orr_list jobs, *link;

    orr_list_init(&jobs);
    orr_lock(&pool->lock);
    while ((link = orr_list_pop(&pool->jobs)))
        orr_list_append(&jobs, link);
    pool->njobs = 0;
    pool->ndiffer = 0;
    pool->nothing = 0;
    pool->work = 0;
    pool->nrefreshed++;
    orr_unlock(&pool->lock);
    while ((link = orr_list_pop(&jobs)))
        enter_again(sched, orr_job_of_link(link));
}

/* A model may have learnt of the kernel. */
static void memaware_post_exec(struct orr_sched *sched, struct orr_job *job,
                               struct orr_worker *worker)
{
    struct pool *pool = sched->data;

    (void)job;
    (void)worker;
    orr_lock(&pool->lock);
    pool->nothing = 0;
    orr_unlock(&pool->lock);
}

static int memaware_init(struct orr_sched *sched, struct orr_error *err)
{
    struct pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    orr_lock_init(&pool->lock, ORR_RANK_SCHED);
    orr_list_init(&pool->jobs);
    sched->data = pool;
    return 0;
}

static void memaware_deinit(struct orr_sched *sched)
{
    free(sched->data);
}

const struct orr_sched_ops orr_sched_memaware = {
    .name = "memaware",
    .help = "what is in a device's memory is used up before more is copied",
    .unbounded_priorities = true,
    .follows_memory = true,
    .prefetches = true,
    .init = memaware_init,
    .deinit = memaware_deinit,
    .push = memaware_push,
    .pop = memaware_pop,
    .refresh = memaware_refresh,
    .post_exec = memaware_post_exec,
};

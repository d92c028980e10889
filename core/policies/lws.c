/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/lws.c - work stealing: a job goes to the worker that made it ready, and
 * workers without a job take one from another busy worker. One lock per deque; never
 * two at once. lws takes from the nearest one, on machines that know which workers are
 * near: real ones whose workers are bound, simulated ones whose description says where
 * its processors are. On the others it is ws.
 *
 * Of many workers most may have nothing to do, and each push wakes them all: a bit per
 * deque says that it may have jobs, so that a thief that finds none looks at a few
 * words only. A push sets the bit, unless it is set; a thief that finds the deque empty
 * clears it. While all workers are busy none writes there.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/policies/policies.h"
#include "core/sched/queue.h"
#include "core/worker/workers.h"

struct thief {
    struct orr_queue deque;
    unsigned last_victim; /* [owner] */
    atomic_bool busy;     /* has a job: the others may be stolen */
    char pad[64];
};

struct stealing {
    unsigned nworkers;          /* [const] */
    const unsigned *neighbours; /* [const] the machine's, or NULL: in turn */
    char pad[64];
    atomic_uint last; /* worker that got the last job from outside */
    char pad_last[64];
    /* A deque without its bit is empty, or its pusher is about to set it. */
    _Atomic uint64_t stocked[ORR_WORKER_WORDS];
    char pad_stocked[64];
    struct thief thieves[];
};

static int ws_init(struct orr_sched *sched, struct orr_error *err)
{
    unsigned n = sched->runtime->workers->n;
    struct stealing *ws = calloc(1, sizeof(*ws) + n * sizeof(ws->thieves[0]));

    if (!ws)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    ws->nworkers = n;
    atomic_init(&ws->last, n - 1);
    for (unsigned i = 0; i < n; i++) {
        orr_queue_init(&ws->thieves[i].deque, true);
        ws->thieves[i].last_victim = n - 1;
    }
    sched->data = ws;
    return 0;
}

static int lws_init(struct orr_sched *sched, struct orr_error *err)
{
    int result = ws_init(sched, err);
    struct stealing *ws = sched->data;

    if (result == 0)
        ws->neighbours = sched->runtime->machine->neighbours;
    return result;
}

static void ws_deinit(struct orr_sched *sched)
{
    struct stealing *ws = sched->data;

    for (unsigned i = 0; i < ws->nworkers; i++)
        orr_queue_done(&ws->thieves[i].deque);
    free(ws);
}

/* Chooses the calling worker if it can run the job, else the next worker that can, in
 * turn. Sets the job's implementation. */
static int ws_choose_worker(struct orr_sched *sched, struct orr_job *job,
                            unsigned *ret_worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct stealing *ws = sched->data;
    const struct orr_cost_row *row = orr_job_row(rt, job);
    const struct orr_worker *self = orr_self->worker;
    unsigned last = atomic_load_explicit(&ws->last, memory_order_relaxed);

    if (self && self->runtime == rt) {
        unsigned bits = orr_job_able(rt, job, row, self->id);

        if (bits) {
            job->implementation =
                orr_recal_pick(row->recal, row, self->class_id, bits);
            *ret_worker = self->id;
            return 0;
        }
    }
    for (unsigned i = 1; i <= ws->nworkers; i++) {
        unsigned w = (last + i) % ws->nworkers;
        unsigned bits = orr_job_able(rt, job, row, w);

        if (!bits)
            continue;
        atomic_store_explicit(&ws->last, w, memory_order_relaxed);
        job->implementation =
            orr_recal_pick(row->recal, row, rt->workers->at[w].class_id, bits);
        *ret_worker = w;
        return 0;
    }
    return -ENODEV;
}

/* --- which deques may have jobs --- */

static _Atomic uint64_t *word_of(struct stealing *ws, unsigned worker)
{
    return &ws->stocked[worker / 64];
}

static uint64_t worker_bit(unsigned worker)
{
    return UINT64_C(1) << worker % 64;
}

/* A job was queued, by orr_queue_push. The worker that clears the bit looks at the deque
 * once more afterwards: one of the two sees what the other did. Those who sleep look at
 * the deques whose bits are set. Where the worker itself sleeps nobody may steal from it:
 * it alone is woken, and wakes the others if it finds more than one job. */
static void ws_announce_stock(struct orr_sched *sched, unsigned worker)
{
    _Atomic uint64_t *word = word_of(sched->data, worker);

    if (!(atomic_load(word) & worker_bit(worker)))
        atomic_fetch_or(word, worker_bit(worker));
    if (!orr_sched_wake(&sched->runtime->workers->at[worker]))
        orr_sched_wake_sleepers(sched);
}

/* Whether the deque, whose bit is set, has jobs. If some come while the bit is cleared,
 * another worker may have looked meanwhile, found nothing, and sleep. */
static bool has_stock(struct orr_sched *sched, unsigned worker)
{
    struct stealing *ws = sched->data;

    if (!orr_queue_empty(&ws->thieves[worker].deque))
        return true;
    atomic_fetch_and(word_of(ws, worker), ~worker_bit(worker));
    orr_sched_after_queueing(sched->runtime);
    if (orr_queue_empty(&ws->thieves[worker].deque))
        return false;
    atomic_fetch_or(word_of(ws, worker), worker_bit(worker));
    orr_sched_wake_members(sched);
    return true;
}

static bool may_have_stock(struct stealing *ws, unsigned worker)
{
    return atomic_load_explicit(word_of(ws, worker), memory_order_relaxed) &
           worker_bit(worker);
}

/* The first worker from `from` on whose bit is set; nworkers: there is none. */
static unsigned next_stocked(struct stealing *ws, unsigned from)
{
    for (unsigned at = from; at < ws->nworkers; at = (at / 64 + 1) * 64) {
        uint64_t bits =
            atomic_load_explicit(word_of(ws, at), memory_order_relaxed) >>
            at % 64;

        if (bits)
            return at + (unsigned)__builtin_ctzll(bits);
    }
    return ws->nworkers;
}

static int ws_push(struct orr_sched *sched, struct orr_job *job)
{
    struct stealing *ws = sched->data;
    unsigned worker;
    int err = ws_choose_worker(sched, job, &worker);

    if (!err) {
        struct orr_runtime *rt = sched->runtime;

        if (rt->nodes->n > 1)
            orr_job_expect(
                rt, job,
                rt->workers->classes[rt->workers->at[worker].class_id].node);
        err = orr_queue_push(&ws->thieves[worker].deque, job);
    }
    if (!err)
        ws_announce_stock(sched, worker);
    return err;
}

/* --- stealing --- */

/* A worker that was given jobs but works on none is about to take them itself. */
static bool is_victim(struct orr_sched *sched, unsigned worker)
{
    struct stealing *ws = sched->data;

    return has_stock(sched, worker) &&
           atomic_load_explicit(&ws->thieves[worker].busy,
                                memory_order_relaxed);
}

static struct orr_job *steal_from(struct stealing *ws, unsigned victim,
                                  struct orr_worker *worker)
{
    struct orr_job *job = orr_queue_take(&ws->thieves[victim].deque, worker,
                                         ORR_QUEUE_NEWEST_BEST, NULL);

    if (job && victim != worker->id)
        ORR_TELL(worker->runtime, ORR_TOLD_STOLEN, .stolen.thief = worker->id,
                 .stolen.victim = victim, .stolen.job = job->id);
    return job;
}

/* Steals from the nearest victim that has a job for the worker. */
static struct orr_job *steal_near(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct stealing *ws = sched->data;
    const unsigned *order = &ws->neighbours[(size_t)worker->id * ws->nworkers];
    struct orr_job *job = NULL;

    if (next_stocked(ws, 0) == ws->nworkers)
        return NULL;
    for (unsigned i = 1; !job && i < ws->nworkers; i++)
        if (may_have_stock(ws, order[i]) && is_victim(sched, order[i]))
            job = steal_from(ws, order[i], worker);
    return job;
}

/* The first worker from `from` on that one may steal from; nworkers: there is none. */
static unsigned next_victim(struct orr_sched *sched, unsigned from)
{
    struct stealing *ws = sched->data;
    unsigned w = next_stocked(ws, from);

    while (w < ws->nworkers && !is_victim(sched, w))
        w = next_stocked(ws, w + 1);
    return w;
}

/* One victim is examined: the first after the last one. */
static struct orr_job *steal_in_turn(struct orr_sched *sched,
                                     struct orr_worker *worker)
{
    struct stealing *ws = sched->data;
    struct thief *self = &ws->thieves[worker->id];
    unsigned victim = next_victim(sched, self->last_victim + 1);

    if (victim == ws->nworkers)
        victim = next_victim(sched, 0);
    if (victim == ws->nworkers)
        return NULL;
    self->last_victim = victim;
    return steal_from(ws, victim, worker);
}

static struct orr_job *ws_pop(struct orr_sched *sched,
                              struct orr_worker *worker)
{
    struct stealing *ws = sched->data;
    struct thief *self = &ws->thieves[worker->id];
    bool before = atomic_load_explicit(&self->busy, memory_order_relaxed);
    struct orr_job *job = NULL;

    if (!orr_queue_empty(&self->deque))
        job = orr_queue_pop(&self->deque);
    if (!job)
        job = ws->neighbours ? steal_near(sched, worker)
                             : steal_in_turn(sched, worker);
    if (before != (job != NULL))
        atomic_store_explicit(&self->busy, job != NULL, memory_order_relaxed);
    /* A worker that looked before left the others to this one, and may sleep
     * now. */
    if (job && !before && !orr_queue_empty(&self->deque))
        orr_sched_wake_members(sched);
    return job;
}

static void ws_push_notify(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    struct stealing *ws = sched->data;

    (void)job;
    atomic_store_explicit(&ws->thieves[worker->id].busy, true,
                          memory_order_relaxed);
}

const struct orr_sched_ops orr_sched_lws = {
    .name = "lws",
    .help =
        "work stealing, from the nearest busy worker: of bound workers by the "
        "machine's caches and NUMA nodes, simulated where its description "
        "places CPUs (package, numa, l3); else as ws",
    .unbounded_priorities = true,
    .by_priority = true,
    .indifferent = true,
    .init = lws_init,
    .deinit = ws_deinit,
    .push = ws_push,
    .pop = ws_pop,
    .push_notify = ws_push_notify,
};

const struct orr_sched_ops orr_sched_ws = {
    .name = "ws",
    .help = "work stealing, victims in turn",
    .unbounded_priorities = true,
    .by_priority = true,
    .indifferent = true,
    .init = ws_init,
    .deinit = ws_deinit,
    .push = ws_push,
    .pop = ws_pop,
    .push_notify = ws_push_notify,
};

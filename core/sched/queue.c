/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/queue.c - jobs shared by workers that may not be able to run each
 * of them. The one difficulty is can_execute, a user's function that is not
 * called under a lock: the walk unlocks, calls it, and starts anew if the queue
 * changed meanwhile.
 */
#include "core/sched/queue.h"

#include <limits.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/job/ahead.h"
#include "core/task/end.h"
#include "core/worker/workers.h"

enum { MOST_DATA_AHEAD = 4 };

/* open_at when no rank is open: then no job may be left in the inbox. */
#define CLOSED LLONG_MIN

void orr_queue_init(struct orr_queue *q, bool sorted)
{
    *q = (struct orr_queue){.sorted = sorted};
    orr_lock_init(&q->lock, ORR_RANK_SCHED);
    atomic_init(&q->open_at, CLOSED);
}

void orr_queue_done(struct orr_queue *q)
{
    orr_prioq_done(&q->jobs);
}

static int queue_job_priority(const struct orr_queue *q,
                              const struct orr_job *job)
{
    return q->sorted ? job->priority : 0;
}

static void changed_locked(struct orr_queue *q) ORR_REQUIRES(q->lock)
{
    q->changes++;
    atomic_store_explicit(&q->njobs, q->jobs.njobs, memory_order_relaxed);
}

/* --- the inbox --- */

/* The best rank of the queued jobs; if none is queued, the one that was best last. */
static long long best_locked(const struct orr_queue *q) ORR_REQUIRES(q->lock)
{
    if (orr_prioq_empty(&q->jobs))
        return atomic_load_explicit(&q->open_at, memory_order_relaxed);
    return q->jobs.slots[q->jobs.nslots - 1].rank;
}

static bool inbox_has_some(const struct orr_queue *q)
{
    return atomic_load(&q->inbox) != NULL;
}

/* Takes all that is in the inbox, the oldest first. njobs is raised before, so that a
 * worker that finds the inbox empty knows that there are jobs. */
static struct orr_list *take_inbox_locked(struct orr_queue *q)
    ORR_REQUIRES(q->lock)
{
    struct orr_list *link, *oldest = NULL;

    atomic_store_explicit(&q->njobs, q->jobs.njobs + 1, memory_order_relaxed);
    link = atomic_exchange_explicit(&q->inbox, NULL, memory_order_acq_rel);
    while (link) {
        struct orr_list *next = link->next;

        __builtin_prefetch(link->prev);
        link->next = oldest;
        oldest = link;
        link = next;
    }
    return oldest;
}

/* When the job was left in the inbox there was a level for its rank. If that level has
 * gone since, and there is no memory for a new one, the job goes behind the best jobs. */
static void queue_insert_locked(struct orr_queue *q, struct orr_job *job)
    ORR_REQUIRES(q->lock)
{
    const struct orr_prioq_slot *best;

    if (orr_prioq_push(&q->jobs, job, queue_job_priority(q, job)) == 0)
        return;
    best = &q->jobs.slots[q->jobs.nslots - 1];
    job->depth = (uint16_t)(best->rank & UINT16_MAX);
    (void)orr_prioq_push(&q->jobs, job, best->priority);
}

/* Queues what is in the inbox. */
static void empty_inbox_locked(struct orr_queue *q) ORR_REQUIRES(q->lock)
{
    struct orr_list *link;

    if (!inbox_has_some(q))
        return;
    link = take_inbox_locked(q);
    while (link) {
        struct orr_list *next = link->next;

        queue_insert_locked(q, orr_job_of_link(link));
        link = next;
    }
    changed_locked(q);
}

/* Before jobs are taken or queued: makes sure that none in the inbox is better than the
 * best one that is queued. A context leaves a job in the inbox and then looks at
 * open_at; this function sets open_at and then looks at the inbox: one of the two sees
 * the other. */
static void settle_locked(struct orr_queue *q) ORR_REQUIRES(q->lock)
{
    if (orr_prioq_empty(&q->jobs))
        empty_inbox_locked(q);
    while (best_locked(q) !=
           atomic_load_explicit(&q->open_at, memory_order_relaxed)) {
        atomic_store(&q->open_at, best_locked(q));
        empty_inbox_locked(q);
    }
}

/* The worker that empties the inbox goes from each job to the one that was left before
 * it, and another processor has written them all. The link that the inbox does not use
 * points to the job that the caller has left some jobs before, so that the worker
 * fetches that one in time. (That job may be gone: only its address is used.) */
static void lead_back(struct orr_job *job)
{
    struct orr_context *self = orr_self;
    unsigned at = self->nleft++ % ORR_LEADS_BACK;

    job->queue.prev = self->left[at];
    self->left[at] = &job->queue;
}

/* After the exchange the job may have run and be gone. */
static void leave_in_inbox(struct orr_queue *q, struct orr_job *job,
                           long long rank)
{
    struct orr_list *first =
        atomic_load_explicit(&q->inbox, memory_order_relaxed);

    lead_back(job);
    do
        job->queue.next = first;
    while (!atomic_compare_exchange_strong(&q->inbox, &first, &job->queue));
    if (atomic_load(&q->open_at) == rank)
        return;
    orr_lock(&q->lock);
    empty_inbox_locked(q);
    settle_locked(q);
    orr_unlock(&q->lock);
}

int orr_queue_push(struct orr_queue *q, struct orr_job *job)
{
    int priority = queue_job_priority(q, job), err;
    long long rank = orr_prioq_rank(job, priority);

    if (atomic_load_explicit(&q->open_at, memory_order_relaxed) == rank) {
        leave_in_inbox(q, job, rank);
        return 0;
    }
    orr_lock(&q->lock);
    empty_inbox_locked(q);
    err = orr_prioq_push(&q->jobs, job, priority);
    changed_locked(q);
    settle_locked(q);
    orr_unlock(&q->lock);
    if (!orr_self->exec->one_thread) /* the inbox has it from its exchange */
        atomic_thread_fence(memory_order_seq_cst);
    return err;
}

/* The next jobs of a queue were touched by another processor last, as were their data:
 * while a worker is at the first one, the task of the next one and its data are
 * fetched, and the job after that, which leads to its own ones then. */
__attribute__((always_inline)) static inline void
look_ahead_locked(const struct orr_queue *q) ORR_REQUIRES(q->lock)
{
    struct orr_list *jobs, *next;
    const struct orr_job *job;

    if (orr_prioq_empty(&q->jobs))
        return;
    jobs = &q->jobs.slots[q->jobs.nslots - 1].level->jobs;
    next = jobs->next;
    if (next == jobs)
        return;
    job = orr_job_of_link(next);
    orr_ahead_task(job->task, job->plain);
    for (unsigned i = 0; i < job->naccesses && i < MOST_DATA_AHEAD; i++)
        orr_ahead_handle(job->accesses[i].handle);
    orr_ahead_job(orr_job_of_link(next->next));
}

/* Takes the one job that there is, if it has been left in the inbox: it need not be
 * queued. Else NULL. */
static inline struct orr_job *queue_take_only_locked(struct orr_queue *q)
    ORR_REQUIRES(q->lock)
{
    struct orr_list *link = atomic_load(&q->inbox);

    if (!orr_prioq_empty(&q->jobs) || !link || link->next ||
        !atomic_compare_exchange_strong(&q->inbox, &link, NULL))
        return NULL;
    link->prev = NULL;
    q->changes++;
    return orr_job_of_link(link);
}

struct orr_job *orr_queue_pop(struct orr_queue *q)
{
    struct orr_job *job;

    orr_lock(&q->lock);
    job = queue_take_only_locked(q);
    if (!job) {
        settle_locked(q);
        job = orr_prioq_pop(&q->jobs);
        if (job) {
            changed_locked(q);
            look_ahead_locked(q);
        }
    }
    orr_unlock(&q->lock);
    return job;
}

/* --- taking what a worker can run --- */

/* A walk through the queue on behalf of one worker. */
struct walk {
    struct orr_queue *q;
    struct orr_worker *worker;
    struct orr_job *job;     /* found */
    unsigned slot;           /* where */
    struct orr_job *asks;    /* has a can_execute that must be called */
    struct orr_job *asked;   /* can_execute was called for it, referenced */
    unsigned changes;        /* of the queue, at the call */
    unsigned answer;         /* implementations it can run */
    struct orr_job *skipped; /* the last one that it cannot run */
    orr_queue_accept accept; /* or NULL: whatever it can run */
    void *arg;
    /* The last job that was not accepted, and how many were not. */
    struct refusal {
        const struct orr_cost_row *costs;
        uint64_t able_classes;
        unsigned bits;
    } declined;
    unsigned ndeclined;
    unsigned nalike; /* not offered: equal to the last one */
};

/* A worker gives up after so many jobs were offered and not accepted, or after it has
 * passed so many that are like the last one. */
enum { MAX_DECLINED = 16, MAX_ALIKE = 1024 };

/* The implementations that the worker can run; sets asks when can_execute must
 * be called first. */
static unsigned walk_look(struct walk *walk, struct orr_job *job)
{
    struct orr_runtime *rt = walk->worker->runtime;
    const struct orr_cost_row *row = job->costs;
    unsigned bits;
    bool ask;

    bits = orr_job_maybe_able(rt, job, row, walk->worker->id, &ask);
    if (bits && ask) {
        if (walk->asked == job)
            bits = walk->answer;
        else
            walk->asks = job;
    }
    if (!bits)
        walk->skipped = job;
    return bits;
}

/* The result of accept; jobs like the last one that was not accepted are not offered. */
static unsigned walk_offer(struct walk *walk, struct orr_job *job,
                           unsigned bits)
{
    struct refusal *last = &walk->declined;
    unsigned accepted;

    if (last->costs == job->costs && last->able_classes == job->able_classes &&
        last->bits == bits) {
        walk->nalike++;
        return 0;
    }
    accepted = walk->accept(job, bits, walk->q->jobs.njobs, walk->arg);
    if (!accepted) {
        *last = (struct refusal){job->costs, job->able_classes, bits};
        walk->ndeclined++;
    }
    return accepted;
}

static bool gives_up(const struct walk *walk)
{
    return walk->ndeclined >= MAX_DECLINED || walk->nalike >= MAX_ALIKE;
}

/* Takes the job, unless it is not accepted. */
static bool walk_choose(struct walk *walk, struct orr_job *job, unsigned bits)
{
    if (walk->accept)
        bits = walk_offer(walk, job, bits);
    if (!bits)
        return false;
    walk->job = job;
    job->implementation = orr_recal_pick(job->costs->recal, job->costs,
                                         walk->worker->class_id, bits);
    return true;
}

/* Walks one slot, behind `after` if that is not NULL. Stops at a job to take
 * or to ask about. */
static bool walk_slot(struct walk *walk, unsigned slot,
                      enum orr_queue_order order, struct orr_list *after)
{
    struct orr_list *jobs = &walk->q->jobs.slots[slot].level->jobs;
    bool oldest = order == ORR_QUEUE_OLDEST;
    struct orr_list *link = after ? after : jobs;

    for (link = oldest ? link->next : link->prev; link != jobs;
         link = oldest ? link->next : link->prev) {
        struct orr_job *job = orr_job_of_link(link);
        unsigned bits = walk_look(walk, job);

        if (!bits)
            continue;
        walk->slot = slot;
        if (walk->asks || walk_choose(walk, job, bits) || gives_up(walk))
            return true;
    }
    return false;
}

/* Goes on behind the job that was asked about and refused, or starts. */
static void walk_locked(struct walk *walk, enum orr_queue_order order)
    ORR_REQUIRES(walk->q->lock)
{
    struct orr_queue *q = walk->q;
    struct orr_list *after = NULL;
    unsigned slot = q->jobs.nslots;

    walk->asks = NULL;
    if (walk->asked && walk->changes == q->changes) {
        struct orr_list *link = &walk->asked->queue;
        bool oldest = order == ORR_QUEUE_OLDEST;

        /* From the neighbour on, the walk meets the job that was asked about once more,
         * with the answer. */
        after = oldest ? link->prev : link->next;
        slot = walk->slot + 1;
    } else {
        walk->skipped = NULL;
    }
    while (slot-- > 0) {
        if (walk_slot(walk, slot, order, after) ||
            order == ORR_QUEUE_NEWEST_BEST)
            return;
        after = NULL;
    }
}

/* Asks outside the lock, which is taken again on return. The reference keeps
 * the job's address from being used anew while we compare it. The task, and
 * what the application frees when it has ended, may be read by the user's
 * function: the end of the job waits for its result, and is done here if the
 * kernel ended meanwhile. */
static void walk_ask_can_execute(struct walk *walk) ORR_REQUIRES(walk->q->lock)
{
    struct orr_runtime *rt = walk->worker->runtime;
    struct orr_job *job = walk->asks, *before = walk->asked;

    orr_job_ref(job);
    orr_job_end_later(job, ORR_END_ASKED);
    walk->changes = walk->q->changes;
    orr_unlock(&walk->q->lock);
    if (before)
        orr_job_unref(rt, before);
    walk->asked = job;
    walk->answer = orr_job_able(rt, job, job->costs, walk->worker->id);
    orr_job_let_end(rt, job);
    orr_lock(&walk->q->lock);
}

/* The usual case: the first of the best jobs is one that the worker can run,
 * which is known at once. What is in the inbox does not matter then, nor do the
 * jobs behind. */
static bool take_first(struct walk *walk, enum orr_queue_order order)
    ORR_REQUIRES(walk->q->lock)
{
    const struct orr_prioq *jobs = &walk->q->jobs;
    struct orr_worker *worker = walk->worker;
    struct orr_job *first;
    unsigned bits;
    bool ask;

    if (order != ORR_QUEUE_OLDEST || walk->accept || orr_prioq_empty(jobs))
        return false;
    walk->slot = jobs->nslots - 1;
    first = orr_job_of_link(jobs->slots[walk->slot].level->jobs.next);
    bits = orr_job_maybe_able(worker->runtime, first, first->costs, worker->id,
                              &ask);
    return bits && !ask && walk_choose(walk, first, bits);
}

/* Chooses among all jobs that have come, in that order. */
static void take_any(struct walk *walk, enum orr_queue_order order)
    ORR_REQUIRES(walk->q->lock)
{
    empty_inbox_locked(walk->q);
    walk_locked(walk, order);
    while (walk->asks) {
        walk_ask_can_execute(walk);
        empty_inbox_locked(walk->q);
        settle_locked(walk->q);
        walk_locked(walk, order);
    }
}

/* To be called while the job is queued: later its fields for the policy are not valid. */
static struct orr_queue_skipped skipped_of(const struct orr_job *job)
{
    if (!job)
        return (struct orr_queue_skipped){0};
    return (struct orr_queue_skipped){job->able_classes, job->differ};
}

static struct orr_job *walk_take(struct walk *walk, enum orr_queue_order order,
                                 struct orr_queue_skipped *ret_skipped)
{
    orr_lock(&walk->q->lock);
    settle_locked(walk->q);
    if (!take_first(walk, order))
        take_any(walk, order);
    if (walk->job) {
        orr_prioq_take(&walk->q->jobs, walk->slot, walk->job);
        changed_locked(walk->q);
        look_ahead_locked(walk->q);
        walk->skipped = NULL;
    }
    if (ret_skipped)
        *ret_skipped = skipped_of(walk->skipped);
    orr_unlock(&walk->q->lock);
    if (walk->asked)
        orr_job_unref(walk->worker->runtime, walk->asked);
    return walk->job;
}

struct orr_job *orr_queue_take(struct orr_queue *q, struct orr_worker *worker,
                               enum orr_queue_order order,
                               struct orr_queue_skipped *ret_skipped)
{
    struct walk walk = {.q = q, .worker = worker};

    return walk_take(&walk, order, ret_skipped);
}

struct orr_job *orr_queue_take_if(struct orr_queue *q,
                                  struct orr_worker *worker,
                                  orr_queue_accept accept, void *arg)
{
    struct walk walk = {.q = q, .worker = worker, .accept = accept, .arg = arg};

    return walk_take(&walk, ORR_QUEUE_OLDEST, NULL);
}

static struct orr_job *queue_first_locked(const struct orr_queue *q)
    ORR_REQUIRES(q->lock)
{
    if (orr_prioq_empty(&q->jobs))
        return NULL;
    return orr_job_of_link(q->jobs.slots[q->jobs.nslots - 1].level->jobs.next);
}

struct orr_job *orr_queue_peek(struct orr_queue *q)
{
    struct orr_job *job;

    orr_lock(&q->lock);
    settle_locked(q);
    job = queue_first_locked(q);
    if (job)
        orr_job_ref(job);
    orr_unlock(&q->lock);
    return job;
}

bool orr_queue_is_before(struct orr_queue *q, int priority, uint64_t id)
{
    const struct orr_job *job;
    int best;
    bool before = false;

    orr_lock(&q->lock);
    settle_locked(q);
    job = queue_first_locked(q);
    if (job) {
        best = q->jobs.slots[q->jobs.nslots - 1].priority;
        before = best > priority || (best == priority && job->id < id);
    }
    orr_unlock(&q->lock);
    return before;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/queue.h - jobs shared by workers that may not be able to run
 * each of them. Any context.
 *
 * A push mostly leaves the job in the inbox, one compare-and-swap in a line of the
 * cache that workers look at only when they have taken all other jobs: jobs go from one
 * processor to the other many at a time. Only jobs of one rank (orr_prioq_rank) are
 * left there: that of jobs in the queue, or of the last ones (open_at); the order in
 * which jobs are taken is that of a queue without inbox.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/lock.h"
#include "core/sched/toolbox.h"

struct orr_queue {
    struct orr_lock lock;  /* rank ORR_RANK_SCHED */
    bool sorted;           /* [const] by priority, else all have 0 */
    unsigned changes;      /* [lock] counts changes of `jobs` */
    struct orr_prioq jobs; /* [lock] */
    atomic_uint njobs;     /* written under the lock, read by thieves; not 0
                            * while jobs come from the inbox */
    char pad[64];
    _Atomic(struct orr_list *) inbox; /* jobs pushed since, newest first, linked
                                       * by queue.next; NULL: none */
    char pad_end[64];
    atomic_llong open_at; /* [lock for writing] the rank of jobs that may be
                           * left in the inbox; it is not less than any that a
                           * job in `jobs` has */
    char pad_after[64];
};

enum orr_queue_order {
    ORR_QUEUE_OLDEST,      /* best priority first, oldest first */
    ORR_QUEUE_NEWEST_BEST, /* only the best priority, newest first */
};

void orr_queue_init(struct orr_queue *q, bool sorted);
void orr_queue_done(struct orr_queue *q);

/* Puts the job behind those of its priority. What the caller reads afterwards, with
 * sequential consistency, it reads after others can see the job. Errors: -ENOMEM. */
int orr_queue_push(struct orr_queue *q, struct orr_job *job);

/* The first job; the worker is known to be able. NULL when empty. */
struct orr_job *orr_queue_pop(struct orr_queue *q);

/* What is to be known of a job that others may take, and run, at any time. */
struct orr_queue_skipped {
    uint64_t able_classes; /* 0: there is none */
    bool differ;
};

/* The first job in the order that the worker can run, its implementation set
 * to the first one that can; NULL when there is none. Then *ret_skipped, unless
 * that is NULL, has the last job that it could not run. can_execute is called
 * without the lock. */
struct orr_job *orr_queue_take(struct orr_queue *q, struct orr_worker *worker,
                               enum orr_queue_order order,
                               struct orr_queue_skipped *ret_skipped);

/* With which of the implementations in `bits` the worker should run the job: one bit, 0
 * for none. `njobs`: how many jobs the queue has. Called with the queue's lock; gives
 * the same result for jobs that have the same cost row, classes and bits. */
typedef unsigned (*orr_queue_accept)(struct orr_job *job, unsigned bits,
                                     unsigned njobs, void *arg);

/* As orr_queue_take, oldest first, but only a job that is accepted. Gives up after 16
 * different jobs that were not accepted, or 1,024 in all. */
struct orr_job *orr_queue_take_if(struct orr_queue *q,
                                  struct orr_worker *worker,
                                  orr_queue_accept accept, void *arg);

/* The first job, with a reference for the caller; it stays where it is. NULL
 * when empty. */
struct orr_job *orr_queue_peek(struct orr_queue *q);

/* Whether the first job comes before a job of that priority and number `id` (in the
 * order of submission); false when empty. */
bool orr_queue_is_before(struct orr_queue *q, int priority, uint64_t id);

/* `njobs` is read again since jobs may have come from the inbox. */
static inline bool orr_queue_empty(struct orr_queue *q)
{
    return atomic_load_explicit(&q->njobs, memory_order_relaxed) == 0 &&
           !atomic_load_explicit(&q->inbox, memory_order_acquire) &&
           atomic_load_explicit(&q->njobs, memory_order_relaxed) == 0;
}

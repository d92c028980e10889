/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/toolbox.h - what policies share: jobs ordered by priority, the
 * job whose data are most ready, waking workers. The caller locks.
 */
#pragma once

#include <stdbool.h>

#include "core/base/list.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

struct orr_sched;

/* Bytes of a job's data that a node lacks, in order of importance. */
struct orr_missing {
    uint64_t value;     /* read there, no valid copy */
    uint64_t loading;   /* … and none on its way */
    uint64_t allocated; /* no memory for it yet */
    unsigned ndata;     /* whose value it lacks */
};

/* What is read of a queued job and its data to know how ready they are: in one array
 * with those of the jobs around it, not where the job was made. */
enum { ORR_DIGESTED = 3 };
struct orr_prioq_digest {
    struct orr_job *job;
    const struct orr_handle *handles[ORR_DIGESTED]; /* of the accesses that count */
    int priority;  /* the job's own */
    uint8_t n;     /* handles; more than fit: see the job */
    uint8_t reads; /* a bit each: its value is needed */
    struct orr_missing missing; /* what the level's node lacked when … */
    uint64_t changes;           /* … the handles' counts of changes had this sum */
};

/* The jobs of one priority and depth, oldest first. */
struct orr_prioq_level {
    struct orr_list jobs;
    unsigned njobs;
    unsigned first; /* place of the oldest one's digest */
    unsigned node;  /* of which `missing` tells */
    size_t room;
    struct orr_prioq_digest *digests; /* [room], owned, njobs in the same order from
                                       * `first` on; NULL where the queue needs none */
};

struct orr_prioq_slot {
    long long rank; /* orr_prioq_rank */
    int priority;
    struct orr_prioq_level *level; /* owned, never empty below nslots */
};

/* Jobs, best priority first, the deepest first of one priority, oldest first among
 * equals; linked by their `queue`. (So as few tasks as possible wait for others that
 * were submitted inside of them.) Slots are sorted with the best one last, so that
 * taking the best jobs moves nothing. Levels that became empty wait behind the last
 * slot for the next new priority. All zero is an empty queue. */
struct orr_prioq {
    struct orr_prioq_slot *slots;
    unsigned nslots; /* priorities that have jobs */
    unsigned nmade;  /* slots that have a level, used or spare */
    unsigned njobs;
    bool digests; /* [const] jobs are taken by readiness */
};

/* By which slots are sorted: the job has that priority in the queue. */
static inline long long orr_prioq_rank(const struct orr_job *job, int priority)
{
    return (long long)priority * (UINT16_MAX + 1LL) + job->depth;
}

/* Frees the memory; jobs still inside are dropped. */
void orr_prioq_done(struct orr_prioq *q);

/* Puts the job behind those of its priority and depth: O(log priorities), and a move of
 * the better slots when the priority is new. Allocates only when there are more
 * priorities than ever before, or jobs of one in a queue with `digests`. Errors:
 * -ENOMEM, nothing changed. */
int orr_prioq_push(struct orr_prioq *q, struct orr_job *job, int priority);

/* Takes out a job of the slot. */
void orr_prioq_take(struct orr_prioq *q, unsigned slot, struct orr_job *job);

/* The oldest job of the best priority, taken out; NULL when empty. */
struct orr_job *orr_prioq_pop(struct orr_prioq *q);

/* Takes out a job of the best slot whose own priority is not less than the first one's:
 * the one with the fewest bytes that the node lacks, then the fewest that are not on
 * their way there either, then the fewest without memory there. The oldest wins a tie.
 * NULL when empty. The queue has `digests`. */
struct orr_job *orr_prioq_pop_ready(struct orr_prioq *q, unsigned node);

/* Counts no further once the job lacks more values than `most`. */
struct orr_missing orr_job_missing(const struct orr_job *job, unsigned node,
                                   uint64_t most);

static inline bool orr_missing_is_less(const struct orr_missing *a,
                                       const struct orr_missing *b)
{
    if (a->value != b->value)
        return a->value < b->value;
    if (a->loading != b->loading)
        return a->loading < b->loading;
    return a->allocated < b->allocated;
}

/* The jobs that would be served before a new one of that priority. */
unsigned orr_prioq_ahead(const struct orr_prioq *q, int priority);

/* Walks the slots, best priority first. */
#define orr_prioq_foreach_slot(slot, q)                                        \
    for (unsigned slot = (q)->nslots; slot-- > 0;)

static inline struct orr_job *orr_job_of_link(struct orr_list *link)
{
    return orr_container(link, struct orr_job, queue);
}

static inline bool orr_prioq_empty(const struct orr_prioq *q)
{
    return q->njobs == 0;
}

/* A worker sets its flag that it sleeps, then looks once more; the caller has queued a
 * job, then looks whether the worker sleeps. With this barrier between the caller's two
 * steps (and the worker's own) at least one of the two sees what the other did. The
 * functions below have it. */
static inline void orr_sched_after_queueing(const struct orr_runtime *rt)
{
    if (!rt->exec->one_thread)
        atomic_thread_fence(memory_order_seq_cst);
}

/* Wakes the worker if it sleeps for want of a task; of several callers one
 * does, and gets true. To be called after the job was queued. The worker sets
 * `asleep`, looks once more, then parks. */
bool orr_sched_wake(struct orr_worker *worker);

/* Notes in the job which worker classes can run it, before it is queued:
 * afterwards its task may run at any time and be gone. */
void orr_sched_note_able(struct orr_runtime *rt, struct orr_job *job);

/* Wakes one sleeping worker of these classes that takes tasks of the context,
 * lowest number first; all of them if they may differ. What is noted in a job is
 * read before it is queued: it may be gone afterwards. */
void orr_sched_wake_able(struct orr_sched *sched, uint64_t able_classes,
                         bool differ);

/* Wakes all workers that take tasks of the context; the same where the caller has
 * passed the barrier since it queued something. */
void orr_sched_wake_members(struct orr_sched *sched);
void orr_sched_wake_sleepers(struct orr_sched *sched);
void orr_sched_wake_all(struct orr_runtime *rt);

/* A weight that the user has set, `otherwise` (with a warning) if that is no finite
 * number. */
double orr_sched_weight(const struct orr_runtime *rt, enum orr_config_id id,
                        double otherwise);

/* W of the idle machine (core/cost/power.h); 0 with a warning if the user has set no finite
 * number. */
double orr_sched_idle_power(const struct orr_runtime *rt);

/* The implementation with the lowest number among the bits, which are not 0. */
static inline uint8_t orr_first_implementation(unsigned bits)
{
    return (uint8_t)__builtin_ctz(bits);
}

/* µs until the job's data could be on the node, for decisions: an unknown bandwidth
 * counts as 0, a missing route as very long. */
double orr_sched_transfer_time(struct orr_runtime *rt,
                               const struct orr_job *job, unsigned node);

/* The same towards each of the nodes (bits): us[node]. */
void orr_sched_transfer_times(struct orr_runtime *rt, const struct orr_job *job,
                              uint64_t nodes, double *us);

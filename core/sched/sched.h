/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/sched.h - the interface of scheduling policies.
 *
 * A policy gets ready jobs by push and gives them out by pop. It is notified
 * when a job's data have arrived and when it has ended. One file per policy;
 * what they share is in toolbox.h. A user's struct starpu_sched_policy is
 * wrapped into the same table by user.c.
 *
 * A scheduling context (struct orr_sched) is a policy of its own with some of the
 * workers. A job belongs to one from its submission on; a policy sees no others
 * than its context's workers, since nobody else is able to run the context's
 * jobs (core/worker/members.h, core/cost/able.c). A worker may be in several. Which
 * ones there are, and who is in them: ctx.h.
 */
#pragma once

#include "core/base/error.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/sched/ctxs.h"
#include "core/worker/worker.h"

struct orr_sched;
struct orr_sched_said;
struct orr_worker;

/* Of what decisions by models count. */
enum orr_weight {
    ORR_WEIGHT_ALPHA,
    ORR_WEIGHT_BETA,
    ORR_WEIGHT_GAMMA,
    ORR_WEIGHT_IDLE_POWER
};

/* All entries but name, help, init, push and pop may be NULL. None blocks.
 * Several contexts may be inside at once on the real machine: the policy
 * locks (rank ORR_RANK_SCHED). No core lock is held by the caller. */
/* What a policy expects of a job on a worker. */
struct orr_expected {
    double end_us; /* NaN: it cannot run there, or how long it takes is not known */
    double cost;   /* what the policy makes least, as a difference to the earliest end */
};

struct orr_sched_ops {
    const char *name;
    const char *help;          /* one line for STARPU_SCHED=help */
    /* Written like an application's policy: the table is made of these, and has
     * nothing else itself. */
    struct starpu_sched_policy *hooks;
    bool unbounded_priorities; /* range INT_MIN…INT_MAX unless the user set
                                * it */
    int most_priority; /* else the range is from 0 to this one */
    bool by_priority;          /* jobs queued for a worker are popped by
                                * priority, then in the order of push */
    bool follows_memory; /* takes the jobs whose data are there: their numbers do not
                          * say which come first */
    bool combines; /* knows combined workers */
    bool indifferent; /* tasks without a model may pass it by, as it cares for
                       * their priority and age only */
    bool prefetches;           /* prefetches data itself at push */
    int (*init)(struct orr_sched *sched, struct orr_error *err);
    void (*deinit)(struct orr_sched *sched);
    /* Workers, ascending, have joined the context, or left it for good: they
     * pop no more. */
    void (*add_workers)(struct orr_sched *sched, int *ids, unsigned n);
    void (*remove_workers)(struct orr_sched *sched, int *ids, unsigned n);
    /* The workers that take tasks of the context have changed: queued jobs that were
     * left to one worker may have to be left to another one. May call can_execute; all
     * workers are woken afterwards. NULL: a worker that asks gets what it can run. */
    void (*refresh)(struct orr_sched *sched);
    /* A ready job, whose `queue` link is the policy's until pop. The policy wakes the
     * workers that should look, with orr_worker_wake. */
    int (*push)(struct orr_sched *sched, struct orr_job *job);
    /* The next job for the worker, NULL when there is none. Sets
     * job->implementation to one that the worker can run. */
    struct orr_job *(*pop)(struct orr_sched *sched, struct orr_worker *worker);
    /* A job that bypassed push (a specific worker): for bookkeeping. */
    void (*push_notify)(struct orr_sched *sched, struct orr_job *job,
                        struct orr_worker *worker);
    /* The job's data have arrived, its kernel starts. */
    void (*pre_exec)(struct orr_sched *sched, struct orr_job *job,
                     struct orr_worker *worker);
    /* The job's kernel has ended. */
    void (*post_exec)(struct orr_sched *sched, struct orr_job *job,
                      struct orr_worker *worker);
    /* A task was submitted, perhaps not ready yet. */
    void (*submitted)(struct orr_sched *sched, struct orr_job *job);
    /* The application will push nothing more for a while. */
    void (*do_schedule)(struct orr_sched *sched);
    /* What the policy compares to choose a worker for a job that is about to be pushed, an
     * element per worker; the first one with the least cost gets it. Chooses nothing. NULL:
     * it compares no times. */
    void (*compare)(struct orr_sched *sched, struct orr_job *job, struct orr_expected ret[]);
    /* The present value of a weight if `set` is NULL; else it becomes *set. */
    double (*weigh)(struct orr_sched *sched, enum orr_weight weight,
                    const double *set);
};

/* A worker's place in a scheduling context. */
struct orr_sched_worker {
    atomic_bool member;
    bool leaves;          /* [ctx.c] a member that is given no tasks any more */
    atomic_uint priority; /* contexts with higher ones are asked first */
    atomic_int ntasks;    /* that the policy has counted, of this worker */
    bool blocks;          /* [ctx.c] the context has it blocked */
    atomic_bool shares;   /* the policy keeps no tasks for it alone */
};

/* A scheduling context. What only the public functions need is in `said`. */
struct orr_sched {
    const struct orr_sched_ops *ops;
    struct orr_runtime *runtime;
    void *data; /* the policy's own */
    const char *argument; /* what follows its name and `=', or NULL; during init */
    int min_priority, max_priority;
    bool min_given, max_given; /* by the user */
    uint8_t id;                /* [const] its number */
    bool tracked;              /* [const] pushes are counted in `inside` */
    bool of_user;              /* [const] the policy is the application's: all
                                * of its hooks are */
    bool has_policy;           /* [const] else its tasks go to `master` */
    atomic_int master;         /* a processor that executes them, or -1 … */
    atomic_uint ncores;        /* … and how many they may use */
    atomic_uint inside;        /* contexts that use it, and may go on to do so when the
                                * last task has ended */
    atomic_bool changing;      /* contexts that would enter wait */
    /* how often a worker has become a member, or is none more */
    atomic_uint nmemberships;
    struct orr_lock lock;      /* rank ORR_RANK_SCHED, for the next two */
    unsigned changes;          /* [lock] of which workers take tasks */
    struct orr_list parked;    /* [lock] ready jobs that no worker here can run */
    struct orr_sched_worker *of_worker; /* the runtime's `places` */
    struct orr_sched_said *said;        /* owned, ctx.h */
};

/* The policies in the order of registration, NULL-terminated, and that of static=FILE:
 * core/policies, which are above all else that a policy may ask, fills these. */
extern const struct orr_sched_ops *const orr_sched_builtin[];
extern const struct orr_sched_ops orr_sched_static;

/* Of contexts without policy. */
extern const struct orr_sched_ops orr_sched_master;

/* The user's options for the scheduler. */
struct orr_sched_options {
    const char *name;                 /* of a policy, or NULL: the default */
    struct starpu_sched_policy *user; /* a user's policy instead, or NULL;
                                       * borrowed */
    int min_priority, max_priority;   /* if given */
    bool min_given, max_given;
    bool without_policy; /* tasks go to one processor, the others are blocked */
    uint8_t id;          /* number of the context */
};

/* Makes the runtime's scheduler ("help" for a name lists them; one beginning
 * with heft means dmda). Errors: -EINVAL for a name that is unknown, -ENOMEM,
 * with a message. */
int orr_sched_new(struct orr_runtime *rt,
                  const struct orr_sched_options *options,
                  struct orr_sched **ret, struct orr_error *err);
/* Ends its policy; then frees what is left. */
void orr_sched_deinit(struct orr_sched *sched);
void orr_sched_free(struct orr_sched *sched);

/* That of the job. */
static inline struct orr_sched *orr_sched_of(const struct orr_runtime *rt,
                                             const struct orr_job *job)
{
    return rt->sched_ctxs->at[job->sched_ctx];
}

/* A job became ready: charges the push cost, prefetches for policies that do
 * not, sends it to its worker or to the policy. */
void orr_sched_push(struct orr_runtime *rt, struct orr_job *job);

/* As above, but it was counted before: it was parked, or has changed its
 * context. */
void orr_sched_push_again(struct orr_runtime *rt, struct orr_job *job);

/* For policies whose push may find no worker: which ones were there, and enabled,
 * before it looked. */
struct orr_sched_state {
    unsigned changes, begun, over;
};
void orr_sched_look(struct orr_sched *sched, struct orr_sched_state *ret);

/* It has found none. If no worker can run the job now, the job is kept, and pushed once
 * more when other workers have come or one is enabled; if that is happening just now,
 * the policy tries once more. */
enum orr_kept { ORR_KEPT, ORR_TRY_AGAIN, ORR_NOT_KEPT };
enum orr_kept orr_sched_keep(struct orr_sched *sched, struct orr_job *job,
                             const struct orr_sched_state *state);

/* Ends the run, with a message, if only workers of lost devices could run the job,
 * which is ready. May ask the application's can_execute. */
void orr_sched_refuse_lost(struct orr_runtime *rt, struct orr_job *job);
static inline void orr_sched_check_lost(struct orr_runtime *rt,
                                        struct orr_job *job)
{
    if (atomic_load_explicit(&rt->nodes->lost, memory_order_relaxed))
        orr_sched_refuse_lost(rt, job);
}

/* The worker's next job: its local list first, then the policies of its contexts
 * in turn (pop.c). NULL when there is none. A worker that is about to park sets
 * `asleep`, looks once more with this, and parks only if there is still nothing: what is pushed later
 * then wakes it. */
struct orr_job *orr_sched_pop(struct orr_runtime *rt,
                              struct orr_worker *worker);

/* The worker's next job that follows others in its queue; NULL: there is none. */
struct orr_job *orr_sched_pop_behind(struct orr_runtime *rt,
                                     struct orr_worker *worker);

/* Puts a ready job in the worker's local list (before any policy), best
 * priority first and oldest first among equals, and wakes it. A task with a
 * workerorder gets there in its turn. */
void orr_worker_push_local(struct orr_worker *worker, struct orr_job *job,
                           bool prio);

/* A job with a workerorder has left the local list: the next one's turn. */
void orr_worker_next_turn_locked(struct orr_worker *worker)
    ORR_REQUIRES(worker->lock);

/* A task has left the scheduler: counted once. */
void orr_sched_popped(struct orr_runtime *rt, struct orr_job *job);

/* Notify the policy, if it has these hooks; all policies. */
static inline void orr_sched_submitted(struct orr_runtime *rt,
                                       struct orr_job *job)
{
    struct orr_sched *sched = orr_sched_of(rt, job);

    if (sched->ops->submitted)
        sched->ops->submitted(sched, job);
}
void orr_sched_do_schedule(struct orr_runtime *rt);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/sched.h - the interface of scheduling policies.
 *
 * A policy gets ready jobs by push and gives them out by pop. It is notified
 * when a job's data have arrived and when it has ended. One file per policy;
 * what they share is in toolbox.h. A user's struct starpu_sched_policy is
 * wrapped into the same table by user.c.
 */
#pragma once

#include "core/base/error.h"
#include "core/task/job.h"

struct orr_runtime;
struct orr_sched;
struct orr_worker;

/* All entries but name, help, init, push and pop may be NULL. None blocks.
 * Several contexts may be inside at once on the real machine: the policy
 * locks (rank ORR_RANK_SCHED). No core lock is held by the caller. */
struct orr_sched_ops {
    const char *name;
    const char *help;          /* one line for STARPU_SCHED=help */
    bool unbounded_priorities; /* range INT_MIN…INT_MAX unless the user set
                                * it */
    bool by_priority;          /* jobs queued for a worker are popped by
                                * priority, then in the order of push */
    bool prefetches;           /* prefetches data itself at push */
    int (*init)(struct orr_sched *sched, struct orr_error *err);
    void (*deinit)(struct orr_sched *sched);
    /* A ready job; the policy owns its `queue` link until pop. It wakes the
     * worker(s) that should look, with orr_worker_wake. */
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
};

struct orr_sched {
    const struct orr_sched_ops *ops;
    struct orr_runtime *runtime;
    void *data; /* the policy's own */
    int min_priority, max_priority;
    bool priorities_given; /* both bounds came from the user */
};

/* The policies in the order of registration, NULL-terminated. */
extern const struct orr_sched_ops *const orr_sched_builtin[];

#define ORR_PRIORITY_UNSET (-1)

/* The user's options for the scheduler. */
struct orr_sched_options {
    const char *name;                 /* of a policy, or NULL */
    struct starpu_sched_policy *user; /* a user's policy instead, or NULL;
                                       * borrowed */
    int min_priority, max_priority;   /* or ORR_PRIORITY_UNSET */
};

/* Makes the runtime's scheduler ("help" for a name lists them; one beginning
 * with heft means dmda). Errors: -EINVAL for a name that is unknown, -ENOMEM,
 * with a message. */
int orr_sched_new(struct orr_runtime *rt,
                  const struct orr_sched_options *options,
                  struct orr_sched **ret, struct orr_error *err);
void orr_sched_free(struct orr_sched *sched);

/* A job became ready: charges the push cost, prefetches for policies that do
 * not, sends it to its worker or to the policy. */
void orr_sched_push(struct orr_runtime *rt, struct orr_job *job);

/* The worker's next job: its local list first, then the policy. NULL when
 * there is none. A worker that is about to park sets `asleep`, looks once more
 * with this, and parks only if there is still nothing: what is pushed later
 * then wakes it. */
struct orr_job *orr_sched_pop(struct orr_runtime *rt,
                              struct orr_worker *worker);

/* Notify the policy, if it has these hooks. */
void orr_sched_submitted(struct orr_runtime *rt, struct orr_job *job);
void orr_sched_do_schedule(struct orr_runtime *rt);

/* As the policy's entries, which may be NULL. */
void orr_sched_pre_exec(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_worker *worker);
void orr_sched_post_exec(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_worker *worker);

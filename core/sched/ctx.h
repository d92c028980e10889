/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/ctx.h - scheduling contexts from outside: which ones there are, which
 * workers are in them, which are blocked. Any context; changes are made one after the
 * other.
 *
 * A worker that is taken out gets no new tasks of the context (core/worker/members.h)
 * but asks it until its policy has nothing left for it: what was queued for it runs.
 * One that is blocked ends likewise what it has, then rests; kernels that wait on it
 * may wait longer than that, and go on beside what has its processor. Tasks that no
 * worker can run meanwhile are parked, and pushed once more when that has changed.
 */
#pragma once

#include <starpu.h>

#include "core/sched/ctxs.h"
#include "core/sched/sched.h"

/* What the application says about a context, and only asks for again. */
struct orr_sched_said {
    const char *name;                        /* borrowed */
    struct starpu_worker_collection workers; /* the members */
    unsigned inheritor, parent;              /* NMAX: no parent */
    unsigned level;
    atomic_bool finished;        /* nothing more will be submitted */
    bool awake;                  /* as it was created */
    void *policy_data, *user_data;
    struct starpu_sched_tree *tree; /* of components, or NULL */
    void (*policy_init)(unsigned);
    void (*at_close)(unsigned, void *);
    void *at_close_arg;
    atomic_int bound_for; /* what the master is bound for: 0 nothing was said, 1
                           * kernels that are alone, 2 parallel ones */
    struct starpu_sched_policy policy; /* a copy of the application's */
    int nsms, first_sm;                /* part of a device, 0: all of it */
    int sub_ctxs[STARPU_NMAX_SCHED_CTXS], nsub_ctxs;
};

/* `policy`: the application's, or NULL; `tree`: its collection is a tree, even if it
 * asks for another one. NULL without memory. */
struct orr_sched_said *
orr_sched_said_new(const struct starpu_sched_policy *policy, bool tree);
void orr_sched_said_free(struct orr_sched_said *said);

/* The first context, with all workers; ends all there are. Main. */
int orr_sched_ctx_start(struct orr_runtime *rt,
                        const struct orr_sched_options *options,
                        struct orr_error *err);
void orr_sched_ctx_stop(struct orr_runtime *rt);

/* A context with the lowest free number, and its workers; of one without policy, waits
 * until those that are blocked rest. `prepare` is called before the workers come, to
 * fill `said` in, and may choose them: no other thread changes contexts meanwhile.
 * Errors: -EAGAIN, there are too many; those of orr_sched_new. */
int orr_sched_ctx_create(struct orr_runtime *rt,
                         struct orr_sched_options *options,
                         void (*prepare)(struct orr_sched *sched, void *arg),
                         void *arg, int *ids, unsigned *n, unsigned *ret_id,
                         struct orr_error *err);

/* Waits for its tasks; its workers go to its inheritor before. Blocks. */
void orr_sched_ctx_delete(struct orr_runtime *rt, unsigned id);

/* In a hook of a policy they are made when it has returned. */
void orr_sched_ctx_add(struct orr_runtime *rt, unsigned id, const int *ids,
                       unsigned n);
void orr_sched_ctx_remove(struct orr_runtime *rt, unsigned id, const int *ids,
                          unsigned n);

/* The worker, which is no member any more, has found nothing there: it leaves. False if
 * contexts are being changed just now. */
bool orr_sched_ctx_leave(struct orr_sched *sched, struct orr_worker *worker);

/* In `remove_workers`: the policy gives back a job that was queued for these workers
 * and that they have not taken. The job is pushed anew when they have left. */
void orr_sched_stray(struct orr_sched *sched, struct orr_job *job);

/* A worker has been enabled: jobs that no worker could run are pushed once more. */
void orr_sched_enabled(struct orr_runtime *rt);

/* Makes the changes that the caller asked for in hooks of policies, which have returned. */
void orr_sched_ctx_make_postponed(struct orr_runtime *rt);

static inline void orr_sched_ctx_make_changes(struct orr_runtime *rt)
{
    if (atomic_load_explicit(&rt->sched_ctxs->npostponed,
                             memory_order_relaxed) &&
        !orr_self->in_policy)
        orr_sched_ctx_make_postponed(rt);
}

/* A task of a context other than the first has ended. */
void orr_sched_ctx_task_ended(struct orr_runtime *rt, unsigned id);

/* The context without policy inside `parent` whose tasks the worker executes;
 * STARPU_NMAX_SCHED_CTXS: there is none. With STARPU_NMAX_SCHED_CTXS as parent: inside
 * of any context or of none. Nothing is deleted meanwhile: the caller is the worker,
 * which asks, or has the lock. */
unsigned orr_sched_ctx_child(const struct orr_runtime *rt, unsigned worker,
                             unsigned parent);

/* Whether the workers of one without policy are not blocked. */
static inline bool orr_sched_is_awake(const struct orr_sched *sched)
{
    return sched->said->awake;
}

/* Writes the contexts nested in one, ascending; returns how many. */
unsigned orr_sched_ctx_nested(struct orr_runtime *rt, unsigned parent,
                              unsigned ids[STARPU_NMAX_SCHED_CTXS]);

/* --- block.c --- */

/* The processors among the workers are to take no tasks: waits until they rest, unless
 * the caller may not block or is one of them. Blocks. */
void orr_sched_block(struct orr_runtime *rt, const int *ids, unsigned n);
void orr_sched_unblock(struct orr_runtime *rt, const int *ids, unsigned n);

/* One reason more, or less, for a worker to be blocked; whether that has changed
 * it. The caller changes contexts. */
bool orr_sched_count_block(struct orr_worker *worker, int change);

/* Waits until those of them that are blocked rest. */
void orr_sched_await_rest(struct orr_runtime *rt, const int *ids, unsigned n);

/* The worker is blocked and has ended what it had. */
void orr_sched_rests(struct orr_worker *worker);

/* Others wait, and then see which workers take tasks of the contexts. */
void orr_sched_ctx_lock(struct orr_runtime *rt);
void orr_sched_ctx_unlock(struct orr_runtime *rt);

/* After a change: makes known which workers take tasks of which context, and pushes
 * what was parked. No lock held; wakes the workers that may have something to do. */
void orr_sched_ctx_refresh(struct orr_runtime *rt);

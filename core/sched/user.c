/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/user.c - a policy that the application wrote: its hooks behind the table
 * of operations. They are called without locks and must not block (the context is
 * frozen meanwhile); the policy locks for itself. While a hook is on the stack of any
 * context the workers of the scheduling context stay as they are, so that hooks may
 * walk over them: a context that changes them waits, and lets no other one in meanwhile
 * (ctx.c).
 */
#include "core/sched/user.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/exec/runtime.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/gang.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

struct user_ops {
    struct orr_sched_ops ops;           /* first: sched->ops is the object */
    struct starpu_sched_policy *policy; /* borrowed */
};

static struct starpu_sched_policy *policy_of(const struct orr_sched *sched)
{
    return ((const struct user_ops *)sched->ops)->policy;
}

/* A hook may call functions that call hooks, so a context that is in a hook may enter
 * another one. */
static void user_hook_enter(struct orr_sched *sched)
{
    struct orr_context *self = orr_self;

    self->frozen++;
    atomic_fetch_add(&sched->inside, 1);
    while (atomic_load(&sched->changing) && !self->in_policy) {
        atomic_fetch_sub(&sched->inside, 1);
        /* Spins: the thread that changes the scheduling context does not wait, and a
         * hook may not. */
        ORR_SPIN_WHILE(atomic_load(&sched->changing));
        atomic_fetch_add(&sched->inside, 1);
    }
    self->in_policy++;
}

static void user_hook_leave(struct orr_sched *sched)
{
    struct orr_runtime *rt = sched->runtime;

    orr_self->in_policy--;
    atomic_fetch_sub(&sched->inside, 1);
    orr_self->frozen--;
    orr_sched_ctx_make_changes(rt);
}

/* The runtime's scheduler must be there for the hooks' own calls. */
static int user_init(struct orr_sched *sched, struct orr_error *err)
{
    struct starpu_sched_policy *policy = policy_of(sched);

    (void)err;
    sched->runtime->sched_ctxs->at[sched->id] = sched;
    user_hook_enter(sched);
    if (policy->init_sched)
        policy->init_sched(sched->id);
    user_hook_leave(sched);
    return 0;
}

static void user_add_workers(struct orr_sched *sched, int *ids, unsigned n)
{
    user_hook_enter(sched);
    policy_of(sched)->add_workers(sched->id, ids, n);
    user_hook_leave(sched);
}

static void user_remove_workers(struct orr_sched *sched, int *ids, unsigned n)
{
    user_hook_enter(sched);
    policy_of(sched)->remove_workers(sched->id, ids, n);
    user_hook_leave(sched);
}

static void user_deinit(struct orr_sched *sched)
{
    user_hook_enter(sched);
    if (policy_of(sched)->deinit_sched)
        policy_of(sched)->deinit_sched(sched->id);
    user_hook_leave(sched);
}

/* The policy has begun a gang for the task, and then returns the task itself, not its
 * aliases: one worker executes it. */
static void forget_gang(struct orr_job *job)
{
    if (orr_job_gang(job)->nmade == 0) {
        orr_gang_unmake(orr_job_gang(job));
        return;
    }
    orr_log_error(
        "the scheduling policy returns task `%s' itself although it has "
        "made aliases of it for several workers (starpu_task_dup): "
        "each of them gets one, the task goes to none",
        orr_job_name(job));
    abort();
}

/* A policy that never takes a task would be asked for ever. */
enum { MOST_PUSHES = 1000 };

/* Only the policy knows which worker takes the task, so all look. It has the task with
 * any result but -1, with which it is to be asked once more. */
static int user_push(struct orr_sched *sched, struct orr_job *job)
{
    unsigned n = 0;

    user_hook_enter(sched);
    while (policy_of(sched)->push_task(job->task) == -1 && ++n < MOST_PUSHES)
        ;
    if (n == MOST_PUSHES) {
        orr_log_error("scheduling policy `%s' does not take task `%s': its "
                      "push_task has returned -1, which asks for another try, "
                      "%d times",
                      sched->ops->name, orr_job_name(job), MOST_PUSHES);
        orr_runtime_fail(sched->runtime);
    }
    orr_sched_wake_members(sched);
    user_hook_leave(sched);
    return 0;
}

static struct orr_job *user_pop(struct orr_sched *sched,
                                struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct starpu_task *task;
    struct orr_job *job;
    unsigned bits;

    if (!policy_of(sched)->pop_task) /* it uses the workers' own lists */
        return NULL;
    user_hook_enter(sched);
    task = policy_of(sched)->pop_task(sched->id);
    user_hook_leave(sched);
    if (!task)
        return NULL;
    job = orr_job_of(task);
    if (orr_job_gang(job) && orr_job_gang(job)->job == job)
        forget_gang(job);
    if (orr_job_gang(job))
        return job;
    bits = orr_job_able(rt, job, orr_job_row(rt, job), worker->id);
    if (bits && !(bits >> job->implementation & 1))
        job->implementation = orr_first_implementation(bits);
    return job;
}

static void user_push_notify(struct orr_sched *sched, struct orr_job *job,
                             struct orr_worker *worker)
{
    int perf =
        orr_job_gang(job) ? orr_job_gang(job)->combined : (int)worker->id;

    user_hook_enter(sched);
    policy_of(sched)->push_task_notify(job->task, (int)worker->id, perf,
                                       sched->id);
    user_hook_leave(sched);
}

static void user_pre_exec(struct orr_sched *sched, struct orr_job *job,
                          struct orr_worker *worker)
{
    (void)worker;
    user_hook_enter(sched);
    policy_of(sched)->pre_exec_hook(job->task, sched->id);
    user_hook_leave(sched);
}

static void user_post_exec(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    (void)worker;
    user_hook_enter(sched);
    policy_of(sched)->post_exec_hook(job->task, sched->id);
    user_hook_leave(sched);
}

static void user_submitted(struct orr_sched *sched, struct orr_job *job)
{
    user_hook_enter(sched);
    policy_of(sched)->submit_hook(job->task);
    user_hook_leave(sched);
}

static void user_do_schedule(struct orr_sched *sched)
{
    user_hook_enter(sched);
    policy_of(sched)->do_schedule(sched->id);
    orr_sched_wake_members(sched);
    user_hook_leave(sched);
}

int orr_sched_user_new(struct starpu_sched_policy *policy,
                       const struct orr_sched_ops **ret, struct orr_error *err)
{
    const char *name = policy->policy_name ? policy->policy_name : "user";
    struct user_ops *user;

    if (!policy->push_task)
        return orr_fail(err, -EINVAL, "scheduling policy `%s' lacks push_task",
                        name);
    user = calloc(1, sizeof(*user));
    if (!user)
        return orr_fail(err, -ENOMEM, "%s: out of memory", name);
    user->policy = policy;
    user->ops = (struct orr_sched_ops){
        .name = name,
        .help = policy->policy_description ? policy->policy_description : "",
        .prefetches = policy->prefetches != 0,
        .init = user_init,
        .deinit = user_deinit,
        .add_workers = policy->add_workers ? user_add_workers : NULL,
        .remove_workers = policy->remove_workers ? user_remove_workers : NULL,
        .push = user_push,
        .pop = user_pop,
        .push_notify = policy->push_task_notify ? user_push_notify : NULL,
        .pre_exec = policy->pre_exec_hook ? user_pre_exec : NULL,
        .post_exec = policy->post_exec_hook ? user_post_exec : NULL,
        .submitted = policy->submit_hook ? user_submitted : NULL,
        .do_schedule = policy->do_schedule ? user_do_schedule : NULL,
    };
    *ret = &user->ops;
    return 0;
}

bool orr_sched_user_free(const struct orr_sched_ops *ops)
{
    union {
        const struct orr_sched_ops *lent;
        void *owned;
    } alias = {.lent = ops};

    if (!ops || ops->init != user_init)
        return false;
    free(alias.owned);
    return true;
}

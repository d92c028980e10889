/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/user.c - a policy that the application wrote: its hooks behind the
 * table of operations. They are called without locks and must not block (the
 * context is frozen meanwhile); the policy locks for itself. Context numbers
 * are 0: there is one scheduling context.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/runtime.h"
#include "core/sched/policies.h"
#include "core/sched/toolbox.h"

#define MAIN_CONTEXT 0

struct user_ops {
    struct orr_sched_ops ops;           /* first: sched->ops is the object */
    struct starpu_sched_policy *policy; /* borrowed */
};

static struct starpu_sched_policy *policy_of(const struct orr_sched *sched)
{
    return ((const struct user_ops *)sched->ops)->policy;
}

static void freeze(void)
{
    orr_self->frozen++;
}

static void thaw(void)
{
    orr_self->frozen--;
}

/* add_workers or remove_workers with all of them. */
static int call_with_workers(struct orr_sched *sched,
                             void (*hook)(unsigned, int *, unsigned))
{
    unsigned n = sched->runtime->nworkers;
    int *ids;

    if (!hook)
        return 0;
    ids = malloc(n * sizeof(*ids));
    if (!ids)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        ids[i] = (int)i;
    hook(MAIN_CONTEXT, ids, n);
    free(ids);
    return 0;
}

/* The runtime's scheduler must be there for the hooks' own calls. */
static int user_init(struct orr_sched *sched, struct orr_error *err)
{
    struct starpu_sched_policy *policy = policy_of(sched);
    int code;

    freeze();
    sched->runtime->sched = sched;
    if (policy->init_sched)
        policy->init_sched(MAIN_CONTEXT);
    code = call_with_workers(sched, policy->add_workers);
    if (code && policy->deinit_sched)
        policy->deinit_sched(MAIN_CONTEXT);
    if (code)
        sched->runtime->sched = NULL;
    thaw();
    if (code)
        return orr_fail(err, code, "%s: out of memory", sched->ops->name);
    return 0;
}

static void user_deinit(struct orr_sched *sched)
{
    struct starpu_sched_policy *policy = policy_of(sched);

    freeze();
    /* Without memory the hook is not called: the policy ends all the same. */
    (void)call_with_workers(sched, policy->remove_workers);
    if (policy->deinit_sched)
        policy->deinit_sched(MAIN_CONTEXT);
    thaw();
}

/* Only the policy knows which worker takes the task: all look. Its result has
 * no agreed meaning, and the policy owns the task in any case. */
static int user_push(struct orr_sched *sched, struct orr_job *job)
{
    freeze();
    (void)policy_of(sched)->push_task(job->task);
    thaw();
    orr_sched_wake_all(sched->runtime);
    return 0;
}

static struct orr_job *user_pop(struct orr_sched *sched,
                                struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct starpu_task *task;
    struct orr_job *job;
    unsigned bits;

    freeze();
    task = policy_of(sched)->pop_task(MAIN_CONTEXT);
    thaw();
    if (!task)
        return NULL;
    job = orr_job_of(task);
    bits = orr_job_able(rt, job, orr_job_costs(rt, job), worker->id);
    if (bits && !(bits >> job->implementation & 1))
        job->implementation = orr_first_implementation(bits);
    return job;
}

static void user_push_notify(struct orr_sched *sched, struct orr_job *job,
                             struct orr_worker *worker)
{
    freeze();
    policy_of(sched)->push_task_notify(job->task, (int)worker->id,
                                       (int)worker->id, MAIN_CONTEXT);
    thaw();
}

static void user_pre_exec(struct orr_sched *sched, struct orr_job *job,
                          struct orr_worker *worker)
{
    (void)worker;
    freeze();
    policy_of(sched)->pre_exec_hook(job->task, MAIN_CONTEXT);
    thaw();
}

static void user_post_exec(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    (void)worker;
    freeze();
    policy_of(sched)->post_exec_hook(job->task, MAIN_CONTEXT);
    thaw();
}

static void user_submitted(struct orr_sched *sched, struct orr_job *job)
{
    freeze();
    policy_of(sched)->submit_hook(job->task);
    thaw();
}

static void user_do_schedule(struct orr_sched *sched)
{
    freeze();
    policy_of(sched)->do_schedule(MAIN_CONTEXT);
    thaw();
    orr_sched_wake_all(sched->runtime);
}

int orr_sched_user_new(struct starpu_sched_policy *policy,
                       const struct orr_sched_ops **ret, struct orr_error *err)
{
    const char *name = policy->policy_name ? policy->policy_name : "user";
    struct user_ops *user;

    if (!policy->push_task || !policy->pop_task)
        return orr_fail(err, -EINVAL,
                        "scheduling policy `%s' lacks push_task or pop_task",
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

void orr_sched_user_free(const struct orr_sched_ops *ops)
{
    union {
        const struct orr_sched_ops *lent;
        void *owned;
    } alias = {.lent = ops};

    if (ops && ops->init == user_init)
        free(alias.owned);
}

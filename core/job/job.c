/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/job.c - jobs: memory, dependencies between them, the way from
 * submission to its end. core/data/release.c has how one goes on.
 */
#include "core/job/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/cost/row.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/nest.h"
#include "core/job/tasks.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

/* Of so many accesses; of more they are malloc's. */
#define MOST_SLOTS 4u

/* What a program has of a million tasks that wait. */
static_assert(sizeof(struct starpu_task) + sizeof(struct orr_job) +
                      2 * sizeof(struct orr_access) <=
                  880,
              "a task of two buffers that waits takes so many bytes");

struct orr_job *orr_job_new(struct orr_runtime *rt,
                            const struct orr_job_type *type, unsigned naccesses)
{
    unsigned wanted = naccesses + type->is_own;
    unsigned slots = wanted > MOST_SLOTS ? type->is_own : wanted;
    struct orr_job *job = orr_slab_get_zeroed(rt->slabs->jobs[slots]);

    if (!job)
        return NULL;
    orr_lock_init(&job->lock, ORR_RANK_JOB);
    job->type = type;
    job->slots = (uint8_t)(slots - type->is_own);
    job->has_memory = rt->slabs->jobs_have_memory;
    job->slab = (uint8_t)slots;
    if (job->has_memory)
        orr_job_memory(job)->job = job;
    job->accesses = job->inside;
    job->worker = -1;
    atomic_init(&job->waiting, 1);
    atomic_init(&job->ending, 1);
    atomic_init(&job->refs, 1);
    if (naccesses <= job->slots) {
        job->naccesses = (uint16_t)naccesses;
        return job;
    }
    if (orr_job_reserve(job, naccesses) == 0)
        return job;
    orr_job_unref(rt, job);
    return NULL;
}

int orr_job_reserve(struct orr_job *job, unsigned n)
{
    if (n > job->slots && n > job->naccesses) {
        struct orr_access *accesses =
            calloc(n, sizeof(*accesses) + sizeof(struct orr_promise));

        if (!accesses)
            return -ENOMEM;
        if (job->accesses != job->inside)
            free(job->accesses);
        job->accesses = accesses;
    }
    job->naccesses = (uint16_t)n;
    return 0;
}

void orr_job_ref(struct orr_job *job)
{
    atomic_fetch_add_explicit(&job->refs, 1, memory_order_relaxed);
}

void orr_job_unref(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_unref_n(rt, job, 1);
}

void orr_job_free_parts(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_rare(job);

    if (job->accesses != job->inside)
        free(job->accesses);
    if (!rare)
        return;
    orr_job_avoid(rt, job, 0);
    orr_nest_unref(rare->around);
    orr_nest_unref(rare->nest);
    free(rare->memory);
    free(rare);
}

void orr_job_unref_n(struct orr_runtime *rt, struct orr_job *job, unsigned n)
{
    if (!orr_job_is_ours(job, n) &&
        atomic_fetch_sub_explicit(&job->refs, n, memory_order_acq_rel) != n)
        return;
    assert(!job->successors);
    /* So orr_slab_each's visitors tell it from one that is in use. */
    atomic_store_explicit(&job->refs, 0, memory_order_relaxed);
    if (job->accesses != job->inside || orr_job_rare(job)) {
        assert(!orr_job_rare(job) || !orr_job_rare(job)->waiters.last);
        orr_job_free_parts(rt, job);
    }
    orr_slab_put(rt->slabs->jobs[job->slab], job);
}

struct orr_job_rare *orr_job_make_rare(struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_rare(job), *fresh;

    if (rare)
        return rare;
    fresh = calloc(1, sizeof(*fresh));
    /* Another context may be faster, which needs it for something else. */
    if (!fresh || atomic_compare_exchange_strong(&job->rare, &rare, fresh))
        return fresh;
    free(fresh);
    return rare;
}

struct orr_job_memory *orr_job_make_memory(struct orr_job *job)
{
    struct orr_job_memory *memory = orr_job_memory(job);
    struct orr_job_rare *rare;

    if (!memory) {
        rare = orr_job_make_rare(job);
        memory = rare ? calloc(1, sizeof(*memory)) : NULL;
        if (memory)
            rare->memory = memory;
    }
    if (memory)
        memory->job = job;
    return memory;
}

void orr_job_avoid(struct orr_runtime *rt, struct orr_job *job, uint64_t nodes)
{
    struct orr_job_rare *rare =
        nodes ? orr_job_make_rare(job) : orr_job_rare(job);

    if (!rare && nodes) {
        orr_log_error(
            "out of memory while task `%s' is given to another worker",
            orr_job_name(job));
        orr_runtime_fail(rt);
    }
    if (orr_job_avoided(job) == nodes)
        return;
    if (!rare->avoids != !nodes)
        atomic_fetch_add(&rt->workers->knobs.ndisabled, nodes ? 1 : -1U);
    rare->avoids = nodes;
}

struct orr_job *orr_job_new_of(struct orr_runtime *rt, struct starpu_task *task)
{
    struct orr_job *job =
        orr_job_new(rt, &orr_job_empty,
                    task->cl ? (unsigned)STARPU_TASK_GET_NBUFFERS(task) : 0);

    if (job)
        job->task = task;
    return job;
}

struct orr_job *orr_job_get(struct orr_runtime *rt, struct starpu_task *task)
{
    void *job = orr_job_of(task);
    struct orr_job *made;

    if (job)
        return job;
    made = orr_job_new_of(rt, task);
    /* Of several threads that need it first, one has made it; pairs with
     * orr_job_of. */
    if (!made ||
        __atomic_compare_exchange_n(&task->starpu_private, &job, made, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    orr_job_unref(rt, made);
    return job;
}

void orr_job_show(struct orr_job *job)
{
    struct starpu_task *task = job->task;

    job->plain = 0;
    task->status = STARPU_TASK_RUNNING;
    task->scheduled = 1;
    task->workerid = (unsigned)job->worker;
}

int orr_job_add_dep(struct orr_runtime *rt, struct orr_job *job,
                    struct orr_job *before)
{
    struct orr_edge *edge;

    if (before == job)
        return -EINVAL;
    edge = orr_slab_get(rt->slabs->edges);
    if (!edge)
        return -ENOMEM;
    edge->job = job;
    edge->holds = !orr_job_is_submitted(job);
    edge->leads = false;
    /* Without memory it follows nobody. */
    if (edge->holds && job->task &&
        (job->task->execute_on_a_specific_worker || rt->tasks->follow_placed))
        (void)orr_job_make_rare(job);
    orr_lock(&before->lock);
    if (orr_job_state(before) == ORR_JOB_DONE) {
        orr_unlock(&before->lock);
        orr_slab_put(rt->slabs->edges, edge);
        return 0;
    }
    if (edge->holds)
        orr_job_ref(job);
    atomic_fetch_add_explicit(&job->waiting, 1, memory_order_relaxed);
    edge->next = before->successors;
    before->successors = edge;
    if (atomic_load(&before->data.follow) & ORR_LEADS)
        orr_edge_lead_locked(edge, before);
    orr_unlock(&before->lock);
    return 0;
}

void orr_edge_lead_locked(struct orr_edge *edge, const struct orr_job *before)
{
    struct orr_job_rare *rare = orr_job_rare(edge->job);
    unsigned worker = (unsigned)before->worker;

    if (edge->leads || !rare)
        return;
    edge->leads = true;
    atomic_fetch_or(&rare->led.workers[worker / 64], UINT64_C(1) << worker % 64);
    atomic_fetch_add(&rare->led.n, 1);
}

void orr_job_number(struct orr_runtime *rt, struct orr_job *job)
{
    if (!job->id)
        job->id = atomic_fetch_add_explicit(&rt->tasks->last_job, 1,
                                            memory_order_relaxed) +
                  1;
}

void orr_job_arrive(struct orr_runtime *rt, struct orr_job *job)
{
    const struct orr_job_type *type = job->type;
    int worker = job->worker;
    bool aside = job->data.aside;

    if (!orr_count_off(&job->data.pending, 1))
        return;
    if (aside)
        type->resumed(rt, job);
    else
        type->arrived(rt, job, worker);
}

static void job_describe_awaited(const struct orr_awaited *awaited, char *text,
                                 size_t size)
{
    const struct orr_job *job = awaited->object;

    snprintf(text, size, "task `%.80s' (number %llu)", orr_job_name(job),
             (unsigned long long)job->id);
}

/* Without memory for that the program ends. */
static struct orr_job_rare *make_rare_to_wait(struct orr_runtime *rt,
                                              struct orr_job *job)
{
    struct orr_job_rare *rare = orr_job_make_rare(job);

    if (rare)
        return rare;
    orr_log_error("out of memory while task `%s' is waited for",
                  orr_job_name(job));
    orr_runtime_fail(rt);
}

void orr_job_wait(struct orr_runtime *rt, struct orr_job *job)
{
    const struct orr_awaited awaited = {
        .noun = "a task", .describe = job_describe_awaited, .object = job};
    struct orr_job_rare *rare = make_rare_to_wait(rt, job);
    struct orr_waiter waiter;

    orr_runtime_let_go(rt);
    orr_lock(&job->lock);
    if (job->ended) {
        orr_unlock(&job->lock);
        return;
    }
    orr_waiters_add(&rare->waiters, &waiter);
    orr_unlock(&job->lock);
    orr_await(rt, &waiter, &awaited);
}

void orr_job_await_call(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_waiter *waiter)
{
    struct orr_job_rare *rare = make_rare_to_wait(rt, job);

    orr_waiter_init(waiter);
    rare->has_caller = true;
    atomic_store(&rare->caller, waiter);
}

void orr_job_wait_called(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_waiter *waiter)
{
    const struct orr_awaited awaited = {.noun = "the function of a task",
                                        .describe = job_describe_awaited,
                                        .object = job};

    orr_runtime_let_go(rt);
    orr_await(rt, waiter, &awaited);
}

const char *orr_job_name(const struct orr_job *job)
{
    const struct starpu_task *task = job->task;

    if (!task)
        return "data acquisition";
    if (task->name)
        return task->name;
    if (!task->cl)
        return "empty task";
    if (task->cl->name)
        return task->cl->name;
    if (task->cl->model && task->cl->model->symbol)
        return task->cl->model->symbol;
    return job->costs ? job->costs->called : "unnamed task";
}

void orr_job_check(const struct orr_job *job)
{
    enum orr_job_state state = orr_job_state(job);

    ORR_CHECK(state <= ORR_JOB_DONE);
    ORR_CHECK(job->refs > 0);
    ORR_CHECK(job->waiting >= 0 && job->ending >= 0 && job->data.pending >= 0);
    ORR_CHECK(job->accesses == job->inside || job->naccesses > job->slots);
    ORR_CHECK(state == ORR_JOB_NEW || state == ORR_JOB_BLOCKED ||
              job->waiting == 0 || job->data.follow);
    ORR_CHECK((state == ORR_JOB_CLAIMING) ==
              (job->claims.state == ORR_CLAIM_CLAIMING));
    ORR_CHECK(state != ORR_JOB_DONE || !job->successors);
    for (unsigned i = 0; state != ORR_JOB_NEW && i < job->naccesses; i++) {
        ORR_CHECK(job->accesses[i].job == job);
        ORR_CHECK(job->accesses[i].handle);
    }
}

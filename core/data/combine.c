/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/combine.c - the end of a phase of a reduction. It begins when a job wants
 * the handle for something else than a contribution, while no job holds it and partials
 * are left: the context that finds this claims the handle for the combination. A
 * combination is a tree of tasks with the redux codelet over the handle's own value, if
 * it has one, and the partials in the order of their workers, and a last job that gives
 * the handle back. In step s = 1, 2, 4 ... each value whose number is a multiple of 2s
 * takes up the one that is s behind it. Without own value the sum ends in the first
 * partial and is copied from there, on its node. Where there is nothing to add up the
 * tree is one task with the init codelet.
 *
 * The tasks are like others to policies, models and traces, but the handle and the
 * partials are lent to them: they have no place in any order and claim nothing.
 * Declared dependencies say which of them comes after which, so that sums are the same
 * in each run with equal partials.
 *
 * Why this cannot deadlock, as claim.c's argument goes on: a combination holds one
 * handle and waits for no claim, so that it is like a ready job. It has started when
 * its handle was free, hence behind no job, and its tasks wait for one another along
 * the steps only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/plan.h"
#include "core/data/private.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "core/data/within.h"
#include "core/device/driver.h"
#include "core/device/methods.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/task/end.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

/* How often a copy of the sum that failed is made once more. */
enum { MAX_TRIES = 2 };

/* One of the values to be added, and the last task so far that writes it. */
struct term {
    struct orr_handle *handle;
    struct orr_job *last; /* NULL: none; referenced by its task */
};

struct sum {
    struct orr_handle *handle;
    int priority;
    bool begins; /* there is nothing to add up: the first value is made */
    unsigned nterms, ntasks;
    struct term *terms;         /* owned */
    struct starpu_task **tasks; /* owned; nterms - 1 of them in the end */
};

static _Noreturn void combine_fail(const struct sum *sum, int err)
{
    const struct orr_handle *handle = sum->handle;
    const struct orr_reduction *reduction = handle->reduction;
    const struct starpu_codelet *cl =
        sum->begins ? reduction->init : reduction->redux;

    if (err == -ENODEV)
        orr_log_error("no worker can run the %s codelet `%s' of %s: give "
                      "it a function for some worker of this "
                      "machine, and a performance model if it is simulated",
                      sum->begins ? "init" : "redux", cl->name ? cl->name : "?",
                      orr_handle_label(handle).text);
    else
        orr_log_error("out of memory while %s is reduced",
                      orr_handle_label(handle).text);
    orr_runtime_fail(handle->runtime);
}

/* --- the end --- */

/* The workers' next contributions begin anew. */
static void empty_partials(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_handle *partial =
            orr_private_find(handle, ORR_PRIVATE_PARTIAL, w);
        uint64_t nodes;

        if (!partial || !partial->valid)
            continue;
        orr_lock(&partial->lock);
        orr_handle_outdate_locked(partial, 0);
        nodes = partial->allocated;
        orr_unlock(&partial->lock);
        for (; nodes; nodes &= nodes - 1)
            orr_node_freed(rt, (unsigned)__builtin_ctzll(nodes));
    }
}

/* Gives the handle back. */
static void combine_end(struct orr_handle *handle)
{
    struct orr_list ready, *link;

    empty_partials(handle);
    orr_list_init(&ready);
    orr_lock(&handle->lock);
    orr_handle_forget_partials_locked(handle);
    handle->claims.n--;
    orr_unlock(&handle->lock);
    orr_handle_serve(handle, &ready);
    while ((link = orr_list_pop(&ready)) != NULL) {
        struct orr_job *job = orr_container(link, struct orr_job, queue);

        job->type->ready(handle->runtime, job);
    }
    orr_handle_leave(handle);
}

/* Within the node. One that failed is made once more, as copies between nodes are. */
static void copy_sum(struct orr_runtime *rt, void *arg)
{
    const struct orr_job *job = arg;
    struct orr_handle *handle = orr_job_own(job)->arg;
    unsigned node = orr_job_own(job)->node;
    int rc = -EIO;

    for (unsigned tries = 0; rc == -EIO && tries <= MAX_TRIES; tries++) {
        rc = orr_copy_by_methods(
            rt->machine, handle->ops,
            orr_access_datum(&job->accesses[1])->replicates[node].interface,
            node, handle->replicates[node].interface, node, NULL);
        if (rc == 0)
            return;
        orr_log_warning(
            "%s: the copy of %s within %s, %zu bytes, failed: %s%s",
            orr_machine_copier(rt->machine, node, node)->ops->name,
            orr_handle_label(handle).text, rt->machine->nodes[node].name,
            handle->size, rc == -ENODEV ? "the device is lost" : strerror(-rc),
            rc == -EIO && tries < MAX_TRIES ? "; it is made once more" : "");
    }
    orr_log_error("the sum of a reduction, that of %s, could not be copied on "
                  "%s: it is lost",
                  orr_handle_label(handle).text, rt->machine->nodes[node].name);
    orr_runtime_fail(rt);
}

static void end_sum(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_handle *handle = orr_job_own(job)->arg;

    orr_job_set_state(job, ORR_JOB_RUNNING);
    orr_job_complete(rt, job);
    combine_end(handle);
}

static void sum_copied(struct orr_runtime *rt, void *arg)
{
    struct orr_job *job = arg;
    struct orr_handle *handle = orr_job_own(job)->arg;

    orr_lock(&handle->lock);
    handle->unreal = !rt->machine->runs_kernels;
    orr_unlock(&handle->lock);
    orr_job_drop_data(rt, job);
    end_sum(rt, job);
}

/* The last job: it copies the sum if it has accesses, to the handle and from
 * the first partial. */
static void sum_arrived(struct orr_runtime *rt, struct orr_job *job, int worker)
{
    const struct orr_handle *handle = orr_job_own(job)->arg;

    (void)worker;
    if (!job->naccesses) {
        end_sum(rt, job);
        return;
    }
    orr_job_take_data(rt, job, orr_job_own(job)->node);
    orr_copy_within(rt, orr_job_own(job)->node, handle->size, 0, copy_sum,
                    sum_copied, job);
}

/* On the node where the sum is: main memory if it is there, too. */
static unsigned node_of_sum(const struct orr_job *job)
{
    uint64_t valid = job->accesses[1].handle->valid;
    unsigned base = orr_handle_base(job->accesses[0].handle);

    return valid >> base & 1 ? base : (unsigned)__builtin_ctzll(valid);
}

static void sum_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (job->naccesses)
        orr_job_own(job)->node = node_of_sum(job);
    if (orr_job_fetch(rt, job, orr_job_own(job)->node))
        sum_arrived(rt, job, -1);
}

static const struct orr_job_type job_sum = {
    .ready = sum_ready,
    .arrived = sum_arrived,
    .is_own = true,
};

static struct orr_job *new_end(const struct sum *sum)
{
    struct orr_runtime *rt = sum->handle->runtime;
    bool copies = sum->terms[0].handle != sum->handle;
    struct orr_job *job = orr_job_new(rt, &job_sum, copies ? 2 : 0);

    if (!job)
        return NULL;
    orr_job_own(job)->arg = sum->handle;
    for (unsigned i = 0; i < job->naccesses; i++)
        job->accesses[i] = (struct orr_access){
            .job = job,
            .handle = i ? sum->terms[0].handle : sum->handle,
            .mode = i ? STARPU_R : STARPU_W,
            .index = (uint16_t)i,
            .lent = 1,
        };
    return job;
}

/* --- the tree --- */

/* A task that makes or changes the term. NULL without memory. */
static struct starpu_task *new_task(struct sum *sum, struct term *to,
                                    struct starpu_codelet *cl, void *arg)
{
    struct orr_runtime *rt = sum->handle->runtime;
    struct starpu_task *task = orr_task_new(rt);

    if (!task)
        return NULL;
    sum->tasks[sum->ntasks++] = task;
    task->cl = cl;
    task->cl_arg = arg;
    task->priority = sum->priority;
    STARPU_TASK_SET_HANDLE(task, orr_handle_public(to->handle), 0);
    return task;
}

/* Makes the task and what it waits for; does not submit it. */
static int combine_add_task(struct sum *sum, struct term *to,
                            const struct term *from)
{
    struct orr_runtime *rt = sum->handle->runtime;
    const struct orr_reduction *reduction = sum->handle->reduction;
    struct starpu_task *task =
        new_task(sum, to, reduction->redux, reduction->redux_arg);
    struct orr_job *job;

    if (!task)
        return -ENOMEM;
    STARPU_TASK_SET_HANDLE(task, orr_handle_public(from->handle), 1);
    job = orr_job_get(rt, task);
    if (!job || (to->last && orr_job_add_dep(rt, job, to->last) != 0) ||
        (from->last && orr_job_add_dep(rt, job, from->last) != 0))
        return -ENOMEM;
    to->last = job;
    return 0;
}

/* The only term is the handle's value, which the init codelet makes. */
static int make_first(struct sum *sum)
{
    const struct orr_reduction *reduction = sum->handle->reduction;
    struct term *term = &sum->terms[sum->nterms++];
    struct starpu_task *task;

    sum->begins = true;
    term->handle = sum->handle;
    task = new_task(sum, term, reduction->init, reduction->init_arg);
    term->last = task ? orr_job_get(sum->handle->runtime, task) : NULL;
    return term->last ? 0 : -ENOMEM;
}

static int combine_make_tree(struct sum *sum)
{
    int err = 0;

    for (unsigned step = 1; step < sum->nterms; step *= 2)
        for (unsigned i = 0; !err && i + step < sum->nterms; i += 2 * step)
            err = combine_add_task(sum, &sum->terms[i], &sum->terms[i + step]);
    return err;
}

/* The handle is ours: its value and the partials stand still. */
static int find_terms(struct sum *sum)
{
    struct orr_handle *handle = sum->handle;
    struct orr_runtime *rt = handle->runtime;

    sum->terms = calloc(rt->workers->n + 1, sizeof(*sum->terms));
    sum->tasks = calloc(rt->workers->n + 1, sizeof(struct starpu_task *));
    if (!sum->terms || !sum->tasks)
        return -ENOMEM;
    if (handle->valid)
        sum->terms[sum->nterms++].handle = handle;
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_handle *partial =
            orr_private_find(handle, ORR_PRIVATE_PARTIAL, w);

        if (partial && partial->valid)
            sum->terms[sum->nterms++].handle = partial;
    }
    return 0;
}

void orr_handle_combine(struct orr_handle *handle, int priority)
{
    struct sum sum = {.handle = handle, .priority = priority};
    struct orr_runtime *rt = handle->runtime;
    struct orr_job *last = NULL;
    int err = find_terms(&sum);

    if (!err)
        err = sum.nterms ? combine_make_tree(&sum) : make_first(&sum);
    if (!err && !(last = new_end(&sum)))
        err = -ENOMEM;
    if (!err && sum.terms[0].last)
        err = orr_job_add_dep(rt, last, sum.terms[0].last);
    for (unsigned i = 0; !err && i < sum.ntasks; i++)
        err = orr_task_submit_own(rt, sum.tasks[i], true);
    if (err)
        combine_fail(&sum, err);
    free(sum.terms);
    free(sum.tasks);
    orr_job_set_state(last, ORR_JOB_BLOCKED);
    orr_job_order(rt, last, orr_job_sort_accesses(last));
    orr_job_release(rt, last);
}

/* --- for want of memory --- */

/* Whether one of the handle's partials has its value, and memory, on the node. */
static bool has_partial_on(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock)
{
    for (unsigned w = 0; w < handle->runtime->workers->n; w++) {
        const struct orr_handle *partial =
            orr_private_find(handle, ORR_PRIVATE_PARTIAL, w);

        if (partial && partial->valid >> node & 1)
            return true;
    }
    return false;
}

/* Becomes a user of a handle whose partials take the memory that is wanted there. A
 * handle that is locked is left out. */
static bool try_hurry(struct orr_handle *handle, unsigned node)
{
    bool result;

    if (!handle->reduction || !orr_trylock(&handle->lock))
        return false;
    result = orr_handle_has_partials_locked(handle) && !handle->dying &&
             !handle->reduction->hurried && has_partial_on(handle, node);
    if (result) {
        handle->reduction->hurried = true;
        handle->nusers++;
    }
    orr_unlock(&handle->lock);
    return result;
}

/* With the runtime's lock, by which none is freed. */
static struct orr_handle *find_hurried(struct orr_runtime *rt, unsigned node)
{
    struct orr_handle *found = NULL;

    orr_lock(&rt->lock);
    orr_list_foreach (link, &rt->data->handles) {
        found = orr_container(link, struct orr_handle, all);
        if (try_hurry(found, node))
            break;
        found = NULL;
    }
    orr_unlock(&rt->lock);
    return found;
}

bool orr_node_combine(struct orr_runtime *rt, unsigned node)
{
    struct orr_handle *handle;
    bool any = false;

    while (atomic_load_explicit(&rt->data->nreduced, memory_order_relaxed) &&
           (handle = find_hurried(rt, node))) {
        orr_data_combine_early(rt, handle);
        orr_handle_leave(handle);
        any = true;
    }
    return any;
}

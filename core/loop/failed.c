/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/failed.c - see failed.h. A job avoids the nodes where it has failed. When
 * there is no other worker left, it is tried a few times where it was.
 */
#include "core/loop/failed.h"

#include <errno.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/lost.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"

/* How often a kernel that has failed is tried where no other worker can run it. */
enum { MAX_RETRIES = 2 };

static _Noreturn void fail_for_want_of_worker(struct orr_runtime *rt,
                                              const struct orr_worker *worker,
                                              const struct orr_job *job)
{
    bool bound = job->task && job->task->execute_on_a_specific_worker;

    orr_log_error("task `%s' (number %llu) failed on %s, and no other worker "
                  "can run it: %s",
                  orr_job_name(job), (unsigned long long)job->id,
                  worker->desc->name,
                  bound ? "it was submitted for this one only "
                          "(execute_on_a_specific_worker)"
                        : "give its codelet a function for processors, or for "
                          "other devices");
    orr_runtime_fail(rt);
}

static _Noreturn void fail_with_data(struct orr_runtime *rt,
                                     const struct orr_worker *worker,
                                     const struct orr_job *job,
                                     const struct orr_access *access)
{
    const char *name = access->handle->name;

    orr_log_error("data number %llu%s%s, buffer %u of task `%s' (number %llu), "
                  "had no value but that on %s, which the failed kernel was "
                  "changing: it is lost",
                  (unsigned long long)access->handle->id, name ? " " : "",
                  name ? name : "", access->index, orr_job_name(job),
                  (unsigned long long)job->id, worker->desc->name);
    orr_runtime_fail(rt);
}

/* Its members have begun, or wait for the first one: the task is not given back. */
static void fail_with_gang(struct orr_runtime *rt,
                           const struct orr_worker *worker,
                           const struct orr_job *job)
{
    if (!orr_job_gang(job))
        return;
    orr_log_error("task `%s' (number %llu), which several workers execute "
                  "together, failed on %s: it is not tried again",
                  orr_job_name(job), (unsigned long long)job->id,
                  worker->desc->name);
    orr_runtime_fail(rt);
}

/* The copy that it was put behind in queues may be why: a kernel's failure may be seen before
 * that of the copy. */
static void say_copies_before(struct orr_runtime *rt,
                              const struct orr_worker *worker,
                              const struct orr_job *job)
{
    unsigned node = worker->desc->node;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_handle *handle = job->accesses[i].handle;
        const struct orr_request *request;
        bool is_behind;

        orr_lock(&handle->lock);
        request = handle->replicates[node].request;
        is_behind = request && request->ahead;
        orr_unlock(&handle->lock);
        if (is_behind)
            orr_log_error("the task follows the copy of %s to %s, which has "
                          "not been seen to end, in queues: "
                          "ORRERY_FOLLOW_PLACED=0 lets tasks wait for copies, "
                          "which are then made once more if they fail",
                          orr_handle_label(handle).text,
                          rt->machine->nodes[node].name);
    }
}

/* Its function is called once. */
static void fail_with_call(struct orr_runtime *rt,
                           const struct orr_worker *worker,
                           const struct orr_job *job)
{
    if (!orr_job_was_called(job))
        return;
    orr_log_error("task `%s' (number %llu) failed on %s: its function was "
                  "submitted to be called once (orrery_task_submit_and_call), "
                  "and is not tried again",
                  orr_job_name(job), (unsigned long long)job->id,
                  worker->desc->name);
    say_copies_before(rt, worker, job);
    orr_runtime_fail(rt);
}

static void avoid(struct orr_runtime *rt, const struct orr_worker *worker,
                  struct orr_job *job)
{
    orr_job_avoid(rt, job,
                  orr_job_avoided(job) | UINT64_C(1) << worker->desc->node);
}

/* Keeps the job from the workers of this memory node, so that it goes to another one;
 * `may_stay`: if there is no other, this worker may have it once more. */
static void choose_place(struct orr_runtime *rt,
                         const struct orr_worker *worker, struct orr_job *job,
                         bool may_stay)
{
    const char *where = "it goes to another worker";

    avoid(rt, worker, job);
    if (!orr_job_may_avoid(rt, job, 0)) {
        if (!may_stay || orr_job_rare(job)->nretries++ == MAX_RETRIES)
            fail_for_want_of_worker(rt, worker, job);
        orr_job_avoid(rt, job, 0);
        where = "it is tried again, as no other worker can run it";
    }
    orr_log_warning("task `%s' (number %llu) was not done by %s: %s",
                    orr_job_name(job), (unsigned long long)job->id,
                    worker->desc->name, where);
}

/* The policy counts what the worker has before it. */
static void tell_policy(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job, bool started)
{
    struct orr_sched *sched = orr_sched_of(rt, job);

    if (!started && sched->ops->pre_exec)
        sched->ops->pre_exec(sched, job, worker);
    if (sched->ops->post_exec)
        sched->ops->post_exec(sched, job, worker);
}

/* From here on another worker may have it. */
static void push_again(struct orr_runtime *rt, struct orr_job *job,
                       bool started)
{
    orr_job_forget_data(rt, job);
    job->worker = -1;
    job->data.aside = 0; /* the worker that takes it sees that by itself */
    orr_job_set_state(job, ORR_JOB_READY);
    job->able_classes = 0;
    job->task->status = STARPU_TASK_READY;
    ORR_TELL(rt, ORR_TOLD_TASK_RETURNED, .job = job, .started = started);
    orr_count_pushed(rt, job->sched_ctx, 0);
    orr_sched_push_again(rt, job);
}

/* It frees its memory, and its worker takes others. */
static void go_behind(struct orr_runtime *rt, struct orr_worker *worker,
                      struct orr_job *job)
{
    worker->naside++;
    worker->again = true;
    orr_job_forget_data(rt, job);
    orr_job_fetch_behind(rt, job, worker->desc->node);
}

void orr_job_send_away(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job)
{
    if (atomic_load(&job->data.broken) == ORR_GAVE_UP) {
        go_behind(rt, worker, job);
        return;
    }
    fail_with_gang(rt, worker, job);
    if (atomic_load(&job->data.broken) == ORR_BROKEN)
        choose_place(rt, worker, job, false);
    tell_policy(rt, worker, job, false);
    push_again(rt, job, false);
}

/* The function that looks at the task's end makes another try, on another worker. */
static bool may_fail(struct orr_runtime *rt, const struct orr_worker *worker,
                     struct orr_job *job)
{
    if (!orr_job_rare(job) || !orr_job_rare(job)->may_fail)
        return false;
    orr_log_warning("task `%s' (number %llu), a try, has failed on %s",
                    orr_job_name(job), (unsigned long long)job->id,
                    worker->desc->name);
    job->task->failed = 1;
    avoid(rt, worker, job);
    return true;
}

bool orr_kernel_failed(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job)
{
    int error = job->kernel->error;
    const struct orr_access *access;

    fail_with_gang(rt, worker, job);
    fail_with_call(rt, worker, job);
    if (error == -ENODEV)
        orr_node_lose(rt, worker->desc->node);
    access = orr_job_undo_data(rt, job, error != -EAGAIN);
    if (access)
        fail_with_data(rt, worker, job, access);
    if (may_fail(rt, worker, job))
        return false;
    choose_place(rt, worker, job, error != -ENODEV);
    tell_policy(rt, worker, job, true);
    if (!worker->running)
        atomic_store_explicit(&worker->exp_end, 0, memory_order_relaxed);
    push_again(rt, job, true);
    return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/loop.c - the life of a worker. A job passes through it once:
 * popped, its data fetched, its kernel started, its end noticed. The next
 * one's data are fetched while a kernel runs, and a device that works by
 * itself holds as many jobs as its pipeline is deep. Nothing polls: a worker
 * with nothing to do parks until somebody wakes it.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/figures.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/registry.h"
#include "core/device/driver.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/follow.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/loop/borrow.h"
#include "core/loop/failed.h"
#include "core/loop/kernel.h"
#include "core/loop/suspend.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/direct.h"
#include "core/sched/follow.h"
#include "core/sched/gang.h"
#include "core/sched/recruit.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/task/end.h"
#include "core/worker/asleep.h"
#include "core/worker/hooks.h"
#include "core/worker/workers.h"

/* µs after which functions that keep workers awake are called again. */
#define HOOKS_AGAIN 20.0
/* So many jobs that go past the policy are executed before one of the policy's. */
#define DIRECT_IN_A_ROW 8
/* µs after which a worker whose driver is to return looks whether it may. */
#define LOOKS_FOR_END 100.0

inline void orr_worker_set_state(struct orr_worker *worker,
                                 enum orr_worker_state state)
{
    struct orr_runtime *rt = worker->runtime;
    enum orr_worker_state before =
        atomic_load_explicit(&worker->state, memory_order_relaxed);

    if (before == state)
        return;
    atomic_store_explicit(&worker->state, state, memory_order_relaxed);
    ORR_TELL(rt, ORR_TOLD_WORKER_STATE, .worker = worker,
             .before_state = (int)before);
}

/* What it does while it waits. */
static enum orr_worker_state resting_state(const struct orr_worker *worker)
{
    if (worker->running || (worker->gang && orr_gang_runs(worker->gang)))
        return ORR_WORKER_EXECUTING;
    return worker->fetching || worker->naside || worker->gang
               ? ORR_WORKER_FETCHING
               : ORR_WORKER_IDLE;
}

/* Counts where the time of a simulated kernel comes from. */
static inline void count_figures(struct orr_runtime *rt,
                                 struct orr_worker *worker,
                                 struct orr_job *job)
{
    double us = orr_kernel_length(job->kernel);
    struct orr_length length;

    if (job->kernel->recorded) {
        length = (struct orr_length){us, NAN, ORR_ORIGIN_MEASURED};
        orr_figures_add(&worker->figures, &length, us);
        return;
    }
    if (job->ncores <= 1) {
        orr_figures_count(&worker->figures, job->costs, worker->class_id,
                          job->implementation, us);
        return;
    }
    length = orr_job_length(rt, job, worker->class_id);
    orr_figures_add(&worker->figures, &length, us);
}

/* The kernel has ended: the job's last stage. */
static void finish_job(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job)
{
    struct orr_sched *sched = orr_sched_of(rt, job);
    struct orr_kernel *kernel = job->kernel;
    double length = orr_kernel_length(kernel);
    bool is_plain = orr_job_is_plain(job);
    double flops = is_plain ? 0 : job->task->flops;

    ORR_TELL(rt, ORR_TOLD_KERNEL_ENDED, .worker = worker, .job = job);
    if (kernel->error)
        orr_follow_failed(rt, worker, job);
    if (kernel->error && orr_kernel_failed(rt, worker, job)) {
        orr_kernel_give(worker, kernel);
        return;
    }
    worker->busy_us += length;
    atomic_store_explicit(&worker->ntasks, worker->ntasks + 1,
                          memory_order_relaxed);
    worker->flops += flops;
    worker->last_end = kernel->end;
    if (!worker->running)
        atomic_store_explicit(&worker->exp_end, 0, memory_order_relaxed);
    if (rt->exec->one_thread)
        orr_job_look_at_next(job);
    if (rt->machine->kernels_take_their_length)
        count_figures(rt, worker, job);
    orr_kernel_count_codelet(worker, job->task->cl);
    ORR_TELL(rt, ORR_TOLD_TASK_EXECUTED, .worker = worker, .job = job,
             .since = length);
    /* Its end follows, unless that waits for others. */
    if (orr_job_ends_later(job))
        orr_job_give_back(rt, job);
    ORR_TELL(rt, ORR_TOLD_TASK_GAVE_BACK, .job = job);
    if (!is_plain && (orr_job_is_modelled(job) || job->task->cl->energy_model))
        orr_kernel_measure(rt, worker, job);
    /* The hooks of a gang are called for its aliases. */
    if (sched->ops->post_exec && !orr_job_gang(job))
        sched->ops->post_exec(sched, job, worker);
    job->kernel = NULL;
    orr_kernel_give(worker, kernel);
    orr_count_ran(rt, job->sched_ctx, flops);
    orr_job_end(rt, job);
}

/* An asynchronous kernel has ended; called from the machine's context. */
static void kernel_done(struct orr_kernel *kernel)
{
    struct orr_job *job = kernel->job;
    struct orr_worker *worker = &orr_self->runtime->workers->at[kernel->worker];

    if (orr_kernel_has_failed(kernel) && orr_kernel_again(kernel))
        return;
    /* It waits for others whose ends are not known here yet; who knows them goes on. */
    if (orr_job_follows(job) &&
        !(orr_job_add_follow(job, ORR_FOLLOW_ENDED) & ORR_FOLLOW_RELEASED))
        return;
    orr_worker_end_job(worker, &job->queue);
}

/* Whether its kernel gives a partial its first value. */
static bool begins_partial(const struct orr_job *job)
{
    if (!(job->modes & STARPU_REDUX))
        return false;
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].begins)
            return true;
    return false;
}

static bool finish_ended(struct orr_runtime *rt, struct orr_worker *worker)
{
    bool any = false;

    while (worker->running) {
        struct orr_list *link;

        orr_lock(&worker->lock);
        link = orr_list_pop(&worker->ended);
        orr_unlock(&worker->lock);
        if (!link)
            break;
        worker->running--;
        worker->nbeginning -=
            begins_partial(orr_container(link, struct orr_job, queue));
        finish_job(rt, worker, orr_container(link, struct orr_job, queue));
        any = true;
    }
    return any;
}

static unsigned worker_pipeline_depth(const struct orr_worker *worker)
{
    return worker->desc->pipeline ? worker->desc->pipeline : 1;
}

/* The first job that was put aside and has its data now, or NULL. It stays in
 * its list. */
static struct orr_job *first_resumed(struct orr_worker *worker)
{
    struct orr_job *job = NULL;

    orr_lock(&worker->lock);
    if (!orr_list_empty(&worker->resumed))
        job = orr_container(worker->resumed.next, struct orr_job, queue);
    orr_unlock(&worker->lock);
    return job;
}

/* The data that the job has asked for have arrived, but it has to ask for others on
 * another node. The worker looks at its node's requests once more, since that may have
 * made some. */
static bool fetch_rest(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job)
{
    worker->again = true;
    return orr_job_fetch_rest(rt, job);
}

/* A job that was put aside and can be resumed; fetches the rest of its data. Jobs whose
 * data are still on their way come back when they have arrived. */
static struct orr_job *resumed_job(struct orr_runtime *rt,
                                   struct orr_worker *worker)
{
    struct orr_job *job;

    if (!worker->naside || worker->running >= worker_pipeline_depth(worker))
        return NULL;
    /* The processor is the gang's. */
    if (worker->gang && orr_gang_runs(worker->gang))
        return NULL;
    while ((job = first_resumed(worker)) && job->left) {
        orr_lock(&worker->lock);
        orr_list_remove(&job->queue);
        orr_unlock(&worker->lock);
        if (fetch_rest(rt, worker, job))
            job->type->resumed(rt, job);
    }
    return job;
}

/* A job whose data have arrived, or NULL. */
static struct orr_job *job_to_start(struct orr_runtime *rt,
                                    struct orr_worker *worker)
{
    struct orr_job *job = worker->fetching;

    if (job &&
        atomic_load_explicit(&job->data.pending, memory_order_acquire) == 0 &&
        (!job->left || fetch_rest(rt, worker, job)))
        return job;
    return resumed_job(rt, worker);
}

/* The job is going to be started: the worker fetches it no more. */
static void worker_remove_fetching(struct orr_worker *worker,
                                   struct orr_job *job)
{
    if (job == worker->fetching) {
        worker->fetching = NULL;
        return;
    }
    orr_lock(&worker->lock);
    orr_list_remove(&job->queue);
    orr_unlock(&worker->lock);
    worker->naside--;
}

/* All that comes before the kernel of a job whose data have arrived. */
static void begin_kernel(struct orr_runtime *rt, struct orr_worker *worker,
                         struct orr_job *job, bool async)
{
    struct orr_sched *sched = orr_sched_of(rt, job);

    if (sched->ops->pre_exec && !orr_job_gang(job))
        sched->ops->pre_exec(sched, job, worker);
    if (job->modes & STARPU_REDUX)
        orr_kernel_begin_partials(rt, worker, job);
    if (job->naccesses && !job->data.flat)
        orr_job_take_data(rt, job, worker->desc->node);
    (void)orr_kernel_take(worker, job);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    if (!orr_job_is_plain(job))
        job->task->status = STARPU_TASK_RUNNING;
    if (rt->tasks->breaks)
        orr_runtime_break(rt, ORR_BREAK_EXEC, job->id);
    ORR_TELL(rt, ORR_TOLD_TASK_STARTS, .job = job);
    if (job->predicted > 0) {
        atomic_store_explicit(&worker->exp_end,
                              orr_exec_now(rt->exec) + job->predicted,
                              memory_order_relaxed);
        if (atomic_load_explicit(&rt->tasks->ready_soon, memory_order_relaxed))
            orr_job_tell_soon(rt, job);
    }
    orr_kernel_prepare(rt, worker, job, async, kernel_done);
    orr_worker_set_state(worker, ORR_WORKER_EXECUTING);
    ORR_TELL(rt, ORR_TOLD_KERNEL_BEGINS, .worker = worker, .job = job);
}

/* The first member of a gang starts the kernel, which has begun; it finishes the
 * job when all have ended theirs. */
static bool lead_gang(struct orr_runtime *rt, struct orr_worker *worker,
                      struct orr_job *job)
{
    struct orr_gang *gang = orr_job_gang(job);

    orr_kernel_begin_shared(worker, job);
    if (!gang->all_run)
        orr_gang_bind_all(rt, gang);
    orr_gang_start(rt, gang);
    orr_self->job = job;
    (void)orr_kernel_start(rt, job->kernel);
    orr_self->job = NULL;
    if (!gang->all_run)
        orr_gang_bind_one(rt, worker);
    orr_gang_ended(rt, gang, job->kernel->end);
    return true;
}

/* What it takes to hand a kernel over that the worker waits for. Where such kernels are
 * measured their times have that in them, so that only shorter ones, which nobody can
 * have measured so, wait for the rest. */
static void hand_over_awaited(const struct orr_runtime *rt,
                              const struct orr_worker *worker,
                              const struct orr_kernel *kernel)
{
    double rest = rt->machine->costs.kernel_queue - kernel->duration;

    if (!worker->desc->async || !(rest > 0))
        return;
    orr_charge(rest);
    orr_pay();
}

/* Starts the kernel of a job whose data have arrived. */
static bool start_kernel(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_job *job = job_to_start(rt, worker);
    bool async, ended, alone;

    if (!job)
        return false;
    async = orr_job_is_async(job, worker, job->implementation);
    alone = async && !job->in_graph;
    /* A synchronous kernel keeps the worker: what runs must end first. */
    if (!async && worker->running)
        return false;
    /* A kernel that begins a partial may have to be started anew, or go to another
     * worker: a kernel behind it would add to no value. */
    if (worker->nbeginning && job->modes & STARPU_REDUX)
        return false;
    worker_remove_fetching(worker, job);
    if (atomic_load_explicit(&job->data.broken, memory_order_relaxed)) {
        orr_job_send_away(rt, worker, job);
        return true;
    }
    orr_follow_start(rt, worker, job);
    begin_kernel(rt, worker, job, async);
    if (orr_job_gang(job))
        return lead_gang(rt, worker, job);
    if (!async)
        hand_over_awaited(rt, worker, job->kernel);
    orr_self->job = async ? NULL : job;
    job->kernel->latency = alone ? rt->machine->costs.kernel_latency : 0;
    ended = orr_kernel_start(rt, job->kernel);
    orr_self->job = NULL;
    if (ended) {
        finish_job(rt, worker, job);
    } else {
        worker->running++;
        worker->nbeginning += begins_partial(job);
        if (async)
            orr_follow_lead(rt, worker, job);
    }
    if (alone)
        orr_charge(rt->machine->costs.kernel_queue);
    return true;
}

/* Whether the worker has something for its queue that follows what is there, whatever the
 * depth of the pipeline is: no other worker could have it. */
static bool has_room_behind(const struct orr_worker *worker)
{
    return atomic_load_explicit(&worker->nbehind, memory_order_acquire) &&
           worker->running < ORR_MOST_QUEUED;
}

/* Whether a job would find room. */
static bool has_room(const struct orr_worker *worker)
{
    return !worker->fetching &&
           (worker->running < worker_pipeline_depth(worker) ||
            has_room_behind(worker));
}

bool orr_worker_wants_job(const struct orr_worker *worker)
{
    return has_room(worker) && !worker->gang;
}

/* The worker had announced that it sleeps, and with it the others of its thread, for
 * which the thread has no time now. A push that has woken one of them since, perhaps
 * for another job than the one that this worker found by itself, woke no other worker. */
static void stay_awake(struct orr_worker *worker)
{
    bool woken = !orr_worker_rouse(worker);
    struct orr_worker *mate = worker->mate;

    for (; mate && mate != worker; mate = mate->mate)
        woken |= orr_worker_wants_job(mate) && !orr_worker_rouse(mate);
    if (woken)
        orr_sched_wake_all(worker->runtime);
}

/* A blocked worker may rest: it has found no task that it had been given before, or may
 * not look. Kernels that wait do not prevent this: what they wait for may come later,
 * or from a task that only blocked workers could execute. */
static void worker_rest_if_blocked(struct orr_worker *worker)
{
    if (orr_worker_is_blocked(worker) && !worker->running &&
        !worker->fetching && !worker->naside)
        orr_sched_rests(worker);
}

/* The worker has the job now, and asks for its data. Always inline: every task
 * passes, and gangs are few. */
static inline __attribute__((always_inline)) void
begin_job(struct orr_runtime *rt, struct orr_worker *worker, struct orr_job *job)
{
    job->worker = (int16_t)worker->id;
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (!orr_job_is_plain(job)) {
        job->task->workerid = worker->id;
        if (job->task->prologue_callback_pop_func)
            orr_call_user(job, job->task->prologue_callback_pop_func,
                          job->task->prologue_callback_pop_arg);
    }
    worker->fetching = job;
    if (!worker->running)
        orr_worker_set_state(worker, ORR_WORKER_FETCHING);
    orr_charge(rt->machine->costs.fetch * job->naccesses);
    ORR_TELL(rt, ORR_TOLD_TASK_FETCHES, .job = job);
    (void)orr_job_fetch(rt, job, worker->desc->node);
}

/* Takes a job and asks for its data. */
static bool take_job(struct orr_runtime *rt, struct orr_worker *worker,
                     bool announced)
{
    struct orr_job *job;
    double began = 0;

    if (!has_room(worker) || worker->leaving)
        return false;
    /* What was done before starpu_resume is done before the tasks that follow. */
    if (atomic_load_explicit(&rt->workers->paused, memory_order_acquire) > 0) {
        worker_rest_if_blocked(worker);
        return false;
    }
    if (orr_is_told(rt, ORR_TOLD_WORKER_TOOK))
        began = orr_exec_now(rt->exec);
    job = orr_sched_pop_behind(rt, worker);
    if (!job && worker->running < worker_pipeline_depth(worker))
        job = orr_sched_pop(rt, worker);
    if (!job) {
        worker_rest_if_blocked(worker);
        return false;
    }
    if (began > 0)
        ORR_TELL(rt, ORR_TOLD_WORKER_TOOK, .worker = worker, .job = job,
                 .since = began);
    if (announced)
        stay_awake(worker);
    if (orr_job_gang(job))
        orr_gang_join(rt, worker, job);
    else
        begin_job(rt, worker, job);
    return true;
}

/* The worker's share of what its gang executes. */
static void run_share(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;
    struct orr_job *alias = orr_gang_alias_of(gang, worker);

    orr_kernel_prepare_share(rt, worker, alias);
    orr_worker_set_state(worker, ORR_WORKER_EXECUTING);
    orr_self->job = gang->job;
    (void)orr_kernel_start(rt, alias->kernel);
    orr_self->job = NULL;
    orr_gang_ended(rt, gang, alias->kernel->end);
    orr_kernel_give(worker, alias->kernel);
}

/* The worker is a member of a gang, and looks what that has for it to do. */
static bool step_in_gang(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_gang *gang = worker->gang;
    struct orr_job *job = gang->job;
    int combined = gang->combined;

    switch (orr_gang_turn(rt, worker)) {
    case ORR_GANG_WAITS:
        return false;
    case ORR_GANG_FETCHES:
        orr_sched_popped(rt, job);
        begin_job(rt, worker, job);
        if (combined >= 0)
            job->task->workerid = (unsigned)combined;
        break;
    case ORR_GANG_RUNS:
        run_share(rt, worker);
        break;
    case ORR_GANG_ENDS:
        finish_job(rt, worker, job);
        orr_recruit_release(rt, gang);
        orr_gang_free(gang);
        break;
    case ORR_GANG_GOES_ON:
        break;
    }
    return true;
}

/* A kernel that waited goes on, before the worker takes another job. Also if the worker
 * is blocked: something waits for the kernel, maybe what has its processor. */
static bool worker_resume_kernel(struct orr_worker *worker, bool announced)
{
    struct orr_context *kernel = orr_suspend_next(worker);

    if (!kernel)
        return false;
    atomic_store_explicit(&worker->rests, false, memory_order_relaxed);
    if (announced)
        stay_awake(worker);
    orr_suspend_go_on(worker, kernel);
    return true;
}

/* Runs a job that bypassed the policy, if there is one. */
static bool run_direct(struct orr_runtime *rt, struct orr_worker *worker,
                       bool announced)
{
    struct orr_job *job;

    if (!orr_worker_wants_job(worker) || worker->running || worker->leaving ||
        atomic_load_explicit(&rt->workers->paused, memory_order_acquire) > 0)
        return false;
    job = orr_direct_pop(rt, worker);
    if (!job)
        return false;
    if (announced)
        stay_awake(worker);
    orr_kernel_run_direct(rt, worker, job);
    return true;
}

/* Whether the step is over, whatever there was to do in it: not if a kernel that let
 * others go first goes on. */
static bool end_step(struct orr_worker *worker, bool any)
{
    struct orr_context *kernel = worker->yielded;

    if (!kernel || (any && worker->yields > 1)) {
        worker->yields -= kernel != NULL;
        return any;
    }
    worker->yielded = NULL;
    orr_suspend_go_on(worker, kernel);
    return true;
}

static bool worker_step(struct orr_runtime *rt, struct orr_worker *worker,
                        bool announced)
{
    bool any = finish_ended(rt, worker);

    if (worker->nsuspended && worker_resume_kernel(worker, announced))
        return true;
    if (atomic_load_explicit(&rt->data->ndead, memory_order_acquire))
        orr_handles_free_dead(rt);
    orr_charge(rt->machine->costs.progress);
    orr_pay();
    if (atomic_load_explicit(&rt->sched_ctxs->direct, memory_order_relaxed) &&
        run_direct(rt, worker, announced)) {
        if (++worker->ndirect % DIRECT_IN_A_ROW != 0)
            return end_step(worker, true);
        announced = false;
        any = true;
    }
    /* No job that waits for memory gets it before another job has ended, perhaps one
     * that the worker could take: the worker looks for such a job. */
    if (worker->fetching && !orr_job_gang(worker->fetching) &&
        orr_admit_put_aside(rt, worker->fetching,
                            worker->fetching->data.limited)) {
        worker->fetching = NULL;
        worker->naside++;
    }
    any |= worker->gang ? step_in_gang(rt, worker)
                        : take_job(rt, worker, announced);
    any |= orr_node_progress(rt, worker->desc->node);
    orr_pay();
    any |= start_kernel(rt, worker);
    orr_pay();
    any |= worker->again;
    worker->again = false;
    return end_step(worker, any);
}

/* The thread that drives the worker was asked to return. */
static bool is_to_return(const struct orr_worker *worker)
{
    return worker->driven &&
           atomic_load(&worker->runtime->workers->drivers_end);
}

inline bool orr_worker_may_stop(const struct orr_worker *worker)
{
    bool stop = atomic_load_explicit(&worker->stop, memory_order_acquire) ||
                worker->leaving ||
                (is_to_return(worker) &&
                 orr_count_unfinished(worker->runtime) == 0);

    return stop && !worker->fetching && !worker->naside && !worker->running &&
           !worker->gang && !worker->nsuspended;
}

bool orr_worker_step(struct orr_worker *worker, bool announced)
{
    return worker_step(worker->runtime, worker, announced);
}

/* Nothing wakes it when the last task has ended elsewhere, for hooks that are called
 * repeatedly, or for kernels that wait for a time. */
double orr_worker_wakes_at(struct orr_worker *worker, bool hooks_again)
{
    struct orr_runtime *rt = worker->runtime;
    double limit = orr_suspend_wakes_at(worker), again = ORR_FOREVER;

    if (hooks_again)
        again = HOOKS_AGAIN;
    else if (is_to_return(worker))
        again = LOOKS_FOR_END;
    if (again < ORR_FOREVER)
        again += orr_exec_now(rt->exec);
    return limit < again ? limit : again;
}

void orr_worker_describe(const struct orr_awaited *awaited, char *text,
                         size_t size)
{
    const struct orr_worker *worker = awaited->object;

    if (worker->fetching)
        snprintf(text, size, "data of its task `%.80s'",
                 orr_job_name(worker->fetching));
    else if (worker->naside)
        snprintf(text, size, "memory for %u tasks", worker->naside);
    else if (worker->gang)
        snprintf(text, size, "other workers of its parallel task `%.80s'",
                 orr_job_name(worker->gang->job));
    else if (worker->running)
        snprintf(text, size, "%u of its kernels", worker->running);
    else
        snprintf(text, size, "%s", awaited->noun);
}

bool orr_worker_is_idle(const struct orr_worker *worker)
{
    return !worker->fetching && !worker->naside && !worker->gang &&
           !worker->running;
}

void orr_worker_rest(struct orr_worker *worker)
{
    orr_worker_set_state(worker, resting_state(worker));
}

void orr_worker_loop(void *arg)
{
    static const struct orr_awaited others = {
        .noun = "the end of a parallel region"};
    struct orr_worker *worker = arg;
    struct orr_runtime *rt = worker->runtime;
    bool announced = false, hooked = false, hooks_again = false;
    unsigned idle = 0;
    double until;

    for (;;) {
        /* Another context is the worker, and wakes the worker's own loop if that has to
         * look. */
        if (!orr_seat_take(worker)) {
            orr_context_park(&others, ORR_FOREVER);
            (void)orr_seat_take_woken(worker);
            announced = hooked = false;
            continue;
        }
        if (orr_worker_may_stop(worker))
            break;
        if (worker_step(rt, worker, announced)) {
            idle = 0;
            if (announced)
                (void)orr_worker_rouse(worker);
            announced = hooked = false;
            continue;
        }
        if (!announced && !rt->exec->one_thread) {
            orr_seat_offer(worker);
            if (rt->exec->ops->linger(rt->exec, idle++) ||
                !orr_seat_take(worker))
                continue;
            /* Says that the worker is about to sleep, then looks once more: a push
             * before that does not wake it. From now on only others take it back, each
             * for a job of its own, or the worker when it has a job. */
            if (orr_worker_wants_job(worker))
                orr_worker_fall_asleep(worker);
            atomic_thread_fence(memory_order_seq_cst);
            announced = true;
            continue;
        }
        orr_worker_rest(worker);
        if (orr_admit_rests(rt))
            continue;
        if (rt->exec->one_thread && orr_worker_wants_job(worker))
            orr_worker_fall_asleep(worker);
        /* What they give the worker to do wakes only itself: it looks once more. */
        if (!hooked && orr_hooks_are_there(&rt->workers->hooks)) {
            hooks_again = orr_hooks_call(&rt->workers->hooks, worker->id);
            hooked = true;
            continue;
        }
        orr_hooks_tell(&rt->workers->hooks.sleeps, worker->id);
        until = orr_worker_wakes_at(worker, hooked && hooks_again);
        orr_seat_offer(worker);
        orr_context_park(&worker->awaited, until);
        orr_hooks_tell(&rt->workers->hooks.wakes, worker->id);
        if (orr_seat_take_woken(worker))
            (void)orr_worker_rouse(worker);
        announced = hooked = false;
    }
    orr_worker_set_state(worker, ORR_WORKER_IDLE);
}

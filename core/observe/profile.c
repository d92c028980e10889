/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/profile.c - see profile.h. */
#include "core/observe/profile.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "core/exec/tell.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/observe/report.h"
#include "core/worker/workers.h"

/* --- tasks --- */

/* Notes that a stage of the job's task begins or ends now, if it has a structure. */
#define PROFILE_STAGE(rt, job, field)                                          \
    do {                                                                       \
        struct starpu_profiling_task_info *info_ =                             \
            (job)->task->profiling_info;                                       \
        if (info_)                                                             \
            info_->field = orr_profile_time(orr_exec_now((rt)->exec));         \
    } while (0)

/* A task without a structure for its times gets one if profiling is on and there is
 * memory. */
static void profile_submitted(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    struct starpu_task *task = told->job->task;

    if (!orr_profile_is_on(rt))
        return;
    if (!task->profiling_info)
        task->profiling_info = calloc(1, sizeof(*task->profiling_info));
    PROFILE_STAGE(rt, told->job, submit_time);
}

static void profile_ready(struct orr_runtime *rt, const struct orr_told *told)
{
    PROFILE_STAGE(rt, told->job, push_start_time);
}

static void profile_pushed(struct orr_runtime *rt, const struct orr_told *told)
{
    PROFILE_STAGE(rt, told->job, push_end_time);
}

static void profile_took(struct orr_runtime *rt, const struct orr_told *told)
{
    struct starpu_profiling_task_info *info = told->job->task->profiling_info;
    struct orr_worker *worker = told->worker;

    if (!orr_profile_is_on(rt))
        return;
    if (info)
        info->pop_start_time = orr_profile_time(told->since);
    PROFILE_STAGE(rt, told->job, pop_end_time);
    orr_lock(&worker->lock);
    worker->profile.scheduling += orr_exec_now(rt->exec) - told->since;
    orr_unlock(&worker->lock);
}

static void profile_fetches(struct orr_runtime *rt, const struct orr_told *told)
{
    PROFILE_STAGE(rt, told->job, acquire_data_start_time);
}

static void profile_starts(struct orr_runtime *rt, const struct orr_told *told)
{
    PROFILE_STAGE(rt, told->job, acquire_data_end_time);
}

static void profile_executed(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    struct starpu_profiling_task_info *info = told->job->task->profiling_info;
    const struct orr_kernel *kernel = told->job->kernel;
    struct orr_worker *worker = told->worker;

    if (orr_profile_is_on(rt)) {
        orr_lock(&worker->lock);
        worker->profile.executing += told->since;
        worker->profile.flops += told->job->task->flops;
        orr_unlock(&worker->lock);
    }
    if (!info)
        return;
    info->workerid = (int)worker->id;
    info->start_time = orr_profile_time(kernel->start);
    info->end_time = orr_profile_time(kernel->end);
    PROFILE_STAGE(rt, told->job, release_data_start_time);
}

static void profile_gave_back(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    PROFILE_STAGE(rt, told->job, release_data_end_time);
}

static void profile_called(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_worker *worker = orr_self->worker;

    if (!worker || !orr_profile_is_on(rt))
        return;
    orr_lock(&worker->lock);
    worker->profile.callback += told->until - told->since;
    orr_unlock(&worker->lock);
}

static void profile_over(struct orr_runtime *rt, const struct orr_told *told)
{
    struct starpu_profiling_task_info *info = told->job->task->profiling_info;

    (void)rt;
    if (!info)
        return;
    info->callback_start_time = orr_profile_time(told->since);
    info->callback_end_time = orr_profile_time(told->until);
}

static void profile_energy(struct orr_runtime *rt, const struct orr_told *told)
{
    struct starpu_profiling_task_info *info = told->job->task->profiling_info;
    struct orr_worker *worker = told->worker;

    if (info)
        info->energy_consumed = told->joules;
    if (!orr_profile_is_on(rt))
        return;
    orr_lock(&worker->lock);
    worker->profile.joules += told->joules;
    orr_unlock(&worker->lock);
}

/* --- workers --- */

static void profile_worker_state(struct orr_runtime *rt,
                                 const struct orr_told *told)
{
    struct orr_worker *worker = told->worker;
    struct orr_worker_profile *profile = &worker->profile;
    double now = orr_exec_now(rt->exec);

    orr_lock(&worker->lock);
    profile->in_state[profile->state] += now - profile->since;
    profile->state =
        atomic_load_explicit(&worker->state, memory_order_relaxed);
    profile->since = now;
    orr_unlock(&worker->lock);
}

void orr_worker_profile_reset(struct orr_worker *worker, double now)
{
    struct orr_worker_profile *profile = &worker->profile;

    orr_lock(&worker->lock);
    *profile = (struct orr_worker_profile){
        .state = atomic_load_explicit(&worker->state, memory_order_relaxed),
        .start = now,
        .since = now,
        .ntasks = atomic_load(&worker->ntasks),
    };
    orr_unlock(&worker->lock);
}

void orr_worker_profile_read(struct orr_worker *worker, double now,
                             struct starpu_profiling_worker_info *ret)
{
    struct orr_worker_profile profile;
    struct starpu_profiling_worker_info info = {0};
    double in_state[ORR_WORKER_NSTATES];

    orr_lock(&worker->lock);
    profile = worker->profile;
    orr_unlock(&worker->lock);
    memcpy(in_state, profile.in_state, sizeof(in_state));
    in_state[profile.state] += now - profile.since;
    info.start_time = orr_profile_time(profile.start);
    info.total_time = orr_profile_time(now - profile.start);
    info.executing_time = orr_profile_time(profile.executing);
    info.callback_time = orr_profile_time(profile.callback);
    info.waiting_time = orr_profile_time(in_state[ORR_WORKER_FETCHING]);
    info.sleeping_time = orr_profile_time(in_state[ORR_WORKER_IDLE]);
    info.scheduling_time = orr_profile_time(profile.scheduling);
    info.all_executing_time = info.executing_time;
    info.all_callback_time = info.callback_time;
    info.all_waiting_time = info.waiting_time;
    info.all_sleeping_time = info.sleeping_time;
    info.all_scheduling_time = info.scheduling_time;
    info.executed_tasks = (int)(atomic_load(&worker->ntasks) - profile.ntasks);
    info.flops = profile.flops;
    info.energy_consumed = profile.joules;
    *ret = info;
}

static double timespec_ms(struct timespec *ts)
{
    return ((double)ts->tv_sec * 1e6 + (double)ts->tv_nsec * 1e-3) / 1e3;
}

void orr_worker_profiles_print(struct orr_runtime *rt, FILE *out)
{
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];
        struct starpu_profiling_worker_info info;

        orr_worker_profile_read(worker, orr_exec_now(rt->exec), &info);
        fprintf(out, "%s: %d tasks\n", worker->desc->name, info.executed_tasks);
        if (orr_profile_is_on(rt))
            orr_fprintf(out,
                        "\ttotal %.3f ms: executing %.3f, callbacks %.3f, waiting "
                        "for data %.3f, sleeping %.3f, scheduling %.3f\n",
                        timespec_ms(&info.total_time),
                        timespec_ms(&info.executing_time),
                        timespec_ms(&info.callback_time),
                        timespec_ms(&info.waiting_time),
                        timespec_ms(&info.sleeping_time),
                        timespec_ms(&info.scheduling_time));
    }
}

static void print_idle(struct orr_runtime *rt, FILE *out)
{
    double all = 0;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct starpu_profiling_worker_info info;

        orr_worker_profile_read(&rt->workers->at[w], orr_exec_now(rt->exec),
                                &info);
        all += timespec_ms(&info.sleeping_time);
    }
    orr_fprintf(out, "%f\n", all);
}

void orr_worker_profiles_report(struct orr_runtime *rt)
{
    if (orr_config_bool(&rt->config, ORR_CFG_WORKER_STATS))
        orr_report_print_to(rt, ORR_CFG_WORKER_STATS_FILE,
                            "STARPU_WORKER_STATS", "w",
                            orr_worker_profiles_print);
    if (orr_config_string(&rt->config, ORR_CFG_IDLE_FILE))
        orr_report_print_to(rt, ORR_CFG_IDLE_FILE, "STARPU_IDLE_FILE", "a",
                            print_idle);
}

/* --- the observer --- */

static void profile_timed(struct orr_runtime *rt, const struct orr_told *told);

static const struct orr_observer profile_observer = {{
    [ORR_TOLD_TASK_TIMED] = profile_timed,
    [ORR_TOLD_TASK_SUBMITTED] = profile_submitted,
    [ORR_TOLD_TASK_READY] = profile_ready,
    [ORR_TOLD_TASK_PUSHED] = profile_pushed,
    [ORR_TOLD_TASK_FETCHES] = profile_fetches,
    [ORR_TOLD_TASK_STARTS] = profile_starts,
    [ORR_TOLD_TASK_EXECUTED] = profile_executed,
    [ORR_TOLD_TASK_GAVE_BACK] = profile_gave_back,
    [ORR_TOLD_TASK_CALLED] = profile_called,
    [ORR_TOLD_TASK_OVER] = profile_over,
    [ORR_TOLD_ENERGY] = profile_energy,
    [ORR_TOLD_WORKER_STATE] = profile_worker_state,
    [ORR_TOLD_WORKER_TOOK] = profile_took,
}};

/* What matters only while it is on. Tasks that have a structure keep being noted. */
#define PROFILE_OF_WORKERS                                                     \
    (ORR_TOLD_BIT(ORR_TOLD_TASK_SUBMITTED) |                                   \
     ORR_TOLD_BIT(ORR_TOLD_WORKER_STATE) | ORR_TOLD_BIT(ORR_TOLD_WORKER_TOOK))

bool orr_profile_switch(struct orr_runtime *rt, bool on)
{
    orr_observers_want(&rt->observers, &profile_observer,
                       on ? ORR_TOLD_ALL : PROFILE_OF_WORKERS, on);
    return atomic_exchange(&rt->tasks->profiling, on);
}

static void profile_timed(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    if (!orr_is_told(rt, ORR_TOLD_TASK_GAVE_BACK))
        orr_observers_want(&rt->observers, &profile_observer,
                           ~PROFILE_OF_WORKERS, true);
}

void orr_profile_observe(struct orr_runtime *rt)
{
    orr_observers_add(&rt->observers, &profile_observer);
    orr_observers_want(&rt->observers, &profile_observer,
                       ORR_TOLD_BIT(ORR_TOLD_TASK_TIMED), true);
    if (orr_config_bool(&rt->config, ORR_CFG_PROFILING))
        (void)orr_profile_switch(rt, true);
}

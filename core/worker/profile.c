/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/profile.c - see profile.h. */
#include "core/worker/profile.h"

#include <string.h>

#include "core/observe/report.h"
#include "core/runtime.h"
#include "core/task/profile.h"

void orr_worker_profile_state(struct orr_worker *worker,
                              enum orr_worker_state state, double now)
{
    struct orr_worker_profile *profile = &worker->profile;

    orr_lock(&worker->lock);
    profile->in_state[profile->state] += now - profile->since;
    profile->state = state;
    profile->since = now;
    orr_unlock(&worker->lock);
}

void orr_worker_profile_task(struct orr_worker *worker, double kernel_us,
                             double flops)
{
    orr_lock(&worker->lock);
    worker->profile.executing += kernel_us;
    worker->profile.flops += flops;
    orr_unlock(&worker->lock);
}

void orr_worker_profile_energy(struct orr_worker *worker, double joules)
{
    orr_lock(&worker->lock);
    worker->profile.joules += joules;
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

static double ms(struct timespec *ts)
{
    return starpu_timing_timespec_to_us(ts) / 1e3;
}

void orr_worker_profiles_print(struct orr_runtime *rt, FILE *out)
{
    for (unsigned w = 0; w < rt->nworkers; w++) {
        struct orr_worker *worker = &rt->workers[w];
        struct starpu_profiling_worker_info info;

        orr_worker_profile_read(worker, orr_exec_now(rt->exec), &info);
        fprintf(out, "%s: %d tasks\n", worker->desc->name, info.executed_tasks);
        if (orr_profile_is_on(rt))
            fprintf(out,
                    "\ttotal %.3f ms: executing %.3f, callbacks %.3f, waiting "
                    "for data %.3f, sleeping %.3f, scheduling %.3f\n",
                    ms(&info.total_time), ms(&info.executing_time),
                    ms(&info.callback_time), ms(&info.waiting_time),
                    ms(&info.sleeping_time), ms(&info.scheduling_time));
    }
}

static void print_idle(struct orr_runtime *rt, FILE *out)
{
    double all = 0;

    for (unsigned w = 0; w < rt->nworkers; w++) {
        struct starpu_profiling_worker_info info;

        orr_worker_profile_read(&rt->workers[w], orr_exec_now(rt->exec), &info);
        all += ms(&info.sleeping_time);
    }
    fprintf(out, "%f\n", all);
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

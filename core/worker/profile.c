/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/profile.c - see profile.h. */
#include "core/worker/profile.h"

#include <string.h>

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
    *ret = info;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/profiling.c - switching profiling on, and what workers did. Any
 * thread.
 */
#include <errno.h>

#include "core/api/api.h"
#include "core/base/number.h"
#include "core/data/traffic.h"
#include "core/exec/program.h"
#include "core/observe/profile.h"
#include "core/worker/workers.h"

/* -- arithmetic -- */

double starpu_timing_timespec_to_us(struct timespec *ts)
{
    return (double)ts->tv_sec * 1e6 + (double)ts->tv_nsec * 1e-3;
}

double starpu_timing_timespec_delay_us(struct timespec *start,
                                       struct timespec *end)
{
    return starpu_timing_timespec_to_us(end) -
           starpu_timing_timespec_to_us(start);
}

/* -- switching -- */

void starpu_profiling_init(void)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_worker_profile_reset(&rt->workers->at[w], orr_exec_now(rt->exec));
}

int starpu_profiling_status_set(int status)
{
    struct orr_runtime *rt = orr_runtime_current(__func__);
    bool on = status != STARPU_PROFILING_DISABLE;
    bool was_on = atomic_exchange(&orr_program()->profiling, on);

    if (!rt)
        return was_on;
    if (on) {
        starpu_profiling_init();
        for (int bus = 0; bus < starpu_bus_get_count(); bus++)
            (void)starpu_bus_get_profiling_info(bus, NULL);
    }
    return orr_profile_switch(rt, on);
}

int starpu_profiling_status_get(void)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_current(__func__);

    return rt ? orr_profile_is_on(rt) : atomic_load(&orr_program()->profiling);
}

void starpu_profiling_set_id(int new_id)
{
    (void)new_id; /* ORRERY_TRACE has the whole name of the trace's file */
}

/* -- workers -- */

int starpu_profiling_worker_get_info(
    int workerid, struct starpu_profiling_worker_info *worker_info)
{
    ORR_QUESTION();
    struct orr_worker *worker = orr_api_worker(__func__, workerid);
    double now = orr_exec_now(worker->runtime->exec);

    if (worker_info)
        orr_worker_profile_read(worker, now, worker_info);
    orr_worker_profile_reset(worker, now);
    return 0;
}

void starpu_profiling_worker_helper_display_summary(void)
{
    ORR_QUESTION();
    orr_worker_profiles_print(ORR_API_RUNTIME(), stderr);
}

/* -- codelets -- */

void starpu_codelet_display_stats(struct starpu_codelet *cl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned long total = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        total += cl->per_worker_stats[w];
    fprintf(stderr, "tasks of codelet %s:\n",
            cl->name                         ? cl->name
            : cl->model && cl->model->symbol ? cl->model->symbol
                                             : "without a name");
    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_fprintf(stderr, "\t%s: %lu / %lu (%.2f %%)\n",
                    rt->workers->at[w].desc->name, cl->per_worker_stats[w], total,
                    total ? 100.0 * (double)cl->per_worker_stats[w] / (double)total
                          : 0.0);
}

void starpu_data_display_memory_stats(void)
{
    ORR_QUESTION();
    orr_traffic_print(ORR_API_RUNTIME(), stderr);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/observers.c - see observers.h. */
#include "core/observe/observers.h"

#include <errno.h>

#include "core/exec/runtime.h"
#include "core/observe/bound_recording.h"
#include "core/observe/check_bounds.h"
#include "core/observe/graph_record.h"
#include "core/observe/livelock.h"
#include "core/observe/perf.h"
#include "core/observe/profile.h"
#include "core/observe/sources.h"
#include "core/observe/tally.h"
#include "core/observe/tally_observer.h"
#include "core/observe/tool.h"
#include "core/observe/trace_observer.h"
#include "core/observe/trace_record.h"
#include "core/observe/views.h"

int orr_observers_open(struct orr_runtime *rt, const struct starpu_conf *conf)
{
    orr_profile_observe(rt);
    orr_recording_observe(rt);
    orr_graph_observe(rt);
    if (rt->sim)
        orr_livelock_observe(rt);
    /* The trace shows them. */
    if (orr_perf_new(rt, conf && conf->start_perf_counter_collection) != 0 ||
        orr_sources_observe(rt) != 0 || orr_trace_observe(rt) != 0 || orr_tally_observe(rt) != 0)
        return -ENOMEM;
    return orr_check_bounds_needs_graph(rt) ? orr_graph_record_all(rt) : 0;
}

void orr_observers_free(struct orr_runtime *rt)
{
    orr_trace_free(rt->views->trace);
    orr_tally_free(rt->views->tally);
    orr_tool_close(rt->views->tool);
    orr_recording_free(atomic_load(&rt->views->bound));
    orr_graph_record_free(atomic_load(&rt->views->graph));
    orr_sources_free(rt->views->sources);
    orr_perf_free(rt);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/watched.c - see watched.h. */
#include "core/observe/watched.h"

#include "core/runtime.h"

bool orr_tasks_are_watched(struct orr_runtime *rt)
{
    return rt->trace || rt->tally || rt->tool || rt->calls || rt->breaks ||
           rt->disables_kernels ||
           atomic_load_explicit(&rt->perf, memory_order_relaxed) ||
           atomic_load_explicit(&rt->profiling, memory_order_relaxed) ||
           orr_runtime_graph(rt);
}

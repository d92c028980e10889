/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/slabs.c - see slabs.h. */
#include "core/slabs.h"

#include "core/data/handle.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/slab_set.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

int orr_slabs_new(struct orr_runtime *rt)
{
    unsigned n = rt->workers->n + 1;
    int err = orr_counters_new(n, rt);

    rt->main->cache = n;
    for (unsigned i = 0; i < 4 && !err; i++)
        err = orr_slab_new(sizeof(struct orr_job) +
                               (i + 1) * sizeof(struct orr_access),
                           n, &rt->slabs->jobs[i]);
    if (!err)
        err = orr_slab_new(sizeof(struct orr_edge), n, &rt->slabs->edges);
    if (!err)
        err = orr_task_slab(&rt->slabs->tasks);
    if (!err)
        err = orr_slab_new(sizeof(struct orr_request), n, &rt->slabs->requests);
    rt->slabs->pools_handles = true;
    return err;
}

void orr_slabs_free(struct orr_runtime *rt)
{
    for (unsigned i = 0; i < 4; i++)
        orr_slab_free(rt->slabs->jobs[i]);
    orr_slab_free(rt->slabs->edges);
    orr_slab_free(rt->slabs->requests);
    orr_handle_slabs_free(rt);
    orr_counters_free(rt);
}

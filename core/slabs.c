/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/slabs.c - see slabs.h. */
#include "core/slabs.h"

#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/slab_set.h"
#include "core/task/task.h"
#include "core/worker/workers.h"

/* Whether jobs may have to wait for memory, or are promised some: in all runs but those
 * whose only memory is one without a limit. (A disk that comes later is one that no job
 * waits for by default.) */
static bool may_lack_memory(const struct orr_runtime *rt)
{
    return rt->machine->nnodes > 1 || rt->nodes->expects_disks ||
           rt->machine->nodes[STARPU_MAIN_RAM].capacity;
}

int orr_slabs_new(struct orr_runtime *rt)
{
    unsigned n = rt->workers->n + 1;
    int err = orr_counters_new(n, rt);

    if (!rt->exec->one_thread)
        rt->main->cache = n;
    rt->slabs->jobs_have_memory = may_lack_memory(rt);
    for (unsigned i = 0; i < ORR_JOB_SLABS && !err; i++)
        err = orr_slab_new(orr_job_size(i, rt->slabs->jobs_have_memory), n,
                           &rt->slabs->jobs[i]);
    if (!err)
        err = orr_slab_new(sizeof(struct orr_edge), n, &rt->slabs->edges);
    if (!err)
        err = orr_task_slab(!rt->exec->one_thread, &rt->slabs->tasks);
    if (!err)
        err = orr_slab_new(sizeof(struct orr_request), n, &rt->slabs->requests);
    rt->slabs->pools_handles = true;
    return err;
}

void orr_slabs_free(struct orr_runtime *rt)
{
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_free(rt->slabs->jobs[i]);
    orr_slab_free(rt->slabs->edges);
    orr_slab_free(rt->slabs->requests);
    orr_task_slab_return(rt->slabs->tasks);
    orr_handle_slabs_free(rt);
    orr_counters_free(rt);
}

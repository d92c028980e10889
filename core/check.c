/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/check.c - see check.h. Handles are held by the runtime's lock, behind
 * which theirs come in the order of ranks: they are only tried.
 */
#include "core/check.h"

#include "core/base/check.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"

static void check_handles(struct orr_runtime *rt, unsigned max)
{
    orr_lock(&rt->lock);
    orr_list_foreach (link, &rt->data->handles) {
        struct orr_handle *handle = orr_container(link, struct orr_handle, all);

        if (max-- == 0)
            break;
        if (!orr_trylock(&handle->lock))
            continue;
        orr_handle_check(handle);
        orr_unlock(&handle->lock);
    }
    orr_unlock(&rt->lock);
}

/* No lock held. */
static void check_worker(struct orr_worker *worker)
{
    const struct orr_runtime *rt = worker->runtime;

    ORR_CHECK(worker == &rt->workers->at[worker->id]);
    ORR_CHECK(worker->class_id < rt->workers->nclasses);
    ORR_CHECK(worker->desc == &rt->machine->workers[worker->id]);
    orr_lock(&worker->lock);
    orr_list_foreach (link, &worker->local)
        orr_job_check(orr_container(link, struct orr_job, queue));
    orr_list_foreach (link, &worker->ended) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        orr_job_check(job);
        ORR_CHECK(job->worker == (int)worker->id);
    }
    orr_unlock(&worker->lock);
}

void orr_runtime_check(struct orr_runtime *rt, unsigned max)
{
    check_handles(rt, max);
    for (unsigned node = 0; node < rt->nodes->n; node++)
        orr_node_check(rt, &rt->nodes->at[node]);
    for (unsigned w = 0; w < rt->workers->n; w++)
        check_worker(&rt->workers->at[w]);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/check.c - what holds of handles, their replicates and requests,
 * and of memory nodes, whenever their locks are free.
 */
#include "core/base/check.h"
#include "core/data/eviction.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"

void orr_request_check(const struct orr_request *request)
{
    const struct orr_handle *handle = request->handle;
    const struct orr_runtime *rt = request->runtime;

    ORR_CHECK(request->dst < rt->nodes->n);
    ORR_CHECK(request->src < rt->nodes->n || request->src == ORR_NO_NODE);
    ORR_CHECK(request->src != request->dst);
    ORR_CHECK(request->progress_node < rt->nodes->n);
    ORR_CHECK(request->level < ORR_FETCH_LEVELS);
    ORR_CHECK(request->state <= ORR_REQUEST_RUNNING);
    ORR_CHECK(!request->pinned || handle->replicates[request->src].refs > 0);
    ORR_CHECK(handle->runtime == rt);
    ORR_CHECK(handle->replicates[request->dst].request == request);
    for (struct orr_access *a = request->waiters; a; a = *orr_access_waits(a))
        ORR_CHECK(orr_access_datum(a) == handle && a->pinned);
}

void orr_replicate_check(const struct orr_replicate *replicate)
{
    const struct orr_handle *handle = replicate->handle;
    const struct orr_block *block = replicate->block;
    uint64_t bit = UINT64_C(1) << replicate->node;

    ORR_CHECK(replicate->node < handle->nnodes);
    ORR_CHECK(!(handle->allocated & bit) == !replicate->allocated);
    ORR_CHECK(replicate->allocated || !(handle->valid & bit));
    ORR_CHECK(replicate->request || !(handle->loading & bit));
    ORR_CHECK(!replicate->request || replicate->refs > 0);
    ORR_CHECK(replicate->writers <= replicate->refs);
    ORR_CHECK(replicate->reserved == 0 || replicate->refs > 0);
    ORR_CHECK(replicate->reserved == 0 || !replicate->allocated);
    ORR_CHECK(replicate->promised <= replicate->handle->nusers);
    if (replicate->request)
        orr_request_check(replicate->request);
    ORR_CHECK(block || !replicate->offered);
    if (!block)
        return;
    ORR_CHECK(replicate->allocated);
    ORR_CHECK(block->node == replicate->node);
    ORR_CHECK(atomic_load(&block->ninhabitants) > 0);
    /* What a job holds that is being tried stays among those that could leave:
     * admit.c. */
    ORR_CHECK(!replicate->offered || replicate->refs == replicate->held);
}

static unsigned handle_check_order(const struct orr_handle *handle)
{
    unsigned n = 0, claims = 0;

    orr_turns_check(&handle->turns);
    orr_turns_foreach (access, &handle->turns) {
        ORR_CHECK(access->handle == handle && access->ordered);
        ORR_CHECK(orr_job_state(access->job) != ORR_JOB_DONE);
        claims += access->claimed;
        n++;
    }
    ORR_CHECK(claims <= handle->claims.n);
    ORR_CHECK(handle->claims.n <= 1 ||
              handle->claims.kind != ORR_CLAIM_EXCLUSIVE);
    ORR_CHECK(handle->claims.n <= handle->nusers);
    orr_list_foreach (link, &handle->claims.queue) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        ORR_CHECK(orr_job_state(job) == ORR_JOB_CLAIMING);
        ORR_CHECK(job->claim.refused_by->handle == handle);
    }
    return n;
}

void orr_handle_check(struct orr_handle *handle)
{
    unsigned users = handle_check_order(handle), refs = 0;

    for (unsigned node = 0; node < handle->nnodes; node++) {
        struct orr_replicate *replicate = &handle->replicates[node];

        ORR_CHECK(replicate->handle == handle && replicate->node == node);
        orr_replicate_check(replicate);
        users += replicate->request != NULL;
        refs += replicate->refs;
    }
    ORR_CHECK(handle->nusers >= users);
    /* Private data have no users, but references; a switch of planned parts holds
     * them without (plan_switch.c). */
    ORR_CHECK(handle->writing <= refs || handle->family);
    ORR_CHECK(!handle->dying || handle->nusers == 0);
    ORR_CHECK(!handle->partitioned || handle->valid == 0);
}

void orr_node_check(struct orr_runtime *rt, struct orr_node *node)
{
    orr_lock(&node->lock);
    ORR_CHECK(node == &rt->nodes->at[node->id]);
    ORR_CHECK(node->progress_worker == rt->workers->n || node->nprogress > 0);
    for (unsigned level = 0; level < ORR_FETCH_LEVELS; level++)
        orr_list_foreach (link, &node->queues[level]) {
            struct orr_request *request =
                orr_container(link, struct orr_request, link);

            ORR_CHECK(request->progress_node == node->id);
            ORR_CHECK(request->state == ORR_REQUEST_QUEUED);
        }
    rt->nodes->eviction->check(node);
    orr_list_foreach (link, &node->admission.jobs) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        ORR_CHECK(job->data.wants_memory &&
                  !(orr_job_admitted(job) >> node->id & 1));
        for (unsigned i = 0; i < job->naccesses; i++)
            ORR_CHECK(!job->accesses[i].pinned ||
                      job->accesses[i].node != node->id);
    }
    for (unsigned i = 0; i < rt->machine->row * 2; i++)
        ORR_CHECK(node->inflight[i] < 1u << 16);
    orr_unlock(&node->lock);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/estimate.c - how long transfers will take, for schedulers and for
 * the choice of a source. Any context; reads without locks.
 */
#include <math.h>

#include "core/data/bus.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

void orr_node_estimate(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    for (unsigned dst = 0; dst < rt->nodes->n; dst++) {
        const struct orr_bus *bus = orr_bus_find(rt, id, dst);
        unsigned sharers =
            bus ? orr_bus_sharers(rt, bus) : rt->nodes->n - rt->nodes->nram;
        double bandwidth =
            rt->machine->bandwidth[orr_machine_pair(rt->machine, id, dst)];

        /* As in StarPU, all devices are expected to share the bus, both ways at
         * once. */
        atomic_store_explicit(&node->slowness[dst], 2.0 * sharers / bandwidth,
                              memory_order_relaxed);
    }
}

double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t size)
{
    const struct orr_node *node = &rt->nodes->at[src];
    double time;

    if (src == dst)
        return 0;
    time = atomic_load_explicit(&node->slowness[dst], memory_order_relaxed) *
               (double)size +
           node->latency[dst];
    return isnan(time) ? 0 : time;
}

static double from_best_source(struct orr_runtime *rt, uint64_t valid,
                               unsigned node, size_t size)
{
    const struct orr_machine *machine = rt->machine;
    double best = -1;

    for (uint64_t left = valid; left; left &= left - 1) {
        unsigned src = (unsigned)__builtin_ctzll(left);
        double time;

        if (machine->direct[orr_machine_pair(machine, src, node)])
            time = orr_transfer_predict(rt, src, node, size);
        else
            time = orr_transfer_predict(rt, src, 0, size) +
                   orr_transfer_predict(rt, 0, node, size);
        if (best < 0 || time < best)
            best = time;
    }
    return best < 0 ? 0 : best;
}

double orr_handle_transfer_time(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node,
                                uint32_t mode)
{
    uint64_t bit = UINT64_C(1) << node;
    uint64_t valid = atomic_load_explicit(&handle->valid, memory_order_relaxed);
    double time;

    if (!(mode & STARPU_R) || handle->size == 0)
        return 0;
    if ((valid | atomic_load_explicit(&handle->loading, memory_order_relaxed)) &
        bit)
        return 0;
    time = from_best_source(rt, valid, node, handle->size);
    if (rt->nodes->count_write_back && mode & STARPU_W &&
        handle->home_node >= 0)
        time += orr_transfer_predict(rt, node, (unsigned)handle->home_node,
                                     handle->size);
    return time;
}

uint64_t orr_job_absent(const struct orr_job *job)
{
    uint64_t absent = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;

        if (access->placed)
            absent = ~UINT64_C(0);
        else if (access->mode & STARPU_R && !(access->mode & STARPU_SCRATCH))
            absent |=
                ~(atomic_load_explicit(&handle->valid, memory_order_relaxed) |
                  atomic_load_explicit(&handle->loading, memory_order_relaxed));
    }
    return absent;
}

double orr_job_transfer_time(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned node)
{
    double sum = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        int at = orr_access_place_for(access, node);

        if (at >= 0 && !access->duplicate && !(access->mode & STARPU_SCRATCH))
            sum += orr_handle_transfer_time(rt, access->handle, (unsigned)at,
                                            access->mode);
    }
    return sum;
}

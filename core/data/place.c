/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/place.c - on which node each buffer of a task is used: that of its
 * worker, unless the codelet says otherwise (specific_nodes). What a codelet says
 * may depend on the worker, and on where the value is: it is decided when the job
 * fetches its data; before, policies get the answer of the moment.
 */
#include <errno.h>

#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

/* --- checks --- */

static int complain(const struct starpu_task *task, unsigned buffer,
                    const char *what)
{
    orr_log_error("starpu_task_submit: codelet `%s': nodes[%u] = %d %s",
                  task->cl->name ? task->cl->name : "?", buffer,
                  orr_task_node_code(task, buffer), what);
    return -EINVAL;
}

/* One code for all that mean the same node, whichever worker runs the task. */
static int common_code(const struct orr_runtime *rt,
                       const struct starpu_task *task, unsigned buffer)
{
    int code = orr_task_node_code(task, buffer);

    switch (code) {
    case STARPU_SPECIFIC_NODE_SLOW:
        code = STARPU_SPECIFIC_NODE_CPU;
        break;
    case STARPU_SPECIFIC_NODE_FAST:
        code = STARPU_SPECIFIC_NODE_LOCAL;
        break;
    default:
        break;
    }
    if (rt->nodes->nram == 1 &&
        (code == STARPU_SPECIFIC_NODE_CPU ||
         (code < 0 && code != STARPU_SPECIFIC_NODE_NONE &&
          !rt->machine->all_devices &&
          orr_codelet_stays_on_host(
              task->cl, task->where > 0 ? (uint32_t)task->where : 0))))
        return STARPU_MAIN_RAM;
    return code;
}

/* A value is written in one place. */
static int buffer_check_others(const struct orr_runtime *rt,
                               const struct starpu_task *task, unsigned buffer)
{
    for (unsigned i = 0; i < buffer; i++) {
        unsigned modes =
            STARPU_TASK_GET_MODE(task, buffer) | STARPU_TASK_GET_MODE(task, i);

        if (STARPU_TASK_GET_HANDLE(task, i) ==
                STARPU_TASK_GET_HANDLE(task, buffer) &&
            modes & STARPU_W && !(modes & STARPU_SCRATCH) &&
            common_code(rt, task, i) != common_code(rt, task, buffer))
            return complain(task, buffer,
                            "differs from that of an earlier buffer with the "
                            "same data: several nodes at once can only be "
                            "read");
    }
    return 0;
}

int orr_task_check_places(const struct orr_runtime *rt,
                          const struct starpu_task *task)
{
    unsigned n = STARPU_TASK_GET_NBUFFERS(task);

    if (n > STARPU_NMAXBUFS && !task->cl->dyn_nodes) {
        orr_log_error("starpu_task_submit: codelet `%s' has specific_nodes and "
                      "%u buffers, more than nodes[] has: set dyn_nodes",
                      task->cl->name ? task->cl->name : "?", n);
        return -EINVAL;
    }
    for (unsigned i = 0; i < n; i++) {
        int code = orr_task_node_code(task, i), err;

        if (code >= (int)rt->nodes->n || code < STARPU_SPECIFIC_NODE_NONE)
            return complain(task, i,
                            "is no memory node of this machine: see "
                            "starpu_memory_nodes_get_count()");
        err = buffer_check_others(rt, task, i);
        if (err)
            return err;
    }
    return 0;
}

/* --- answers --- */

/* Which node of main memory: the worker's own, if that is one, else the one where the
 * application has the value. */
static unsigned main_memory(const struct orr_runtime *rt,
                            const struct orr_handle *handle, unsigned node)
{
    return node < rt->nodes->nram ? node : orr_handle_base(handle);
}

/* Main memory if the value is there and not on the worker's node. */
static unsigned nearest(const struct orr_runtime *rt,
                        const struct orr_handle *handle, unsigned node)
{
    uint64_t there =
        atomic_load_explicit(&handle->valid, memory_order_relaxed) |
        atomic_load_explicit(&handle->loading, memory_order_relaxed);
    unsigned base = main_memory(rt, handle, node);

    return !(there >> node & 1) && there >> base & 1 ? base : node;
}

int orr_task_place(const struct orr_runtime *rt, const struct starpu_task *task,
                   unsigned buffer, unsigned node)
{
    const struct orr_handle *handle =
        orr_handle_of(STARPU_TASK_GET_HANDLE(task, buffer));
    int code = orr_task_node_code(task, buffer);

    switch (code) {
    case STARPU_SPECIFIC_NODE_NONE:
        return -1;
    case STARPU_SPECIFIC_NODE_CPU:
    case STARPU_SPECIFIC_NODE_SLOW:
        return (int)main_memory(rt, handle, node);
    case STARPU_SPECIFIC_NODE_LOCAL_OR_CPU:
        return (int)nearest(rt, handle, node);
    case STARPU_SPECIFIC_NODE_LOCAL:
    case STARPU_SPECIFIC_NODE_FAST:
        return (int)node;
    default:
        return code;
    }
}

/* --- jobs --- */

void orr_job_mark_places(struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        job->accesses[i].placed = orr_task_is_placed(job->task, i);
        job->data.spread |= job->accesses[i].placed;
    }
}

int orr_access_place_for(const struct orr_access *access, unsigned node)
{
    if (!access->placed)
        return (int)node;
    if (!access->job->task)
        return -1; /* STARPU_ACQUIRE_NO_NODE */
    return orr_task_place(access->handle->runtime, access->job->task,
                          access->index, node);
}

/* An earlier buffer of the same data, placed by the same rule. */
static const struct orr_access *twin_of(const struct orr_access *access)
{
    const struct orr_job *job = access->job;
    const struct orr_access *other = job->accesses;

    if (!access->duplicate)
        return NULL;
    while (other < access && (other->handle != access->handle ||
                              orr_task_node_code(job->task, other->index) !=
                                  orr_task_node_code(job->task, access->index)))
        other++;
    return other < access ? other : NULL;
}

void orr_access_place(struct orr_access *access, unsigned node)
{
    const struct orr_access *twin = twin_of(access);
    int at;

    if (twin) {
        access->at = twin->at;
        return;
    }
    at = orr_access_place_for(access, node);
    access->at = at < 0 ? ORR_NO_PLACE : (uint8_t)at;
    if (at >= 0)
        access->job->left |= UINT64_C(1) << at;
}

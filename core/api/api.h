/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/api.h - what the public functions share: finding the runtime and
 * checking arguments. A mistake of the caller that the function cannot return
 * ends the program, with a message that names the call.
 */
#pragma once

#include <stdlib.h>

#include <starpu.h>

#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/exec/guest.h"
#include "core/exec/runtime.h"
#include "core/observe/calls.h"
#include "core/worker/workers.h"

/* The runtime of the caller; without one the program ends. */
#define ORR_API_RUNTIME() orr_runtime_need(__func__)

/* The worker numbered `id`; ends the program when there is none. Lent. */
static inline struct orr_worker *orr_api_worker(const char *call, long id)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (id >= 0 && id < (long)rt->workers->n)
        return &rt->workers->at[id];
    orr_log_error("%s: there is no worker %ld, they are numbered 0 to %u", call,
                  id, rt->workers->n - 1);
    abort();
}

/* An array of n elements, which are `what`: NULL is allowed if n is 0, else it ends the
 * program. */
static inline void orr_api_array(const char *call, const void *array,
                                 unsigned n, const char *what)
{
    if (array || n == 0)
        return;
    orr_log_error("%s: the array of %s is NULL, but %u are to be in it", call,
                  what, n);
    abort();
}

/* The memory node `node` of the machine, as above; a message has the number as the
 * caller wrote it, such as -5, although it came as unsigned. */
static inline const struct orr_node_desc *orr_api_node(const char *call,
                                                       long node)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (node >= 0 && node < (long)rt->nodes->n)
        return &rt->machine->nodes[node];
    orr_log_error("%s: there is no memory node %d, they are numbered 0 to %u",
                  call, (int)node, rt->nodes->n - 1);
    abort();
}

/* Registers the disk of STARPU_DISK_SWAP, if there is one. */
void orr_api_swap(struct orr_runtime *rt);

/* The handle behind the public name; ends the program if there is none. */
static inline struct orr_handle *orr_api_handle(const char *call,
                                                starpu_data_handle_t handle)
{
    const char *trouble;

    /* Memory of handles is gone with the runtime. */
    (void)orr_runtime_need(call);
    trouble = orr_handle_trouble(orr_handle_of(handle));
    if (!trouble)
        return orr_handle_of(handle);
    orr_log_error("%s: the data handle is %s", call, trouble);
    abort();
}

/* starpu_task_end_dep_release and starpu_sched_ctx_delete for calls made of them, which
 * their messages name. In task_end.c, sched_ctx.c. */
void orr_api_end_dep_release(const char *call, struct starpu_task *task);
void orr_api_sched_ctx_delete(const char *call, unsigned sched_ctx_id);
/* Ends the program with a message in tasks and callbacks. In sched_ctx.c. */
void orr_api_expect_outside(const char *call);

/* A task that can be submitted on its own and is freed after its end, with copies
 * of what the task owns; NULL without memory. In task.c. */
struct starpu_task *orr_api_task_copy(const struct starpu_task *task);

/* The memory node of the caller: a worker's own, else main memory. */
static inline unsigned orr_api_local_node(void)
{
    return orr_self && orr_self->worker ? orr_self->worker->desc->node
                                        : STARPU_MAIN_RAM;
}

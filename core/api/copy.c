/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/copy.c - copying the value of one handle to another, by a task. Any
 * thread; what waits is refused in callbacks and kernels.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/data/label.h"
#include "core/device/machine.h"
#include "core/device/methods.h"
#include "core/job/job.h"
#include "core/observe/views.h"

/* Both data are on the worker's node. */
static void copy(void *buffers[], void *cl_arg)
{
    const starpu_data_handle_t *handles =
        STARPU_TASK_GET_HANDLES(starpu_task_get_current());
    struct orr_handle *dst = orr_handle_of(handles[0]);
    struct orr_handle *src = orr_handle_of(handles[1]);
    unsigned node = starpu_worker_get_local_memory_node();
    int rc;

    (void)cl_arg;
    if (orr_handle_packs_on_host(src, node, node))
        rc = orr_handle_copy_on_host(src, node, dst, node);
    else
        rc = orr_copy_by_methods(ORR_API_RUNTIME()->machine, src->ops,
                                 buffers[1], node, buffers[0], node, NULL);
    /* A synchronous copy leaves nothing under way, so a method's -EAGAIN counts as
     * success. */
    if (rc != -EAGAIN)
        orr_self->job->kernel->found = rc;
}

static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "starpu_data_cpy",
};

static struct starpu_codelet codelet = {
    .cpu_funcs = {copy},
    .cuda_funcs = {copy},
    .hip_funcs = {copy},
    .opencl_funcs = {copy},
    .nbuffers = 2,
    .modes = {STARPU_W, STARPU_R},
    .model = &model,
    .name = "starpu_data_cpy",
};

/* Data of another shape may have room for as many bytes. */
static bool fits(const struct orr_handle *src, const struct orr_handle *dst)
{
    return !src->ops->compare || src->size <= dst->size ||
           src->ops->compare(src->replicates[STARPU_MAIN_RAM].interface,
                             dst->replicates[STARPU_MAIN_RAM].interface);
}

int starpu_data_cpy_priority(starpu_data_handle_t dst_handle,
                             starpu_data_handle_t src_handle, int asynchronous,
                             void (*callback_func)(void *), void *callback_arg,
                             int priority)
{
    struct orr_handle *dst = orr_api_handle(__func__, dst_handle);
    struct orr_handle *src = orr_api_handle(__func__, src_handle);
    struct starpu_task *task;
    int rc;

    if (dst == src) {
        if (callback_func)
            callback_func(callback_arg);
        return 0;
    }
    if (dst->ops->interfaceid != src->ops->interfaceid) {
        orr_log_error("starpu_data_cpy: the two data are of different kinds "
                      "(interfaces %d and %d)",
                      (int)dst->ops->interfaceid, (int)src->ops->interfaceid);
        abort();
    }
    if (!fits(src, dst)) {
        orr_log_error("starpu_data_cpy: %s has another shape than %s: what is "
                      "copied would not fit there",
                      orr_handle_label(src).text, orr_handle_label(dst).text);
        abort();
    }
    task = starpu_task_create();
    if (!task) {
        orr_log_error("starpu_data_cpy: out of memory");
        abort();
    }
    task->cl = &codelet;
    task->handles[0] = dst_handle;
    task->handles[1] = src_handle;
    task->callback_func = callback_func;
    task->callback_arg = callback_arg;
    task->synchronous = !asynchronous;
    task->priority = priority;
    rc = starpu_task_submit(task);
    if (rc != 0) {
        task->destroy = 0;
        starpu_task_destroy(task);
    }
    return rc;
}

int starpu_data_cpy(starpu_data_handle_t dst_handle,
                    starpu_data_handle_t src_handle, int asynchronous,
                    void (*callback_func)(void *), void *callback_arg)
{
    return starpu_data_cpy_priority(dst_handle, src_handle, asynchronous,
                                    callback_func, callback_arg,
                                    STARPU_DEFAULT_PRIO);
}

/* Waits until the copy has the value. */
static int await(starpu_data_handle_t handle)
{
    int rc =
        starpu_data_acquire_on_node(handle, STARPU_ACQUIRE_NO_NODE, STARPU_R);

    if (rc == 0)
        starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
    return rc;
}

/* Shares a read-only copy that exists already, or makes one. */
static int duplicate(starpu_data_handle_t *dst_handle,
                     starpu_data_handle_t src_handle, int asynchronous)
{
    struct orr_handle *src = orr_api_handle("starpu_data_dup_ro", src_handle);
    struct orr_handle *copy = orr_duplicate_share(src);
    int rc;

    if (copy) {
        *dst_handle = orr_handle_public(copy);
        return asynchronous ? 0 : await(*dst_handle);
    }
    starpu_data_register_same(dst_handle, src_handle);
    rc = starpu_data_cpy(*dst_handle, src_handle, 1, NULL, NULL);
    if (rc != 0) {
        starpu_data_unregister_no_coherency(*dst_handle);
        return rc;
    }
    orr_duplicate_join(src, orr_handle_of(*dst_handle));
    return asynchronous ? 0 : await(*dst_handle);
}

int starpu_data_dup_ro(starpu_data_handle_t *dst_handle,
                       starpu_data_handle_t src_handle, int asynchronous)
{
    ORR_API(rt, __func__);
    int rc;

    orr_calls_mute(rt, true);
    rc = duplicate(dst_handle, src_handle, asynchronous);
    orr_calls_mute(rt, false);
    if (rc == 0)
        ORR_RECORD(rt, DUPLICATE, .id = orr_handle_of(*dst_handle)->id,
                   .of = orr_handle_of(src_handle)->id,
                   .synchronous = !asynchronous);
    return rc;
}

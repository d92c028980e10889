/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/queue.c - command queues: of a device, or of all that the context has. */
#include <stdlib.h>

#include "opencl/socl.h"

void socl_queue_unref(cl_command_queue queue)
{
    if (!socl_drop(&queue->head))
        return;
    socl_context_unref(queue->context);
    free(queue);
}

/* Commands that have ended hold the queue no more. */
static void queue_forget(cl_command_queue queue)
{
    cl_event last = NULL, barrier = NULL;

    socl_lock();
    queue->released = true;
    if (queue->last && queue->last->status <= CL_COMPLETE) {
        last = queue->last;
        queue->last = NULL;
    }
    if (queue->barrier && queue->barrier->status <= CL_COMPLETE) {
        barrier = queue->barrier;
        queue->barrier = NULL;
    }
    socl_unlock();
    if (last)
        socl_event_unref(last);
    if (barrier)
        socl_event_unref(barrier);
}

static cl_int check_queue(cl_context context, cl_device_id device,
                          cl_command_queue_properties properties)
{
    const cl_command_queue_properties known =
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    if (device && socl_find_device(context->devices, context->n, device) < 0)
        return CL_INVALID_DEVICE;
    if (properties & ~known)
        return properties & ~(known | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)
                   ? CL_INVALID_VALUE
                   : CL_INVALID_QUEUE_PROPERTIES;
    return CL_SUCCESS;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *ret_error)
{
    cl_int error = check_queue(context, device, properties);
    cl_command_queue queue;

    if (error != CL_SUCCESS)
        return socl_fail(ret_error, error);
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    queue->head = (struct socl_head){&socl_dispatch, 1};
    socl_retain(&context->head);
    queue->context = context;
    queue->device = socl.force_dynamic ? NULL : device;
    queue->shown = device ? device : context->devices[0];
    queue->properties = properties;
    if (properties & CL_QUEUE_PROFILING_ENABLE)
        starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    socl_fail(ret_error, CL_SUCCESS);
    return queue;
}

static cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
                                                      const cl_queue_properties *list,
                                                      cl_int *ret_error)
{
    cl_command_queue_properties properties = 0;

    for (; list && *list; list += 2) {
        if (list[0] == CL_QUEUE_PROPERTIES)
            properties = list[1];
        else
            return socl_fail(ret_error, list[0] == CL_QUEUE_SIZE ? CL_INVALID_QUEUE_PROPERTIES
                                                                 : CL_INVALID_VALUE);
    }
    return create_queue(context, device, properties, ret_error);
}

static cl_int CL_API_CALL retain_queue(cl_command_queue queue)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    socl_retain(&queue->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    socl_sweep();
    queue_forget(queue);
    socl_queue_unref(queue);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info what,
                                         size_t size, void *to, size_t *ret)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT:
        SOCL_ANSWER(cl_context, queue->context);
    case CL_QUEUE_DEVICE:
        SOCL_ANSWER(cl_device_id, queue->shown);
    case CL_QUEUE_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, queue->head.refs);
    case CL_QUEUE_PROPERTIES:
        SOCL_ANSWER(cl_command_queue_properties, queue->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL set_property(cl_command_queue queue,
                                       cl_command_queue_properties properties, cl_bool enable,
                                       cl_command_queue_properties *before)
{
    cl_int error;

    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    error = check_queue(queue->context, NULL, properties);
    if (error != CL_SUCCESS)
        return error;
    if (before)
        *before = queue->properties;
    socl_queue_finish(queue);
    queue->properties =
        enable ? queue->properties | properties : queue->properties & ~properties;
    if (queue->properties & CL_QUEUE_PROFILING_ENABLE)
        starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    return CL_SUCCESS;
}

/* Commands are on their way when they were enqueued. */
static cl_int CL_API_CALL flush(cl_command_queue queue)
{
    return socl_is(queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (socl_inside)
        return CL_INVALID_OPERATION; /* a callback may not wait */
    socl_queue_finish(queue);
    socl_sweep();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_event *event)
{
    if (!event)
        return CL_INVALID_VALUE;
    return socl_marker(queue, CL_COMMAND_MARKER, (struct socl_waits){0, NULL}, false, event);
}

static cl_int CL_API_CALL marker_with(cl_command_queue queue, cl_uint n, const cl_event *events,
                                      cl_event *event)
{
    return socl_marker(queue, CL_COMMAND_MARKER, (struct socl_waits){n, events}, false, event);
}

static cl_int CL_API_CALL barrier(cl_command_queue queue)
{
    return socl_marker(queue, CL_COMMAND_BARRIER, (struct socl_waits){0, NULL}, true, NULL);
}

static cl_int CL_API_CALL barrier_with(cl_command_queue queue, cl_uint n,
                                       const cl_event *events, cl_event *event)
{
    return socl_marker(queue, CL_COMMAND_BARRIER, (struct socl_waits){n, events}, true, event);
}

static cl_int CL_API_CALL wait_in_queue(cl_command_queue queue, cl_uint n,
                                        const cl_event *events)
{
    if (n == 0 || !events)
        return CL_INVALID_VALUE;
    return socl_marker(queue, CL_COMMAND_BARRIER, (struct socl_waits){n, events}, true, NULL);
}

void socl_fill_queues(cl_icd_dispatch *to)
{
    to->clCreateCommandQueue = create_queue;
    to->clCreateCommandQueueWithProperties = create_queue_with;
    to->clRetainCommandQueue = retain_queue;
    to->clReleaseCommandQueue = release_queue;
    to->clGetCommandQueueInfo = get_queue_info;
    to->clSetCommandQueueProperty = set_property;
    to->clFlush = flush;
    to->clFinish = finish;
    to->clEnqueueMarker = marker;
    to->clEnqueueMarkerWithWaitList = marker_with;
    to->clEnqueueBarrier = barrier;
    to->clEnqueueBarrierWithWaitList = barrier_with;
    to->clEnqueueWaitForEvents = wait_in_queue;
}

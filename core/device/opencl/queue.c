/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/queue.c - the queues of a device. An end is a marker's
 * event: a queue is in order, so that the marker ends when all before it has
 * ended, or fails if that has. The event calls back on a thread of OpenCL's,
 * which only posts.
 *
 * An event of one device cannot be waited for in the queue of another one,
 * whose context is another, nor can one that was not recorded yet. A user event
 * stands there for it, which the callback of its marker sets: still no thread
 * of ours looks.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/wait.h"
#include "core/device/mailbox.h"
#include "core/device/opencl/opencl.h"

cl_int opencl_queue_open(struct orr_queue *queue, struct opencl_device *device)
{
    cl_int error = 0;

    queue->device = device;
    queue->queue = device->driver->cl.CreateCommandQueue(
        device->context, device->id, OPENCL_QUEUE_PROFILING, &error);
    return error;
}

void opencl_queue_close(struct orr_queue *queue)
{
    const struct opencl_api *cl = &queue->device->driver->cl;

    if (!queue->queue)
        return;
    cl->Finish(queue->queue);
    cl->ReleaseCommandQueue(queue->queue);
    queue->queue = NULL;
}

/* -- ends -- */

static void opencl_post_end(cl_event event, int32_t status, void *arg)
{
    struct orr_post *post = arg;

    (void)event;
    if (status < 0)
        post->error = opencl_failure(status);
    orr_post(post);
}

/* The queue takes no more: the device is gone, or there is no memory. What it
 * was given is waited for. */
static void post_failure(struct orr_queue *queue, struct orr_post *post,
                         cl_int error)
{
    orr_log_warning("opencl: device %d (%s) does not say when its work ends: "
                    "%s (%d)",
                    queue->device->number, queue->device->name,
                    opencl_error(error), error);
    if (queue->device->driver->cl.Finish(queue->queue))
        post->error = opencl_failure(error);
    orr_post(post);
}

void opencl_post_at_end(struct orr_queue *queue, struct orr_post *post,
                        cl_event *ret)
{
    const struct opencl_api *cl = &queue->device->driver->cl;
    cl_event event = NULL;
    cl_int error = cl->EnqueueMarkerWithWaitList(queue->queue, 0, NULL, &event);

    post->error = 0;
    orr_post_expect(post, queue->device->driver->head.machine->exec);
    if (ret)
        *ret = error ? NULL : event;
    if (!error && ret)
        cl->RetainEvent(event);
    if (!error)
        error =
            cl->SetEventCallback(event, OPENCL_COMPLETE, opencl_post_end, post);
    /* From here on the post may be gone. */
    if (error)
        post_failure(queue, post, error);
    else
        cl->Flush(queue->queue);
    if (event)
        cl->ReleaseEvent(event);
}

void opencl_notify(struct orr_queue *queue, struct orr_post *post)
{
    opencl_post_at_end(queue, post, NULL);
}

/* -- events -- */

/* A user event that stands in a queue for one that has not happened. */
struct stand_in {
    struct stand_in *next;
    cl_event event;
};

/* The content of an event's links, from the first record or wait until it has
 * happened. */
enum { MARKER, DEVICE, STAND_INS };

static _Noreturn void opencl_queue_fail(const struct orr_queue *queue,
                                        const char *what, cl_int error)
{
    orr_log_error("opencl: device %d (%s) %s: %s (%d)", queue->device->number,
                  queue->device->name, what, opencl_error(error), error);
    abort();
}

static void opencl_event_happened(cl_event marker, int32_t status, void *arg)
{
    struct orr_event *event = arg;
    struct opencl_device *device = event->driver_link[DEVICE];
    struct opencl *driver = device->driver;
    struct stand_in *in;

    pthread_mutex_lock(&driver->events);
    in = event->driver_link[STAND_INS];
    event->driver_link[MARKER] = event->driver_link[STAND_INS] = NULL;
    /* Before that is seen: a queue is finished before its callbacks have
     * returned, and the thread that closes the driver waits for this one. */
    atomic_fetch_add_explicit(&driver->nhappening, 1, memory_order_relaxed);
    /* The event's owner may free it from here on. */
    atomic_store_explicit(&event->happened, true, memory_order_release);
    pthread_mutex_unlock(&driver->events);
    while (in) {
        struct stand_in *next = in->next;

        driver->cl.SetUserEventStatus(in->event, status);
        driver->cl.ReleaseEvent(in->event);
        free(in);
        in = next;
    }
    driver->cl.ReleaseEvent(marker);
    atomic_fetch_sub_explicit(&driver->nhappening, 1, memory_order_release);
}

void opencl_await_callbacks(struct opencl *driver)
{
    ORR_SPIN_WHILE(
        atomic_load_explicit(&driver->nhappening, memory_order_acquire));
}

void opencl_record(struct orr_queue *queue, struct orr_event *event)
{
    struct opencl *driver = queue->device->driver;
    cl_event marker;
    cl_int error =
        driver->cl.EnqueueMarkerWithWaitList(queue->queue, 0, NULL, &marker);

    if (error)
        opencl_queue_fail(queue, "cannot record an event", error);
    pthread_mutex_lock(&driver->events);
    event->driver_link[MARKER] = marker;
    event->driver_link[DEVICE] = queue->device;
    pthread_mutex_unlock(&driver->events);
    error = driver->cl.SetEventCallback(marker, OPENCL_COMPLETE,
                                        opencl_event_happened, event);
    if (error)
        opencl_queue_fail(queue, "cannot record an event", error);
    driver->cl.Flush(queue->queue);
}

/* The caller holds the lock of events. The caller releases what it returns. */
static cl_event stand_in(struct orr_queue *queue, struct orr_event *event)
{
    const struct opencl_api *cl = &queue->device->driver->cl;
    struct stand_in *in = malloc(sizeof(*in));
    cl_int error = OPENCL_OUT_OF_HOST_MEMORY;

    if (in)
        in->event = cl->CreateUserEvent(queue->device->context, &error);
    if (error)
        opencl_queue_fail(queue, "cannot wait for an event", error);
    cl->RetainEvent(in->event);
    in->next = event->driver_link[STAND_INS];
    event->driver_link[STAND_INS] = in;
    return in->event;
}

static void wait_in_queue(struct orr_queue *queue, cl_event event)
{
    const struct opencl_api *cl = &queue->device->driver->cl;
    cl_int error =
        cl->EnqueueBarrierWithWaitList(queue->queue, 1, &event, NULL);

    if (error)
        opencl_queue_fail(queue, "cannot wait for an event", error);
    cl->Flush(queue->queue);
    cl->ReleaseEvent(event);
}

void opencl_wait(struct orr_queue *queue, struct orr_event *event)
{
    struct opencl *driver = queue->device->driver;
    cl_event awaited = NULL;

    pthread_mutex_lock(&driver->events);
    if (atomic_load_explicit(&event->happened, memory_order_acquire)) {
        awaited = NULL;
    } else if (event->driver_link[MARKER] &&
               event->driver_link[DEVICE] == queue->device) {
        awaited = event->driver_link[MARKER];
        driver->cl.RetainEvent(awaited);
    } else {
        awaited = stand_in(queue, event);
    }
    pthread_mutex_unlock(&driver->events);
    if (awaited)
        wait_in_queue(queue, awaited);
}

/* -- methods of applications -- */

typedef int (*opencl_method_t)(void *, unsigned, void *, unsigned, cl_event *);

int opencl_call_method(struct orr_driver *driver, int (*method)(void),
                       void *src, unsigned src_node, void *dst,
                       unsigned dst_node, struct orr_async *async)
{
    opencl_method_t own = (opencl_method_t)(void (*)(void))method;
    cl_event event = NULL;
    int rc = own(src, src_node, dst, dst_node, &event);

    (void)driver;
    if (!event)
        return rc;
    /* It may be in a queue of the application's: ours ends no earlier. */
    wait_in_queue(async->queue, event);
    async->used = true;
    return -EAGAIN;
}

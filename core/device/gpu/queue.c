/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/queue.c - the queues of a GPU. A callback in a stream holds up
 * what is behind it until the host has returned from it. So an end is called back
 * in a second stream, which waits for an event in the first one: the queue itself
 * goes on. The callback gets the error, if there was one, and only posts.
 *
 * An event of core's is one of the vendor's, a mark, from its record until it has
 * happened. A callback may not destroy it: the next record does.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/gpu/gpu.h"
#include "core/device/mailbox.h"

/* -- opening -- */

int gpu_queue_open(struct orr_queue *queue, struct gpu_device *device)
{
    const struct gpu_api *api = &device->driver->api;
    int code;

    *queue = (struct orr_queue){.device = device};
    code = api->stream_create(&queue->stream, GPU_STREAM_NON_BLOCKING);
    if (!code)
        code = api->stream_create(&queue->ends, GPU_STREAM_NON_BLOCKING);
    if (!code)
        code = api->event_create(&queue->end, GPU_EVENT_WITHOUT_TIME);
    if (!code)
        code = api->event_create(&queue->passed, GPU_EVENT_WITHOUT_TIME);
    return code;
}

/* Codes of a device that is lost change nothing here. */
void gpu_queue_close(struct orr_queue *queue)
{
    const struct gpu_api *api;

    if (!queue->device)
        return;
    api = &queue->device->driver->api;
    if (queue->stream)
        (void)api->stream_synchronize(queue->stream);
    if (queue->ends)
        (void)api->stream_synchronize(queue->ends);
    if (queue->end)
        (void)api->event_destroy(queue->end);
    if (queue->passed)
        (void)api->event_destroy(queue->passed);
    if (queue->ends)
        (void)api->stream_destroy(queue->ends);
    if (queue->stream)
        (void)api->stream_destroy(queue->stream);
    *queue = (struct orr_queue){0};
}

struct orr_queue *gpu_queue(struct orr_driver *driver, unsigned node,
                            enum orr_queue_use use)
{
    struct gpu_device *device = orr_gpu_on_node((struct gpu *)driver, node);

    return use == ORR_QUEUE_KERNELS ? &device->workers[0].kernels
                                    : &device->queues[use];
}

/* -- ends -- */

int gpu_call_at_end(struct orr_queue *queue, gpu_event_t mark,
                    gpu_callback_t call, void *arg)
{
    const struct gpu_api *api = &queue->device->driver->api;
    int code = api->event_record(mark, queue->stream);

    if (!code)
        code = api->stream_wait(queue->ends, mark, 0);
    if (!code)
        code = api->stream_callback(queue->ends, call, arg, 0);
    return code;
}

static void note_loss(struct gpu_device *device, int code)
{
    if (gpu_errno(code) == -ENODEV)
        atomic_store_explicit(&device->lost, true, memory_order_relaxed);
}

static void gpu_post_end(gpu_stream_t stream, int code, void *arg)
{
    struct orr_post *post = arg;

    (void)stream;
    if (code)
        post->error = gpu_failure(code);
    orr_post(post);
}

/* The queue takes no more: the device is gone, or there is no memory. What it was
 * given is waited for. */
void gpu_post_failure(struct orr_queue *queue, struct orr_post *post, int code)
{
    struct gpu_device *device = queue->device;
    const struct gpu_api *api = &device->driver->api;

    orr_log_warning("%s: device %d (%s) does not say when its work ends: "
                    "%s (%d)",
                    device->driver->vendor->name, device->number, device->name,
                    gpu_words(api, code), code);
    note_loss(device, code);
    if (api->stream_synchronize(queue->stream))
        post->error = gpu_failure(code);
    orr_post(post);
}

void gpu_notify(struct orr_queue *queue, struct orr_post *post)
{
    const struct gpu_vendor *vendor = queue->device->driver->vendor;
    intptr_t before;
    int code = vendor->enter(queue->device, &before);

    post->error = 0;
    orr_post_expect(post, queue->device->driver->head.machine->exec);
    if (code) {
        gpu_post_failure(queue, post, code);
        return;
    }
    code = gpu_call_at_end(queue, queue->end, gpu_post_end, post);
    /* Without failures the post may be gone. */
    if (code)
        gpu_post_failure(queue, post, code);
    vendor->leave(queue->device, before);
}

/* -- events -- */

struct gpu_mark {
    struct gpu_mark *next; /* of those that have happened */
    gpu_event_t event;     /* owned */
    struct gpu *driver;
    struct orr_event *recorded;
};

/* The content of an event's links from its record until it has happened. */
enum { MARK };

static _Noreturn void gpu_queue_fail(const struct orr_queue *queue,
                                     const char *what, int code)
{
    const struct gpu *driver = queue->device->driver;

    orr_log_error("%s: device %d (%s) %s: %s (%d)", driver->vendor->name,
                  queue->device->number, queue->device->name, what,
                  code ? gpu_words(&driver->api, code)
                       : "it has not been recorded yet",
                  code);
    abort();
}

/* Frees the marks of events that have happened. Not to be called in a callback
 * of the vendor's. */
void gpu_marks_done(struct gpu *driver)
{
    struct gpu_mark *marks;

    pthread_mutex_lock(&driver->events);
    marks = driver->marks;
    driver->marks = NULL;
    pthread_mutex_unlock(&driver->events);
    while (marks) {
        struct gpu_mark *next = marks->next;

        (void)driver->api.event_destroy(marks->event);
        free(marks);
        marks = next;
    }
}

/* NULL: *ret_code says why. */
static struct gpu_mark *new_mark(struct gpu *driver, int *ret_code)
{
    struct gpu_mark *mark = malloc(sizeof(*mark));

    *ret_code = GPU_OUT_OF_MEMORY;
    if (!mark)
        return NULL;
    *mark = (struct gpu_mark){.driver = driver};
    *ret_code = driver->api.event_create(&mark->event, GPU_EVENT_WITHOUT_TIME);
    if (*ret_code == GPU_SUCCESS)
        return mark;
    free(mark);
    return NULL;
}

static void gpu_event_happened(gpu_stream_t stream, int code, void *arg)
{
    struct gpu_mark *mark = arg;
    struct gpu *driver = mark->driver;
    struct orr_event *event = mark->recorded;

    (void)stream;
    (void)code;
    pthread_mutex_lock(&driver->events);
    event->driver_link[MARK] = NULL;
    mark->next = driver->marks;
    driver->marks = mark;
    /* The event's owner may free it from here on. */
    atomic_store_explicit(&event->happened, true, memory_order_release);
    pthread_mutex_unlock(&driver->events);
}

void gpu_record(struct orr_queue *queue, struct orr_event *event)
{
    struct gpu *driver = queue->device->driver;
    struct gpu_mark *mark;
    intptr_t before;
    int code = driver->vendor->enter(queue->device, &before);

    if (code)
        gpu_queue_fail(queue, "cannot record an event", code);
    gpu_marks_done(driver);
    mark = new_mark(driver, &code);
    if (mark) {
        mark->recorded = event;
        pthread_mutex_lock(&driver->events);
        event->driver_link[MARK] = mark;
        pthread_mutex_unlock(&driver->events);
        code = gpu_call_at_end(queue, mark->event, gpu_event_happened, mark);
    }
    if (code)
        gpu_queue_fail(queue, "cannot record an event", code);
    driver->vendor->leave(queue->device, before);
}

void gpu_wait(struct orr_queue *queue, struct orr_event *event)
{
    struct gpu *driver = queue->device->driver;
    const struct gpu_mark *mark;
    intptr_t before;
    int code = driver->vendor->enter(queue->device, &before);

    if (code)
        gpu_queue_fail(queue, "cannot wait for an event", code);
    pthread_mutex_lock(&driver->events);
    mark = event->driver_link[MARK];
    if (mark)
        code = driver->api.stream_wait(queue->stream, mark->event, 0);
    else if (!atomic_load_explicit(&event->happened, memory_order_acquire))
        gpu_queue_fail(queue, "cannot wait for an event", 0);
    pthread_mutex_unlock(&driver->events);
    if (code)
        gpu_queue_fail(queue, "cannot wait for an event", code);
    driver->vendor->leave(queue->device, before);
}

/* -- what is behind what -- */

struct orr_queue *gpu_worker_queue(struct orr_driver *driver, unsigned worker)
{
    return &orr_gpu_worker((struct gpu *)driver, worker)->kernels;
}

static int mark_passed(struct orr_queue *queue)
{
    const struct gpu *driver = queue->device->driver;
    intptr_t before;
    int code = driver->vendor->enter(queue->device, &before);

    if (code)
        return code;
    code = driver->api.event_record(queue->passed, queue->stream);
    driver->vendor->leave(queue->device, before);
    return code;
}

/* The event may be recorded anew once its wait is in a queue. Where another thread does
 * so before, this one waits for more than it has to, of what was there at that time: so
 * no queue waits for what is behind its own wait. */
void gpu_after(struct orr_queue *later, struct orr_queue *earlier)
{
    struct gpu *driver = later->device->driver;
    intptr_t before;
    int code = mark_passed(earlier);

    if (!code)
        code = driver->vendor->enter(later->device, &before);
    if (!code) {
        code = driver->api.stream_wait(later->stream, earlier->passed, 0);
        driver->vendor->leave(later->device, before);
    }
    if (!code)
        return;
    (void)orr_gpu_report(later->device, "a wait for another stream", code);
    if (driver->vendor->enter(earlier->device, &before))
        return;
    (void)driver->api.stream_synchronize(earlier->stream);
    driver->vendor->leave(earlier->device, before);
}

/* The event is released by the vendor when it has happened. */
int orr_gpu_stream_after(struct gpu_device *later_device, gpu_stream_t later,
                         struct gpu_device *earlier_device,
                         gpu_stream_t earlier)
{
    const struct gpu_api *api = &later_device->driver->api;
    const struct gpu_vendor *vendor = later_device->driver->vendor;
    gpu_event_t event = NULL;
    intptr_t before;
    int code = vendor->enter(earlier_device, &before);

    if (!code) {
        code = api->event_create(&event, GPU_EVENT_WITHOUT_TIME);
        if (!code)
            code = api->event_record(event, earlier);
        vendor->leave(earlier_device, before);
    }
    if (!code)
        code = vendor->enter(later_device, &before);
    if (!code) {
        code = api->stream_wait(later, event, 0);
        vendor->leave(later_device, before);
    }
    if (event)
        (void)api->event_destroy(event);
    return orr_gpu_report(later_device, "a wait for another stream", code);
}

/* -- methods of applications -- */

typedef int (*gpu_method_t)(void *, unsigned, void *, unsigned, gpu_stream_t);

int gpu_call_method(struct orr_driver *driver, int (*method)(void), void *src,
                    unsigned src_node, void *dst, unsigned dst_node,
                    struct orr_async *async)
{
    const struct gpu_vendor *vendor = ((struct gpu *)driver)->vendor;
    struct orr_queue *queue = async->queue;
    gpu_method_t own = (gpu_method_t)(void (*)(void))method;
    intptr_t before;
    int rc, code = vendor->enter(queue->device, &before);

    if (code)
        return orr_gpu_report(queue->device, "a copy", code);
    rc = own(src, src_node, dst, dst_node, queue->stream);
    vendor->leave(queue->device, before);
    async->used |= rc == -EAGAIN;
    return rc;
}

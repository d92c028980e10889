/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/bytes.c - copies between main memory and buffers, and
 * within a device. Two levels of strides are a box of OpenCL's, if its pitches
 * allow it. Bytes between two devices, whose contexts know nothing of each
 * other, go by main memory. Any context.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/opencl/opencl.h"

/* The two ends of a copy; NULL: main memory. */
struct ends {
    struct opencl_device *src, *dst;
};

static struct ends ends_of(struct opencl *driver,
                           const struct orr_raw_copy *raw)
{
    return (struct ends){orr_opencl_on_node(driver, raw->src_node),
                         orr_opencl_on_node(driver, raw->dst_node)};
}

static struct orr_queue *opencl_copy_queue(const struct ends *ends)
{
    if (ends->src && ends->dst)
        return &ends->dst->queues[ORR_QUEUE_PEER];
    return ends->src ? &ends->src->queues[ORR_QUEUE_OUT]
                     : &ends->dst->queues[ORR_QUEUE_IN];
}

/* -- runs -- */

static cl_int opencl_put_run(const struct ends *ends, cl_command_queue queue,
                             const struct orr_raw_copy *raw, cl_event *event)
{
    const struct opencl_api *cl =
        &(ends->src ? ends->src : ends->dst)->driver->cl;

    if (!ends->src)
        return cl->EnqueueWriteBuffer(
            queue, (cl_mem)raw->dst, false, raw->dst_offset, raw->size,
            (const char *)raw->src + raw->src_offset, 0, NULL, event);
    if (!ends->dst)
        return cl->EnqueueReadBuffer(
            queue, (cl_mem)raw->src, false, raw->src_offset, raw->size,
            (char *)raw->dst + raw->dst_offset, 0, NULL, event);
    return cl->EnqueueCopyBuffer(queue, (cl_mem)raw->src, (cl_mem)raw->dst,
                                 raw->src_offset, raw->dst_offset, raw->size, 0,
                                 NULL, event);
}

/* -- boxes -- */

/* One end of a box: bytes from the start of a row, rows, slices. */
struct box_end {
    size_t row, slice; /* pitches */
    size_t origin[3];
};

static struct box_end opencl_end_of_box(const struct orr_raw_copy *raw,
                                        const size_t *step, size_t offset,
                                        bool buffer)
{
    struct box_end end = {.row = step[0],
                          .slice =
                              raw->levels == 2 ? step[1] : step[0] * raw->n[0]};

    if (!buffer)
        return end; /* the host's pointer has the offset */
    end.origin[2] = offset / end.slice;
    end.origin[1] = offset % end.slice / end.row;
    end.origin[0] = offset % end.slice % end.row;
    return end;
}

static cl_int opencl_put_box(const struct ends *ends, cl_command_queue queue,
                             const struct orr_raw_copy *raw, cl_event *event)
{
    const struct opencl_api *cl =
        &(ends->src ? ends->src : ends->dst)->driver->cl;
    const size_t region[3] = {raw->size, raw->n[0],
                              raw->levels == 2 ? raw->n[1] : 1};
    const struct box_end src = opencl_end_of_box(
        raw, raw->src_step, raw->src_offset, ends->src != NULL);
    const struct box_end dst = opencl_end_of_box(
        raw, raw->dst_step, raw->dst_offset, ends->dst != NULL);

    if (!ends->src)
        return cl->EnqueueWriteBufferRect(
            queue, (cl_mem)raw->dst, false, dst.origin, src.origin, region,
            dst.row, dst.slice, src.row, src.slice,
            (const char *)raw->src + raw->src_offset, 0, NULL, event);
    if (!ends->dst)
        return cl->EnqueueReadBufferRect(
            queue, (cl_mem)raw->src, false, src.origin, dst.origin, region,
            src.row, src.slice, dst.row, dst.slice,
            (char *)raw->dst + raw->dst_offset, 0, NULL, event);
    return cl->EnqueueCopyBufferRect(
        queue, (cl_mem)raw->src, (cl_mem)raw->dst, src.origin, dst.origin,
        region, src.row, src.slice, dst.row, dst.slice, 0, NULL, event);
}

/* Puts all of it into the queue; `event` is the last one's. */
static cl_int opencl_put_copy(const struct ends *ends, cl_command_queue queue,
                              const struct orr_raw_copy *raw, cl_event *event)
{
    struct orr_raw_copy part = *raw;
    unsigned outer = raw->levels - 1;
    cl_int error = 0;

    if (raw->levels == 0)
        return opencl_put_run(ends, queue, raw, event);
    if (orr_raw_copy_is_box(raw, raw->src_step) &&
        orr_raw_copy_is_box(raw, raw->dst_step))
        return opencl_put_box(ends, queue, raw, event);
    part.levels = outer;
    for (size_t i = 0; i < raw->n[outer] && !error; i++) {
        bool last = i + 1 == raw->n[outer];

        error = opencl_put_copy(ends, queue, &part, last ? event : NULL);
        part.src_offset += raw->src_step[outer];
        part.dst_offset += raw->dst_step[outer];
    }
    return error;
}

/* -- waiting -- */

static cl_int opencl_wait_event(const struct opencl_api *cl, cl_event event)
{
    cl_int error = cl->WaitForEvents(1, &event);

    cl->ReleaseEvent(event);
    return error;
}

static cl_int copy_now(const struct opencl_api *cl, const struct ends *ends,
                       const struct orr_raw_copy *raw)
{
    cl_event event;
    cl_int error =
        opencl_put_copy(ends, opencl_copy_queue(ends)->queue, raw, &event);

    return error ? error : opencl_wait_event(cl, event);
}

/* Run by run: core does not ask for it, applications may. */
static cl_int copy_by_host(const struct opencl_api *cl, const struct ends *ends,
                           const struct orr_raw_copy *raw)
{
    const struct ends out = {ends->src, NULL}, in = {NULL, ends->dst};
    struct orr_raw_copy part = *raw;
    cl_int error = 0;
    char *bytes;

    if (raw->levels > 0) {
        unsigned outer = --part.levels;

        for (size_t i = 0; i < raw->n[outer] && !error; i++) {
            error = copy_by_host(cl, ends, &part);
            part.src_offset += raw->src_step[outer];
            part.dst_offset += raw->dst_step[outer];
        }
        return error;
    }
    bytes = malloc(raw->size);
    if (!bytes)
        return OPENCL_OUT_OF_HOST_MEMORY;
    part.dst = (uintptr_t)bytes;
    part.dst_offset = 0;
    error = copy_now(cl, &out, &part);
    part = *raw;
    part.src = (uintptr_t)bytes;
    part.src_offset = 0;
    if (!error)
        error = copy_now(cl, &in, &part);
    free(bytes);
    return error;
}

/* -- the driver's operation -- */

static int opencl_report_copy(const struct opencl *driver,
                              const struct orr_raw_copy *raw, cl_int error)
{
    const struct orr_machine *machine = driver->head.machine;

    if (!error)
        return 0;
    orr_log_warning("opencl: a copy of %zu bytes from %s to %s failed: %s (%d)",
                    raw->size, machine->nodes[raw->src_node].name,
                    machine->nodes[raw->dst_node].name, opencl_error(error),
                    error);
    return opencl_failure(error);
}

int opencl_raw_copy(struct orr_driver *head, const struct orr_raw_copy *raw,
                    struct orr_async *async)
{
    struct opencl *driver = (struct opencl *)head;
    const struct ends ends = ends_of(driver, raw);
    int rc;

    if (ends.src && ends.dst && ends.src != ends.dst)
        return opencl_report_copy(driver, raw,
                                  copy_by_host(&driver->cl, &ends, raw));
    if (!async)
        return opencl_report_copy(driver, raw,
                                  copy_now(&driver->cl, &ends, raw));
    rc = opencl_report_copy(
        driver, raw, opencl_put_copy(&ends, async->queue->queue, raw, NULL));
    return rc ? rc : -EAGAIN;
}

/* An event of what is in the queue now, for copies that were made at once. */
static cl_int end_of_queue(const struct opencl_api *cl, struct orr_queue *queue,
                           cl_event *event)
{
    return event ? cl->EnqueueMarkerWithWaitList(queue->queue, 0, NULL, event)
                 : OPENCL_SUCCESS;
}

cl_int orr_opencl_copy(struct opencl *driver, const struct orr_raw_copy *raw,
                       cl_event *event)
{
    const struct opencl_api *cl = &driver->cl;
    const struct ends ends = ends_of(driver, raw);
    bool apart = ends.src && ends.dst && ends.src != ends.dst;
    cl_int error = 0;

    if (!ends.src && !ends.dst)
        return OPENCL_INVALID_DEVICE;
    if (raw->size > 0 && apart)
        error = copy_by_host(cl, &ends, raw);
    else if (raw->size > 0 && !event)
        error = copy_now(cl, &ends, raw);
    else if (raw->size > 0)
        error =
            opencl_put_copy(&ends, opencl_copy_queue(&ends)->queue, raw, event);
    if (!error && (raw->size == 0 || apart))
        error = end_of_queue(cl, opencl_copy_queue(&ends), event);
    if (!error && event)
        cl->Flush(opencl_copy_queue(&ends)->queue);
    return error;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/bytes.c - copies between main memory and GPUs, within one, and
 * between two of them. Two levels of strides are one copy of the vendor's, if
 * they make a box. Any context.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "core/device/gpu/gpu.h"

/* The two ends of a copy; NULL: main memory. */
struct ends {
    struct gpu_device *src, *dst;
};

/* On whose queue it is made. */
static struct gpu_device *copy_device(const struct ends *ends)
{
    return ends->dst ? ends->dst : ends->src;
}

static struct orr_queue *gpu_copy_queue(const struct ends *ends)
{
    if (!ends->dst)
        return &ends->src->queues[ORR_QUEUE_OUT];
    return &ends->dst->queues[ends->src ? ORR_QUEUE_PEER : ORR_QUEUE_IN];
}

/* -- runs -- */

static int gpu_put_run(const struct ends *ends, const struct orr_raw_copy *raw,
                       gpu_stream_t stream)
{
    const struct gpu *driver = copy_device(ends)->driver;
    uintptr_t src = raw->src + raw->src_offset;
    uintptr_t dst = raw->dst + raw->dst_offset;

    if (!ends->src)
        return driver->api.to_device(dst, (const void *)src, raw->size, stream);
    if (!ends->dst)
        return driver->api.to_host((void *)dst, src, raw->size, stream);
    if (ends->src == ends->dst)
        return driver->api.within(dst, src, raw->size, stream);
    return driver->vendor->copy_peer(ends->dst, dst, ends->src, src, raw->size,
                                     stream);
}

/* -- boxes -- */

/* Pitches are at most as long as vendors allow. */
static bool is_box(const struct orr_raw_copy *raw)
{
    return orr_raw_copy_is_box(raw, raw->src_step) &&
           orr_raw_copy_is_box(raw, raw->dst_step) &&
           raw->src_step[0] <= INT_MAX && raw->dst_step[0] <= INT_MAX;
}

static struct gpu_box_end gpu_end_of_box(struct gpu_device *device,
                                         uintptr_t address,
                                         const struct orr_raw_copy *raw,
                                         const size_t *step)
{
    return (struct gpu_box_end){
        .address = address,
        .device = device,
        .pitch = step[0],
        .slice = raw->levels == 2 ? step[1] / step[0] : raw->n[0],
    };
}

static int gpu_put_box(const struct ends *ends, const struct orr_raw_copy *raw,
                       gpu_stream_t stream)
{
    struct gpu *driver = copy_device(ends)->driver;
    const struct gpu_box box = {
        .src = gpu_end_of_box(ends->src, raw->src + raw->src_offset, raw,
                              raw->src_step),
        .dst = gpu_end_of_box(ends->dst, raw->dst + raw->dst_offset, raw,
                              raw->dst_step),
        .width = raw->size,
        .height = raw->n[0],
        .depth = raw->levels == 2 ? raw->n[1] : 1,
    };

    return driver->vendor->copy_box(driver, &box, stream);
}

/* Puts all of it into the stream. */
static int gpu_put_copy(const struct ends *ends, const struct orr_raw_copy *raw,
                        gpu_stream_t stream)
{
    struct orr_raw_copy part = *raw;
    unsigned outer = raw->levels - 1;
    int code = 0;

    if (raw->levels == 0)
        return gpu_put_run(ends, raw, stream);
    if (is_box(raw))
        return gpu_put_box(ends, raw, stream);
    part.levels = outer;
    for (size_t i = 0; i < raw->n[outer] && !code; i++) {
        code = gpu_put_copy(ends, &part, stream);
        part.src_offset += raw->src_step[outer];
        part.dst_offset += raw->dst_step[outer];
    }
    return code;
}

/* -- the driver's operation -- */

static int gpu_report_copy(struct gpu_device *maker,
                           const struct orr_raw_copy *raw, int code)
{
    const struct orr_machine *machine = maker->driver->head.machine;
    char what[160];
    int rc;

    if (!code)
        return 0;
    snprintf(what, sizeof(what), "a copy of %zu bytes from %s to %s", raw->size,
             machine->nodes[raw->src_node].name,
             machine->nodes[raw->dst_node].name);
    rc = orr_gpu_report(maker, what, code);
    return rc == -ENODEV ? rc : -EIO;
}

/* `stream` is NULL: the maker's own, until it has ended. */
int orr_gpu_copy(struct gpu *driver, const struct orr_raw_copy *raw,
                 gpu_stream_t stream)
{
    const struct ends ends = {orr_gpu_on_node(driver, raw->src_node),
                              orr_gpu_on_node(driver, raw->dst_node)};
    struct gpu_device *maker = copy_device(&ends);
    gpu_stream_t own = stream;
    intptr_t before;
    int code;

    if (atomic_load_explicit(&maker->lost, memory_order_relaxed))
        return -ENODEV;
    if (!own)
        own = gpu_copy_queue(&ends)->stream;
    code = driver->vendor->enter(maker, &before);
    if (code)
        return gpu_report_copy(maker, raw, code);
    code = gpu_put_copy(&ends, raw, own);
    if (!code && !stream)
        code = driver->api.stream_synchronize(own);
    driver->vendor->leave(maker, before);
    if (code)
        return gpu_report_copy(maker, raw, code);
    return stream ? -EAGAIN : 0;
}

int gpu_raw_copy(struct orr_driver *driver, const struct orr_raw_copy *raw,
                 struct orr_async *async)
{
    return orr_gpu_copy((struct gpu *)driver, raw,
                        async ? async->queue->stream : NULL);
}

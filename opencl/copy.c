/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/copy.c - copies from buffer to buffer, and buffers that are filled: commands for
 * devices, as kernels are, so that values stay where they are.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/rect.h"
#include "opencl/socl.h"

enum { MOST_PATTERN = 128 };

struct copy {
    struct socl_device_work head;
    struct socl_rect rect;
    unsigned to, from; /* of the command's buffers */
    bool linear;
    char pattern[MOST_PATTERN];
    size_t pattern_size; /* 0: a copy */
};

/* -- on a device -- */

/* The box in the data of the command's buffers. */
static struct socl_rect place(const struct copy *copy)
{
    const struct socl_use *uses = copy->head.head.uses;
    struct socl_rect rect = copy->rect;

    rect.from += socl_origin(&uses[copy->from]);
    rect.to += socl_origin(&uses[copy->to]);
    return rect;
}

static cl_int launch_copy(struct socl_device_work *work, cl_device_id device,
                          cl_command_queue queue, const cl_mem *buffers)
{
    struct copy *copy = (struct copy *)work;
    const struct socl_rect placed = place(copy), *rect = &placed;
    const cl_icd_dispatch *below = SOCL_BELOW(queue);
    const size_t to[3] = {rect->to, 0, 0}, from[3] = {rect->from, 0, 0};

    (void)device;
    if (copy->pattern_size)
        return below->clEnqueueFillBuffer(queue, buffers[0], copy->pattern, copy->pattern_size,
                                          rect->to, rect->region[0], 0, NULL, NULL);
    if (copy->linear)
        return below->clEnqueueCopyBuffer(queue, buffers[copy->from], buffers[copy->to],
                                          rect->from, rect->to, rect->region[0], 0, NULL, NULL);
    return below->clEnqueueCopyBufferRect(queue, buffers[copy->from], buffers[copy->to], from,
                                          to, rect->region, rect->from_row, rect->from_slice,
                                          rect->to_row, rect->to_slice, 0, NULL, NULL);
}

static cl_int copy_on_host(struct socl_device_work *work, void *const *buffers)
{
    struct copy *copy = (struct copy *)work;
    const struct socl_rect rect = place(copy);
    char *to = buffers[copy->to];

    if (!copy->pattern_size)
        socl_rect_copy(&rect, to, buffers[copy->from]);
    for (size_t i = 0; copy->pattern_size && i < rect.region[0]; i += copy->pattern_size)
        memcpy(to + rect.to + i, copy->pattern, copy->pattern_size);
    return CL_SUCCESS;
}

/* -- enqueueing -- */

static uint32_t footprint(const struct copy *copy)
{
    return starpu_hash_crc32c_be_n(copy->rect.region, sizeof(copy->rect.region),
                                   (uint32_t)copy->pattern_size);
}

static struct copy *new_copy(unsigned nbuffers)
{
    struct copy *copy = socl_work_new(sizeof(*copy), nbuffers);

    if (!copy)
        return NULL;
    copy->head.launch = launch_copy;
    copy->head.on_host = copy_on_host;
    return copy;
}

/* Simulated, a copy moves each byte twice. */
static cl_int enqueue_copy(cl_command_queue queue, cl_command_type type, const char *name,
                           cl_mem from, cl_mem to, const struct socl_rect *rect, bool linear,
                           struct socl_waits waits, cl_event *ret_event)
{
    bool same = from == to;
    struct copy *copy = new_copy(2);

    if (!copy)
        return CL_OUT_OF_HOST_MEMORY;
    copy->rect = *rect;
    copy->linear = linear;
    copy->head.footprint = footprint(copy);
    copy->head.counted = true;
    copy->head.bytes = 2 * (double)socl_rect_bytes(rect);
    if (!same)
        socl_work_use(&copy->head.head, from, STARPU_R);
    socl_work_use(&copy->head.head, to,
                  !same && socl_rect_bytes(rect) == to->size ? STARPU_W : STARPU_RW);
    for (unsigned i = 0; i < copy->head.head.nuses; i++) {
        if (copy->head.head.uses[i].mem == to)
            copy->to = i;
        if (copy->head.head.uses[i].mem == from || same)
            copy->from = i;
    }
    return socl_device_submit(queue, type, name, &copy->head, waits, false, ret_event);
}

static cl_int check_copy(cl_command_queue queue, cl_mem from, cl_mem to,
                         struct socl_waits waits)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!socl_is(from) || !socl_is(to))
        return CL_INVALID_MEM_OBJECT;
    if (from->context != queue->context || to->context != queue->context)
        return CL_INVALID_CONTEXT;
    return socl_check_waits(queue->context, waits);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                      size_t from_offset, size_t to_offset, size_t n,
                                      cl_uint nwaits, const cl_event *waits, cl_event *event)
{
    struct socl_waits all = {nwaits, waits};
    struct socl_rect rect = socl_rect_linear(to_offset, from_offset, n);
    cl_int error = check_copy(queue, from, to, all);

    if (error != CL_SUCCESS)
        return error;
    if (n == 0 || from_offset > from->size || n > from->size - from_offset ||
        to_offset > to->size || n > to->size - to_offset)
        return CL_INVALID_VALUE;
    if (socl_whole(from) == socl_whole(to) &&
        from->origin + from_offset < to->origin + to_offset + n &&
        to->origin + to_offset < from->origin + from_offset + n)
        return CL_MEM_COPY_OVERLAP;
    return enqueue_copy(queue, CL_COMMAND_COPY_BUFFER, "SOCL_COPY_BUFFER", from, to, &rect, true,
                        all, event);
}

static cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to,
                                    const size_t *from_origin, const size_t *to_origin,
                                    const size_t *region, size_t from_row, size_t from_slice,
                                    size_t to_row, size_t to_slice, cl_uint nwaits,
                                    const cl_event *waits, cl_event *event)
{
    struct socl_waits all = {nwaits, waits};
    struct socl_rect rect;
    cl_int error = check_copy(queue, from, to, all);

    if (error == CL_SUCCESS)
        error = socl_rect_of(&(struct socl_side){to_origin, to_row, to_slice},
                             &(struct socl_side){from_origin, from_row, from_slice}, region,
                             to->size, from->size, &rect);
    if (error != CL_SUCCESS)
        return error;
    if (from == to && (rect.to_row != rect.from_row || rect.to_slice != rect.from_slice))
        return CL_INVALID_VALUE;
    if (from == to && socl_rect_overlaps(&rect))
        return CL_MEM_COPY_OVERLAP;
    return enqueue_copy(queue, CL_COMMAND_COPY_BUFFER_RECT, "SOCL_COPY_BUFFER_RECT", from, to,
                        &rect, false, all, event);
}

static bool is_pattern_size(size_t size)
{
    return size > 0 && size <= MOST_PATTERN && (size & (size - 1)) == 0;
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t n,
                                      cl_uint nwaits, const cl_event *waits, cl_event *event)
{
    struct socl_waits all = {nwaits, waits};
    cl_int error = check_copy(queue, to, to, all);
    struct copy *copy;

    if (error != CL_SUCCESS)
        return error;
    if (!pattern || !is_pattern_size(pattern_size) || offset % pattern_size ||
        n % pattern_size || n == 0 || offset > to->size || n > to->size - offset)
        return CL_INVALID_VALUE;
    copy = new_copy(1);
    if (!copy)
        return CL_OUT_OF_HOST_MEMORY;
    copy->rect = socl_rect_linear(offset, 0, n);
    memcpy(copy->pattern, pattern, pattern_size);
    copy->pattern_size = pattern_size;
    copy->head.footprint = footprint(copy);
    copy->head.counted = true;
    copy->head.bytes = (double)n;
    socl_work_use(&copy->head.head, to, n == to->size ? STARPU_W : STARPU_RW);
    return socl_device_submit(queue, CL_COMMAND_FILL_BUFFER, "SOCL_FILL_BUFFER", &copy->head,
                              all, false, event);
}

void socl_fill_copies(cl_icd_dispatch *to)
{
    to->clEnqueueCopyBuffer = copy_buffer;
    to->clEnqueueCopyBufferRect = copy_rect;
    to->clEnqueueFillBuffer = fill_buffer;
}

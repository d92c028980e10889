/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/transfer.c - reads and writes of buffers by the host, in one, two or three
 * dimensions. Main memory has the value while bytes are copied; what was written goes to the
 * device of the queue at once, as with any other implementation, so that the end of a write
 * is the end of its transfer.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opencl/rect.h"
#include "opencl/socl.h"

enum { SMALL = 1 << 20 /* bytes */ };

struct transfer {
    struct socl_work head;
    struct socl_rect rect; /* src: the buffer of a read, the host's memory of a write */
    char *host;
    bool write;
};

/* The device has it now. */
static void arrived(void *arg)
{
    cl_event event = arg;
    cl_mem mem = event->work->uses[0].data;

    socl_inside++;
    starpu_data_release_on_node(mem->handle, event->queue->device->node);
    socl_command_end(event, CL_SUCCESS);
    socl_inside--;
}

static void bring_to_device(cl_event event)
{
    cl_mem mem = event->work->uses[0].data;

    if (orrery_data_acquire_for_task(event->task, mem->handle,
                                     event->queue->device->node, STARPU_R, 0, 0,
                                     arrived, event) != 0)
        socl_command_end(event, CL_OUT_OF_RESOURCES);
}

/* Where kernels are not executed, data need no content. Small ones have it all the same:
 * programs look at flags and counts that they have written themselves. */
static bool needs_bytes(const struct socl_rect *rect)
{
    return socl.runs_kernels || socl_rect_bytes(rect) <= SMALL;
}

/* -- memory of the program -- */

static bool is_resident(const char *at, size_t page)
{
    unsigned char resident = 1;

    (void)mincore((void *)((uintptr_t)at & ~(uintptr_t)(page - 1)), 1,
                  &resident);
    return resident & 1;
}

/* Simulated, nothing may be written there: whether values were read to it before. */
static bool was_read_to(char *to, size_t bytes)
{
    bool was = false;

    socl_lock();
    for (unsigned i = 0; i < SOCL_READS && !was; i++)
        was = socl.reads[i].begin && to >= socl.reads[i].begin &&
              to + bytes <= socl.reads[i].begin + socl.reads[i].bytes;
    if (!was)
        socl.reads[socl.nreads++ % SOCL_READS] = (struct socl_read){to, bytes};
    socl_unlock();
    return was;
}

size_t socl_first_use(char *to, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (bytes < SMALL / 16)
        return 0;
    /* At the ends something else may be. */
    for (unsigned quarter = 1; quarter < 4; quarter++)
        if (is_resident(to + bytes / 4 * quarter, page))
            return 0;
    return socl.simulated && was_read_to(to, bytes) ? 0 : bytes;
}

/* -- transfers -- */

static void copy_bytes(cl_event event)
{
    struct transfer *transfer = (struct transfer *)event->work;
    cl_mem mem = transfer->head.uses[0].mem;

    if (!needs_bytes(&transfer->rect))
        ;
    else if (transfer->write)
        socl_rect_copy(&transfer->rect, mem->host, transfer->host);
    else
        socl_rect_copy(&transfer->rect, transfer->host, mem->host);
    socl_release_all(event);
    if (transfer->write && event->queue->device)
        bring_to_device(event);
    else
        socl_command_end(event, CL_SUCCESS);
}

static void begin_transfer(cl_event event)
{
    socl_take_all(event, copy_bytes);
}

/* -- checks -- */

static cl_int check_access(cl_command_queue queue, cl_mem mem, bool write, const void *host,
                           struct socl_waits waits)
{
    cl_mem_flags refused =
        CL_MEM_HOST_NO_ACCESS | (write ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);

    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    if (mem->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (!host)
        return CL_INVALID_VALUE;
    if (mem->flags & refused)
        return CL_INVALID_OPERATION;
    return socl_check_waits(queue->context, waits);
}

/* -- enqueueing -- */

static cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_mem mem, bool write,
                      bool blocking, const struct socl_rect *rect, char *host,
                      struct socl_waits waits, cl_event *ret_event)
{
    struct transfer *transfer = socl_work_new(sizeof(*transfer), 1);
    bool all = socl_rect_bytes(rect) == mem->size;
    cl_event event;
    cl_int error;

    if (!transfer)
        return CL_OUT_OF_HOST_MEMORY;
    transfer->rect = *rect;
    transfer->host = host;
    transfer->write = write;
    socl_work_use(&transfer->head, mem, !write ? STARPU_R : all ? STARPU_W : STARPU_RW);
    transfer->head.uses[0].copied = socl_rect_bytes(rect);
    if (!write && rect->region[1] == 1 && rect->region[2] == 1)
        transfer->head.uses[0].to = host + rect->to;
    error = socl_command_new(queue, type, &transfer->head, begin_transfer, &event);
    return error == CL_SUCCESS ? socl_command_submit(event, waits, blocking, ret_event) : error;
}

static cl_int enqueue_linear(cl_command_queue queue, cl_command_type type, cl_mem mem,
                             bool write, cl_bool blocking, size_t offset, size_t n, char *host,
                             struct socl_waits waits, cl_event *ret_event)
{
    struct socl_rect rect;
    cl_int error = check_access(queue, mem, write, host, waits);

    if (error != CL_SUCCESS)
        return error;
    if (n == 0 || offset > mem->size || n > mem->size - offset)
        return CL_INVALID_VALUE;
    rect = socl_rect_linear(write ? offset : 0, write ? 0 : offset, n);
    return enqueue(queue, type, mem, write, blocking, &rect, host, waits, ret_event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                      size_t offset, size_t n, void *host, cl_uint nwaits,
                                      const cl_event *waits, cl_event *event)
{
    return enqueue_linear(queue, CL_COMMAND_READ_BUFFER, mem, false, blocking, offset, n, host,
                          (struct socl_waits){nwaits, waits}, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                       size_t offset, size_t n, const void *host,
                                       cl_uint nwaits, const cl_event *waits, cl_event *event)
{
    return enqueue_linear(queue, CL_COMMAND_WRITE_BUFFER, mem, true, blocking, offset, n,
                          (char *)(uintptr_t)host, (struct socl_waits){nwaits, waits}, event);
}

static cl_int enqueue_rect(cl_command_queue queue, cl_command_type type, cl_mem mem, bool write,
                           cl_bool blocking, const struct socl_side *buffer,
                           const struct socl_side *outside, const size_t *region, char *host,
                           struct socl_waits waits, cl_event *ret_event)
{
    struct socl_rect rect;
    cl_int error = check_access(queue, mem, write, host, waits);

    if (error == CL_SUCCESS)
        error = write ? socl_rect_of(buffer, outside, region, mem->size, SIZE_MAX, &rect)
                      : socl_rect_of(outside, buffer, region, SIZE_MAX, mem->size, &rect);
    if (error != CL_SUCCESS)
        return error;
    return enqueue(queue, type, mem, write, blocking, &rect, host, waits, ret_event);
}

static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                    const size_t *buffer_origin, const size_t *host_origin,
                                    const size_t *region, size_t buffer_row, size_t buffer_slice,
                                    size_t host_row, size_t host_slice, void *host,
                                    cl_uint nwaits, const cl_event *waits, cl_event *event)
{
    return enqueue_rect(queue, CL_COMMAND_READ_BUFFER_RECT, mem, false, blocking,
                        &(struct socl_side){buffer_origin, buffer_row, buffer_slice},
                        &(struct socl_side){host_origin, host_row, host_slice}, region, host,
                        (struct socl_waits){nwaits, waits}, event);
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                     const size_t *buffer_origin, const size_t *host_origin,
                                     const size_t *region, size_t buffer_row,
                                     size_t buffer_slice, size_t host_row, size_t host_slice,
                                     const void *host, cl_uint nwaits, const cl_event *waits,
                                     cl_event *event)
{
    return enqueue_rect(queue, CL_COMMAND_WRITE_BUFFER_RECT, mem, true, blocking,
                        &(struct socl_side){buffer_origin, buffer_row, buffer_slice},
                        &(struct socl_side){host_origin, host_row, host_slice}, region,
                        (char *)(uintptr_t)host, (struct socl_waits){nwaits, waits}, event);
}

/* A wish; the data go where commands need them, parts when their commands come. */
static cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint n, const cl_mem *mems,
                                  cl_mem_migration_flags flags, cl_uint nwaits,
                                  const cl_event *waits, cl_event *event)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (n == 0 || !mems ||
        (flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST |
                                           CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++) {
        if (!socl_is(mems[i]))
            return CL_INVALID_MEM_OBJECT;
        if (mems[i]->context != queue->context)
            return CL_INVALID_CONTEXT;
    }
    for (cl_uint i = 0; i < n; i++)
        if (queue->device && !(flags & CL_MIGRATE_MEM_OBJECT_HOST) &&
            !socl_whole(mems[i])->parts)
            starpu_data_prefetch_on_node(socl_whole(mems[i])->handle,
                                         (unsigned)queue->device->node, 1);
    return socl_marker(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS,
                       (struct socl_waits){nwaits, waits}, false, event);
}

void socl_fill_transfers(cl_icd_dispatch *to)
{
    to->clEnqueueReadBuffer = read_buffer;
    to->clEnqueueWriteBuffer = write_buffer;
    to->clEnqueueReadBufferRect = read_rect;
    to->clEnqueueWriteBufferRect = write_rect;
    to->clEnqueueMigrateMemObjects = migrate;
    socl_fill_copies(to);
}

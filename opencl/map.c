/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/map.c - buffers that the host uses in place, and functions of the host in a queue.
 * A mapped buffer is held in main memory from the command to its unmap; regions of one
 * buffer share that, for writing if any of them is.
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

struct map {
    struct socl_work head;
    bool write, discard;
};

static void hold(cl_event event);

/* The data are here: as they were asked for. */
static void held(void *arg)
{
    cl_event event = arg;
    struct map *map = (struct map *)event->work;
    cl_mem mem = map->head.uses[0].data;

    socl_inside++;
    mem->mapped_for_writing = map->write;
    socl_command_end(event, CL_SUCCESS);
    socl_inside--;
}

static void hold(cl_event event)
{
    struct map *map = (struct map *)event->work;

    if (orrery_data_acquire_for_task(
            event->task, map->head.uses[0].data->handle, STARPU_MAIN_RAM,
            !map->write    ? STARPU_R
            : map->discard ? STARPU_W
                           : STARPU_RW,
            0, 0, held, event) != 0)
        socl_command_end(event, CL_MAP_FAILURE);
}

static void begin_map(cl_event event)
{
    struct map *map = (struct map *)event->work;
    cl_mem mem = map->head.uses[0].data;
    bool first, enough;

    socl_lock();
    first = mem->nmapped++ == 0;
    enough = mem->mapped_for_writing || !map->write;
    socl_unlock();
    if (!first && enough) {
        socl_command_end(event, CL_SUCCESS);
        return;
    }
    map->discard &= first;
    if (!first)
        starpu_data_release_on_node(mem->handle, STARPU_MAIN_RAM);
    hold(event);
}

static void begin_unmap(cl_event event)
{
    cl_mem mem = event->work->uses[0].data;
    bool last;

    socl_lock();
    last = --mem->nmapped == 0;
    if (last)
        mem->mapped_for_writing = false;
    socl_unlock();
    if (last)
        starpu_data_release_on_node(mem->handle, STARPU_MAIN_RAM);
    socl_command_end(event, CL_SUCCESS);
}

static cl_int check_map(cl_command_queue queue, cl_mem mem, cl_map_flags flags, size_t offset,
                        size_t n, struct socl_waits waits)
{
    const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    if (mem->context != queue->context)
        return CL_INVALID_CONTEXT;
    if ((flags & ~(CL_MAP_READ | writes)) ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))) ||
        n == 0 || offset > mem->size || n > mem->size - offset)
        return CL_INVALID_VALUE;
    if ((mem->flags & CL_MEM_HOST_NO_ACCESS) ||
        ((flags & CL_MAP_READ) && (mem->flags & CL_MEM_HOST_WRITE_ONLY)) ||
        ((flags & writes) && (mem->flags & CL_MEM_HOST_READ_ONLY)))
        return CL_INVALID_OPERATION;
    return socl_check_waits(queue->context, waits);
}

/* The order by data sees a writer, whatever the flags are: until it is unmapped nobody else
 * has the buffer. */
static cl_int enqueue_map(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                          cl_map_flags flags, size_t n, struct socl_waits waits,
                          cl_event *ret_event)
{
    struct map *map = socl_work_new(sizeof(*map), 1);
    cl_event event;
    cl_int error;

    if (!map)
        return CL_OUT_OF_HOST_MEMORY;
    map->write = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    socl_lock();
    map->discard = (flags & CL_MAP_WRITE_INVALIDATE_REGION) && !mem->parent && n == mem->size;
    mem->map_count++;
    socl_unlock();
    socl_work_use(&map->head, mem, map->write ? STARPU_RW : STARPU_R);
    error = socl_command_new(queue, CL_COMMAND_MAP_BUFFER, &map->head, begin_map, &event);
    return error == CL_SUCCESS ? socl_command_submit(event, waits, blocking, ret_event) : error;
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t n, cl_uint nwaits,
                                    const cl_event *waits, cl_event *event, cl_int *ret_error)
{
    struct socl_waits all = {nwaits, waits};
    cl_int error = check_map(queue, mem, flags, offset, n, all);

    if (error == CL_SUCCESS)
        error = enqueue_map(queue, mem, blocking, flags, n, all, event);
    socl_fail(ret_error, error);
    return error == CL_SUCCESS ? mem->host + offset : NULL;
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem mem, void *pointer,
                                cl_uint nwaits, const cl_event *waits, cl_event *ret_event)
{
    struct socl_waits all = {nwaits, waits};
    const char *place = pointer;
    struct socl_work *work;
    bool mapped;
    cl_event event;
    cl_int error;

    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    if (mem->context != queue->context)
        return CL_INVALID_CONTEXT;
    error = socl_check_waits(queue->context, all);
    if (error != CL_SUCCESS)
        return error;
    socl_lock();
    mapped = mem->map_count > 0 && place >= mem->host && place < mem->host + mem->size;
    mem->map_count -= mapped;
    socl_unlock();
    if (!mapped)
        return CL_INVALID_VALUE;
    work = socl_work_new(sizeof(*work), 1);
    if (!work)
        return CL_OUT_OF_HOST_MEMORY;
    socl_work_use(work, mem, STARPU_RW);
    error = socl_command_new(queue, CL_COMMAND_UNMAP_MEM_OBJECT, work, begin_unmap, &event);
    return error == CL_SUCCESS ? socl_command_submit(event, all, false, ret_event) : error;
}

/* -- functions of the host -- */

struct native {
    struct socl_work head;
    void(CL_CALLBACK *function)(void *);
    char *arguments; /* owned */
};

static void free_native(struct socl_work *work)
{
    free(((struct native *)work)->arguments);
}

static void call_native(cl_event event)
{
    struct native *native = (struct native *)event->work;

    native->function(native->arguments);
    socl_release_all(event);
    socl_command_end(event, CL_SUCCESS);
}

static void begin_native(cl_event event)
{
    socl_take_all(event, call_native);
}

static cl_int check_native(cl_command_queue queue, const void *function, const void *arguments,
                           size_t size, cl_uint n, const cl_mem *mems, const void *places,
                           struct socl_waits waits)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!function || (arguments != NULL) != (size > 0) || (n > 0 && (!arguments || !mems)) ||
        (n > 0) != (places != NULL))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (mems[i] && !socl_is(mems[i]))
            return CL_INVALID_MEM_OBJECT;
    return socl_check_waits(queue->context, waits);
}

static bool uses(const struct socl_work *work, cl_mem mem)
{
    for (unsigned i = 0; i < work->nuses; i++)
        if (work->uses[i].mem == mem)
            return true;
    return false;
}

/* Where the arguments have buffers, the function finds their bytes. */
static cl_int CL_API_CALL native_kernel(cl_command_queue queue,
                                        void(CL_CALLBACK *function)(void *), void *arguments,
                                        size_t size, cl_uint n, const cl_mem *mems,
                                        const void **places, cl_uint nwaits,
                                        const cl_event *waits, cl_event *ret_event)
{
    struct socl_waits all = {nwaits, waits};
    cl_int error = check_native(queue, (const void *)(uintptr_t)function, arguments, size, n,
                                mems, places, all);
    struct native *native;
    cl_event event;

    if (error != CL_SUCCESS)
        return error;
    native = socl_work_new(sizeof(*native), n);
    if (!native)
        return CL_OUT_OF_HOST_MEMORY;
    native->head.free = free_native;
    native->function = function;
    native->arguments = malloc(size ? size : 1);
    error = native->arguments ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (size && error == CL_SUCCESS)
        memcpy(native->arguments, arguments, size);
    for (cl_uint i = 0; error == CL_SUCCESS && i < n; i++) {
        size_t place = (size_t)((const char *)places[i] - (const char *)arguments);
        void *bytes = mems[i] ? mems[i]->host : NULL;

        if (place + sizeof(bytes) > size)
            error = CL_INVALID_VALUE;
        else
            memcpy(native->arguments + place, &bytes, sizeof(bytes));
        if (mems[i] && !uses(&native->head, mems[i]))
            socl_work_use(&native->head, mems[i],
                          mems[i]->flags & CL_MEM_READ_ONLY ? STARPU_R : STARPU_RW);
    }
    if (error == CL_SUCCESS)
        return socl_command_new(queue, CL_COMMAND_NATIVE_KERNEL, &native->head, begin_native,
                                &event) == CL_SUCCESS
                   ? socl_command_submit(event, all, false, ret_event)
                   : CL_OUT_OF_HOST_MEMORY;
    socl_work_free(&native->head);
    return error;
}

void socl_fill_maps(cl_icd_dispatch *to)
{
    to->clEnqueueMapBuffer = map_buffer;
    to->clEnqueueUnmapMemObject = unmap;
    to->clEnqueueNativeKernel = native_kernel;
}

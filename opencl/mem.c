/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/mem.c - buffers and parts of them. A buffer is a piece of data of the run with
 * its home in main memory; sub-buffers are places in it (parts.c).
 */
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

enum { ALIGNMENT = 128 /* bytes: of the widest type */ };

/* -- the end of a buffer -- */

static void mem_free(cl_mem mem)
{
    bool own = mem->handle && socl.started > 0;

    if (own && mem->nmapped) /* nobody has unmapped it */
        starpu_data_release_on_node(mem->handle, STARPU_MAIN_RAM);
    if (own && mem->parent)
        socl_part_leave(mem);
    else if (own)
        starpu_data_unregister_no_coherency(mem->handle);
    while (mem->destructors) {
        struct socl_destructor *next = mem->destructors->next;

        mem->destructors->call(mem, mem->destructors->data);
        free(mem->destructors);
        mem->destructors = next;
    }
    if (mem->writer)
        socl_event_unref(mem->writer);
    if (mem->changed)
        socl_event_unref(mem->changed);
    socl_events_clear(&mem->readers);
    socl_events_clear(&mem->users);
    free(mem->owned);
    if (mem->parent)
        socl_mem_unref(mem->parent);
    socl_context_unref(mem->context);
    free(mem);
}

static void unlink_mem(cl_mem mem)
{
    socl_lock();
    if (mem->link)
        *mem->link = mem->next;
    if (mem->link && mem->next)
        mem->next->link = mem->link;
    mem->link = NULL;
    socl_unlock();
}

void socl_mem_unref(cl_mem mem)
{
    if (!socl_drop(&mem->head))
        return;
    mem->head.refs = 1;
    if (!socl_inside) {
        unlink_mem(mem);
        mem->head.refs = 0;
        mem_free(mem);
        return;
    }
    /* The present callback may be one of a task that has the data still. */
    mem->next_dead = __atomic_load_n(&socl.dead_mems, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&socl.dead_mems, &mem->next_dead, mem, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

void socl_mems_sweep(void)
{
    cl_mem dead;

    while ((dead = __atomic_exchange_n(&socl.dead_mems, NULL, __ATOMIC_ACQUIRE)))
        while (dead) {
            cl_mem next = dead->next_dead;

            socl_mem_unref(dead);
            dead = next;
        }
}

void socl_mems_leave(void)
{
    for (cl_mem mem = socl.mems; mem; mem = mem->next) {
        if (mem->handle && mem->nmapped)
            starpu_data_release_on_node(mem->handle, STARPU_MAIN_RAM);
        if (mem->handle)
            starpu_data_unregister_no_coherency(mem->handle);
        mem->handle = NULL;
    }
}

/* -- making one -- */

static bool has_several(cl_mem_flags flags, cl_mem_flags among)
{
    flags &= among;
    return flags & (flags - 1);
}

static cl_int check_flags(cl_mem_flags flags)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    const cl_mem_flags host = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    const cl_mem_flags use =
        CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

    if ((flags & ~(access | host | use)) || has_several(flags, access) ||
        has_several(flags, use) ||
        ((flags & CL_MEM_USE_HOST_PTR) &&
         (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

static cl_int check_buffer(cl_context context, cl_mem_flags flags, size_t size, const void *host)
{
    bool wants = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    cl_int error;

    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    error = check_flags(flags);
    if (error != CL_SUCCESS)
        return error;
    if (size == 0)
        return CL_INVALID_BUFFER_SIZE;
    for (unsigned i = 0; i < context->n; i++) {
        cl_ulong most = 0;

        socl_dispatch.clGetDeviceInfo(context->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE,
                                      sizeof(most), &most, NULL);
        if (size > most)
            return CL_INVALID_BUFFER_SIZE;
    }
    return wants != (host != NULL) ? CL_INVALID_HOST_PTR : CL_SUCCESS;
}

static cl_mem new_mem(cl_context context, cl_mem_flags flags, size_t size)
{
    cl_mem mem = calloc(1, sizeof(*mem));

    if (!mem)
        return NULL;
    mem->head = (struct socl_head){&socl_dispatch, 1};
    socl_retain(&context->head);
    mem->context = context;
    mem->flags = flags;
    mem->size = size;
    socl_lock();
    mem->number = ++socl.nmems;
    mem->next = socl.mems;
    mem->link = &socl.mems;
    if (mem->next)
        mem->next->link = &mem->next;
    socl.mems = mem;
    socl_unlock();
    return mem;
}

/* Zeros, so that a simulation that executes no kernel reads the same in each run. */
static bool get_host_memory(cl_mem mem, void *host)
{
    uintptr_t fresh;

    mem->given = host;
    if (mem->flags & CL_MEM_USE_HOST_PTR) {
        mem->host = host;
    } else {
        mem->owned = calloc(1, mem->size + ALIGNMENT);
        if (!mem->owned)
            return false;
        fresh = (uintptr_t)mem->owned + ALIGNMENT - 1;
        mem->host = (char *)(fresh - fresh % ALIGNMENT);
    }
    if (mem->flags & CL_MEM_COPY_HOST_PTR)
        memcpy(mem->host, host, mem->size);
    mem->written = mem->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    return true;
}

static void copied_from_host(void *mem)
{
    starpu_data_release_on_node(((cl_mem)mem)->handle, STARPU_MAIN_RAM);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *ret_error)
{
    cl_int error;
    cl_mem mem;

    if (!(flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)))
        flags |= CL_MEM_READ_WRITE;
    error = check_buffer(context, flags, size, host);
    if (error != CL_SUCCESS)
        return socl_fail(ret_error, error);
    socl_sweep();
    mem = new_mem(context, flags, size);
    if (!mem)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    if (!get_host_memory(mem, host)) {
        socl_mem_unref(mem);
        return socl_fail(ret_error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    starpu_variable_data_register(&mem->handle, STARPU_MAIN_RAM, (uintptr_t)mem->host, size);
    if (mem->owned)
        orrery_data_untouched(mem->handle);
    /* The bytes are there; simulated, who uses them waits for as long as that takes, as
     * replays of records do. */
    if (flags & CL_MEM_COPY_HOST_PTR)
        orrery_data_acquire_to_copy(mem->handle, STARPU_MAIN_RAM, STARPU_RW,
                                    size, copied_from_host, mem);
    socl_fail(ret_error, CL_SUCCESS);
    return mem;
}

static cl_mem CL_API_CALL create_buffer_with(cl_context context, const cl_mem_properties *list,
                                             cl_mem_flags flags, size_t size, void *host,
                                             cl_int *ret_error)
{
    if (list && *list)
        return socl_fail(ret_error, CL_INVALID_PROPERTY);
    return create_buffer(context, flags, size, host, ret_error);
}

/* -- parts -- */

static cl_int inherit_flags(cl_mem parent, cl_mem_flags *flags)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    const cl_mem_flags use =
        CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

    if (check_flags(*flags) != CL_SUCCESS || (*flags & ~(access | use)))
        return CL_INVALID_VALUE;
    if (!(*flags & access))
        *flags |= parent->flags & access;
    if (!(*flags & use))
        *flags |= parent->flags & use;
    if (!(parent->flags & CL_MEM_READ_WRITE) && (*flags & access) != (parent->flags & access))
        return CL_INVALID_VALUE;
    *flags |= parent->flags &
              (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    return CL_SUCCESS;
}

/* Whether some device of the context can address a part that begins there. */
static bool is_aligned(cl_context context, size_t origin)
{
    for (unsigned i = 0; i < context->n; i++) {
        cl_uint bits = 0;

        socl_dispatch.clGetDeviceInfo(context->devices[i], CL_DEVICE_MEM_BASE_ADDR_ALIGN,
                                      sizeof(bits), &bits, NULL);
        if (bits < 8 || origin % (bits / 8) == 0)
            return true;
    }
    return false;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags,
                                            cl_buffer_create_type type, const void *info,
                                            cl_int *ret_error)
{
    const cl_buffer_region *region = info;
    cl_mem mem;

    if (!socl_is(parent) || parent->parent)
        return socl_fail(ret_error, CL_INVALID_MEM_OBJECT);
    if (type != CL_BUFFER_CREATE_TYPE_REGION || !region ||
        inherit_flags(parent, &flags) != CL_SUCCESS || region->origin > parent->size ||
        region->size > parent->size - region->origin)
        return socl_fail(ret_error, CL_INVALID_VALUE);
    if (region->size == 0)
        return socl_fail(ret_error, CL_INVALID_BUFFER_SIZE);
    if (!is_aligned(parent->context, region->origin))
        return socl_fail(ret_error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    mem = new_mem(parent->context, flags, region->size);
    if (!mem)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    socl_retain(&parent->head);
    mem->parent = parent;
    mem->origin = region->origin;
    mem->host = parent->host + region->origin;
    mem->given = parent->given ? (char *)parent->given + region->origin : NULL;
    socl_part_enter(mem);
    socl_fail(ret_error, CL_SUCCESS);
    return mem;
}

/* -- functions -- */

static cl_int CL_API_CALL retain_mem(cl_mem mem)
{
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    socl_retain(&mem->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    socl_sweep();
    socl_mem_unref(mem);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL set_destructor(cl_mem mem, void(CL_CALLBACK *call)(cl_mem, void *),
                                         void *data)
{
    struct socl_destructor *one;

    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    if (!call)
        return CL_INVALID_VALUE;
    one = malloc(sizeof(*one));
    if (!one)
        return CL_OUT_OF_HOST_MEMORY;
    socl_lock();
    *one = (struct socl_destructor){mem->destructors, call, data};
    mem->destructors = one;
    socl_unlock();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_mem_info(cl_mem mem, cl_mem_info what, size_t size, void *to,
                                       size_t *ret)
{
    if (!socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE:
        SOCL_ANSWER(cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS:
        SOCL_ANSWER(cl_mem_flags, mem->flags);
    case CL_MEM_SIZE:
        SOCL_ANSWER(size_t, mem->size);
    case CL_MEM_HOST_PTR:
        SOCL_ANSWER(void *, mem->flags & CL_MEM_USE_HOST_PTR ? mem->given : NULL);
    case CL_MEM_MAP_COUNT:
        SOCL_ANSWER(cl_uint, mem->map_count);
    case CL_MEM_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, mem->head.refs);
    case CL_MEM_CONTEXT:
        SOCL_ANSWER(cl_context, mem->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        SOCL_ANSWER(cl_mem, mem->parent);
    case CL_MEM_OFFSET:
        SOCL_ANSWER(size_t, mem->origin);
    case CL_MEM_USES_SVM_POINTER:
        SOCL_ANSWER(cl_bool, CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

void socl_fill_mems(cl_icd_dispatch *to)
{
    to->clCreateBuffer = create_buffer;
    to->clCreateBufferWithProperties = create_buffer_with;
    to->clCreateSubBuffer = create_sub_buffer;
    to->clRetainMemObject = retain_mem;
    to->clReleaseMemObject = release_mem;
    to->clSetMemObjectDestructorCallback = set_destructor;
    to->clGetMemObjectInfo = get_mem_info;
}

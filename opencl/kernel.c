/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/kernel.c - kernels and their arguments. What an argument is comes from the source
 * (count.h); of a program made of binaries, from its value: a buffer that exists.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

/* -- the end -- */

static void clear_arg(struct socl_arg *arg)
{
    if (arg->mem)
        socl_mem_unref(arg->mem);
    free(arg->value);
    *arg = (struct socl_arg){0};
}

void socl_kernel_unref(cl_kernel kernel)
{
    if (!socl_drop(&kernel->head))
        return;
    for (unsigned i = 0; i < kernel->n; i++)
        clear_arg(&kernel->args[i]);
    for (unsigned i = 0; kernel->below && i < kernel->program->n; i++)
        if (kernel->below[i])
            SOCL_BELOW(kernel->below[i])->clReleaseKernel(kernel->below[i]);
    if (kernel->host)
        SOCL_BELOW(kernel->host)->clReleaseKernel(kernel->host);
    __atomic_sub_fetch(&kernel->program->nkernels, 1, __ATOMIC_RELAXED);
    socl_program_unref(kernel->program);
    free(kernel->count.loads);
    free(kernel->counted_values);
    free(kernel->below);
    free(kernel->args);
    free(kernel->name);
    free(kernel);
}

/* -- making one -- */

/* By the device that it was built for first. */
static cl_int count_arguments(cl_kernel kernel, cl_uint *ret)
{
    cl_program program = kernel->program;
    cl_int error = CL_INVALID_PROGRAM_EXECUTABLE;

    for (unsigned i = 0; i < program->n; i++) {
        cl_program built = program->built[i].program;

        if (!built)
            continue;
        kernel->below[i] = SOCL_BELOW(built)->clCreateKernel(built, kernel->name, &error);
        if (error == CL_SUCCESS)
            error = SOCL_BELOW(built)->clGetKernelInfo(kernel->below[i], CL_KERNEL_NUM_ARGS,
                                                       sizeof(*ret), ret, NULL);
        return error;
    }
    return error;
}

static cl_int fill_kernel(cl_kernel kernel, const char *name)
{
    cl_program program = kernel->program;
    cl_uint n = 0;
    cl_int error = CL_SUCCESS;

    kernel->name = strdup(name);
    kernel->below = calloc(program->n ? program->n : 1, sizeof(*kernel->below));
    if (!kernel->name || !kernel->below)
        return CL_OUT_OF_HOST_MEMORY;
    kernel->known = program->scanned ? socl_source_find(program->scanned, name) : NULL;
    if (!socl.simulated)
        error = count_arguments(kernel, &n);
    else if (!kernel->known)
        error = CL_INVALID_KERNEL_NAME;
    if (error != CL_SUCCESS)
        return error;
    /* Another reading than the compiler's is none. */
    if (kernel->known && !socl.simulated && kernel->known->n != n)
        kernel->known = NULL;
    kernel->n = kernel->known ? kernel->known->n : n;
    kernel->args = calloc(kernel->n ? kernel->n : 1, sizeof(*kernel->args));
    kernel->counted_values = calloc(kernel->n ? kernel->n : 1, sizeof(double));
    return kernel->args && kernel->counted_values ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_kernel new_kernel(cl_program program, const char *name, cl_int *ret_error)
{
    cl_kernel kernel = calloc(1, sizeof(*kernel));
    cl_int error;

    if (!kernel)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    kernel->head = (struct socl_head){&socl_dispatch, 1};
    socl_retain(&program->head);
    __atomic_add_fetch(&program->nkernels, 1, __ATOMIC_RELAXED);
    kernel->program = program;
    error = fill_kernel(kernel, name);
    socl_fail(ret_error, error);
    if (error == CL_SUCCESS)
        return kernel;
    socl_kernel_unref(kernel);
    return NULL;
}

static bool is_built(cl_program program)
{
    for (unsigned i = 0; i < program->n; i++)
        if (program->built[i].status == CL_BUILD_SUCCESS &&
            program->binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            return true;
    return false;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name,
                                           cl_int *ret_error)
{
    if (!socl_is(program))
        return socl_fail(ret_error, CL_INVALID_PROGRAM);
    if (!name)
        return socl_fail(ret_error, CL_INVALID_VALUE);
    if (!is_built(program))
        return socl_fail(ret_error, CL_INVALID_PROGRAM_EXECUTABLE);
    return new_kernel(program, name, ret_error);
}

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint room, cl_kernel *kernels,
                                         cl_uint *ret_n)
{
    char *names, *rest = NULL;
    cl_uint n = 0;
    cl_int error = CL_SUCCESS;

    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    if (!is_built(program))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    names = socl_program_kernels(program);
    if (!names)
        return CL_OUT_OF_HOST_MEMORY;
    for (const char *at = names; *at; at++)
        n += *at == ';' || at == names;
    if (kernels && room < n)
        error = CL_INVALID_VALUE;
    n = 0;
    for (char *name = strtok_r(names, ";", &rest); name && error == CL_SUCCESS;
         name = strtok_r(NULL, ";", &rest)) {
        if (kernels)
            kernels[n] = new_kernel(program, name, &error);
        n += error == CL_SUCCESS;
    }
    for (cl_uint i = 0; kernels && error != CL_SUCCESS && i < n; i++)
        socl_kernel_unref(kernels[i]);
    if (ret_n)
        *ret_n = n;
    free(names);
    return error;
}

/* -- arguments -- */

/* Of a program without source. */
static cl_mem find_mem(const void *value, size_t size)
{
    cl_mem wanted, mem;

    if (!value || size != sizeof(wanted))
        return NULL;
    memcpy(&wanted, value, sizeof(wanted));
    socl_lock();
    for (mem = socl.mems; mem && mem != wanted; mem = mem->next)
        ;
    socl_unlock();
    return mem;
}

static cl_int check_pointer(size_t size, const void *value, cl_mem *ret)
{
    cl_mem mem = NULL;

    if (size != sizeof(mem))
        return CL_INVALID_ARG_SIZE;
    if (value)
        memcpy(&mem, value, sizeof(mem));
    if (mem && !socl_is(mem))
        return CL_INVALID_MEM_OBJECT;
    *ret = mem;
    return CL_SUCCESS;
}

static cl_int check_arg(const struct socl_parameter *known, size_t size, const void *value,
                        struct socl_arg *ret)
{
    *ret = (struct socl_arg){.set = true, .size = size};
    if (!known) {
        ret->mem = find_mem(value, size);
        ret->pointer = ret->mem != NULL;
        ret->local = !value;
        return size ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
    }
    if (known->image)
        return size == sizeof(cl_mem) ? CL_INVALID_ARG_VALUE : CL_INVALID_ARG_SIZE;
    if (known->pointer && known->space == SOCL_LOCAL) {
        ret->local = true;
        return value ? CL_INVALID_ARG_VALUE : size ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
    }
    if (known->pointer) {
        ret->pointer = true;
        return check_pointer(size, value, &ret->mem);
    }
    if (!value)
        return CL_INVALID_ARG_VALUE;
    /* A structure's padding is the compiler's. */
    return known->bytes && known->scalar != SOCL_OTHER && size != known->bytes
               ? CL_INVALID_ARG_SIZE
               : CL_SUCCESS;
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t size,
                                  const void *value)
{
    struct socl_arg arg;
    cl_int error;

    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    if (index >= kernel->n)
        return CL_INVALID_ARG_INDEX;
    error = check_arg(kernel->known ? &kernel->known->parameters[index] : NULL, size, value,
                      &arg);
    if (error != CL_SUCCESS)
        return error;
    if (!arg.local && !arg.pointer) {
        arg.value = malloc(size);
        if (!arg.value)
            return CL_OUT_OF_HOST_MEMORY;
        memcpy(arg.value, value, size);
    }
    if (arg.mem)
        socl_retain(&arg.mem->head);
    socl_lock();
    clear_arg(&kernel->args[index]);
    kernel->args[index] = arg;
    socl_unlock();
    return CL_SUCCESS;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int *ret_error)
{
    cl_kernel copy;

    if (!socl_is(kernel))
        return socl_fail(ret_error, CL_INVALID_KERNEL);
    copy = new_kernel(kernel->program, kernel->name, ret_error);
    for (unsigned i = 0; copy && i < copy->n; i++) {
        const struct socl_arg *arg = &kernel->args[i];

        if (arg->set)
            set_arg(copy, i, arg->size,
                    arg->pointer ? (const void *)&arg->mem : (const void *)arg->value);
    }
    return copy;
}

/* -- functions -- */

static cl_int CL_API_CALL retain_kernel(cl_kernel kernel)
{
    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    socl_retain(&kernel->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    socl_kernel_unref(kernel);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t size,
                                          void *to, size_t *ret)
{
    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME:
        return socl_answer_text(kernel->name, size, to, ret);
    case CL_KERNEL_NUM_ARGS:
        SOCL_ANSWER(cl_uint, kernel->n);
    case CL_KERNEL_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, kernel->head.refs);
    case CL_KERNEL_CONTEXT:
        SOCL_ANSWER(cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM:
        SOCL_ANSWER(cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES:
        return socl_answer_text(kernel->known ? kernel->known->attributes : "", size, to, ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_kernel_arg_address_qualifier qualifier_of(const struct socl_parameter *parameter)
{
    switch (parameter->space) {
    case SOCL_GLOBAL:
        return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case SOCL_CONSTANT:
        return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case SOCL_LOCAL:
        return CL_KERNEL_ARG_ADDRESS_LOCAL;
    default:
        return CL_KERNEL_ARG_ADDRESS_PRIVATE;
    }
}

static cl_kernel_arg_type_qualifier type_qualifier_of(const struct socl_parameter *parameter)
{
    cl_kernel_arg_type_qualifier all = CL_KERNEL_ARG_TYPE_NONE;

    if (!parameter->pointer)
        return all;
    if (parameter->is_const || parameter->space == SOCL_CONSTANT)
        all |= CL_KERNEL_ARG_TYPE_CONST;
    if (parameter->is_restrict)
        all |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (parameter->is_volatile)
        all |= CL_KERNEL_ARG_TYPE_VOLATILE;
    return all;
}

static cl_int CL_API_CALL get_arg_info(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what,
                                       size_t size, void *to, size_t *ret)
{
    const struct socl_parameter *parameter;

    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    if (index >= kernel->n)
        return CL_INVALID_ARG_INDEX;
    if (!kernel->known)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    parameter = &kernel->known->parameters[index];
    switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        SOCL_ANSWER(cl_kernel_arg_address_qualifier, qualifier_of(parameter));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        SOCL_ANSWER(cl_kernel_arg_access_qualifier, CL_KERNEL_ARG_ACCESS_NONE);
    case CL_KERNEL_ARG_TYPE_NAME:
        return socl_answer_text(parameter->type, size, to, ret);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        SOCL_ANSWER(cl_kernel_arg_type_qualifier, type_qualifier_of(parameter));
    case CL_KERNEL_ARG_NAME:
        return socl_answer_text(parameter->name, size, to, ret);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Asks the device's own kernel. */
static cl_int ask_below(cl_kernel kernel, unsigned index, cl_kernel_work_group_info what,
                        size_t size, void *to, size_t *ret)
{
    cl_program built = kernel->program->built[index].program;
    cl_int error;
    cl_kernel below;

    if (!built)
        return CL_INVALID_DEVICE;
    below = SOCL_BELOW(built)->clCreateKernel(built, kernel->name, &error);
    if (error != CL_SUCCESS)
        return error;
    error = SOCL_BELOW(below)->clGetKernelWorkGroupInfo(
        below, kernel->program->devices[index]->below, what, size, to, ret);
    SOCL_BELOW(below)->clReleaseKernel(below);
    return error;
}

static cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id device,
                                         cl_kernel_work_group_info what, size_t size, void *to,
                                         size_t *ret)
{
    size_t most = 0;
    int index;

    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    index = device ? socl_find_device(kernel->program->devices, kernel->program->n, device) : 0;
    if (index < 0 || (!device && kernel->program->n > 1))
        return CL_INVALID_DEVICE;
    if (!socl.simulated)
        return ask_below(kernel, (unsigned)index, what, size, to, ret);
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        socl_dispatch.clGetDeviceInfo(kernel->program->devices[index],
                                      CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most), &most, NULL);
        SOCL_ANSWER(size_t, most);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return socl_answer(kernel->known->local_size, sizeof(kernel->known->local_size), size, to,
                           ret);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        SOCL_ANSWER(size_t, SOCL_WARP);
    case CL_KERNEL_LOCAL_MEM_SIZE:
        socl_lock();
        for (unsigned i = 0; i < kernel->n; i++)
            most += kernel->args[i].local ? kernel->args[i].size : 0;
        socl_unlock();
        SOCL_ANSWER(cl_ulong, most);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        SOCL_ANSWER(cl_ulong, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

void socl_fill_kernels(cl_icd_dispatch *to)
{
    to->clCreateKernel = create_kernel;
    to->clCreateKernelsInProgram = create_kernels;
    to->clRetainKernel = retain_kernel;
    to->clReleaseKernel = release_kernel;
    to->clSetKernelArg = set_arg;
    to->clCloneKernel = clone_kernel;
    to->clGetKernelInfo = get_kernel_info;
    to->clGetKernelArgInfo = get_arg_info;
    to->clGetKernelWorkGroupInfo = get_group_info;
}

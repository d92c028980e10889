/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/range.c - kernels in queues. The arguments are those of the call: a command has a
 * copy of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

struct range {
    struct socl_device_work head;
    cl_kernel kernel; /* reference */
    cl_uint dim;
    size_t offset[3], global[3], local[3];
    bool has_local;
    struct socl_arg *args; /* owned; references are those of the uses */
};

static void free_range(struct socl_work *work)
{
    struct range *range = (struct range *)work;

    for (unsigned i = 0; range->args && i < range->kernel->n; i++)
        free(range->args[i].value);
    free(range->args);
    socl_kernel_unref(range->kernel);
}

/* -- execution -- */

/* A buffer of the implementation below, or a part of one, which the caller releases. */
static cl_int get_buffer(const struct socl_use *use, cl_mem whole, cl_mem *ret, bool *ret_part)
{
    cl_buffer_region region = {use->mem->origin, use->mem->size};
    cl_int error = CL_SUCCESS;

    *ret_part = use->mem != use->data;
    *ret = whole;
    if (*ret_part)
        *ret = SOCL_BELOW(whole)->clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION,
                                                    &region, &error);
    return error;
}

static unsigned use_of(const struct range *range, cl_mem mem)
{
    unsigned i = 0;

    while (range->head.head.uses[i].mem != mem)
        i++;
    return i;
}

static cl_int set_below(const struct range *range, cl_kernel below, unsigned i,
                        const cl_mem *buffers)
{
    const cl_icd_dispatch *table = SOCL_BELOW(below);
    const struct socl_arg *arg = &range->args[i];
    cl_mem buffer = NULL;
    bool part = false;
    unsigned use;
    cl_int error;

    if (!arg->pointer)
        return table->clSetKernelArg(below, i, arg->size, arg->value);
    if (!arg->mem)
        return table->clSetKernelArg(below, i, sizeof(buffer), NULL);
    use = use_of(range, arg->mem);
    error = get_buffer(&range->head.head.uses[use], buffers[use], &buffer, &part);
    if (error == CL_SUCCESS)
        error = table->clSetKernelArg(below, i, sizeof(buffer), &buffer);
    if (part && buffer)
        table->clReleaseMemObject(buffer); /* the kernel's command keeps it */
    return error;
}

static cl_int enqueue_below(const struct range *range, cl_kernel below, cl_command_queue queue,
                            const cl_mem *buffers)
{
    cl_int error = CL_SUCCESS;

    for (unsigned i = 0; error == CL_SUCCESS && i < range->kernel->n; i++)
        error = set_below(range, below, i, buffers);
    if (error != CL_SUCCESS)
        return error;
    return SOCL_BELOW(queue)->clEnqueueNDRangeKernel(queue, below, range->dim, range->offset,
                                                     range->global,
                                                     range->has_local ? range->local : NULL, 0,
                                                     NULL, NULL);
}

static cl_int launch_range(struct socl_device_work *work, cl_device_id device,
                           cl_command_queue queue, const cl_mem *buffers)
{
    struct range *range = (struct range *)work;
    cl_kernel kernel = range->kernel;
    int index = socl_find_device(kernel->program->devices, kernel->program->n, device);
    cl_program built = index < 0 ? NULL : kernel->program->built[index].program;
    cl_int error = CL_SUCCESS;

    if (!built)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (!kernel->below[index])
        kernel->below[index] = SOCL_BELOW(built)->clCreateKernel(built, kernel->name, &error);
    return error == CL_SUCCESS ? enqueue_below(range, kernel->below[index], queue, buffers)
                               : error;
}

static cl_int host_kernel(cl_kernel kernel)
{
    cl_program program = socl_program_on_host(kernel->program);
    cl_int error = CL_BUILD_PROGRAM_FAILURE;

    if (!program)
        return error;
    if (!kernel->host)
        kernel->host = SOCL_BELOW(program)->clCreateKernel(program, kernel->name, &error);
    return kernel->host ? CL_SUCCESS : error;
}

static cl_int execute_on_host(const struct range *range, const struct socl_host *host,
                              cl_mem *copies, void *const *buffers)
{
    const cl_icd_dispatch *below = SOCL_BELOW(host->queue);
    const struct socl_work *work = &range->head.head;
    cl_int error = CL_SUCCESS;

    for (unsigned i = 0; error == CL_SUCCESS && i < work->nuses; i++)
        copies[i] =
            below->clCreateBuffer(host->context, CL_MEM_USE_HOST_PTR,
                                  work->uses[i].data->size, buffers[i], &error);
    if (error == CL_SUCCESS)
        error = enqueue_below(range, range->kernel->host, host->queue, copies);
    for (unsigned i = 0; error == CL_SUCCESS && i < work->nuses; i++) {
        void *there = below->clEnqueueMapBuffer(host->queue, copies[i], CL_TRUE, CL_MAP_READ, 0,
                                                work->uses[i].data->size, 0, NULL,
                                                NULL, &error);

        if (error == CL_SUCCESS)
            error = below->clEnqueueUnmapMemObject(host->queue, copies[i], there, 0, NULL, NULL);
    }
    below->clFinish(host->queue);
    for (unsigned i = 0; i < work->nuses; i++)
        if (copies[i])
            below->clReleaseMemObject(copies[i]);
    return error;
}

static cl_int range_on_host(struct socl_device_work *work, void *const *buffers)
{
    struct range *range = (struct range *)work;
    const struct socl_host *host = socl_host();
    cl_int error = host ? host_kernel(range->kernel) : CL_DEVICE_NOT_AVAILABLE;
    cl_mem *copies;

    if (error != CL_SUCCESS)
        return error;
    copies = calloc(work->head.nuses + 1, sizeof(*copies));
    if (!copies)
        return CL_OUT_OF_HOST_MEMORY;
    error = execute_on_host(range, host, copies, buffers);
    free(copies);
    return error;
}

/* -- what it costs, and which are alike -- */

static double scalar_value(const struct socl_parameter *parameter, const struct socl_arg *arg)
{
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;

    if (parameter->pointer || parameter->width != 1 || !arg->value ||
        arg->size > sizeof(value) || arg->size != parameter->bytes)
        return (double)NAN;
    memcpy(&value, arg->value, arg->size);
    if (parameter->scalar == SOCL_FLOAT)
        return (double)value.f32;
    if (parameter->scalar == SOCL_DOUBLE)
        return value.f64;
    if (parameter->scalar != SOCL_INT)
        return (double)NAN;
    return (double)(arg->size == 1   ? value.i8
                    : arg->size == 2 ? value.i16
                    : arg->size == 4 ? value.i32
                                     : value.i64);
}

/* Of one work-item; kept for the next call, unless other values may have other figures. */
static bool count_item(struct range *range, struct socl_count *ret)
{
    cl_kernel kernel = range->kernel;
    double values[64];
    unsigned n = kernel->n < 64 ? kernel->n : 64;

    if (!kernel->known || kernel->n > 64)
        return false;
    for (unsigned i = 0; i < n; i++)
        values[i] = scalar_value(&kernel->known->parameters[i], &range->args[i]);
    socl_lock();
    if (!kernel->counted ||
        (kernel->count.depends &&
         memcmp(values, kernel->counted_values, n * sizeof(*values)) != 0)) {
        if (!kernel->count.loads)
            kernel->count.loads = calloc(2 * n + 1, sizeof(double));
        kernel->counted = kernel->count.loads != NULL;
        if (kernel->counted)
            socl_source_count(kernel->program->scanned, kernel->known, values, &kernel->count);
        free(kernel->count.written);
        kernel->count.written = NULL;
        memcpy(kernel->counted_values, values, n * sizeof(*values));
    }
    *ret = kernel->count;
    socl_unlock();
    return kernel->counted;
}

/* Each byte of a buffer is read once and written once, and only those that are accessed. */
static void count_all(struct range *range)
{
    struct socl_device_work *work = &range->head;
    struct socl_count item = {0};
    double items = 1;

    for (cl_uint i = 0; i < range->dim; i++)
        items *= (double)range->global[i];
    if (!count_item(range, &item))
        return;
    work->counted = true;
    work->flops32 = items * (item.flops32 + item.flops16);
    work->flops64 = items * item.flops64;
    work->ints = items * item.ints;
    for (unsigned i = 0; i < range->kernel->n; i++)
        if (range->args[i].mem)
            work->bytes += fmin(items * item.loads[i], (double)range->args[i].mem->size) +
                           fmin(items * item.stores[i], (double)range->args[i].mem->size);
}

/* Whether SOCL_MODEL_SCALARS has the name, alone or behind that of the kernel. */
static bool is_chosen(const char *kernel, const char *name)
{
    const char *at = socl.scalars;

    while (at && *at) {
        size_t n = strcspn(at, ", ;");
        const char *point = memchr(at, '.', n);
        size_t before = point ? (size_t)(point - at) : 0;
        const char *own = point ? point + 1 : at;

        if ((!point || (strlen(kernel) == before && memcmp(at, kernel, before) == 0)) &&
            strlen(name) == n - (size_t)(own - at) &&
            memcmp(own, name, n - (size_t)(own - at)) == 0)
            return true;
        at += n + (at[n] != 0);
    }
    return false;
}

static uint32_t range_footprint(const struct range *range)
{
    const struct socl_device_work *work = &range->head;
    const double counts[] = {work->flops32, work->flops64, work->ints, work->bytes};
    uint32_t hash = starpu_hash_crc32c_be_n(counts, sizeof(counts), range->dim);

    hash = starpu_hash_crc32c_be_n(range->global, range->dim * sizeof(size_t), hash);
    hash = starpu_hash_crc32c_be_n(range->local, sizeof(range->local), hash);
    for (unsigned i = 0; i < range->kernel->n; i++) {
        const struct socl_arg *arg = &range->args[i];
        size_t size = arg->mem ? arg->mem->size : arg->size;

        hash = starpu_hash_crc32c_be_n(&size, sizeof(size), hash);
        if (arg->value && range->kernel->known &&
            is_chosen(range->kernel->name, range->kernel->known->parameters[i].name))
            hash = starpu_hash_crc32c_be_n(arg->value, arg->size, hash);
    }
    return hash;
}

/* -- enqueueing -- */

static bool is_read_only(const struct range *range, unsigned i)
{
    const struct socl_parameter *known =
        range->kernel->known ? &range->kernel->known->parameters[i] : NULL;

    return (range->args[i].mem->flags & CL_MEM_READ_ONLY) ||
           (known && (known->is_const || known->space == SOCL_CONSTANT || known->only_read));
}

/* An argument that is the same buffer as another one shares its use. */
static void add_use(struct range *range, unsigned i)
{
    struct socl_work *work = &range->head.head;
    cl_mem mem = range->args[i].mem;
    enum starpu_data_access_mode mode =
        is_read_only(range, i) ? STARPU_R : STARPU_RW;

    for (unsigned k = 0; k < work->nuses; k++)
        if (work->uses[k].mem == mem) {
            if (work->uses[k].mode != mode)
                work->uses[k].mode = STARPU_RW;
            return;
        }
    socl_work_use(work, mem, mode);
}

static cl_int copy_arguments(struct range *range)
{
    cl_kernel kernel = range->kernel;

    for (unsigned i = 0; i < kernel->n; i++) {
        const struct socl_arg *arg = &kernel->args[i];

        if (!arg->set)
            return CL_INVALID_KERNEL_ARGS;
        range->args[i] = *arg;
        range->args[i].value = NULL;
        if (!arg->value)
            continue;
        range->args[i].value = malloc(arg->size);
        if (!range->args[i].value)
            return CL_OUT_OF_HOST_MEMORY;
        memcpy(range->args[i].value, arg->value, arg->size);
    }
    for (unsigned i = 0; i < kernel->n; i++)
        if (range->args[i].mem)
            add_use(range, i);
    return CL_SUCCESS;
}

static cl_int check_sizes(cl_command_queue queue, cl_kernel kernel, const struct range *range)
{
    const cl_device_id device = queue->shown;
    size_t most = 0, items[3] = {0}, n = 1;
    const size_t *fixed = kernel->known ? kernel->known->local_size : NULL;

    if (!range->has_local)
        return fixed && fixed[0] ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
    socl_dispatch.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most), &most,
                                  NULL);
    socl_dispatch.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items,
                                  NULL);
    for (cl_uint i = 0; i < range->dim; i++) {
        if (range->local[i] == 0 || range->global[i] % range->local[i] != 0 ||
            (fixed && fixed[0] && fixed[i] != range->local[i]))
            return CL_INVALID_WORK_GROUP_SIZE;
        if (range->local[i] > items[i])
            return CL_INVALID_WORK_ITEM_SIZE;
        n *= range->local[i];
    }
    return n > most ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static cl_int check_range(cl_command_queue queue, cl_kernel kernel, cl_uint dim,
                          const size_t *global, struct socl_waits waits)
{
    if (!socl_is(queue))
        return CL_INVALID_COMMAND_QUEUE;
    if (!socl_is(kernel))
        return CL_INVALID_KERNEL;
    if (kernel->program->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (dim < 1 || dim > 3)
        return CL_INVALID_WORK_DIMENSION;
    for (cl_uint i = 0; i < dim; i++)
        if (!global || global[i] == 0)
            return CL_INVALID_GLOBAL_WORK_SIZE;
    return socl_check_waits(queue->context, waits);
}

static cl_int enqueue_range(cl_command_queue queue, cl_command_type type, cl_kernel kernel,
                            cl_uint dim, const size_t *offset, const size_t *global,
                            const size_t *local, struct socl_waits waits, cl_event *ret_event)
{
    cl_int error = check_range(queue, kernel, dim, global, waits);
    struct range *range;

    if (error != CL_SUCCESS)
        return error;
    range = socl_work_new(sizeof(*range), kernel->n);
    if (!range)
        return CL_OUT_OF_HOST_MEMORY;
    range->head.head.free = free_range;
    range->head.launch = launch_range;
    range->head.on_host = range_on_host;
    socl_retain(&kernel->head);
    range->kernel = kernel;
    range->dim = dim;
    range->has_local = local != NULL;
    for (cl_uint i = 0; i < dim; i++) {
        range->offset[i] = offset ? offset[i] : 0;
        range->global[i] = global[i];
        range->local[i] = local ? local[i] : 0;
    }
    range->args = calloc(kernel->n ? kernel->n : 1, sizeof(*range->args));
    error = range->args ? check_sizes(queue, kernel, range) : CL_OUT_OF_HOST_MEMORY;
    if (error == CL_SUCCESS) {
        socl_lock();
        error = copy_arguments(range);
        socl_unlock();
    }
    if (error != CL_SUCCESS) {
        socl_work_free(&range->head.head);
        return error;
    }
    count_all(range);
    range->head.footprint = range_footprint(range);
    return socl_device_submit(queue, type, kernel->name, &range->head, waits, false, ret_event);
}

static cl_int CL_API_CALL nd_range(cl_command_queue queue, cl_kernel kernel, cl_uint dim,
                                   const size_t *offset, const size_t *global,
                                   const size_t *local, cl_uint nwaits, const cl_event *waits,
                                   cl_event *event)
{
    return enqueue_range(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, dim, offset, global, local,
                         (struct socl_waits){nwaits, waits}, event);
}

static cl_int CL_API_CALL one_item(cl_command_queue queue, cl_kernel kernel, cl_uint nwaits,
                                   const cl_event *waits, cl_event *event)
{
    const size_t one = 1;

    return enqueue_range(queue, CL_COMMAND_TASK, kernel, 1, NULL, &one, &one,
                         (struct socl_waits){nwaits, waits}, event);
}

void socl_fill_ranges(cl_icd_dispatch *to)
{
    to->clEnqueueNDRangeKernel = nd_range;
    to->clEnqueueTask = one_item;
}

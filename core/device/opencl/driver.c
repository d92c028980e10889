/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/driver.c - the OpenCL driver: its table of operations,
 * opening and closing, memory, kernels. See opencl.h for the parts.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/device/opencl/opencl.h"

static struct opencl *opencl_of(struct orr_driver *driver)
{
    return (struct opencl *)driver;
}

struct opencl_device *orr_opencl_on_node(struct opencl *driver, unsigned node)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].used && driver->devices[i].node == node)
            return &driver->devices[i];
    return NULL;
}

/* -- memory -- */

/* The first byte is written: with many devices the memory is there then
 * only. */
static cl_int opencl_touch_buffer(struct opencl_device *device, cl_mem buffer)
{
    const struct opencl_api *cl = &device->driver->cl;
    char byte = 0;

    return cl->EnqueueWriteBuffer(device->queues[ORR_QUEUE_IN].queue, buffer,
                                  true, 0, 1, &byte, 0, NULL, NULL);
}

cl_int orr_opencl_alloc(struct opencl_device *device, size_t size,
                        cl_mem_flags flags, bool now, cl_mem *ret)
{
    const struct opencl_api *cl = &device->driver->cl;
    cl_int error = 0;
    cl_mem buffer =
        cl->CreateBuffer(device->context, flags, size, NULL, &error);

    if (!error && now) {
        error = opencl_touch_buffer(device, buffer);
        if (error)
            cl->ReleaseMemObject(buffer);
    }
    if (!error)
        *ret = buffer;
    return error;
}

/* Memory of processors is there when it is used, as all of the host's. */
static int opencl_alloc(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret)
{
    struct opencl_device *device = orr_opencl_on_node(opencl_of(driver), node);
    bool now = !(device->type & OPENCL_DEVICE_TYPE_CPU);
    cl_mem buffer;
    cl_int error =
        orr_opencl_alloc(device, size, OPENCL_MEM_READ_WRITE, now, &buffer);

    if (error) {
        /* It is asked again whenever something might have been given back. */
        if (!atomic_exchange_explicit(&device->full, true,
                                      memory_order_relaxed))
            orr_log_warning("opencl: an allocation of %zu bytes on %s failed: "
                            "%s (%d)",
                            size, driver->machine->nodes[node].name,
                            opencl_error(error), error);
        return opencl_errno(error) == -ENODEV ? -ENODEV : -ENOMEM;
    }
    atomic_store_explicit(&device->full, false, memory_order_relaxed);
    *ret = (uintptr_t)buffer;
    return 0;
}

static void opencl_free(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size)
{
    (void)node;
    (void)size;
    opencl_of(driver)->cl.ReleaseMemObject((cl_mem)address);
}

/* -- queues -- */

static struct orr_queue *opencl_queue(struct orr_driver *driver, unsigned node,
                                      enum orr_queue_use use)
{
    return &orr_opencl_on_node(opencl_of(driver), node)->queues[use];
}

/* -- kernels -- */

/* When the event happened, in µs of the device's clock. */
static bool device_time(const struct opencl_api *cl, cl_event event,
                        double *ret)
{
    uint64_t ns;

    if (!event || cl->GetEventProfilingInfo(event, OPENCL_PROFILING_COMMAND_END,
                                            sizeof(ns), &ns, NULL))
        return false;
    *ret = (double)ns / 1e3;
    return true;
}

/* Sets the times that the device took, on the machine's clock. Without its
 * times the kernel ends when that is noticed. */
static void opencl_run_set_times(struct opencl_run *run,
                                 struct orr_kernel *kernel)
{
    struct opencl_device *device = run->device;
    const struct opencl_api *cl = &device->driver->cl;
    struct orr_exec *exec = device->driver->head.machine->exec;
    double begin, end;

    kernel->end = orr_exec_now(exec);
    if (!device_time(cl, run->begin, &begin) ||
        !device_time(cl, run->end, &end) || end < begin)
        return;
    device->clock = fmin(device->clock, kernel->end - end);
    kernel->start = begin + device->clock;
    kernel->end = end + device->clock;
}

static struct opencl_run *opencl_run_new(struct opencl_device *device)
{
    struct opencl_run *run = device->runs;

    while (run->device)
        run++;
    run->device = device;
    return run;
}

static void end_run(struct opencl_run *run)
{
    const struct opencl_api *cl = &run->device->driver->cl;

    if (run->begin)
        cl->ReleaseEvent(run->begin);
    if (run->end)
        cl->ReleaseEvent(run->end);
    *run = (struct opencl_run){0};
}

static void opencl_kernel_arrived(struct orr_post *post)
{
    struct orr_kernel *kernel =
        (struct orr_kernel *)(void *)((char *)post -
                                      offsetof(struct orr_kernel, post));

    opencl_run_set_times(kernel->machine_link[0], kernel);
    end_run(kernel->machine_link[0]);
    kernel->error = post->error;
    kernel->done(kernel);
}

/* The codelet's function has waited for its kernel, or should have. */
static int opencl_run_now(struct opencl_device *device,
                          struct orr_kernel *kernel)
{
    const struct opencl_api *cl = &device->driver->cl;
    struct orr_exec *exec = device->driver->head.machine->exec;
    cl_int error;

    kernel->start = orr_exec_now(exec);
    kernel->run(kernel);
    error = cl->Finish(device->queues[ORR_QUEUE_KERNELS].queue);
    kernel->end = orr_exec_now(exec);
    kernel->error = opencl_failure(error);
    return 1;
}

static int opencl_kernel_start(struct orr_driver *driver,
                               struct orr_kernel *kernel)
{
    unsigned node = driver->machine->workers[kernel->worker].node;
    struct opencl_device *device = orr_opencl_on_node(opencl_of(driver), node);
    struct orr_queue *queue = &device->queues[ORR_QUEUE_KERNELS];
    struct opencl_run *run;

    if (!kernel->async)
        return opencl_run_now(device, kernel);
    run = kernel->machine_link[0] = opencl_run_new(device);
    kernel->start = orr_exec_now(driver->machine->exec);
    if (device->driver->cl.EnqueueMarkerWithWaitList(queue->queue, 0, NULL,
                                                     &run->begin))
        run->begin = NULL;
    kernel->run(kernel);
    kernel->post.arrived = opencl_kernel_arrived;
    opencl_post_at_end(queue, &kernel->post, &run->end);
    return 0;
}

/* -- opening -- */

static void opencl_close_device(struct opencl_device *device)
{
    for (unsigned use = 0; use < ORR_QUEUE_USES; use++)
        if (device->queues[use].device)
            opencl_queue_close(&device->queues[use]);
    if (device->null_kernel)
        device->driver->cl.ReleaseKernel(device->null_kernel);
    if (device->context)
        device->driver->cl.ReleaseContext(device->context);
}

/* Also for one that was only half opened. */
static void opencl_close(struct orr_driver *driver)
{
    struct opencl *opencl = opencl_of(driver);

    for (unsigned i = 0; i < opencl->ndevices; i++)
        if (opencl->devices[i].used)
            opencl_close_device(&opencl->devices[i]);
    opencl_await_callbacks(opencl);
    if (opencl->cl.library)
        opencl_forget(opencl);
    /* What the application has of it stays where it is. */
    if (atomic_load(&opencl->npinned) == 0)
        opencl_api_close(&opencl->cl);
    pthread_mutex_destroy(&opencl->events);
    free(opencl->program_dir);
    free(opencl);
}

static const struct orr_driver_ops opencl_ops = {
    .name = "opencl",
    .close = opencl_close,
    .alloc = opencl_alloc,
    .free = opencl_free,
    .pinned_alloc = opencl_pinned_alloc,
    .pinned_free = opencl_pinned_free,
    .copy_start = orr_driver_copy_start,
    .raw_copy = opencl_raw_copy,
    .copy_levels = OPENCL_COPY_LEVELS,
    .call_method = opencl_call_method,
    .kernel_start = opencl_kernel_start,
    .in_order = true,
    .null_kernel = opencl_null_kernel,
    .queue = opencl_queue,
    .notify = opencl_notify,
    .record = opencl_record,
    .wait = opencl_wait,
};

struct opencl *orr_opencl_of(const struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->ndrivers; i++)
        if (machine->drivers[i]->ops == &opencl_ops)
            return opencl_of(machine->drivers[i]);
    return NULL;
}

static int opencl_open_device(struct opencl_device *device,
                              struct orr_error *err)
{
    const struct opencl_api *cl = &device->driver->cl;
    const intptr_t properties[] = {OPENCL_CONTEXT_PLATFORM,
                                   (intptr_t)device->platform, 0};
    cl_int error = 0;

    device->used = true;
    device->clock = (double)INFINITY;
    device->context =
        cl->CreateContext(device->driver->past_loader ? NULL : properties, 1,
                          &device->id, NULL, NULL, &error);
    for (unsigned use = 0; !error && use < ORR_QUEUE_USES; use++)
        error = opencl_queue_open(&device->queues[use], device);
    if (error)
        return orr_fail(err, -ENODEV,
                        "OpenCL device %d (%s) cannot be opened: %s (%d); "
                        "leave it out with STARPU_WORKERS_OPENCLID",
                        device->number, device->name, opencl_error(error),
                        error);
    return 0;
}

/* Figures that the bus files replace: schedulers want some. */
static void opencl_set_links(struct orr_machine *machine, unsigned node)
{
    for (unsigned other = 0; other < machine->nnodes; other++) {
        if (!orr_node_is_main(&machine->nodes[other]))
            continue;
        orr_machine_set_link(machine, node, other, 5e3, 20);
        orr_machine_set_link(machine, other, node, 5e3, 20);
    }
}

static void opencl_describe_device(struct opencl_device *device, unsigned node,
                                   unsigned worker)
{
    struct orr_driver *driver = &device->driver->head;
    struct orr_node_desc *memory = &driver->machine->nodes[node];
    struct orr_worker_desc *desc = &driver->machine->workers[worker];
    char part[24] = "";

    device->node = node;
    *memory = (struct orr_node_desc){
        .kind = STARPU_OPENCL_RAM,
        .devid = device->number,
        .capacity = device->memory / 10 * 9,
        .handles = true,
        .driver = driver,
    };
    snprintf(memory->name, sizeof(memory->name), "OpenCL %d", device->number);
    if (device->nparts > 1)
        snprintf(part, sizeof(part), ", part %u of %u", device->part + 1,
                 device->nparts);
    *desc = (struct orr_worker_desc){
        .type = STARPU_OPENCL_WORKER,
        .devid = device->number,
        .handle = device->id,
        .node = node,
        .cpu = -1,
        .pipeline = 2,
        .async = true,
        .speed = 1,
        .driver = driver,
    };
    orr_snprintf(desc->name, sizeof(desc->name), "OpenCL %d (%.24s %.1f GiB%s)",
                 device->number, device->name, (double)device->memory / 0x1p30,
                 part);
    opencl_set_links(driver->machine, node);
}

static int opencl_open_devices(struct opencl *driver,
                               const struct orr_machine_options *options,
                               const unsigned *chosen, unsigned n,
                               struct orr_error *err)
{
    struct orr_machine *machine = driver->head.machine;
    unsigned node, worker;
    int rc = orr_machine_add_nodes(&driver->head, n, &node);

    if (rc < 0)
        return rc;
    if (options->ncpu < 0)
        orr_machine_spare_processors(machine, n);
    rc = orr_machine_add_workers(&driver->head, n, &worker);
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        rc = opencl_open_device(&driver->devices[chosen[i]], err);
        if (rc == 0)
            opencl_describe_device(&driver->devices[chosen[i]], node + i,
                                   worker + i);
    }
    return rc;
}

static int open_all(struct opencl *driver,
                    const struct orr_machine_options *options,
                    struct orr_error *err)
{
    unsigned chosen[STARPU_MAXOPENCLDEVS], n = 0;
    int rc = opencl_api_open(&driver->cl, err);

    if (rc == -ENOENT) {
        if (options->nopencl > 0)
            orr_log_warning("%d OpenCL workers were requested, but there is no "
                            "libOpenCL.so.1 here: install an OpenCL loader",
                            options->nopencl);
        return 0;
    }
    if (rc == 0)
        rc = opencl_find(driver, options, chosen, &n, err);
    if (rc == 0 && n > 0)
        rc = opencl_open_devices(driver, options, chosen, n, err);
    return rc;
}

ORR_DRIVER_OPEN(opencl);
int orr_driver_opencl_open(const struct orr_machine_options *options,
                           struct orr_machine *machine, struct orr_driver **ret,
                           struct orr_error *err)
{
    struct opencl *driver;

    if (!opencl_is_wanted(options))
        return 0;
    driver = calloc(1, sizeof(*driver));
    if (!driver)
        return -ENOMEM;
    driver->head.ops = &opencl_ops;
    driver->head.machine = machine;
    pthread_mutex_init(&driver->events, NULL);
    *ret = &driver->head;
    if (options->opencl_program_dir) {
        driver->program_dir = strdup(options->opencl_program_dir);
        if (!driver->program_dir)
            return -ENOMEM;
    }
    return open_all(driver, options, err);
}

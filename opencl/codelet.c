/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/codelet.c - commands of devices as tasks. All kernels of a name share a codelet
 * and a history model, whose footprint is the command's. Simulated, a footprint without a
 * measure gets the time of a roofline: the longer of its operations at the peak and its
 * bytes at the bandwidth that the machine's description states, with the origin `derived'.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

/* A footprint that is known already. */
struct socl_taught {
    struct socl_taught *next;
    const struct socl_codelet *codelet;
    uint32_t footprint;
};

/* -- what a worker executes -- */

/* Which of the task's data a use is of: several parts of a buffer may share some. */
static unsigned piece_of(const struct socl_work *work, unsigned use)
{
    unsigned piece = 0;

    for (unsigned i = 1; i <= use; i++)
        piece += work->uses[i].data != work->uses[i - 1].data;
    return piece;
}

static void on_device(void *interfaces[], void *arg)
{
    struct socl_device_work *work = arg;
    cl_mem few[32], *buffers = few;
    cl_device_id device = NULL;
    cl_command_queue queue;
    cl_int error = CL_OUT_OF_HOST_MEMORY;

    if (work->command->error != CL_SUCCESS)
        return;
    if (work->head.nuses > sizeof(few) / sizeof(*few))
        buffers = malloc(work->head.nuses * sizeof(*buffers));
    for (unsigned i = 0; buffers && i < work->head.nuses; i++)
        buffers[i] = (cl_mem)STARPU_VARIABLE_GET_DEV_HANDLE(interfaces[piece_of(&work->head, i)]);
    for (unsigned i = 0; i < socl.ndevices; i++)
        if (socl.devices[i].worker == starpu_worker_get_id())
            device = &socl.devices[i];
    starpu_opencl_get_current_queue(&queue);
    if (buffers && device)
        error = work->launch(work, device, queue, buffers);
    work->command->error = error;
    if (buffers != few)
        free(buffers);
}

/* Simulated with kernels that are executed: data are in main memory. */
static void on_host(void *interfaces[], void *arg)
{
    struct socl_device_work *work = arg;
    void **buffers = calloc(work->head.nuses + 1, sizeof(*buffers));

    for (unsigned i = 0; buffers && i < work->head.nuses; i++)
        buffers[i] = (void *)STARPU_VARIABLE_GET_PTR(interfaces[piece_of(&work->head, i)]);
    if (buffers && work->command->error == CL_SUCCESS)
        work->command->error = work->on_host(work, buffers);
    free(buffers);
}

/* -- codelets -- */

static uint32_t footprint_of(struct starpu_task *task)
{
    return ((const struct socl_device_work *)task->cl_arg)->footprint;
}

static bool only_processors(void)
{
    return socl.ndevices > 0 && socl.devices[0].type == CL_DEVICE_TYPE_CPU && socl.simulated &&
           starpu_worker_get_type(socl.devices[0].worker) == STARPU_CPU_WORKER;
}

static struct socl_codelet *new_codelet(const char *name)
{
    struct socl_codelet *codelet = calloc(1, sizeof(*codelet));

    if (!codelet)
        return NULL;
    codelet->name = strdup(name);
    if (!codelet->name) {
        free(codelet);
        return NULL;
    }
    codelet->model.type = STARPU_HISTORY_BASED;
    codelet->model.symbol = codelet->name;
    codelet->model.footprint = footprint_of;
    starpu_codelet_init(&codelet->codelet);
    codelet->codelet.name = codelet->name;
    codelet->codelet.model = &codelet->model;
    codelet->codelet.where =
        only_processors() ? STARPU_CPU : STARPU_OPENCL | STARPU_CUDA | STARPU_HIP;
    codelet->codelet.opencl_funcs[0] = on_device;
    codelet->codelet.opencl_flags[0] = STARPU_OPENCL_ASYNC;
    codelet->codelet.cpu_funcs[0] = on_host; /* what a simulation executes */
    codelet->codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
    if (socl.simulated) {
        codelet->codelet.cuda_funcs[0] = codelet->codelet.hip_funcs[0] = on_host;
        codelet->codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
        codelet->codelet.hip_flags[0] = STARPU_HIP_ASYNC;
    }
    return codelet;
}

struct socl_codelet *socl_codelet_of(const char *name)
{
    struct socl_codelet *codelet;

    socl_lock();
    for (codelet = socl.codelets; codelet; codelet = codelet->next)
        if (strcmp(codelet->name, name) == 0)
            break;
    if (!codelet && (codelet = new_codelet(name))) {
        codelet->next = socl.codelets;
        socl.codelets = codelet;
    }
    socl_unlock();
    return codelet;
}

/* -- times -- */

static double roofline_us(const struct socl_device_work *work, const struct orrery_rates *rates)
{
    double vector = work->flops32 / rates->flops32;
    double moved = work->bytes / rates->bytes;

    if (work->flops64 > 0 && rates->flops64 > 0)
        vector += work->flops64 / rates->flops64;
    return fmax(fmax(vector, work->ints / rates->flops32), moved);
}

static bool is_taught(const struct socl_codelet *codelet, uint32_t footprint)
{
    unsigned bucket = footprint % SOCL_BUCKETS;
    struct socl_taught *one;

    for (one = socl.taught[bucket]; one; one = one->next)
        if (one->codelet == codelet && one->footprint == footprint)
            return true;
    one = malloc(sizeof(*one));
    if (one) {
        *one = (struct socl_taught){socl.taught[bucket], codelet, footprint};
        socl.taught[bucket] = one;
    }
    return false;
}

/* Measures that make a history model trusted, of which this one stands for all. */
enum { ENOUGH = 10 };

static void teach(const struct socl_codelet *codelet, const struct socl_device_work *work)
{
    size_t size = 0;

    for (unsigned i = 0; i < work->head.nuses; i++)
        if (i == 0 || socl_whole(work->head.uses[i].mem) != socl_whole(work->head.uses[i - 1].mem))
            size += socl_whole(work->head.uses[i].mem)->size;
    for (unsigned i = 0; i < socl.ndevices; i++) {
        const struct _cl_device_id *device = &socl.devices[i];
        struct orrery_kernel kernel = {.symbol = codelet->name,
                                       .type = starpu_worker_get_type(device->worker),
                                       .footprint = work->footprint,
                                       .size = size,
                                       .n = ENOUGH,
                                       .derived = 1,
                                       .worker = device->worker + 1};

        if (!(device->rates.flops32 > 0) || !(device->rates.bytes > 0))
            continue;
        kernel.mean = roofline_us(work, &device->rates);
        orrery_teach_kernel(&kernel);
    }
}

static void know_time(const struct socl_codelet *codelet, const struct socl_device_work *work)
{
    bool known;

    if (!socl.simulated || !work->counted)
        return;
    socl_lock();
    known = is_taught(codelet, work->footprint);
    socl_unlock();
    if (!known)
        teach(codelet, work);
}

/* -- tasks -- */

bool socl_device_set_data(struct starpu_task *task, const struct socl_work *work)
{
    unsigned n = work->nuses ? piece_of(work, work->nuses - 1) + 1 : 0;

    if (n > STARPU_NMAXBUFS) {
        task->dyn_handles = calloc(n, sizeof(*task->dyn_handles));
        task->dyn_modes = calloc(n, sizeof(*task->dyn_modes));
        if (!task->dyn_handles || !task->dyn_modes)
            return false;
    }
    task->nbuffers = (int)n;
    for (unsigned i = 0; i < work->nuses; i++) {
        unsigned piece = piece_of(work, i);

        STARPU_TASK_SET_HANDLE(task, work->uses[i].data->handle, piece);
        STARPU_TASK_SET_MODE(task, work->uses[i].mode, piece);
    }
    return true;
}

cl_int socl_device_submit(cl_command_queue queue, cl_command_type type, const char *name,
                          struct socl_device_work *work, struct socl_waits waits, bool blocking,
                          cl_event *ret_event)
{
    struct socl_codelet *codelet = socl_codelet_of(name);
    struct starpu_task *task;
    cl_event event;
    cl_int error;

    error = socl_command_new(queue, type, &work->head, NULL, &event);
    if (error != CL_SUCCESS)
        return error;
    work->command = event;
    task = event->task;
    task->cl = codelet ? &codelet->codelet : NULL; /* the modes' place depends on it */
    if (!codelet) {
        socl_event_unref(event);
        return CL_OUT_OF_HOST_MEMORY;
    }
    know_time(codelet, work);
    task->cl_arg = work;
    task->flops = work->flops32 + work->flops64;
    if (queue->device) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)queue->device->worker;
    }
    return socl_command_submit(event, waits, blocking, ret_event);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/start.c - the run behind the platform: begun by the first call that needs
 * devices, ended with the program. Any thread of the application; main where simulated.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "opencl/socl.h"

struct socl socl;
_Thread_local unsigned socl_inside;

/* Held by who starts or stops: these wait, and a callback may come meanwhile. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

void socl_lock(void)
{
    starpu_pthread_mutex_lock(&socl.lock);
    socl_inside++;
}

void socl_unlock(void)
{
    socl_inside--;
    starpu_pthread_mutex_unlock(&socl.lock);
}

double socl_now(void)
{
    return socl.started > 0 ? starpu_timing_now() : 0;
}

void socl_sweep(void)
{
    if (socl_inside)
        return;
    socl_mems_sweep();
    socl_contexts_sweep();
}

/* -- settings -- */

static int read_order(unsigned *ret)
{
    const char *text = getenv("SOCL_ORDER");

    if (!text || !*text || strcmp(text, "queue") == 0)
        *ret = SOCL_ORDER_QUEUE;
    else if (strcmp(text, "data") == 0)
        *ret = SOCL_ORDER_DATA;
    else if (strcmp(text, "both") == 0)
        *ret = SOCL_ORDER_QUEUE | SOCL_ORDER_DATA;
    else
        orr_log_error("SOCL_ORDER=\"%.60s\": write queue, data or both", text);
    return *ret ? 0 : -1;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);

    return text && *text && strcmp(text, "0") != 0;
}

static int read_settings(void)
{
    const char *scalars = getenv("SOCL_MODEL_SCALARS");

    socl.force_dynamic = is_set("SOCL_FORCE_DYNAMIC");
    socl.scalars = scalars && *scalars ? strdup(scalars) : NULL;
    return read_order(&socl.order);
}

/* Devices are those of the implementations below; of processors, too, as there is nothing
 * else that could compute. These are settings, and not in starpu_conf, so that a record of the
 * run does not have them: it is played on machines with other devices. That no processor is a
 * worker is in it: numbers of workers are those of devices there, too. */
static void set_defaults(struct starpu_conf *conf)
{
    conf->ncpus = 0;
    setenv("STARPU_NCUDA", "0", 0);
    setenv("STARPU_NHIP", "0", 0);
    setenv("ORRERY_OPENCL_VENDORS", "/etc/OpenCL/vendors", 0);
    setenv("STARPU_OPENCL_ON_CPUS", "1", 0);
}

/* -- devices -- */

static int list_workers(int *ids)
{
    static const enum starpu_worker_archtype types[] = {
        STARPU_CUDA_WORKER, STARPU_HIP_WORKER, STARPU_OPENCL_WORKER};
    int n = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        n += starpu_worker_get_ids_by_type(types[i], ids + n, SOCL_MAX_DEVICES - n);
    if (n == 0 && socl.simulated)
        n = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, SOCL_MAX_DEVICES);
    return n;
}

static void fill_real(struct _cl_device_id *device)
{
    int number = starpu_worker_get_devid(device->worker);

    starpu_opencl_get_device(number, &device->below);
    starpu_opencl_get_context(number, &device->context);
    SOCL_BELOW(device->below)
        ->clGetDeviceInfo(device->below, CL_DEVICE_TYPE, sizeof(device->type), &device->type,
                          NULL);
}

static int find_devices(void)
{
    int ids[SOCL_MAX_DEVICES], n = list_workers(ids);

    socl.devices = calloc(n > 0 ? (size_t)n : 1, sizeof(*socl.devices));
    if (!socl.devices)
        return -1;
    for (int i = 0; i < n; i++) {
        struct _cl_device_id *device = &socl.devices[i];

        device->dispatch = &socl_dispatch;
        device->worker = ids[i];
        device->node = (int)starpu_worker_get_memory_node((unsigned)ids[i]);
        device->type = starpu_worker_get_type(ids[i]) == STARPU_CPU_WORKER
                           ? CL_DEVICE_TYPE_CPU
                           : CL_DEVICE_TYPE_GPU;
        starpu_worker_get_name(ids[i], device->name, sizeof(device->name));
        orrery_worker_rates(ids[i], &device->rates);
        if (!socl.simulated)
            fill_real(device);
    }
    socl.ndevices = (unsigned)n;
    return 0;
}

/* -- beginning and end -- */

static int start_run(void)
{
    const char *machine = getenv("ORRERY_MACHINE");
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    if (!machine || !*machine)
        set_defaults(&conf);
    if (!getenv("STARPU_SCHED"))
        conf.sched_policy_name = "dmdas";
    return starpu_init(&conf);
}

static cl_int start_locked(void)
{
    int rc;

    if (read_settings() != 0)
        return CL_DEVICE_NOT_FOUND;
    rc = start_run();
    if (rc != 0) {
        orr_log_error("OpenCL: there are no devices: %s; orrery run -m MACHINE simulates some, "
                      "ORRERY_OPENCL_VENDORS names a folder of vendors' files",
                      strerror(-rc));
        return CL_DEVICE_NOT_FOUND;
    }
    socl.simulated = orrery_is_simulated() != 0;
    socl.runs_kernels = orrery_runs_kernels() != 0;
    starpu_pthread_mutex_init(&socl.lock, NULL);
    starpu_pthread_cond_init(&socl.changed, NULL);
    starpu_data_set_default_sequential_consistency_flag(0);
    socl.started = 1;
    if (find_devices() != 0)
        return CL_OUT_OF_HOST_MEMORY;
    if (!is_set("SOCL_SKIP_DESTRUCTOR"))
        atexit(socl_stop);
    return CL_SUCCESS;
}

cl_int socl_start(void)
{
    cl_int error = CL_SUCCESS;

    if (__atomic_load_n(&socl.started, __ATOMIC_ACQUIRE) > 0)
        return CL_SUCCESS;
    pthread_mutex_lock(&starting);
    if (socl.started < 0)
        error = CL_DEVICE_NOT_AVAILABLE;
    else if (socl.started == 0)
        error = start_locked();
    if (error != CL_SUCCESS && socl.started == 0)
        socl.started = -1;
    pthread_mutex_unlock(&starting);
    return error;
}

/* Nobody will set them any more. */
static void fail_user_events(void)
{
    for (;;) {
        cl_event event;

        socl_lock();
        event = socl.user_events;
        if (event)
            socl_retain(&event->head);
        socl_unlock();
        if (!event)
            return;
        socl_dispatch.clSetUserEventStatus(event, CL_OUT_OF_RESOURCES);
        socl_event_unref(event);
    }
}

void socl_stop(void)
{
    pthread_mutex_lock(&starting);
    if (socl.started > 0) {
        fail_user_events();
        starpu_task_wait_for_all();
        socl_sweep();
        socl_mems_leave();
        __atomic_store_n(&socl.started, -1, __ATOMIC_RELEASE);
        starpu_shutdown();
    }
    pthread_mutex_unlock(&starting);
}

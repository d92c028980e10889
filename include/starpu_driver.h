/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_driver.h - workers that threads of the application drive: those that
 * starpu_conf's not_launched_drivers names are made without a thread, and do
 * something only while one of the application calls the functions below.
 */
#pragma once

#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_device_id;

/* Names a worker: the how-many-th CPU worker, or a device by its number, which is all
 * its workers. */
struct starpu_driver {
    enum starpu_worker_archtype type;
    union {
        unsigned cpu_id;
        unsigned cuda_id;
        unsigned hip_id;
        /* A cl_device_id. */
        struct _cl_device_id *opencl_id;
    } id;
};

/* The calling thread is the worker, or in turn each of those of a device that has
 * several, until starpu_drivers_request_termination() or starpu_shutdown(). 0;
 * -EINVAL: there is no such worker, or it has a thread of its own; -EBUSY: another
 * thread drives it; -EDEADLK in tasks and callbacks. */
int starpu_driver_run(struct starpu_driver *d);

/* The same in steps. The calling thread is the worker from now on, and is bound as
 * that. Errors: as above. */
int starpu_driver_init(struct starpu_driver *d);
/* Takes a task if there is one, goes on with what has begun, and does not sleep;
 * most tasks take several calls. Errors: as above, and -EINVAL if the caller is not
 * the worker. */
int starpu_driver_run_once(struct starpu_driver *d);
/* The calling thread is not the worker any more; another one may be. 0; -EINVAL: it
 * was not. */
int starpu_driver_deinit(struct starpu_driver *d);

/* Opens the libraries of devices' makers (OpenCL's loader, CUDA's, HIP's) where
 * there are any, which starpu_init() does else: a program that changes its root or
 * its rights before that still has them. Any time, any number of times. */
void starpu_drivers_preinit(void);

/* Lets starpu_driver_run() return as soon as no submitted task is left. */
void starpu_drivers_request_termination(void);

#ifdef __cplusplus
}
#endif

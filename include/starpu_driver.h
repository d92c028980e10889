/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_driver.h - names a worker's device, for starpu_conf's list of
 * workers that the application drives itself. Types only.
 */
#pragma once

#include <starpu_config.h>
#include <starpu_worker.h>

struct _cl_device_id;

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

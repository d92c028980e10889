/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/driver.c - threads of the application that drive workers which have
 * no thread of their own: any thread, one per worker; what drivers open before
 * starpu_init.
 */
#include <errno.h>

#include "core/api/api.h"
#include "core/device/gpu/gpu.h"
#include "core/device/open.h"
#include "core/device/opencl/cl.h"
#include "core/loop/driven.h"

static struct orr_worker *driven(const char *call,
                                 const struct starpu_driver *driver)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    struct orr_worker *worker = driver ? orr_worker_named(rt, driver) : NULL;

    if (worker && worker->driven)
        return worker;
    orr_log_error(worker ? "%s: the worker has a thread of its own: name it in "
                           "starpu_conf's not_launched_drivers"
                         : "%s: there is no such worker",
                  call);
    return NULL;
}

static int attach(const char *call, struct orr_worker *worker)
{
    const struct orr_config *config;

    if (!worker)
        return -EINVAL;
    if (!orr_is_outside(call))
        return -EDEADLK;
    if (orr_worker_attach(worker) < 0) {
        orr_log_error("%s: another thread drives the worker", call);
        return -EBUSY;
    }
    config = &worker->runtime->config;
    if (worker->desc->cpu >= 0 &&
        !orr_config_bool(config, ORR_CFG_WORKERS_NOBIND))
        starpu_bind_thread_on_worker(worker->id);
    return 0;
}

int starpu_driver_run(struct starpu_driver *d)
{
    ORR_API(rt, __func__);
    struct orr_worker *worker = driven(__func__, d);
    int err = attach(__func__, worker);

    if (!err)
        orr_worker_drive(worker);
    return err;
}

int starpu_driver_init(struct starpu_driver *d)
{
    ORR_API(rt, __func__);

    return attach(__func__, driven(__func__, d));
}

/* The worker, if the caller drives it. */
static struct orr_worker *own(const char *call, const struct starpu_driver *d)
{
    struct orr_worker *worker = driven(call, d);

    if (!worker || worker->context == orr_self)
        return worker;
    orr_log_error("%s: the caller does not drive the worker: call "
                  "starpu_driver_init first",
                  call);
    return NULL;
}

int starpu_driver_run_once(struct starpu_driver *d)
{
    ORR_API(rt, __func__);
    struct orr_worker *worker = own(__func__, d);

    if (!worker)
        return -EINVAL;
    if (!orr_is_outside(__func__))
        return -EDEADLK;
    (void)orr_worker_drive_once(worker);
    return 0;
}

int starpu_driver_deinit(struct starpu_driver *d)
{
    ORR_API(rt, __func__);
    struct orr_worker *worker = own(__func__, d);

    if (!worker)
        return -EINVAL;
    orr_worker_detach(worker);
    return 0;
}

/* The vendor's library stays in the process when it is closed, so opening it once is
 * enough. */
static void preopen_gpu(const struct gpu_vendor *vendor, const char *path)
{
    struct orr_error missing = {""};
    struct gpu_api api;

    if (!path && !gpu_may_have_devices(vendor->library))
        return;
    if (gpu_api_open(vendor->library, path, &api, &missing) == 0)
        gpu_api_close(&api);
    else
        orr_log_notice("starpu_drivers_preinit: %s", missing.text);
}

void starpu_drivers_preinit(void)
{
    struct orr_machine_options options = {0};
    struct orr_error err = {""};
    struct orr_config config = {0};
    struct opencl_api opencl;

    if (orr_config_read(&config, &err) == 0)
        orr_machine_options_devices(&options, &config);
    else
        orr_log_warning("starpu_drivers_preinit: %s", err.text);
    if (opencl_api_open(&opencl, &err) == 0)
        opencl_api_close(&opencl);
    preopen_gpu(&orr_gpu_cuda, options.cuda.library);
    preopen_gpu(&orr_gpu_hip, options.hip.library);
    orr_config_done(&config);
}

void starpu_drivers_request_termination(void)
{
    orr_drivers_end(ORR_API_RUNTIME());
}

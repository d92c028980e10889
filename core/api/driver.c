/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/driver.c - threads of the application that drive workers which have
 * no thread of their own. Any thread, one per worker.
 */
#include <errno.h>

#include "core/api/api.h"
#include "core/worker/driven.h"

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
    struct orr_worker *worker = driven(__func__, d);
    int err = attach(__func__, worker);

    if (!err)
        orr_worker_drive(worker);
    return err;
}

int starpu_driver_init(struct starpu_driver *d)
{
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
    struct orr_worker *worker = own(__func__, d);

    if (!worker)
        return -EINVAL;
    orr_worker_detach(worker);
    return 0;
}

void starpu_drivers_request_termination(void)
{
    orr_drivers_end(ORR_API_RUNTIME());
}

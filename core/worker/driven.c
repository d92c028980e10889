/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/driven.c - see driven.h. */
#include "core/worker/driven.h"

#include <errno.h>

#include "core/asleep.h"
#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/runtime.h"
#include "core/worker/hooks.h"
#include "core/worker/kernel.h"
#include "core/worker/suspend.h"

/* Devices are numbered by the machine, or have a handle of their vendor's; processors
 * are numbered from 0. The numbers share their memory. */
static bool is_named(const struct orr_worker_desc *desc, unsigned nth,
                     const struct starpu_driver *driver)
{
    if (desc->handle)
        return desc->handle == (void *)driver->id.opencl_id;
    return driver->id.cpu_id == (orr_device_kind(desc->type)->is_processor
                                     ? nth
                                     : (unsigned)desc->devid);
}

struct orr_worker *orr_worker_named(struct orr_runtime *rt,
                                    const struct starpu_driver *driver)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->nworkers; w++)
        if (rt->workers[w].desc->type == driver->type &&
            is_named(rt->workers[w].desc, n++, driver))
            return &rt->workers[w];
    return NULL;
}

void orr_workers_leave_out(struct orr_runtime *rt,
                           const struct starpu_conf *conf)
{
    for (unsigned i = 0; conf && i < conf->n_not_launched_drivers; i++) {
        struct orr_worker *worker =
            orr_worker_named(rt, &conf->not_launched_drivers[i]);

        if (worker)
            worker->driven = true;
        else
            orr_log_warning("not_launched_drivers[%u] of starpu_conf names no "
                            "worker",
                            i);
    }
}

int orr_worker_attach(struct orr_worker *worker)
{
    struct orr_context *nobody = NULL;

    if (!atomic_compare_exchange_strong(&worker->context, &nobody, orr_self))
        return -EBUSY;
    return 0;
}

void orr_worker_detach(struct orr_worker *worker)
{
    (void)orr_worker_rouse(worker);
    orr_suspend_retire(worker);
    atomic_store(&worker->context, NULL);
}

/* What the caller is while it is the worker. */
struct former {
    struct orr_worker *worker;
    unsigned cache;
};

static struct former become(struct orr_worker *worker)
{
    struct former former = {orr_self->worker, orr_self->cache};

    orr_context_sit(orr_self, worker);
    orr_self->cache = worker->id + 1;
    return former;
}

static void be_again(struct former former)
{
    orr_context_sit(orr_self, former.worker);
    orr_self->cache = former.cache;
}

/* µs that pass when a simulated worker looks and finds nothing: who looks until
 * something has happened would wait for ever. */
#define LOOK 1.0

bool orr_worker_drive_once(struct orr_worker *worker)
{
    struct orr_exec *exec = worker->runtime->exec;
    struct former former = become(worker);
    bool any = orr_worker_step(worker);

    if (!any)
        (void)orr_hooks_call(&worker->runtime->hooks, worker->id);
    if (!any && exec->virtual_time)
        exec->ops->sleep(exec, LOOK);
    be_again(former);
    return any;
}

void orr_worker_drive(struct orr_worker *worker)
{
    struct orr_runtime *rt = worker->runtime;
    struct former former = become(worker);

    atomic_fetch_add_explicit(&rt->nactive, 1, memory_order_relaxed);
    orr_worker_loop(worker);
    be_again(former);
    orr_worker_detach(worker);
    orr_active_end(rt);
}

void orr_drivers_end(struct orr_runtime *rt)
{
    atomic_store(&rt->drivers_end, true);
    for (unsigned w = 0; w < rt->nworkers; w++)
        if (rt->workers[w].driven)
            orr_worker_wake(&rt->workers[w]);
}

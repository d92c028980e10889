/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/loop/driven.c - see driven.h. */
#include "core/loop/driven.h"

#include <errno.h>

#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/device/open.h"
#include "core/exec/runtime.h"
#include "core/loop/kernel.h"
#include "core/loop/suspend.h"
#include "core/worker/asleep.h"
#include "core/worker/hooks.h"
#include "core/worker/workers.h"

struct orr_worker *orr_worker_named(struct orr_runtime *rt,
                                    const struct starpu_driver *driver)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (rt->workers->at[w].desc->type == driver->type &&
            orr_worker_is_named(rt->workers->at[w].desc, n++, driver))
            return &rt->workers->at[w];
    return NULL;
}

/* The next worker of the same device, or the worker itself. Each processor is one. */
static struct orr_worker *next_of_device(struct orr_worker *worker)
{
    struct orr_runtime *rt = worker->runtime;
    const struct orr_worker_desc *desc = worker->desc;

    if (orr_device_kind(desc->type)->is_processor)
        return worker;
    for (unsigned i = 1; i < rt->workers->n; i++) {
        struct orr_worker *other =
            &rt->workers->at[(worker->id + i) % rt->workers->n];

        if (other->desc->type == desc->type &&
            other->desc->devid == desc->devid)
            return other;
    }
    return worker;
}

static void leave_out(struct orr_worker *first)
{
    struct orr_worker *worker = first;

    do {
        worker->driven = true;
        worker->mate = next_of_device(worker);
        worker = worker->mate;
    } while (worker != first);
}

void orr_workers_leave_out(struct orr_runtime *rt,
                           const struct starpu_conf *conf)
{
    for (unsigned i = 0; conf && i < conf->n_not_launched_drivers; i++) {
        struct orr_worker *worker =
            orr_worker_named(rt, &conf->not_launched_drivers[i]);

        if (worker)
            leave_out(worker);
        else
            orr_log_warning("not_launched_drivers[%u] of starpu_conf names no "
                            "worker",
                            i);
    }
}

/* Each of them once, from the first one on. */
#define FOREACH_MATE(worker, first)                                            \
    for (struct orr_worker *worker = (first), *next_ = NULL; next_ != (first); \
         next_ = worker = worker->mate)

int orr_worker_attach(struct orr_worker *first)
{
    struct orr_context *nobody = NULL;

    /* The thread that has the first one has them all. */
    if (!atomic_compare_exchange_strong(&first->context, &nobody, orr_self))
        return -EBUSY;
    FOREACH_MATE(worker, first)
    atomic_store(&worker->context, orr_self);
    return 0;
}

void orr_worker_detach(struct orr_worker *first)
{
    FOREACH_MATE(worker, first->mate)
    {
        (void)orr_worker_rouse(worker);
        orr_suspend_retire(worker);
        atomic_store(&worker->context, NULL);
    }
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
    orr_self->cache = orr_worker_cache(worker);
    return former;
}

static void be_again(struct former former)
{
    orr_context_sit(orr_self, former.worker);
    orr_self->cache = former.cache;
}

/* Each of them looks; whether one has found anything. */
static bool step_all(struct orr_worker *first, bool announced)
{
    bool any = false;

    FOREACH_MATE(worker, first)
    {
        struct former former = become(worker);

        any |= orr_worker_step(worker, announced);
        be_again(former);
    }
    return any;
}

/* Whether functions that keep workers awake are to be called again for one. */
static bool call_hooks(struct orr_worker *first)
{
    bool again = false;

    FOREACH_MATE(worker, first)
    {
        struct former former = become(worker);

        again |= orr_hooks_call(&worker->runtime->workers->hooks, worker->id);
        be_again(former);
    }
    return again;
}

/* µs that pass when a simulated worker looks and finds nothing: else a thread that
 * looks until something has happened would wait for ever. */
#define LOOK 1.0

bool orr_worker_drive_once(struct orr_worker *first)
{
    struct orr_exec *exec = first->runtime->exec;
    bool any = step_all(first, false);

    if (!any)
        (void)call_hooks(first);
    if (!any && exec->virtual_time)
        exec->ops->sleep(exec, LOOK);
    return any;
}

/* --- several workers in one thread: orr_worker_loop for all of them --- */

static bool may_stop(struct orr_worker *first)
{
    FOREACH_MATE(worker, (struct orr_worker *)first)
    if (!orr_worker_may_stop(worker))
        return false;
    return true;
}

static void fall_asleep(struct orr_worker *first)
{
    FOREACH_MATE(worker, first)
    if (orr_worker_wants_job(worker))
        orr_worker_fall_asleep(worker);
}

static void rouse(struct orr_worker *first)
{
    FOREACH_MATE(worker, first)
    (void)orr_worker_rouse(worker);
}

/* Sleeps until one of them is woken or wakes by itself. */
static void sleep_all(struct orr_worker *first, bool hooks_again)
{
    struct orr_runtime *rt = first->runtime;
    const struct orr_worker *busy = first; /* or idle, if all are */
    double until = ORR_FOREVER;

    FOREACH_MATE(worker, first)
    {
        double at = orr_worker_wakes_at(worker, hooks_again);

        busy = orr_worker_is_idle(worker) ? busy : worker;
        until = at < until ? at : until;
        orr_hooks_tell(&rt->workers->hooks.sleeps, worker->id);
    }
    orr_context_park(&busy->awaited, until);
    FOREACH_MATE(worker, first)
    orr_hooks_tell(&rt->workers->hooks.wakes, worker->id);
}

static void loop_together(struct orr_worker *first)
{
    struct orr_runtime *rt = first->runtime;
    bool announced = false, hooked = false, hooks_again = false;
    unsigned idle = 0;

    while (!may_stop(first)) {
        if (step_all(first, announced)) {
            idle = 0;
            if (announced)
                rouse(first);
            announced = hooked = false;
        } else if (!announced && !rt->exec->one_thread) {
            if (rt->exec->ops->linger(rt->exec, idle++))
                continue;
            fall_asleep(first);
            atomic_thread_fence(memory_order_seq_cst);
            announced = true;
        } else {
            FOREACH_MATE(worker, first)
            orr_worker_rest(worker);
            if (rt->exec->one_thread)
                fall_asleep(first);
            if (!hooked && orr_hooks_are_there(&rt->workers->hooks)) {
                hooks_again = call_hooks(first);
                hooked = true;
                continue;
            }
            sleep_all(first, hooked && hooks_again);
            rouse(first);
            announced = hooked = false;
        }
    }
    FOREACH_MATE(worker, first)
    orr_worker_set_state(worker, ORR_WORKER_IDLE);
}

/* The loop of one has what kernels need that wait, those of processors. */
static void loop(struct orr_worker *first)
{
    struct former former = become(first);

    if (first->mate == first)
        orr_worker_loop(first);
    else
        loop_together(first);
    be_again(former);
}

void orr_worker_drive(struct orr_worker *first)
{
    struct orr_runtime *rt = first->runtime;

    atomic_fetch_add_explicit(&rt->workers->nactive, 1, memory_order_relaxed);
    loop(first);
    orr_worker_detach(first);
    orr_active_end(rt);
}

void orr_drivers_end(struct orr_runtime *rt)
{
    atomic_store(&rt->workers->drivers_end, true);
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (rt->workers->at[w].driven)
            orr_worker_wake(&rt->workers->at[w]);
}

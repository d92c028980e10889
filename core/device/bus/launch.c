/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/launch.c - see launch.h. Only the calls are timed that a worker makes;
 * each operation has ended before the next one begins, so that no queue is full.
 */
#include "core/device/bus/launch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/device/bus/measure_private.h"
#include "core/device/driver.h"

enum {
    TIMES = 8, /* operations of a sample */
    MIB = 1 << 20,
    LARGE = 33 << 20, /* bytes */
    COPIED = 4096,    /* bytes */
};

/* Time that a simulated machine charges is paid later. */
static double exec_spent_us(struct orr_exec *exec)
{
    return orr_exec_now(exec) + orr_self->debt;
}

/* --- memory --- */

typedef int (*alloc_fn)(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret);
typedef void (*free_fn)(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size);

static int time_memory(struct orr_driver *driver, unsigned node, alloc_fn alloc,
                       free_fn release, double *ret_alloc, double *ret_free)
{
    struct orr_exec *exec = driver->machine->exec;
    uintptr_t blocks[TIMES];
    double begin = exec_spent_us(exec);
    unsigned n = 0;
    int rc = 0;

    while (n < TIMES && rc == 0) {
        rc = alloc(driver, node, MIB, &blocks[n]);
        n += rc == 0;
    }
    *ret_alloc = (exec_spent_us(exec) - begin) / TIMES;
    begin = exec_spent_us(exec);
    for (unsigned i = 0; i < n; i++)
        release(driver, node, blocks[i], MIB);
    *ret_free = (exec_spent_us(exec) - begin) / TIMES;
    return rc;
}

/* --- kernels --- */

struct launch {
    struct orr_kernel kernel; /* first */
    struct orr_machine *machine;
    struct orr_waiter waiter;
    struct orr_mailbox mailbox;
    int error; /* of the kernel that does nothing */
};

static void launch_run(struct orr_kernel *kernel)
{
    struct launch *launch = (struct launch *)kernel;
    struct orr_driver *driver = launch->machine->workers[kernel->worker].driver;

    if (driver->ops->null_kernel)
        launch->error = driver->ops->null_kernel(driver, kernel->worker);
}

static void launch_done(struct orr_kernel *kernel)
{
    orr_waiter_release(&((struct launch *)kernel)->waiter);
}

static void launch_wake(struct orr_mailbox *mailbox)
{
    struct launch *launch =
        (struct launch *)(void *)((char *)mailbox -
                                  offsetof(struct launch, mailbox));

    orr_context_wake(launch->waiter.context);
}

/* The kernel before it ended at *ended, which becomes the end of this one. */
static int time_kernel(struct orr_machine *machine, unsigned worker,
                       double *ended_us, double ret[ORR_LAUNCH_COSTS])
{
    static const struct orr_awaited awaited = {.noun =
                                                   "a kernel that it measures"};
    struct orr_exec *exec = machine->exec;
    struct launch launch = {
        .kernel = {.worker = worker,
                   .async = true,
                   .duration = 1,
                   .latency = machine->costs.kernel_latency,
                   .run = launch_run,
                   .done = launch_done},
        .machine = machine,
        .mailbox = {.wake = launch_wake},
    };
    double begin;
    int ended;

    orr_waiter_init(&launch.waiter);
    launch.kernel.post.mailbox = &launch.mailbox;
    begin = exec_spent_us(exec);
    ended = orr_machine_kernel_start(machine, &launch.kernel);
    ret[ORR_LAUNCH_KERNEL] += (exec_spent_us(exec) - begin) / TIMES;
    while (!ended && !orr_waiter_is_over(&launch.waiter))
        if (!orr_mailbox_serve(&launch.mailbox))
            orr_context_park(&awaited, ORR_FOREVER);
    ret[ORR_LAUNCH_LATENCY] += (launch.kernel.start - *ended_us) / TIMES;
    *ended_us = launch.kernel.end;
    orr_mailbox_await(&launch.mailbox);
    return launch.kernel.error ? launch.kernel.error : launch.error;
}

static int time_kernels(struct orr_machine *machine, unsigned worker,
                        double ret[ORR_LAUNCH_COSTS])
{
    double ended_us = 0;
    int rc = time_kernel(machine, worker, &ended_us, ret); /* may compile */

    ret[ORR_LAUNCH_KERNEL] = ret[ORR_LAUNCH_LATENCY] = 0;
    for (unsigned i = 0; rc == 0 && i < TIMES; i++)
        rc = time_kernel(machine, worker, &ended_us, ret);
    return rc;
}

/* --- copies and events --- */

/* Two copies into memory that is new: the system, or the driver, may give it when it is used
 * first. Of processors that is more than malloc() keeps when it is freed. NaN on a device that
 * has not so much. */
static int time_first_use(struct orr_machine *machine, unsigned node,
                          double *ret)
{
    const struct orr_bus_link link = {.src = 0, .dst = node};
    struct orr_bus_probe probe;
    int rc = orr_probe_init(machine, &link, LARGE, &probe);

    if (rc < 0)
        return rc == -ENOMEM ? 0 : rc;
    probe.copy.fresh = LARGE;
    *ret = orr_probe_time(machine, &probe, LARGE, 1);
    probe.copy.fresh = 0;
    *ret = (*ret - orr_probe_time(machine, &probe, LARGE, 1)) * MIB / LARGE;
    rc = probe.copy.async.error;
    orr_probe_done(machine, &link, LARGE, &probe);
    return rc;
}

static int time_copies(struct orr_machine *machine, unsigned node, double *ret)
{
    const struct orr_bus_link link = {.src = 0, .dst = node};
    struct orr_bus_probe probe;
    int rc = orr_probe_init(machine, &link, COPIED, &probe);

    if (rc < 0)
        return rc;
    *ret = 0;
    (void)orr_probe_start(machine, &probe, COPIED);
    for (unsigned i = 0; i < TIMES; i++)
        *ret += orr_probe_start(machine, &probe, COPIED) / TIMES;
    rc = probe.copy.async.error;
    orr_probe_done(machine, &link, COPIED, &probe);
    return rc;
}

/* An event wakes no context: it happens within microseconds. */
static void time_events(struct orr_driver *driver, unsigned node, double *ret)
{
    static const struct orr_awaited awaited = {.noun = "events to happen"};
    struct orr_exec *exec = driver->machine->exec;
    struct orr_queue *in = driver->ops->queue(driver, node, ORR_QUEUE_IN);
    struct orr_queue *kernels =
        driver->ops->queue(driver, node, ORR_QUEUE_KERNELS);

    *ret = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        struct orr_event event = {0}, behind = {0};
        double begin = exec_spent_us(exec);

        driver->ops->record(in, &event);
        driver->ops->wait(kernels, &event);
        *ret += (exec_spent_us(exec) - begin) / TIMES;
        /* Now nobody waits for it any more. */
        driver->ops->record(kernels, &behind);
        while (!atomic_load(&event.happened) || !atomic_load(&behind.happened))
            orr_context_poll(&awaited, 10);
    }
}

int orr_launch_sample(struct orr_machine *machine, unsigned worker,
                      double ret[ORR_LAUNCH_COSTS])
{
    const struct orr_worker_desc *desc = &machine->workers[worker];
    struct orr_driver *driver = desc->driver;
    const struct orr_driver_ops *ops = driver->ops;
    double freed;
    int rc;

    for (unsigned i = 0; i < ORR_LAUNCH_COSTS; i++)
        ret[i] = (double)NAN;
    rc = time_memory(driver, desc->node, ops->alloc, ops->free,
                     &ret[ORR_LAUNCH_ALLOC], &ret[ORR_LAUNCH_FREE]);
    if (rc == 0 && ops->pinned_alloc)
        rc = time_memory(driver, 0, ops->pinned_alloc, ops->pinned_free,
                         &ret[ORR_LAUNCH_PINNED], &freed);
    if (rc == 0)
        rc = time_first_use(machine, desc->node, &ret[ORR_LAUNCH_FIRST_USE]);
    if (rc == 0)
        rc = time_kernels(machine, worker, ret);
    if (rc == 0)
        rc = time_copies(machine, desc->node, &ret[ORR_LAUNCH_COPY]);
    if (rc == 0 && ops->record)
        time_events(driver, desc->node, &ret[ORR_LAUNCH_EVENT]);
    return rc;
}

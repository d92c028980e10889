/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fake/fake-machine.c - a machine in virtual time that is not simulated:
 * the runtime measures, feeds and uses its models as on a real one, and kernels
 * take the time that a test sets. It takes the place of the module "sim", for
 * programs that set ORRERY_MODULE_DIR to its folder and ORRERY_MACHINE to any
 * name; STARPU_NCPU and STARPU_NCUDA set what it has.
 *
 * A kernel is called, in the context of its worker, and takes the time that it
 * adds to orr_self->debt. There is one memory, copies never happen, and nothing
 * but kernels takes time. CUDA workers are called like CPU workers; with the
 * name "asynchronous" theirs run beside them, as real ones do. With the name
 * "paced" a submission takes 1 µs, so that workers run meanwhile. One OS
 * thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/module.h"
#include "core/device/open.h"
#include "core/device/simulated.h"
#include "sim/exec.h"

struct stream {
    struct orr_timer timer; /* first; end of the first kernel */
    struct fake_machine *fake;
    struct orr_kernel *first, *last; /* in the order of their execution */
};

struct fake_machine {
    struct orr_machine machine; /* first */
    struct orr_driver driver;
    struct orr_sim_exec *exec;
    struct orr_sim_user user; /* of it: this machine */
    struct stream *streams; /* one per worker */
};

static struct fake_machine *fake_of(struct orr_machine *machine)
{
    return (struct fake_machine *)machine;
}

/* --- operations --- */

static void fake_close(struct orr_machine *machine)
{
    struct fake_machine *fake = fake_of(machine);

    orr_sim_exec_free(fake->exec);
    free(fake->streams);
    free(machine->name);
    free(machine->host);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->direct);
    free(fake);
}

static int fake_alloc(struct orr_driver *driver, unsigned node, size_t size,
                      uintptr_t *ret)
{
    void *address = malloc(size ? size : 1);

    (void)driver;
    (void)node;
    if (!address)
        return -ENOMEM;
    *ret = (uintptr_t)address;
    return 0;
}

static void fake_free(struct orr_driver *driver, unsigned node,
                      uintptr_t address, size_t size)
{
    (void)driver;
    (void)node;
    (void)size;
    free((void *)address);
}

static void fake_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    (void)driver;
    (void)copy;
    abort(); /* there is one memory */
}

static void end_first(struct orr_timer *timer)
{
    struct stream *stream = (struct stream *)timer;
    struct orr_kernel *kernel = stream->first;

    orr_sim_work_for(&stream->fake->user);
    stream->first = kernel->machine_link[0];
    if (stream->first)
        orr_sim_exec_set_timer(stream->fake->exec, &stream->timer,
                               stream->first->end);
    else
        stream->last = NULL;
    kernel->done(kernel);
}

static void enqueue(struct stream *stream, struct orr_kernel *kernel,
                    double duration)
{
    double now = stream->fake->exec->now;

    kernel->start =
        stream->last && stream->last->end > now ? stream->last->end : now;
    kernel->end = kernel->start + duration;
    kernel->machine_link[0] = NULL;
    if (stream->last) {
        stream->last->machine_link[0] = kernel;
    } else {
        stream->first = kernel;
        orr_sim_exec_set_timer(stream->fake->exec, &stream->timer, kernel->end);
    }
    stream->last = kernel;
}

/* Calls the function; returns the time that it takes. */
static double call(struct orr_kernel *kernel)
{
    struct orr_context *self = orr_self;
    double before = self->debt, duration;

    kernel->run(kernel);
    duration = self->debt - before;
    self->debt = before;
    return duration;
}

static int fake_kernel_start(struct orr_driver *driver,
                             struct orr_kernel *kernel)
{
    struct orr_machine *machine = driver->machine;
    struct fake_machine *fake = fake_of(machine);
    struct orr_exec *exec = machine->exec;
    double duration = call(kernel);

    if (kernel->async && machine->workers[kernel->worker].async) {
        enqueue(&fake->streams[kernel->worker], kernel, duration);
        return 0;
    }
    kernel->start = fake->exec->now;
    exec->ops->sleep(exec, duration);
    kernel->end = fake->exec->now;
    return 1;
}

static const struct orr_machine_ops fake_ops = {
    .close = fake_close,
};

static const struct orr_driver_ops driver_ops = {
    .name = "fake",
    .alloc = fake_alloc,
    .free = fake_free,
    .copy_start = fake_copy_start,
    .kernel_start = fake_kernel_start,
};

/* --- opening --- */

static int make_node(struct orr_machine *machine)
{
    machine->nnodes = 1;
    machine->nodes = calloc(1, sizeof(*machine->nodes));
    machine->bandwidth = calloc(1, sizeof(*machine->bandwidth));
    machine->latency = calloc(1, sizeof(*machine->latency));
    machine->direct = calloc(1, sizeof(*machine->direct));
    machine->name = strdup("fake");
    machine->host = strdup("fake");
    if (!machine->nodes || !machine->bandwidth || !machine->latency ||
        !machine->direct || !machine->name || !machine->host)
        return -ENOMEM;
    machine->nodes[0].kind = STARPU_CPU_RAM;
    machine->nodes[0].host_addressable = true;
    machine->nodes[0].driver = &fake_of(machine)->driver;
    snprintf(machine->nodes[0].name, sizeof(machine->nodes[0].name), "NUMA 0");
    machine->direct[0] = true;
    return 0;
}

static void set_worker(struct orr_machine *machine, unsigned w,
                       enum starpu_worker_archtype type, int devid, bool async)
{
    machine->workers[w] = (struct orr_worker_desc){
        .type = type,
        .devid = devid,
        .cpu = -1,
        .pipeline = 1,
        .async = async,
        .speed = 1,
        .driver = &fake_of(machine)->driver,
    };
    snprintf(machine->workers[w].name, sizeof(machine->workers[w].name),
             "%s %d", type == STARPU_CPU_WORKER ? "CPU" : "CUDA", devid);
}

static int make_workers(struct fake_machine *fake, int ncpu, int ncuda,
                        bool async)
{
    struct orr_machine *machine = &fake->machine;
    unsigned n = (unsigned)(ncpu + ncuda);

    machine->nworkers = n;
    machine->workers = calloc(n, sizeof(*machine->workers));
    fake->streams = calloc(n, sizeof(*fake->streams));
    if (!machine->workers || !fake->streams)
        return -ENOMEM;
    for (int i = 0; i < ncuda; i++)
        set_worker(machine, (unsigned)i, STARPU_CUDA_WORKER, i, async);
    for (int i = 0; i < ncpu; i++)
        set_worker(machine, (unsigned)(ncuda + i), STARPU_CPU_WORKER, i, false);
    for (unsigned w = 0; w < n; w++) {
        int err = orr_timers_reserve(&fake->exec->timers);

        if (err)
            return err;
        fake->streams[w].timer.fire = end_first;
        fake->streams[w].fake = fake;
    }
    return 0;
}

static int fake_open(const struct orr_machine_options *options,
                     struct orr_machine **ret, struct orr_error *err)
{
    struct fake_machine *fake = calloc(1, sizeof(*fake));
    int ncpu = options->ncpu < 0 ? 0 : options->ncpu;
    int ncuda = options->ncuda < 0 ? 0 : options->ncuda;
    int rc = -ENOMEM;

    if (!fake)
        return rc;
    if (ncpu + ncuda == 0) {
        free(fake);
        return orr_fail(err, -ENODEV, "set STARPU_NCPU or STARPU_NCUDA");
    }
    fake->machine.ops = &fake_ops;
    fake->machine.runs_kernels = true;
    fake->machine.runs_host_functions = true;
    fake->driver = (struct orr_driver){&driver_ops, &fake->machine};
    rc = make_node(&fake->machine);
    if (!rc)
        rc = orr_sim_exec_new(NULL, &fake->exec);
    if (!rc) {
        orr_sim_exec_join(fake->exec, &fake->user);
        fake->machine.exec = &fake->exec->head;
        rc = make_workers(fake, ncpu, ncuda,
                          !strcmp(options->name, "asynchronous"));
    }
    if (rc) {
        fake_close(&fake->machine);
        return rc;
    }
    if (!strcmp(options->name, "paced"))
        fake->machine.costs.submit = 1;
    *ret = &fake->machine;
    return 0;
}

/* --- the module --- */

static void on_deadlock(struct orr_machine *machine, orr_deadlock_fn handler,
                        struct orr_runtime *runtime)
{
    fake_of(machine)->user.on_deadlock = handler;
    fake_of(machine)->user.runtime = runtime;
}

__attribute__((visibility("default"))) const struct orr_module *
orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_sim_ops ops = {
        .open = fake_open,
        .on_deadlock = on_deadlock,
    };
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "sim",
        .table = &ops,
        .stamp = orr_module_stamp,
    };

    return &module;
}

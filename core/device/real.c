/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/real.c - the real machine: one worker per processor core, main
 * memory as its only node. Opened and closed by main; kernels run in their
 * worker's own thread.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/bus.h"
#include "core/device/cpu/topology.h"
#include "core/device/machine.h"
#include "core/device/threads.h"
#include "perfmodel/sampling.h"

enum { ALIGNMENT = 64 }; /* bytes: a cache line, and any vector register */

/* Also for a machine that was only half opened. */
static void machine_free(struct orr_machine *machine)
{
    free(machine->name);
    free(machine->host);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->direct);
    free(machine);
}

static void real_close(struct orr_machine *machine)
{
    orr_threads_free(machine->exec);
    machine_free(machine);
}

static int real_alloc(struct orr_machine *machine, unsigned node, size_t size,
                      uintptr_t *ret)
{
    void *address;

    (void)machine;
    assert(node == 0);
    (void)node;
    if (posix_memalign(&address, ALIGNMENT, size ? size : 1))
        return -ENOMEM;
    *ret = (uintptr_t)address;
    return 0;
}

static void real_free(struct orr_machine *machine, unsigned node,
                      uintptr_t address, size_t size)
{
    (void)machine;
    (void)node;
    (void)size;
    free((void *)address);
}

static void real_copy_start(struct orr_machine *machine, struct orr_copy *copy)
{
    (void)machine;
    (void)copy;
    assert(!"there is one memory node, nothing to copy between");
}

static int real_kernel_start(struct orr_machine *machine,
                             struct orr_kernel *kernel)
{
    kernel->start = orr_exec_now(machine->exec);
    kernel->run(kernel);
    kernel->end = orr_exec_now(machine->exec);
    return 1;
}

static const struct orr_machine_ops real_ops = {
    .close = real_close,
    .alloc = real_alloc,
    .free = real_free,
    .copy_start = real_copy_start,
    .kernel_start = real_kernel_start,
};

static int fill_memory(struct orr_machine *machine)
{
    machine->nnodes = 1;
    machine->nodes = calloc(1, sizeof(*machine->nodes));
    machine->bandwidth = calloc(1, sizeof(*machine->bandwidth));
    machine->latency = calloc(1, sizeof(*machine->latency));
    machine->direct = calloc(1, sizeof(*machine->direct));
    if (!machine->nodes || !machine->bandwidth || !machine->latency ||
        !machine->direct)
        return -ENOMEM;
    machine->nodes[0] = (struct orr_node_desc){.kind = STARPU_CPU_RAM};
    snprintf(machine->nodes[0].name, sizeof(machine->nodes[0].name), "NUMA 0");
    machine->bandwidth[0] = (double)NAN;
    machine->direct[0] = true;
    return 0;
}

/* How many workers there will be, -ENODEV for none. */
static int count_workers(const struct orr_machine_options *options,
                         const struct orr_cpu_choice *choice,
                         struct orr_error *err)
{
    int usual = (int)choice->usual;
    int reserved = options->reserve_ncpu > 0 ? options->reserve_ncpu : 0;
    int n = options->ncpu >= 0 ? options->ncpu : usual - reserved;

    if (options->ncuda > 0 || options->nopencl > 0)
        orr_log_warning("GPU workers were asked for, but this library drives "
                        "none; name a machine with ORRERY_MACHINE to simulate "
                        "them");
    if (n <= 0)
        return orr_fail(err, -ENODEV,
                        "no worker is left: %d processors, %d reserved by "
                        "STARPU_RESERVE_NCPU, STARPU_NCPU is %d",
                        usual, reserved, options->ncpu);
    if (n > STARPU_NMAXWORKERS)
        return orr_fail(err, -EINVAL,
                        "%d workers were asked for; at most %d are possible "
                        "(STARPU_NCPU)",
                        n, STARPU_NMAXWORKERS);
    return n;
}

/* The processor for worker i, -1 for none. More workers than processors share
 * these in turn. */
static int place_worker(const struct orr_machine_options *options,
                        const struct orr_cpus *cpus,
                        const struct orr_cpu_choice *choice, unsigned i,
                        int *ret, struct orr_error *err)
{
    const unsigned *bindid = options->workers_bindid;

    if (!options->bind) {
        *ret = -1;
        return 0;
    }
    if (!bindid) {
        *ret = choice->numbers[i % choice->n];
        return 0;
    }
    if (bindid[i] >= cpus->n)
        return orr_fail(err, -EINVAL,
                        "starpu_conf.workers_bindid[%u] is %u, but there are "
                        "only processors 0 to %u",
                        i, bindid[i], cpus->n - 1);
    *ret = cpus->cpus[bindid[i]].number;
    return 0;
}

static int fill_workers(struct orr_machine *machine,
                        const struct orr_machine_options *options,
                        const struct orr_cpus *cpus,
                        const struct orr_cpu_choice *choice,
                        struct orr_error *err)
{
    int n = count_workers(options, choice, err), rc = 0;

    if (n < 0)
        return n;
    machine->nworkers = (unsigned)n;
    machine->workers = calloc((size_t)n, sizeof(*machine->workers));
    if (!machine->workers)
        return -ENOMEM;
    for (int i = 0; i < n && rc == 0; i++) {
        struct orr_worker_desc *worker = &machine->workers[i];

        *worker = (struct orr_worker_desc){
            .type = STARPU_CPU_WORKER,
            .devid = i,
            .pipeline = 1,
            .speed = 1,
        };
        snprintf(worker->name, sizeof(worker->name), "CPU %d", i);
        rc =
            place_worker(options, cpus, choice, (unsigned)i, &worker->cpu, err);
    }
    return rc;
}

static int fill_cpus(struct orr_machine *machine,
                     const struct orr_machine_options *options,
                     struct orr_bus_counts *ret_counts, struct orr_error *err)
{
    struct orr_cpus cpus = {0};
    struct orr_cpu_choice choice = {0, 0, NULL};
    int rc = orr_cpus_find(NULL, &cpus, err);

    if (rc < 0)
        return rc;
    rc = orr_cpus_choose(
        &cpus, options->workers_bindid ? NULL : options->workers_cpuid, &choice,
        err);
    if (rc == 0)
        rc = fill_workers(machine, options, &cpus, &choice, err);
    orr_bus_counts_of(machine, cpus.ncores, cpus.nmemories, ret_counts);
    free(choice.numbers);
    orr_cpus_done(&cpus);
    return rc;
}

static int fill_names(struct orr_machine *machine,
                      const struct orr_machine_options *options,
                      struct orr_error *err)
{
    struct orr_host_options host = {.hostname = options->host};
    int rc = orr_host_name(&host, &machine->host, err);

    if (rc < 0)
        return rc;
    machine->name = strdup(machine->host);
    return machine->name ? 0 : -ENOMEM;
}

int orr_real_machine_open(const struct orr_machine_options *options,
                          struct orr_machine **ret, struct orr_error *err)
{
    struct orr_machine *machine = calloc(1, sizeof(*machine));
    struct orr_bus_counts counts;
    int rc;

    if (!machine)
        return orr_fail(err, -ENOMEM, "no memory to open the machine");
    machine->ops = &real_ops;
    machine->runs_kernels = true;
    rc = fill_names(machine, options, err);
    if (rc == 0)
        rc = fill_memory(machine);
    if (rc == 0)
        rc = fill_cpus(machine, options, &counts, err);
    if (rc == 0)
        rc = orr_threads_new(NULL, &machine->exec);
    if (rc < 0) {
        machine_free(machine);
        return rc == -ENOMEM
                   ? orr_fail(err, rc, "no memory to open the machine")
                   : rc;
    }
    if (options->sampling_dirs)
        orr_bus_prepare(machine, &counts, options->sampling_dirs,
                        options->bus_calibrate);
    *ret = machine;
    return 0;
}

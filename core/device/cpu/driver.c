/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/driver.c - see driver.h: one worker per processor core; main
 * memory is one node, or one per NUMA node on request. Opened and closed by
 * main; kernels run in their worker's own thread, and the context that needs a
 * copy makes it.
 */
#include "core/device/cpu/driver.h"
#include "core/device/neighbours.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/bus/bus.h"
#include "core/device/clock.h"
#include "core/device/cpu/memory.h"
#include "core/device/cpu/places.h"
#include "core/device/cpu/topology.h"
#include "core/device/open.h"
#include "core/device/threads.h"

struct cpu_driver {
    struct orr_driver head;        /* first */
    struct orr_topology *topology; /* owned; NULL once it is not needed */
    struct orr_memories memories;
    struct orr_cpus cpus; /* owned */
    struct orr_cpu_choice
        choice;   /* workers' processors, until it is finished; owned */
    int main_cpu; /* main's processor, -1: none of its own */
};

static struct cpu_driver *cpu_driver_of(struct orr_driver *driver)
{
    return (struct cpu_driver *)driver;
}

/* -- operations -- */

static void forget_choice(struct cpu_driver *cpu)
{
    free(cpu->choice.cpus);
    cpu->choice = (struct orr_cpu_choice){0};
}

/* Also for one that was only half opened. */
static void cpu_close(struct orr_driver *driver)
{
    struct cpu_driver *cpu = cpu_driver_of(driver);

    forget_choice(cpu);
    orr_cpus_done(&cpu->cpus);
    orr_topology_close(cpu->topology);
    free(driver);
}

static int cpu_alloc(struct orr_driver *driver, unsigned node, size_t size,
                     uintptr_t *ret)
{
    return orr_memories_alloc(&cpu_driver_of(driver)->memories, node, size,
                              ret);
}

static void cpu_free(struct orr_driver *driver, unsigned node,
                     uintptr_t address, size_t size)
{
    (void)node;
    (void)size;
    orr_memories_free(&cpu_driver_of(driver)->memories, address);
}

/* Between NUMA nodes the caller copies: it computes next to one of them. */
static void cpu_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    (void)driver;
    copy->async = (struct orr_async){.error = copy->perform(copy, NULL)};
    copy->done(copy);
}

static int cpu_kernel_start(struct orr_driver *driver,
                            struct orr_kernel *kernel)
{
    struct orr_exec *exec = driver->machine->exec;
    double (*now)(struct orr_exec *) =
        kernel->coarse ? exec->ops->recently : exec->ops->now;
    struct orr_thread_usage before;

    if (kernel->timed)
        orr_thread_usage(&before);
    kernel->start = now(exec);
    kernel->away = 0;
    kernel->run(kernel);
    kernel->end = now(exec);
    if (kernel->timed && !(kernel->away > 0))
        kernel->lost = orr_thread_lost_us(&before, kernel->end - kernel->start);
    return 1;
}

static const struct orr_driver_ops cpu_ops = {
    .name = "cpu",
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .copy_start = cpu_copy_start,
    .kernel_start = cpu_kernel_start,
};

/* -- memory nodes -- */

static int make_nodes(struct orr_driver *driver, unsigned n)
{
    struct orr_machine *machine = driver->machine;
    unsigned first;
    int rc = orr_machine_add_nodes(driver, n, &first);

    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < n; i++) {
        struct orr_node_desc *node = &machine->nodes[i];

        *node = (struct orr_node_desc){.kind = STARPU_CPU_RAM,
                                       .devid = (int)i,
                                       .host_addressable = true,
                                       .driver = driver};
        snprintf(node->name, sizeof(node->name), "NUMA %u", i);
        for (unsigned k = 0; k < n; k++)
            machine->direct[i * n + k] = true;
    }
    return 0;
}

/* A node for all main memory, which may hold what a control group leaves, or
 * one per NUMA node, which may hold as much as there is. */
static int fill_memory(struct orr_driver *driver,
                       const struct orr_machine_options *options,
                       const struct orr_topology *topology,
                       struct orr_error *err)
{
    const struct orr_memory *memories;
    unsigned n = orr_topology_memories(topology, &memories);
    int rc;

    if (!options->numa) {
        rc = make_nodes(driver, 1);
        if (rc == 0)
            driver->machine->nodes[0].capacity = orr_topology_limit(topology);
        return rc;
    }
    if (n > STARPU_MAXNUMANODES)
        return orr_fail(err, -EINVAL,
                        "this machine has %u NUMA nodes; at most %d are "
                        "possible (starpu_config.h): unset STARPU_USE_NUMA",
                        n, STARPU_MAXNUMANODES);
    rc = make_nodes(driver, n);
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        driver->machine->nodes[i].os_number = memories[i].number;
        driver->machine->nodes[i].capacity = memories[i].size;
    }
    return rc;
}

/* -- workers -- */

/* How many workers there will be. */
static int count_workers(const struct orr_machine_options *options,
                         const struct orr_cpu_choice *choice,
                         struct orr_error *err)
{
    int usual = (int)choice->usual;
    int reserved = options->reserve_ncpu > 0 ? options->reserve_ncpu : 0;
    int n = options->ncpu >= 0 ? options->ncpu : usual - reserved;

    if (n > STARPU_NMAXWORKERS)
        return orr_fail(err, -EINVAL,
                        "%d workers were requested; at most %d are possible "
                        "(STARPU_NCPU)",
                        n, STARPU_NMAXWORKERS);
    return n > 0 ? n : 0;
}

/* The processor for worker i. More workers than processors share these in
 * turn. */
static int place_worker(const struct orr_machine_options *options,
                        const struct orr_cpus *cpus,
                        const struct orr_cpu_choice *choice, unsigned i,
                        struct orr_cpu *ret, struct orr_error *err)
{
    const struct orr_cpu *chosen = &choice->cpus[i % choice->n];
    int rc = 0;

    if (options->workers_bindid)
        rc = orr_cpus_bindid(cpus, options->workers_bindid, i, &chosen, err);
    if (rc == 0)
        *ret = *chosen;
    return rc;
}

static int cpu_fill_workers(struct orr_driver *driver,
                            const struct orr_machine_options *options,
                            const struct orr_cpus *cpus,
                            const struct orr_cpu_choice *choice,
                            struct orr_error *err)
{
    struct orr_machine *machine = driver->machine;
    int n = count_workers(options, choice, err), rc;
    unsigned first;

    if (n <= 0)
        return n;
    rc = orr_machine_add_workers(driver, (unsigned)n, &first);
    if (rc < 0)
        return rc;
    for (int i = 0; i < n; i++) {
        struct orr_worker_desc *worker = &machine->workers[i];
        struct orr_cpu cpu = {.number = -1};

        rc = place_worker(options, cpus, choice, (unsigned)i, &cpu, err);
        if (rc < 0)
            return rc;
        *worker = (struct orr_worker_desc){
            .type = STARPU_CPU_WORKER,
            .devid = i,
            .pipeline = 1,
            .speed = 1,
            .cpu = options->bind ? cpu.number : -1,
            .node = cpu.node < machine->nnodes ? cpu.node : 0,
            .driver = driver,
        };
        snprintf(worker->name, sizeof(worker->name), "CPU %d", i);
    }
    return 0;
}

struct place {
    const struct orr_machine *machine;
    const struct orr_topology *topology;
};

/* Devices are far from all. */
static unsigned cpu_worker_distance(const void *arg, unsigned a, unsigned b)
{
    const struct place *place = arg;
    const struct orr_worker_desc *here = &place->machine->workers[a];
    const struct orr_worker_desc *there = &place->machine->workers[b];

    return here->driver != there->driver || here->cpu < 0 || there->cpu < 0
               ? ORR_FAR
               : orr_topology_distance(place->topology, here->cpu, there->cpu);
}

/* Threads that are not bound may be anywhere: they have no neighbours. */
static int fill_neighbours(struct orr_machine *machine,
                           const struct orr_machine_options *options,
                           const struct orr_topology *topology)
{
    const struct place place = {machine, topology};

    if (!options->bind || !orr_topology_hwloc(topology))
        return 0;
    return orr_neighbours_fill(machine, cpu_worker_distance, &place);
}

/* The last core is the one that is taken last. */
static const struct orr_cpu *last_core(const struct orr_cpus *cpus)
{
    unsigned i = cpus->n - 1;

    while (cpus->cpus[i].rank > 0)
        i--;
    return &cpus->cpus[i];
}

/* Main's processor if it gets one of its own. */
static int place_main(const struct orr_machine_options *options,
                      const struct orr_cpus *cpus, struct orr_cpu *ret,
                      struct orr_error *err)
{
    const struct orr_cpu *cpu = last_core(cpus);
    int rc = 0;

    if (options->main_cpuid >= 0)
        rc = orr_cpus_at(cpus, false, (unsigned)options->main_cpuid,
                         "STARPU_MAIN_THREAD_CPUID", &cpu, err);
    else if (options->main_coreid >= 0)
        rc = orr_cpus_at(cpus, true, (unsigned)options->main_coreid,
                         "STARPU_MAIN_THREAD_COREID", &cpu, err);
    if (rc == 0)
        *ret = *cpu;
    return rc;
}

static bool main_is_bound(const struct orr_machine_options *options)
{
    return options->main_bind || options->main_cpuid >= 0 ||
           options->main_coreid >= 0;
}

/* Workers' places, from a choice that the caller owns also on error, and main's
 * processor in *ret_main, -1 for none. */
static int fill_cpus(struct orr_driver *driver,
                     const struct orr_machine_options *options,
                     const struct orr_cpus *cpus, struct orr_cpu_choice *ret,
                     int *ret_main, struct orr_error *err)
{
    struct orr_cpu_request request = {
        .cpus = options->workers_bindid ? NULL : options->workers_cpuid,
        .cores = options->workers_bindid ? NULL : options->workers_coreid,
        .per_core = options->per_core,
        .avoid = -1,
    };
    struct orr_cpu mine = {.number = -1};
    int rc = 0;

    *ret_main = -1;
    if (main_is_bound(options)) {
        rc = place_main(options, cpus, &mine, err);
        if (rc < 0)
            return rc;
        *ret_main = mine.number;
        if (options->main_bind)
            request.avoid = (int)mine.core;
    }
    rc = orr_cpus_choose(cpus, &request, ret, err);
    return rc == 0 ? cpu_fill_workers(driver, options, cpus, ret, err) : rc;
}

/* A synthetic topology determines how many workers there are, but its numbers
 * are not those of processors here. */
static void unbind(struct orr_machine *machine, int *main_cpu)
{
    orr_log_notice("the topology given to hwloc is not this machine's: no "
                   "thread is bound (HWLOC_THISSYSTEM=1 declares that it is)");
    for (unsigned w = 0; w < machine->nworkers; w++)
        machine->workers[w].cpu = -1;
    *main_cpu = -1;
}

/* -- opening -- */

static int cpu_driver_fill(struct cpu_driver *cpu,
                           const struct orr_machine_options *options,
                           struct orr_error *err)
{
    struct orr_driver *driver = &cpu->head;
    struct orr_topology_input input = {
        .xml = options->hwloc_input,
        .ignore_affinity = options->ignore_affinity,
    };
    int rc = orr_topology_open(&input, &cpu->topology, err);

    if (rc < 0)
        return rc;
    rc = fill_memory(driver, options, cpu->topology, err);
    if (rc == 0)
        rc = orr_topology_cpus(cpu->topology, &cpu->cpus, err);
    if (rc == 0)
        rc = fill_cpus(driver, options, &cpu->cpus, &cpu->choice,
                       &cpu->main_cpu, err);
    return rc;
}

ORR_DRIVER_OPEN(cpu);
int orr_driver_cpu_open(const struct orr_machine_options *options,
                        struct orr_machine *machine, struct orr_driver **ret,
                        struct orr_error *err)
{
    struct cpu_driver *cpu = calloc(1, sizeof(*cpu));

    if (!cpu)
        return -ENOMEM;
    cpu->head.ops = &cpu_ops;
    cpu->head.machine = machine;
    cpu->main_cpu = -1;
    machine->usable = &cpu->cpus;
    *ret = &cpu->head;
    return cpu_driver_fill(cpu, options, err);
}

/* The topology is kept for allocating if main memory has several nodes. */
static void keep_topology(struct cpu_driver *cpu)
{
    if (cpu->head.machine->nnodes > 1 &&
        orr_node_is_main(&cpu->head.machine->nodes[1])) {
        cpu->memories.topology = cpu->topology;
        return;
    }
    orr_topology_close(cpu->topology);
    cpu->topology = NULL;
}

static void bind_main(struct orr_machine *machine, int cpu)
{
    int rc = cpu < 0 ? 0 : orr_threads_bind_main(machine->exec, cpu);

    machine->main_cpu = cpu + 1;
    if (rc < 0)
        orr_log_warning("the main thread could not be bound to processor %d: "
                        "%s; it runs anywhere",
                        cpu, strerror(-rc));
}

int orr_cpu_driver_finish(const struct orr_machine_options *options,
                          struct orr_driver *driver, struct orr_error *err)
{
    struct cpu_driver *cpu = cpu_driver_of(driver);
    struct orr_machine *machine = driver->machine;
    const struct orr_memory *memories;
    struct orr_bus_counts counts;
    int rc = orr_places_fill(machine, options, &cpu->cpus, &cpu->choice, err);

    if (rc == 0)
        rc = fill_neighbours(machine, options, cpu->topology);
    if (rc < 0)
        return rc;
    if (!orr_topology_is_here(cpu->topology))
        unbind(machine, &cpu->main_cpu);
    orr_bus_counts_of(machine, cpu->cpus.ncores,
                      orr_topology_memories(cpu->topology, &memories), &counts);
    if (options->sampling_dirs)
        orr_bus_prepare(machine, &counts, cpu->topology, options);
    keep_topology(cpu);
    forget_choice(cpu);
    bind_main(machine, cpu->main_cpu);
    return 0;
}

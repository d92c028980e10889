/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/real.c - the real machine: one worker per processor core; main
 * memory is one node, or one per NUMA node on request. Opened and closed by
 * main; kernels run in their worker's own thread.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/bus/bus.h"
#include "core/device/cpu/memory.h"
#include "core/device/cpu/topology.h"
#include "core/device/machine.h"
#include "core/device/threads.h"
#include "perfmodel/sampling.h"

struct real_machine {
    struct orr_machine head;       /* first */
    struct orr_topology *topology; /* owned; NULL once it is not needed */
    struct orr_memories memories;
};

static struct orr_memories *memories_of(struct orr_machine *machine)
{
    return &((struct real_machine *)machine)->memories;
}

/* Also for a machine that was only half opened. */
static void machine_free(struct orr_machine *machine)
{
    orr_topology_close(((struct real_machine *)machine)->topology);
    free(machine->name);
    free(machine->host);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->neighbours);
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
    return orr_memories_alloc(memories_of(machine), node, size, ret);
}

static void real_free(struct orr_machine *machine, unsigned node,
                      uintptr_t address, size_t size)
{
    (void)node;
    (void)size;
    orr_memories_free(memories_of(machine), address);
}

/* Between NUMA nodes the caller, who computes next to one of them, copies. */
static void real_copy_start(struct orr_machine *machine, struct orr_copy *copy)
{
    (void)machine;
    copy->perform(copy);
    copy->done(copy);
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

/* -- memory nodes -- */

static int make_nodes(struct orr_machine *machine, unsigned n)
{
    size_t pairs = (size_t)n * n;

    machine->nnodes = n;
    machine->nodes = calloc(n, sizeof(*machine->nodes));
    machine->bandwidth = calloc(pairs, sizeof(*machine->bandwidth));
    machine->latency = calloc(pairs, sizeof(*machine->latency));
    machine->direct = calloc(pairs, sizeof(*machine->direct));
    if (!machine->nodes || !machine->bandwidth || !machine->latency ||
        !machine->direct)
        return -ENOMEM;
    for (size_t i = 0; i < pairs; i++) {
        machine->bandwidth[i] = machine->latency[i] = (double)NAN;
        machine->direct[i] = true;
    }
    for (unsigned i = 0; i < n; i++) {
        struct orr_node_desc *node = &machine->nodes[i];

        *node = (struct orr_node_desc){.kind = STARPU_CPU_RAM, .devid = (int)i};
        snprintf(node->name, sizeof(node->name), "NUMA %u", i);
    }
    return 0;
}

/* A node for all main memory, which may hold what a control group leaves, or
 * one per NUMA node, which may hold as much as there is. */
static int fill_memory(struct orr_machine *machine,
                       const struct orr_machine_options *options,
                       const struct orr_topology *topology,
                       struct orr_error *err)
{
    const struct orr_memory *memories;
    unsigned n = orr_topology_memories(topology, &memories);
    int rc;

    if (!options->numa) {
        rc = make_nodes(machine, 1);
        if (rc == 0)
            machine->nodes[0].capacity = orr_topology_limit(topology);
        return rc;
    }
    if (n > STARPU_MAXNUMANODES)
        return orr_fail(err, -EINVAL,
                        "this machine has %u NUMA nodes; at most %d are "
                        "possible (starpu_config.h): unset STARPU_USE_NUMA",
                        n, STARPU_MAXNUMANODES);
    rc = make_nodes(machine, n);
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        machine->nodes[i].os_number = memories[i].number;
        machine->nodes[i].capacity = memories[i].size;
    }
    return rc;
}

/* -- workers -- */

/* How many workers there will be, -ENODEV for none. */
static int count_workers(const struct orr_machine_options *options,
                         const struct orr_cpu_choice *choice,
                         struct orr_error *err)
{
    int usual = (int)choice->usual;
    int reserved = options->reserve_ncpu > 0 ? options->reserve_ncpu : 0;
    int n = options->ncpu >= 0 ? options->ncpu : usual - reserved;

    if (options->ncuda > 0 || options->nopencl > 0)
        orr_log_warning("GPU workers were requested, but this library has no "
                        "GPU driver; name a machine with ORRERY_MACHINE to "
                        "simulate them");
    if (n <= 0)
        return orr_fail(err, -ENODEV,
                        "no worker is left: %d processors, %d reserved by "
                        "STARPU_RESERVE_NCPU, STARPU_NCPU is %d",
                        usual, reserved, options->ncpu);
    if (n > STARPU_NMAXWORKERS)
        return orr_fail(err, -EINVAL,
                        "%d workers were requested; at most %d are possible "
                        "(STARPU_NCPU)",
                        n, STARPU_NMAXWORKERS);
    return n;
}

/* The processor for worker i. More workers than processors share these in
 * turn. */
static int place_worker(const struct orr_machine_options *options,
                        const struct orr_cpus *cpus,
                        const struct orr_cpu_choice *choice, unsigned i,
                        struct orr_cpu *ret, struct orr_error *err)
{
    const unsigned *bindid = options->workers_bindid;

    if (!bindid) {
        *ret = choice->cpus[i % choice->n];
        return 0;
    }
    if (bindid[i] >= cpus->n)
        return orr_fail(err, -EINVAL,
                        "starpu_conf.workers_bindid[%u] is %u, but there are "
                        "only processors 0 to %u",
                        i, bindid[i], cpus->n - 1);
    *ret = cpus->cpus[bindid[i]];
    return 0;
}

static int fill_workers(struct orr_machine *machine,
                        const struct orr_machine_options *options,
                        const struct orr_cpus *cpus,
                        const struct orr_cpu_choice *choice,
                        struct orr_error *err)
{
    int n = count_workers(options, choice, err), rc;

    if (n < 0)
        return n;
    machine->nworkers = (unsigned)n;
    machine->workers = calloc((size_t)n, sizeof(*machine->workers));
    if (!machine->workers)
        return -ENOMEM;
    for (int i = 0; i < n; i++) {
        struct orr_worker_desc *worker = &machine->workers[i];
        struct orr_cpu cpu = {-1, 0, 0, 0};

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
        };
        snprintf(worker->name, sizeof(worker->name), "CPU %d", i);
    }
    return 0;
}

struct neighbour {
    unsigned worker, distance, offset;
};

static int compare_neighbours(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->offset < y->offset ? -1 : 1;
}

/* Of equally near ones those with the next numbers come first, so that not all
 * workers begin with the same. */
static void sort_neighbours(const struct orr_machine *machine,
                            const struct orr_topology *topology,
                            unsigned worker, struct neighbour *room)
{
    unsigned n = machine->nworkers;

    for (unsigned offset = 0; offset < n; offset++) {
        unsigned other = (worker + offset) % n;

        room[offset] = (struct neighbour){
            other,
            other == worker
                ? 0
                : orr_topology_distance(topology, machine->workers[worker].cpu,
                                        machine->workers[other].cpu),
            offset};
    }
    qsort(room, n, sizeof(*room), compare_neighbours);
}

/* Threads that are not bound may be anywhere: they have no neighbours. */
static int fill_neighbours(struct orr_machine *machine,
                           const struct orr_machine_options *options,
                           const struct orr_topology *topology)
{
    unsigned n = machine->nworkers;
    struct neighbour *room;

    if (!options->bind || !orr_topology_hwloc(topology))
        return 0;
    room = calloc(n, sizeof(*room));
    machine->neighbours = calloc((size_t)n * n, sizeof(*machine->neighbours));
    for (unsigned w = 0; room && machine->neighbours && w < n; w++) {
        sort_neighbours(machine, topology, w, room);
        for (unsigned i = 0; i < n; i++)
            machine->neighbours[(size_t)w * n + i] = room[i].worker;
    }
    free(room);
    return room && machine->neighbours ? 0 : -ENOMEM;
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
    const struct orr_cpu *cpu = NULL;

    if (options->main_cpuid >= 0 && (unsigned)options->main_cpuid < cpus->n)
        cpu = &cpus->cpus[options->main_cpuid];
    else if (options->main_cpuid < 0 && options->main_coreid >= 0)
        cpu = orr_cpus_core(cpus, (unsigned)options->main_coreid);
    else if (options->main_cpuid < 0)
        cpu = last_core(cpus);
    if (!cpu)
        return orr_fail(err, -EINVAL,
                        "%s is %d, which this process has not: there are %u "
                        "processors, counted from 0",
                        options->main_cpuid >= 0 ? "STARPU_MAIN_THREAD_CPUID"
                                                 : "STARPU_MAIN_THREAD_COREID",
                        options->main_cpuid >= 0 ? options->main_cpuid
                                                 : options->main_coreid,
                        cpus->n);
    *ret = *cpu;
    return 0;
}

static bool main_is_bound(const struct orr_machine_options *options)
{
    return options->main_bind || options->main_cpuid >= 0 ||
           options->main_coreid >= 0;
}

/* Workers' places, and main's processor in *ret_main, -1 for none. */
static int fill_cpus(struct orr_machine *machine,
                     const struct orr_machine_options *options,
                     const struct orr_cpus *cpus, int *ret_main,
                     struct orr_error *err)
{
    struct orr_cpu_request request = {
        .cpus = options->workers_bindid ? NULL : options->workers_cpuid,
        .cores = options->workers_bindid ? NULL : options->workers_coreid,
        .per_core = options->per_core,
        .avoid = -1,
    };
    struct orr_cpu_choice choice = {0, 0, NULL};
    struct orr_cpu mine = {-1, 0, 0, 0};
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
    rc = orr_cpus_choose(cpus, &request, &choice, err);
    if (rc == 0)
        rc = fill_workers(machine, options, cpus, &choice, err);
    free(choice.cpus);
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

/* The machine of the topology, which stays open. */
static int fill_topology(struct real_machine *real,
                         const struct orr_machine_options *options,
                         struct orr_bus_counts *ret_counts, int *ret_main,
                         struct orr_error *err)
{
    struct orr_machine *machine = &real->head;
    struct orr_topology_input input = {
        .xml = options->hwloc_input,
        .ignore_affinity = options->ignore_affinity,
    };
    const struct orr_memory *memories;
    struct orr_cpus cpus = {0};
    int rc = orr_topology_open(&input, &real->topology, err);

    if (rc < 0)
        return rc;
    rc = fill_memory(machine, options, real->topology, err);
    if (rc == 0)
        rc = orr_topology_cpus(real->topology, &cpus, err);
    if (rc == 0)
        rc = fill_cpus(machine, options, &cpus, ret_main, err);
    if (rc == 0)
        rc = fill_neighbours(machine, options, real->topology);
    if (rc == 0 && !orr_topology_is_here(real->topology))
        unbind(machine, ret_main);
    orr_bus_counts_of(machine, cpus.ncores,
                      orr_topology_memories(real->topology, &memories),
                      ret_counts);
    orr_cpus_done(&cpus);
    return rc;
}

/* The topology is kept for allocating if memory has several nodes. */
static void keep_topology(struct real_machine *real)
{
    if (real->head.nnodes > 1) {
        real->memories.topology = real->topology;
        return;
    }
    orr_topology_close(real->topology);
    real->topology = NULL;
}

static void bind_main(struct orr_machine *machine, int cpu)
{
    int rc = cpu < 0 ? 0 : orr_threads_bind_main(machine->exec, cpu);

    if (rc < 0)
        orr_log_warning("the main thread could not be bound to processor %d: "
                        "%s; it runs anywhere",
                        cpu, strerror(-rc));
}

int orr_real_machine_open(const struct orr_machine_options *options,
                          struct orr_machine **ret, struct orr_error *err)
{
    struct real_machine *real = calloc(1, sizeof(*real));
    struct orr_machine *machine;
    struct orr_bus_counts counts;
    int rc, main_cpu = -1;

    if (!real)
        return orr_fail(err, -ENOMEM, "no memory to open the machine");
    machine = &real->head;
    machine->ops = &real_ops;
    machine->runs_kernels = true;
    machine->host_copies_at_once = true;
    rc = fill_names(machine, options, err);
    if (rc == 0)
        rc = fill_topology(real, options, &counts, &main_cpu, err);
    if (rc == 0)
        rc = orr_threads_new(NULL, &machine->exec);
    if (rc < 0) {
        machine_free(machine);
        return rc == -ENOMEM
                   ? orr_fail(err, rc, "no memory to open the machine")
                   : rc;
    }
    if (options->sampling_dirs)
        orr_bus_prepare(machine, &counts, real->topology,
                        options->sampling_dirs, options->bus_calibrate);
    keep_topology(real);
    bind_main(machine, main_cpu);
    *ret = machine;
    return 0;
}

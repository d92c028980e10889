/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/memory_machine.c - see memory_machine.h. Opened and closed by one
 * context; copies by any. */
#include "core/device/memory_machine.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/device/cpu/topology.h"
#include "core/device/open.h"

struct memory_machine {
    struct orr_machine head;
    struct orr_driver driver;
    const struct orr_topology *topology;
    struct orr_topology *own; /* owned, NULL: `topology` is borrowed */
};

static const struct orr_topology *
memory_machine_topology(const struct orr_machine *machine)
{
    return ((const struct memory_machine *)machine)->topology;
}

/* Also for a machine that was only half opened. */
static void memory_close(struct orr_machine *machine)
{
    orr_drivers_close(machine);
    orr_topology_close(((struct memory_machine *)machine)->own);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->direct);
    free(machine);
}

static int memory_alloc(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret)
{
    bool bound;
    void *address = orr_topology_alloc(memory_machine_topology(driver->machine),
                                       node, size, &bound);

    *ret = (uintptr_t)address;
    return address ? 0 : -ENOMEM;
}

static void memory_free(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size)
{
    (void)node;
    orr_topology_free(memory_machine_topology(driver->machine), (void *)address,
                      size);
}

static void memory_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    (void)driver;
    (void)copy->perform(copy, NULL);
    copy->done(copy);
}

static int memory_kernel_start(struct orr_driver *driver,
                               struct orr_kernel *kernel)
{
    (void)driver;
    (void)kernel;
    assert(!"this machine only copies");
    return 1;
}

static const struct orr_machine_ops memory_ops = {
    .close = memory_close,
};

static const struct orr_driver_ops driver_ops = {
    .name = "memory",
    .alloc = memory_alloc,
    .free = memory_free,
    .copy_start = memory_copy_start,
    .kernel_start = memory_kernel_start,
};

static int fill_nodes(struct orr_machine *machine)
{
    const struct orr_memory *memories;
    size_t n =
        orr_topology_memories(memory_machine_topology(machine), &memories);

    machine->nnodes = machine->row = (unsigned)n;
    machine->nodes = calloc(n, sizeof(*machine->nodes));
    machine->bandwidth = calloc(n * n, sizeof(*machine->bandwidth));
    machine->latency = calloc(n * n, sizeof(*machine->latency));
    machine->direct = calloc(n * n, sizeof(*machine->direct));
    if (!machine->nodes || !machine->bandwidth || !machine->latency ||
        !machine->direct)
        return -ENOMEM;
    for (size_t i = 0; i < n * n; i++) {
        machine->bandwidth[i] = machine->latency[i] = (double)NAN;
        machine->direct[i] = true;
    }
    for (unsigned i = 0; i < n; i++) {
        struct orr_node_desc *node = &machine->nodes[i];

        node->kind = STARPU_CPU_RAM;
        node->host_addressable = true;
        node->driver = &((struct memory_machine *)machine)->driver;
        node->devid = (int)i;
        node->os_number = memories[i].number;
        node->capacity = memories[i].size;
        snprintf(node->name, sizeof(node->name), "NUMA %u", i);
    }
    return 0;
}

/* On a synthetic machine there is no processor to bind to. */
static int memory_machine_fill_workers(struct orr_machine *machine,
                                       const struct orr_cpus *cpus)
{
    const struct orr_topology *topology = memory_machine_topology(machine);
    size_t most = (size_t)cpus->n * machine->nnodes;

    machine->workers = calloc(most + 1, sizeof(*machine->workers));
    if (!machine->workers)
        return -ENOMEM;
    if (!orr_topology_is_here(topology))
        return 0;
    for (unsigned i = 0; i < machine->nnodes; i++)
        for (unsigned k = 0; k < cpus->n; k++)
            if (orr_topology_is_near(topology, cpus->cpus[k].number, i))
                machine->workers[machine->nworkers++] =
                    (struct orr_worker_desc){
                        .type = STARPU_CPU_WORKER,
                        .node = i,
                        .cpu = cpus->cpus[k].number,
                        .pipeline = 1,
                        .speed = 1,
                        .driver = &((struct memory_machine *)machine)->driver,
                    };
    return 0;
}

static int memory_machine_fill(struct memory_machine *machine,
                               struct orr_error *err)
{
    struct orr_cpus cpus = {0};
    int rc = 0;

    if (!machine->topology) {
        rc = orr_topology_open(NULL, &machine->own, err);
        machine->topology = machine->own;
    }
    if (rc == 0)
        rc = orr_topology_cpus(machine->topology, &cpus, err);
    if (rc == 0)
        rc = fill_nodes(&machine->head);
    if (rc == 0)
        rc = memory_machine_fill_workers(&machine->head, &cpus);
    orr_cpus_done(&cpus);
    return rc == -ENOMEM ? orr_fail(err, rc, "no memory to measure memory")
                         : rc;
}

int orr_memory_machine_open(struct orr_exec *exec,
                            const struct orr_topology *topology,
                            struct orr_machine **ret, struct orr_error *err)
{
    struct memory_machine *machine = calloc(1, sizeof(*machine));
    int rc;

    if (!machine)
        return orr_fail(err, -ENOMEM, "no memory to measure memory");
    machine->head.ops = &memory_ops;
    machine->driver.ops = &driver_ops;
    machine->driver.machine = &machine->head;
    machine->head.exec = exec;
    machine->head.runs_kernels = true;
    machine->head.host_copies_at_once = true;
    machine->topology = topology;
    rc = memory_machine_fill(machine, err);
    if (rc < 0) {
        memory_close(&machine->head);
        return rc;
    }
    *ret = &machine->head;
    return 0;
}

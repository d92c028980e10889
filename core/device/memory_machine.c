/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/memory_machine.c - see memory_machine.h. Opened and closed by one
 * context; copies by any. */
#include "core/device/memory_machine.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/device/cpu/memories.h"

struct memory_machine {
    struct orr_machine head;
    struct orr_memories *memories; /* owned */
};

static struct orr_memories *memories_of(struct orr_machine *machine)
{
    return ((struct memory_machine *)machine)->memories;
}

/* Also for a machine that was only half opened. */
static void memory_close(struct orr_machine *machine)
{
    orr_memories_close(memories_of(machine));
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->direct);
    free(machine);
}

static int memory_alloc(struct orr_machine *machine, unsigned node, size_t size,
                        uintptr_t *ret)
{
    return orr_memories_alloc(memories_of(machine), node, size, ret);
}

static void memory_free(struct orr_machine *machine, unsigned node,
                        uintptr_t address, size_t size)
{
    (void)node;
    orr_memories_free(memories_of(machine), address, size);
}

static void memory_copy_start(struct orr_machine *machine,
                              struct orr_copy *copy)
{
    (void)machine;
    copy->perform(copy);
    copy->done(copy);
}

static int memory_kernel_start(struct orr_machine *machine,
                               struct orr_kernel *kernel)
{
    (void)machine;
    (void)kernel;
    assert(!"this machine only copies");
    return 1;
}

static const struct orr_machine_ops memory_ops = {
    .close = memory_close,
    .alloc = memory_alloc,
    .free = memory_free,
    .copy_start = memory_copy_start,
    .kernel_start = memory_kernel_start,
};

static int fill_nodes(struct orr_machine *machine,
                      const struct orr_memories *memories)
{
    size_t n = memories->n;

    machine->nnodes = memories->n;
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
        node->devid = (int)i;
        node->capacity = memories->list[i].bytes;
        snprintf(node->name, sizeof(node->name), "NUMA %u", i);
    }
    return 0;
}

static int fill_workers(struct orr_machine *machine,
                        const struct orr_memories *memories)
{
    unsigned n = 0;

    for (unsigned i = 0; i < memories->n; i++)
        n += memories->list[i].ncpus;
    machine->workers = calloc((size_t)n + 1, sizeof(*machine->workers));
    if (!machine->workers)
        return -ENOMEM;
    for (unsigned i = 0; i < memories->n; i++)
        for (unsigned k = 0; k < memories->list[i].ncpus; k++)
            machine->workers[machine->nworkers++] = (struct orr_worker_desc){
                .type = STARPU_CPU_WORKER,
                .node = i,
                .cpu = memories->list[i].cpus[k],
                .pipeline = 1,
                .speed = 1,
            };
    return 0;
}

int orr_memory_machine_open(struct orr_exec *exec, struct orr_machine **ret,
                            struct orr_error *err)
{
    struct memory_machine *machine = calloc(1, sizeof(*machine));
    int rc;

    if (!machine)
        return orr_fail(err, -ENOMEM, "no memory to measure memory");
    machine->head.ops = &memory_ops;
    machine->head.exec = exec;
    machine->head.runs_kernels = true;
    rc = orr_memories_open(&machine->memories, err);
    if (rc == 0) {
        rc = fill_nodes(&machine->head, machine->memories);
        if (rc == 0)
            rc = fill_workers(&machine->head, machine->memories);
        if (rc < 0)
            orr_fail(err, rc, "no memory to measure memory");
    }
    if (rc < 0) {
        memory_close(&machine->head);
        return rc;
    }
    *ret = &machine->head;
    return 0;
}

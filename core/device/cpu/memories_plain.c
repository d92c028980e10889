/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/memories_plain.c - memories.h for builds without hwloc: one
 * node. */
#include "core/device/cpu/memories.h"

#include <errno.h>
#include <stdlib.h>

#include "core/device/cpu/topology.h"

/* All processors are near. */
static int fill(struct orr_memory *memory, struct orr_error *err)
{
    struct orr_cpus cpus;
    int rc = orr_cpus_from_affinity(&cpus, err);

    if (rc < 0)
        return rc;
    memory->cpus = calloc(cpus.n, sizeof(*memory->cpus));
    for (unsigned i = 0; memory->cpus && i < cpus.n; i++)
        memory->cpus[memory->ncpus++] = cpus.cpus[i].number;
    orr_cpus_done(&cpus);
    return memory->cpus ? 0 : -ENOMEM;
}

int orr_memories_open(struct orr_memories **ret, struct orr_error *err)
{
    struct orr_memories *memories = calloc(1, sizeof(*memories));
    int rc = -ENOMEM;

    if (!memories)
        return orr_fail(err, rc, "no memory to look for memory nodes");
    memories->n = 1;
    memories->list = calloc(1, sizeof(*memories->list));
    if (memories->list)
        rc = fill(memories->list, err);
    if (rc < 0)
        orr_memories_close(memories);
    else
        *ret = memories;
    return rc;
}

void orr_memories_close(struct orr_memories *memories)
{
    if (!memories)
        return;
    if (memories->list)
        free(memories->list->cpus);
    free(memories->list);
    free(memories);
}

int orr_memories_alloc(struct orr_memories *memories, unsigned node,
                       size_t size, uintptr_t *ret)
{
    void *address;

    (void)memories;
    (void)node;
    if (posix_memalign(&address, 4096, size))
        return -ENOMEM;
    *ret = (uintptr_t)address;
    return 0;
}

void orr_memories_free(struct orr_memories *memories, uintptr_t address,
                       size_t size)
{
    (void)memories;
    (void)size;
    free((void *)address);
}

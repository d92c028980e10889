/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/nodes.c - the queries of starpu_worker.h about memory nodes. What
 * they read is fixed by starpu_init; any thread.
 */
#include <errno.h>

#include "core/api/combined.h"
#include "core/data/nodes.h"

unsigned starpu_worker_get_memory_node(unsigned workerid)
{
    ORR_QUESTION();
    return orr_api_first_worker(__func__, workerid)->desc->node;
}

unsigned starpu_worker_get_local_memory_node(void)
{
    return orr_api_local_node();
}

unsigned starpu_memory_nodes_get_count(void)
{
    ORR_QUESTION();
    return ORR_API_RUNTIME()->nodes->n;
}

unsigned starpu_memory_nodes_get_count_by_kind(enum starpu_node_kind kind)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned n = 0;

    for (unsigned i = 0; i < rt->nodes->n; i++)
        n += rt->machine->nodes[i].kind == kind;
    return n;
}

unsigned starpu_memory_nodes_get_numa_count(void)
{
    ORR_QUESTION();
    return ORR_API_RUNTIME()->nodes->nram;
}

unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind,
                                            unsigned *memory_nodes_ids,
                                            unsigned maxsize)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    unsigned n = 0;

    for (unsigned i = 0; i < rt->nodes->n; i++) {
        if (rt->machine->nodes[i].kind != kind)
            continue;
        if (n == maxsize)
            return (unsigned)-ERANGE;
        memory_nodes_ids[n++] = i;
    }
    return n;
}

/* Where one node is all of main memory each NUMA node is in that one. */
int starpu_memory_nodes_numa_id_to_devid(int osid)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    if (rt->nodes->nram == 1)
        return STARPU_MAIN_RAM;
    for (unsigned i = 0; i < rt->nodes->nram; i++)
        if (rt->machine->nodes[i].os_number == osid)
            return (int)i;
    return -1;
}

int starpu_memory_nodes_numa_devid_to_id(unsigned id)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    return id < rt->nodes->nram ? rt->machine->nodes[id].os_number : -1;
}

int starpu_memory_node_get_name(unsigned node, char *name, size_t size)
{
    ORR_QUESTION();
    return snprintf(name, size, "%s", orr_api_node(__func__, node)->name);
}

int starpu_memory_node_get_devid(unsigned node)
{
    ORR_QUESTION();
    return orr_api_node(__func__, node)->devid;
}

enum starpu_node_kind starpu_node_get_kind(unsigned node)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    return node < rt->nodes->n ? rt->machine->nodes[node].kind : STARPU_UNUSED;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/data_query.c - what a handle carries and where its copies are. The
 * setters are for the application's threads, before tasks use the handle.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/data/node.h"
#include "core/data/registry.h"
#include "core/exec/program.h"

/* -- names -- */

void starpu_data_set_name(starpu_data_handle_t handle, const char *name)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);
    char *copy = name ? strdup(name) : NULL;

    if (name && !copy)
        return; /* the name is for messages only */
    ORR_RECORD(rt, NAME, .id = h->id, .name = name);
    free(h->name);
    h->name = copy;
}

enum {
    MAX_COORDINATES = sizeof((struct orr_handle *)0)->coordinates / sizeof(int)
};

void starpu_data_set_coordinates_array(starpu_data_handle_t handle,
                                       unsigned dimensions, int *dims)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);
    int64_t list[MAX_COORDINATES];

    h->ncoordinates =
        dimensions < MAX_COORDINATES ? dimensions : MAX_COORDINATES;
    for (unsigned i = 0; i < h->ncoordinates; i++)
        list[i] = h->coordinates[i] = dims[i];
    ORR_RECORD(rt, COORDINATES, .id = h->id, .nodes = {list, h->ncoordinates});
}

void starpu_data_set_coordinates(starpu_data_handle_t handle,
                                 unsigned dimensions, ...)
{
    int dims[MAX_COORDINATES] = {0};
    va_list args;

    va_start(args, dimensions);
    for (unsigned i = 0; i < dimensions && i < MAX_COORDINATES; i++)
        dims[i] = va_arg(args, int);
    va_end(args);
    starpu_data_set_coordinates_array(handle, dimensions, dims);
}

unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle,
                                           unsigned dimensions, int *dims)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);
    unsigned n = h->ncoordinates < dimensions ? h->ncoordinates : dimensions;

    memcpy(dims, h->coordinates, n * sizeof(*dims));
    return h->ncoordinates;
}

void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data)
{
    orr_api_handle(__func__, handle)->user_data = user_data;
}

void *starpu_data_get_user_data(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->user_data;
}

void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data)
{
    orr_api_handle(__func__, handle)->sched_data = sched_data;
}

void *starpu_data_get_sched_data(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->sched_data;
}

/* -- order -- */

void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle,
                                                 unsigned flag)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, SEQUENTIAL, .id = h->id, .value = flag != 0);
    h->sequential = flag != 0;
    for (unsigned i = 0; i < h->nchildren; i++)
        starpu_data_set_sequential_consistency_flag(
            orr_handle_public(h->children[i]), flag);
}

unsigned
starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->sequential;
}

unsigned starpu_data_get_default_sequential_consistency_flag(void)
{
    return !atomic_load(&orr_program()->unordered);
}

void starpu_data_set_default_sequential_consistency_flag(unsigned flag)
{
    ORR_API_IF(rt, __func__);

    /* As profiling, it is set for runs to come as well. */
    atomic_store(&orr_program()->unordered, flag == 0);
    if (!rt)
        return;
    /* In records handle 0 stands for the handles to come. */
    ORR_RECORD(rt, SEQUENTIAL, .value = flag != 0);
    rt->data->default_sequential = flag != 0;
}

/* -- where copies may be; pieces get what the whole has -- */

void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, OUT_OF_CORE, .id = h->id, .value = flag != 0);
    h->out_of_core = flag != 0;
    for (unsigned i = 0; i < h->nchildren; i++)
        starpu_data_set_ooc_flag(orr_handle_public(h->children[i]), flag);
}

unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return orr_api_handle(__func__, handle)->out_of_core;
}

void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, WRITE_THROUGH, .id = h->id, .value = wt_mask);
    if (wt_mask)
        atomic_store_explicit(&rt->data->writes_through, true,
                              memory_order_relaxed);
    orr_lock(&h->lock);
    h->written_through = wt_mask;
    orr_unlock(&h->lock);
    for (unsigned i = 0; i < h->nchildren; i++)
        starpu_data_set_wt_mask(orr_handle_public(h->children[i]), wt_mask);
}

void starpu_data_advise_as_important(starpu_data_handle_t handle,
                                     unsigned is_important)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, IMPORTANT, .id = h->id, .value = is_important != 0);
    orr_lock(&h->lock);
    h->unimportant = !is_important;
    for (unsigned node = 0; node < h->nnodes; node++)
        orr_node_touch(h, node);
    orr_unlock(&h->lock);
    for (unsigned i = 0; i < h->nchildren; i++)
        starpu_data_advise_as_important(orr_handle_public(h->children[i]),
                                        is_important);
}

/* -- where copies are -- */

static void put_node_bit(int *ret, uint64_t bits, int node)
{
    if (ret)
        *ret = (int)(bits >> node & 1);
}

static void query(const char *call, starpu_data_handle_t handle,
                  int memory_node, int *is_allocated, int *is_valid,
                  int *is_loading, int *is_requested)
{
    struct orr_handle *h = orr_api_handle(call, handle);

    (void)orr_api_node(call, memory_node);
    orr_lock(&h->lock);
    put_node_bit(is_allocated, h->allocated, memory_node);
    put_node_bit(is_valid, h->valid, memory_node);
    put_node_bit(is_loading, h->loading, memory_node);
    if (is_requested)
        *is_requested = (unsigned)memory_node < h->nnodes &&
                        h->replicates[memory_node].request != NULL;
    orr_unlock(&h->lock);
}

void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node,
                               int *is_allocated, int *is_valid,
                               int *is_loading, int *is_requested)
{
    ORR_QUESTION();

    query(__func__, handle, memory_node, is_allocated, is_valid, is_loading,
          is_requested);
}

void starpu_data_query_status(starpu_data_handle_t handle, int memory_node,
                              int *is_allocated, int *is_valid,
                              int *is_requested)
{
    ORR_QUESTION();

    query(__func__, handle, memory_node, is_allocated, is_valid, NULL,
          is_requested);
}

unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node)
{
    ORR_QUESTION();
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    return (h->valid | h->loading) >> node & 1;
}

unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
                                               unsigned memory_node)
{
    ORR_QUESTION();
    int allocated;

    query(__func__, handle, (int)memory_node, &allocated, NULL, NULL, NULL);
    return (unsigned)allocated;
}

/* Always 0: no node maps another node's memory. */
unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle,
                                            unsigned memory_node)
{
    ORR_QUESTION();

    (void)orr_api_handle(__func__, handle);
    (void)orr_api_node(__func__, memory_node);
    return 0;
}

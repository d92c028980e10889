/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/partition.c - partitioning data and finding the children.
 * Application threads only.
 */
#include <stdarg.h>

#include "core/api/api.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/pending.h"
#include "core/observe/views.h"

static void cut(const char *call, starpu_data_handle_t initial_handle,
                struct starpu_data_filter *f)
{
    ORR_API(rt, call);
    struct orr_handle *handle = orr_api_handle(call, initial_handle);

    /* The reason was printed; the children that the caller needs are
     * missing. */
    if (orr_data_partition(rt, call, handle, f) < 0)
        abort();
    ORR_RECORD_ABOUT(rt,
                     ORR_ABOUT(.handle = handle, .filter = f,
                               .parts = handle->children,
                               .n = handle->nchildren),
                     PARTITION);
}

void starpu_data_partition(starpu_data_handle_t initial_handle,
                           struct starpu_data_filter *f)
{
    cut(__func__, initial_handle, f);
}

void starpu_data_unpartition(starpu_data_handle_t root_data,
                             unsigned gathering_node)
{
    ORR_API(rt, __func__);
    struct orr_handle *handle = orr_api_handle(__func__, root_data);

    if (gathering_node != ORR_NO_NODE)
        (void)orr_api_node(__func__, gathering_node);
    ORR_RECORD(rt, UNPARTITION, .id = handle->id, .node = (int)gathering_node);
    orr_data_unpartition(rt, handle, gathering_node);
}

int starpu_data_get_nb_children(starpu_data_handle_t handle)
{
    ORR_QUESTION();
    return (int)orr_api_handle(__func__, handle)->nchildren;
}

static starpu_data_handle_t child_of(const char *call,
                                     starpu_data_handle_t parent, unsigned i)
{
    struct orr_handle *handle = orr_api_handle(call, parent);

    if (i < handle->nchildren)
        return orr_handle_public(handle->children[i]);
    orr_log_error("%s of %s: there is no child %u: the data %s%u children",
                  call, orr_handle_label(handle).text, i,
                  handle->nchildren ? "have " : "are not partitioned, ",
                  handle->nchildren);
    abort();
}

starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle,
                                           unsigned i)
{
    ORR_QUESTION();
    return child_of(__func__, handle, i);
}

static starpu_data_handle_t descend(const char *call,
                                    starpu_data_handle_t handle, unsigned depth,
                                    va_list pa)
{
    for (unsigned i = 0; i < depth; i++)
        handle = child_of(call, handle, va_arg(pa, unsigned));
    return handle;
}

starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data,
                                               unsigned depth, va_list pa)
{
    ORR_QUESTION();
    return descend(__func__, root_data, depth, pa);
}

starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data,
                                              unsigned depth, ...)
{
    ORR_QUESTION();
    starpu_data_handle_t handle;
    va_list args;

    va_start(args, depth);
    handle = descend(__func__, root_data, depth, args);
    va_end(args);
    return handle;
}

/* Cuts `handle` and its children by the filters in turn. */
static void map_filters(const char *call, starpu_data_handle_t handle,
                        struct starpu_data_filter **filters, int nfilters)
{
    if (nfilters <= 0)
        return;
    cut(call, handle, filters[0]);
    for (int i = 0; i < starpu_data_get_nb_children(handle); i++)
        map_filters(call, starpu_data_get_child(handle, (unsigned)i),
                    filters + 1, nfilters - 1);
}

enum { MAX_FILTERS = 32 }; /* data are never partitioned deeper */

static void check_nfilters(const char *call, long nfilters)
{
    if (nfilters <= MAX_FILTERS)
        return;
    orr_log_error("%s: %ld filters were given, at most %d are possible", call,
                  nfilters, MAX_FILTERS);
    abort();
}

void starpu_data_map_filters_parray(starpu_data_handle_t root_handle,
                                    int nfilters,
                                    struct starpu_data_filter **filters)
{
    map_filters(__func__, root_handle, filters, nfilters);
}

void starpu_data_map_filters_array(starpu_data_handle_t root_handle,
                                   int nfilters,
                                   struct starpu_data_filter *filters)
{
    struct starpu_data_filter *pointers[MAX_FILTERS];

    check_nfilters(__func__, nfilters);
    for (int i = 0; i < nfilters; i++)
        pointers[i] = &filters[i];
    map_filters(__func__, root_handle, pointers, nfilters);
}

static void map_list(const char *call, starpu_data_handle_t root_data,
                     unsigned nfilters, va_list pa)
{
    struct starpu_data_filter *filters[MAX_FILTERS];

    check_nfilters(call, (long)nfilters);
    for (unsigned i = 0; i < nfilters; i++)
        filters[i] = va_arg(pa, struct starpu_data_filter *);
    map_filters(call, root_data, filters, (int)nfilters);
}

void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters,
                              va_list pa)
{
    map_list(__func__, root_data, nfilters, pa);
}

void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters,
                             ...)
{
    va_list args;

    va_start(args, nfilters);
    map_list(__func__, root_data, nfilters, args);
    va_end(args);
}

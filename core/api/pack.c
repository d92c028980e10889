/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/pack.c - the value on one node as bytes without gaps, and back. The
 * caller has acquired the data there, or runs a task that uses them. Any thread.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/layouts/dense.h"

/* The handle, if its interface can do what is asked on the node; ends the program
 * otherwise. */
static struct orr_handle *ready_handle(const char *call,
                                       starpu_data_handle_t handle,
                                       unsigned node, bool can,
                                       const char *what, bool there)
{
    struct orr_handle *h = orr_api_handle(call, handle);

    (void)orr_api_node(call, node);
    if (!there)
        orr_log_error("%s: the address of %s is NULL", call, what);
    else if (!can)
        orr_log_error("%s: data of this kind cannot be packed: its interface "
                      "lacks pack_data, peek_data or unpack_data",
                      call);
    else if (h->size > 0 && !(h->allocated >> node & 1))
        orr_log_error("%s: the data have no memory on node %u: acquire them "
                      "there first",
                      call, node);
    else
        return h;
    abort();
}

static int api_pack(const char *call, starpu_data_handle_t handle,
                    unsigned node, void **ptr, starpu_ssize_t *count)
{
    struct starpu_data_interface_ops *ops = orr_api_handle(call, handle)->ops;

    (void)ready_handle(call, handle, node, ops->pack_data, "the count", count);
    return ops->pack_data(handle, node, ptr, count);
}

int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node,
                          void **ptr, starpu_ssize_t *count)
{
    return api_pack(__func__, handle, node, ptr, count);
}

int starpu_data_pack(starpu_data_handle_t handle, void **ptr,
                     starpu_ssize_t *count)
{
    (void)orr_api_handle(__func__, handle);
    return api_pack(__func__, handle, orr_local_node(handle), ptr, count);
}

static int api_peek(const char *call, starpu_data_handle_t handle,
                    unsigned node, void *ptr, size_t count)
{
    struct starpu_data_interface_ops *ops = orr_api_handle(call, handle)->ops;

    (void)ready_handle(call, handle, node, ops->peek_data, "the bytes",
                       ptr || !count);
    return ops->peek_data(handle, node, ptr, count);
}

int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr,
                          size_t count)
{
    return api_peek(__func__, handle, node, ptr, count);
}

int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count)
{
    (void)orr_api_handle(__func__, handle);
    return api_peek(__func__, handle, orr_local_node(handle), ptr, count);
}

static int api_unpack(const char *call, starpu_data_handle_t handle,
                      unsigned node, void *ptr, size_t count)
{
    struct starpu_data_interface_ops *ops = orr_api_handle(call, handle)->ops;

    (void)ready_handle(call, handle, node, ops->unpack_data, "the bytes",
                       ptr || !count);
    return ops->unpack_data(handle, node, ptr, count);
}

int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node,
                            void *ptr, size_t count)
{
    return api_unpack(__func__, handle, node, ptr, count);
}

int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count)
{
    (void)orr_api_handle(__func__, handle);
    return api_unpack(__func__, handle, orr_local_node(handle), ptr, count);
}

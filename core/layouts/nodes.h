/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/nodes.h - what our interfaces share: on how many memory nodes
 * data have a structure of their interface (those of applications fill
 * STARPU_MAXNODES), registration, and the end of packed bytes.
 */
#pragma once

#include <starpu.h>

/* How many memory nodes the handle has structures for: those that exist, and disks that
 * may come. */
unsigned orr_interface_nodes(starpu_data_handle_t handle);

/* starpu_data_register and starpu_data_ptr_register for calls made of them, which their
 * messages name (core/api/interface.c). */
void orr_interface_register(const char *call, starpu_data_handle_t *handle,
                            int home_node, void *data_interface,
                            struct starpu_data_interface_ops *ops);
void orr_interface_own_memory(const char *call, starpu_data_handle_t handle,
                              unsigned node);

/* The end of unpack_data, after peek_data with that result: packed bytes that were
 * read are freed, others stay the caller's. Returns the result. */
static inline int orr_unpack_end(int err, unsigned node, void *packed,
                                 size_t count)
{
    if (!err && packed)
        starpu_free_on_node_flags(node, (uintptr_t)packed, count, 0);
    return err;
}

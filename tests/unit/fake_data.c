/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_data.c - handles on two memory nodes, both in main memory.
 */
#include "tests/unit/fake_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc.h"
#include "core/layouts/dense.h"
#include "core/layouts/multiformat.h"
#include "core/layouts/nodes.h"

struct _starpu_data_state {
    struct starpu_data_interface_ops *ops;
    void *interfaces[FAKE_NODES];
};

size_t fake_allocated;
int fake_out_of_memory;
unsigned fake_copies;

void orr_interface_register(const char *call, starpu_data_handle_t *handleptr,
                            int home_node, void *data_interface,
                            struct starpu_data_interface_ops *ops)
{
    struct _starpu_data_state *handle = calloc(1, sizeof(*handle));

    (void)call;
    handle->ops = ops;
    for (unsigned node = 0; node < FAKE_NODES; node++)
        handle->interfaces[node] = calloc(1, ops->interface_size);
    ops->register_data_handle(handle, home_node, data_interface);
    *handleptr = handle;
}

void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
                          void *data_interface,
                          struct starpu_data_interface_ops *ops)
{
    orr_interface_register(__func__, handleptr, home_node, data_interface, ops);
}

unsigned orr_interface_nodes(starpu_data_handle_t handle)
{
    (void)handle;
    return FAKE_NODES;
}

void fake_unregister(starpu_data_handle_t handle)
{
    if (handle->ops->unregister_data_handle)
        handle->ops->unregister_data_handle(handle);
    for (unsigned node = 0; node < FAKE_NODES; node++)
        free(handle->interfaces[node]);
    free(handle);
}

struct starpu_data_interface_ops *fake_ops(starpu_data_handle_t handle)
{
    return handle->ops;
}

uint32_t fake_footprint(starpu_data_handle_t handle)
{
    return orr_crc_u32(handle->ops->footprint(handle),
                       (uint32_t)handle->ops->interfaceid);
}

int fake_copy(starpu_data_handle_t from, unsigned from_node,
              starpu_data_handle_t to, unsigned to_node)
{
    return from->ops->copy_methods->any_to_any(
        from->interfaces[from_node], from_node, to->interfaces[to_node],
        to_node, NULL);
}

int fake_compare(starpu_data_handle_t a, starpu_data_handle_t b)
{
    return a->ops->compare(a->interfaces[0], b->interfaces[1]);
}

void *starpu_data_get_interface_on_node(starpu_data_handle_t handle,
                                        unsigned memory_node)
{
    return handle->interfaces[memory_node];
}

enum starpu_data_interface_id
starpu_data_get_interface_id(starpu_data_handle_t handle)
{
    return handle->ops->interfaceid;
}

void orr_interface_own_memory(const char *call, starpu_data_handle_t handle,
                              unsigned node)
{
    (void)call;
    (void)handle;
    (void)node;
}

/* Node 0 is main memory. */
unsigned starpu_memory_nodes_get_numa_count(void)
{
    return 1;
}

unsigned starpu_memory_nodes_get_count(void)
{
    return FAKE_NODES;
}

void orr_cut_label(char *text, size_t size)
{
    snprintf(text, size, " of mine");
}

unsigned orr_local_node(starpu_data_handle_t handle)
{
    (void)handle;
    return STARPU_MAIN_RAM;
}

unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle,
                                               unsigned memory_node)
{
    (void)handle;
    (void)memory_node;
    return 1;
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
    (void)dst_node;
    (void)flags;
    if (fake_out_of_memory) {
        fake_out_of_memory = 0;
        return 0;
    }
    fake_allocated += size;
    return (uintptr_t)calloc(1, size);
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
    return starpu_malloc_on_node_flags(dst_node, size, 0);
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size,
                               int flags)
{
    (void)dst_node;
    (void)flags;
    fake_allocated -= size;
    free((void *)addr);
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
    starpu_free_on_node_flags(dst_node, addr, size, 0);
}

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
                          uintptr_t dst, size_t dst_offset, unsigned dst_node,
                          size_t size, void *async_data)
{
    return starpu_interface_copy2d(src, src_offset, src_node, dst, dst_offset,
                                   dst_node, size, 1, size, size, async_data);
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks, size_t ld_src,
                            size_t ld_dst, void *async_data)
{
    (void)src_node;
    (void)dst_node;
    fake_copies++;
    for (size_t i = 0; i < numblocks; i++)
        memcpy((char *)dst + dst_offset + i * ld_dst,
               (const char *)src + src_offset + i * ld_src, blocksize);
    return async_data ? -EAGAIN : 0;
}

enum orr_form orr_form_of_node(unsigned node)
{
    (void)node;
    return ORR_FORM_CPU;
}

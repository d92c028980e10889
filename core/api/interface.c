/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/interface.c - registration of data, queries about their interfaces,
 * and copying of bytes. Registration is for the application's threads, the rest
 * for any.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/api/memory.h"
#include "core/api/process.h"
#include "core/data/interfaces/dense.h"
#include "core/data/node.h"

/* -- registration -- */

int starpu_data_interface_get_next_id(void)
{
    return STARPU_MAX_INTERFACE_ID +
           atomic_fetch_add(&orr_process()->last_interface, 1);
}

void starpu_data_register_ops(struct starpu_data_interface_ops *ops)
{
    if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
        ops->interfaceid = starpu_data_interface_get_next_id();
}

/* The others are needed only where data are allocated, copied, asked for. */
static void check_ops(const struct starpu_data_interface_ops *ops)
{
    if (ops && ops->register_data_handle && ops->footprint)
        return;
    orr_log_error("starpu_data_register: the table of operations lacks "
                  "register_data_handle or footprint");
    abort();
}

void starpu_data_register(starpu_data_handle_t *handleptr, int home_node,
                          void *data_interface,
                          struct starpu_data_interface_ops *ops)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_handle *handle;

    check_ops(ops);
    if (home_node >= 0)
        (void)orr_api_node(__func__, home_node);
    starpu_data_register_ops(ops);
    if (orr_handle_new(rt, home_node, data_interface, ops, &handle) < 0) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    *handleptr = orr_handle_public(handle);
}

void starpu_data_register_same(starpu_data_handle_t *handledst,
                               starpu_data_handle_t handlesrc)
{
    struct orr_handle *src = orr_api_handle(__func__, handlesrc);

    starpu_data_register(handledst, -1,
                         src->replicates[STARPU_MAIN_RAM].interface, src->ops);
}

void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    orr_lock(&h->lock);
    h->replicates[node].allocated = true;
    h->allocated |= UINT64_C(1) << node;
    orr_unlock(&h->lock);
}

/* -- queries -- */

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    return orr_handle_pointer(h, node);
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);

    return orr_handle_pointer(h, orr_local_node(handle));
}

void *starpu_data_get_interface_on_node(starpu_data_handle_t handle,
                                        unsigned memory_node)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);

    if (memory_node < h->runtime->nnodes)
        return h->replicates[memory_node].interface;
    if (memory_node < STARPU_MAXNODES)
        return orr_handle_spare_interface(h, memory_node);
    orr_log_error("%s: there is no memory node %u, they are numbered 0 to %d at "
                  "most",
                  __func__, memory_node, STARPU_MAXNODES - 1);
    abort();
}

enum starpu_data_interface_id
starpu_data_get_interface_id(starpu_data_handle_t handle)
{
    return orr_api_handle(__func__, handle)->ops->interfaceid;
}

struct starpu_data_interface_ops *
starpu_data_get_interface_ops(starpu_data_handle_t handle)
{
    return orr_api_handle(__func__, handle)->ops;
}

size_t starpu_data_get_size(starpu_data_handle_t handle)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);

    if (h->ops->get_size)
        return h->ops->get_size(handle);
    orr_log_error("%s: the interface of the data has no get_size", __func__);
    abort();
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t handle)
{
    struct starpu_data_interface_ops *ops =
        orr_api_handle(__func__, handle)->ops;

    return ops->get_alloc_size ? ops->get_alloc_size(handle)
                               : starpu_data_get_size(handle);
}

void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);
    char text[256];

    (void)orr_api_node(__func__, node);
    if (h->ops->describe) {
        h->ops->describe(h->replicates[node].interface, text, sizeof(text));
        fprintf(stream, "%s\n", text);
    } else {
        fprintf(stream, "interface %d of %zu bytes\n", (int)h->ops->interfaceid,
                h->size);
    }
}

int starpu_data_get_home_node(starpu_data_handle_t handle)
{
    return orr_api_handle(__func__, handle)->home_node;
}

/* -- copying: methods are called for main memory only -- */

int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node,
                          uintptr_t dst, size_t dst_offset, unsigned dst_node,
                          size_t size, void *async_data)
{
    (void)src_node;
    (void)dst_node;
    (void)async_data;
    memcpy((char *)dst + dst_offset, (const char *)src + src_offset, size);
    return 0;
}

int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks, size_t ld_src,
                            size_t ld_dst, void *async_data)
{
    const char *from = (const char *)src + src_offset;
    char *to = (char *)dst + dst_offset;

    if (ld_src == blocksize && ld_dst == blocksize)
        return starpu_interface_copy(src, src_offset, src_node, dst, dst_offset,
                                     dst_node, blocksize * numblocks,
                                     async_data);
    for (size_t i = 0; i < numblocks; i++, from += ld_src, to += ld_dst)
        memcpy(to, from, blocksize);
    return 0;
}

int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, void *async_data)
{
    for (size_t i = 0; i < numblocks2; i++)
        starpu_interface_copy2d(src, src_offset + i * ld2_src, src_node, dst,
                                dst_offset + i * ld2_dst, dst_node, blocksize,
                                numblocks1, ld1_src, ld1_dst, async_data);
    return 0;
}

int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t blocksize, size_t numblocks1, size_t ld1_src,
                            size_t ld1_dst, size_t numblocks2, size_t ld2_src,
                            size_t ld2_dst, size_t numblocks3, size_t ld3_src,
                            size_t ld3_dst, void *async_data)
{
    for (size_t i = 0; i < numblocks3; i++)
        starpu_interface_copy3d(src, src_offset + i * ld3_src, src_node, dst,
                                dst_offset + i * ld3_dst, dst_node, blocksize,
                                numblocks1, ld1_src, ld1_dst, numblocks2,
                                ld2_src, ld2_dst, async_data);
    return 0;
}

/* Dimension `dim` and all inside it. */
static void copy_dimensions(char *to, const char *from, size_t elemsize,
                            size_t dim, const uint32_t *nn,
                            const uint32_t *ldn_src, const uint32_t *ldn_dst)
{
    size_t src = dim ? ldn_src[dim] * elemsize : elemsize;
    size_t dst = dim ? ldn_dst[dim] * elemsize : elemsize;

    if (dim == 0) {
        memcpy(to, from, nn[0] * elemsize);
        return;
    }
    for (size_t i = 0; i < nn[dim]; i++, from += src, to += dst)
        copy_dimensions(to, from, elemsize, dim - 1, nn, ldn_src, ldn_dst);
}

int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node,
                            uintptr_t dst, size_t dst_offset, unsigned dst_node,
                            size_t elemsize, size_t ndim, uint32_t *nn,
                            uint32_t *ldn_src, uint32_t *ldn_dst,
                            void *async_data)
{
    if (ndim == 0)
        return starpu_interface_copy(src, src_offset, src_node, dst, dst_offset,
                                     dst_node, elemsize, async_data);
    copy_dimensions((char *)dst + dst_offset * elemsize,
                    (const char *)src + src_offset * elemsize, elemsize,
                    ndim - 1, nn, ldn_src, ldn_dst);
    return 0;
}

/* Traces have the runtime's own copies, with their true lengths. */
void starpu_interface_data_copy(unsigned src_node, unsigned dst_node,
                                size_t size)
{
    (void)size;
    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
}

void starpu_interface_start_driver_copy_async(unsigned src_node,
                                              unsigned dst_node, double *start)
{
    (void)src_node;
    (void)dst_node;
    *start = starpu_timing_now();
}

void starpu_interface_end_driver_copy_async(unsigned src_node,
                                            unsigned dst_node, double start)
{
    const double long_us = 300;

    if (starpu_timing_now() - start > long_us)
        orr_log_warning("handing over a copy from memory node %u to %u took "
                        "more than %.0f us: is the memory pinned?",
                        src_node, dst_node, long_us);
}

/* No node has memory that another one can use. */
uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset,
                               unsigned src_node, unsigned dst_node,
                               size_t size, int *ret)
{
    (void)src;
    (void)src_offset;
    (void)size;
    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    *ret = -EIO;
    return 0;
}

/* -- memory of nodes -- */

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    uintptr_t address;

    /* always counted, never waited for */
    if (orr_node_is_main(orr_api_node(__func__, dst_node)) &&
        orr_malloc_hook_is_set())
        return orr_malloc_by_hook(rt, dst_node, size, flags);
    return orr_node_malloc(rt, dst_node, size, &address) == 0 ? address : 0;
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
    return starpu_malloc_on_node_flags(dst_node, size, 0);
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size,
                               int flags)
{
    if (!addr)
        return;
    if (orr_node_is_main(orr_api_node(__func__, dst_node)) &&
        orr_malloc_hook_is_set())
        orr_free_by_hook(ORR_API_RUNTIME(), dst_node, addr, size, flags);
    else
        orr_node_free(ORR_API_RUNTIME(), dst_node, addr, size);
    if (!orr_self->grant) /* else it is a block's: whoever frees that says so */
        orr_node_freed(ORR_API_RUNTIME(), dst_node);
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
    starpu_free_on_node_flags(dst_node, addr, size, 0);
}

void starpu_malloc_on_node_set_default_flags(unsigned node, int flags)
{
    (void)flags;
    (void)orr_api_node(__func__, node);
}

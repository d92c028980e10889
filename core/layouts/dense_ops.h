/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/dense_ops.h - the operations of one dense kind, bound
 * to its structure. Not for others: the file of a kind includes it once, after
 * it has said what the structure is (dense_t) and described it (kind, see
 * kinds.h).
 *
 * A file per kind, and not one that looks the kind up by the structure's id: a
 * filter of the application need not have written one.
 */
#include <errno.h>
#include <string.h>

#include <starpu_task.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/layouts/dense.h"
#include "core/layouts/nodes.h"

/* --- structures --- */

static inline dense_t *dense_on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static inline dense_t *dense_in_main_ram(starpu_data_handle_t handle)
{
    return dense_on_node(handle, STARPU_MAIN_RAM);
}

/* What a public call asks a handle of; it may be of another kind. */
static inline dense_t *dense_asked(const char *call,
                                   starpu_data_handle_t handle)
{
    orr_interface_expect(call, handle, kind.id);
    return dense_in_main_ram(handle);
}

static inline dense_t *dense_asked_local(const char *call,
                                         starpu_data_handle_t handle)
{
    orr_interface_expect(call, handle, kind.id);
    return dense_on_node(handle, orr_local_node_with_memory(handle));
}

#define ASKED(handle)       dense_asked(__func__, handle)
#define ASKED_LOCAL(handle) dense_asked_local(__func__, handle)

static inline void dense_set_place(dense_t *d, uintptr_t ptr,
                                   uintptr_t dev_handle, size_t offset)
{
    d->ptr = ptr;
    d->dev_handle = dev_handle;
    d->offset = offset;
}

static inline struct orr_dense_place dense_place(const dense_t *d,
                                                 unsigned node)
{
    return (struct orr_dense_place){d->dev_handle, d->offset, node};
}

/* The first part of the ptr_register() of all kinds: leading dimensions are
 * left to the caller. */
static inline dense_t *dense_register_ptr(const char *call,
                                          starpu_data_handle_t handle,
                                          unsigned node, uintptr_t ptr,
                                          uintptr_t dev_handle, size_t offset)
{
    dense_t *d;

    orr_interface_own_memory(call, handle, node);
    d = dense_on_node(handle, node);
    dense_set_place(d, ptr, dev_handle, offset);
    return d;
}

static inline struct orr_dense dense_look(const dense_t *d)
{
    return orr_dense_look(&kind, d);
}

static inline size_t dense_bytes(const dense_t *d)
{
    struct orr_dense dense = dense_look(d);

    return orr_dense_bytes(&dense);
}

static inline void dense_expect_room(const dense_t *d)
{
    struct orr_dense dense = dense_look(d);

    orr_dense_expect_room(&dense, kind.word);
}

/* The field of the structure, or the same value for kinds without. */
static inline size_t dense_memory_bytes(const dense_t *d)
{
    if (kind.allocsize)
        return *(const size_t *)((const char *)d + kind.allocsize);
    return dense_bytes(d);
}

/* Sets the leading dimensions to those of data without gaps. */
static inline void dense_close_ranks(dense_t *d)
{
    orr_dense_close_ranks(&kind, d);
}

/* --- operations --- */

static void dense_register_handle(starpu_data_handle_t handle, int home_node,
                                  void *data_interface)
{
    const dense_t *given = data_interface;

    for (unsigned node = 0; node < orr_interface_nodes(handle); node++) {
        dense_t *d = dense_on_node(handle, node);

        *d = *given;
        if (kind.rank)
            orr_dense_own(&kind, d, (int)node == home_node);
        if (node == STARPU_MAIN_RAM)
            dense_expect_room(d);
        if ((int)node == home_node)
            continue;
        dense_set_place(d, 0, 0, 0);
        dense_close_ranks(d);
    }
}

static starpu_ssize_t dense_allocate(void *data_interface, unsigned node)
{
    dense_t *d = data_interface;
    size_t bytes = dense_memory_bytes(d);
    uintptr_t address = 0;

    if (bytes) {
        address = starpu_malloc_on_node(node, bytes);
        if (!address)
            return -ENOMEM;
    }
    dense_set_place(d, address, address, 0);
    dense_close_ranks(d);
    return (starpu_ssize_t)bytes;
}

static void dense_free(void *data_interface, unsigned node)
{
    dense_t *d = data_interface;
    size_t bytes = dense_memory_bytes(d);

    if (d->dev_handle && bytes)
        starpu_free_on_node(node, d->dev_handle, bytes);
    dense_set_place(d, 0, 0, 0);
}

/* Memory alone moves: shapes, and arrays of them, are the handles' own. */
static void dense_cache(void *kept, void *data_interface, unsigned node)
{
    (void)node;
    memcpy(kept, data_interface, sizeof(dense_t));
    dense_set_place(data_interface, 0, 0, 0);
    if (kind.rank)
        orr_dense_forget(&kind, kept);
}

static void dense_reuse(void *data_interface, const void *kept, unsigned node)
{
    dense_t *d = data_interface;
    const dense_t *from = kept;

    (void)node;
    dense_set_place(d, from->ptr, from->dev_handle, from->offset);
    dense_close_ranks(d);
}

static int dense_copy(void *src, unsigned src_node, void *dst,
                      unsigned dst_node, void *async_data)
{
    const dense_t *s = src, *d = dst;
    struct orr_dense from = dense_look(s), to = dense_look(d);
    size_t bytes = orr_dense_bytes(&from);

    if (bytes == 0)
        return 0;
    if (orr_dense_is_packed(&from) && orr_dense_is_packed(&to))
        return starpu_interface_copy(s->dev_handle, s->offset, src_node,
                                     d->dev_handle, d->offset, dst_node, bytes,
                                     async_data);
    return orr_dense_copy(&from, dense_place(s, src_node), &to,
                          dense_place(d, dst_node), async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = dense_copy,
};

static void *dense_handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    return (void *)dense_on_node(handle, node)->ptr;
}

static void *dense_to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((dense_t *)data_interface)->ptr;
}

static size_t dense_get_size(starpu_data_handle_t handle)
{
    return dense_bytes(dense_in_main_ram(handle));
}

static int dense_compare(void *a, void *b)
{
    struct orr_dense x = dense_look(a), y = dense_look(b);

    for (size_t i = 0; i < x.ndim; i++)
        if (x.nn[i] != y.nn[i])
            return 0;
    return x.elemsize == y.elemsize;
}

static void dense_display(starpu_data_handle_t handle, FILE *f)
{
    struct orr_dense dense = dense_look(dense_in_main_ram(handle));

    orr_dense_display(&dense, f);
}

static starpu_ssize_t dense_describe(void *data_interface, char *buf,
                                     size_t size)
{
    struct orr_dense dense = dense_look(data_interface);

    return orr_dense_describe(&dense, kind.letter, buf, size);
}

static int dense_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                      starpu_ssize_t *count)
{
    const dense_t *d = dense_on_node(handle, node);
    struct orr_dense dense = dense_look(d);

    return orr_dense_pack(&dense, d->ptr, node, ptr, count);
}

static int dense_peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                      size_t count)
{
    const dense_t *d = dense_on_node(handle, node);
    struct orr_dense dense = dense_look(d);

    return orr_dense_peek(&dense, d->ptr, node, ptr, count);
}

static int dense_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                        size_t count)
{
    return orr_unpack_end(dense_peek(handle, node, ptr, count), node, ptr,
                          count);
}

/* What all kinds have in their tables. */
#define DENSE_OPS                                                              \
    .register_data_handle = dense_register_handle,                             \
    .allocate_data_on_node = dense_allocate, .free_data_on_node = dense_free,  \
    .cache_data_on_node = dense_cache, .reuse_data_on_node = dense_reuse,      \
    .copy_methods = &copy_methods,                                             \
    .handle_to_pointer = dense_handle_to_pointer,                              \
    .to_pointer = dense_to_pointer, .get_size = dense_get_size,                \
    .compare = dense_compare, .display = dense_display,                        \
    .describe = dense_describe, .pack_data = dense_pack,                       \
    .peek_data = dense_peek, .unpack_data = dense_unpack,                      \
    .interface_size = sizeof(dense_t)

/* --- footprints: of the lengths, or of the element's size first --- */

static inline uint32_t footprint_from(const struct orr_dense *dense, uint32_t f)
{
    for (size_t i = 0; i < dense->ndim; i++)
        f = orr_crc_u32(dense->nn[i], f);
    return f;
}

static inline uint32_t footprint_of_lengths(starpu_data_handle_t handle)
{
    struct orr_dense dense = dense_look(dense_in_main_ram(handle));

    return footprint_from(&dense, 0);
}

static inline uint32_t footprint_of_size(starpu_data_handle_t handle)
{
    struct orr_dense dense = dense_look(dense_in_main_ram(handle));

    return footprint_from(&dense, orr_crc_u32((uint32_t)dense.elemsize, 0));
}

/* --- memory of another size than the data --- */

static inline size_t dense_get_alloc_size(starpu_data_handle_t handle)
{
    return dense_memory_bytes(dense_in_main_ram(handle));
}

static inline uint32_t dense_alloc_footprint(starpu_data_handle_t handle)
{
    return orr_crc_size(dense_memory_bytes(dense_in_main_ram(handle)), 0);
}

static inline int dense_alloc_compare(void *a, void *b)
{
    return dense_memory_bytes(a) == dense_memory_bytes(b);
}

#define DENSE_ALLOCSIZE_OPS                                                    \
    .get_alloc_size = dense_get_alloc_size,                                    \
    .alloc_footprint = dense_alloc_footprint,                                  \
    .alloc_compare = dense_alloc_compare

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/rows.h - the operations of sparse matrices by rows, of
 * elements or of blocks. Not for others: the file of a kind includes it once,
 * after it has said what the structure is (rows_t), its number (interface_id) and
 * how many elements a block has (block_of).
 */
#include <errno.h>

#include <starpu_task.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/layouts/dense.h"
#include "core/layouts/nodes.h"
#include "core/layouts/sparse.h"

static inline rows_t *rows_on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static inline rows_t *rows_in_main_ram(starpu_data_handle_t handle)
{
    return rows_on_node(handle, STARPU_MAIN_RAM);
}

/* What a public call asks a handle of; it may be of another kind. */
static inline rows_t *rows_asked(const char *call, starpu_data_handle_t handle)
{
    orr_interface_expect(call, handle, interface_id);
    return rows_in_main_ram(handle);
}

static inline rows_t *rows_asked_local(const char *call,
                                       starpu_data_handle_t handle)
{
    orr_interface_expect(call, handle, interface_id);
    return rows_on_node(handle, orr_local_node_with_memory(handle));
}

#define ASKED(handle)       rows_asked(__func__, handle)
#define ASKED_LOCAL(handle) rows_asked_local(__func__, handle)

/* Column indices and rows come first in packed form. */
static struct orr_arrays rows_arrays(const rows_t *m)
{
    return (struct orr_arrays){
        .at = {(uintptr_t)m->colind, (uintptr_t)m->rowptr, m->nzval},
        .bytes = {m->nnz * sizeof(*m->colind),
                  ((size_t)m->nrow + 1) * sizeof(*m->rowptr),
                  m->nnz * rows_block_elements(m) * m->elemsize},
        .bounds = true,
    };
}

static void rows_set_arrays(rows_t *m, const struct orr_arrays *arrays)
{
    m->colind = (uint32_t *)arrays->at[0];
    m->rowptr = (uint32_t *)arrays->at[1];
    m->nzval = arrays->at[2];
}

/* What the application has in main memory, whose nodes come first, can be read
 * everywhere. */
static void rows_register_handle(starpu_data_handle_t handle, int home_node,
                                 void *data_interface)
{
    static const struct orr_arrays none;
    const rows_t *given = data_interface;
    bool in_ram = home_node >= 0 &&
                  (unsigned)home_node < starpu_memory_nodes_get_numa_count();

    orr_arrays_expect_room(given->nnz, rows_block_elements(given),
                           given->elemsize);
    for (unsigned node = 0; node < orr_interface_nodes(handle); node++) {
        rows_t *m = rows_on_node(handle, node);

        *m = *given;
        m->ram_colind = in_ram ? given->colind : NULL;
        m->ram_rowptr = in_ram ? given->rowptr : NULL;
        if ((int)node != home_node)
            rows_set_arrays(m, &none);
    }
}

static starpu_ssize_t rows_allocate(void *data_interface, unsigned node)
{
    struct orr_arrays arrays = rows_arrays(data_interface);
    starpu_ssize_t bytes = orr_arrays_allocate(&arrays, node);

    if (bytes >= 0)
        rows_set_arrays(data_interface, &arrays);
    return bytes;
}

static void rows_free(void *data_interface, unsigned node)
{
    static const struct orr_arrays none;
    struct orr_arrays arrays = rows_arrays(data_interface);

    orr_arrays_free(&arrays, node);
    rows_set_arrays(data_interface, &none);
}

static void rows_reuse(void *data_interface, const void *kept, unsigned node)
{
    struct orr_arrays arrays = rows_arrays(kept);

    (void)node;
    rows_set_arrays(data_interface, &arrays);
}

static int rows_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                     void *async_data)
{
    struct orr_arrays from = rows_arrays(src), to = rows_arrays(dst);

    return orr_arrays_copy(&from, src_node, &to, dst_node, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = rows_copy,
};

static void *rows_to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((rows_t *)data_interface)->nzval;
}

static size_t rows_get_size(starpu_data_handle_t handle)
{
    struct orr_arrays arrays = rows_arrays(rows_in_main_ram(handle));

    return arrays.bytes[0] + arrays.bytes[1] + arrays.bytes[2];
}

static int rows_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                     starpu_ssize_t *count)
{
    struct orr_arrays arrays = rows_arrays(rows_on_node(handle, node));

    return orr_arrays_pack(&arrays, node, ptr, count);
}

static int rows_peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                     size_t count)
{
    struct orr_arrays arrays = rows_arrays(rows_on_node(handle, node));

    return orr_arrays_peek(&arrays, node, ptr, count);
}

static int rows_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                       size_t count)
{
    return orr_unpack_end(rows_peek(handle, node, ptr, count), node, ptr,
                          count);
}

/* What both kinds have in their tables. */
#define ROWS_OPS                                                               \
    .register_data_handle = rows_register_handle,                              \
    .allocate_data_on_node = rows_allocate, .free_data_on_node = rows_free,    \
    .reuse_data_on_node = rows_reuse, .copy_methods = &copy_methods,           \
    .to_pointer = rows_to_pointer, .get_size = rows_get_size,                  \
    .pack_data = rows_pack, .peek_data = rows_peek,                            \
    .unpack_data = rows_unpack, .interface_size = sizeof(rows_t)

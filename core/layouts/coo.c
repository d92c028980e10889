/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/coo.c - a sparse matrix by coordinates.
 */
#include <string.h>

#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/layouts/nodes.h"
#include "core/layouts/sparse.h"

typedef struct starpu_coo_interface coo_t;

static coo_t *coo_in_main_ram(starpu_data_handle_t handle)
{
    return starpu_data_get_interface_on_node(handle, 0);
}

static struct orr_arrays coo_arrays(const coo_t *m)
{
    return (struct orr_arrays){
        .at = {(uintptr_t)m->columns, (uintptr_t)m->rows, m->values},
        .bytes = {m->n_values * sizeof(*m->columns),
                  m->n_values * sizeof(*m->rows), m->n_values * m->elemsize},
    };
}

static void coo_place(coo_t *m, const struct orr_arrays *arrays)
{
    m->columns = (uint32_t *)arrays->at[0];
    m->rows = (uint32_t *)arrays->at[1];
    m->values = arrays->at[2];
}

static void coo_register_handle(starpu_data_handle_t handle, int home_node,
                                void *data_interface)
{
    static const struct orr_arrays none;
    const coo_t *given = data_interface;

    orr_arrays_expect_room(given->n_values, 1, given->elemsize);
    for (unsigned node = 0; node < orr_interface_nodes(handle); node++) {
        coo_t *m = starpu_data_get_interface_on_node(handle, node);

        *m = *given;
        if ((int)node != home_node)
            coo_place(m, &none);
    }
}

static starpu_ssize_t coo_allocate(void *data_interface, unsigned node)
{
    struct orr_arrays arrays = coo_arrays(data_interface);
    starpu_ssize_t bytes = orr_arrays_allocate(&arrays, node);

    if (bytes >= 0)
        coo_place(data_interface, &arrays);
    return bytes;
}

static void coo_free(void *data_interface, unsigned node)
{
    static const struct orr_arrays none;
    struct orr_arrays arrays = coo_arrays(data_interface);

    orr_arrays_free(&arrays, node);
    coo_place(data_interface, &none);
}

static void coo_reuse(void *data_interface, const void *kept, unsigned node)
{
    struct orr_arrays arrays = coo_arrays(kept);

    (void)node;
    coo_place(data_interface, &arrays);
}

static int coo_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                    void *async_data)
{
    struct orr_arrays from = coo_arrays(src), to = coo_arrays(dst);

    return orr_arrays_copy(&from, src_node, &to, dst_node, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = coo_copy,
};

/* The size of the dense matrix, as in StarPU, since the size names rows of models. */
static size_t coo_get_size(starpu_data_handle_t handle)
{
    const coo_t *m = coo_in_main_ram(handle);

    return (size_t)m->nx * m->ny * m->elemsize;
}

static size_t coo_get_alloc_size(starpu_data_handle_t handle)
{
    struct orr_arrays arrays = coo_arrays(coo_in_main_ram(handle));

    return arrays.bytes[0] + arrays.bytes[1] + arrays.bytes[2];
}

static uint32_t coo_footprint(starpu_data_handle_t handle)
{
    const coo_t *m = coo_in_main_ram(handle);

    return orr_crc_u32(m->nx * m->ny, 0);
}

static int coo_compare(void *a, void *b)
{
    const coo_t *x = a, *y = b;

    return x->nx == y->nx && x->ny == y->ny && x->n_values == y->n_values &&
           x->elemsize == y->elemsize;
}

static starpu_ssize_t coo_describe(void *data_interface, char *buf, size_t size)
{
    const coo_t *m = data_interface;

    return snprintf(buf, size, "M%ux%ux%ux%zu", m->nx, m->ny, m->n_values,
                    m->elemsize);
}

static struct orr_arrays arrays_on(starpu_data_handle_t handle, unsigned node)
{
    return coo_arrays(starpu_data_get_interface_on_node(handle, node));
}

static int coo_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                    starpu_ssize_t *count)
{
    struct orr_arrays arrays = arrays_on(handle, node);

    return orr_arrays_pack(&arrays, node, ptr, count);
}

static int coo_peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                    size_t count)
{
    struct orr_arrays arrays = arrays_on(handle, node);

    return orr_arrays_peek(&arrays, node, ptr, count);
}

static int coo_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                      size_t count)
{
    return orr_unpack_end(coo_peek(handle, node, ptr, count), node, ptr, count);
}

struct starpu_data_interface_ops starpu_interface_coo_ops = {
    .register_data_handle = coo_register_handle,
    .allocate_data_on_node = coo_allocate,
    .free_data_on_node = coo_free,
    .reuse_data_on_node = coo_reuse,
    .copy_methods = &copy_methods,
    .get_size = coo_get_size,
    .get_alloc_size = coo_get_alloc_size,
    .footprint = coo_footprint,
    .compare = coo_compare,
    .describe = coo_describe,
    .pack_data = coo_pack,
    .peek_data = coo_peek,
    .unpack_data = coo_unpack,
    .interfaceid = STARPU_COO_INTERFACE_ID,
    .interface_size = sizeof(coo_t),
    .name = (char[]){"STARPU_COO_INTERFACE"},
};

void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node,
                              uint32_t nx, uint32_t ny, uint32_t n_values,
                              uint32_t *columns, uint32_t *rows,
                              uintptr_t values, size_t elemsize)
{
    struct starpu_coo_interface m;

    /* What is between the fields is copied and compared, too. */
    memset(&m, 0, sizeof(m));
    m.id = STARPU_COO_INTERFACE_ID;
    m.columns = columns;
    m.rows = rows;
    m.values = values;
    m.nx = nx;
    m.ny = ny;
    m.n_values = n_values;
    m.elemsize = elemsize;
    orr_interface_register(__func__, handleptr, home_node, &m,
                           &starpu_interface_coo_ops);
}

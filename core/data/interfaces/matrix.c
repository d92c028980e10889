/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/matrix.c - two-dimensional data: ny columns of nx
 * elements, the starts of columns ld elements apart.
 */
#include <starpu_data_interfaces.h>

#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/data/interfaces/common.h"

typedef struct starpu_matrix_interface matrix_t;

static matrix_t *on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static matrix_t *in_main_ram(starpu_data_handle_t handle)
{
    return on_node(handle, STARPU_MAIN_RAM);
}

static size_t bytes_of(const matrix_t *m)
{
    return (size_t)m->nx * m->ny * m->elemsize;
}

/* --- operations --- */

static void register_handle(starpu_data_handle_t handle, int home_node,
                            void *data_interface)
{
    const matrix_t *given = data_interface;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        matrix_t *m = on_node(handle, node);

        *m = *given;
        if ((int)node == home_node)
            continue;
        orr_place_set(ORR_PLACE_OF(m), 0);
        m->ld = given->nx;
    }
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    matrix_t *m = data_interface;
    starpu_ssize_t got =
        orr_place_allocate(ORR_PLACE_OF(m), node, m->allocsize);

    if (got >= 0)
        m->ld = m->nx; /* packed, whatever it is at home */
    return got;
}

static void release(void *data_interface, unsigned node)
{
    matrix_t *m = data_interface;

    orr_place_free(ORR_PLACE_OF(m), node, m->allocsize);
}

static void *handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    return (void *)on_node(handle, node)->ptr;
}

static void *to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((matrix_t *)data_interface)->ptr;
}

static size_t get_size(starpu_data_handle_t handle)
{
    return bytes_of(in_main_ram(handle));
}

static size_t get_alloc_size(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->allocsize;
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    const matrix_t *m = in_main_ram(handle);

    return orr_crc_u32(m->nx, m->ny);
}

static uint32_t alloc_footprint(starpu_data_handle_t handle)
{
    return orr_crc_size(in_main_ram(handle)->allocsize, 0);
}

static int compare(void *a, void *b)
{
    const matrix_t *m = a, *n = b;

    return m->nx == n->nx && m->ny == n->ny && m->elemsize == n->elemsize;
}

static int alloc_compare(void *a, void *b)
{
    const matrix_t *m = a, *n = b;

    return m->allocsize == n->allocsize;
}

static void display(starpu_data_handle_t handle, FILE *f)
{
    const matrix_t *m = in_main_ram(handle);

    fprintf(f, "%u\t%u\t", m->nx, m->ny);
}

static starpu_ssize_t describe(void *data_interface, char *buf, size_t size)
{
    const matrix_t *m = data_interface;

    return snprintf(buf, size, "matrix %ux%ux%zu", m->nx, m->ny, m->elemsize);
}

static struct orr_runs runs_on(starpu_data_handle_t handle, unsigned node)
{
    const matrix_t *m = on_node(handle, node);

    return (struct orr_runs){
        .base = (char *)m->ptr,
        .run = m->nx * m->elemsize,
        .n1 = m->ny,
        .ld1 = m->ld * m->elemsize,
        .n2 = 1,
    };
}

static int pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                starpu_ssize_t *count)
{
    struct orr_runs runs = runs_on(handle, node);

    return orr_runs_pack(&runs, node, ptr, count);
}

static int peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                size_t count)
{
    struct orr_runs runs = runs_on(handle, node);

    return orr_runs_peek(&runs, ptr, count);
}

static int unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                  size_t count)
{
    struct orr_runs runs = runs_on(handle, node);

    return orr_runs_unpack(&runs, node, ptr, count);
}

static int copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                void *async_data)
{
    const matrix_t *from = src, *to = dst;

    return starpu_interface_copy2d(
        from->dev_handle, from->offset, src_node, to->dev_handle, to->offset,
        dst_node, from->nx * from->elemsize, from->ny,
        from->ld * from->elemsize, to->ld * to->elemsize, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

static char name[] = "STARPU_MATRIX_INTERFACE";

struct starpu_data_interface_ops starpu_interface_matrix_ops = {
    .register_data_handle = register_handle,
    .allocate_data_on_node = allocate,
    .free_data_on_node = release,
    .copy_methods = &copy_methods,
    .handle_to_pointer = handle_to_pointer,
    .to_pointer = to_pointer,
    .get_size = get_size,
    .get_alloc_size = get_alloc_size,
    .footprint = footprint,
    .alloc_footprint = alloc_footprint,
    .compare = compare,
    .alloc_compare = alloc_compare,
    .display = display,
    .describe = describe,
    .interfaceid = STARPU_MATRIX_INTERFACE_ID,
    .interface_size = sizeof(struct starpu_matrix_interface),
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .name = name,
};

/* --- public calls --- */

void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t ld, uint32_t nx,
                                           uint32_t ny, size_t elemsize,
                                           size_t allocsize)
{
    struct starpu_matrix_interface m = {
        .id = STARPU_MATRIX_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .ny = ny,
        .ld = ld,
        .elemsize = elemsize,
        .allocsize = allocsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || ny <= 1 || ld >= nx,
                             "starpu_matrix_data_register: ld = %u is less "
                             "than nx = %u, columns would overlap",
                             ld, nx);
    starpu_data_register(handle, home_node, &m, &starpu_interface_matrix_ops);
}

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t ld, uint32_t nx,
                                 uint32_t ny, size_t elemsize)
{
    starpu_matrix_data_register_allocsize(handle, home_node, ptr, ld, nx, ny,
                                          elemsize, elemsize * nx * ny);
}

void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset, uint32_t ld)
{
    matrix_t *m = on_node(handle, node);

    starpu_data_ptr_register(handle, node);
    m->ptr = ptr;
    m->dev_handle = dev_handle;
    m->offset = offset;
    m->ld = ld;
}

uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->nx;
}

uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->ny;
}

size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->elemsize;
}

size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->allocsize;
}

uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ld;
}

uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ptr;
}

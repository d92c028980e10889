/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/block.c - three-dimensional data: nz planes of ny
 * columns of nx elements; the starts of columns and planes are ldy and ldz
 * elements apart.
 */
#include <starpu_data_interfaces.h>

#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/data/interfaces/common.h"

typedef struct starpu_block_interface block_t;

static block_t *on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static block_t *in_main_ram(starpu_data_handle_t handle)
{
    return on_node(handle, STARPU_MAIN_RAM);
}

static size_t bytes_of(const block_t *b)
{
    return (size_t)b->nx * b->ny * b->nz * b->elemsize;
}

/* Columns and planes follow each other without gaps. */
static void close_ranks(block_t *b)
{
    b->ldy = b->nx;
    b->ldz = b->nx * b->ny;
}

/* --- operations --- */

static void register_handle(starpu_data_handle_t handle, int home_node,
                            void *data_interface)
{
    const block_t *given = data_interface;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        block_t *b = on_node(handle, node);

        *b = *given;
        if ((int)node == home_node)
            continue;
        orr_place_set(ORR_PLACE_OF(b), 0);
        close_ranks(b);
    }
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    block_t *b = data_interface;
    starpu_ssize_t got = orr_place_allocate(ORR_PLACE_OF(b), node, bytes_of(b));

    if (got >= 0)
        close_ranks(b);
    return got;
}

static void release(void *data_interface, unsigned node)
{
    block_t *b = data_interface;

    orr_place_free(ORR_PLACE_OF(b), node, bytes_of(b));
}

static void *handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    return (void *)on_node(handle, node)->ptr;
}

static void *to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((block_t *)data_interface)->ptr;
}

static size_t get_size(starpu_data_handle_t handle)
{
    return bytes_of(in_main_ram(handle));
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    const block_t *b = in_main_ram(handle);

    return orr_crc_u32(b->nz, orr_crc_u32(b->ny, orr_crc_u32(b->nx, 0)));
}

static int compare(void *a, void *b)
{
    const block_t *x = a, *y = b;

    return x->nx == y->nx && x->ny == y->ny && x->nz == y->nz &&
           x->elemsize == y->elemsize;
}

static void display(starpu_data_handle_t handle, FILE *f)
{
    const block_t *b = in_main_ram(handle);

    fprintf(f, "%u\t%u\t%u\t", b->nx, b->ny, b->nz);
}

static starpu_ssize_t describe(void *data_interface, char *buf, size_t size)
{
    const block_t *b = data_interface;

    return snprintf(buf, size, "block %ux%ux%ux%zu", b->nx, b->ny, b->nz,
                    b->elemsize);
}

static struct orr_runs runs_on(starpu_data_handle_t handle, unsigned node)
{
    const block_t *b = on_node(handle, node);

    return (struct orr_runs){
        .base = (char *)b->ptr,
        .run = b->nx * b->elemsize,
        .n1 = b->ny,
        .ld1 = b->ldy * b->elemsize,
        .n2 = b->nz,
        .ld2 = b->ldz * b->elemsize,
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
    const block_t *from = src, *to = dst;

    return starpu_interface_copy3d(
        from->dev_handle, from->offset, src_node, to->dev_handle, to->offset,
        dst_node, from->nx * from->elemsize, from->ny,
        from->ldy * from->elemsize, to->ldy * to->elemsize, from->nz,
        from->ldz * from->elemsize, to->ldz * to->elemsize, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

static char name[] = "STARPU_BLOCK_INTERFACE";

struct starpu_data_interface_ops starpu_interface_block_ops = {
    .register_data_handle = register_handle,
    .allocate_data_on_node = allocate,
    .free_data_on_node = release,
    .copy_methods = &copy_methods,
    .handle_to_pointer = handle_to_pointer,
    .to_pointer = to_pointer,
    .get_size = get_size,
    .footprint = footprint,
    .compare = compare,
    .display = display,
    .describe = describe,
    .interfaceid = STARPU_BLOCK_INTERFACE_ID,
    .interface_size = sizeof(struct starpu_block_interface),
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .name = name,
};

/* --- public calls --- */

void starpu_block_data_register(starpu_data_handle_t *handle, int home_node,
                                uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                uint32_t nx, uint32_t ny, uint32_t nz,
                                size_t elemsize)
{
    struct starpu_block_interface b = {
        .id = STARPU_BLOCK_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .ny = ny,
        .nz = nz,
        .ldy = ldy,
        .ldz = ldz,
        .elemsize = elemsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || ny <= 1 || ldy >= nx,
                             "starpu_block_data_register: ldy = %u is less "
                             "than nx = %u, columns would overlap",
                             ldy, nx);
    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || nz <= 1 ||
                                 ldz / (ny ? ny : 1) >= ldy,
                             "starpu_block_data_register: ldz = %u is less "
                             "than ldy * ny = %u * %u, planes would overlap",
                             ldz, ldy, ny);
    starpu_data_register(handle, home_node, &b, &starpu_interface_block_ops);
}

void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node,
                               uintptr_t ptr, uintptr_t dev_handle,
                               size_t offset, uint32_t ldy, uint32_t ldz)
{
    block_t *b = on_node(handle, node);

    starpu_data_ptr_register(handle, node);
    b->ptr = ptr;
    b->dev_handle = dev_handle;
    b->offset = offset;
    b->ldy = ldy;
    b->ldz = ldz;
}

uint32_t starpu_block_get_nx(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->nx;
}

uint32_t starpu_block_get_ny(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->ny;
}

uint32_t starpu_block_get_nz(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->nz;
}

size_t starpu_block_get_elemsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->elemsize;
}

uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ldy;
}

uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ldz;
}

uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ptr;
}

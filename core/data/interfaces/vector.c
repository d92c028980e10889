/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/vector.c - nx elements in a row.
 */
#include <starpu_data_interfaces.h>

#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/data/interfaces/common.h"

typedef struct starpu_vector_interface vector_t;

static vector_t *on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static vector_t *in_main_ram(starpu_data_handle_t handle)
{
    return on_node(handle, STARPU_MAIN_RAM);
}

static size_t bytes_of(const vector_t *v)
{
    return (size_t)v->nx * v->elemsize;
}

/* --- operations --- */

static void register_handle(starpu_data_handle_t handle, int home_node,
                            void *data_interface)
{
    const vector_t *given = data_interface;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        vector_t *v = on_node(handle, node);

        *v = *given;
        if ((int)node != home_node)
            orr_place_set(ORR_PLACE_OF(v), 0);
    }
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    vector_t *v = data_interface;

    return orr_place_allocate(ORR_PLACE_OF(v), node, v->allocsize);
}

static void release(void *data_interface, unsigned node)
{
    vector_t *v = data_interface;

    orr_place_free(ORR_PLACE_OF(v), node, v->allocsize);
}

static void *handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    return (void *)on_node(handle, node)->ptr;
}

static void *to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((vector_t *)data_interface)->ptr;
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
    return orr_crc_u32(in_main_ram(handle)->nx, 0);
}

static uint32_t alloc_footprint(starpu_data_handle_t handle)
{
    return orr_crc_size(in_main_ram(handle)->allocsize, 0);
}

static int compare(void *a, void *b)
{
    const vector_t *v = a, *n = b;

    return v->nx == n->nx && v->elemsize == n->elemsize;
}

static int alloc_compare(void *a, void *b)
{
    const vector_t *v = a, *n = b;

    return v->allocsize == n->allocsize;
}

static void display(starpu_data_handle_t handle, FILE *f)
{
    fprintf(f, "%u\t", in_main_ram(handle)->nx);
}

static starpu_ssize_t describe(void *data_interface, char *buf, size_t size)
{
    const vector_t *v = data_interface;

    return snprintf(buf, size, "vector %ux%zu", v->nx, v->elemsize);
}

static struct orr_runs runs_on(starpu_data_handle_t handle, unsigned node)
{
    const vector_t *v = on_node(handle, node);

    return (struct orr_runs){
        .base = (char *)v->ptr,
        .run = bytes_of(v),
        .n1 = 1,
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
    const vector_t *from = src, *to = dst;

    return starpu_interface_copy(from->dev_handle, from->offset, src_node,
                                 to->dev_handle, to->offset, dst_node,
                                 bytes_of(from), async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

static char name[] = "STARPU_VECTOR_INTERFACE";

struct starpu_data_interface_ops starpu_interface_vector_ops = {
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
    .interfaceid = STARPU_VECTOR_INTERFACE_ID,
    .interface_size = sizeof(struct starpu_vector_interface),
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .name = name,
};

/* --- public calls --- */

void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t nx, size_t elemsize,
                                           size_t allocsize)
{
    struct starpu_vector_interface v = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .elemsize = elemsize,
        .allocsize = allocsize,
    };

    starpu_data_register(handle, home_node, &v, &starpu_interface_vector_ops);
}

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t nx, size_t elemsize)
{
    starpu_vector_data_register_allocsize(handle, home_node, ptr, nx, elemsize,
                                          elemsize * nx);
}

void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset)
{
    vector_t *v = on_node(handle, node);

    starpu_data_ptr_register(handle, node);
    v->ptr = ptr;
    v->dev_handle = dev_handle;
    v->offset = offset;
}

uint32_t starpu_vector_get_nx(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->nx;
}

size_t starpu_vector_get_elemsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->elemsize;
}

size_t starpu_vector_get_allocsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->allocsize;
}

uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ptr;
}

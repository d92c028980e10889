/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/interfaces/variable.c - some bytes, the size of which is all
 * that is known about them.
 */
#include <starpu_data_interfaces.h>

#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/data/interfaces/common.h"

typedef struct starpu_variable_interface variable_t;

static variable_t *on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static variable_t *in_main_ram(starpu_data_handle_t handle)
{
    return on_node(handle, STARPU_MAIN_RAM);
}

/* --- operations --- */

static void register_handle(starpu_data_handle_t handle, int home_node,
                            void *data_interface)
{
    const variable_t *given = data_interface;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        variable_t *v = on_node(handle, node);

        *v = *given;
        if ((int)node != home_node)
            orr_place_set(ORR_PLACE_OF(v), 0);
    }
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    variable_t *v = data_interface;

    return orr_place_allocate(ORR_PLACE_OF(v), node, v->elemsize);
}

static void release(void *data_interface, unsigned node)
{
    variable_t *v = data_interface;

    orr_place_free(ORR_PLACE_OF(v), node, v->elemsize);
}

static void *handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
    return (void *)on_node(handle, node)->ptr;
}

static void *to_pointer(void *data_interface, unsigned node)
{
    (void)node;
    return (void *)((variable_t *)data_interface)->ptr;
}

static size_t get_size(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->elemsize;
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    return orr_crc_u32((uint32_t)in_main_ram(handle)->elemsize, 0);
}

static int compare(void *a, void *b)
{
    const variable_t *v = a, *n = b;

    return v->elemsize == n->elemsize;
}

static void display(starpu_data_handle_t handle, FILE *f)
{
    fprintf(f, "%zu\t", in_main_ram(handle)->elemsize);
}

static starpu_ssize_t describe(void *data_interface, char *buf, size_t size)
{
    const variable_t *v = data_interface;

    return snprintf(buf, size, "variable %zu", v->elemsize);
}

static struct orr_runs runs_on(starpu_data_handle_t handle, unsigned node)
{
    const variable_t *v = on_node(handle, node);

    return (struct orr_runs){
        .base = (char *)v->ptr,
        .run = v->elemsize,
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
    const variable_t *from = src, *to = dst;

    return starpu_interface_copy(from->dev_handle, from->offset, src_node,
                                 to->dev_handle, to->offset, dst_node,
                                 from->elemsize, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

static char name[] = "STARPU_VARIABLE_INTERFACE";

struct starpu_data_interface_ops starpu_interface_variable_ops = {
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
    .interfaceid = STARPU_VARIABLE_INTERFACE_ID,
    .interface_size = sizeof(struct starpu_variable_interface),
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .name = name,
};

/* --- public calls --- */

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
                                   uintptr_t ptr, size_t size)
{
    struct starpu_variable_interface v = {
        .id = STARPU_VARIABLE_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .elemsize = size,
    };

    starpu_data_register(handle, home_node, &v, &starpu_interface_variable_ops);
}

void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node,
                                  uintptr_t ptr, uintptr_t dev_handle,
                                  size_t offset)
{
    variable_t *v = on_node(handle, node);

    starpu_data_ptr_register(handle, node);
    v->ptr = ptr;
    v->dev_handle = dev_handle;
    v->offset = offset;
}

size_t starpu_variable_get_elemsize(starpu_data_handle_t handle)
{
    return in_main_ram(handle)->elemsize;
}

uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle)
{
    return on_node(handle, orr_local_node(handle))->ptr;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/void.c - no data at all: a handle that only orders
 * tasks.
 */
#include "core/layouts/nodes.h"

/* The structure has only the interface's number; each node has one, as for every kind. */
struct void_interface {
    enum starpu_data_interface_id id;
};

static void void_register_handle(starpu_data_handle_t handle, int home_node,
                                 void *data_interface)
{
    (void)handle;
    (void)home_node;
    (void)data_interface;
}

static starpu_ssize_t void_allocate(void *data_interface, unsigned node)
{
    (void)data_interface;
    (void)node;
    return 0;
}

static void void_free(void *data_interface, unsigned node)
{
    (void)data_interface;
    (void)node;
}

static size_t void_get_size(starpu_data_handle_t handle)
{
    (void)handle;
    return 0;
}

static uint32_t void_footprint(starpu_data_handle_t handle)
{
    (void)handle;
    return 0;
}

static int void_compare(void *a, void *b)
{
    (void)a;
    (void)b;
    return 1;
}

static void void_display(starpu_data_handle_t handle, FILE *f)
{
    (void)handle;
    fprintf(f, "void\t");
}

static starpu_ssize_t void_describe(void *data_interface, char *buf,
                                    size_t size)
{
    (void)data_interface;
    return snprintf(buf, size, "0");
}

static int void_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                     starpu_ssize_t *count)
{
    (void)handle;
    (void)node;
    if (ptr)
        *ptr = NULL;
    *count = 0;
    return 0;
}

static int void_unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                       size_t count)
{
    (void)handle;
    (void)node;
    (void)ptr;
    (void)count;
    return 0;
}

static int void_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                     void *async_data)
{
    (void)src;
    (void)src_node;
    (void)dst;
    (void)dst_node;
    (void)async_data;
    return 0;
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = void_copy,
};

static char name[] = "STARPU_VOID_INTERFACE";

struct starpu_data_interface_ops starpu_interface_void_ops = {
    .register_data_handle = void_register_handle,
    .allocate_data_on_node = void_allocate,
    .free_data_on_node = void_free,
    .copy_methods = &copy_methods,
    .get_size = void_get_size,
    .footprint = void_footprint,
    .compare = void_compare,
    .display = void_display,
    .describe = void_describe,
    .interfaceid = STARPU_VOID_INTERFACE_ID,
    .interface_size = sizeof(struct void_interface),
    .pack_data = void_pack,
    .peek_data = void_unpack,
    .unpack_data = void_unpack,
    .name = name,
};

void starpu_void_data_register(starpu_data_handle_t *handle)
{
    struct void_interface nothing = {.id = STARPU_VOID_INTERFACE_ID};

    orr_interface_register(__func__, handle, 0, &nothing,
                           &starpu_interface_void_ops);
}

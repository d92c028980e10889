/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/recorded.c - the interface of data of which a record knows the size and
 * the footprint only: so many bytes in one piece.
 */
#include <errno.h>

#include "replay/player.h"

static struct recorded *recorded_on_node(starpu_data_handle_t handle,
                                         unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

static void recorded_register_handle(starpu_data_handle_t handle, int home,
                                     void *interface)
{
    const struct recorded *given = interface;

    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
        struct recorded *own = recorded_on_node(handle, node);

        *own = *given;
        if ((int)node != home)
            own->ptr = own->dev_handle = own->offset = 0;
    }
}

static size_t recorded_get_size(starpu_data_handle_t handle)
{
    return recorded_on_node(handle, STARPU_MAIN_RAM)->size;
}

static uint32_t recorded_footprint(starpu_data_handle_t handle)
{
    return recorded_on_node(handle, STARPU_MAIN_RAM)->footprint;
}

static int recorded_compare(void *a, void *b)
{
    const struct recorded *one = a, *other = b;

    return one->size == other->size && one->footprint == other->footprint;
}

static starpu_ssize_t recorded_allocate(void *interface, unsigned node)
{
    struct recorded *own = interface;
    uintptr_t address = starpu_malloc_on_node(node, own->size);

    if (!address)
        return -ENOMEM;
    own->ptr = own->dev_handle = address;
    own->offset = 0;
    return (starpu_ssize_t)own->size;
}

static void recorded_free(void *interface, unsigned node)
{
    struct recorded *own = interface;

    starpu_free_on_node(node, own->dev_handle, own->size);
    own->ptr = own->dev_handle = 0;
}

static void *recorded_to_pointer(void *interface, unsigned node)
{
    (void)node;
    return (void *)((struct recorded *)interface)->ptr;
}

static int recorded_copy(void *src, unsigned src_node, void *dst,
                         unsigned dst_node, void *async)
{
    const struct recorded *from = src, *to = dst;

    return starpu_interface_copy(from->dev_handle, from->offset, src_node,
                                 to->dev_handle, to->offset, dst_node,
                                 from->size, async);
}

/* Messages have their size; what is in them is nothing. */
static int recorded_pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                         starpu_ssize_t *count)
{
    *count = (starpu_ssize_t)recorded_get_size(handle);
    if (!ptr)
        return 0;
    *ptr = (void *)starpu_malloc_on_node_flags(node, (size_t)*count, 0);
    return *ptr || !*count ? 0 : -ENOMEM;
}

static int recorded_peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                         size_t count)
{
    (void)handle;
    (void)node;
    (void)ptr;
    (void)count;
    return 0;
}

static const struct starpu_data_copy_methods copies = {.any_to_any =
                                                           recorded_copy};

struct starpu_data_interface_ops recorded_ops = {
    .register_data_handle = recorded_register_handle,
    .allocate_data_on_node = recorded_allocate,
    .free_data_on_node = recorded_free,
    .copy_methods = &copies,
    .to_pointer = recorded_to_pointer,
    .get_size = recorded_get_size,
    .footprint = recorded_footprint,
    .compare = recorded_compare,
    .pack_data = recorded_pack,
    .peek_data = recorded_peek,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct recorded),
    .name = (char[]){"recorded"},
};

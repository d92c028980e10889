/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/own.h - an interface as applications make them: words in two
 * arrays, of which the methods of the library know nothing; a part of printed
 * programs.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

struct own_interface {
    enum starpu_data_interface_id id;
    uint32_t n;        /* words */
    uint64_t *half[2]; /* the first n / 2, the others */
};

static struct starpu_data_interface_ops own_ops;

static inline size_t own_bytes(const struct own_interface *own, int which)
{
    return (which ? own->n - own->n / 2 : own->n / 2) * sizeof(uint64_t);
}

static inline struct own_interface *own_on(starpu_data_handle_t handle,
                                           unsigned node)
{
    return (struct own_interface *)starpu_data_get_interface_on_node(handle,
                                                                     node);
}

static inline void own_register(starpu_data_handle_t handle, int home_node,
                                void *interface)
{
    const struct own_interface *given = (const struct own_interface *)interface;

    for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
        struct own_interface *own = own_on(handle, node);

        *own = *given;
        own->id = own_ops.interfaceid;
        if ((int)node != home_node)
            own->half[0] = own->half[1] = NULL;
    }
}

static inline void own_free(void *interface, unsigned node)
{
    struct own_interface *own = (struct own_interface *)interface;

    for (int k = 0; k < 2; k++) {
        if (own->half[k])
            starpu_free_on_node(node, (uintptr_t)own->half[k],
                                own_bytes(own, k));
        own->half[k] = NULL;
    }
}

static inline starpu_ssize_t own_allocate(void *interface, unsigned node)
{
    struct own_interface *own = (struct own_interface *)interface;
    starpu_ssize_t sum = 0;

    own->half[0] = own->half[1] = NULL;
    for (int k = 0; k < 2; k++) {
        if (!own_bytes(own, k))
            continue;
        own->half[k] =
            (uint64_t *)starpu_malloc_on_node(node, own_bytes(own, k));
        if (!own->half[k]) {
            own_free(own, node);
            return -ENOMEM;
        }
        sum += (starpu_ssize_t)own_bytes(own, k);
    }
    return sum;
}

static inline int own_copy(void *src, unsigned src_node, void *dst,
                           unsigned dst_node, void *async_data)
{
    const struct own_interface *from = (const struct own_interface *)src;
    const struct own_interface *to = (const struct own_interface *)dst;
    int rc = 0;

    for (int k = 0; k < 2; k++)
        if (own_bytes(from, k) &&
            starpu_interface_copy((uintptr_t)from->half[k], 0, src_node,
                                  (uintptr_t)to->half[k], 0, dst_node,
                                  own_bytes(from, k), async_data) == -EAGAIN)
            rc = -EAGAIN;
    return rc;
}

static inline size_t own_get_size(starpu_data_handle_t handle)
{
    return own_on(handle, 0)->n * sizeof(uint64_t);
}

static inline uint32_t own_footprint(starpu_data_handle_t handle)
{
    return own_on(handle, 0)->n;
}

static inline int own_compare(void *a, void *b)
{
    return ((struct own_interface *)a)->n == ((struct own_interface *)b)->n;
}

static const struct starpu_data_copy_methods own_copy_methods = {
    .any_to_any = own_copy,
};

static struct starpu_data_interface_ops own_ops = {
    .register_data_handle = own_register,
    .allocate_data_on_node = own_allocate,
    .free_data_on_node = own_free,
    .copy_methods = &own_copy_methods,
    .get_size = own_get_size,
    .footprint = own_footprint,
    .compare = own_compare,
    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
    .interface_size = sizeof(struct own_interface),
    .name = (char[]){"own"},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/ndim.c - data of any number of dimensions. The lengths
 * nn and the leading dimensions ldn are arrays of the structure's own on each
 * node, made at registration, or by a filter, and freed with the handle.
 */
#include <starpu_util.h>

#include "core/layouts/kinds.h"

typedef struct starpu_ndim_interface dense_t;

static const struct orr_dense_kind kind = ORR_NDIM_KIND;

#include "core/layouts/dense_ops.h"

static void ndim_unregister_handle(starpu_data_handle_t handle)
{
    for (unsigned node = 0; node < orr_interface_nodes(handle); node++)
        orr_dense_disown(&kind, dense_on_node(handle, node));
}

struct starpu_data_interface_ops starpu_interface_ndim_ops = {
    DENSE_OPS,
    DENSE_ALLOCSIZE_OPS,
    .unregister_data_handle = ndim_unregister_handle,
    .footprint = footprint_of_size,
    .interfaceid = STARPU_NDIM_INTERFACE_ID,
    .name = (char[]){"STARPU_NDIM_INTERFACE"},
};

/* --- public calls --- */

/* Elements of one length overlap those of the next unless a leading dimension
 * has room for the dimension before it. */
static void expect_apart(const struct starpu_ndim_interface *d)
{
    for (size_t i = 1; i < d->ndim; i++) {
        uint32_t inner = d->nn[i - 1];

        STARPU_ASSERT_MSG_ALWAYS(
            d->nn[i] <= 1 || inner <= 1 || d->ldn[i] / inner >= d->ldn[i - 1],
            "starpu_ndim_data_register: ldn[%zu] = %u is less than ldn[%zu] * "
            "nn[%zu] = %u * %u, elements would overlap",
            i, d->ldn[i], i - 1, i - 1, d->ldn[i - 1], inner);
    }
}

void starpu_ndim_data_register(starpu_data_handle_t *handle, int home_node,
                               uintptr_t ptr, uint32_t *ldn, uint32_t *nn,
                               size_t ndim, size_t elemsize)
{
    struct starpu_ndim_interface d = {
        .id = STARPU_NDIM_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .allocsize = elemsize,
        .nn = nn,
        .ldn = ldn,
        .ndim = ndim,
        .elemsize = elemsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(!ndim || (nn && (ldn || home_node < 0)),
                             "starpu_ndim_data_register: %s is NULL, give it "
                             "%zu values",
                             nn ? "ldn" : "nn", ndim);
    for (size_t i = 0; i < ndim; i++)
        d.allocsize *= nn[i];
    if (home_node >= 0)
        expect_apart(&d);
    orr_interface_register(__func__, handle, home_node, &d,
                           &starpu_interface_ndim_ops);
}

void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node,
                              uintptr_t ptr, uintptr_t dev_handle,
                              size_t offset, uint32_t *ldn)
{
    dense_t *d =
        dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset);

    for (size_t i = 0; i < d->ndim; i++)
        d->ldn[i] = ldn[i];
}

uint32_t *starpu_ndim_get_nn(starpu_data_handle_t handle)
{
    return ASKED(handle)->nn;
}

uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i)
{
    const dense_t *d = ASKED(handle);

    STARPU_ASSERT_MSG_ALWAYS(i < d->ndim,
                             "starpu_ndim_get_ni: there is no dimension %zu, "
                             "the data have %zu",
                             i, d->ndim);
    return d->nn[i];
}

uint32_t *starpu_ndim_get_local_ldn(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldn;
}

uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i)
{
    const dense_t *d = ASKED_LOCAL(handle);

    STARPU_ASSERT_MSG_ALWAYS(i < d->ndim,
                             "starpu_ndim_get_local_ldi: there is no dimension "
                             "%zu, the data have %zu",
                             i, d->ndim);
    return d->ldn[i];
}

uintptr_t starpu_ndim_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

size_t starpu_ndim_get_ndim(starpu_data_handle_t handle)
{
    return ASKED(handle)->ndim;
}

size_t starpu_ndim_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

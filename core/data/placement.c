/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/placement.c - see placement.h. Filters are functions that may be
 * gone, with their arguments, when a whole gets memory on another node. What they
 * do with dense data is told from one call: the leading dimensions of the copy
 * that they are shown are all different, so the address of the part says at which
 * index of each dimension it begins, and its own leading dimensions along which
 * dimensions it runs.
 */
#include "core/data/placement.h"

#include <stdlib.h>
#include <string.h>

#include "core/data/interfaces/kinds.h"

/* The fields with which the structures of all dense kinds begin. */
typedef struct starpu_variable_interface place_t;

/* Nothing is there: filters only count from it. */
#define ADDRESS ((uintptr_t)1 << 40)

static const struct orr_dense_kind *kind_of(const struct orr_handle *handle)
{
    static const struct orr_dense_kind variable = ORR_VARIABLE_KIND,
                                       vector = ORR_VECTOR_KIND,
                                       matrix = ORR_MATRIX_KIND,
                                       block = ORR_BLOCK_KIND,
                                       tensor = ORR_TENSOR_KIND;

    if (handle->ops == &starpu_interface_variable_ops)
        return &variable;
    if (handle->ops == &starpu_interface_vector_ops)
        return &vector;
    if (handle->ops == &starpu_interface_matrix_ops)
        return &matrix;
    if (handle->ops == &starpu_interface_block_ops)
        return &block;
    return handle->ops == &starpu_interface_tensor_ops ? &tensor : NULL;
}

/* Shows the copy at that address, with a gap after each dimension. False if its
 * leading dimensions would be too large. */
static bool spread(const struct orr_dense_kind *kind, void *interface)
{
    place_t *place = interface;
    struct orr_dense dense = orr_dense_look(kind, interface);
    uint32_t *ld = dense.ndim > 1 ? orr_dense_ld(kind, interface) : NULL;
    uint64_t step = 1;

    place->ptr = place->dev_handle = ADDRESS;
    place->offset = 0;
    for (size_t k = 1; k < dense.ndim; k++) {
        step = step * dense.nn[k - 1] + 1;
        if (step > UINT32_MAX)
            return false;
        ld[k] = (uint32_t)step;
    }
    return true;
}

static size_t step_along(const struct orr_dense *dense, size_t k)
{
    return k ? dense->ld[k] : 1;
}

/* Splits elements from the start into an index along each dimension. */
static bool find_start(const struct orr_dense *whole, size_t elements,
                       struct orr_placement *ret)
{
    for (size_t k = whole->ndim; k-- > 0;) {
        size_t step = step_along(whole, k), index = elements / step;

        if (index >= whole->nn[k])
            return false;
        ret->start[k] = (uint32_t)index;
        elements -= index * step;
    }
    return elements == 0;
}

/* Finds the dimensions of the whole along which the part runs, inside it. */
static bool find_axes(const struct orr_dense *whole,
                      const struct orr_dense *part, struct orr_placement *ret)
{
    for (size_t k = 0; k < part->ndim; k++) {
        size_t axis = 0;

        while (axis < whole->ndim &&
               step_along(whole, axis) != step_along(part, k))
            axis++;
        if (axis == whole->ndim ||
            (uint64_t)ret->start[axis] + part->nn[k] > whole->nn[axis])
            return false;
        ret->axis[k] = (uint8_t)axis;
    }
    return true;
}

static bool read_placement(const struct orr_dense_kind *of_whole,
                           const void *whole,
                           const struct orr_dense_kind *of_part,
                           const void *part, struct orr_placement *ret)
{
    struct orr_dense outer = orr_dense_look(of_whole, whole);
    struct orr_dense inner = orr_dense_look(of_part, part);
    const place_t *place = part;
    size_t bytes = place->ptr - ADDRESS;

    return place->ptr >= ADDRESS && inner.elemsize == outer.elemsize &&
           outer.elemsize && bytes % outer.elemsize == 0 &&
           find_start(&outer, bytes / outer.elemsize, ret) &&
           find_axes(&outer, &inner, ret);
}

void orr_placement_find(const struct orr_handle *whole,
                        const struct orr_handle *part,
                        struct starpu_data_filter *filter, unsigned index,
                        unsigned n, struct orr_placement *ret)
{
    const struct orr_dense_kind *outer = kind_of(whole), *inner = kind_of(part);
    void *shown, *cut;

    memset(ret, 0, sizeof(*ret));
    if (!outer || !inner)
        return;
    shown = malloc(whole->ops->interface_size);
    cut = calloc(1, part->ops->interface_size);
    if (shown && cut) {
        memcpy(shown, whole->replicates[0].interface,
               whole->ops->interface_size);
        if (spread(outer, shown)) {
            filter->filter_func(shown, cut, filter, index, n);
            ret->known = read_placement(outer, shown, inner, cut, ret);
        }
    }
    free(shown);
    free(cut);
}

void orr_placement_apply(const struct orr_placement *placement,
                         const struct orr_handle *whole,
                         struct orr_handle *part, unsigned node)
{
    void *from = whole->replicates[node].interface;
    void *to = part->replicates[node].interface;
    struct orr_dense outer = orr_dense_look(kind_of(whole), from);
    struct orr_dense inner = orr_dense_look(kind_of(part), to);
    uint32_t *ld = inner.ndim > 1 ? orr_dense_ld(kind_of(part), to) : NULL;
    const place_t *base = from;
    place_t *place = to;
    size_t bytes = 0;

    for (size_t k = 0; k < outer.ndim; k++)
        bytes += placement->start[k] * step_along(&outer, k) * outer.elemsize;
    place->ptr = base->ptr ? base->ptr + bytes : 0;
    place->dev_handle = base->dev_handle;
    place->offset = base->offset + bytes;
    for (size_t k = 1; k < inner.ndim; k++)
        ld[k] = outer.ld[placement->axis[k]];
}

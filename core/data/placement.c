/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/placement.c - see placement.h. Filters are functions that may be
 * gone, with their arguments, when a whole gets memory on another node. What they
 * do with dense data is told from one call: the leading dimensions of the copy
 * that they are shown are all different, so the address of the part says at which
 * index of each dimension it begins, and its own leading dimensions along which
 * dimensions it runs. Parts of a sparse matrix by rows point into its arrays;
 * how far, is the same for each copy.
 */
#include "core/data/placement.h"

#include <stdlib.h>
#include <string.h>

#include "core/data/relocation.h"
#include "core/layouts/kinds.h"

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
                                       tensor = ORR_TENSOR_KIND,
                                       ndim = ORR_NDIM_KIND;

    if (handle->ops == &starpu_interface_variable_ops)
        return &variable;
    if (handle->ops == &starpu_interface_vector_ops)
        return &vector;
    if (handle->ops == &starpu_interface_matrix_ops)
        return &matrix;
    if (handle->ops == &starpu_interface_block_ops)
        return &block;
    if (handle->ops == &starpu_interface_tensor_ops)
        return &tensor;
    return handle->ops == &starpu_interface_ndim_ops ? &ndim : NULL;
}

/* Shows the copy at that address, with a gap after each dimension. False if its
 * leading dimensions would be too large. */
static bool spread(const struct orr_dense_kind *kind, void *interface)
{
    place_t *place = interface;
    struct orr_dense dense = orr_dense_look(kind, interface);
    uint32_t *ld = dense.ndim > 1 ? orr_dense_ld(kind, interface) : NULL;
    uint64_t step = 1;

    if (dense.ndim > ORR_PLACEMENT_DIMS)
        return false;
    if (kind->rank && dense.ndim)
        orr_dense_ld(kind, interface)[0] = 1;
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

/* Splits elements from the start into an index along each dimension. */
static bool find_start(const struct orr_dense *whole, size_t elements,
                       struct orr_placement *ret)
{
    for (size_t k = whole->ndim; k-- > 0;) {
        size_t step = orr_dense_step(whole, k), index = elements / step;

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
               orr_dense_step(whole, axis) != orr_dense_step(part, k))
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

/* Both structures are the caller's, to be written. */
static bool show(const struct orr_dense_kind *outer, void *shown,
                 const struct orr_dense_kind *inner, void *cut,
                 struct starpu_data_filter *filter, unsigned index, unsigned n,
                 struct orr_placement *ret)
{
    bool known;

    if (!spread(outer, shown))
        return false;
    filter->filter_func(shown, cut, filter, index, n);
    known = read_placement(outer, shown, inner, cut, ret);
    if (inner->rank)
        orr_dense_disown(inner, cut);
    return known;
}

static void find_dense(const struct orr_handle *whole,
                       const struct orr_handle *part,
                       struct starpu_data_filter *filter, unsigned index,
                       unsigned n, struct orr_placement *ret)
{
    const struct orr_dense_kind *outer = kind_of(whole), *inner = kind_of(part);
    void *shown = malloc(whole->ops->interface_size);
    void *cut = calloc(1, part->ops->interface_size);

    if (shown && cut) {
        memcpy(shown, whole->replicates[0].interface,
               whole->ops->interface_size);
        if (outer->rank)
            orr_dense_own(outer, shown, false);
        if (show(outer, shown, inner, cut, filter, index, n, ret))
            ret->kind = ORR_PLACE_DENSE;
        if (outer->rank)
            orr_dense_disown(outer, shown);
    }
    free(shown);
    free(cut);
}

/* The structure `to` is one of the part. */
static void apply_dense(const struct orr_placement *placement,
                        const struct orr_handle *whole,
                        const struct orr_handle *part, unsigned node, void *to)
{
    const struct orr_dense_kind *kind = kind_of(part);
    void *from = whole->replicates[node].interface;
    struct orr_dense outer = orr_dense_look(kind_of(whole), from);
    struct orr_dense inner = orr_dense_look(kind, to);
    uint32_t *ld = inner.ndim ? orr_dense_ld(kind, to) : NULL;
    const place_t *base = from;
    place_t *place = to;
    size_t bytes = 0;

    for (size_t k = 0; k < outer.ndim; k++)
        bytes +=
            placement->start[k] * orr_dense_step(&outer, k) * outer.elemsize;
    place->ptr = base->ptr ? base->ptr + bytes : 0;
    place->dev_handle = base->dev_handle;
    place->offset = base->offset + bytes;
    for (size_t k = kind->rank ? 0 : 1; k < inner.ndim; k++)
        ld[k] = (uint32_t)orr_dense_step(&outer, placement->axis[k]);
}

/* --- sparse matrices by rows --- */

/* The fields that both kinds have, at the same places. */
typedef struct starpu_csr_interface rows_t;

#define SAME_PLACE(field)                                                      \
    static_assert(offsetof(struct starpu_csr_interface, field) ==              \
                      offsetof(struct starpu_bcsr_interface, field),           \
                  #field)

SAME_PLACE(nzval);
SAME_PLACE(colind);
SAME_PLACE(rowptr);

static bool is_by_rows(const struct orr_handle *handle)
{
    return handle->ops == &starpu_interface_csr_ops ||
           handle->ops == &starpu_interface_bcsr_ops;
}

static const rows_t *rows_on(const struct orr_handle *handle, unsigned node)
{
    return handle->replicates[node].interface;
}

static void find_rows(const struct orr_handle *whole,
                      const struct orr_handle *part, struct orr_placement *ret)
{
    const rows_t *outer = rows_on(whole, orr_handle_base(whole));
    const rows_t *inner = rows_on(part, orr_handle_base(whole));

    if (!outer->nzval || !outer->colind || !outer->rowptr)
        return;
    ret->kind = ORR_PLACE_ROWS;
    ret->values = inner->nzval - outer->nzval;
    ret->columns = (uintptr_t)inner->colind - (uintptr_t)outer->colind;
    ret->rows = (uintptr_t)inner->rowptr - (uintptr_t)outer->rowptr;
}

static void apply_rows(const struct orr_placement *placement,
                       const struct orr_handle *whole, unsigned node,
                       void *interface)
{
    const rows_t *from = rows_on(whole, node);
    rows_t *to = interface;

    to->nzval = from->nzval + placement->values;
    to->colind =
        (uint32_t *)((uintptr_t)from->colind + placement->columns);
    to->rowptr = (uint32_t *)((uintptr_t)from->rowptr + placement->rows);
}

/* --- of any kind --- */

bool orr_placement_lacks_offset(const struct orr_handle *whole)
{
    switch (whole->ops->interfaceid) {
    case STARPU_CSR_INTERFACE_ID:
    case STARPU_BCSR_INTERFACE_ID:
    case STARPU_COO_INTERFACE_ID:
        return true;
    default:
        return false;
    }
}

void orr_placement_find(const struct orr_handle *whole,
                        const struct orr_handle *part,
                        struct starpu_data_filter *filter, unsigned index,
                        unsigned n, struct orr_placement *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (kind_of(whole) && kind_of(part))
        find_dense(whole, part, filter, index, n, ret);
    else if (is_by_rows(whole) && part->ops == whole->ops)
        find_rows(whole, part, ret);
}

static void placement_apply(const struct orr_placement *placement,
                            const struct orr_handle *whole,
                            const struct orr_handle *part, unsigned node,
                            void *to)
{
    if (placement->kind == ORR_PLACE_DENSE)
        apply_dense(placement, whole, part, node, to);
    else if (placement->kind == ORR_PLACE_RELOCATED)
        orr_relocation_apply(placement->relocation,
                             whole->replicates[node].interface, to);
    else
        apply_rows(placement, whole, node, to);
}

void orr_placement_apply(const struct orr_placement *placement,
                         const struct orr_handle *whole,
                         struct orr_handle *part, unsigned node)
{
    placement_apply(placement, whole, part, node,
                    part->replicates[node].interface);
}

/* The kind whose structures have lengths elsewhere, or NULL. */
static const struct orr_dense_kind *ranked(const struct orr_handle *handle)
{
    const struct orr_dense_kind *kind = kind_of(handle);

    return kind && kind->rank ? kind : NULL;
}

void *orr_placement_show(const struct orr_placement *placement,
                         const struct orr_handle *whole,
                         const struct orr_handle *part, unsigned node)
{
    void *shown = malloc(part->ops->interface_size);

    if (!shown)
        return NULL;
    memcpy(shown, part->replicates[node].interface, part->ops->interface_size);
    if (ranked(part))
        orr_dense_own(ranked(part), shown, false);
    placement_apply(placement, whole, part, node, shown);
    return shown;
}

void orr_placement_shown(const struct orr_handle *part, void *interface)
{
    if (ranked(part))
        orr_dense_disown(ranked(part), interface);
    free(interface);
}

/* Neighbours among parts by rows share an entry, where one's last row ends and
 * the other's first begins. */
static size_t bytes_alone(const struct orr_handle *handle)
{
    return is_by_rows(handle) ? handle->size - sizeof(uint32_t) : handle->size;
}

bool orr_placement_covers(const struct orr_handle *whole,
                          struct orr_handle *const *parts, unsigned n)
{
    size_t size = 0;

    for (unsigned i = 0; i < n; i++)
        size += bytes_alone(parts[i]);
    return size == bytes_alone(whole);
}

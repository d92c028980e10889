/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/layout.c - see layout.h. */
#include "replay/layout.h"

#include <string.h>

#include "core/layouts/kinds.h"

/* The interface that a record calls so; NULL: there is none. */
static struct starpu_data_interface_ops *find_interface_ops(const char *kind)
{
    static struct starpu_data_interface_ops *const all[] = {
        &starpu_interface_void_ops,   &starpu_interface_variable_ops,
        &starpu_interface_vector_ops, &starpu_interface_matrix_ops,
        &starpu_interface_block_ops,  &starpu_interface_tensor_ops,
        &starpu_interface_ndim_ops,   &starpu_interface_csr_ops,
        &starpu_interface_bcsr_ops,   &starpu_interface_coo_ops,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(orr_shape_kind(all[i]->interfaceid), kind))
            return all[i];
    return NULL;
}

void player_lay_out(const struct player *player, const struct orr_call *call,
                    struct laid_out *ret)
{
    const char *wrong;

    memset(ret, 0, sizeof(*ret));
    if (!call->kind)
        player_fail(player, "data without a kind");
    if (!strcmp(call->kind, "other")) {
        ret->ops = &recorded_ops;
        starpu_data_register_ops(&recorded_ops);
        ret->recorded.id = recorded_ops.interfaceid;
        ret->recorded.size = call->size;
        ret->recorded.footprint = (uint32_t)call->footprint;
        return;
    }
    ret->ops = find_interface_ops(call->kind);
    if (!ret->ops)
        player_fail(player, "data of the kind \"%s\", which there is not",
                    call->kind);
    wrong = orr_shape_write(ret->ops->interfaceid, call->shape.at,
                            call->shape.n, &ret->layout, ret->nn, ret->ldn);
    if (wrong)
        player_fail(player, "%s of a %s", wrong, call->kind);
}

/* The longest of the arrays of values and indices: they may lie in one place. */
static size_t reach_of_sparse(const struct laid_out *laid)
{
    const union orr_layout *all = &laid->layout;
    size_t index = sizeof(uint32_t);

    switch (laid->ops->interfaceid) {
    case STARPU_CSR_INTERFACE_ID:
        return all->csr.nnz * (all->csr.elemsize + index) +
               ((size_t)all->csr.nrow + 1) * index;
    case STARPU_BCSR_INTERFACE_ID:
        return (size_t)all->bcsr.nnz *
                   ((size_t)all->bcsr.r * all->bcsr.c * all->bcsr.elemsize +
                    index) +
               ((size_t)all->bcsr.nrow + 1) * index;
    case STARPU_COO_INTERFACE_ID:
        return all->coo.n_values * (all->coo.elemsize + index);
    default:
        return laid->ops == &recorded_ops ? laid->recorded.size : 0;
    }
}

size_t layout_reach(const struct laid_out *laid)
{
    static const struct orr_dense_kind kinds[] = {
        ORR_VARIABLE_KIND, ORR_VECTOR_KIND, ORR_MATRIX_KIND,
        ORR_BLOCK_KIND,    ORR_TENSOR_KIND, ORR_NDIM_KIND};
    size_t reach = reach_of_sparse(laid);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].id == laid->ops->interfaceid) {
            struct orr_dense dense = orr_dense_look(&kinds[i], &laid->layout);

            reach = dense.elemsize;
            for (size_t k = 0; k < dense.ndim; k++) {
                size_t step = orr_dense_step(&dense, k);

                reach += (size_t)dense.nn[k] * step * dense.elemsize;
            }
        }
    return reach;
}

void layout_set_address(enum starpu_data_interface_id id, void *layout,
                        uintptr_t address)
{
    struct starpu_csr_interface *csr = layout;
    struct starpu_bcsr_interface *bcsr = layout;
    struct starpu_coo_interface *coo = layout;
    place_t *place = layout;

    switch (id) {
    case STARPU_CSR_INTERFACE_ID:
        csr->nzval = address;
        csr->colind = csr->ram_colind = (uint32_t *)address;
        csr->rowptr = csr->ram_rowptr = (uint32_t *)address;
        break;
    case STARPU_BCSR_INTERFACE_ID:
        bcsr->nzval = address;
        bcsr->colind = bcsr->ram_colind = (uint32_t *)address;
        bcsr->rowptr = bcsr->ram_rowptr = (uint32_t *)address;
        break;
    case STARPU_COO_INTERFACE_ID:
        coo->values = address;
        coo->columns = coo->rows = (uint32_t *)address;
        break;
    case STARPU_VOID_INTERFACE_ID:
        break;
    default:
        place->ptr = place->dev_handle = address;
    }
}

uintptr_t layout_address(const void *layout)
{
    switch (*(const enum starpu_data_interface_id *)layout) {
    case STARPU_CSR_INTERFACE_ID:
        return ((const struct starpu_csr_interface *)layout)->nzval;
    case STARPU_BCSR_INTERFACE_ID:
        return ((const struct starpu_bcsr_interface *)layout)->nzval;
    case STARPU_COO_INTERFACE_ID:
        return ((const struct starpu_coo_interface *)layout)->values;
    case STARPU_VOID_INTERFACE_ID:
        return 0;
    default:
        return ((const place_t *)layout)->ptr;
    }
}

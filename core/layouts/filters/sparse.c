/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/sparse.c - cutting sparse matrices by rows: into ranges of
 * rows, and a matrix of blocks into these. Children point into the arrays of
 * their parent; their rows therefore begin at `firstentry`.
 */
#include <starpu_util.h>

#include "core/layouts/filters/common.h"

/* The array that says where rows begin; it is read in main memory, whatever the node. */
static const uint32_t *rows_of(const struct orr_filter_call *call,
                               const uint32_t *ram_rowptr)
{
    ORR_FILTER_EXPECT(ram_rowptr, call->name,
                      "the matrix was not registered with its rows "
                      "in main memory, so where to cut is not known");
    return ram_rowptr;
}

/* The structures of both kinds have these fields. */
#define CUT_ROWS(call, father, sub, block_bytes)                               \
    do {                                                                       \
        struct orr_cut rows = orr_cut_block((call)->name, (father)->nrow,      \
                                            (call)->nparts, (call)->id, 0);    \
        const uint32_t *rowptr = rows_of((call), (father)->ram_rowptr);        \
        uint32_t first = rowptr[rows.start];                                   \
        uint32_t skipped = first - (father)->firstentry;                       \
                                                                               \
        *(sub) = *(father);                                                    \
        (sub)->nnz = rowptr[rows.start + rows.length] - first;                 \
        (sub)->nrow = rows.length;                                             \
        (sub)->firstentry = first;                                             \
        (sub)->ram_rowptr += rows.start;                                       \
        if ((sub)->ram_colind)                                                 \
            (sub)->ram_colind += skipped;                                      \
        if ((sub)->rowptr)                                                     \
            (sub)->rowptr += rows.start;                                       \
        if ((sub)->colind)                                                     \
            (sub)->colind += skipped;                                          \
        if ((sub)->nzval)                                                      \
            (sub)->nzval += skipped * (block_bytes);                           \
    } while (0)

ORR_FILTER(starpu_csr_filter_vertical_block)
{
    const struct starpu_csr_interface *whole = father;
    struct starpu_csr_interface *part = child;

    orr_filter_expect(ORR_CALL, STARPU_CSR_INTERFACE_ID);
    CUT_ROWS(ORR_CALL, whole, part, whole->elemsize);
}

static size_t block_bytes(const struct starpu_bcsr_interface *m)
{
    return (size_t)m->r * m->c * m->elemsize;
}

ORR_FILTER(starpu_bcsr_filter_vertical_block)
{
    const struct starpu_bcsr_interface *whole = father;
    struct starpu_bcsr_interface *part = child;

    orr_filter_expect(ORR_CALL, STARPU_BCSR_INTERFACE_ID);
    CUT_ROWS(ORR_CALL, whole, part, block_bytes(whole));
}

ORR_FILTER(starpu_bcsr_filter_canonical_block)
{
    const struct starpu_bcsr_interface *whole = father;
    struct starpu_matrix_interface *part = child;

    (void)f;
    orr_filter_expect(ORR_CALL, STARPU_BCSR_INTERFACE_ID);
    ORR_FILTER_EXPECT(id < whole->nnz && nparts <= whole->nnz, __func__,
                      "there is no part %u of %u in a matrix of %u "
                      "blocks; take the number from "
                      "starpu_bcsr_filter_canonical_block_get_nchildren",
                      id, nparts, whole->nnz);
    *part = (struct starpu_matrix_interface){
        .id = STARPU_MATRIX_INTERFACE_ID,
        .nx = whole->c,
        .ny = whole->r,
        .ld = whole->c,
        .elemsize = whole->elemsize,
        .allocsize = block_bytes(whole),
    };
    if (!whole->nzval)
        return;
    part->dev_handle = whole->nzval;
    part->offset = id * block_bytes(whole);
    part->ptr = part->dev_handle + part->offset;
}

unsigned
starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
                                                 starpu_data_handle_t handle)
{
    (void)f;
    return starpu_bcsr_get_nnz(handle);
}

ORR_CHILD_OPS(starpu_bcsr_filter_canonical_block_child_ops,
              starpu_interface_matrix_ops)

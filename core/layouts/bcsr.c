/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/bcsr.c - a sparse matrix by rows of dense blocks, r rows of c elements
 * each.
 */
#include <starpu_data_interfaces.h>

typedef struct starpu_bcsr_interface rows_t;

static const enum starpu_data_interface_id interface_id =
    STARPU_BCSR_INTERFACE_ID;

static inline size_t rows_block_elements(const rows_t *m)
{
    return (size_t)m->r * m->c;
}

#include "core/layouts/rows.h"

static uint32_t bcsr_footprint(starpu_data_handle_t handle)
{
    const rows_t *m = rows_in_main_ram(handle);

    return orr_crc_u32(m->r, orr_crc_u32(m->c, orr_crc_u32(m->nnz, 0)));
}

static int bcsr_compare(void *a, void *b)
{
    const rows_t *x = a, *y = b;

    return x->nnz == y->nnz && x->nrow == y->nrow && x->r == y->r &&
           x->c == y->c && x->elemsize == y->elemsize;
}

static starpu_ssize_t bcsr_describe(void *data_interface, char *buf,
                                    size_t size)
{
    const rows_t *m = data_interface;

    return snprintf(buf, size, "b%ux%ux%ux%ux%zu", m->nnz, m->nrow, m->r, m->c,
                    m->elemsize);
}

static void bcsr_display(starpu_data_handle_t handle, FILE *f)
{
    const rows_t *m = rows_in_main_ram(handle);

    fprintf(f, "%u\t%u\t", m->nnz, m->nrow);
}

struct starpu_data_interface_ops starpu_interface_bcsr_ops = {
    ROWS_OPS,
    .footprint = bcsr_footprint,
    .compare = bcsr_compare,
    .describe = bcsr_describe,
    .display = bcsr_display,
    .interfaceid = STARPU_BCSR_INTERFACE_ID,
    .name = (char[]){"STARPU_BCSR_INTERFACE"},
};

void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node,
                               uint32_t nnz, uint32_t nrow, uintptr_t nzval,
                               uint32_t *colind, uint32_t *rowptr,
                               uint32_t firstentry, uint32_t r, uint32_t c,
                               size_t elemsize)
{
    struct starpu_bcsr_interface m = {
        .id = STARPU_BCSR_INTERFACE_ID,
        .nnz = nnz,
        .nrow = nrow,
        .nzval = nzval,
        .colind = colind,
        .rowptr = rowptr,
        .firstentry = firstentry,
        .r = r,
        .c = c,
        .elemsize = elemsize,
    };

    orr_interface_register(__func__, handle, home_node, &m,
                           &starpu_interface_bcsr_ops);
}

uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle)
{
    return ASKED(handle)->nnz;
}

uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle)
{
    return ASKED(handle)->nrow;
}

uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle)
{
    return ASKED(handle)->firstentry;
}

uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->nzval;
}

uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->colind;
}

uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->rowptr;
}

size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle)
{
    return ASKED(handle)->r;
}

uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle)
{
    return ASKED(handle)->c;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/csr.c - a sparse matrix by rows.
 */
#include <starpu_data_interfaces.h>

typedef struct starpu_csr_interface rows_t;

static const enum starpu_data_interface_id interface_id =
    STARPU_CSR_INTERFACE_ID;

static inline size_t rows_block_elements(const rows_t *m)
{
    (void)m;
    return 1;
}

#include "core/layouts/rows.h"

static uint32_t csr_footprint(starpu_data_handle_t handle)
{
    const rows_t *m = rows_in_main_ram(handle);

    return orr_crc_u32(m->nnz, 0);
}

static int csr_compare(void *a, void *b)
{
    const rows_t *x = a, *y = b;

    return x->nnz == y->nnz && x->nrow == y->nrow && x->elemsize == y->elemsize;
}

static starpu_ssize_t csr_describe(void *data_interface, char *buf, size_t size)
{
    const rows_t *m = data_interface;

    return snprintf(buf, size, "C%ux%ux%zu", m->nnz, m->nrow, m->elemsize);
}

static void csr_display(starpu_data_handle_t handle, FILE *f)
{
    const rows_t *m = rows_in_main_ram(handle);

    fprintf(f, "%u\t%u\t", m->nnz, m->nrow);
}

struct starpu_data_interface_ops starpu_interface_csr_ops = {
    ROWS_OPS,
    .footprint = csr_footprint,
    .compare = csr_compare,
    .describe = csr_describe,
    .display = csr_display,
    .interfaceid = STARPU_CSR_INTERFACE_ID,
    .name = (char[]){"STARPU_CSR_INTERFACE"},
};

void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node,
                              uint32_t nnz, uint32_t nrow, uintptr_t nzval,
                              uint32_t *colind, uint32_t *rowptr,
                              uint32_t firstentry, size_t elemsize)
{
    struct starpu_csr_interface m = {
        .id = STARPU_CSR_INTERFACE_ID,
        .nnz = nnz,
        .nrow = nrow,
        .nzval = nzval,
        .colind = colind,
        .rowptr = rowptr,
        .firstentry = firstentry,
        .elemsize = elemsize,
    };

    orr_interface_register(__func__, handle, home_node, &m,
                           &starpu_interface_csr_ops);
}

uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle)
{
    return ASKED(handle)->nnz;
}

uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle)
{
    return ASKED(handle)->nrow;
}

uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle)
{
    return ASKED(handle)->firstentry;
}

uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->nzval;
}

uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->colind;
}

uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->rowptr;
}

size_t starpu_csr_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

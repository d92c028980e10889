/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/shape.c - see shape.h: a table of the fields of each structure. */
#include "record/shape.h"

#include <stddef.h>

enum { MOST_FIELDS = 8 };

struct part {
    size_t offset;
    size_t bytes; /* 4 or 8; 0: behind the last */
};

struct layout {
    const char *kind;
    enum starpu_data_interface_id id;
    struct part parts[MOST_FIELDS + 1];
};

#define PART(type, field)                                                      \
    {                                                                          \
        offsetof(struct starpu_##type##_interface, field),                     \
            sizeof(((struct starpu_##type##_interface *)0)->field)             \
    }

static const struct layout layouts[] = {
    {"void", STARPU_VOID_INTERFACE_ID, {{0}}},
    {"variable", STARPU_VARIABLE_INTERFACE_ID, {PART(variable, elemsize)}},
    {"vector",
     STARPU_VECTOR_INTERFACE_ID,
     {PART(vector, nx), PART(vector, elemsize), PART(vector, allocsize),
      PART(vector, slice_base)}},
    {"matrix",
     STARPU_MATRIX_INTERFACE_ID,
     {PART(matrix, nx), PART(matrix, ny), PART(matrix, ld),
      PART(matrix, elemsize), PART(matrix, allocsize)}},
    {"block",
     STARPU_BLOCK_INTERFACE_ID,
     {PART(block, nx), PART(block, ny), PART(block, nz), PART(block, ldy),
      PART(block, ldz), PART(block, elemsize)}},
    {"tensor",
     STARPU_TENSOR_INTERFACE_ID,
     {PART(tensor, nx), PART(tensor, ny), PART(tensor, nz), PART(tensor, nt),
      PART(tensor, ldy), PART(tensor, ldz), PART(tensor, ldt),
      PART(tensor, elemsize)}},
    {"csr",
     STARPU_CSR_INTERFACE_ID,
     {PART(csr, nnz), PART(csr, nrow), PART(csr, firstentry),
      PART(csr, elemsize)}},
    {"bcsr",
     STARPU_BCSR_INTERFACE_ID,
     {PART(bcsr, nnz), PART(bcsr, nrow), PART(bcsr, firstentry), PART(bcsr, r),
      PART(bcsr, c), PART(bcsr, elemsize)}},
    {"coo",
     STARPU_COO_INTERFACE_ID,
     {PART(coo, nx), PART(coo, ny), PART(coo, n_values), PART(coo, elemsize)}},
    {"ndim",
     STARPU_NDIM_INTERFACE_ID,
     {PART(ndim, elemsize), PART(ndim, allocsize)}},
};

static const struct layout *find_layout(enum starpu_data_interface_id id)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        if (layouts[i].id == id)
            return &layouts[i];
    return NULL;
}

const char *orr_shape_kind(enum starpu_data_interface_id id)
{
    const struct layout *layout = find_layout(id);

    return layout ? layout->kind : NULL;
}

static size_t read_dimensions(const struct starpu_ndim_interface *ndim,
                              uint64_t *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < ndim->ndim; i++)
        ret[n++] = ndim->nn[i];
    for (size_t i = 0; i < ndim->ndim; i++)
        ret[n++] = ndim->ldn[i];
    return n;
}

size_t orr_shape_read(enum starpu_data_interface_id id, const void *from,
                      uint64_t ret[ORR_SHAPE_MOST])
{
    const struct layout *layout = find_layout(id);
    const struct starpu_ndim_interface *ndim = from;
    size_t n = 0;

    for (const struct part *part = layout->parts; part->bytes; part++) {
        const char *at = (const char *)from + part->offset;

        if (part->bytes == sizeof(uint32_t))
            ret[n++] = *(const uint32_t *)(const void *)at;
        else
            ret[n++] = *(const size_t *)(const void *)at;
    }
    if (id != STARPU_NDIM_INTERFACE_ID)
        return n;
    if (n + 2 * ndim->ndim > ORR_SHAPE_MOST)
        return 0;
    return n + read_dimensions(ndim, ret + n);
}

static const char too_few[] = "the shape lacks numbers, or has too many";

static const char *write_dimensions(struct starpu_ndim_interface *ndim,
                                    const uint64_t *shape, size_t n,
                                    uint32_t *nn, uint32_t *ldn)
{
    if (n % 2 || n > ORR_SHAPE_MOST)
        return too_few;
    ndim->ndim = n / 2;
    ndim->nn = nn;
    ndim->ldn = ldn;
    for (size_t i = 0; i < n; i++) {
        if (shape[i] > UINT32_MAX)
            return "a length of more than 32 bits";
        (i < n / 2 ? nn : ldn)[i % (n / 2)] = (uint32_t)shape[i];
    }
    return NULL;
}

const char *orr_shape_write(enum starpu_data_interface_id id,
                            const uint64_t *shape, size_t n, void *to,
                            uint32_t *nn, uint32_t *ldn)
{
    const struct layout *layout = find_layout(id);
    size_t i = 0;

    *(enum starpu_data_interface_id *)to = id;
    for (const struct part *part = layout->parts; part->bytes; part++, i++) {
        char *at = (char *)to + part->offset;

        if (i == n)
            return too_few;
        if (part->bytes == sizeof(uint32_t) && shape[i] > UINT32_MAX)
            return "a length of more than 32 bits";
        if (part->bytes == sizeof(uint32_t))
            *(uint32_t *)(void *)at = (uint32_t)shape[i];
        else
            *(size_t *)(void *)at = shape[i];
    }
    if (id == STARPU_NDIM_INTERFACE_ID)
        return write_dimensions(to, shape + i, n - i, nn, ldn);
    return i == n ? NULL : too_few;
}

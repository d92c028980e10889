/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/layout.h - data of every interface as the words that they have,
 * the same in the run, in the oracle and in printed programs, of which this is a
 * part. A view says where the words of one copy are, in the order in which kernels
 * go through them: x first. The indices of sparse matrices follow from their
 * shapes; whoever overwrites such data writes them, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "own.h"

enum layout {
    VECTOR,
    VARIABLE,
    MATRIX,
    BLOCK,
    TENSOR,
    NDIM,
    CSR,
    BCSR,
    COO,
    NOTHING,
    MULTIFORMAT,
    OWN,
    NLAYOUTS
};

/* A block of BCSR data. */
enum { MAX_DIMS = 5, BLOCK_ROWS = 2, BLOCK_COLUMNS = 3, BLOCK_WORDS = 6 };

/* Lengths in words, that of what is contiguous first; those that a layout does
 * not have are 1. Of CSR and BCSR the words of a row, and the rows. */
struct shape {
    unsigned char layout, ndim;
    uint16_t
        pad; /* words between columns, planes … that are nobody's: at home */
    uint32_t nn[MAX_DIMS];
};

struct view {
    uint64_t *at;   /* NULL: no memory, or no words */
    uint64_t *rest; /* OWN: the second half is there */
    uint32_t nn[MAX_DIMS];
    size_t ld[MAX_DIMS]; /* words from one to the next; ld[0] is 1 */
    bool inverted;       /* the form that MULTIFORMAT data have on devices */
    /* Of sparse matrices: how many indices; values of a row; what the first row
     * begins with. */
    uint32_t *index[2];
    size_t nindex[2], per_row, first;
};

/* -- shapes -- */

static inline size_t shape_words(const struct shape *s)
{
    size_t n = 1;

    for (int k = 0; k < MAX_DIMS; k++)
        n *= s->nn[k];
    return n;
}

static inline size_t shape_block(const struct shape *s)
{
    return s->layout == BCSR ? BLOCK_WORDS : 1;
}

static inline void shape_indices(const struct shape *s, size_t n[2])
{
    size_t nvalues = shape_words(s) / shape_block(s);

    n[0] = n[1] = 0;
    if (s->layout == COO)
        n[0] = n[1] = nvalues;
    if (s->layout == CSR || s->layout == BCSR) {
        n[0] = nvalues;
        n[1] = s->nn[1] + 1U;
    }
}

static inline void shape_leading(const struct shape *s, size_t ld[MAX_DIMS])
{
    ld[0] = 1;
    for (int k = 1; k < MAX_DIMS; k++)
        ld[k] = ld[k - 1] * s->nn[k - 1] + (k < s->ndim ? s->pad : 0U);
}

/* What lies between the first word at home and the end of the last column. */
static inline size_t shape_extent(const struct shape *s)
{
    size_t ld[MAX_DIMS];

    shape_leading(s, ld);
    return ld[s->ndim - 1] * s->nn[s->ndim - 1];
}

/* Words of memory for a copy at home, the indices at their end. */
static inline size_t shape_home(const struct shape *s)
{
    size_t n[2];

    shape_indices(s, n);
    return shape_extent(s) + (n[0] + n[1] + 1) / 2;
}

/* Bytes of a copy elsewhere. */
static inline size_t shape_bytes(const struct shape *s)
{
    size_t n[2], words = shape_words(s);

    shape_indices(s, n);
    if (s->layout == MULTIFORMAT)
        words *= 2;
    return words * sizeof(uint64_t) + (n[0] + n[1]) * sizeof(uint32_t);
}

/* -- views -- */

static inline size_t view_words(const struct view *v)
{
    size_t n = 1;

    for (int k = 0; k < MAX_DIMS; k++)
        n *= v->nn[k];
    return n;
}

/* Without memory yet. */
static inline struct view view_flat(size_t n)
{
    return (struct view){.nn = {(uint32_t)n, 1, 1, 1, 1},
                         .ld = {1, n, n, n, n}};
}

static inline struct view view_home(const struct shape *s, uint64_t *memory)
{
    struct view v = view_flat(0);

    memcpy(v.nn, s->nn, sizeof(v.nn));
    shape_leading(s, v.ld);
    shape_indices(s, v.nindex);
    v.per_row = s->layout == COO ? 0 : s->nn[0] / shape_block(s);
    v.at = memory;
    if (s->layout == OWN && memory)
        v.rest = memory + shape_words(s) / 2;
    if (memory && v.nindex[0]) {
        v.index[0] = (uint32_t *)(memory + shape_extent(s));
        v.index[1] = v.index[0] + v.nindex[0];
    }
    return v;
}

/* The words alone, one after the other. */
static inline struct view view_dense(const struct shape *s, uint64_t *memory)
{
    struct shape dense = *s;
    struct view v = view_flat(0);

    dense.pad = 0;
    memcpy(v.nn, s->nn, sizeof(v.nn));
    shape_leading(&dense, v.ld);
    v.at = memory;
    return v;
}

static inline bool view_is_flat(const struct view *v)
{
    size_t dense = 1;

    if (v->inverted || v->rest)
        return false;
    for (int k = 0; k < MAX_DIMS; k++) {
        if (v->nn[k] > 1 && v->ld[k] != dense)
            return false;
        dense *= v->nn[k];
    }
    return true;
}

static inline void view_copy_column(uint64_t *at, uint64_t *words, size_t n,
                                    bool to_view)
{
    if (n == 0) /* of NULL, too */
        return;
    if (to_view)
        memcpy(at, words, n * sizeof(*at));
    else
        memcpy(words, at, n * sizeof(*at));
}

/* Between the words of the view and as many in a row. */
static inline void view_copy(const struct view *v, uint64_t *words,
                             bool to_view)
{
    size_t n = view_words(v), half = n / 2,
           columns = v->nn[0] ? n / v->nn[0] : 0;

    if (v->rest) {
        view_copy_column(v->at, words, half, to_view);
        view_copy_column(v->rest, words + half, n - half, to_view);
        return;
    }
    for (size_t c = 0; c < columns; c++) {
        size_t left = c, offset = 0;

        for (int k = 1; k < MAX_DIMS; k++) {
            offset += left % v->nn[k] * v->ld[k];
            left /= v->nn[k];
        }
        view_copy_column(v->at + offset, words + c * v->nn[0], v->nn[0],
                         to_view);
    }
}

static inline void view_invert(const struct view *v, uint64_t *words)
{
    for (size_t i = 0; v->inverted && i < view_words(v); i++)
        words[i] = ~words[i];
}

/* The words in a row, as they are or for nothing but being written. */
static inline uint64_t *view_open(const struct view *v)
{
    uint64_t *words;

    if (view_is_flat(v))
        return v->at;
    words = malloc((view_words(v) + 1) * sizeof(*words));
    if (!words)
        abort();
    view_copy(v, words, false);
    view_invert(v, words);
    return words;
}

/* The end of that. */
static inline void view_close(const struct view *v, uint64_t *words,
                              bool written)
{
    if (view_is_flat(v))
        return;
    if (written) {
        view_invert(v, words);
        view_copy(v, words, true);
    }
    free(words);
}

/* -- indices of sparse matrices -- */

static inline uint32_t view_index(const struct view *v, int which, size_t i)
{
    if (!v->per_row) /* COO */
        return (uint32_t)(which ? i * 7 : i);
    return (uint32_t)(which ? v->first + i * v->per_row : i % v->per_row);
}

static inline void view_set_indices(const struct view *v)
{
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < v->nindex[which]; i++)
            v->index[which][i] = view_index(v, which, i);
}

static inline bool view_has_indices(const struct view *v)
{
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < v->nindex[which]; i++)
            if (v->index[which][i] != view_index(v, which, i))
                return false;
    return true;
}

/* -- what kernels get -- */

#define VIEW_SET(v, k, length, leading)                                        \
    ((v).nn[k] = (length), (v).ld[k] = (leading))

static inline struct view view_of_ndim(void *buffer)
{
    struct view v = view_flat(1);

    v.at = (uint64_t *)STARPU_NDIM_GET_PTR(buffer);
    for (size_t k = 0; k < STARPU_NDIM_GET_NDIM(buffer) && k < MAX_DIMS; k++)
        VIEW_SET(v, k, STARPU_NDIM_GET_NN(buffer)[k],
                 STARPU_NDIM_GET_LDN(buffer)[k]);
    return v;
}

static inline struct view view_of_sparse(size_t nvalues, size_t nrow,
                                         size_t block, uintptr_t values,
                                         uint32_t *colind, uint32_t *rowptr)
{
    struct view v = view_flat(nvalues * block);

    v.at = (uint64_t *)values;
    v.index[0] = colind;
    v.index[1] = rowptr;
    v.nindex[0] = nvalues;
    v.nindex[1] = nrow;
    return v;
}

static inline struct view view_of_rows(void *buffer, bool blocks)
{
    struct view v;

    if (blocks) {
        v = view_of_sparse(
            STARPU_BCSR_GET_NNZ(buffer), STARPU_BCSR_GET_NROW(buffer) + 1U,
            BLOCK_WORDS, STARPU_BCSR_GET_NZVAL(buffer),
            STARPU_BCSR_GET_COLIND(buffer), STARPU_BCSR_GET_ROWPTR(buffer));
        v.first = STARPU_BCSR_GET_FIRSTENTRY(buffer);
    } else {
        v = view_of_sparse(
            STARPU_CSR_GET_NNZ(buffer), STARPU_CSR_GET_NROW(buffer) + 1U, 1,
            STARPU_CSR_GET_NZVAL(buffer), STARPU_CSR_GET_COLIND(buffer),
            STARPU_CSR_GET_ROWPTR(buffer));
        v.first = STARPU_CSR_GET_FIRSTENTRY(buffer);
    }
    v.per_row = v.nindex[0] / (v.nindex[1] - 1);
    return v;
}

static inline struct view view_of_coo(void *buffer)
{
    return view_of_sparse(
        STARPU_COO_GET_NVALUES(buffer), STARPU_COO_GET_NVALUES(buffer), 1,
        STARPU_COO_GET_VALUES(buffer), STARPU_COO_GET_COLUMNS(buffer),
        STARPU_COO_GET_ROWS(buffer));
}

static inline struct view view_of_dense(void *buffer, int ndim)
{
    struct view v = view_flat(1);

    v.at = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffer);
    if (ndim == 2) {
        VIEW_SET(v, 0, STARPU_MATRIX_GET_NX(buffer), 1);
        VIEW_SET(v, 1, STARPU_MATRIX_GET_NY(buffer),
                 STARPU_MATRIX_GET_LD(buffer));
    } else if (ndim == 3) {
        VIEW_SET(v, 0, STARPU_BLOCK_GET_NX(buffer), 1);
        VIEW_SET(v, 1, STARPU_BLOCK_GET_NY(buffer),
                 STARPU_BLOCK_GET_LDY(buffer));
        VIEW_SET(v, 2, STARPU_BLOCK_GET_NZ(buffer),
                 STARPU_BLOCK_GET_LDZ(buffer));
    } else {
        VIEW_SET(v, 0, STARPU_TENSOR_GET_NX(buffer), 1);
        VIEW_SET(v, 1, STARPU_TENSOR_GET_NY(buffer),
                 STARPU_TENSOR_GET_LDY(buffer));
        VIEW_SET(v, 2, STARPU_TENSOR_GET_NZ(buffer),
                 STARPU_TENSOR_GET_LDZ(buffer));
        VIEW_SET(v, 3, STARPU_TENSOR_GET_NT(buffer),
                 STARPU_TENSOR_GET_LDT(buffer));
    }
    return v;
}

static inline struct view view_of_own(const struct own_interface *own)
{
    struct view v = view_flat(own->n);

    v.at = own->half[0];
    v.rest = own->half[1];
    return v;
}

static inline struct view view_at(uintptr_t at, size_t n)
{
    struct view v = view_flat(n);

    v.at = (uint64_t *)at;
    return v;
}

/* The devices that have a form of their own. */
#ifdef LENT_TO_OPENCL
#    define FORM_MEMORY          STARPU_OPENCL_RAM
#    define FORM_GET_PTR(buffer) STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffer)
#else
#    define FORM_MEMORY          STARPU_CUDA_RAM
#    define FORM_GET_PTR(buffer) STARPU_MULTIFORMAT_GET_CUDA_PTR(buffer)
#endif

static inline struct view view_of_multiformat(void *buffer, unsigned node)
{
    bool on_device = starpu_node_get_kind(node) == FORM_MEMORY;
    struct view v =
        view_at((uintptr_t)(on_device ? FORM_GET_PTR(buffer)
                                      : STARPU_MULTIFORMAT_GET_CPU_PTR(buffer)),
                STARPU_MULTIFORMAT_GET_NX(buffer));

    v.inverted = on_device;
    return v;
}

/* The copy in a buffer, which is in the memory of the node. Not of NOTHING. */
static inline struct view view_of(void *buffer, unsigned node)
{
    switch ((int)*(enum starpu_data_interface_id *)buffer) {
    case STARPU_VECTOR_INTERFACE_ID:
        return view_at(STARPU_VECTOR_GET_PTR(buffer),
                       STARPU_VECTOR_GET_NX(buffer));
    case STARPU_VARIABLE_INTERFACE_ID:
        return view_at(STARPU_VARIABLE_GET_PTR(buffer),
                       STARPU_VARIABLE_GET_ELEMSIZE(buffer) / 8);
    case STARPU_MATRIX_INTERFACE_ID:
        return view_of_dense(buffer, 2);
    case STARPU_BLOCK_INTERFACE_ID:
        return view_of_dense(buffer, 3);
    case STARPU_TENSOR_INTERFACE_ID:
        return view_of_dense(buffer, 4);
    case STARPU_NDIM_INTERFACE_ID:
        return view_of_ndim(buffer);
    case STARPU_CSR_INTERFACE_ID:
        return view_of_rows(buffer, false);
    case STARPU_BCSR_INTERFACE_ID:
        return view_of_rows(buffer, true);
    case STARPU_COO_INTERFACE_ID:
        return view_of_coo(buffer);
    case STARPU_MULTIFORMAT_INTERFACE_ID:
        return view_of_multiformat(buffer, node);
    default:
        return view_of_own(buffer);
    }
}

/* -- reductions: not of NOTHING, nor of MULTIFORMAT -- */

static inline void views_add(void *to_buffer, void *from_buffer)
{
    struct view to = view_of(to_buffer, 0), from = view_of(from_buffer, 0);
    uint64_t *a = view_open(&to), *b = view_open(&from);

    for (size_t i = 0; i < view_words(&to); i++)
        a[i] += b[i];
    view_close(&from, b, false);
    view_close(&to, a, true);
}

static inline void view_clear(void *buffer)
{
    struct view v = view_of(buffer, 0);
    uint64_t *words = view_open(&v);

    if (words)
        memset(words, 0, view_words(&v) * sizeof(*words));
    view_close(&v, words, true);
    view_set_indices(&v);
}

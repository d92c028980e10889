/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/shape_calls.h - data of a shape are registered, and cut; a part of
 * printed programs.
 */
#pragma once

#include "layout.h"

/* -- multiformat: a device has each word inverted -- */

static inline void invert_words(const uint64_t *from, uint64_t *to, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = ~from[i];
}

static inline void to_device(void *buffers[], void *arg)
{
    (void)arg;
    invert_words((const uint64_t *)STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]),
                 (uint64_t *)FORM_GET_PTR(buffers[0]),
                 STARPU_MULTIFORMAT_GET_NX(buffers[0]));
}

static inline void from_device(void *buffers[], void *arg)
{
    (void)arg;
    invert_words((const uint64_t *)FORM_GET_PTR(buffers[0]),
                 (uint64_t *)STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]),
                 STARPU_MULTIFORMAT_GET_NX(buffers[0]));
}

static struct starpu_codelet to_device_cl = {
    .cpu_funcs = {to_device},
    .cuda_funcs = {to_device},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "one",
};

static struct starpu_codelet from_device_cl = {
    .cpu_funcs = {from_device},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "one",
};

static struct starpu_multiformat_data_interface_ops formats = {
    .cpu_elemsize = sizeof(uint64_t),
#ifdef LENT_TO_OPENCL
    .opencl_elemsize = sizeof(uint64_t),
    .cpu_to_opencl_cl = &to_device_cl,
    .opencl_to_cpu_cl = &from_device_cl,
#else
    .cuda_elemsize = sizeof(uint64_t),
    .cpu_to_cuda_cl = &to_device_cl,
    .cuda_to_cpu_cl = &from_device_cl,
#endif
};

/* -- registration -- */

static inline void register_ndim(starpu_data_handle_t *handle, int home,
                                 const struct shape *s, uint64_t *memory)
{
    size_t leading[MAX_DIMS];
    uint32_t nn[MAX_DIMS], ldn[MAX_DIMS];

    shape_leading(s, leading);
    for (int k = 0; k < MAX_DIMS; k++) {
        nn[k] = s->nn[k];
        ldn[k] = (uint32_t)leading[k];
    }
    starpu_ndim_data_register(handle, home, (uintptr_t)memory, ldn, nn, s->ndim,
                              8);
}

static inline void register_own(starpu_data_handle_t *handle, int home,
                                const struct view *v)
{
    struct own_interface own = {.n = (uint32_t)view_words(v)};

    own.half[0] = v->at;
    own.half[1] = v->rest;
    starpu_data_register(handle, home, &own, &own_ops);
}

static inline void register_sparse(starpu_data_handle_t *handle, int home,
                                   const struct shape *s, const struct view *v)
{
    uint32_t n = (uint32_t)(shape_words(s) / shape_block(s)), rows = s->nn[1];

    if (s->layout == COO)
        starpu_coo_data_register(handle, home, n, 1, n, v->index[0],
                                 v->index[1], (uintptr_t)v->at, 8);
    else if (s->layout == CSR)
        starpu_csr_data_register(handle, home, n, rows, (uintptr_t)v->at,
                                 v->index[0], v->index[1], 0, 8);
    else
        starpu_bcsr_data_register(handle, home, n, rows, (uintptr_t)v->at,
                                  v->index[0], v->index[1], 0, BLOCK_ROWS,
                                  BLOCK_COLUMNS, 8);
}

/* `memory` has shape_home(s) words; NULL without home. */
static inline void register_shape(starpu_data_handle_t *handle, int home,
                                  const struct shape *s, uint64_t *memory)
{
    struct view v = view_home(s, memory);
    uintptr_t at = (uintptr_t)memory;
    uint32_t ld[MAX_DIMS];

    for (int k = 0; k < MAX_DIMS; k++)
        ld[k] = (uint32_t)v.ld[k];
    switch ((enum layout)s->layout) {
    case VECTOR:
        starpu_vector_data_register(handle, home, at, s->nn[0], 8);
        break;
    case VARIABLE:
        starpu_variable_data_register(handle, home, at, 8 * (size_t)s->nn[0]);
        break;
    case MATRIX:
        starpu_matrix_data_register(handle, home, at, ld[1], s->nn[0], s->nn[1],
                                    8);
        break;
    case BLOCK:
        starpu_block_data_register(handle, home, at, ld[1], ld[2], s->nn[0],
                                   s->nn[1], s->nn[2], 8);
        break;
    case TENSOR:
        starpu_tensor_data_register(handle, home, at, ld[1], ld[2], ld[3],
                                    s->nn[0], s->nn[1], s->nn[2], s->nn[3], 8);
        break;
    case NDIM:
        register_ndim(handle, home, s, memory);
        break;
    case NOTHING:
        starpu_void_data_register(handle);
        break;
    case MULTIFORMAT:
        starpu_multiformat_data_register(handle, home, memory, s->nn[0],
                                         &formats);
        break;
    case OWN:
        register_own(handle, home, &v);
        break;
    default:
        register_sparse(handle, home, s, &v);
    }
}

/* -- memory at home -- */

#define PADDING UINT64_C(0xa5a5a5a5a5a5a5a5)

/* With words[] as content. */
static inline void fill_home(const struct shape *s, uint64_t *memory,
                             uint64_t *words)
{
    struct view v = view_home(s, memory);

    for (size_t i = 0; i < shape_home(s); i++)
        memory[i] = PADDING;
    view_copy(&v, words, true);
    view_set_indices(&v);
}

/* Copies the content to words[]; false if something else has changed. */
static inline bool read_home(const struct shape *s, uint64_t *memory,
                             uint64_t *words)
{
    size_t bytes = shape_home(s) * sizeof(uint64_t);
    uint64_t *copy = malloc(bytes + 1);
    struct view v = view_home(s, memory);
    bool same;

    if (!copy)
        abort();
    view_copy(&v, words, false);
    fill_home(s, copy, words);
    same = memcmp(copy, memory, bytes) == 0;
    free(copy);
    return same;
}

/* -- pieces -- */

/* How data are cut along an axis, the last one if they are picked. */
enum style {
    EVEN,   /* the first ones are longer by one if need be */
    LISTED, /* vectors: 1, 2, 3 … words, the last one has the rest */
    PICKED  /* each index of the axis by itself, without that axis */
};

enum { MAX_PIECES = 6 };

struct cut {
    unsigned char n, axis, style; /* n: pieces, 0: not cut */
};

static inline void cut_range(const struct cut *cut, uint32_t length,
                             unsigned part, uint32_t *ret_start,
                             uint32_t *ret_length)
{
    uint32_t each = length / cut->n, more = length % cut->n;

    *ret_start = part * each + (part < more ? part : more);
    *ret_length = each + (part < more);
    if (cut->style == LISTED) {
        *ret_start = part * (part + 1) / 2;
        *ret_length = part + 1U < cut->n ? part + 1U : length - *ret_start;
    }
}

static inline struct shape cut_shape(const struct shape *whole,
                                     const struct cut *cut, unsigned part)
{
    static const unsigned char below[NLAYOUTS] = {[VECTOR] = VARIABLE,
                                                  [MATRIX] = VECTOR,
                                                  [BLOCK] = MATRIX,
                                                  [TENSOR] = BLOCK,
                                                  [NDIM] = NDIM};
    struct shape s = *whole;
    uint32_t start, length;

    cut_range(cut, whole->nn[cut->axis], part, &start, &length);
    s.nn[cut->axis] = length;
    if (cut->style != PICKED)
        return s;
    s.nn[cut->axis] = 1;
    s.layout = below[whole->layout];
    s.ndim = (unsigned char)(s.ndim > 1 ? s.ndim - 1 : 1);
    return s;
}

/* Of the same words, wherever they are. */
static inline struct view cut_view(const struct view *whole,
                                   const struct cut *cut, unsigned part)
{
    struct view v = *whole;
    uint32_t start, length;

    cut_range(cut, whole->nn[cut->axis], part, &start, &length);
    v.at += start * v.ld[cut->axis];
    v.nn[cut->axis] = length;
    return v;
}

typedef void filter_func(void *, void *, struct starpu_data_filter *, unsigned,
                         unsigned);
typedef struct starpu_data_interface_ops *
child_ops_func(struct starpu_data_filter *, unsigned);

static inline filter_func *even_filter(const struct shape *s, unsigned axis)
{
    static filter_func *const filters[NLAYOUTS][MAX_DIMS] = {
        [VECTOR] = {starpu_vector_filter_block},
        [MATRIX] = {starpu_matrix_filter_block,
                    starpu_matrix_filter_vertical_block},
        [BLOCK] = {starpu_block_filter_block,
                   starpu_block_filter_vertical_block,
                   starpu_block_filter_depth_block},
        [TENSOR] = {starpu_tensor_filter_block,
                    starpu_tensor_filter_vertical_block,
                    starpu_tensor_filter_depth_block,
                    starpu_tensor_filter_time_block},
        [NDIM] = {starpu_ndim_filter_block, starpu_ndim_filter_block,
                  starpu_ndim_filter_block, starpu_ndim_filter_block,
                  starpu_ndim_filter_block},
        [CSR] = {NULL, starpu_csr_filter_vertical_block},
        [BCSR] = {NULL, starpu_bcsr_filter_vertical_block},
    };

    return filters[s->layout][axis];
}

static inline filter_func *pick_filter(const struct shape *s)
{
    static filter_func *const filters[NLAYOUTS] = {
        [VECTOR] = starpu_vector_filter_pick_variable,
        [MATRIX] = starpu_matrix_filter_pick_vector_y,
        [BLOCK] = starpu_block_filter_pick_matrix_z,
        [TENSOR] = starpu_tensor_filter_pick_block_t,
        [NDIM] = starpu_ndim_filter_pick_ndim,
    };

    return filters[s->layout];
}

static inline child_ops_func *picked_ops(const struct shape *s)
{
    static child_ops_func *const all[NLAYOUTS] = {
        [VECTOR] = starpu_vector_filter_pick_variable_child_ops,
        [MATRIX] = starpu_matrix_filter_pick_vector_child_ops,
        [BLOCK] = starpu_block_filter_pick_matrix_child_ops,
        [TENSOR] = starpu_tensor_filter_pick_block_child_ops,
    };

    return all[s->layout];
}

/* Whether data of the shape can be cut so. */
static inline bool shape_can_be_cut(const struct shape *s,
                                    const struct cut *cut)
{
    uint32_t length = s->nn[cut->axis];

    if (cut->n == 0 || cut->n > MAX_PIECES || cut->axis >= s->ndim)
        return false;
    switch ((enum style)cut->style) {
    case LISTED:
        return s->layout == VECTOR && length > cut->n * (cut->n - 1U) / 2;
    case PICKED:
        return pick_filter(s) && length == cut->n && cut->axis + 1 == s->ndim &&
               (s->layout != NDIM || s->ndim > 1);
    default:
        return even_filter(s, cut->axis) && length >= cut->n;
    }
}

struct filter {
    struct starpu_data_filter f;
    uint32_t lengths[MAX_PIECES];
};

/* Fills *ret, which stays where it is while it is used. */
static inline struct starpu_data_filter *
make_filter(const struct shape *s, const struct cut *cut, struct filter *ret)
{
    uint32_t start;

    memset(ret, 0, sizeof(*ret));
    ret->f.nchildren = cut->n;
    for (unsigned i = 0; i < cut->n; i++)
        cut_range(cut, s->nn[cut->axis], i, &start, &ret->lengths[i]);
    if (cut->style == PICKED) {
        ret->f.filter_func = pick_filter(s);
        ret->f.get_child_ops = picked_ops(s);
    } else if (cut->style == EVEN) {
        ret->f.filter_func = even_filter(s, cut->axis);
    } else if (cut->n == 2) {
        ret->f.filter_func = starpu_vector_filter_divide_in_2;
        ret->f.filter_arg = ret->lengths[0];
    } else {
        ret->f.filter_func = starpu_vector_filter_list;
        ret->f.filter_arg_ptr = ret->lengths;
    }
    if (s->layout == NDIM)
        ret->f.filter_arg = cut->axis;
    return &ret->f;
}

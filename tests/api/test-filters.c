/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-filters.c - every predefined filter of dense data of 0 to 5
 * dimensions, with gaps: each child has the elements that it should, in its
 * order, on whichever worker, and what is written there comes back. Then data of
 * any number of dimensions, and sparse matrices, as such.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

#define NDIM     5
#define NPLACES  2000
#define ADDED    10000
#define NWRITERS 5 /* workers of the simulated machine */

/* Dense data of any interface. */
struct view {
    size_t ndim;
    uint32_t nn[NDIM], ld[NDIM];
    int *at;
};

static struct view look(void *buffer)
{
    struct view v = {.at = (int *)STARPU_VARIABLE_GET_PTR(buffer), .ld = {1}};

    switch (*(enum starpu_data_interface_id *)buffer) {
    case STARPU_NDIM_INTERFACE_ID:
        v.ndim = STARPU_NDIM_GET_NDIM(buffer);
        for (size_t i = 0; i < v.ndim; i++) {
            v.nn[i] = STARPU_NDIM_GET_NN(buffer)[i];
            v.ld[i] = STARPU_NDIM_GET_LDN(buffer)[i];
        }
        break;
    case STARPU_TENSOR_INTERFACE_ID:
        return (struct view){
            4,
            {STARPU_TENSOR_GET_NX(buffer), STARPU_TENSOR_GET_NY(buffer),
             STARPU_TENSOR_GET_NZ(buffer), STARPU_TENSOR_GET_NT(buffer)},
            {1, STARPU_TENSOR_GET_LDY(buffer), STARPU_TENSOR_GET_LDZ(buffer),
             STARPU_TENSOR_GET_LDT(buffer)},
            v.at};
    case STARPU_BLOCK_INTERFACE_ID:
        return (struct view){
            3,
            {STARPU_BLOCK_GET_NX(buffer), STARPU_BLOCK_GET_NY(buffer),
             STARPU_BLOCK_GET_NZ(buffer)},
            {1, STARPU_BLOCK_GET_LDY(buffer), STARPU_BLOCK_GET_LDZ(buffer)},
            v.at};
    case STARPU_MATRIX_INTERFACE_ID:
        return (struct view){
            2,
            {STARPU_MATRIX_GET_NX(buffer), STARPU_MATRIX_GET_NY(buffer)},
            {1, STARPU_MATRIX_GET_LD(buffer)},
            v.at};
    case STARPU_VECTOR_INTERFACE_ID:
        v.ndim = 1;
        v.nn[0] = STARPU_VECTOR_GET_NX(buffer);
        break;
    default:
        break;
    }
    return v;
}

static size_t elements_of(const struct view *v)
{
    size_t n = 1;

    for (size_t i = 0; i < v->ndim; i++)
        n *= v->nn[i];
    return n;
}

/* Element i in the order of dimensions, the first one fastest: its indices, and
 * where it is. */
static int *element(const struct view *v, size_t i, uint32_t *index)
{
    int *at = v->at;

    for (size_t d = 0; d < v->ndim; d++) {
        index[d] = (uint32_t)(i % v->nn[d]);
        at += index[d] * v->ld[d];
        i /= v->nn[d];
    }
    return at;
}

/* --- the filters --- */

enum how { CUT, SHADOW, PICK, PICK_ALL };

typedef void filter_func(void *, void *, struct starpu_data_filter *, unsigned,
                         unsigned);
typedef struct starpu_data_interface_ops *child_ops(struct starpu_data_filter *,
                                                    unsigned);

struct row {
    filter_func *filter;
    child_ops *ops; /* NULL: the parent's interface */
    enum starpu_data_interface_id father, child;
    size_t ndim; /* of ndim data */
    enum how how;
    unsigned dim; /* along which the filter cuts */
};

#define N STARPU_NDIM_INTERFACE_ID
#define T STARPU_TENSOR_INTERFACE_ID
#define B STARPU_BLOCK_INTERFACE_ID
#define M STARPU_MATRIX_INTERFACE_ID
#define V STARPU_VECTOR_INTERFACE_ID
#define E STARPU_VARIABLE_INTERFACE_ID

static const struct row rows[] = {
    {starpu_vector_filter_block, NULL, V, V, 1, CUT, 0},
    {starpu_vector_filter_block_shadow, NULL, V, V, 1, SHADOW, 0},
    {starpu_vector_filter_pick_variable,
     starpu_vector_filter_pick_variable_child_ops, V, E, 1, PICK, 0},
    {starpu_matrix_filter_block, NULL, M, M, 2, CUT, 0},
    {starpu_matrix_filter_vertical_block, NULL, M, M, 2, CUT, 1},
    {starpu_matrix_filter_block_shadow, NULL, M, M, 2, SHADOW, 0},
    {starpu_matrix_filter_vertical_block_shadow, NULL, M, M, 2, SHADOW, 1},
    {starpu_matrix_filter_pick_vector_y,
     starpu_matrix_filter_pick_vector_child_ops, M, V, 2, PICK, 1},
    {starpu_matrix_filter_pick_variable,
     starpu_matrix_filter_pick_variable_child_ops, M, E, 2, PICK_ALL, 0},
    {starpu_block_filter_block, NULL, B, B, 3, CUT, 0},
    {starpu_block_filter_vertical_block, NULL, B, B, 3, CUT, 1},
    {starpu_block_filter_depth_block, NULL, B, B, 3, CUT, 2},
    {starpu_block_filter_block_shadow, NULL, B, B, 3, SHADOW, 0},
    {starpu_block_filter_vertical_block_shadow, NULL, B, B, 3, SHADOW, 1},
    {starpu_block_filter_depth_block_shadow, NULL, B, B, 3, SHADOW, 2},
    {starpu_block_filter_pick_matrix_z,
     starpu_block_filter_pick_matrix_child_ops, B, M, 3, PICK, 2},
    {starpu_block_filter_pick_matrix_y,
     starpu_block_filter_pick_matrix_child_ops, B, M, 3, PICK, 1},
    {starpu_block_filter_pick_variable,
     starpu_block_filter_pick_variable_child_ops, B, E, 3, PICK_ALL, 0},
    {starpu_tensor_filter_block, NULL, T, T, 4, CUT, 0},
    {starpu_tensor_filter_vertical_block, NULL, T, T, 4, CUT, 1},
    {starpu_tensor_filter_depth_block, NULL, T, T, 4, CUT, 2},
    {starpu_tensor_filter_time_block, NULL, T, T, 4, CUT, 3},
    {starpu_tensor_filter_block_shadow, NULL, T, T, 4, SHADOW, 0},
    {starpu_tensor_filter_vertical_block_shadow, NULL, T, T, 4, SHADOW, 1},
    {starpu_tensor_filter_depth_block_shadow, NULL, T, T, 4, SHADOW, 2},
    {starpu_tensor_filter_time_block_shadow, NULL, T, T, 4, SHADOW, 3},
    {starpu_tensor_filter_pick_block_t,
     starpu_tensor_filter_pick_block_child_ops, T, B, 4, PICK, 3},
    {starpu_tensor_filter_pick_block_z,
     starpu_tensor_filter_pick_block_child_ops, T, B, 4, PICK, 2},
    {starpu_tensor_filter_pick_block_y,
     starpu_tensor_filter_pick_block_child_ops, T, B, 4, PICK, 1},
    {starpu_tensor_filter_pick_variable,
     starpu_tensor_filter_pick_variable_child_ops, T, E, 4, PICK_ALL, 0},
    {starpu_ndim_filter_block, NULL, N, N, 1, CUT, 0},
    {starpu_ndim_filter_block, NULL, N, N, 3, CUT, 2},
    {starpu_ndim_filter_block, NULL, N, N, 5, CUT, 0},
    {starpu_ndim_filter_block, NULL, N, N, 5, CUT, 4},
    {starpu_ndim_filter_block_shadow, NULL, N, N, 5, SHADOW, 1},
    {starpu_ndim_filter_to_tensor, starpu_ndim_filter_to_tensor_child_ops, N, T,
     4, CUT, 3},
    {starpu_ndim_filter_to_block, starpu_ndim_filter_to_block_child_ops, N, B,
     3, CUT, 1},
    {starpu_ndim_filter_to_matrix, starpu_ndim_filter_to_matrix_child_ops, N, M,
     2, CUT, 0},
    {starpu_ndim_filter_to_vector, starpu_ndim_filter_to_vector_child_ops, N, V,
     1, CUT, 0},
    {starpu_ndim_filter_to_variable, starpu_ndim_filter_to_variable_child_ops,
     N, E, 0, PICK_ALL, 0},
    {starpu_ndim_filter_pick_ndim, NULL, N, N, 5, PICK, 2},
    {starpu_ndim_filter_pick_ndim, NULL, N, N, 3, PICK, 0},
    {starpu_ndim_filter_pick_ndim, NULL, N, N, 1, PICK, 0},
    {starpu_ndim_filter_5d_pick_tensor,
     starpu_ndim_filter_pick_tensor_child_ops, N, T, 5, PICK, 4},
    {starpu_ndim_filter_4d_pick_block, starpu_ndim_filter_pick_block_child_ops,
     N, B, 4, PICK, 1},
    {starpu_ndim_filter_3d_pick_matrix,
     starpu_ndim_filter_pick_matrix_child_ops, N, M, 3, PICK, 2},
    {starpu_ndim_filter_2d_pick_vector,
     starpu_ndim_filter_pick_vector_child_ops, N, V, 2, PICK, 1},
    {starpu_ndim_filter_1d_pick_variable,
     starpu_ndim_filter_pick_variable_child_ops, N, E, 1, PICK, 0},
    {starpu_ndim_filter_pick_variable,
     starpu_ndim_filter_pick_variable_child_ops, N, E, 5, PICK_ALL, 0},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

/* Lengths, and elements between neighbours: gaps everywhere but along x. */
static uint32_t lengths[NDIM] = {5, 4, 4, 5, 2};
static uint32_t apart[NDIM] = {1, 7, 30, 125, 650};
static uint32_t picked[NDIM] = {3, 2, 1, 4, 0};

/* Where the children of a filter that picks begin. */
#define FIRST_PICKED 1

static int places[NPLACES];

static struct view father_of(const struct row *row)
{
    struct view v = {.ndim = row->ndim, .at = places};

    memcpy(v.nn, lengths, sizeof(v.nn));
    memcpy(v.ld, apart, sizeof(v.ld));
    return v;
}

static void fill(const struct view *v)
{
    uint32_t index[NDIM];

    for (int i = 0; i < NPLACES; i++)
        places[i] = -1;
    for (size_t i = 0; i < elements_of(v); i++)
        *element(v, i, index) = (int)i;
}

static starpu_data_handle_t register_father(const struct row *row)
{
    const uint32_t *n = lengths, *ld = apart;
    uintptr_t at = (uintptr_t)places;
    starpu_data_handle_t handle;

    if (row->father == V)
        starpu_vector_data_register(&handle, 0, at, n[0], sizeof(int));
    else if (row->father == M)
        starpu_matrix_data_register(&handle, 0, at, ld[1], n[0], n[1],
                                    sizeof(int));
    else if (row->father == B)
        starpu_block_data_register(&handle, 0, at, ld[1], ld[2], n[0], n[1],
                                   n[2], sizeof(int));
    else if (row->father == T)
        starpu_tensor_data_register(&handle, 0, at, ld[1], ld[2], ld[3], n[0],
                                    n[1], n[2], n[3], sizeof(int));
    else
        starpu_ndim_data_register(&handle, 0, at, apart, lengths, row->ndim,
                                  sizeof(int));
    return handle;
}

/* As many parts as leave one over; all that can be picked but the first. */
static unsigned nchildren(const struct row *row)
{
    if (row->how == PICK)
        return lengths[row->dim] - FIRST_PICKED;
    return row->how == PICK_ALL ? 1 : 2;
}

/* The element of the parent that a child has at these indices. */
static int expected(const struct row *row, unsigned id, const uint32_t *index,
                    size_t ndim)
{
    uint32_t n = lengths[row->dim] - (row->how == SHADOW ? 2 : 0);
    uint32_t start = id * (n / 2) + (id && n % 2);
    size_t place = 0, step = 1;

    ck_assert_uint_eq(ndim, row->how == PICK       ? row->ndim - 1
                            : row->how == PICK_ALL ? 0
                                                   : row->ndim);
    for (size_t d = 0; d < row->ndim; d++) {
        size_t at;

        if (row->how == PICK_ALL)
            at = picked[d];
        else if (row->how == PICK)
            at = d == row->dim ? FIRST_PICKED + id : index[d - (d > row->dim)];
        else
            at = index[d] + (d == row->dim ? start : 0);
        place += at * step;
        step *= lengths[d];
    }
    return (int)place;
}

static uint32_t expected_length(const struct row *row, unsigned id, size_t d)
{
    uint32_t n = lengths[row->dim];

    if (row->how == PICK)
        return lengths[d + (d >= row->dim)];
    if (row->how == SHADOW)
        return d == row->dim ? (n - 2) / 2 + (id < n % 2) + 2 : lengths[d];
    return d == row->dim ? n / 2 + (id < n % 2) : lengths[d];
}

/* What a kernel is to find. */
struct child {
    const struct row *row;
    unsigned id;
    int added; /* by those before */
};

static void check_child(void *buffers[], void *arg)
{
    const struct child *child = arg;
    struct view v = look(buffers[0]);
    uint32_t index[NDIM];

    ck_assert_int_eq(*(enum starpu_data_interface_id *)buffers[0],
                     child->row->child);
    for (size_t d = 0; d < v.ndim; d++)
        ck_assert_uint_eq(v.nn[d], expected_length(child->row, child->id, d));
    for (size_t i = 0; i < elements_of(&v); i++) {
        int *at = element(&v, i, index);

        ck_assert_int_eq(
            *at, child->added + expected(child->row, child->id, index, v.ndim));
        if (child->row->how != SHADOW)
            *at += ADDED;
    }
}

static struct starpu_codelet reads = {.cpu_funcs = {check_child},
                                      .cuda_funcs = {check_child},
                                      .nbuffers = 1,
                                      .modes = {STARPU_R},
                                      .name = "k"};
static struct starpu_codelet writes = {.cpu_funcs = {check_child},
                                       .cuda_funcs = {check_child},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};

/* On each worker in turn. */
static int check_children(const struct row *row, starpu_data_handle_t handle)
{
    static struct child children[NWRITERS][8];
    int nworkers = (int)starpu_worker_get_count();

    ck_assert_int_le(nworkers, NWRITERS);
    for (int w = 0; w < nworkers; w++)
        for (unsigned i = 0; i < nchildren(row); i++) {
            struct child *child = &children[w][i];

            *child = (struct child){row, i, row->how == SHADOW ? 0 : w * ADDED};
            ck_assert_int_eq(
                starpu_task_insert(row->how == SHADOW ? &reads : &writes,
                                   row->how == SHADOW ? STARPU_R : STARPU_RW,
                                   starpu_data_get_child(handle, (int)i),
                                   STARPU_CL_ARGS_NFREE, child, sizeof(*child),
                                   STARPU_EXECUTE_ON_WORKER, w, 0),
                0);
        }
    return row->how == SHADOW ? 0 : nworkers * ADDED;
}

static void expect_added(const struct row *row, int added)
{
    struct view v = father_of(row);
    uint32_t index[NDIM];
    size_t written = 0, of = elements_of(&v);

    for (size_t i = 0; i < of; i++) {
        int is = *element(&v, i, index) - (int)i;

        ck_assert(is == 0 || is == added);
        written += is == added;
    }
    if (row->how == PICK)
        of -= of / lengths[row->dim] * FIRST_PICKED;
    if (row->how == PICK_ALL)
        of = 1;
    ck_assert_uint_eq(written, of);
    for (int i = 0; i < NPLACES; i++)
        written -= places[i] >= added;
    ck_assert_uint_eq(written, 0);
}

START_TEST(each_filter_gives_each_child_its_elements)
{
    machine_open(_i);
    for (size_t r = 0; r < NROWS; r++) {
        const struct row *row = &rows[r];
        struct view father = father_of(row);
        struct starpu_data_filter f = {
            .filter_func = row->filter,
            .nchildren = nchildren(row),
            .get_child_ops = row->ops,
            .filter_arg = row->dim,
            .filter_arg_ptr = row->how == CUT        ? NULL
                              : row->how == PICK_ALL ? (void *)picked
                                                     : (void *)FIRST_PICKED};
        starpu_data_handle_t handle;
        int added;

        fill(&father);
        handle = register_father(row);
        starpu_data_partition(handle, &f);
        added = check_children(row, handle);
        starpu_data_unpartition(handle, STARPU_MAIN_RAM);
        starpu_data_unregister(handle);
        if (added)
            expect_added(row, added);
    }
    starpu_shutdown();
}
END_TEST

/* --- data of any number of dimensions --- */

START_TEST(ndim_data_tell_their_shape)
{
    uint32_t nn[] = {3, 4}, ld[] = {1, 5}, kept[] = {1, 3};
    int x[20] = {0}, twin[20];
    starpu_data_handle_t handle, same, free_one;
    struct starpu_task *task;

    machine_open(_i);
    starpu_ndim_data_register(&handle, 0, (uintptr_t)x, ld, nn, 2, 8 / 2);
    nn[0] = ld[1] = 77; /* the arrays were copied */
    ck_assert_uint_eq(starpu_ndim_get_ndim(handle), 2);
    ck_assert_uint_eq(starpu_ndim_get_nn(handle)[0], 3);
    ck_assert_uint_eq(starpu_ndim_get_ni(handle, 1), 4);
    ck_assert_uint_eq(starpu_ndim_get_elemsize(handle), 4);
    ck_assert_uint_eq(starpu_data_get_size(handle), 48);
    starpu_data_acquire(handle, STARPU_R);
    ck_assert_uint_eq(starpu_ndim_get_local_ldn(handle)[0], 1);
    ck_assert_uint_eq(starpu_ndim_get_local_ldi(handle, 1), 5);
    ck_assert_uint_eq(starpu_ndim_get_local_ptr(handle), (uintptr_t)x);
    starpu_data_release(handle);
    starpu_data_register_same(&same, handle);
    ck_assert_uint_eq(starpu_ndim_get_ni(same, 0), 3);
    starpu_data_acquire(same, STARPU_W);
    ck_assert_uint_eq(starpu_ndim_get_local_ldi(same, 1), 3);
    starpu_data_release(same);
    nn[0] = 3;
    starpu_ndim_data_register(&free_one, -1, 0, NULL, nn, 2, 8);
    starpu_ndim_ptr_register(free_one, 0, (uintptr_t)twin, (uintptr_t)twin, 0,
                             kept);
    starpu_data_acquire(free_one, STARPU_W);
    ck_assert_uint_eq(starpu_ndim_get_local_ptr(free_one), (uintptr_t)twin);
    starpu_data_release(free_one);
    /* StarPU's hash of a task with such data. */
    task = starpu_task_create();
    task->cl = &reads;
    task->handles[0] = free_one;
    ck_assert_uint_eq(starpu_task_data_footprint(task), 0xb9f5e947);
    task->destroy = 0;
    starpu_task_destroy(task);
    starpu_data_unregister(free_one);
    starpu_data_unregister(same);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

/* --- sparse matrices --- */

/* 6 rows of 0 to 3 elements, numbered from BASE; each value is its column plus
 * ten times its row. */
#define BASE 2
static uint32_t rowptr[] = {2, 4, 4, 7, 8, 10, 11};
static uint32_t colind[] = {0, 3, 1, 2, 5, 4, 0, 1, 5};

static void check_rows(void *buffers[], void *arg)
{
    const struct child *child = arg;
    uint32_t base = STARPU_CSR_GET_FIRSTENTRY(buffers[0]), at = 0;
    int *values = (int *)STARPU_CSR_GET_NZVAL(buffers[0]);

    for (uint32_t i = 0; i < STARPU_CSR_GET_NROW(buffers[0]); i++) {
        uint32_t end = STARPU_CSR_GET_ROWPTR(buffers[0])[i + 1] - base;

        at = STARPU_CSR_GET_ROWPTR(buffers[0])[i] - base;
        for (; at < end; at++) {
            uint32_t row = i + child->id * 2;

            ck_assert_int_eq(
                values[at] % 100,
                (int)(row * 10 + STARPU_CSR_GET_COLIND(buffers[0])[at]));
            values[at] += 100;
        }
    }
    ck_assert_uint_eq(at, STARPU_CSR_GET_NNZ(buffers[0]));
}

static struct starpu_codelet on_rows = {.cpu_funcs = {check_rows},
                                        .cuda_funcs = {check_rows},
                                        .nbuffers = 1,
                                        .modes = {STARPU_RW},
                                        .name = "k"};

START_TEST(ranges_of_rows_of_a_sparse_matrix)
{
    struct starpu_data_filter f = {
        .filter_func = starpu_csr_filter_vertical_block, .nchildren = 3};
    static struct child children[3];
    starpu_data_handle_t handle;
    int values[9], nworkers;

    for (uint32_t row = 0; row < 6; row++)
        for (uint32_t i = rowptr[row] - BASE; i < rowptr[row + 1] - BASE; i++)
            values[i] = (int)(row * 10 + colind[i]);
    machine_open(_i);
    nworkers = (int)starpu_worker_get_count();
    starpu_csr_data_register(&handle, 0, 9, 6, (uintptr_t)values, colind,
                             rowptr, BASE, sizeof(int));
    starpu_data_partition(handle, &f);
    for (unsigned i = 0; i < 3; i++)
        children[i].id = i;
    for (int w = 0; w < nworkers; w++)
        for (unsigned i = 0; i < 3; i++)
            ck_assert_int_eq(
                starpu_task_insert(
                    &on_rows, STARPU_RW, starpu_data_get_child(handle, (int)i),
                    STARPU_CL_ARGS_NFREE, &children[i], sizeof(children[i]),
                    STARPU_EXECUTE_ON_WORKER, w, 0),
                0);
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(values[i] / 100, nworkers);
    starpu_shutdown();
}
END_TEST

/* --- parts without an element --- */

enum { NELEMENTS = 8, MOST_PARTS = 4 };

static void add_to_vector(void *buffers[], void *arg)
{
    int *values = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        values[i] += 100;
}

static struct starpu_codelet on_vector = {.cpu_funcs = {add_to_vector},
                                          .cuda_funcs = {add_to_vector},
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .name = "k"};

static void submit_on(starpu_data_handle_t handle)
{
    for (int w = 0; w < (int)starpu_worker_get_count(); w++)
        ck_assert_int_eq(starpu_task_insert(&on_vector, STARPU_RW, handle,
                                            STARPU_EXECUTE_ON_WORKER, w, 0),
                         0);
}

/* At once, or planned: then the whole is used before and after the parts. */
static void use_parts(struct starpu_data_filter *f, bool planned)
{
    starpu_data_handle_t handle, parts[MOST_PARTS];
    int values[NELEMENTS] = {0};
    int per_worker = planned ? 300 : 100;

    starpu_vector_data_register(&handle, 0, (uintptr_t)values, NELEMENTS,
                                sizeof(int));
    if (planned) {
        starpu_data_partition_plan(handle, f, parts);
        submit_on(handle);
    } else {
        starpu_data_partition(handle, f);
    }
    for (unsigned i = 0; i < f->nchildren; i++)
        submit_on(planned ? parts[i] : starpu_data_get_child(handle, (int)i));
    if (planned) {
        submit_on(handle);
        starpu_data_partition_clean(handle, f->nchildren, parts);
    } else {
        starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    }
    starpu_data_unregister(handle);
    for (unsigned i = 0; i < NELEMENTS; i++)
        ck_assert_int_eq(values[i], per_worker * starpu_worker_get_count());
}

START_TEST(parts_may_have_no_element)
{
    static uint32_t some[] = {3, 0, 5, 0};
    static long all[] = {0, 8, 0};
    struct starpu_data_filter filters[] = {
        {.filter_func = starpu_vector_filter_list,
         .nchildren = 4,
         .filter_arg_ptr = some},
        {.filter_func = starpu_vector_filter_list_long,
         .nchildren = 3,
         .filter_arg_ptr = all},
        {.filter_func = starpu_vector_filter_divide_in_2, .nchildren = 2}};

    machine_open(_i);
    for (unsigned f = 0; f < sizeof(filters) / sizeof(*filters); f++) {
        use_parts(&filters[f], false);
        use_parts(&filters[f], true);
    }
    starpu_shutdown();
}
END_TEST

static void check_row(void *buffers[], void *arg)
{
    unsigned row = *(unsigned *)arg;

    ck_assert_uint_eq(STARPU_CSR_GET_NROW(buffers[0]), 1);
    ck_assert_uint_eq(STARPU_CSR_GET_NNZ(buffers[0]),
                      rowptr[row + 1] - rowptr[row]);
}

static struct starpu_codelet on_row = {.cpu_funcs = {check_row},
                                       .cuda_funcs = {check_row},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "k"};

/* The second row has none. */
START_TEST(rows_may_have_no_element)
{
    struct starpu_data_filter f = {
        .filter_func = starpu_csr_filter_vertical_block, .nchildren = 6};
    static unsigned rows_of[6];
    starpu_data_handle_t handle;
    int values[9] = {0};

    machine_open(_i);
    starpu_csr_data_register(&handle, 0, 9, 6, (uintptr_t)values, colind,
                             rowptr, BASE, sizeof(int));
    starpu_data_partition(handle, &f);
    for (int w = 0; w < (int)starpu_worker_get_count(); w++)
        for (unsigned row = 0; row < 6; row++) {
            rows_of[row] = row;
            ck_assert_int_eq(
                starpu_task_insert(
                    &on_row, STARPU_RW, starpu_data_get_child(handle, (int)row),
                    STARPU_CL_ARGS_NFREE, &rows_of[row], sizeof(rows_of[row]),
                    STARPU_EXECUTE_ON_WORKER, w, 0),
                0);
        }
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static void add_to_block(void *buffers[], void *arg)
{
    struct view v = look(buffers[0]);
    uint32_t index[NDIM];

    (void)arg;
    ck_assert_uint_eq(v.nn[0], 3);
    ck_assert_uint_eq(v.nn[1], 2);
    for (size_t i = 0; i < elements_of(&v); i++)
        *element(&v, i, index) += 100;
}

static struct starpu_codelet on_block = {.cpu_funcs = {add_to_block},
                                         .cuda_funcs = {add_to_block},
                                         .nbuffers = 1,
                                         .modes = {STARPU_RW},
                                         .name = "k"};

/* By rows of blocks, then into the blocks, which are 2 rows of 3. */
START_TEST(blocks_of_a_sparse_matrix)
{
    struct starpu_data_filter by_rows = {
        .filter_func = starpu_bcsr_filter_vertical_block, .nchildren = 2};
    struct starpu_data_filter blocks = {
        .filter_func = starpu_bcsr_filter_canonical_block,
        .get_nchildren = starpu_bcsr_filter_canonical_block_get_nchildren,
        .get_child_ops = starpu_bcsr_filter_canonical_block_child_ops};
    uint32_t first[] = {1, 2, 4, 5}, cols[] = {0, 0, 2, 1};
    starpu_data_handle_t handle, part;
    int values[24], nworkers;

    for (int i = 0; i < 24; i++)
        values[i] = i;
    machine_open(_i);
    nworkers = (int)starpu_worker_get_count();
    starpu_bcsr_data_register(&handle, 0, 4, 3, (uintptr_t)values, cols, first,
                              1, 2, 3, sizeof(int));
    starpu_data_map_filters(handle, 2, &by_rows, &blocks);
    part = starpu_data_get_child(handle, 0);
    ck_assert_uint_eq(starpu_bcsr_get_nnz(part), 3);
    ck_assert_uint_eq(starpu_bcsr_get_nrow(part), 2);
    ck_assert_uint_eq(starpu_bcsr_get_firstentry(part), 1);
    ck_assert_int_eq(starpu_data_get_nb_children(part), 3);
    part = starpu_data_get_child(handle, 1);
    ck_assert_uint_eq(starpu_bcsr_get_firstentry(part), 4);
    ck_assert_int_eq(starpu_data_get_nb_children(part), 1);
    ck_assert_ptr_eq(
        starpu_data_handle_to_pointer(starpu_data_get_child(part, 0), 0),
        &values[18]);
    for (int w = 0; w < nworkers; w++)
        for (unsigned i = 0; i < 4; i++)
            ck_assert_int_eq(starpu_task_insert(&on_block, STARPU_RW,
                                                starpu_data_get_sub_data(
                                                    handle, 2, i / 3, i % 3),
                                                STARPU_EXECUTE_ON_WORKER, w, 0),
                             0);
    starpu_data_unpartition(handle, STARPU_MAIN_RAM);
    starpu_data_unregister(handle);
    for (int i = 0; i < 24; i++)
        ck_assert_int_eq(values[i], i + 100 * nworkers);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(filters)
{
    Suite *suite = suite_create("filters");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(each_filter_gives_each_child_its_elements);
    EACH(ndim_data_tell_their_shape);
    EACH(ranges_of_rows_of_a_sparse_matrix);
    EACH(parts_may_have_no_element);
    EACH(rows_may_have_no_element);
    EACH(blocks_of_a_sparse_matrix);
    return suite_main(suite);
}

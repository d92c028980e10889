/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-filters.c - where filters place children inside their
 * parent. Only interface structures are involved. One thread.
 */
#include <check.h>
#include <stdlib.h>

#include <starpu_data_filters.h>

#include "tests/suite.h"

static struct starpu_vector_interface a_vector(uint32_t nx)
{
    return (struct starpu_vector_interface){
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = 1000,
        .dev_handle = 1000,
        .nx = nx,
        .elemsize = 8,
        .allocsize = nx * 8,
    };
}

/* A matrix inside a larger one. */
static struct starpu_matrix_interface a_matrix(uint32_t nx, uint32_t ny)
{
    return (struct starpu_matrix_interface){
        .id = STARPU_MATRIX_INTERFACE_ID,
        .ptr = 1016,
        .dev_handle = 1000,
        .offset = 16,
        .nx = nx,
        .ny = ny,
        .ld = 100,
        .elemsize = 4,
        .allocsize = nx * ny * 4,
    };
}

static struct starpu_block_interface a_block(void)
{
    return (struct starpu_block_interface){
        .id = STARPU_BLOCK_INTERFACE_ID,
        .ptr = 1000,
        .dev_handle = 1000,
        .nx = 4,
        .ny = 5,
        .nz = 6,
        .ldy = 10,
        .ldz = 100,
        .elemsize = 1,
    };
}

START_TEST(the_first_parts_get_what_is_left_over)
{
    static const unsigned lengths[] = {3, 3, 2, 2}, starts[] = {0, 3, 6, 8};

    for (unsigned id = 0; id < 4; id++) {
        unsigned length;
        size_t offset;

        starpu_filter_nparts_compute_chunk_size_and_offset(10, 4, 8, id, 100,
                                                           &length, &offset);
        ck_assert_uint_eq(length, lengths[id]);
        ck_assert_uint_eq(offset, (size_t)starts[id] * 100 * 8);
    }
}
END_TEST

START_TEST(offsets_exceed_32_bits)
{
    unsigned length;
    size_t offset;

    starpu_filter_nparts_compute_chunk_size_and_offset(100000, 2, 8, 1, 100000,
                                                       &length, &offset);
    ck_assert_uint_eq(offset, (size_t)50000 * 100000 * 8);
}
END_TEST

START_TEST(blocks_of_a_vector_follow_each_other)
{
    struct starpu_vector_interface father = a_vector(10), child;
    struct starpu_data_filter f = {.nchildren = 3};

    father.slice_base = 7;
    starpu_vector_filter_block(&father, &child, &f, 1, 3);
    ck_assert_int_eq(child.id, STARPU_VECTOR_INTERFACE_ID);
    ck_assert_uint_eq(child.nx, 3);
    ck_assert_uint_eq(child.ptr, 1000 + 4 * 8);
    ck_assert_uint_eq(child.dev_handle, 1000);
    ck_assert_uint_eq(child.offset, 4 * 8);
    ck_assert_uint_eq(child.slice_base, 11);
    ck_assert_uint_eq(child.allocsize, 24);
}
END_TEST

START_TEST(children_are_nowhere_where_the_parent_is_not)
{
    struct starpu_vector_interface father = a_vector(10), child;
    struct starpu_matrix_interface m = a_matrix(6, 4), mchild;
    struct starpu_data_filter f = {.nchildren = 2};

    father.ptr = father.dev_handle = 0;
    m.ptr = m.dev_handle = 0;
    starpu_vector_filter_block(&father, &child, &f, 1, 2);
    starpu_matrix_filter_block(&m, &mchild, &f, 1, 2);
    ck_assert_uint_eq(child.nx, 5);
    ck_assert_uint_eq(child.ptr, 0);
    ck_assert_uint_eq(child.dev_handle, 0);
    ck_assert_uint_eq(child.offset, 0);
    ck_assert_uint_eq(mchild.dev_handle, 0);
    ck_assert_uint_eq(mchild.ld, 3);
}
END_TEST

START_TEST(shadows_overlap_on_both_sides)
{
    struct starpu_vector_interface father = a_vector(12), child;
    struct starpu_data_filter f = {
        .nchildren = 5,
        .filter_arg_ptr = (void *)(uintptr_t)1,
    };

    starpu_vector_filter_block_shadow(&father, &child, &f, 0, 5);
    ck_assert_uint_eq(child.nx, 4);
    ck_assert_uint_eq(child.offset, 0);
    starpu_vector_filter_block_shadow(&father, &child, &f, 4, 5);
    ck_assert_uint_eq(child.nx, 4);
    ck_assert_uint_eq(child.offset, 8 * 8);
}
END_TEST

START_TEST(lists_give_each_part_its_length)
{
    struct starpu_vector_interface father = a_vector(10), child;
    uint32_t lengths[] = {1, 2, 7};
    long longs[] = {1, 2, 7};
    struct starpu_data_filter f = {.nchildren = 3, .filter_arg_ptr = lengths};

    starpu_vector_filter_list(&father, &child, &f, 2, 3);
    ck_assert_uint_eq(child.nx, 7);
    ck_assert_uint_eq(child.offset, 3 * 8);
    f.filter_arg_ptr = longs;
    starpu_vector_filter_list_long(&father, &child, &f, 1, 3);
    ck_assert_uint_eq(child.nx, 2);
    ck_assert_uint_eq(child.offset, 8);
}
END_TEST

START_TEST(divide_in_2_cuts_after_the_argument)
{
    struct starpu_vector_interface father = a_vector(10), child;
    struct starpu_data_filter f = {.nchildren = 2, .filter_arg = 3};

    starpu_vector_filter_divide_in_2(&father, &child, &f, 0, 2);
    ck_assert_uint_eq(child.nx, 3);
    starpu_vector_filter_divide_in_2(&father, &child, &f, 1, 2);
    ck_assert_uint_eq(child.nx, 7);
    ck_assert_uint_eq(child.slice_base, 3);
}
END_TEST

START_TEST(elements_of_a_vector_are_variables)
{
    struct starpu_vector_interface father = a_vector(10);
    struct starpu_variable_interface child;
    struct starpu_data_filter f = {
        .nchildren = 2,
        .filter_arg_ptr = (void *)(uintptr_t)4,
    };

    starpu_vector_filter_pick_variable(&father, &child, &f, 1, 2);
    ck_assert_int_eq(child.id, STARPU_VARIABLE_INTERFACE_ID);
    ck_assert_uint_eq(child.elemsize, 8);
    ck_assert_uint_eq(child.ptr, 1000 + 5 * 8);
}
END_TEST

START_TEST(block_cuts_a_matrix_along_x)
{
    struct starpu_matrix_interface father = a_matrix(10, 7), child;
    struct starpu_data_filter f = {.nchildren = 3};

    starpu_matrix_filter_block(&father, &child, &f, 1, 3);
    ck_assert_uint_eq(child.nx, 3);
    ck_assert_uint_eq(child.ny, 7);
    ck_assert_uint_eq(child.ld, 100);
    ck_assert_uint_eq(child.ptr, 1016 + 4 * 4);
    ck_assert_uint_eq(child.offset, 16 + 4 * 4);
    ck_assert_uint_eq(child.allocsize, 3 * 7 * 4);
}
END_TEST

START_TEST(vertical_block_cuts_a_matrix_along_y)
{
    struct starpu_matrix_interface father = a_matrix(10, 7), child;
    struct starpu_data_filter f = {.nchildren = 3};

    starpu_matrix_filter_vertical_block(&father, &child, &f, 2, 3);
    ck_assert_uint_eq(child.nx, 10);
    ck_assert_uint_eq(child.ny, 2);
    ck_assert_uint_eq(child.offset, 16 + 5 * 100 * 4);
}
END_TEST

START_TEST(tiles_come_from_both_cuts)
{
    struct starpu_matrix_interface father = a_matrix(8, 8), column, tile;
    struct starpu_data_filter f = {.nchildren = 4};

    starpu_matrix_filter_vertical_block(&father, &column, &f, 3, 4);
    starpu_matrix_filter_block(&column, &tile, &f, 1, 4);
    ck_assert_uint_eq(tile.nx, 2);
    ck_assert_uint_eq(tile.ny, 2);
    ck_assert_uint_eq(tile.offset, 16 + (2 + 6 * 100) * 4);
}
END_TEST

START_TEST(columns_of_a_matrix_are_vectors)
{
    struct starpu_matrix_interface father = a_matrix(10, 7);
    struct starpu_vector_interface child;
    struct starpu_data_filter f = {.nchildren = 7};

    starpu_matrix_filter_pick_vector_y(&father, &child, &f, 3, 7);
    ck_assert_int_eq(child.id, STARPU_VECTOR_INTERFACE_ID);
    ck_assert_uint_eq(child.nx, 10);
    ck_assert_uint_eq(child.offset, 16 + 300 * 4);
}
END_TEST

START_TEST(blocks_are_cut_along_each_dimension)
{
    struct starpu_block_interface father = a_block(), x, y, z;
    struct starpu_data_filter f = {.nchildren = 2};

    starpu_block_filter_block(&father, &x, &f, 1, 2);
    starpu_block_filter_vertical_block(&father, &y, &f, 1, 2);
    starpu_block_filter_depth_block(&father, &z, &f, 1, 2);
    ck_assert_uint_eq(x.nx, 2);
    ck_assert_uint_eq(x.offset, 2);
    ck_assert_uint_eq(y.ny, 2);
    ck_assert_uint_eq(y.offset, 3 * 10);
    ck_assert_uint_eq(z.nz, 3);
    ck_assert_uint_eq(z.offset, 3 * 100);
    ck_assert_uint_eq(z.ldy, 10);
    ck_assert_uint_eq(z.ldz, 100);
}
END_TEST

START_TEST(planes_of_a_block_are_matrices)
{
    struct starpu_block_interface father = a_block();
    struct starpu_matrix_interface child;
    struct starpu_data_filter f = {.nchildren = 2};

    starpu_block_filter_pick_matrix_z(&father, &child, &f, 1, 2);
    ck_assert_uint_eq(child.ny, 5);
    ck_assert_uint_eq(child.ld, 10);
    ck_assert_uint_eq(child.offset, 100);
    starpu_block_filter_pick_matrix_y(&father, &child, &f, 1, 2);
    ck_assert_uint_eq(child.ny, 6);
    ck_assert_uint_eq(child.ld, 100);
    ck_assert_uint_eq(child.offset, 10);
}
END_TEST

START_TEST(more_parts_than_elements_are_refused)
{
    struct starpu_vector_interface father = a_vector(3), child;
    struct starpu_data_filter f = {.nchildren = 4};

    starpu_vector_filter_block(&father, &child, &f, 0, 4);
}
END_TEST

/* Data of 3 dimensions; the arrays are the caller's. */
static struct starpu_ndim_interface an_ndim(uint32_t *nn, uint32_t *ld)
{
    return (struct starpu_ndim_interface){
        .id = STARPU_NDIM_INTERFACE_ID,
        .ptr = 1000,
        .dev_handle = 1000,
        .nn = nn,
        .ldn = ld,
        .ndim = 3,
        .elemsize = 4,
    };
}

START_TEST(parts_of_ndim_data_have_gaps_along_any_dimension)
{
    uint32_t nn[] = {4, 5, 6}, ld[] = {1, 10, 100};
    struct starpu_ndim_interface father = an_ndim(nn, ld), child = {0};
    struct starpu_data_filter f = {.filter_arg_ptr = (void *)2};

    starpu_ndim_filter_pick_ndim(&father, &child, &f, 1, 2);
    ck_assert_uint_eq(child.ndim, 2);
    ck_assert_uint_eq(child.nn[0], 5);
    ck_assert_uint_eq(child.ldn[0], 10);
    ck_assert_uint_eq(child.ldn[1], 100);
    ck_assert_uint_eq(child.ptr, 1000 + 3 * 4);
    ck_assert_uint_eq(child.offset, 3 * 4);
    ck_assert_uint_eq(child.allocsize, 5 * 6 * 4);
    free(child.nn);
    free(child.ldn);
    father.ptr = father.dev_handle = 0;
    child = (struct starpu_ndim_interface){0};
    starpu_ndim_filter_pick_ndim(&father, &child, &f, 1, 2);
    ck_assert_uint_eq(child.ptr, 0);
    ck_assert_uint_eq(child.ldn[0], 1);
    ck_assert_uint_eq(child.ldn[1], 5);
    free(child.nn);
    free(child.ldn);
}
END_TEST

/* What a filter is told wrongly, one each. */
START_TEST(what_ndim_data_do_not_have_is_refused)
{
    uint32_t nn[] = {4, 5, 6}, ld[] = {1, 10, 100}, at[] = {3, 4, 6};
    struct starpu_ndim_interface father = an_ndim(nn, ld), child = {0};
    struct starpu_matrix_interface plane = {0};
    struct starpu_variable_interface one = {0};
    struct starpu_data_filter f = {.filter_arg = 3, .filter_arg_ptr = at};

    switch (_i) {
    case 0: /* no dimension 3 */
        starpu_ndim_filter_block(&father, &child, &f, 0, 2);
        break;
    case 1: /* 3 dimensions are not a matrix */
        starpu_ndim_filter_to_matrix(&father, &plane, &f, 0, 2);
        break;
    case 2: /* nor 3 planes */
        starpu_ndim_filter_4d_pick_block(&father, &plane, &f, 0, 2);
        break;
    case 3: /* no element 6 along the last dimension */
        starpu_ndim_filter_pick_variable(&father, &one, &f, 0, 1);
        break;
    case 4: /* a matrix has no gaps along x */
        f.filter_arg = 0;
        f.filter_arg_ptr = NULL;
        starpu_ndim_filter_3d_pick_matrix(&father, &plane, &f, 0, 1);
        break;
    case 5: /* 2 parts of an element */
        father.ndim = 0;
        starpu_ndim_filter_to_variable(&father, &one, &f, 0, 2);
        break;
    }
}
END_TEST

START_TEST(rows_are_cut_in_main_memory_only)
{
    uint32_t rows[] = {0, 1, 2};
    struct starpu_csr_interface father = {.id = STARPU_CSR_INTERFACE_ID,
                                          .nnz = 2,
                                          .nrow = 2,
                                          .rowptr = rows,
                                          .elemsize = 4},
                                child;
    struct starpu_data_filter f = {0};

    starpu_csr_filter_vertical_block(&father, &child, &f, 0, 2);
}
END_TEST

START_TEST(a_filter_refuses_another_interface)
{
    struct starpu_vector_interface father = a_vector(3);
    struct starpu_matrix_interface child;
    struct starpu_data_filter f = {.nchildren = 2};

    starpu_matrix_filter_block(&father, &child, &f, 0, 2);
}
END_TEST

SUITE_MAIN(filters)
{
    Suite *suite = suite_create("filters");
    TCase *tc = tcase_create("filters");

    tcase_add_test(tc, the_first_parts_get_what_is_left_over);
    tcase_add_test(tc, offsets_exceed_32_bits);
    tcase_add_test(tc, blocks_of_a_vector_follow_each_other);
    tcase_add_test(tc, children_are_nowhere_where_the_parent_is_not);
    tcase_add_test(tc, shadows_overlap_on_both_sides);
    tcase_add_test(tc, lists_give_each_part_its_length);
    tcase_add_test(tc, divide_in_2_cuts_after_the_argument);
    tcase_add_test(tc, elements_of_a_vector_are_variables);
    tcase_add_test(tc, block_cuts_a_matrix_along_x);
    tcase_add_test(tc, vertical_block_cuts_a_matrix_along_y);
    tcase_add_test(tc, tiles_come_from_both_cuts);
    tcase_add_test(tc, columns_of_a_matrix_are_vectors);
    tcase_add_test(tc, blocks_are_cut_along_each_dimension);
    tcase_add_test(tc, planes_of_a_block_are_matrices);
    tcase_add_test(tc, parts_of_ndim_data_have_gaps_along_any_dimension);
    tcase_add_loop_test_raise_signal(tc, what_ndim_data_do_not_have_is_refused,
                                     6, 0, 6);
    tcase_add_test_raise_signal(tc, rows_are_cut_in_main_memory_only, 6);
    tcase_add_test_raise_signal(tc, more_parts_than_elements_are_refused, 6);
    tcase_add_test_raise_signal(tc, a_filter_refuses_another_interface, 6);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-interfaces.c - the dense kinds of data over fake handles:
 * footprints, layout on nodes, copies, packing. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc.h"
#include "tests/suite.h"
#include "tests/unit/fake_data.h"

/* The footprint of a task with n times the same handle. */
static uint32_t task_footprint(starpu_data_handle_t handle, int n)
{
    uint32_t f = 0;

    for (int i = 0; i < n; i++)
        f = orr_crc_u32(fake_footprint(handle), f);
    return f;
}

static uint32_t square_footprint(uint32_t side, int n)
{
    starpu_data_handle_t handle;
    uint32_t f;

    starpu_matrix_data_register(&handle, -1, 0, side, side, side, 8);
    f = task_footprint(handle, n);
    fake_unregister(handle);
    return f;
}

START_TEST(square_matrices_have_the_footprints_of_the_cholesky_models)
{
    static const struct {
        uint32_t side, footprints[3];
    } known[] = {
        {320, {0xcea37d6d, 0x2c1922b7, 0xd46431bb}},
        {960, {0x617e5fe6, 0xff82dda0, 0x24c84a50}},
        {640, {0xafdd228b, 0xd39bff17, 0xf0ac7beb}},
        {32, {0xe5a07e31, 0x1827caf5, 0x6e96d715}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        for (int n = 1; n <= 3; n++)
            ck_assert_uint_eq(square_footprint(known[i].side, n),
                              known[i].footprints[n - 1]);
}
END_TEST

START_TEST(other_kinds_have_their_known_footprints)
{
    starpu_data_handle_t v, x, n, b;

    starpu_vector_data_register(&v, -1, 0, 1024, 4);
    starpu_variable_data_register(&x, -1, 0, 4);
    starpu_void_data_register(&n);
    starpu_block_data_register(&b, -1, 0, 4, 20, 4, 5, 6, 8);
    ck_assert_uint_eq(task_footprint(v, 1), 0xa3d3725e);
    ck_assert_uint_eq(task_footprint(x, 1), 0x7c24e712);
    ck_assert_uint_eq(task_footprint(n, 1), 0xb4059432);
    ck_assert_uint_eq(task_footprint(b, 1), 0x55d35122);
    fake_unregister(v);
    fake_unregister(x);
    fake_unregister(n);
    fake_unregister(b);
}
END_TEST

START_TEST(sizes_are_the_products_of_the_dimensions)
{
    starpu_data_handle_t m, v, b;

    starpu_matrix_data_register(&m, -1, 0, 100000, 100000, 100000, 8);
    starpu_vector_data_register(&v, -1, 0, 4000000000u, 8);
    starpu_block_data_register(&b, -1, 0, 4, 20, 4, 5, 6, 8);
    ck_assert_uint_eq(fake_ops(m)->get_size(m), 80000000000u);
    ck_assert_uint_eq(fake_ops(v)->get_size(v), 32000000000u);
    ck_assert_uint_eq(fake_ops(b)->get_size(b), 960);
    fake_unregister(m);
    fake_unregister(v);
    fake_unregister(b);
}
END_TEST

/* 3 columns of 2 inside columns of 5. */
static int strided[] = {11, 12, 0, 0, 0, 21, 22, 0, 0, 0, 31, 32, 0, 0, 0};
static const int packed[] = {11, 12, 21, 22, 31, 32};

START_TEST(a_copy_on_another_node_has_no_gaps)
{
    starpu_data_handle_t m;
    struct starpu_matrix_interface *home, *away;
    struct starpu_data_interface_ops *ops;

    starpu_matrix_data_register(&m, 0, (uintptr_t)strided, 5, 2, 3,
                                sizeof(int));
    ops = fake_ops(m);
    home = starpu_data_get_interface_on_node(m, 0);
    away = starpu_data_get_interface_on_node(m, 1);
    ck_assert_uint_eq(home->ld, 5);
    ck_assert_uint_eq(away->ptr, 0);
    ck_assert_int_eq(ops->allocate_data_on_node(away, 1), sizeof(packed));
    ck_assert_uint_eq(away->ld, 2);
    ck_assert_int_eq(ops->copy_methods->any_to_any(home, 0, away, 1, NULL), 0);
    ck_assert_mem_eq((void *)away->ptr, packed, sizeof(packed));
    ck_assert_ptr_eq(ops->to_pointer(away, 1), (void *)away->ptr);
    ck_assert_ptr_eq(ops->handle_to_pointer(m, 0), strided);
    ops->free_data_on_node(away, 1);
    ck_assert_uint_eq(away->dev_handle, 0);
    ck_assert_uint_eq(fake_allocated, 0);
    fake_unregister(m);
}
END_TEST

START_TEST(no_memory_leaves_the_interface_alone)
{
    starpu_data_handle_t v;
    struct starpu_vector_interface *away, before;

    starpu_vector_data_register(&v, -1, 0, 10, 8);
    away = starpu_data_get_interface_on_node(v, 1);
    before = *away;
    fake_out_of_memory = 1;
    ck_assert_int_eq(fake_ops(v)->allocate_data_on_node(away, 1), -ENOMEM);
    ck_assert_mem_eq(away, &before, sizeof(before));
    fake_unregister(v);
}
END_TEST

START_TEST(nothing_is_allocated_for_empty_data)
{
    starpu_data_handle_t v;
    struct starpu_vector_interface *away;

    starpu_vector_data_register(&v, -1, 0, 0, 8);
    away = starpu_data_get_interface_on_node(v, 1);
    ck_assert_int_eq(fake_ops(v)->allocate_data_on_node(away, 1), 0);
    ck_assert_uint_eq(away->ptr, 0);
    fake_ops(v)->free_data_on_node(away, 1);
    fake_unregister(v);
}
END_TEST

START_TEST(packing_closes_gaps_and_unpacking_opens_them)
{
    int target[15] = {0};
    starpu_data_handle_t from, to;
    starpu_ssize_t count;
    void *buffer;

    starpu_matrix_data_register(&from, 0, (uintptr_t)strided, 5, 2, 3,
                                sizeof(int));
    starpu_matrix_data_register(&to, 0, (uintptr_t)target, 5, 2, 3,
                                sizeof(int));
    ck_assert_int_eq(fake_ops(from)->pack_data(from, 0, NULL, &count), 0);
    ck_assert_int_eq(count, sizeof(packed));
    ck_assert_int_eq(fake_ops(from)->pack_data(from, 0, &buffer, &count), 0);
    ck_assert_mem_eq(buffer, packed, sizeof(packed));
    ck_assert_int_eq(fake_ops(to)->peek_data(to, 0, buffer, 3), -EINVAL);
    ck_assert_int_eq(fake_ops(to)->unpack_data(to, 0, buffer, sizeof(packed)),
                     0);
    ck_assert_mem_eq(target, strided, sizeof(strided));
    ck_assert_uint_eq(fake_allocated, 0);
    fake_unregister(from);
    fake_unregister(to);
}
END_TEST

START_TEST(a_block_is_copied_plane_by_plane)
{
    /* 2 planes of 2 columns of 1, every third and every seventh element. */
    int data[14] = {0}, expected[4] = {1, 2, 3, 4};
    starpu_data_handle_t b;
    struct starpu_block_interface *away;

    data[0] = 1, data[3] = 2, data[7] = 3, data[10] = 4;
    starpu_block_data_register(&b, 0, (uintptr_t)data, 3, 7, 1, 2, 2,
                               sizeof(int));
    away = starpu_data_get_interface_on_node(b, 1);
    ck_assert_int_eq(fake_ops(b)->allocate_data_on_node(away, 1), 16);
    fake_ops(b)->copy_methods->any_to_any(
        starpu_data_get_interface_on_node(b, 0), 0, away, 1, NULL);
    ck_assert_mem_eq((void *)away->ptr, expected, sizeof(expected));
    ck_assert_uint_eq(away->ldy, 1);
    ck_assert_uint_eq(away->ldz, 2);
    fake_ops(b)->free_data_on_node(away, 1);
    fake_unregister(b);
}
END_TEST

START_TEST(kinds_compare_by_layout_only)
{
    starpu_data_handle_t a, b, c;
    int one[4], other[8];

    starpu_matrix_data_register(&a, 0, (uintptr_t)one, 2, 2, 2, 4);
    starpu_matrix_data_register(&b, 0, (uintptr_t)other, 4, 2, 2, 4);
    starpu_matrix_data_register(&c, 0, (uintptr_t)one, 4, 4, 1, 4);
    ck_assert_int_eq(
        fake_ops(a)->compare(starpu_data_get_interface_on_node(a, 0),
                             starpu_data_get_interface_on_node(b, 0)),
        1);
    ck_assert_int_eq(
        fake_ops(a)->compare(starpu_data_get_interface_on_node(a, 0),
                             starpu_data_get_interface_on_node(c, 0)),
        0);
    fake_unregister(a);
    fake_unregister(b);
    fake_unregister(c);
}
END_TEST

START_TEST(getters_tell_what_was_registered)
{
    starpu_data_handle_t m, v, x;
    char text[64];

    starpu_matrix_data_register(&m, 0, (uintptr_t)strided, 5, 2, 3,
                                sizeof(int));
    starpu_vector_data_register(&v, 0, (uintptr_t)strided, 15, sizeof(int));
    starpu_variable_data_register(&x, 0, (uintptr_t)strided, sizeof(strided));
    ck_assert_uint_eq(starpu_matrix_get_nx(m), 2);
    ck_assert_uint_eq(starpu_matrix_get_ny(m), 3);
    ck_assert_uint_eq(starpu_matrix_get_local_ld(m), 5);
    ck_assert_uint_eq(starpu_matrix_get_local_ptr(m), (uintptr_t)strided);
    ck_assert_uint_eq(starpu_vector_get_nx(v), 15);
    ck_assert_uint_eq(starpu_variable_get_elemsize(x), sizeof(strided));
    ck_assert_uint_eq(
        STARPU_MATRIX_GET_LD(starpu_data_get_interface_on_node(m, 0)), 5);
    ck_assert_int_gt(fake_ops(m)->describe(
                         starpu_data_get_interface_on_node(m, 0), text, 64),
                     0);
    ck_assert_str_eq(text, "matrix 2x3x4");
    fake_unregister(m);
    fake_unregister(v);
    fake_unregister(x);
}
END_TEST

START_TEST(overlapping_columns_are_refused)
{
    starpu_data_handle_t m;

    starpu_matrix_data_register(&m, 0, (uintptr_t)strided, 1, 2, 3, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interfaces");
    TCase *tc = tcase_create("interfaces");

    tcase_add_test(tc,
                   square_matrices_have_the_footprints_of_the_cholesky_models);
    tcase_add_test(tc, other_kinds_have_their_known_footprints);
    tcase_add_test(tc, sizes_are_the_products_of_the_dimensions);
    tcase_add_test(tc, a_copy_on_another_node_has_no_gaps);
    tcase_add_test(tc, no_memory_leaves_the_interface_alone);
    tcase_add_test(tc, nothing_is_allocated_for_empty_data);
    tcase_add_test(tc, packing_closes_gaps_and_unpacking_opens_them);
    tcase_add_test(tc, a_block_is_copied_plane_by_plane);
    tcase_add_test(tc, kinds_compare_by_layout_only);
    tcase_add_test(tc, getters_tell_what_was_registered);
    tcase_add_test_raise_signal(tc, overlapping_columns_are_refused, 6);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

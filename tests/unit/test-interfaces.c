/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-interfaces.c - the dense data interfaces over fake handles:
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

START_TEST(other_interfaces_have_their_known_footprints)
{
    starpu_data_handle_t v, x, n, b, t;

    starpu_vector_data_register(&v, -1, 0, 1024, 4);
    starpu_variable_data_register(&x, -1, 0, 4);
    starpu_void_data_register(&n);
    starpu_block_data_register(&b, -1, 0, 4, 20, 4, 5, 6, 8);
    ck_assert_uint_eq(task_footprint(v, 1), 0xa3d3725e);
    ck_assert_uint_eq(task_footprint(x, 1), 0x7c24e712);
    ck_assert_uint_eq(task_footprint(n, 1), 0xb4059432);
    ck_assert_uint_eq(task_footprint(b, 1), 0x55d35122);
    starpu_tensor_data_register(&t, -1, 0, 2, 6, 24, 2, 3, 4, 5, 8);
    ck_assert_uint_eq(task_footprint(t, 1), 0xa53b83ca);
    fake_unregister(t);
    fake_unregister(v);
    fake_unregister(x);
    fake_unregister(n);
    fake_unregister(b);
}
END_TEST

START_TEST(the_footprint_of_a_matrix_knows_its_sides)
{
    starpu_data_handle_t m;

    starpu_matrix_data_register(&m, -1, 0, 9, 3, 4, 8);
    ck_assert_uint_eq(fake_ops(m)->footprint(m), orr_crc_u32(3, 4));
    fake_unregister(m);
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

START_TEST(getters_return_what_was_registered)
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
    ck_assert_str_eq(text, "M2x3x4");
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

/* --- differences of interfaces --- */

static const char *described(starpu_data_handle_t handle)
{
    static char text[64];

    ck_assert_int_eq(
        fake_ops(handle)->describe(starpu_data_get_interface_on_node(handle, 1),
                                   text, sizeof(text)),
        (int)strlen(text));
    return text;
}

static const char *displayed(starpu_data_handle_t handle)
{
    static char text[64];
    FILE *f = fmemopen(text, sizeof(text), "w");

    fake_ops(handle)->display(handle, f);
    fclose(f);
    return text;
}

START_TEST(the_element_size_counts_for_variables_only)
{
    starpu_data_handle_t m, v, b, other;

    starpu_matrix_data_register(&m, -1, 0, 3, 3, 4, 4);
    starpu_matrix_data_register(&other, -1, 0, 3, 3, 4, 8);
    ck_assert_uint_eq(fake_footprint(m), fake_footprint(other));
    ck_assert_int_eq(fake_compare(m, other), 0);
    fake_unregister(other);
    starpu_vector_data_register(&v, -1, 0, 3, 4);
    starpu_vector_data_register(&other, -1, 0, 3, 8);
    ck_assert_uint_eq(fake_footprint(v), fake_footprint(other));
    ck_assert_int_eq(fake_compare(v, other), 0);
    fake_unregister(other);
    starpu_block_data_register(&b, -1, 0, 3, 9, 3, 3, 3, 4);
    starpu_block_data_register(&other, -1, 0, 3, 9, 3, 3, 3, 8);
    ck_assert_uint_eq(fake_footprint(b), fake_footprint(other));
    ck_assert_int_eq(fake_compare(b, other), 0);
    fake_unregister(other);
    fake_unregister(m);
    fake_unregister(v);
    fake_unregister(b);
    starpu_variable_data_register(&v, -1, 0, 4);
    starpu_variable_data_register(&other, -1, 0, 8);
    ck_assert_uint_ne(fake_footprint(v), fake_footprint(other));
    ck_assert_int_eq(fake_compare(v, other), 0);
    fake_unregister(other);
    fake_unregister(v);
}
END_TEST

START_TEST(every_length_counts_in_comparisons)
{
    starpu_data_handle_t v, m, b, other;

    starpu_vector_data_register_allocsize(&v, -1, 0, 3, 4, 100);
    starpu_matrix_data_register(&m, -1, 0, 3, 3, 4, 4);
    starpu_block_data_register(&b, -1, 0, 3, 12, 3, 4, 5, 4);
    starpu_vector_data_register(&other, -1, 0, 4, 4);
    ck_assert_int_eq(fake_compare(v, other), 0);
    ck_assert_int_eq(
        fake_ops(v)->alloc_compare(starpu_data_get_interface_on_node(v, 0),
                                   starpu_data_get_interface_on_node(other, 0)),
        0);
    fake_unregister(other);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t x = 3 + (i == 1), y = 4 + (i == 2), z = 5 + (i == 3);

        starpu_matrix_data_register(&other, -1, 0, 9, x, y, 4);
        ck_assert_int_eq(fake_compare(m, other), x == 3 && y == 4);
        fake_unregister(other);
        starpu_block_data_register(&other, -1, 0, 9, 99, x, y, z, 4);
        ck_assert_int_eq(fake_compare(b, other), i == 0);
        fake_unregister(other);
    }
    fake_unregister(v);
    fake_unregister(m);
    fake_unregister(b);
}
END_TEST

START_TEST(empty_data_are_copied_and_packed_as_nothing)
{
    starpu_data_handle_t h[4];
    starpu_ssize_t count;
    void *buffer = strided;

    starpu_variable_data_register(&h[0], 0, 0, 0);
    starpu_vector_data_register(&h[1], 0, (uintptr_t)strided, 0, 4);
    starpu_matrix_data_register(&h[2], 0, (uintptr_t)strided, 3, 3, 0, 4);
    starpu_block_data_register(&h[3], 0, (uintptr_t)strided, 3, 3, 3, 0, 2, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(fake_ops(h[i])->get_size(h[i]), 0);
        ck_assert_int_eq(fake_copy(h[i], 0, h[i], 1), 0);
        ck_assert_int_eq(fake_ops(h[i])->pack_data(h[i], 0, &buffer, &count),
                         0);
        ck_assert_int_eq(count, 0);
        ck_assert_ptr_eq(buffer, NULL);
        ck_assert_int_eq(fake_ops(h[i])->unpack_data(h[i], 0, buffer, 0), 0);
        ck_assert_uint_eq(fake_copies, 0);
        ck_assert_uint_eq(fake_allocated, 0);
        fake_unregister(h[i]);
    }
}
END_TEST

START_TEST(kinds_say_what_they_are)
{
    starpu_data_handle_t x, v, m, b;
    char text[8];

    starpu_variable_data_register(&x, -1, 0, 48);
    starpu_vector_data_register(&v, -1, 0, 12, 4);
    starpu_matrix_data_register(&m, -1, 0, 9, 2, 6, 4);
    starpu_block_data_register(&b, -1, 0, 9, 99, 2, 3, 4, 8);
    ck_assert_str_eq(described(x), "v48");
    ck_assert_str_eq(described(v), "V12x4");
    ck_assert_str_eq(described(m), "M2x6x4");
    ck_assert_str_eq(described(b), "B2x3x4x8");
    ck_assert_str_eq(displayed(x), "48\t");
    ck_assert_str_eq(displayed(v), "12\t");
    ck_assert_str_eq(displayed(m), "2\t6\t");
    ck_assert_str_eq(displayed(b), "2\t3\t4\t");
    ck_assert_str_eq(fake_ops(x)->name, "STARPU_VARIABLE_INTERFACE");
    ck_assert_str_eq(fake_ops(v)->name, "STARPU_VECTOR_INTERFACE");
    ck_assert_str_eq(fake_ops(m)->name, "STARPU_MATRIX_INTERFACE");
    ck_assert_str_eq(fake_ops(b)->name, "STARPU_BLOCK_INTERFACE");
    /* As snprintf(): cut off, and the length that it would have. */
    ck_assert_int_eq(
        fake_ops(b)->describe(starpu_data_get_interface_on_node(b, 0), text, 8),
        8);
    ck_assert_str_eq(text, "B2x3x4x");
    ck_assert_int_eq(
        fake_ops(b)->describe(starpu_data_get_interface_on_node(b, 0), NULL, 0),
        8);
    fake_unregister(x);
    fake_unregister(v);
    fake_unregister(m);
    fake_unregister(b);
}
END_TEST

START_TEST(tables_of_operations_name_their_kind)
{
    ck_assert_int_eq(starpu_interface_variable_ops.interfaceid, 5);
    ck_assert_int_eq(starpu_interface_vector_ops.interfaceid, 2);
    ck_assert_int_eq(starpu_interface_matrix_ops.interfaceid, 0);
    ck_assert_int_eq(starpu_interface_block_ops.interfaceid, 1);
    ck_assert_uint_eq(starpu_interface_variable_ops.interface_size,
                      sizeof(struct starpu_variable_interface));
    ck_assert_uint_eq(starpu_interface_vector_ops.interface_size,
                      sizeof(struct starpu_vector_interface));
    ck_assert_uint_eq(starpu_interface_matrix_ops.interface_size,
                      sizeof(struct starpu_matrix_interface));
    ck_assert_uint_eq(starpu_interface_block_ops.interface_size,
                      sizeof(struct starpu_block_interface));
}
END_TEST

/* Registered data fill every node's structure, id included. */
START_TEST(structures_are_filled_on_every_node)
{
    starpu_data_handle_t h;

    starpu_block_data_register(&h, 1, (uintptr_t)strided, 3, 7, 1, 2, 2, 4);
    for (unsigned node = 0; node < FAKE_NODES; node++) {
        struct starpu_block_interface *b =
            starpu_data_get_interface_on_node(h, node);

        ck_assert_int_eq(b->id, STARPU_BLOCK_INTERFACE_ID);
        ck_assert_uint_eq(b->nx, 1);
        ck_assert_uint_eq(b->ny, 2);
        ck_assert_uint_eq(b->nz, 2);
        ck_assert_uint_eq(b->elemsize, 4);
        ck_assert_uint_eq(b->offset, 0);
        ck_assert_uint_eq(b->ptr, node == 1 ? (uintptr_t)strided : 0);
        ck_assert_uint_eq(b->dev_handle, node == 1 ? (uintptr_t)strided : 0);
        ck_assert_uint_eq(b->ldy, node == 1 ? 3 : 1);
        ck_assert_uint_eq(b->ldz, node == 1 ? 7 : 2);
    }
    fake_unregister(h);
}
END_TEST

/* As starpu_data_register_same() does: from a structure with a slice, and with
 * memory of which the new handle has none. */
START_TEST(a_structure_can_be_registered_again)
{
    /* Static: the bytes between its fields are compared, too. */
    static struct starpu_vector_interface given = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = (uintptr_t)&strided[2],
        .dev_handle = (uintptr_t)strided,
        .offset = 8,
        .nx = 3,
        .elemsize = 4,
        .slice_base = 2,
        .allocsize = 16,
    };
    struct starpu_vector_interface *home, *away;
    starpu_data_handle_t h;

    starpu_data_register(&h, 0, &given, &starpu_interface_vector_ops);
    home = starpu_data_get_interface_on_node(h, 0);
    away = starpu_data_get_interface_on_node(h, 1);
    ck_assert_mem_eq(home, &given, sizeof(given));
    ck_assert_uint_eq(away->offset, 0);
    ck_assert_uint_eq(away->dev_handle, 0);
    ck_assert_uint_eq(away->slice_base, 2);
    ck_assert_uint_eq(away->allocsize, 16);
    fake_unregister(h);
}
END_TEST

START_TEST(more_memory_than_data_can_be_asked_for)
{
    starpu_data_handle_t m, v, other;
    struct starpu_matrix_interface *away;

    starpu_matrix_data_register_allocsize(&m, -1, 0, 9, 2, 3, 4, 100);
    starpu_vector_data_register_allocsize(&v, -1, 0, 5, 4, 100);
    ck_assert_uint_eq(starpu_matrix_get_allocsize(m), 100);
    ck_assert_uint_eq(starpu_vector_get_allocsize(v), 100);
    ck_assert_uint_eq(fake_ops(m)->get_size(m), 24);
    ck_assert_uint_eq(fake_ops(m)->get_alloc_size(m), 100);
    ck_assert_uint_eq(fake_ops(v)->get_alloc_size(v), 100);
    ck_assert_uint_eq(fake_ops(m)->alloc_footprint(m), orr_crc_size(100, 0));
    ck_assert_uint_eq(fake_ops(v)->alloc_footprint(v), orr_crc_size(100, 0));
    away = starpu_data_get_interface_on_node(m, 1);
    ck_assert_int_eq(fake_ops(m)->allocate_data_on_node(away, 1), 100);
    ck_assert_uint_eq(away->ld, 2);
    starpu_matrix_data_register(&other, -1, 0, 5, 5, 5, 4);
    ck_assert_uint_eq(fake_ops(m)->alloc_footprint(other),
                      fake_ops(m)->alloc_footprint(m));
    ck_assert_int_eq(fake_ops(m)->alloc_compare(
                         away, starpu_data_get_interface_on_node(other, 0)),
                     1);
    ck_assert_int_eq(fake_compare(m, other), 0);
    fake_unregister(other);
    starpu_matrix_data_register(&other, -1, 0, 2, 2, 3, 4);
    ck_assert_int_eq(fake_ops(m)->alloc_compare(
                         away, starpu_data_get_interface_on_node(other, 0)),
                     0);
    ck_assert_int_eq(fake_compare(m, other), 1);
    fake_ops(m)->free_data_on_node(away, 1);
    ck_assert_uint_eq(fake_allocated, 0);
    fake_unregister(m);
    fake_unregister(v);
    fake_unregister(other);
}
END_TEST

START_TEST(variables_and_blocks_have_as_much_memory_as_data)
{
    ck_assert(!starpu_interface_variable_ops.get_alloc_size);
    ck_assert(!starpu_interface_variable_ops.alloc_footprint);
    ck_assert(!starpu_interface_variable_ops.alloc_compare);
    ck_assert(!starpu_interface_block_ops.get_alloc_size);
    ck_assert(!starpu_interface_block_ops.alloc_footprint);
    ck_assert(!starpu_interface_block_ops.alloc_compare);
}
END_TEST

START_TEST(pointers_of_each_kind_can_be_registered)
{
    starpu_data_handle_t x, v, m;
    struct starpu_variable_interface *xi;
    struct starpu_vector_interface *vi;
    struct starpu_matrix_interface *mi;

    starpu_variable_data_register(&x, -1, 0, 4);
    starpu_vector_data_register(&v, -1, 0, 4, 4);
    starpu_matrix_data_register(&m, -1, 0, 2, 2, 2, 4);
    starpu_variable_ptr_register(x, 0, 30, 20, 10);
    starpu_vector_ptr_register(v, 0, 31, 21, 10);
    starpu_matrix_ptr_register(m, 0, 32, 22, 10, 7);
    xi = starpu_data_get_interface_on_node(x, 0);
    vi = starpu_data_get_interface_on_node(v, 0);
    mi = starpu_data_get_interface_on_node(m, 0);
    ck_assert_uint_eq(xi->dev_handle, 20);
    ck_assert_uint_eq(xi->offset, 10);
    ck_assert_uint_eq(vi->dev_handle, 21);
    ck_assert_uint_eq(vi->offset, 10);
    ck_assert_uint_eq(mi->dev_handle, 22);
    ck_assert_uint_eq(mi->offset, 10);
    ck_assert_uint_eq(starpu_variable_get_local_ptr(x), 30);
    ck_assert_uint_eq(starpu_vector_get_local_ptr(v), 31);
    ck_assert_uint_eq(starpu_matrix_get_local_ptr(m), 32);
    ck_assert_uint_eq(starpu_matrix_get_local_ld(m), 7);
    fake_unregister(x);
    fake_unregister(v);
    fake_unregister(m);
}
END_TEST

START_TEST(blocks_tell_what_was_registered)
{
    starpu_data_handle_t b;

    starpu_block_data_register(&b, 0, (uintptr_t)strided, 3, 7, 1, 2, 2, 4);
    ck_assert_uint_eq(starpu_block_get_nx(b), 1);
    ck_assert_uint_eq(starpu_block_get_ny(b), 2);
    ck_assert_uint_eq(starpu_block_get_nz(b), 2);
    ck_assert_uint_eq(starpu_block_get_elemsize(b), 4);
    ck_assert_uint_eq(starpu_block_get_local_ldy(b), 3);
    ck_assert_uint_eq(starpu_block_get_local_ldz(b), 7);
    ck_assert_uint_eq(starpu_block_get_local_ptr(b), (uintptr_t)strided);
    fake_unregister(b);
}
END_TEST

START_TEST(tensors_are_what_was_registered)
{
    starpu_data_handle_t t, other;
    struct starpu_tensor_interface *away;

    starpu_tensor_data_register(&t, 0, (uintptr_t)strided, 3, 7, 15, 1, 2, 2, 1,
                                4);
    ck_assert_uint_eq(starpu_tensor_get_nx(t), 1);
    ck_assert_uint_eq(starpu_tensor_get_ny(t), 2);
    ck_assert_uint_eq(starpu_tensor_get_nz(t), 2);
    ck_assert_uint_eq(starpu_tensor_get_nt(t), 1);
    ck_assert_uint_eq(starpu_tensor_get_elemsize(t), 4);
    ck_assert_uint_eq(starpu_tensor_get_local_ldy(t), 3);
    ck_assert_uint_eq(starpu_tensor_get_local_ldz(t), 7);
    ck_assert_uint_eq(starpu_tensor_get_local_ldt(t), 15);
    ck_assert_uint_eq(starpu_tensor_get_local_ptr(t), (uintptr_t)strided);
    ck_assert_str_eq(described(t), "T1x2x2x1x4");
    ck_assert_str_eq(displayed(t), "1\t2\t2\t1\t");
    away = starpu_data_get_interface_on_node(t, 1);
    ck_assert_int_eq(away->id, STARPU_TENSOR_INTERFACE_ID);
    ck_assert_uint_eq(away->ldy, 1);
    ck_assert_uint_eq(away->ldz, 2);
    ck_assert_uint_eq(away->ldt, 4);
    starpu_tensor_ptr_register(t, 1, 30, 20, 10, 5, 6, 7);
    ck_assert_uint_eq(away->ptr, 30);
    ck_assert_uint_eq(away->dev_handle, 20);
    ck_assert_uint_eq(away->offset, 10);
    ck_assert_uint_eq(away->ldy, 5);
    ck_assert_uint_eq(away->ldz, 6);
    ck_assert_uint_eq(away->ldt, 7);
    for (uint32_t i = 0; i < 6; i++) {
        starpu_tensor_data_register(&other, -1, 0, 9, 99, 999, 1 + (i == 1),
                                    2 + (i == 2), 2 + (i == 3), 1 + (i == 4),
                                    4 + (i == 5));
        ck_assert_int_eq(fake_compare(t, other), i == 0);
        fake_unregister(other);
    }
    ck_assert(!starpu_interface_tensor_ops.get_alloc_size);
    ck_assert(!starpu_interface_tensor_ops.alloc_compare);
    fake_unregister(t);
}
END_TEST

/* _i is the leading dimension that is too small. */
START_TEST(overlapping_parts_of_tensors_are_refused)
{
    starpu_data_handle_t t;

    starpu_tensor_data_register(&t, 0, (uintptr_t)strided, 3 - 2 * (_i == 0),
                                6 - (_i == 1), 12 - (_i == 2), 2, 2, 2, 2, 4);
}
END_TEST

START_TEST(leading_dimensions_of_one_neighbour_mean_nothing)
{
    starpu_data_handle_t t;

    starpu_tensor_data_register(&t, 0, (uintptr_t)strided, 0, 0, 0, 5, 1, 1, 1,
                                4);
    ck_assert_uint_eq(fake_ops(t)->get_size(t), 20);
    fake_unregister(t);
}
END_TEST

/* _i is the dimension that has none. */
START_TEST(nothing_overlaps_where_there_is_nothing)
{
    starpu_data_handle_t h;

    starpu_tensor_data_register(&h, 0, (uintptr_t)strided, _i == 0 ? 0 : 2,
                                _i <= 1 ? 0 : 4, _i <= 2 ? 0 : 8, 2 * (_i != 0),
                                2 * (_i != 1), 2 * (_i != 2), 2, 4);
    ck_assert_uint_eq(fake_ops(h)->get_size(h), 0);
    fake_unregister(h);
    if (_i > 1)
        return;
    starpu_block_data_register(&h, 0, (uintptr_t)strided, _i == 0 ? 0 : 2, 0,
                               2 * (_i != 0), 2 * (_i != 1), 2, 4);
    ck_assert_uint_eq(fake_ops(h)->get_size(h), 0);
    fake_unregister(h);
}
END_TEST

START_TEST(overlapping_planes_are_refused)
{
    starpu_data_handle_t b;

    starpu_block_data_register(&b, 0, (uintptr_t)strided, 3, 5, 1, 2, 2, 4);
}
END_TEST

START_TEST(overlapping_columns_of_blocks_are_refused)
{
    starpu_data_handle_t b;

    starpu_block_data_register(&b, 0, (uintptr_t)strided, 1, 7, 2, 2, 2, 4);
}
END_TEST

SUITE_MAIN(interfaces)
{
    Suite *suite = suite_create("interfaces");
    TCase *tc = tcase_create("interfaces");

    tcase_add_test(tc,
                   square_matrices_have_the_footprints_of_the_cholesky_models);
    tcase_add_test(tc, other_interfaces_have_their_known_footprints);
    tcase_add_test(tc, the_footprint_of_a_matrix_knows_its_sides);
    tcase_add_test(tc, sizes_are_the_products_of_the_dimensions);
    tcase_add_test(tc, a_copy_on_another_node_has_no_gaps);
    tcase_add_test(tc, no_memory_leaves_the_interface_alone);
    tcase_add_test(tc, nothing_is_allocated_for_empty_data);
    tcase_add_test(tc, packing_closes_gaps_and_unpacking_opens_them);
    tcase_add_test(tc, a_block_is_copied_plane_by_plane);
    tcase_add_test(tc, kinds_compare_by_layout_only);
    tcase_add_test(tc, getters_return_what_was_registered);
    tcase_add_test_raise_signal(tc, overlapping_columns_are_refused, 6);
    tcase_add_test(tc, the_element_size_counts_for_variables_only);
    tcase_add_test(tc, every_length_counts_in_comparisons);
    tcase_add_test(tc, empty_data_are_copied_and_packed_as_nothing);
    tcase_add_test(tc, kinds_say_what_they_are);
    tcase_add_test(tc, tables_of_operations_name_their_kind);
    tcase_add_test(tc, structures_are_filled_on_every_node);
    tcase_add_test(tc, a_structure_can_be_registered_again);
    tcase_add_test(tc, more_memory_than_data_can_be_asked_for);
    tcase_add_test(tc, variables_and_blocks_have_as_much_memory_as_data);
    tcase_add_test(tc, pointers_of_each_kind_can_be_registered);
    tcase_add_test(tc, blocks_tell_what_was_registered);
    tcase_add_test(tc, tensors_are_what_was_registered);
    tcase_add_test(tc, leading_dimensions_of_one_neighbour_mean_nothing);
    tcase_add_loop_test(tc, nothing_overlaps_where_there_is_nothing, 0, 3);
    tcase_add_loop_test_raise_signal(
        tc, overlapping_parts_of_tensors_are_refused, 6, 0, 3);
    tcase_add_test_raise_signal(tc, overlapping_planes_are_refused, 6);
    tcase_add_test_raise_signal(tc, overlapping_columns_of_blocks_are_refused,
                                6);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

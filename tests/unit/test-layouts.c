/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-layouts.c - each dense data interface with and without gaps,
 * over fake handles: copies from every layout to every other, packing, what
 * follows from the shape alone. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tests/suite.h"
#include "tests/unit/fake_data.h"

/* An interface, its lengths, and the elements between neighbours along each
 * dimension but the first. Elements are ints, 12 in all. */
struct layout {
    enum starpu_data_interface_id id;
    unsigned ndim;
    uint32_t nn[4], ld[4];
};

#define NELEMENTS 12
#define NPLACES   40 /* ints that the widest layout needs at most */

static const struct layout layouts[] = {
    {STARPU_VARIABLE_INTERFACE_ID, 1, {12}, {0}},
    {STARPU_VECTOR_INTERFACE_ID, 1, {12}, {0}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 2}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 5}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 3}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {1, 12}, {0, 1}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {1, 12}, {0, 3}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {12, 1}, {0, 12}},
    {STARPU_MATRIX_INTERFACE_ID, 2, {12, 1}, {0, 20}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 6}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 9}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 3, 9}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 4, 17}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 1, 6}, {0, 2, 2}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {2, 1, 6}, {0, 5, 6}},
    {STARPU_BLOCK_INTERFACE_ID, 3, {1, 12, 1}, {0, 3, 36}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {2, 1, 3, 2}, {0, 2, 2, 6}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {2, 1, 3, 2}, {0, 4, 5, 18}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 3, 2}, {0, 1, 2, 6}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 3, 2}, {0, 1, 3, 9}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 3, 2}, {0, 2, 5, 19}},
    {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 3, 2}, {0, 3, 6, 18}},
    {STARPU_NDIM_INTERFACE_ID, 1, {12}, {1}},
    {STARPU_NDIM_INTERFACE_ID, 1, {12}, {3}},
    {STARPU_NDIM_INTERFACE_ID, 3, {2, 3, 2}, {1, 2, 6}},
    {STARPU_NDIM_INTERFACE_ID, 3, {2, 3, 2}, {1, 4, 17}},
    {STARPU_NDIM_INTERFACE_ID, 3, {2, 3, 2}, {2, 4, 12}},
    {STARPU_NDIM_INTERFACE_ID, 3, {2, 3, 2}, {3, 6, 19}},
};

#define NLAYOUTS ((int)(sizeof(layouts) / sizeof(layouts[0])))
#define NNDIM    6 /* the last ones */

static starpu_data_handle_t data_of(const struct layout *l, int home, int *at)
{
    uintptr_t ptr = (uintptr_t)at;
    starpu_data_handle_t handle = NULL;
    uint32_t nn[4], ld[4];

    memcpy(nn, l->nn, sizeof(nn));
    memcpy(ld, l->ld, sizeof(ld));
    switch (l->id) {
    case STARPU_VARIABLE_INTERFACE_ID:
        starpu_variable_data_register(&handle, home, ptr,
                                      l->nn[0] * sizeof(int));
        break;
    case STARPU_VECTOR_INTERFACE_ID:
        starpu_vector_data_register(&handle, home, ptr, l->nn[0], sizeof(int));
        break;
    case STARPU_MATRIX_INTERFACE_ID:
        starpu_matrix_data_register(&handle, home, ptr, l->ld[1], l->nn[0],
                                    l->nn[1], sizeof(int));
        break;
    case STARPU_BLOCK_INTERFACE_ID:
        starpu_block_data_register(&handle, home, ptr, l->ld[1], l->ld[2],
                                   l->nn[0], l->nn[1], l->nn[2], sizeof(int));
        break;
    case STARPU_TENSOR_INTERFACE_ID:
        starpu_tensor_data_register(&handle, home, ptr, l->ld[1], l->ld[2],
                                    l->ld[3], l->nn[0], l->nn[1], l->nn[2],
                                    l->nn[3], sizeof(int));
        break;
    case STARPU_NDIM_INTERFACE_ID:
        starpu_ndim_data_register(&handle, home, ptr, ld, nn, l->ndim,
                                  sizeof(int));
        break;
    default:
        ck_abort_msg("no such kind");
    }
    return handle;
}

/* Where element i is, the first dimension fastest. */
static size_t place_of(const struct layout *l, size_t i)
{
    size_t place = 0;

    for (unsigned d = 0; d < l->ndim; d++) {
        place += i % l->nn[d] * (l->ld[d] ? l->ld[d] : 1);
        i /= l->nn[d];
    }
    return place;
}

static void clear(int *places)
{
    for (int i = 0; i < NPLACES; i++)
        places[i] = -1;
}

/* Elements 1 to 12, and -1 in the gaps. */
static void fill(const struct layout *l, int *places)
{
    clear(places);
    for (int i = 0; i < NELEMENTS; i++)
        places[place_of(l, (size_t)i)] = i + 1;
}

static void expect_filled(const struct layout *l, const int *places)
{
    int expected[NPLACES];

    fill(l, expected);
    ck_assert_mem_eq(places, expected, sizeof(expected));
}

static bool same_shape(const struct layout *a, const struct layout *b)
{
    return a->id == b->id && memcmp(a->nn, b->nn, sizeof(a->nn)) == 0;
}

/* Moves the start from the address to handle and offset, as on devices whose
 * memory has no address. All interfaces begin with the fields of a variable. */
static void hide_address(starpu_data_handle_t handle, unsigned node)
{
    struct starpu_variable_interface *any =
        starpu_data_get_interface_on_node(handle, node);

    any->ptr = 0;
    any->dev_handle -= 8;
    any->offset = 8;
}

/* _i is the layout of the source; every one of the same shape is a target. */
START_TEST(copies_go_from_any_layout_to_any)
{
    int from_places[NPLACES], to_places[NPLACES];
    starpu_data_handle_t from, to;

    fill(&layouts[_i], from_places);
    from = data_of(&layouts[_i], 0, from_places);
    hide_address(from, 0);
    for (int j = 0; j < NLAYOUTS; j++) {
        if (!same_shape(&layouts[_i], &layouts[j]))
            continue;
        clear(to_places);
        to = data_of(&layouts[j], 1, to_places);
        hide_address(to, 1);
        ck_assert_int_eq(fake_copy(from, 0, to, 1), 0);
        expect_filled(&layouts[j], to_places);
        expect_filled(&layouts[_i], from_places);
        fake_unregister(to);
    }
    fake_unregister(from);
}
END_TEST

START_TEST(packed_data_have_no_gaps_and_unpack_into_any_layout)
{
    int from_places[NPLACES], to_places[NPLACES], elements[NELEMENTS];
    starpu_data_handle_t from, to;
    starpu_ssize_t count;
    void *buffer;

    fill(&layouts[_i], from_places);
    from = data_of(&layouts[_i], 0, from_places);
    for (int i = 0; i < NELEMENTS; i++)
        elements[i] = i + 1;
    for (int j = 0; j < NLAYOUTS; j++) {
        if (!same_shape(&layouts[_i], &layouts[j]))
            continue;
        ck_assert_int_eq(fake_ops(from)->pack_data(from, 0, &buffer, &count),
                         0);
        ck_assert_int_eq(count, sizeof(elements));
        ck_assert_mem_eq(buffer, elements, sizeof(elements));
        to = data_of(&layouts[j], 0, to_places);
        clear(to_places);
        ck_assert_int_eq(
            fake_ops(to)->peek_data(to, 0, buffer, sizeof(elements)), 0);
        expect_filled(&layouts[j], to_places);
        ck_assert_uint_eq(fake_allocated, sizeof(elements));
        clear(to_places);
        ck_assert_int_eq(
            fake_ops(to)->unpack_data(to, 0, buffer, sizeof(elements)), 0);
        expect_filled(&layouts[j], to_places);
        ck_assert_uint_eq(fake_allocated, 0);
        fake_unregister(to);
    }
    fake_unregister(from);
}
END_TEST

/* The address is the host's, the handle need not be. */
START_TEST(packing_goes_by_the_address)
{
    int places[NPLACES];
    starpu_data_handle_t h;
    struct starpu_variable_interface *any;
    starpu_ssize_t count;
    void *buffer;

    fill(&layouts[_i], places);
    h = data_of(&layouts[_i], 0, places);
    any = starpu_data_get_interface_on_node(h, 0);
    any->dev_handle = 0;
    any->offset = 8;
    ck_assert_int_eq(fake_ops(h)->pack_data(h, 0, &buffer, &count), 0);
    clear(places);
    ck_assert_int_eq(fake_ops(h)->unpack_data(h, 0, buffer, 48), 0);
    expect_filled(&layouts[_i], places);
    fake_unregister(h);
}
END_TEST

START_TEST(a_wrong_count_is_not_unpacked)
{
    int places[NPLACES], elements[NELEMENTS + 1] = {0};
    starpu_data_handle_t h;

    clear(places);
    h = data_of(&layouts[_i], 0, places);
    ck_assert_int_eq(fake_ops(h)->peek_data(h, 0, elements, 44), -EINVAL);
    ck_assert_int_eq(fake_ops(h)->unpack_data(h, 0, elements, 52), -EINVAL);
    for (int i = 0; i < NPLACES; i++)
        ck_assert_int_eq(places[i], -1);
    fake_unregister(h);
}
END_TEST

START_TEST(no_room_to_pack_is_an_error)
{
    int places[NPLACES];
    starpu_data_handle_t h;
    starpu_ssize_t count;
    void *buffer = places;

    fill(&layouts[_i], places);
    h = data_of(&layouts[_i], 0, places);
    fake_out_of_memory = 1;
    ck_assert_int_eq(fake_ops(h)->pack_data(h, 0, &buffer, &count), -ENOMEM);
    ck_assert_ptr_eq(buffer, places);
    fake_unregister(h);
}
END_TEST

/* Home, another node, and back: as data travel. */
START_TEST(allocated_copies_are_tight_and_travel_back)
{
    int places[NPLACES];
    starpu_data_handle_t h;
    struct starpu_data_interface_ops *ops;
    void *away;

    fill(&layouts[_i], places);
    h = data_of(&layouts[_i], 0, places);
    ops = fake_ops(h);
    away = starpu_data_get_interface_on_node(h, 1);
    ck_assert_ptr_eq(ops->handle_to_pointer(h, 0), places);
    ck_assert_ptr_eq(ops->handle_to_pointer(h, 1), NULL);
    ck_assert_int_eq(ops->allocate_data_on_node(away, 1), 48);
    ck_assert_uint_eq(fake_allocated, 48);
    ck_assert_int_eq(fake_copy(h, 0, h, 1), 0);
    for (int i = 0; i < NELEMENTS; i++)
        ck_assert_int_eq(((int *)ops->to_pointer(away, 1))[i], i + 1);
    clear(places);
    ck_assert_int_eq(fake_copy(h, 1, h, 0), 0);
    expect_filled(&layouts[_i], places);
    ops->free_data_on_node(away, 1);
    ck_assert_uint_eq(fake_allocated, 0);
    ck_assert_ptr_eq(ops->to_pointer(away, 1), NULL);
    ops->free_data_on_node(away, 1); /* nothing there: nothing happens */
    ck_assert_uint_eq(fake_allocated, 0);
    fake_unregister(h);
}
END_TEST

/* A structure that starts as that of the node: at home, with the gaps there. Not
 * of data whose leading dimensions are an array of the handle's. */
START_TEST(scratch_buffers_are_tight)
{
    union {
        struct starpu_matrix_interface matrix;
        struct starpu_block_interface block;
        struct starpu_tensor_interface tensor;
        struct starpu_variable_interface any;
    } scratch;
    int places[NPLACES];
    starpu_data_handle_t h;
    struct starpu_data_interface_ops *ops;
    void *home;

    fill(&layouts[_i], places);
    h = data_of(&layouts[_i], 0, places);
    ops = fake_ops(h);
    home = starpu_data_get_interface_on_node(h, 0);
    ck_assert_uint_le(ops->interface_size, sizeof(scratch));
    memcpy(&scratch, home, ops->interface_size);
    ck_assert_int_eq(ops->allocate_data_on_node(&scratch, 0), 48);
    ck_assert_int_eq(ops->copy_methods->any_to_any(home, 0, &scratch, 0, NULL),
                     0);
    for (int i = 0; i < NELEMENTS; i++)
        ck_assert_int_eq(((int *)scratch.any.ptr)[i], i + 1);
    clear(places);
    ck_assert_int_eq(ops->copy_methods->any_to_any(&scratch, 0, home, 0, NULL),
                     0);
    expect_filled(&layouts[_i], places);
    ops->free_data_on_node(&scratch, 0);
    ck_assert_uint_eq(fake_allocated, 0);
    fake_unregister(h);
}
END_TEST

START_TEST(data_without_a_home_are_nowhere)
{
    starpu_data_handle_t h = data_of(&layouts[_i], -1, NULL);

    for (unsigned node = 0; node < FAKE_NODES; node++)
        ck_assert_ptr_eq(fake_ops(h)->handle_to_pointer(h, node), NULL);
    ck_assert_uint_eq(fake_ops(h)->get_size(h), 48);
    ck_assert_int_eq(fake_ops(h)->allocate_data_on_node(
                         starpu_data_get_interface_on_node(h, 0), 0),
                     48);
    fake_ops(h)->free_data_on_node(starpu_data_get_interface_on_node(h, 0), 0);
    fake_unregister(h);
}
END_TEST

START_TEST(a_null_pointer_may_have_a_home)
{
    int places[NPLACES];
    starpu_data_handle_t null = data_of(&layouts[_i], 0, NULL);
    starpu_data_handle_t real = data_of(&layouts[_i], 0, places);

    ck_assert_ptr_eq(fake_ops(null)->handle_to_pointer(null, 0), NULL);
    ck_assert_uint_eq(fake_ops(null)->get_size(null), 48);
    ck_assert_uint_eq(fake_footprint(null), fake_footprint(real));
    ck_assert_int_eq(fake_compare(null, real), 1);
    fake_unregister(null);
    fake_unregister(real);
}
END_TEST

/* Footprints name rows of model files. */
START_TEST(only_kind_and_lengths_make_the_footprint)
{
    starpu_data_handle_t a = data_of(&layouts[_i], -1, NULL), b;

    for (int j = 0; j < NLAYOUTS; j++) {
        b = data_of(&layouts[j], -1, NULL);
        ck_assert_int_eq(fake_footprint(a) == fake_footprint(b),
                         same_shape(&layouts[_i], &layouts[j]));
        if (layouts[_i].id == layouts[j].id)
            ck_assert_int_eq(fake_compare(a, b),
                             same_shape(&layouts[_i], &layouts[j]));
        fake_unregister(b);
    }
    fake_unregister(a);
}
END_TEST

/* A copy that the application has: at its address, with its gaps. Copies use
 * handle and offset, packing the address. */
START_TEST(memory_of_the_application_is_used_as_it_says)
{
    const struct layout *tight = &layouts[9], *wide = &layouts[12];
    int places[NPLACES], home[NELEMENTS];
    starpu_data_handle_t h;
    struct starpu_block_interface *b;
    starpu_ssize_t count;
    void *buffer;

    fill(tight, places);
    memcpy(home, places, sizeof(home));
    h = data_of(tight, 0, home);
    clear(places);
    starpu_block_ptr_register(h, 1, (uintptr_t)&home[0], (uintptr_t)places - 8,
                              8, 4, 17);
    b = starpu_data_get_interface_on_node(h, 1);
    ck_assert_uint_eq(b->ldy, 4);
    ck_assert_uint_eq(b->ldz, 17);
    ck_assert_int_eq(fake_copy(h, 0, h, 1), 0);
    expect_filled(wide, places);
    b->ptr = (uintptr_t)places;
    b->dev_handle = 0;
    ck_assert_int_eq(fake_ops(h)->pack_data(h, 1, &buffer, &count), 0);
    ck_assert_mem_eq(buffer, home, sizeof(home));
    clear(places);
    ck_assert_int_eq(fake_ops(h)->unpack_data(h, 1, buffer, sizeof(home)), 0);
    expect_filled(wide, places);
    fake_unregister(h);
}
END_TEST

/* A kernel may make its copy smaller: what is copied is what the source has. */
START_TEST(the_source_says_how_much_is_copied)
{
    static const struct layout wide = {
        STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 5}};
    int places[NPLACES], away_places[NPLACES];
    starpu_data_handle_t h, away;

    fill(&wide, places);
    clear(away_places);
    h = data_of(&wide, 0, places);
    away = data_of(&wide, 1, away_places);
    STARPU_MATRIX_SET_NX(starpu_data_get_interface_on_node(h, 0), 1);
    STARPU_MATRIX_SET_NY(starpu_data_get_interface_on_node(h, 0), 2);
    ck_assert_int_eq(fake_copy(h, 0, away, 1), 0);
    for (int i = 0; i < NPLACES; i++)
        ck_assert_int_eq(away_places[i], i == 0 ? 1 : i == 5 ? 3 : -1);
    fake_unregister(h);
    fake_unregister(away);
}
END_TEST

/* What one copy of two dimensions can do is not done in pieces. */
START_TEST(dimensions_without_gaps_are_copied_as_one)
{
    static const struct {
        struct layout from, to;
        unsigned copies;
    } cases[] = {
        /* Nothing to step over. */
        {{STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 2}},
         {STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 2}},
         1},
        {{STARPU_MATRIX_INTERFACE_ID, 2, {12, 1}, {0, 20}},
         {STARPU_MATRIX_INTERFACE_ID, 2, {12, 1}, {0, 12}},
         1},
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 6}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 6}},
         1},
        /* Tiles. */
        {{STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 5}},
         {STARPU_MATRIX_INTERFACE_ID, 2, {2, 6}, {0, 3}},
         1},
        /* Gaps behind columns, but none behind planes, and so on. */
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 3, 9}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 6}},
         1},
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 6}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 9}},
         1},
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 1, 6}, {0, 5, 6}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 1, 6}, {0, 2, 2}},
         1},
        /* Gaps behind both: plane by plane. */
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 4, 17}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 4, 17}},
         2},
        {{STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 3, 9}},
         {STARPU_BLOCK_INTERFACE_ID, 3, {2, 3, 2}, {0, 2, 9}},
         2},
        /* Gaps at all levels: plane by plane, in each block. */
        {{STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 2, 3}, {0, 2, 5, 12}},
         {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 2, 3}, {0, 2, 5, 12}},
         6},
        /* A level of columns and planes, and one of blocks. */
        {{STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 2, 3}, {0, 2, 4, 12}},
         {STARPU_TENSOR_INTERFACE_ID, 4, {1, 2, 2, 3}, {0, 3, 6, 12}},
         3},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int from_places[NPLACES], to_places[NPLACES];
        starpu_data_handle_t from, to;

        fill(&cases[i].from, from_places);
        clear(to_places);
        from = data_of(&cases[i].from, 0, from_places);
        to = data_of(&cases[i].to, 1, to_places);
        fake_copies = 0;
        ck_assert_int_eq(fake_copy(from, 0, to, 1), 0);
        ck_assert_msg(fake_copies == cases[i].copies,
                      "case %zu: %u copies, not %u", i, fake_copies,
                      cases[i].copies);
        expect_filled(&cases[i].to, to_places);
        fake_unregister(from);
        fake_unregister(to);
    }
}
END_TEST

START_TEST(a_copy_under_way_is_said_to_be)
{
    int from_places[NPLACES], to_places[NPLACES], something;
    starpu_data_handle_t from, to;

    fill(&layouts[_i], from_places);
    clear(to_places);
    from = data_of(&layouts[_i], 0, from_places);
    to = data_of(&layouts[_i], 1, to_places);
    ck_assert_int_eq(fake_ops(from)->copy_methods->any_to_any(
                         starpu_data_get_interface_on_node(from, 0), 0,
                         starpu_data_get_interface_on_node(to, 1), 1,
                         &something),
                     -EAGAIN);
    expect_filled(&layouts[_i], to_places);
    fake_unregister(from);
    fake_unregister(to);
}
END_TEST

SUITE_MAIN(layouts)
{
    Suite *suite = suite_create("layouts");
    TCase *tc = tcase_create("layouts");

    tcase_add_loop_test(tc, copies_go_from_any_layout_to_any, 0, NLAYOUTS);
    tcase_add_loop_test(tc, a_copy_under_way_is_said_to_be, 0, NLAYOUTS);
    tcase_add_loop_test(tc, packed_data_have_no_gaps_and_unpack_into_any_layout,
                        0, NLAYOUTS);
    tcase_add_loop_test(tc, packing_goes_by_the_address, 0, NLAYOUTS);
    tcase_add_loop_test(tc, a_wrong_count_is_not_unpacked, 0, NLAYOUTS);
    tcase_add_loop_test(tc, no_room_to_pack_is_an_error, 0, NLAYOUTS);
    tcase_add_loop_test(tc, allocated_copies_are_tight_and_travel_back, 0,
                        NLAYOUTS);
    tcase_add_loop_test(tc, scratch_buffers_are_tight, 0, NLAYOUTS - NNDIM);
    tcase_add_loop_test(tc, data_without_a_home_are_nowhere, 0, NLAYOUTS);
    tcase_add_loop_test(tc, a_null_pointer_may_have_a_home, 0, NLAYOUTS);
    tcase_add_loop_test(tc, only_kind_and_lengths_make_the_footprint, 0,
                        NLAYOUTS);
    tcase_add_test(tc, dimensions_without_gaps_are_copied_as_one);
    tcase_add_test(tc, memory_of_the_application_is_used_as_it_says);
    tcase_add_test(tc, the_source_says_how_much_is_copied);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

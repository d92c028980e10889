/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-disk-plans.c - planned partitions of data that main memory has no room
 * for: whole and parts in turns, at two levels, what is not used just now on a disk. On
 * each machine.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "machines.h"

enum { KIB = 1024 };

/* Data of 256 KiB, twice what fits into the 4 MiB of main memory; the GPUs have
 * 1 MiB each. */
enum { NDATA = 32, NX = 64 * KIB, NPARTS = 4, NTURNS = 2 };

static char directory[] = "/tmp/orrery-test-disk-plans-XXXXXX";

static void open_small(int machine)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("STARPU_LIMIT_CPU_MEM", "4", 1);
    setenv("STARPU_LIMIT_CUDA_MEM", "1", 1);
    machine_open(machine);
    ck_assert_int_ge(
        starpu_disk_register(&starpu_disk_unistd_ops, directory, 64 * KIB * KIB),
        1);
}

static void close_all(void)
{
    starpu_shutdown();
    ck_assert_int_eq(rmdir(directory), 0);
}

/* --- unsigned numbers, each a multiple of its place plus a constant --- */

static void fill(void *buffers[], void *arg)
{
    unsigned *to = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] = (unsigned)(uintptr_t)arg + i;
}

static void change(void *buffers[], void *arg)
{
    unsigned *to = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] = to[i] * 3 + (unsigned)(uintptr_t)arg;
}

static unsigned wrong;

/* It is the value of the place that the argument says, and of those behind it. */
static void look(void *buffers[], void *arg)
{
    const unsigned *at = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const unsigned *first = arg;

    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        if (at[i] != first[0] + first[1] * i)
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

#define CODELET(name_, func, mode)                                             \
    static struct starpu_codelet name_ = {.cpu_funcs = {func},                 \
                                          .cuda_funcs = {func},                \
                                          .nbuffers = 1,                       \
                                          .modes = {mode},                     \
                                          .name = "k"}
CODELET(cl_fill, fill, STARPU_W);
CODELET(cl_change, change, STARPU_RW);
CODELET(cl_look, look, STARPU_R);

static void submit(struct starpu_codelet *cl, starpu_data_handle_t handle,
                   void *arg)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = handle;
    task->cl_arg = arg;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static struct starpu_data_filter by_block = {
    .filter_func = starpu_vector_filter_block, .nchildren = NPARTS};

static struct starpu_data_filter in_halves = {
    .filter_func = starpu_vector_filter_block, .nchildren = 2};

struct datum {
    starpu_data_handle_t whole, parts[NPARTS], halves[2];
    unsigned first, slope; /* of its values now */
};

static void change_all(starpu_data_handle_t *handles, unsigned n,
                       struct datum *datum, unsigned by)
{
    for (unsigned i = 0; i < n; i++)
        submit(&cl_change, handles[i], (void *)(uintptr_t)by);
    datum->first = datum->first * 3 + by;
    datum->slope *= 3;
}

/* Tasks keep pointers to what they are to find. */
static void look_at(starpu_data_handle_t handle, const struct datum *datum,
                    unsigned start)
{
    static unsigned expected[1 << 13][2], n;
    unsigned *mine = expected[n++ % (1 << 13)];

    mine[0] = datum->first + start * datum->slope;
    mine[1] = datum->slope;
    submit(&cl_look, handle, mine);
}

static unsigned draw(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(*seed >> 33) % n;
}

static void take_turn(struct datum *datum, uint64_t *seed)
{
    unsigned part = draw(seed, NPARTS);

    switch (draw(seed, 4)) {
    case 0:
        change_all(&datum->whole, 1, datum, draw(seed, 100));
        break;
    case 1:
        look_at(datum->whole, datum, 0);
        look_at(datum->parts[part], datum, part * (NX / NPARTS));
        break;
    case 2:
        look_at(datum->parts[part], datum, part * (NX / NPARTS));
        break;
    default:
        change_all(datum->parts, NPARTS, datum, draw(seed, 100));
        break;
    }
    starpu_data_acquire_cb(datum->whole, STARPU_RW,
                           (void (*)(void *))starpu_data_release,
                           datum->whole);
}

static void check(struct datum *datum)
{
    const unsigned *at;

    ck_assert_int_eq(starpu_data_acquire(datum->whole, STARPU_R), 0);
    at = starpu_data_get_local_ptr(datum->whole);
    for (unsigned i = 0; i < NX; i++)
        ck_assert_uint_eq(at[i], datum->first + datum->slope * i);
    starpu_data_release(datum->whole);
}

static void begin(struct datum *datum, unsigned i)
{
    datum->first = i * 1000;
    datum->slope = 1;
    starpu_vector_data_register(&datum->whole, -1, 0, NX, sizeof(unsigned));
    submit(&cl_fill, datum->whole, (void *)(uintptr_t)datum->first);
    starpu_data_partition_plan(datum->whole, &by_block, datum->parts);
}

static void end(struct datum *datum)
{
    check(datum);
    starpu_data_partition_clean(datum->whole, NPARTS, datum->parts);
    starpu_data_unregister(datum->whole);
}

static struct datum data[NDATA];

START_TEST(planned_data_leave_main_memory_between_their_turns)
{
    uint64_t seed = (uint64_t)_i + 1;

    open_small(_i);
    for (unsigned i = 0; i < NDATA; i++)
        begin(&data[i], i);
    for (unsigned turn = 0; turn < NTURNS * NDATA; turn++)
        take_turn(&data[draw(&seed, NDATA)], &seed);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(wrong, 0);
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}
END_TEST

/* A plan of a part that was made while the whole was on the disk, and one that has no
 * value when its parts are written first. */
START_TEST(parts_of_what_has_left_are_cut_again)
{
    struct datum *deep = &data[0], *empty = &data[1];

    open_small(_i);
    begin(deep, 0);
    for (unsigned i = 2; i < NDATA; i++)
        begin(&data[i], i);
    for (unsigned i = 2; i < NDATA; i++)
        change_all(&data[i].whole, 1, &data[i], 1);
    /* Memory is full of what has to be written first. */
    starpu_vector_data_register(&empty->whole, -1, 0, NX, sizeof(unsigned));
    starpu_data_partition_plan(empty->whole, &by_block, empty->parts);
    starpu_task_wait_for_all();
    starpu_data_partition_plan(deep->parts[1], &in_halves, deep->halves);
    change_all(deep->parts, NPARTS, deep, 5);
    submit(&cl_change, deep->parts[0], (void *)(uintptr_t)2);
    submit(&cl_change, deep->halves[0], (void *)(uintptr_t)2);
    submit(&cl_change, deep->halves[1], (void *)(uintptr_t)2);
    submit(&cl_change, deep->parts[2], (void *)(uintptr_t)2);
    submit(&cl_change, deep->parts[3], (void *)(uintptr_t)2);
    deep->first = deep->first * 3 + 2;
    deep->slope *= 3;
    empty->first = 7;
    empty->slope = 1;
    for (unsigned i = 0; i < NPARTS; i++)
        submit(&cl_fill, empty->parts[i],
               (void *)(uintptr_t)(7 + i * (NX / NPARTS)));
    for (unsigned i = 2; i < NDATA; i++)
        change_all(&data[i].whole, 1, &data[i], 2);
    check(deep);
    check(empty);
    starpu_data_partition_clean(deep->parts[1], 2, deep->halves);
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}
END_TEST

/* Parts that were written, wherever, and are only read from now on: the whole has
 * what they have. And the other way round. */
START_TEST(parts_that_were_written_are_read_beside_the_whole)
{
    struct datum *datum = &data[0];

    open_small(_i);
    begin(datum, 3);
    for (unsigned turn = 0; turn < 3; turn++) {
        change_all(datum->parts, NPARTS, datum, 2 + turn);
        starpu_data_partition_readonly_downgrade_submit(datum->whole, NPARTS,
                                                        datum->parts);
        look_at(datum->whole, datum, 0);
        look_at(datum->parts[turn], datum, turn * (NX / NPARTS));
        check(datum);
        starpu_data_partition_readwrite_upgrade_submit(datum->whole, NPARTS,
                                                       datum->parts);
    }
    starpu_task_wait_for_all();
    ck_assert_uint_eq(wrong, 0);
    end(datum);
    close_all();
}
END_TEST

/* Nobody asks for a whole meanwhile: parts of all data are in use at once. */
START_TEST(parts_of_more_data_than_main_memory_has_room_for_are_used)
{
    uint64_t seed = (uint64_t)_i + 1;

    open_small(_i);
    for (unsigned i = 0; i < NDATA; i++)
        begin(&data[i], i);
    for (unsigned turn = 0; turn < NTURNS * NDATA; turn++)
        change_all(data[turn % NDATA].parts, NPARTS, &data[turn % NDATA],
                   draw(&seed, 100));
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}
END_TEST

/* The parts are written first, and wholes have had no value. */
START_TEST(parts_of_more_data_than_main_memory_has_room_for_are_first_written)
{
    open_small(_i);
    for (unsigned i = 0; i < NDATA; i++) {
        data[i].first = i;
        data[i].slope = 1;
        starpu_vector_data_register(&data[i].whole, -1, 0, NX,
                                    sizeof(unsigned));
        starpu_data_partition_plan(data[i].whole, &by_block, data[i].parts);
    }
    for (unsigned i = 0; i < NDATA; i++)
        for (unsigned k = 0; k < NPARTS; k++)
            submit(&cl_fill, data[i].parts[k],
                   (void *)(uintptr_t)(i + k * (NX / NPARTS)));
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}
END_TEST

START_TEST(parts_of_more_data_than_main_memory_has_room_for_are_read)
{
    uint64_t seed = (uint64_t)_i + 1;

    open_small(_i);
    for (unsigned i = 0; i < NDATA; i++)
        begin(&data[i], i);
    for (unsigned turn = 0; turn < 2 * NTURNS * NDATA; turn++) {
        struct datum *datum = &data[turn % NDATA];
        unsigned part = draw(&seed, NPARTS);

        look_at(datum->parts[part], datum, part * (NX / NPARTS));
        if (draw(&seed, 2))
            look_at(datum->whole, datum, 0);
    }
    starpu_task_wait_for_all();
    ck_assert_uint_eq(wrong, 0);
    for (unsigned i = 0; i < NDATA; i++)
        end(&data[i]);
    close_all();
}
END_TEST

/* One part is in halves of its own: written there, or read. */
static void use_halves(struct datum *datum, bool writes, unsigned by)
{
    unsigned length = NX / NPARTS / 2;

    if (writes) {
        change_all(datum->parts, 1, datum, by);
        submit(&cl_change, datum->halves[0], (void *)(uintptr_t)by);
        submit(&cl_change, datum->halves[1], (void *)(uintptr_t)by);
        for (unsigned i = 2; i < NPARTS; i++)
            submit(&cl_change, datum->parts[i], (void *)(uintptr_t)by);
        return;
    }
    look_at(datum->halves[1], datum, NX / NPARTS + length);
    look_at(datum->parts[1], datum, NX / NPARTS);
}

static void use_somehow(struct datum *datum, uint64_t *seed)
{
    unsigned by = draw(seed, 100), part = draw(seed, NPARTS);

    switch (draw(seed, 7)) {
    case 0:
        change_all(&datum->whole, 1, datum, by);
        break;
    case 1:
        look_at(datum->whole, datum, 0);
        look_at(datum->parts[part], datum, part * (NX / NPARTS));
        break;
    case 2:
        look_at(datum->parts[part], datum, part * (NX / NPARTS));
        break;
    case 3:
        use_halves(datum, false, 0);
        break;
    case 4:
        starpu_data_prefetch_on_node(datum->parts[part],
                                     draw(seed, 2) ? STARPU_MAIN_RAM : 1, 1);
        break;
    case 5:
        use_halves(datum, true, by);
        break;
    default:
        change_all(datum->parts, NPARTS, datum, by);
        break;
    }
}

/* Parts of parts, too, whichever is used next. */
START_TEST(parts_at_two_levels_leave_main_memory_whatever_their_state)
{
    uint64_t seed = (uint64_t)_i + 1;

    open_small(_i);
    for (unsigned i = 0; i < NDATA; i++) {
        begin(&data[i], i);
        starpu_data_partition_plan(data[i].parts[1], &in_halves,
                                   data[i].halves);
    }
    for (unsigned turn = 0; turn < 4 * NTURNS * NDATA; turn++)
        use_somehow(&data[draw(&seed, NDATA)], &seed);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(wrong, 0);
    for (unsigned i = 0; i < NDATA; i++) {
        check(&data[i]);
        starpu_data_partition_clean(data[i].parts[1], 2, data[i].halves);
        end(&data[i]);
    }
    close_all();
}
END_TEST

SUITE_MAIN(disk_plans)
{
    Suite *suite = suite_create("disk-plans");
    TCase *tc = tcase_create("disk-plans");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, planned_data_leave_main_memory_between_their_turns,
                        0, NMACHINES);
    tcase_add_loop_test(tc, parts_of_what_has_left_are_cut_again, 0, 3);
    tcase_add_loop_test(tc, parts_that_were_written_are_read_beside_the_whole, 0,
                        NMACHINES);
    tcase_add_loop_test(
        tc, parts_of_more_data_than_main_memory_has_room_for_are_used, 0,
        NMACHINES);
    tcase_add_loop_test(
        tc, parts_of_more_data_than_main_memory_has_room_for_are_first_written,
        0, 3);
    tcase_add_loop_test(
        tc, parts_of_more_data_than_main_memory_has_room_for_are_read, 0,
        NMACHINES);
    tcase_add_loop_test(
        tc, parts_at_two_levels_leave_main_memory_whatever_their_state, 0,
        NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

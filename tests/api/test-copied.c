/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-copied.c - acquisitions whose callback copies: simulated, it comes when
 * the copies have been made, one after the other, as long as a copy within main memory
 * takes; in a real run when the data are there.
 */
#include <orrery.h>
#include <stdlib.h>

#include "machines.h"

enum { N = 3, BYTES = 1 << 20 };

/* Read and written, at the 10 GB/s of a description that says nothing. */
#define US (2 * BYTES / 10e3)

struct copy {
    starpu_data_handle_t handle;
    double date;
};

static char values[N][BYTES];
static struct copy copies[N];
static int wrote_at[N]; /* copies that had ended by then */
static int nended;

static void ended(void *arg)
{
    struct copy *copy = arg;

    copy->date = starpu_timing_now();
    nended++;
    starpu_data_release_on_node(copy->handle, STARPU_MAIN_RAM);
}

/* As it was acquired, without a node. */
static void held(void *arg)
{
    struct copy *copy = arg;

    copy->date = starpu_timing_now();
    starpu_data_release_on_node(copy->handle, STARPU_ACQUIRE_NO_NODE);
}

static void begin(struct copy *copy, enum starpu_data_access_mode mode,
                  size_t bytes)
{
    ck_assert_int_eq(orrery_data_acquire_to_copy(copy->handle, STARPU_MAIN_RAM,
                                                 mode, bytes, ended, copy),
                     0);
}

static void open_all(int machine)
{
    machine_open(machine);
    for (int i = 0; i < N; i++)
        starpu_variable_data_register(&copies[i].handle, STARPU_MAIN_RAM,
                                      (uintptr_t)values[i], BYTES);
}

static void close_all(void)
{
    for (int i = 0; i < N; i++)
        starpu_data_unregister(copies[i].handle);
    starpu_shutdown();
}

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    *(int *)arg = nended;
}

static struct starpu_codelet cl_write = {
    .cpu_funcs = {note}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "k"};

START_TEST(tasks_wait_for_the_copy)
{
    open_all(_i);
    begin(&copies[0], STARPU_RW, BYTES);
    ck_assert_int_eq(starpu_task_insert(&cl_write, STARPU_RW, copies[0].handle,
                                        STARPU_CL_ARGS_NFREE, &wrote_at[0],
                                        sizeof(wrote_at[0]), 0),
                     0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(wrote_at[0], 1);
    close_all();
}
END_TEST

START_TEST(copies_come_one_after_the_other)
{
    double start;

    setenv("STARPU_SIMGRID_FETCHING_INPUT_COST", "0", 1);
    open_all(FIRST_SIMULATED);
    start = starpu_timing_now();
    for (int i = 0; i < N; i++)
        begin(&copies[i], STARPU_R, BYTES);
    ck_assert_int_eq(nended, 0);
    for (int i = 0; i < N; i++)
        starpu_data_acquire(copies[i].handle, STARPU_RW);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq_tol(copies[i].date - start, (i + 1) * US, 1);
        starpu_data_release(copies[i].handle);
    }
    /* They have all ended: another one begins at once. */
    start = starpu_timing_now();
    begin(&copies[0], STARPU_R, BYTES / 2);
    starpu_data_acquire(copies[0].handle, STARPU_RW);
    ck_assert_double_eq_tol(copies[0].date - start, US / 2, 1);
    starpu_data_release(copies[0].handle);
    close_all();
}
END_TEST

START_TEST(without_bytes_or_cost_it_comes_at_once)
{
    open_all(FIRST_SIMULATED);
    begin(&copies[0], STARPU_R, 0);
    ck_assert_int_eq(nended, 1);
    close_all();
    setenv("STARPU_SIMGRID_TRANSFER_COST", "0", 1);
    open_all(FIRST_SIMULATED);
    copies[1].date = starpu_timing_now();
    begin(&copies[1], STARPU_R, BYTES);
    starpu_data_acquire(copies[1].handle, STARPU_RW);
    ck_assert_int_eq(nended, 2);
    ck_assert_double_lt(starpu_timing_now() - copies[1].date, US / 10);
    starpu_data_release(copies[1].handle);
    close_all();
}
END_TEST

/* µs from now until the datum has been acquired there. */
static double acquired_us(struct copy *copy, int node,
                          enum starpu_data_access_mode mode)
{
    double start = starpu_timing_now(), us;

    ck_assert_int_eq(starpu_data_acquire_on_node(copy->handle, node, mode), 0);
    us = starpu_timing_now() - start;
    starpu_data_release_on_node(copy->handle, node);
    return us;
}

static double copied_us(struct copy *copy, enum starpu_data_access_mode mode)
{
    double start = starpu_timing_now();

    begin(copy, mode, BYTES);
    (void)acquired_us(copy, STARPU_MAIN_RAM, STARPU_RW);
    return copy->date - start;
}

/* The pages of memory are given when it is used, once: by the program's own copies, and by
 * those between nodes. */
START_TEST(memory_that_is_new_takes_longer)
{
    int worker, device;
    double to_device;

    setenv(
        "ORRERY_SET",
        "cost[first-use-per-mib] = 500us; cost[device-first-use-per-mib] = 700us",
        1);
    setenv("STARPU_SIMGRID_FETCHING_INPUT_COST", "0", 1);
    open_all(FIRST_SIMULATED);
    worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    ck_assert_int_ge(worker, 0);
    device = (int)starpu_worker_get_memory_node((unsigned)worker);
    orrery_data_untouched(copies[0].handle);
    orrery_data_untouched(copies[1].handle);
    ck_assert_double_eq_tol(copied_us(&copies[0], STARPU_W), US + 500, 1);
    ck_assert_double_eq_tol(copied_us(&copies[0], STARPU_W), US, 1);
    ck_assert_double_eq_tol(copied_us(&copies[2], STARPU_W), US, 1);
    /* The device's memory; what it has written goes to memory that is there. */
    /* Memory of the application's that no data are in. */
    to_device = starpu_timing_now();
    ck_assert_int_eq(orrery_data_acquire_to_copy_new(
                         copies[2].handle, STARPU_MAIN_RAM, STARPU_R, BYTES,
                         BYTES / 2, ended, &copies[2]),
                     0);
    (void)acquired_us(&copies[2], STARPU_MAIN_RAM, STARPU_RW);
    ck_assert_double_eq_tol(copies[2].date - to_device, US + 250, 1);
    /* For a task, the same. */
    to_device = starpu_timing_now();
    ck_assert_int_eq(orrery_data_acquire_for_task(
                         NULL, copies[2].handle, STARPU_MAIN_RAM, STARPU_R,
                         BYTES, 2 * BYTES, ended, &copies[2]),
                     0);
    (void)acquired_us(&copies[2], STARPU_MAIN_RAM, STARPU_RW);
    ck_assert_double_eq_tol(copies[2].date - to_device, US + 500, 1);
    to_device = acquired_us(&copies[0], device, STARPU_R);
    (void)acquired_us(&copies[0], STARPU_MAIN_RAM, STARPU_RW);
    ck_assert_double_eq_tol(
        to_device - acquired_us(&copies[0], device, STARPU_RW), 700, 1);
    to_device = acquired_us(&copies[0], STARPU_MAIN_RAM, STARPU_R);
    /* Written by the device first: its memory is given then, main memory with the copy. */
    (void)acquired_us(&copies[1], device, STARPU_W);
    ck_assert_double_eq_tol(
        acquired_us(&copies[1], STARPU_MAIN_RAM, STARPU_R) - to_device, 500, 1);
    (void)acquired_us(&copies[1], STARPU_MAIN_RAM, STARPU_RW);
    (void)acquired_us(&copies[0], STARPU_MAIN_RAM, STARPU_RW);
    ck_assert_double_eq_tol(acquired_us(&copies[1], device, STARPU_R),
                            acquired_us(&copies[0], device, STARPU_R), 1);
    close_all();
}
END_TEST

/* Wherever the data are: the application copies in main memory. */
START_TEST(data_that_stay_where_they_are_are_copied)
{
    double start;

    open_all(FIRST_SIMULATED);
    start = starpu_timing_now();
    ck_assert_int_eq(
        orrery_data_acquire_to_copy(copies[0].handle, STARPU_ACQUIRE_NO_NODE,
                                    STARPU_R, BYTES, held, &copies[0]),
        0);
    starpu_data_acquire(copies[0].handle, STARPU_RW);
    ck_assert_double_eq_tol(copies[0].date - start, US, 1);
    starpu_data_release(copies[0].handle);
    close_all();
}
END_TEST

START_TEST(in_a_real_run_it_comes_when_the_data_are_there)
{
    open_all(0);
    begin(&copies[0], STARPU_R, BYTES);
    ck_assert_int_eq(nended, 1);
    close_all();
}
END_TEST

SUITE_MAIN(copied)
{
    Suite *suite = suite_create("copied");
    TCase *tc = tcase_create("copied");

    tcase_add_loop_test(tc, tasks_wait_for_the_copy, 0, NMACHINES);
    tcase_add_test(tc, copies_come_one_after_the_other);
    tcase_add_test(tc, without_bytes_or_cost_it_comes_at_once);
    tcase_add_test(tc, memory_that_is_new_takes_longer);
    tcase_add_test(tc, data_that_stay_where_they_are_are_copied);
    tcase_add_test(tc, in_a_real_run_it_comes_when_the_data_are_there);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

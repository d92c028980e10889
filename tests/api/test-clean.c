/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-clean.c - values of GPUs that are written back ahead of need:
 * STARPU_MINIMUM_CLEAN_BUFFERS, STARPU_TARGET_CLEAN_BUFFERS; those that leave:
 * STARPU_MINIMUM_AVAILABLE_MEM, STARPU_TARGET_AVAILABLE_MEM. On the simulated
 * machines, whose GPUs have a limited memory.
 */
#include <stdint.h>
#include <stdlib.h>

#include "machines.h"

enum { NDATA = 10, NX = 1 << 18 };

static int memory[NDATA][NX];

static void increase(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VECTOR_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {increase},
    .cuda_funcs = {increase},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static unsigned is_at_home(starpu_data_handle_t handle)
{
    int valid;

    starpu_data_query_status(handle, STARPU_MAIN_RAM, NULL, &valid, NULL);
    return valid != 0;
}

static void check_end(starpu_data_handle_t *data)
{
    for (unsigned i = 0; i < NDATA; i++) {
        starpu_data_unregister(data[i]);
        ck_assert_int_eq(memory[i][0], 1);
        memory[i][0] = 0;
    }
    starpu_shutdown();
}

/* The first `n` are written by one GPU, which then has nothing to do for a while. Returns
 * it. */
static int write_on_gpu(starpu_data_handle_t *data, unsigned n)
{
    int gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);

    for (unsigned i = 0; i < n; i++) {
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i], NX, sizeof(int));
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, data[i],
                                            STARPU_EXECUTE_ON_WORKER, gpu, 0),
                         0);
    }
    starpu_task_wait_for_all();
    starpu_sleep(1);
    return gpu;
}

/* How many of what one GPU has written are at home as well;
 * *ret_first: … of the first half, which it wrote first. */
static unsigned count_clean(int machine, const char *minimum,
                            const char *target, unsigned *ret_first)
{
    starpu_data_handle_t data[NDATA];
    unsigned n = 0;

    setenv("STARPU_MINIMUM_CLEAN_BUFFERS", minimum, 1);
    setenv("STARPU_TARGET_CLEAN_BUFFERS", target, 1);
    machine_open(machine);
    (void)write_on_gpu(data, NDATA);
    *ret_first = 0;
    for (unsigned i = 0; i < NDATA; i++) {
        n += is_at_home(data[i]);
        *ret_first += i < NDATA / 2 && is_at_home(data[i]);
    }
    check_end(data);
    return n;
}

START_TEST(values_are_written_back_ahead_of_need)
{
    int machine = FIRST_SIMULATED + _i;
    unsigned first;

    ck_assert_uint_eq(count_clean(machine, "0", "0", &first), 0);
    /* Nothing is done before less than a fifth is clean: then up to four tenths,
     * and again when others were written. */
    ck_assert_uint_ge(count_clean(machine, "20", "40", &first), 2);
    ck_assert_uint_eq(count_clean(machine, "100", "0", &first), NDATA);
    ck_assert_uint_eq(first, NDATA / 2);
}
END_TEST

START_TEST(the_oldest_go_first)
{
    int machine = FIRST_SIMULATED + _i;
    unsigned first, n = count_clean(machine, "30", "30", &first);

    ck_assert_uint_ge(n, 3);
    ck_assert_uint_lt(n, NDATA);
    ck_assert_uint_ge(first, 3);
}
END_TEST

/* How many of NDATA that fit into a GPU's memory as a whole are free when it has
 * written all. */
static int count_free(int machine, const char *minimum, const char *target)
{
    starpu_data_handle_t data[NDATA];
    int gpu, nfree;

    setenv("STARPU_LIMIT_CUDA_MEM", "10", 1);
    setenv("STARPU_MINIMUM_AVAILABLE_MEM", minimum, 1);
    setenv("STARPU_TARGET_AVAILABLE_MEM", target, 1);
    machine_open(machine);
    gpu = write_on_gpu(data, NDATA);
    nfree = (int)(starpu_memory_get_available(
                      starpu_worker_get_memory_node((unsigned)gpu)) /
                  (starpu_ssize_t)sizeof(memory[0]));
    check_end(data);
    return nfree;
}

/* Once there is less than the minimum, data leave up to the target, though each has to
 * be written back before; and the last one of them when nothing else happens. */
START_TEST(what_was_written_leaves_up_to_the_target)
{
    int machine = FIRST_SIMULATED + _i;

    ck_assert_int_eq(count_free(machine, "0", "0"), 0);
    ck_assert_int_ge(count_free(machine, "20", "60"), 6);
    ck_assert_int_lt(count_free(machine, "20", "60"), NDATA);
    ck_assert_int_eq(count_free(machine, "100", "0"), NDATA);
}
END_TEST

/* Write-backs that a worker asks for itself, as the last thing before it pauses, are
 * made: nobody else is told of them, and data that they use cannot end. */
START_TEST(write_backs_ahead_of_need_hold_up_nothing)
{
    enum { N = 40, BYTES = 1 << 20, NTASKS = 300 };
    static struct starpu_codelet writes = {.cpu_funcs = {increase},
                                           .cuda_funcs = {increase},
                                           .nbuffers = 1,
                                           .modes = {STARPU_W},
                                           .name = "k"},
                                 updates = {.cpu_funcs = {increase},
                                            .cuda_funcs = {increase},
                                            .nbuffers = 2,
                                            .modes = {STARPU_RW, STARPU_R},
                                            .name = "k"};
    starpu_data_handle_t data[N];
    unsigned state = (unsigned)_i + 1;

    setenv("STARPU_LIMIT_CUDA_MEM", "20", 1);
    setenv("STARPU_MINIMUM_CLEAN_BUFFERS", "40", 1);
    setenv("STARPU_TARGET_CLEAN_BUFFERS", "60", 1);
    setenv("STARPU_MINIMUM_AVAILABLE_MEM", _i % 2 ? "40" : "0", 1);
    setenv("STARPU_TARGET_AVAILABLE_MEM", _i % 2 ? "60" : "0", 1);
    machine_open(FIRST_SIMULATED + _i % (NMACHINES - FIRST_SIMULATED));
    for (unsigned i = 0; i < N; i++) {
        starpu_vector_data_register(&data[i], -1, 0, BYTES, 1);
        ck_assert_int_eq(starpu_task_insert(&writes, STARPU_W, data[i], 0), 0);
    }
    for (unsigned t = 0; t < NTASKS; t++) {
        unsigned to = (state = state * 1103515245U + 12345U) >> 16;
        unsigned from = (state = state * 1103515245U + 12345U) >> 16;

        if (to % N != from % N)
            ck_assert_int_eq(starpu_task_insert(&updates, STARPU_RW,
                                                data[to % N], STARPU_R,
                                                data[from % N], 0),
                             0);
        if (from % 16 == 0)
            starpu_data_wont_use(data[from % N]);
        if (to % 16 != 0)
            continue;
        starpu_data_unregister(data[to % N]);
        starpu_vector_data_register(&data[to % N], -1, 0, BYTES, 1);
        ck_assert_int_eq(
            starpu_task_insert(&writes, STARPU_W, data[to % N], 0), 0);
    }
    for (unsigned i = 0; i < N; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(clean)
{
    Suite *suite = suite_create("clean");
    TCase *tc = tcase_create("clean");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, values_are_written_back_ahead_of_need, 0,
                        NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tc, the_oldest_go_first, 0,
                        NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tc, what_was_written_leaves_up_to_the_target, 0,
                        NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tc, write_backs_ahead_of_need_hold_up_nothing, 0, 24);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-clean.c - values of GPUs that are written back ahead of need:
 * STARPU_MINIMUM_CLEAN_BUFFERS, STARPU_TARGET_CLEAN_BUFFERS. On the simulated
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

/* How many of what one GPU has written are at home as well when it has had nothing to
 * do for a while; *ret_first: … of the first half, which it wrote first. */
static unsigned count_clean(int machine, const char *minimum,
                            const char *target, unsigned *ret_first)
{
    starpu_data_handle_t data[NDATA];
    unsigned n = 0;
    int gpu;

    setenv("STARPU_MINIMUM_CLEAN_BUFFERS", minimum, 1);
    setenv("STARPU_TARGET_CLEAN_BUFFERS", target, 1);
    machine_open(machine);
    gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    for (unsigned i = 0; i < NDATA; i++) {
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i], NX, sizeof(int));
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, data[i],
                                            STARPU_EXECUTE_ON_WORKER, gpu, 0),
                         0);
    }
    starpu_task_wait_for_all();
    starpu_sleep(1);
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

int main(void)
{
    Suite *suite = suite_create("clean");
    TCase *tc = tcase_create("clean");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, values_are_written_back_ahead_of_need, 0,
                        NMACHINES - FIRST_SIMULATED);
    tcase_add_loop_test(tc, the_oldest_go_first, 0,
                        NMACHINES - FIRST_SIMULATED);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

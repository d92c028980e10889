/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-scratch.c - STARPU_SCRATCH: memory that a task has for itself,
 * on each machine; on the simulated ones it competes with data for the GPUs'
 * 64 MiB.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

enum { MIB = 1 << 20, NDATA = 12, BYTES = 12 * MIB };

static int without_memory, mixed_up;

/* Fills the scratch, and finds it as it was left. */
static void use(void *buffers[], void *arg)
{
    char *scratch = (char *)STARPU_VECTOR_GET_PTR(buffers[0]);
    size_t n = STARPU_VECTOR_GET_NX(buffers[0]);
    char *datum = (char *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    if (!scratch || !datum) {
        __atomic_fetch_add(&without_memory, 1, __ATOMIC_RELAXED);
        return;
    }
    memset(scratch, 1 + starpu_worker_get_id(), n);
    datum[0]++;
    for (size_t i = 0; i < n; i += 4096)
        if (scratch[i] != 1 + starpu_worker_get_id())
            __atomic_fetch_add(&mixed_up, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {use},
    .cuda_funcs = {use},
    .nbuffers = 2,
    .modes = {STARPU_SCRATCH, STARPU_RW},
    .name = "k",
};
static struct starpu_codelet cl_gpu = {
    .cpu_funcs = {use},
    .cuda_funcs = {use},
    .nbuffers = 2,
    .modes = {STARPU_SCRATCH, STARPU_RW},
    .where = STARPU_CUDA,
    .name = "k",
};

static struct starpu_codelet *codelet(int machine)
{
    return machine_simulated(machine) ? &cl_gpu : &cl;
}

/* 144 MiB of data and 24 of scratch pass through a GPU of 64. */
START_TEST(scratch_waits_for_memory_beside_data)
{
    starpu_data_handle_t scratch, data[NDATA];
    char *memory = calloc(NDATA, BYTES);

    machine_open(_i);
    starpu_vector_data_register(&scratch, -1, 0, 24 * MIB, 1);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_vector_data_register(&data[d], STARPU_MAIN_RAM,
                                    (uintptr_t)(memory + d * (size_t)BYTES),
                                    BYTES, 1);
    for (unsigned i = 0; i < 2 * NDATA; i++)
        ck_assert_int_eq(starpu_task_insert(codelet(_i), STARPU_SCRATCH,
                                            scratch, STARPU_RW, data[i % NDATA],
                                            0),
                         0);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(data[d]);
    starpu_data_unregister(scratch);
    starpu_shutdown();
    ck_assert_int_eq(without_memory, 0);
    ck_assert_int_eq(mixed_up, 0);
    for (unsigned d = 0; d < NDATA; d++)
        ck_assert_int_eq(memory[d * (size_t)BYTES], 2);
    free(memory);
}
END_TEST

/* Buffers that no task uses make way for others. */
START_TEST(much_scratch_is_recycled)
{
    starpu_data_handle_t scratch[32], datum;
    char value = 0;

    machine_open(_i);
    starpu_vector_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&value, 1,
                                1);
    for (unsigned s = 0; s < 32; s++) {
        starpu_vector_data_register(&scratch[s], -1, 0, 8 * MIB, 1);
        ck_assert_int_eq(starpu_task_insert(codelet(_i), STARPU_SCRATCH,
                                            scratch[s], STARPU_RW, datum, 0),
                         0);
    }
    starpu_data_unregister(datum);
    for (unsigned s = 0; s < 32; s++)
        starpu_data_unregister(scratch[s]);
    starpu_shutdown();
    ck_assert_int_eq(without_memory, 0);
    ck_assert_int_eq(value, 32);
}
END_TEST

static void compare(void *buffers[], void *arg)
{
    int *value = (int *)STARPU_VARIABLE_GET_PTR(buffers[1]);
    int *scratch = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    (void)arg;
    ck_assert_ptr_ne(scratch, value);
    *scratch = -1;
    ck_assert_ptr_eq((int *)STARPU_VARIABLE_GET_PTR(buffers[2]), scratch);
    ++*value;
}

static struct starpu_codelet cl_compare = {
    .cpu_funcs = {compare},
    .cuda_funcs = {compare},
    .nbuffers = 3,
    .modes = {STARPU_SCRATCH, STARPU_RW, STARPU_SCRATCH},
    .name = "k",
};

/* A datum as value and as scratch in one task: two buffers, one order. */
START_TEST(scratch_of_a_datum_is_not_its_value)
{
    starpu_data_handle_t h;
    int value = 0;

    machine_open(_i);
    starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    for (unsigned i = 0; i < 20; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_compare, STARPU_SCRATCH, h,
                                            STARPU_RW, h, STARPU_SCRATCH, h, 0),
                         0);
    starpu_data_unregister(h);
    starpu_shutdown();
    ck_assert_int_eq(value, 20);
}
END_TEST

START_TEST(scratch_ends_with_its_datum)
{
    starpu_data_handle_t h, datum;
    char value = 0;

    machine_open(_i);
    starpu_vector_data_register(&datum, STARPU_MAIN_RAM, (uintptr_t)&value, 1,
                                1);
    for (unsigned i = 0; i < 20; i++) {
        starpu_vector_data_register(&h, -1, 0, 1000, 1);
        ck_assert_int_eq(
            starpu_task_insert(&cl, STARPU_SCRATCH, h, STARPU_RW, datum, 0), 0);
        starpu_data_unregister_submit(h);
    }
    /* Shutdown frees what was not unregistered. */
    starpu_vector_data_register(&h, -1, 0, 1000, 1);
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_SCRATCH, h, STARPU_RW, datum, 0), 0);
    starpu_data_unregister(datum);
    starpu_shutdown();
    ck_assert_int_eq(value, 21);
}
END_TEST

START_TEST(scratch_cannot_be_acquired)
{
    starpu_data_handle_t h;

    machine_open(_i);
    starpu_vector_data_register(&h, -1, 0, 1000, 1);
    ck_assert_int_lt(starpu_data_acquire(h, STARPU_SCRATCH), 0);
    ck_assert_int_lt(starpu_data_acquire(h, STARPU_SCRATCH | STARPU_W), 0);
    starpu_data_unregister(h);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(scratch)
{
    Suite *suite = suite_create("scratch");
    TCase *tc = tcase_create("scratch");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, scratch_waits_for_memory_beside_data, 0, NMACHINES);
    tcase_add_loop_test(tc, much_scratch_is_recycled, 0, NMACHINES);
    tcase_add_loop_test(tc, scratch_of_a_datum_is_not_its_value, 0, NMACHINES);
    tcase_add_loop_test(tc, scratch_ends_with_its_datum, 0, NMACHINES);
    tcase_add_loop_test(tc, scratch_cannot_be_acquired, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

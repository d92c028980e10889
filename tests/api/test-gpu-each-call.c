/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-gpu-each-call.c - any call of the vendor's may fail (tests/standin):
 * the program then computes what it would without, or starpu_init refuses; something
 * is said of it, and all ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>
#include <starpu.h>

#include "../suite.h"
#include "gpu-graph.h"
#include "on-gpu.h"

/* -- a program that makes all sorts of calls -- */

enum { NX = 20, NY = 12, LD = 25, NTASKS = 8 };

struct values {
    uint64_t *vector; /* [GPU_LENGTH], pinned */
    uint64_t other[GPU_LENGTH];
    uint64_t matrix[LD * NY];
};

static void increment(void *arg)
{
    struct starpu_matrix_interface *matrix = arg;
    char *bytes = on_bytes((void *)matrix->ptr);

    for (unsigned y = 0; y < matrix->ny; y++)
        for (unsigned x = 0; x < matrix->nx; x++)
            ((uint64_t *)(void *)bytes)[y * matrix->ld + x]++;
    free(matrix);
}

static void put_increment(void *buffers[], void *arg)
{
    struct starpu_matrix_interface *matrix = malloc(sizeof(*matrix));

    (void)arg;
    ck_assert_ptr_nonnull(matrix);
    *matrix = *(struct starpu_matrix_interface *)buffers[0];
    if (on_launch(increment, matrix) != 0)
        free(matrix);
}

static void increment_on_cpu(void *buffers[], void *arg)
{
    uint64_t *values = (uint64_t *)STARPU_MATRIX_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned y = 0; y < STARPU_MATRIX_GET_NY(buffers[0]); y++)
        for (unsigned x = 0; x < STARPU_MATRIX_GET_NX(buffers[0]); x++)
            values[y * STARPU_MATRIX_GET_LD(buffers[0]) + x]++;
}

static struct starpu_codelet incrementing = {
    .cpu_funcs = {increment_on_cpu},
    .on_funcs = {put_increment},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "increment",
};

/* A worker that is in a list of one: such tasks follow no others in queues, where a
 * failure would end the program. */
static void start(struct starpu_task *task, int k)
{
    static uint32_t lists[2];
    int workers[2];

    if (starpu_worker_get_ids_by_type(ON_WORKER, workers, 2) == 2) {
        lists[k % 2] = UINT32_C(1) << workers[k % 2];
        task->workerids = &lists[k % 2];
        task->workerids_len = 1;
    }
    task->detach = 0;
    task->destroy = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static struct starpu_task *tasks[2 * NTASKS];

/* In turn on both devices, so that values go from one to the other. */
static void submit(const starpu_data_handle_t *handles)
{
    for (int k = 0; k < NTASKS; k++) {
        uint64_t add = (uint64_t)k;
        struct starpu_task *task = starpu_task_build(
            &gpu_add[k / 2 % 2], STARPU_RW, handles[0], STARPU_R, handles[1],
            STARPU_VALUE, &add, sizeof(add), 0);

        start(tasks[2 * k] = task, k);
        task = starpu_task_build(&incrementing, STARPU_RW, handles[2], 0);
        start(tasks[2 * k + 1] = task, k + 1);
    }
}

/* No kernel has ended before it has begun. */
static void check_times(void)
{
    ck_assert_int_eq(starpu_task_wait_array(tasks, 2 * NTASKS), 0);
    for (int k = 0; k < 2 * NTASKS; k++) {
        struct starpu_profiling_task_info *info = tasks[k]->profiling_info;

        ck_assert_double_ge(starpu_timing_timespec_delay_us(&info->start_time,
                                                            &info->end_time),
                            0);
        starpu_task_destroy(tasks[k]);
    }
}

static void compute(struct values *values)
{
    starpu_data_handle_t handles[3];

    starpu_vector_data_register(&handles[0], STARPU_MAIN_RAM,
                                (uintptr_t)values->vector, GPU_LENGTH,
                                sizeof(uint64_t));
    starpu_vector_data_register(&handles[1], STARPU_MAIN_RAM,
                                (uintptr_t)values->other, GPU_LENGTH,
                                sizeof(uint64_t));
    starpu_matrix_data_register(&handles[2], STARPU_MAIN_RAM,
                                (uintptr_t)values->matrix, LD, NX, NY,
                                sizeof(uint64_t));
    submit(handles);
    check_times();
    for (int d = 0; d < 3; d++)
        starpu_data_unregister(handles[d]);
}

static void check(const struct values *values)
{
    static uint64_t expected[GPU_LENGTH];

    for (unsigned k = 0; k < NTASKS; k++)
        gpu_compute(
            &(struct gpu_step){expected, values->other, k, GPU_LENGTH});
    ck_assert_mem_eq(values->vector, expected, sizeof(expected));
    for (unsigned i = 0; i < LD * NY; i++)
        ck_assert_uint_eq(values->matrix[i], i % LD < NX ? NTASKS : 0);
}

/* Whether the runtime could be opened. */
static bool run(void)
{
    static struct values values;
    int rc = starpu_init(NULL);

    if (rc) {
        ck_assert_int_eq(rc, -ENODEV);
        return false;
    }
    ck_assert_int_eq(starpu_profiling_status_set(STARPU_PROFILING_ENABLE),
                     STARPU_PROFILING_DISABLE);
    for (unsigned i = 0; i < GPU_LENGTH; i++)
        values.other[i] = i;
    ck_assert_int_eq(starpu_malloc((void **)&values.vector,
                                   GPU_LENGTH * sizeof(uint64_t)),
                     0);
    memset(values.vector, 0, GPU_LENGTH * sizeof(uint64_t));
    compute(&values);
    check(&values);
    starpu_free_noflag(values.vector, GPU_LENGTH * sizeof(uint64_t));
    starpu_shutdown();
    return true;
}

/* -- each call in turn -- */

static const char *const faults[] = {"call", "nomem"};

/* CALLS, CALLS_STEP and CALLS_FROM in the environment. */
static unsigned ncalls = 400, step = 1, from = 1;

START_TEST(a_call_fails_and_no_value_is_wrong)
{
    unsigned at = from + (unsigned)_i / 2 * step;
    char options[64];

    snprintf(options, sizeof(options), "devices=2 delay=0 fault=%s@%u",
             faults[_i % 2], at);
    setenv("GPU_STANDIN", options, 1);
    (void)run();
}
END_TEST

static unsigned number(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

SUITE_MAIN(gpu_each_call)
{
    Suite *suite = suite_create("gpu-each-call");
    TCase *tc = tcase_create("all");

    from = number("CALLS_FROM", from);
    step = number("CALLS_STEP", step);
    ncalls = number("CALLS", ncalls);
    setenv("STARPU_NCPU", "1", 1);
    gpu_measure_links();
    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_call_fails_and_no_value_is_wrong, 0,
                        2 * (int)((ncalls - from) / step + 1));
    return suite_main(suite);
}

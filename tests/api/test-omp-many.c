/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-many.c - many explicit tasks of OpenMP: how many wait, and what
 * memory they take.
 */
#include <stdio.h>

#include "omp.h"

enum { NMANY = 20000, WAITING = 64 };

struct crowd {
    int work; /* rounds of a task: those of about a microsecond and more are passed on */
    atomic_int created, ended, most;
};

static void end_one(void *buffers[], void *arg)
{
    struct crowd *crowd = arg;

    (void)buffers;
    for (volatile int i = 0; i < crowd->work; i++)
        ;
    atomic_fetch_add(&crowd->ended, 1);
}

static void create_many(void *buffers[], void *arg)
{
    struct crowd *crowd = arg;

    (void)buffers;
    if (!starpu_omp_single_inline())
        return;
    for (int i = 0; i < NMANY; i++) {
        int waiting;

        omp_spawn(end_one, crowd);
        waiting = atomic_fetch_add(&crowd->created, 1) + 1 - crowd->ended;
        if (waiting > crowd->most)
            crowd->most = waiting;
    }
    starpu_omp_taskwait();
    ck_assert_int_eq(crowd->ended, NMANY);
}

START_TEST(a_bounded_number_of_tasks_waits)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct crowd crowd = {.work = 3000}, quick = {.work = 0};

        omp_parallel(omp_threads[t], create_many, &crowd);
        ck_assert_int_gt(crowd.most, 1);
        ck_assert_int_le(crowd.most, (WAITING + 2) * omp_threads[t]);
        omp_parallel(omp_threads[t], create_many, &quick);
        ck_assert_int_le(quick.most, (WAITING + 2) * omp_threads[t]);
    }
    starpu_omp_shutdown();
}
END_TEST

/* -- the same with data: those that can run go first -- */

enum { NDATA = 64 };

static void create_many_with_data(void *buffers[], void *arg)
{
    struct crowd *crowd = arg;
    struct starpu_omp_task_region_attr attr = omp_task(end_one, crowd);
    starpu_data_handle_t handles[NDATA];
    static int data[NDATA];

    (void)buffers;
    if (!starpu_omp_single_inline())
        return;
    for (int i = 0; i < NDATA; i++) {
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&data[i], sizeof(data[i]));
        starpu_omp_handle_register(handles[i]);
    }
    attr.cl.nbuffers = 1;
    attr.cl.modes[0] = STARPU_RW;
    for (int i = 0; i < NMANY; i++) {
        int waiting;

        attr.handles = &handles[i % NDATA];
        starpu_omp_task_region(&attr);
        waiting = atomic_fetch_add(&crowd->created, 1) + 1 - crowd->ended;
        if (waiting > crowd->most)
            crowd->most = waiting;
    }
    starpu_omp_taskwait();
    ck_assert_int_eq(crowd->ended, NMANY);
}

/* Simulated, creating them takes no time in which others could end. A thread that the
 * system stops in a task keeps all those that wait for the same datum. */
START_TEST(a_bounded_number_of_tasks_with_data_waits)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct crowd crowd = {0};

        omp_parallel(omp_threads[t], create_many_with_data, &crowd);
        ck_assert_int_gt(crowd.most, 1);
        if (!machine_simulated(_i))
            ck_assert_int_le(crowd.most,
                             (WAITING + 2 + NMANY / NDATA) * omp_threads[t] +
                                 NDATA);
    }
    starpu_omp_shutdown();
}
END_TEST

struct fibonacci {
    int n, value;
};

static void fibonacci(void *buffers[], void *arg)
{
    struct fibonacci *self = arg, a = {self->n - 1, 0}, b = {self->n - 2, 0};

    (void)buffers;
    self->value = self->n;
    if (self->n < 2)
        return;
    omp_spawn(fibonacci, &a);
    omp_spawn(fibonacci, &b);
    starpu_omp_taskwait();
    self->value = a.value + b.value;
}

static void fibonacci_once(void *buffers[], void *arg)
{
    if (starpu_omp_single_inline())
        fibonacci(buffers, arg);
}

/* KiB that the process has ever had in memory. */
static long peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long kib = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    fclose(file);
    return kib;
}

/* 10^6 tasks in each other need no more memory than 10^4. */
START_TEST(tasks_of_tasks_need_bounded_memory)
{
    struct fibonacci small = {.n = 18}, large = {.n = 27};
    long before;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP_TEST("a sanitizer takes memory for each task");
#endif
    unsetenv("ORRERY_CHECK_BOUNDS"); /* it keeps all tasks */
    omp_open(_i);
    omp_parallel(2, fibonacci_once, &small);
    ck_assert_int_eq(small.value, 2584);
    before = peak_kib();
    omp_parallel(2, fibonacci_once, &large);
    ck_assert_int_eq(large.value, 196418);
    ck_assert_int_lt(peak_kib() - before, 32 << 10);
    starpu_omp_shutdown();
}
END_TEST

/* -- chains -- */

enum { LENGTH = 200000 };

struct chain {
    atomic_int left;
    struct starpu_omp_task_region_attr attr;
};

static void create_next(void *buffers[], void *arg)
{
    struct chain *chain = arg;

    (void)buffers;
    if (atomic_fetch_sub(&chain->left, 1) > 1)
        starpu_omp_task_region(&chain->attr);
}

static void create_chain(void *buffers[], void *arg)
{
    struct chain *chain = arg;
    struct crowd crowd = {.work = 0};

    if (!starpu_omp_single_inline())
        return;
    for (int i = 0; i <= WAITING; i++) /* one thread has enough to do */
        omp_spawn(end_one, &crowd);
    create_next(buffers, chain);
    starpu_omp_taskwait();
}

/* Each task creates the next one: none of them may stay on the stack. */
START_TEST(a_chain_of_tasks_needs_no_stack)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct chain chain = {.left = LENGTH};

        chain.attr = omp_task(create_next, &chain);
        omp_parallel(omp_threads[t], create_chain, &chain);
        ck_assert_int_eq(chain.left, 0);
    }
    starpu_omp_shutdown();
}
END_TEST

SUITE_MAIN(omp_many)
{
    Suite *suite = suite_create("many tasks of OpenMP");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 120);
    suite_add_tcase(suite, each);
    tcase_add_loop_test(each, a_bounded_number_of_tasks_waits, 0, NMACHINES);
    tcase_add_loop_test(each, a_bounded_number_of_tasks_with_data_waits, 0,
                        NMACHINES);
    tcase_add_loop_test(each, tasks_of_tasks_need_bounded_memory, 0, NMACHINES);
    tcase_add_loop_test(each, a_chain_of_tasks_needs_no_stack, 0, NMACHINES);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-polls.c - programs that ask again and again instead of waiting:
 * they go on on both machines, in a kernel as well, and a question whose answer
 * never changes is reported when simulated.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"

enum { SLEEP_US = 2000 };

static void open_with_times(int machine)
{
    machine_choose(machine);
    setenv("ORRERY_ASSUME",
           "kernel[sleeps] = 2ms; kernel[spins] = 2ms; kernel[writes] = 2ms",
           1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void sleeps(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    starpu_usleep(SLEEP_US);
}

static struct starpu_codelet sleep_cl = {
    .cpu_funcs = {sleeps}, .name = "sleeps", .nbuffers = 0};

/* It outlives its end unless `destroy`, which nobody may change later. */
static struct starpu_task *sleeping_task(bool destroy)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &sleep_cl;
    task->detach = 0;
    task->destroy = destroy;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    return task;
}

/* shows starpu_timing_now */
START_TEST(a_program_may_spin_on_the_clock)
{
    double start, now;

    open_with_times(_i);
    start = starpu_timing_now();
    do
        now = starpu_timing_now();
    while (now - start < SLEEP_US);
    if (machine_simulated(_i))
        ck_assert_double_lt(now - start, SLEEP_US * 1.02);
    starpu_shutdown();
}
END_TEST

START_TEST(who_reads_the_clock_often_loses_little_time)
{
    double start;

    open_with_times(FIRST_SIMULATED);
    start = starpu_timing_now();
    for (int i = 0; i < 2000000; i++)
        starpu_timing_now();
    ck_assert_double_le(starpu_timing_now() - start, 2000000 / 16 + 1);
    starpu_shutdown();
}
END_TEST

static void spins_on_the_clock(void *buffers[], void *arg)
{
    double start = starpu_timing_now();

    (void)buffers;
    (void)arg;
    while (starpu_timing_now() - start < SLEEP_US)
        ;
}

START_TEST(a_kernel_may_spin_on_the_clock)
{
    static struct starpu_codelet spin_cl = {
        .cpu_funcs = {spins_on_the_clock}, .name = "spins", .nbuffers = 0};
    double start;

    open_with_times(_i);
    start = starpu_timing_now();
    ck_assert_int_eq(starpu_task_insert(&spin_cl, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_double_ge(starpu_timing_now() - start, SLEEP_US);
    starpu_shutdown();
}
END_TEST

/* shows starpu_task_finished */
START_TEST(a_program_may_spin_until_a_task_has_finished)
{
    struct starpu_task *task;

    open_with_times(_i);
    task = sleeping_task(true);
    while (!starpu_task_finished(task))
        ;
    ck_assert_int_eq(starpu_task_wait(task), 0);
    while (starpu_task_nsubmitted() > 0 || starpu_task_nready() > 0)
        ;
    starpu_shutdown();
}
END_TEST

/* shows starpu_task_nsubmitted */
START_TEST(a_program_may_spin_until_nothing_is_submitted)
{
    open_with_times(_i);
    (void)sleeping_task(false);
    while (starpu_task_nsubmitted() > 0)
        ;
    starpu_shutdown();
}
END_TEST

static starpu_pthread_mutex_t mutex;
static starpu_pthread_rwlock_t rwlock;
static starpu_sem_t sem;

static void *holds_for_a_while(void *arg)
{
    starpu_pthread_mutex_lock(&mutex);
    starpu_pthread_rwlock_wrlock(&rwlock);
    starpu_sem_post(arg);
    starpu_usleep(SLEEP_US);
    starpu_pthread_rwlock_unlock(&rwlock);
    starpu_pthread_mutex_unlock(&mutex);
    starpu_usleep(SLEEP_US);
    starpu_sem_post(arg);
    return NULL;
}

/* shows starpu_pthread_mutex_trylock, starpu_pthread_rwlock_tryrdlock,
 * starpu_sem_trywait */
START_TEST(a_program_may_spin_on_what_another_thread_holds)
{
    starpu_pthread_t thread;

    open_with_times(_i);
    starpu_pthread_mutex_init(&mutex, NULL);
    starpu_pthread_rwlock_init(&rwlock, NULL);
    starpu_sem_init(&sem, 0, 0);
    starpu_pthread_create(&thread, NULL, holds_for_a_while, &sem);
    starpu_sem_wait(&sem);
    while (starpu_pthread_rwlock_tryrdlock(&rwlock) != 0)
        ;
    while (starpu_pthread_mutex_trylock(&mutex) != 0)
        ;
    while (starpu_sem_trywait(&sem) != 0)
        ck_assert_int_eq(errno, EAGAIN);
    starpu_pthread_mutex_unlock(&mutex);
    starpu_pthread_rwlock_unlock(&rwlock);
    starpu_pthread_join(thread, NULL);
    starpu_shutdown();
}
END_TEST

static void writes(void *buffers[], void *arg)
{
    (void)arg;
    starpu_usleep(SLEEP_US);
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 42;
}

/* shows starpu_data_acquire_try */
START_TEST(a_program_may_spin_until_it_gets_data)
{
    static struct starpu_codelet write_cl = {.cpu_funcs = {writes},
                                             .name = "writes",
                                             .nbuffers = 1,
                                             .modes = {STARPU_W}};
    starpu_data_handle_t handle;
    int value = 0;

    open_with_times(_i);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    ck_assert_int_eq(starpu_task_insert(&write_cl, STARPU_W, handle, 0), 0);
    while (starpu_data_acquire_try(handle, STARPU_R) != 0)
        ;
    ck_assert_int_eq(value, 42);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

static void asks_for_what_never_comes(void)
{
    struct starpu_task *task, *never;

    open_with_times(FIRST_SIMULATED);
    ck_assert_int_eq(starpu_task_insert(&sleep_cl, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    task = starpu_task_create();
    never = starpu_task_create();
    task->cl = &sleep_cl;
    task->detach = 0;
    starpu_task_declare_deps_array(task, 1, &never);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    fprintf(stderr, "since %.3f ms\n", starpu_timing_now() / 1e3);
    while (!starpu_task_finished(task))
        ;
}

/* The report of a deadlock ends the program; it says since when it was asked, not
 * what time it became meanwhile. */
START_TEST(who_asks_for_what_never_comes_is_told)
{
    FILE *file = tmpfile();
    char said[4096], expected[64];
    pid_t child = fork();
    double ms;
    int status;

    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        asks_for_what_never_comes();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    rewind(file);
    said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
    ck_assert_int_eq(sscanf(said, "since %lf", &ms), 1);
    ck_assert_double_ge(ms, SLEEP_US / 1e3);
    snprintf(expected, sizeof(expected),
             "main has asked in vain since %.3f ms", ms);
    ck_assert_msg(strstr(said, expected) != NULL, "%s", said);
    fclose(file);
}
END_TEST

static void spins_in_callback(void *arg)
{
    spins_on_the_clock(NULL, arg);
}

/* The clock goes on there, and the time passes afterwards: the worker's, and that of
 * who submits. */
START_TEST(a_callback_and_a_kernel_of_a_device_may_spin_on_the_clock)
{
    static struct starpu_codelet spin_cl = {.cuda_funcs = {spins_on_the_clock},
                                            .cpu_funcs = {spins_on_the_clock},
                                            .where = STARPU_CUDA,
                                            .name = "spins"};
    struct starpu_task *task;
    double start;

    open_with_times(FIRST_SIMULATED + _i);
    start = starpu_timing_now();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            starpu_task_insert(&spin_cl, STARPU_EXECUTE_ON_WORKER,
                               starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0),
                               0),
            0);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_double_ge(starpu_timing_now() - start, 2 * SLEEP_US);
    start = starpu_timing_now();
    task = starpu_task_create();
    task->callback_func = spins_in_callback;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_double_ge(starpu_timing_now() - start, SLEEP_US);
    ck_assert_double_lt(starpu_timing_now() - start, SLEEP_US * 1.02);
    starpu_shutdown();
}
END_TEST

static void spins_in_vain(void *arg)
{
    (void)arg;
    for (int i = 0; i < (1 << 24) + 1; i++)
        starpu_task_nready();
}

/* Time cannot pass there. */
START_TEST(a_callback_that_spins_is_told)
{
    static char said[8192];
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    struct starpu_task *task;

    machine_choose(FIRST_SIMULATED);
    unsetenv("STARPU_SILENT");
    setenv("ORRERY_ASSUME", "kernel[sleeps] = 2ms", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    dup2(fileno(file), STDERR_FILENO);
    task = starpu_task_create();
    task->cl = &sleep_cl;
    task->callback_func = spins_in_vain;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    dup2(kept, STDERR_FILENO);
    rewind(file);
    said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
    ck_assert_ptr_nonnull(strstr(said, "asks again and again"));
    fclose(file);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(polls)
{
    Suite *suite = suite_create("polls");
    TCase *tc = tcase_create("polls");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_program_may_spin_on_the_clock, 0, NMACHINES);
    tcase_add_test(tc, who_reads_the_clock_often_loses_little_time);
    tcase_add_loop_test(tc, a_kernel_may_spin_on_the_clock, 0, NMACHINES);
    tcase_add_loop_test(tc, a_program_may_spin_until_a_task_has_finished, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_program_may_spin_until_nothing_is_submitted, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_program_may_spin_on_what_another_thread_holds, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_program_may_spin_until_it_gets_data, 0,
                        NMACHINES);
    tcase_add_loop_test(
        tc, a_callback_and_a_kernel_of_a_device_may_spin_on_the_clock, 0,
        NMACHINES - FIRST_SIMULATED);
    tcase_add_test(tc, a_callback_that_spins_is_told);
    tcase_add_test(tc, who_asks_for_what_never_comes_is_told);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

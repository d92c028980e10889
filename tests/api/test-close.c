/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-close.c - starpu_shutdown while copies are queued or under way,
 * and of a run that leaves data registered: it ends, the application's memory is
 * its own again, and what was allocated is freed (sanitizers and valgrind see
 * to that). Who may stop it; what becomes of tasks that can never begin.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "silence.h"

enum { NDATA = 12, LENGTH = 1 << 16 };

static starpu_data_handle_t handles[NDATA];
static uint64_t *memory[NDATA];

static void fill(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    v[0] = v[LENGTH - 1] = 7;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {fill},
    .cuda_funcs = {fill},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static void open_with_data(int machine, bool numa)
{
    /* PoCL asks hwloc, too, and there would be no memory. */
    if (numa && !getenv("STARPU_OPENCL_ON_CPUS")) {
        setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:1 pu:1", 1);
        setenv("STARPU_USE_NUMA", "1", 1);
    }
    machine_open(machine);
    for (unsigned i = 0; i < NDATA; i++) {
        memory[i] = calloc(LENGTH, sizeof(uint64_t));
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[i], LENGTH,
                                    sizeof(uint64_t));
    }
}

static void close_and_look(void)
{
    starpu_shutdown();
    for (unsigned i = 0; i < NDATA; i++) {
        memory[i][0]++; /* no longer read or written by others */
        free(memory[i]);
    }
}

static void hint(unsigned i)
{
    unsigned node = 1 + i % (starpu_memory_nodes_get_count() - 1);

    switch (i % 4) {
    case 0:
        starpu_data_prefetch_on_node(handles[i], node, 1);
        break;
    case 1:
        starpu_data_idle_prefetch_on_node(handles[i], node, 1);
        break;
    case 2:
        starpu_data_fetch_on_node(handles[i], node, 1);
        break;
    default:
        starpu_data_wont_use(handles[i]);
    }
}

/* Machines with several nodes: a real one of 2 NUMA nodes, the simulated. */
static bool open_nodes(int machine)
{
    open_with_data(machine, !machine_simulated(machine));
    return starpu_memory_nodes_get_count() > 1;
}

START_TEST(shutdown_ends_what_was_only_hinted)
{
    if (open_nodes(_i))
        for (unsigned i = 0; i < NDATA; i++)
            hint(i);
    close_and_look();
}
END_TEST

/* Values are on devices; what should come back is under way. */
START_TEST(shutdown_ends_copies_of_what_tasks_wrote)
{
    bool several = open_nodes(_i);

    for (unsigned i = 0; i < NDATA; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[i], 0), 0);
    if (several)
        for (unsigned i = 0; i < NDATA; i++)
            hint(i);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < NDATA; i++)
        starpu_data_wont_use(handles[i]);
    close_and_look();
}
END_TEST

START_TEST(shutdown_ends_data_whose_end_was_submitted)
{
    bool several = open_nodes(_i);

    for (unsigned i = 0; i < NDATA; i++) {
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[i], 0), 0);
        if (several)
            hint(i);
        starpu_data_unregister_submit(handles[i]);
    }
    close_and_look();
}
END_TEST

/* Twice: nothing of the first run is left to the second. */
START_TEST(a_run_may_follow_one_that_left_copies)
{
    for (unsigned run = 0; run < 2; run++) {
        if (open_nodes(_i))
            for (unsigned i = 0; i < NDATA; i++)
                hint(i);
        close_and_look();
    }
}
END_TEST

/* --- who stops it --- */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl_nothing = {.cpu_funcs = {nothing}, .name = "k"};

static pthread_barrier_t both;

static void use(void)
{
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_nothing, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
}

/* Stops the run that main has started, and starts the next one. */
static void *stop_and_start(void *arg)
{
    ck_assert_int_eq(starpu_init(NULL), 0);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both); /* main has left */
    use();
    starpu_shutdown();
    ck_assert_int_eq(starpu_is_initialized(), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    use();
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both); /* main has come and left */
    use();
    starpu_shutdown();
    return arg;
}

START_TEST(a_run_is_stopped_by_another_thread_than_has_started_it)
{
    pthread_t thread;

    machine_choose(0);
    pthread_barrier_init(&both, NULL, 2);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_and_start, NULL), 0);
    pthread_barrier_wait(&both);
    use();
    starpu_shutdown();
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    ck_assert_int_eq(starpu_init(NULL), 0);
    use();
    starpu_shutdown();
    pthread_barrier_wait(&both);
    pthread_join(thread, NULL);
    ck_assert_int_eq(starpu_is_initialized(), 0);
}
END_TEST

static void *only_start(void *arg)
{
    ck_assert_int_eq(starpu_init(NULL), 0);
    use();
    return arg;
}

START_TEST(the_thread_that_has_started_may_end_first)
{
    pthread_t thread;

    machine_choose(0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, only_start, NULL), 0);
        pthread_join(thread, NULL);
        use();
        starpu_shutdown();
    }
}
END_TEST

static void *only_stop(void *arg)
{
    starpu_shutdown();
    return arg;
}

START_TEST(the_thread_that_stops_may_call_nothing_else)
{
    pthread_t thread;

    machine_choose(0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    use();
    ck_assert_int_eq(pthread_create(&thread, NULL, only_stop, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(starpu_is_initialized(), 0);
}
END_TEST

/* --- tasks that never begin --- */

static struct starpu_task *blocked(starpu_tag_t tag)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->handles[0] = handles[0];
    task->name = "blocked";
    task->use_tag = 1;
    task->tag_id = tag;
    return task;
}

/* For a tag that nobody notifies, for it by a chain and by data, for each other. */
static void submit_blocked(void)
{
    struct starpu_task *task[5];

    for (unsigned i = 0; i < 5; i++)
        task[i] = blocked(i + 1);
    starpu_tag_declare_deps(1, 1, (starpu_tag_t)99);
    starpu_task_declare_deps(task[1], 1, task[0]);
    starpu_task_declare_deps(task[3], 1, task[4]);
    starpu_task_declare_deps(task[4], 1, task[3]);
    for (unsigned i = 0; i < 5; i++)
        ck_assert_int_eq(starpu_task_submit(task[i]), 0);
}

static void check_shutdown_drops(int n)
{
    const char *said;
    char line[80];

    setenv("STARPU_SILENT", "0", 1);
    silence_begin();
    close_and_look();
    said = silence_end();
    snprintf(line, sizeof(line),
             "starpu_shutdown: %d submitted tasks are dropped", n);
    ck_assert_msg(strstr(said, line), "said: %s", said);
    ck_assert_msg(strstr(said, "waits for tag 99"), "said: %s", said);
    ck_assert_int_eq(starpu_is_initialized(), 0);
}

/* What can run has run, and the next run knows nothing of it. */
START_TEST(tasks_that_can_never_begin_are_dropped)
{
    for (int run = 0; run < 2; run++) {
        open_with_data(_i, false);
        submit_blocked();
        for (unsigned i = 1; i < NDATA; i++)
            ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[i], 0),
                             0);
        check_shutdown_drops(5);
    }
    open_with_data(_i, false);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW, handles[0], 0), 0);
    starpu_data_unregister(handles[0]);
    ck_assert_int_eq(memory[0][0], 7);
    close_and_look();
}
END_TEST

/* Allocations of this size are counted apart by the C library. */
START_TEST(what_a_dropped_task_owns_is_freed)
{
    size_t size = (size_t)64 << 20, before = mallinfo2().hblkhd;
    struct starpu_task *task;

    open_with_data(_i, false);
    submit_blocked();
    task = blocked(17);
    task->cl_arg = malloc(size);
    task->cl_arg_size = size;
    task->cl_arg_free = 1;
    starpu_tag_declare_deps(17, 1, (starpu_tag_t)1);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    check_shutdown_drops(6);
    ck_assert_uint_lt(mallinfo2().hblkhd, before + size / 2);
}
END_TEST

/* It belongs to the application. */
START_TEST(a_dropped_task_may_be_cleaned_and_used_again)
{
    struct starpu_task *task = malloc(sizeof(*task));

    for (int run = 0; run < 2; run++) {
        open_with_data(_i, false);
        starpu_task_init(task);
        task->cl = &cl;
        task->handles[0] = handles[0];
        task->use_tag = 1;
        task->tag_id = 7;
        if (run == 0)
            starpu_tag_declare_deps(7, 1, (starpu_tag_t)99);
        ck_assert_int_eq(starpu_task_submit(task), 0);
        submit_blocked();
        check_shutdown_drops(run == 0 ? 6 : 5);
        ck_assert_int_eq(task->status == STARPU_TASK_FINISHED, run == 1);
        starpu_task_clean(task);
    }
    free(task);
}
END_TEST

static int twice;

static void again(void *arg)
{
    (void)arg;
    if (++twice < 3)
        ck_assert_int_eq(starpu_task_submit(starpu_task_get_current()), 0);
}

/* Until then what callbacks submit runs, too. */
START_TEST(shutdown_waits_for_what_callbacks_submit)
{
    struct starpu_task *task;

    open_with_data(_i, false);
    task = blocked(1);
    task->destroy = 0;
    task->callback_func = again;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    close_and_look();
    ck_assert_int_eq(twice, 3);
}
END_TEST

SUITE_MAIN(close)
{
    Suite *suite = suite_create("close");
    TCase *tc = tcase_create("close");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, shutdown_ends_what_was_only_hinted, 0, NMACHINES);
    tcase_add_loop_test(tc, shutdown_ends_copies_of_what_tasks_wrote, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, shutdown_ends_data_whose_end_was_submitted, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_run_may_follow_one_that_left_copies, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, tasks_that_can_never_begin_are_dropped, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_a_dropped_task_owns_is_freed, 0, NMACHINES);
    tcase_add_loop_test(tc, a_dropped_task_may_be_cleaned_and_used_again, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, shutdown_waits_for_what_callbacks_submit, 0,
                        NMACHINES);
    tcase_add_test(tc, a_run_is_stopped_by_another_thread_than_has_started_it);
    tcase_add_test(tc, the_thread_that_has_started_may_end_first);
    tcase_add_test(tc, the_thread_that_stops_may_call_nothing_else);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

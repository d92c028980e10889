/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-graph-test.c - graph_test: nothing runs before somebody waits or
 * calls starpu_do_schedule; then tasks go by their depth in the graph, or by how
 * many wait for them.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "machines.h"

enum { MOST = 32, MANY = 2000 };

static atomic_int nran;
static int order[MANY + MOST];

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    order[atomic_fetch_add(&nran, 1)] = (int)(intptr_t)arg;
}

static struct starpu_codelet cl = {.cpu_funcs = {note}, .name = "k"};
static struct starpu_codelet cl_data = {
    .cpu_funcs = {note}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "k"};

static void open_one_worker(int machine, const char *descendants)
{
    machine_choose(machine);
    setenv("STARPU_SCHED", "graph_test", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_SCHED_GRAPH_TEST_DESCENDANTS", descendants, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static struct starpu_task *make(int number)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->cl_arg = (void *)(intptr_t)number;
    task->name = "numbered";
    return task;
}

static void check_order(const int *expected, int n)
{
    ck_assert_int_eq(nran, n);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(order[i], expected[i]);
}

/* 0 alone; 1 with four behind it at once; 2 with three in a row. The row goes on
 * before what is less deep. */
static void submit_three(void)
{
    struct starpu_task *first[3], *last = NULL;

    for (int i = 0; i < 3; i++)
        first[i] = make(i);
    for (int i = 0; i < 4; i++) {
        struct starpu_task *task = make(10 + i);

        starpu_task_declare_deps_array(task, 1, &first[1]);
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    last = first[2];
    for (int i = 0; i < 3; i++) {
        struct starpu_task *task = make(20 + i);

        starpu_task_declare_deps_array(task, 1, &last);
        if (last != first[2])
            ck_assert_int_eq(starpu_task_submit(last), 0);
        last = task;
    }
    ck_assert_int_eq(starpu_task_submit(last), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(starpu_task_submit(first[i]), 0);
}

START_TEST(tasks_go_by_depth)
{
    static const int expected[] = {2, 20, 1, 21, 0, 10, 11, 12, 13, 22};
    int seen = 0;

    open_one_worker(_i, "0");
    submit_three();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nran, 10);
    /* 3, 2, then 1 (both), then 0: those of equal depth in any order. */
    ck_assert_int_eq(order[0], expected[0]);
    ck_assert_int_eq(order[1], expected[1]);
    for (int i = 2; i < 4; i++)
        seen |= order[i] == 1 ? 1 : order[i] == 21 ? 2 : 4;
    ck_assert_int_eq(seen, 3);
    starpu_shutdown();
}
END_TEST

/* However many there are, and whatever workers do while they are looked through:
 * the one that another waits for, submitted last, is first. */
START_TEST(all_that_was_held_back_is_there_at_once)
{
    struct starpu_task *first, *after;

    open_one_worker(_i, "0");
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(starpu_task_submit(make(i)), 0);
    first = make(MANY);
    after = make(MANY + 1);
    starpu_task_declare_deps_array(after, 1, &first);
    ck_assert_int_eq(starpu_task_submit(after), 0);
    ck_assert_int_eq(starpu_task_submit(first), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nran, MANY + 2);
    ck_assert_int_eq(order[0], MANY);
    starpu_shutdown();
}
END_TEST

START_TEST(tasks_go_by_descendants)
{
    static const int expected[] = {1, 2, 20, 21};

    open_one_worker(_i, "1");
    submit_three();
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(nran, 10);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(order[i], expected[i]);
    starpu_shutdown();
}
END_TEST

START_TEST(data_make_the_graph_as_well)
{
    static const int expected[] = {1, 2, 0, 3};
    starpu_data_handle_t row;
    int x = 0;

    open_one_worker(_i, "0");
    starpu_variable_data_register(&row, STARPU_MAIN_RAM, (uintptr_t)&x,
                                  sizeof(x));
    ck_assert_int_eq(starpu_task_submit(make(0)), 0);
    for (int i = 1; i < 4; i++) {
        struct starpu_task *task = make(i);

        task->cl = &cl_data;
        task->handles[0] = row;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_do_schedule();
    starpu_data_unregister(row);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    check_order(expected, 4);
    starpu_shutdown();
}
END_TEST

START_TEST(tags_make_the_graph_as_well)
{
    static const int expected[] = {1, 0, 2};

    open_one_worker(_i, "0");
    ck_assert_int_eq(starpu_task_submit(make(0)), 0);
    starpu_tag_declare_deps(2, 1, (starpu_tag_t)1);
    for (int i = 1; i < 3; i++) {
        struct starpu_task *task = make(i);

        task->use_tag = 1;
        task->tag_id = (starpu_tag_t)i;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    check_order(expected, 3);
    starpu_shutdown();
}
END_TEST

START_TEST(nothing_runs_before_and_all_after_do_schedule)
{
    open_one_worker(_i, "0");
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(starpu_task_submit(make(i)), 0);
    starpu_sleep(0.01f);
    ck_assert_int_eq(nran, 0);
    ck_assert_int_eq(starpu_task_nready(), 5);
    starpu_do_schedule();
    while (starpu_task_nsubmitted() > 0)
        starpu_sleep(0.001f);
    ck_assert_int_eq(nran, 5);
    /* From now on at once. */
    ck_assert_int_eq(starpu_task_submit(make(5)), 0);
    while (starpu_task_nsubmitted() > 0)
        starpu_sleep(0.001f);
    ck_assert_int_eq(nran, 6);
    starpu_shutdown();
}
END_TEST

/* What waits lets tasks go, whatever it waits for. */
START_TEST(who_waits_for_data_is_served)
{
    starpu_data_handle_t handle;
    struct starpu_task *task;
    int x = 1;

    open_one_worker(_i, "0");
    task = make(7);
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&x,
                                  sizeof(x));
    task->cl = &cl_data;
    task->handles[0] = handle;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(starpu_data_acquire(handle, STARPU_R), 0);
    ck_assert_int_eq(nran, 1);
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    starpu_shutdown();
}
END_TEST

START_TEST(a_synchronous_task_is_served)
{
    struct starpu_task *task;

    open_one_worker(_i, "0");
    task = make(3);
    task->synchronous = 1;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_int_eq(nran, 1);
    starpu_shutdown();
}
END_TEST

START_TEST(a_run_without_tasks_ends)
{
    open_one_worker(_i, "0");
    starpu_shutdown();
}
END_TEST

#define EACH(name) tcase_add_loop_test(tc, name, 0, NMACHINES)

SUITE_MAIN(graph_test)
{
    Suite *suite = suite_create("graph_test");
    TCase *tc = tcase_create("each");

    suite_add_tcase(suite, tc);
    EACH(tasks_go_by_depth);
    EACH(all_that_was_held_back_is_there_at_once);
    EACH(tasks_go_by_descendants);
    EACH(data_make_the_graph_as_well);
    EACH(tags_make_the_graph_as_well);
    EACH(nothing_runs_before_and_all_after_do_schedule);
    EACH(who_waits_for_data_is_served);
    EACH(a_synchronous_task_is_served);
    EACH(a_run_without_tasks_ends);
    return suite_main(suite);
}

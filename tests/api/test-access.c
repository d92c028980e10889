/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-access.c - who may use data at the same time: commuting
 * tasks, tasks without sequential consistency, arbiters; on each machine. A
 * kernel marks its data while it has them, so that a second writer shows.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machines.h"

enum { NFORKS = 5, NMEALS = 60 };

/* What a kernel finds and leaves in a datum. Writers raise `before`, work, and
 * raise `after`: both are equal unless another writes meanwhile. */
struct fork {
    uint64_t before, after;
};

static int collisions;

static struct fork *fork_of(void *buffer)
{
    return (struct fork *)STARPU_VARIABLE_GET_PTR(buffer);
}

static void take(struct fork *fork)
{
    uint64_t found = fork->before;

    if (fork->before != fork->after)
        __atomic_fetch_add(&collisions, 1, __ATOMIC_RELAXED);
    *(volatile uint64_t *)&fork->before = found + 1;
}

static void put_back(struct fork *fork)
{
    *(volatile uint64_t *)&fork->after = fork->before;
}

static void eat(void *buffers[], void *arg)
{
    (void)arg;
    take(fork_of(buffers[0]));
    take(fork_of(buffers[1]));
    put_back(fork_of(buffers[0]));
    put_back(fork_of(buffers[1]));
}

static void look(void *buffers[], void *arg)
{
    struct fork *fork = fork_of(buffers[0]);

    (void)arg;
    if (fork->before != fork->after)
        __atomic_fetch_add(&collisions, 1, __ATOMIC_RELAXED);
}

#define COMMUTE (STARPU_RW | STARPU_COMMUTE)

static struct starpu_codelet cl_commute = {
    .cpu_funcs = {eat},
    .cuda_funcs = {eat},
    .nbuffers = 2,
    .modes = {COMMUTE, COMMUTE},
    .name = "k",
};
static struct starpu_codelet cl_write = {
    .cpu_funcs = {eat},
    .cuda_funcs = {eat},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_RW},
    .name = "k",
};
static struct starpu_codelet cl_look = {
    .cpu_funcs = {look},
    .cuda_funcs = {look},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k",
};

static struct fork forks[NFORKS];
static starpu_data_handle_t handles[NFORKS];

static void lay_the_table(unsigned ordered, starpu_arbiter_t arbiter)
{
    collisions = 0;
    for (unsigned i = 0; i < NFORKS; i++) {
        forks[i] = (struct fork){0, 0};
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&forks[i], sizeof(forks[i]));
        starpu_data_set_sequential_consistency_flag(handles[i], ordered);
        if (arbiter)
            starpu_data_assign_arbiter(handles[i], arbiter);
    }
}

/* Each fork was used by two philosophers at each meal. */
static void clear_the_table(void)
{
    for (unsigned i = 0; i < NFORKS; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    ck_assert_int_eq(collisions, 0);
    for (unsigned i = 0; i < NFORKS; i++) {
        ck_assert_uint_eq(forks[i].before, 2 * NMEALS);
        ck_assert_uint_eq(forks[i].after, 2 * NMEALS);
    }
}

static void serve_meals(struct starpu_codelet *cl, int mode)
{
    for (unsigned meal = 0; meal < NMEALS; meal++)
        for (unsigned p = 0; p < NFORKS; p++)
            ck_assert_int_eq(starpu_task_insert(cl, mode, handles[p], mode,
                                                handles[(p + 1) % NFORKS],
                                                STARPU_PRIORITY,
                                                (int)(meal % 3), 0),
                             0);
}

START_TEST(commuting_philosophers_dine)
{
    machine_open(_i);
    lay_the_table(1, NULL);
    serve_meals(&cl_commute, COMMUTE);
    clear_the_table();
}
END_TEST

START_TEST(philosophers_dine_without_order)
{
    machine_open(_i);
    lay_the_table(0, NULL);
    serve_meals(&cl_write, STARPU_RW);
    for (unsigned i = 0; i < NFORKS; i++)
        ck_assert_int_eq(starpu_task_insert(&cl_look, STARPU_R, handles[i], 0),
                         0);
    clear_the_table();
}
END_TEST

START_TEST(philosophers_dine_with_an_arbiter)
{
    starpu_arbiter_t arbiter;

    machine_open(_i);
    arbiter = starpu_arbiter_create();
    lay_the_table(1, arbiter);
    serve_meals(&cl_commute, COMMUTE);
    for (unsigned i = 0; i < NFORKS; i++)
        starpu_data_unregister(handles[i]);
    starpu_arbiter_destroy(arbiter);
    starpu_shutdown();
    ck_assert_int_eq(collisions, 0);
    ck_assert_uint_eq(forks[0].after, 2 * NMEALS);
}
END_TEST

START_TEST(data_have_one_arbiter)
{
    machine_open(0);
    lay_the_table(1, starpu_arbiter_create());
    starpu_data_assign_arbiter(handles[0], starpu_arbiter_create());
}
END_TEST

START_TEST(data_in_use_get_no_arbiter)
{
    machine_open(0);
    lay_the_table(1, NULL);
    ck_assert_int_eq(starpu_data_acquire(handles[0], STARPU_R), 0);
    starpu_data_assign_arbiter(handles[0], starpu_arbiter_create());
}
END_TEST

/* --- the order of commuting tasks --- */

enum { NCLAIMANTS = 8 };

static int order[NCLAIMANTS], norder;

static void note(void *buffers[], void *arg)
{
    int number;

    (void)buffers;
    starpu_codelet_unpack_args(arg, &number);
    order[norder++] = number;
}

static struct starpu_codelet cl_note = {
    .cpu_funcs = {note},
    .cuda_funcs = {note},
    .nbuffers = 1,
    .modes = {COMMUTE},
    .name = "k",
};

static struct starpu_task *note_task(starpu_data_handle_t handle, int number)
{
    struct starpu_task *task = starpu_task_build(
        &cl_note, STARPU_VALUE, &number, sizeof(number), COMMUTE, handle, 0);

    task->destroy = 0;
    return task;
}

/* That would wait for itself if commuting tasks kept their order. */
START_TEST(a_commuting_task_may_depend_on_a_later_one)
{
    struct starpu_task *early, *late;
    starpu_data_handle_t handle;
    uint64_t value = 0;

    machine_open(_i);
    norder = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    early = note_task(handle, 1);
    late = note_task(handle, 2);
    starpu_task_declare_deps_array(early, 1, &late);
    ck_assert_int_eq(starpu_task_submit(early), 0);
    ck_assert_int_eq(starpu_task_submit(late), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(handle);
    starpu_task_destroy(early);
    starpu_task_destroy(late);
    starpu_shutdown();
    ck_assert_int_eq(norder, 2);
    ck_assert_int_eq(order[0], 2);
    ck_assert_int_eq(order[1], 1);
}
END_TEST

enum { GATE = 1000 };
enum { BY_ORDER, BY_TASK, BY_TAG, NGATES };

/* What releases all claimants at once comes first. */
static struct starpu_task *close_gate(int gate, starpu_data_handle_t handle)
{
    if (gate == BY_ORDER)
        ck_assert_int_eq(starpu_data_acquire(handle, STARPU_RW), 0);
    else
        starpu_data_set_sequential_consistency_flag(handle, 0);
    return gate == BY_TASK ? starpu_task_create() : NULL;
}

static void pass_gate(int gate, struct starpu_task *task,
                      struct starpu_task *before, starpu_tag_t tag)
{
    if (gate == BY_TASK)
        starpu_task_declare_deps_array(task, 1, &before);
    if (gate != BY_TAG)
        return;
    task->tag_id = tag;
    task->use_tag = 1;
    starpu_tag_declare_deps(tag, 1, (starpu_tag_t)GATE);
}

static void open_gate(int gate, starpu_data_handle_t handle,
                      struct starpu_task *before)
{
    if (gate == BY_ORDER)
        starpu_data_release(handle);
    else if (gate == BY_TASK)
        ck_assert_int_eq(starpu_task_submit(before), 0);
    else
        starpu_tag_notify_from_apps(GATE);
}

/* Whatever all of them have waited for, and in whichever order they came. */
START_TEST(the_most_urgent_claimant_comes_first)
{
    starpu_data_handle_t handle;
    struct starpu_task *before;
    int gate = _i % NGATES;
    uint64_t value = 0;

    machine_open(_i / NGATES);
    norder = 0;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    before = close_gate(gate, handle);
    for (int i = 0; i < NCLAIMANTS; i++) {
        int priority = i * 5 % NCLAIMANTS;
        struct starpu_task *task = note_task(handle, priority);

        task->destroy = 1;
        task->priority = priority;
        pass_gate(gate, task, before, (starpu_tag_t)(GATE + 1 + i));
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    open_gate(gate, handle, before);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(handle);
    starpu_shutdown();
    ck_assert_int_eq(norder, NCLAIMANTS);
    for (int i = 0; i < NCLAIMANTS; i++)
        ck_assert_int_eq(order[i], NCLAIMANTS - 1 - i);
}
END_TEST

/* An acquisition excludes tasks without order, and waits for them. */
START_TEST(the_application_is_excluded_too)
{
    machine_open(_i);
    lay_the_table(0, NULL);
    serve_meals(&cl_write, STARPU_RW);
    for (unsigned i = 0; i < NFORKS; i++) {
        ck_assert_int_eq(starpu_data_acquire(handles[i], STARPU_RW), 0);
        ck_assert_uint_eq(forks[i].before, forks[i].after);
        starpu_data_release(handles[i]);
    }
    clear_the_table();
}
END_TEST

/* starpu_data_acquire_try refuses while a task is registered, even a reader, and
 * brings the value from where it is once there is none. */
START_TEST(an_attempt_waits_for_copies_only)
{
    machine_open(_i);
    lay_the_table(1, NULL);
    starpu_pause();
    ck_assert_int_eq(starpu_task_insert(&cl_look, STARPU_R, handles[0], 0), 0);
    ck_assert_int_eq(starpu_data_acquire_try(handles[0], STARPU_R), -EAGAIN);
    ck_assert_int_eq(starpu_data_acquire_try(handles[2], STARPU_RW), 0);
    starpu_data_release(handles[2]);
    starpu_resume();
    serve_meals(&cl_write, STARPU_RW);
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < NFORKS; i++) {
        ck_assert_int_eq(starpu_data_acquire_try(handles[i], STARPU_R), 0);
        ck_assert_uint_eq(forks[i].before, forks[i].after);
        ck_assert_uint_eq(forks[i].before, 2 * NMEALS);
        starpu_data_release(handles[i]);
    }
    clear_the_table();
}
END_TEST

SUITE_MAIN(access)
{
    Suite *suite = suite_create("access");
    TCase *tc = tcase_create("access");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, commuting_philosophers_dine, 0, NMACHINES);
    tcase_add_loop_test(tc, philosophers_dine_without_order, 0, NMACHINES);
    tcase_add_loop_test(tc, philosophers_dine_with_an_arbiter, 0, NMACHINES);
    tcase_add_test_raise_signal(tc, data_have_one_arbiter, 6);
    tcase_add_test_raise_signal(tc, data_in_use_get_no_arbiter, 6);
    tcase_add_loop_test(tc, a_commuting_task_may_depend_on_a_later_one, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, the_most_urgent_claimant_comes_first, 0,
                        NMACHINES * NGATES);
    tcase_add_loop_test(tc, the_application_is_excluded_too, 0, NMACHINES);
    tcase_add_loop_test(tc, an_attempt_waits_for_copies_only, 0, NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-plan-heft.c - plan-heft where the memory of a device has no room for
 * all data: which of many ready tasks it takes first.
 */
#include <stdlib.h>

#include "machines.h"

enum { NTASKS = 40, NX = 256 << 10 }; /* of 1 MiB each */

static unsigned ntaken, when[NTASKS];

static void nothing(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {nothing}, /* what is run where CUDA is simulated */
    .cuda_funcs = {nothing},
    .where = STARPU_CUDA,
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "k"};

static void note(void *arg)
{
    when[(intptr_t)arg] = ntaken++;
}

/* After another one, if that is not NULL. */
static struct starpu_task *submit(starpu_data_handle_t handle, int number,
                                  struct starpu_task *before)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->handles[0] = handle;
    task->prologue_callback_pop_func = note;
    task->prologue_callback_pop_arg = (void *)(intptr_t)number;
    task->destroy = before != NULL;
    if (before)
        starpu_task_declare_deps(task, 1, before);
    ck_assert_int_eq(starpu_task_submit(task), 0);
    return task;
}

/* The first task brings the data of the last one, all others wait for it, and are
 * planned together: when does the turn of the last one come? */
static unsigned turn_of_last(const char *mib)
{
    static float x[NTASKS][NX];
    starpu_data_handle_t handles[NTASKS];
    struct starpu_task *first;

    ntaken = 0;
    machine_choose(FIRST_SIMULATED);
    setenv("STARPU_SCHED", "plan-heft", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NCUDA", "1", 1);
    setenv("STARPU_PREFETCH", "0", 1);
    setenv("STARPU_LIMIT_CUDA_MEM", mib, 1);
    /* Longer than a copy takes: it has no place before the others. */
    setenv("ORRERY_ASSUME", "k = 10ms", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    for (int i = 0; i < NTASKS; i++)
        starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM,
                                    (uintptr_t)x[i], NX, sizeof(float));
    first = submit(handles[NTASKS - 1], 0, NULL);
    for (int i = 0; i < NTASKS; i++)
        (void)submit(handles[i], i, first);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    starpu_task_destroy(first);
    for (int i = 0; i < NTASKS; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    ck_assert_uint_eq(ntaken, NTASKS + 1);
    return when[NTASKS - 1] - 1;
}

START_TEST(what_is_there_is_used_before_it_must_leave)
{
    ck_assert_uint_eq(turn_of_last("8"), 0);
}
END_TEST

START_TEST(the_plan_is_followed_where_there_is_room_for_all)
{
    ck_assert_uint_ge(turn_of_last("60"), 8);
}
END_TEST

SUITE_MAIN(plan_heft)
{
    Suite *suite = suite_create("plan-heft");
    TCase *tc = tcase_create("memory");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, what_is_there_is_used_before_it_must_leave);
    tcase_add_test(tc, the_plan_is_followed_where_there_is_room_for_all);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-can-execute.c - the application's can_execute is called for a
 * task while another worker takes it, computes it and would end it: the task
 * lives until the call returns. Real machine only: a simulated one calls it
 * without switching.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "machines.h"

/* In order; each but `ended` waits for the one before it. */
static atomic_int asking; /* worker 0 is in can_execute about the task */
static atomic_int ran;    /* worker 1 has computed it */
static atomic_int after;  /* and another task after it, so its end was due */
static atomic_int ended;  /* its callback has run */
static atomic_int ended_early;

static void await(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static int answer(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    (void)nimpl;
    /* A call from another thread, as that which pushes: no objection. */
    if (starpu_worker_get_id() != (int)worker)
        return 1;
    if (worker == 1)
        return atomic_load(&asking);
    if (atomic_load(&ran))
        return 0;
    atomic_store(&asking, 1);
    await(&after);
    if (atomic_load(&ended))
        atomic_store(&ended_early, 1);
    else
        ck_assert_ptr_nonnull(task->cl_arg);
    return 0;
}

static void set(void *buffers[], void *arg)
{
    (void)buffers;
    atomic_store((atomic_int *)arg, 1);
}

static void note_end(void *arg)
{
    (void)arg;
    atomic_store(&ended, 1);
}

static struct starpu_codelet cl_asked = {
    .cpu_funcs = {set}, .can_execute = answer, .name = "asked"};
static struct starpu_codelet cl_set = {.cpu_funcs = {set}, .name = "set"};

static void submit(struct starpu_codelet *cl, atomic_int *flag, int worker,
                   void (*callback)(void *))
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->cl_arg = flag;
    task->cl_arg_size = 0;
    task->callback_func = callback;
    if (worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)worker;
    }
    ck_assert_int_eq(starpu_task_submit(task), 0);
}

static const char *const policies[] = {"eager", "prio"};

START_TEST(a_task_lives_while_can_execute_is_called_for_it)
{
    static atomic_int nudged;

    machine_choose(0);
    setenv("STARPU_SCHED", policies[_i], 1);
    setenv("STARPU_NCPU", "2", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    submit(&cl_asked, &ran, -1, note_end);
    await(&asking);
    /* Worker 1 has refused, and may sleep: when it has done this it calls
     * again. */
    submit(&cl_set, &nudged, 1, NULL);
    await(&ran);
    submit(&cl_set, &after, 1, NULL);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&ended_early), 0);
    ck_assert_int_eq(atomic_load(&ended), 1);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(can_execute)
{
    Suite *suite = suite_create("can-execute");
    TCase *tc = tcase_create("all");

    tcase_add_loop_test(tc, a_task_lives_while_can_execute_is_called_for_it, 0,
                        2);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-heteroprio-wakes.c - a worker that looked in vain is woken when what
 * was in its way has gone, though somebody has what it wants in hand just then. Three
 * processors: each does its part when it is asked to, and can_execute, which is
 * called without a lock, holds them where the others catch up.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <starpu.h>

#include "core/exec/runtime.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

enum { DECIDER, TAKER, WAITER, NWORKERS };
enum step {
    NOTHING,
    TAKER_HAS,   /* … in hand what is in front, and may take it */
    DECIDER_HAS, /* … in hand what the waiter wants, and has to refuse it */
    TAKER_RUNS,  /* what was in front has gone */
};

static struct starpu_task *in_front, *wanted;
static atomic_int step;
static atomic_bool busy[NWORKERS];

static void await(enum step next)
{
    while (atomic_load(&step) < (int)next)
        sched_yield();
}

/* The worker goes from one step to the next, once, and waits for the one after it. */
static void go_on(enum step from)
{
    int now = (int)from;

    if (atomic_compare_exchange_strong(&step, &now, now + 1))
        await(from + 2);
}

static int can_execute(unsigned worker, struct starpu_task *task, unsigned impl)
{
    (void)impl;
    if (starpu_worker_get_id() == TAKER && worker == TAKER && task == in_front)
        go_on(NOTHING);
    if (starpu_worker_get_id() == DECIDER && worker == DECIDER && task == wanted)
        go_on(TAKER_HAS);
    return worker == (task == wanted ? WAITER : TAKER);
}

static atomic_bool sleeps[NWORKERS];

static void note_sleep(unsigned worker)
{
    atomic_store(&sleeps[worker], true);
}

static void note_waking(unsigned worker)
{
    atomic_store(&sleeps[worker], false);
}

/* Until the worker, to which nobody gives a task meanwhile, has said that it is about to
 * sleep, has looked once more, and does. */
static void await_sleep(unsigned worker)
{
    struct orr_runtime *rt = orr_runtime_current("test");

    while (!orr_worker_is_asleep(&rt->workers->at[worker]) ||
           !atomic_load(&sleeps[worker]))
        sched_yield();
}

/* Who looks for more while the decider decides would have it wake everybody. */
static void choosy(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    if (starpu_worker_get_id() != TAKER)
        return;
    atomic_store(&step, TAKER_RUNS);
    await_sleep(DECIDER);
}

static void occupied(void *buffers[], void *arg)
{
    atomic_bool *mine = arg;

    (void)buffers;
    while (atomic_load(mine))
        sched_yield();
}

static void occupy(unsigned worker)
{
    static struct starpu_codelet cl = {.cpu_funcs = {occupied}};

    atomic_store(&busy[worker], true);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, worker,
                                        STARPU_CL_ARGS_NFREE, &busy[worker],
                                        sizeof(busy[worker]), 0),
                     0);
}

/* Later ones go before earlier ones. */
static void submit_choosy(struct starpu_task **ret)
{
    static struct starpu_codelet cl = {.cpu_funcs = {choosy},
                                       .can_execute = can_execute};

    *ret = starpu_task_build(&cl, 0);
    ck_assert_int_eq(starpu_task_submit(*ret), 0);
}

START_TEST(who_passed_by_what_has_gone_is_woken_by_who_puts_back)
{
    struct starpu_conf conf;

    setenv("STARPU_WATCHDOG_CRASH", "1", 1);
    setenv("STARPU_HETEROPRIO_USE_AUTO_CALIBRATION", "0", 1);
    starpu_conf_init(&conf);
    conf.ncpus = NWORKERS;
    conf.sched_policy_name = "heteroprio";
    conf.callback_worker_going_to_sleep = note_sleep;
    conf.callback_worker_waking_up = note_waking;
    ck_assert_int_eq(starpu_init(&conf), 0);
    for (unsigned w = 0; w < NWORKERS; w++)
        occupy(w);
    submit_choosy(&wanted);
    submit_choosy(&in_front);
    atomic_store(&busy[WAITER], false);
    await_sleep(WAITER);
    atomic_store(&busy[TAKER], false);
    await(TAKER_HAS);
    atomic_store(&busy[DECIDER], false);
    /* The waiter may have had in hand what the decider was to see. */
    while (atomic_load(&step) < DECIDER_HAS) {
        starpu_wake_worker_relax_light(DECIDER);
        sched_yield();
    }
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&step), TAKER_RUNS);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(heteroprio_wakes)
{
    Suite *suite = suite_create("heteroprio-wakes");
    TCase *tc = tcase_create("wakes");

    tcase_add_test(tc, who_passed_by_what_has_gone_is_woken_by_who_puts_back);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

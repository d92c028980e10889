/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-threads.c - the real machine's contexts: the suite that
 * every machine passes, and what only threads do.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/device/clock.h"
#include "core/device/threads.h"
#include "tests/suite.h"
#include "tests/unit/exec-suite.h"

static struct orr_exec *open_threads(void)
{
    struct orr_exec *exec = NULL;

    ck_assert_int_eq(orr_threads_new(NULL, &exec), 0);
    return exec;
}

static const struct exec_maker threads = {
    .name = "threads",
    .open = open_threads,
    .close = orr_threads_free,
};

static int note_cpu(int cpu, void *arg)
{
    atomic_store((atomic_int *)arg, cpu);
    return 0;
}

static void nothing(void *arg)
{
    (void)arg;
}

START_TEST(contexts_are_bound_with_the_given_function)
{
    atomic_int cpu = -1;
    struct orr_threads_options options = {.bind = note_cpu, .arg = &cpu};
    struct orr_exec *exec = NULL;
    struct orr_context *context = NULL;

    ck_assert_int_eq(orr_threads_new(&options, &exec), 0);
    ck_assert_int_eq(exec->ops->spawn(exec, NULL, 7, nothing, NULL, &context),
                     0);
    exec->ops->join(exec, context);
    ck_assert_int_eq(atomic_load(&cpu), 7);
    orr_threads_free(exec);
}
END_TEST

/* µs of this thread's own in which it looks n times. */
static double linger(unsigned first, unsigned most, unsigned n)
{
    struct orr_threads_options options = {.first_pauses = first,
                                          .most_pauses = most};
    struct orr_exec *exec = NULL;
    double us;

    ck_assert_int_eq(orr_threads_new(&options, &exec), 0);
    us = orr_thread_time_us();
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(exec->ops->linger(exec, i), most > 0);
    us = orr_thread_time_us() - us;
    orr_threads_free(exec);
    return us;
}

/* 8 looks: 2 000 pauses of the processor, 8 million, and about as many with a first
 * one of 4 000. */
START_TEST(pauses_between_looks_are_those_that_were_asked_for)
{
    double few, many, doubled;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        SKIP_TEST("nobody lingers on one processor");
    (void)linger(250, 250, 8); /* an emulator has translated it then */
    few = linger(250, 250, 8);
    many = linger(1000000, 1000000, 8);
    doubled = linger(4000, 1000000, 8);
    ck_assert_double_gt(many, 20 * few);
    ck_assert_double_gt(doubled, 20 * few);
    ck_assert_double_lt(doubled, many);
    ck_assert_double_gt(doubled, linger(4000, 4000, 8) * 5);
    (void)linger(1, 0, 1);
}
END_TEST

struct visit {
    struct orr_exec *exec;
    struct orr_context *main;
    struct orr_context *adopted;
    pthread_barrier_t *stay; /* NULL: end at once */
};

static void *visit_library(void *arg)
{
    struct visit *visit = arg;

    ck_assert_ptr_null(orr_self);
    visit->adopted = visit->exec->ops->adopt(visit->exec);
    ck_assert_ptr_eq(orr_self, visit->adopted);
    visit->exec->ops->wake(visit->exec, visit->main);
    visit->exec->ops->wake(visit->exec, orr_self);
    visit->exec->ops->park(visit->exec, ORR_FOREVER);
    if (visit->stay) {
        pthread_barrier_wait(visit->stay);
        pthread_barrier_wait(visit->stay);
        ck_assert_ptr_null(orr_self);
    }
    return NULL;
}

START_TEST(a_foreign_thread_is_adopted_and_may_end_first)
{
    struct orr_exec *exec = open_threads();
    struct visit visit = {.exec = exec, .main = orr_self};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, visit_library, &visit), 0);
    exec->ops->park(exec, ORR_FOREVER);
    pthread_join(thread, NULL);
    orr_threads_free(exec);
}
END_TEST

START_TEST(an_adopted_thread_that_stays_is_unknown_afterwards)
{
    struct orr_exec *exec = open_threads();
    pthread_barrier_t stay;
    struct visit visit = {.exec = exec, .main = orr_self, .stay = &stay};
    pthread_t thread;

    pthread_barrier_init(&stay, NULL, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, visit_library, &visit), 0);
    exec->ops->park(exec, ORR_FOREVER);
    pthread_barrier_wait(&stay);
    orr_threads_free(exec);
    pthread_barrier_wait(&stay);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&stay);
}
END_TEST

/* Who wakes a thread may be late: it saw what it waited for, and has ended. Its
 * context must be there, which sanitizers and valgrind see to. */
START_TEST(a_wake_may_come_after_the_end_of_an_adopted_thread)
{
    struct orr_exec *exec = open_threads();
    struct visit first = {.exec = exec, .main = orr_self}, second = first;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, visit_library, &first), 0);
    pthread_join(thread, NULL);
    exec->ops->wake(exec, first.adopted);
    ck_assert_int_eq(pthread_create(&thread, NULL, visit_library, &second), 0);
    pthread_join(thread, NULL);
    ck_assert_ptr_eq(first.adopted, second.adopted); /* it is used again */
    orr_threads_free(exec);
}
END_TEST

SUITE_MAIN(threads)
{
    Suite *suite = suite_create("threads");
    TCase *own = tcase_create("threads only");

    suite_add_tcase(suite, exec_suite(&threads));
    tcase_add_test(own, pauses_between_looks_are_those_that_were_asked_for);
    tcase_add_test(own, contexts_are_bound_with_the_given_function);
    tcase_add_test(own, a_foreign_thread_is_adopted_and_may_end_first);
    tcase_add_test(own, an_adopted_thread_that_stays_is_unknown_afterwards);
    tcase_add_test(own, a_wake_may_come_after_the_end_of_an_adopted_thread);
    suite_add_tcase(suite, own);
    return suite_main(suite);
}

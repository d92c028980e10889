/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/exec-suite.c - see exec-suite.h. Written for real threads:
 * spurious returns of park are allowed, so all waits are loops over a flag.
 */
#include "tests/unit/exec-suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/wait.h"

static const struct exec_maker *maker;
static struct orr_exec *exec;

static void setup(void)
{
    exec = maker->open();
    ck_assert_ptr_nonnull(exec);
}

static void teardown(void)
{
    maker->close(exec);
    ck_assert_ptr_null(orr_self);
}

static struct orr_context *spawn(const char *name, void (*body)(void *),
                                 void *arg)
{
    struct orr_context init = {.name = name}, *context = NULL;

    ck_assert_int_eq(exec->ops->spawn(exec, &init, -1, body, arg, &context), 0);
    return context;
}

static void join(struct orr_context *context)
{
    exec->ops->join(exec, context);
}

START_TEST(the_opener_is_the_main_context)
{
    ck_assert_ptr_nonnull(orr_self);
    ck_assert_ptr_eq(orr_self->exec, exec);
    ck_assert_str_eq(orr_self->name, "main");
}
END_TEST

static void look_at_self(void *arg)
{
    struct orr_context **seen = arg;

    *seen = orr_self;
    ck_assert_str_eq(orr_self->name, "a worker");
    ck_assert_ptr_eq(orr_self->exec, exec);
}

START_TEST(a_context_knows_itself_and_its_fields)
{
    struct orr_context *seen = NULL, *main_context = orr_self;
    struct orr_context *context = spawn("a worker", look_at_self, &seen);

    join(context);
    ck_assert_ptr_nonnull(seen);
    ck_assert_ptr_eq(seen, context);
    ck_assert_ptr_eq(orr_self, main_context);
}
END_TEST

START_TEST(time_never_goes_back_and_sleep_advances_it)
{
    double before = exec->ops->now(exec), after;

    exec->ops->sleep(exec, 50);
    after = exec->ops->now(exec);
    ck_assert_double_ge(after, before + 50);
    exec->ops->sleep(exec, 0);
    exec->ops->sleep(exec, -1);
    ck_assert_double_ge(exec->ops->now(exec), after);
}
END_TEST

START_TEST(a_wake_before_the_park_is_not_lost)
{
    exec->ops->wake(exec, orr_self);
    exec->ops->wake(exec, orr_self); /* tokens do not add up */
    exec->ops->park(exec, ORR_FOREVER);
}
END_TEST

START_TEST(a_park_ends_at_its_date)
{
    double until = exec->ops->now(exec) + 100;

    while (exec->ops->now(exec) < until)
        exec->ops->park(exec, until);
    exec->ops->park(exec, 0); /* a date in the past */
}
END_TEST

START_TEST(a_sleep_keeps_the_token)
{
    exec->ops->wake(exec, orr_self);
    exec->ops->sleep(exec, 10);
    exec->ops->park(exec, ORR_FOREVER);
}
END_TEST

struct pair {
    struct orr_context *main, *other;
    atomic_int ball; /* whose turn it is */
    int rounds;
};

static void return_ball(void *arg)
{
    struct pair *pair = arg;

    for (int i = 0; i < pair->rounds; i++) {
        while (atomic_load(&pair->ball) != 1)
            exec->ops->park(exec, ORR_FOREVER);
        atomic_store(&pair->ball, 0);
        exec->ops->wake(exec, pair->main);
    }
}

START_TEST(two_contexts_wake_each_other)
{
    struct pair pair = {.main = orr_self, .rounds = 2000};

    pair.other = spawn("other", return_ball, &pair);
    for (int i = 0; i < pair.rounds; i++) {
        atomic_store(&pair.ball, 1);
        exec->ops->wake(exec, pair.other);
        while (atomic_load(&pair.ball) != 0)
            exec->ops->park(exec, ORR_FOREVER);
    }
    join(pair.other);
}
END_TEST

static void count_up(void *arg)
{
    atomic_int *n = arg;

    exec->ops->sleep(exec, 5);
    atomic_fetch_add(n, 1);
}

START_TEST(join_waits_for_the_end)
{
    enum { N = 16 };
    struct orr_context *contexts[N];
    atomic_int n = 0;

    for (int i = 0; i < N; i++)
        contexts[i] = spawn("counter", count_up, &n);
    for (int i = N - 1; i >= 0; i--)
        join(contexts[i]);
    ck_assert_int_eq(atomic_load(&n), N);
}
END_TEST

static void wait_for_flag(void *arg)
{
    atomic_int *flag = arg;

    while (!atomic_load(flag))
        exec->ops->park(exec, exec->ops->now(exec) + 20);
}

START_TEST(timed_parks_and_wakes_mix)
{
    atomic_int flag = 0;
    struct orr_context *context = spawn("waiter", wait_for_flag, &flag);

    exec->ops->sleep(exec, 100);
    atomic_store(&flag, 1);
    exec->ops->wake(exec, context);
    join(context);
}
END_TEST

static void spawn_another(void *arg)
{
    join(spawn("grandchild", count_up, arg));
}

START_TEST(contexts_make_contexts)
{
    atomic_int n = 0;

    join(spawn("child", spawn_another, &n));
    ck_assert_int_eq(atomic_load(&n), 1);
}
END_TEST

/* --- core/base/wait.h --- */

static const struct orr_awaited nothing = {.noun = "nothing"};

START_TEST(a_wait_that_is_over_does_not_block)
{
    struct orr_waiter waiter;

    orr_waiter_init(&waiter);
    ck_assert(!orr_waiter_is_over(&waiter));
    orr_waiter_release(&waiter);
    orr_wait(&waiter, &nothing);
    ck_assert(orr_wait_until(&waiter, &nothing, 0));
    ck_assert_ptr_null(orr_self->awaited);
}
END_TEST

START_TEST(a_wait_ends_at_its_date)
{
    double until = exec->ops->now(exec) + 50;
    struct orr_waiter waiter;

    orr_waiter_init(&waiter);
    ck_assert(!orr_wait_until(&waiter, &nothing, until));
    ck_assert_double_ge(exec->ops->now(exec), until);
}
END_TEST

START_TEST(queues_are_first_come_first_served)
{
    struct orr_waiters queue = {NULL}, taken;
    struct orr_waiter waiters[4];
    unsigned n = 0;

    ck_assert_ptr_null(orr_waiters_first(&queue));
    ck_assert_ptr_null(orr_waiters_take(&queue));
    ck_assert(!orr_waiters_remove(&queue, &waiters[0]));
    for (unsigned i = 0; i < 4; i++)
        orr_waiters_add(&queue, &waiters[i]);
    orr_waiters_foreach (waiter, &queue)
        ck_assert_ptr_eq(waiter, &waiters[n++]);
    ck_assert_uint_eq(n, 4);
    ck_assert(orr_waiters_remove(&queue, &waiters[3])); /* the last … */
    ck_assert(!orr_waiters_remove(&queue, &waiters[3]));
    ck_assert(orr_waiters_remove(&queue, &waiters[1]));
    ck_assert_ptr_eq(orr_waiters_take(&queue), &waiters[0]); /* … the first */
    orr_waiters_add(&queue, &waiters[1]);
    orr_waiters_prepend(&queue, &waiters[0]);
    ck_assert_ptr_eq(orr_waiters_first(&queue), &waiters[0]);
    taken = orr_waiters_take_all(&queue);
    ck_assert_ptr_null(orr_waiters_first(&queue));
    orr_waiters_release(taken);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(orr_waiter_is_over(&waiters[i]));
    ck_assert(!orr_waiter_is_over(&waiters[3]));
    orr_waiters_prepend(&queue, &waiters[3]);
    ck_assert_ptr_eq(orr_waiters_take(&queue), &waiters[3]);
    ck_assert_ptr_null(orr_waiters_first(&queue));
}
END_TEST

/* Two contexts that release each other's waits, which are on stacks that go. */
struct turn {
    _Atomic(struct orr_waiter *) waiter;
    struct turn *other;
    int rounds;
};

static void take_turns(void *arg)
{
    struct turn *turn = arg;

    for (int i = 0; i < turn->rounds; i++) {
        struct orr_waiter waiter, *other;

        orr_waiter_init(&waiter);
        atomic_store(&turn->waiter, &waiter);
        while (!(other = atomic_exchange(&turn->other->waiter, NULL)))
            exec->ops->sleep(exec, 1);
        orr_waiter_release(other);
        orr_wait(&waiter, &nothing);
    }
}

START_TEST(two_contexts_end_each_others_waits)
{
    struct turn one = {.rounds = 200}, two = {.rounds = 200, .other = &one};
    struct orr_context *context;

    one.other = &two;
    context = spawn("other", take_turns, &two);
    take_turns(&one);
    join(context);
}
END_TEST

static void describe(const struct orr_awaited *awaited, char *text, size_t size)
{
    snprintf(text, size, "%s %llu", awaited->noun, awaited->number);
}

static void wait_for_number(void *arg)
{
    const struct orr_awaited awaited = {
        .noun = "number", .describe = describe, .number = 7};
    struct orr_waiter waiter;

    orr_waiter_init(&waiter);
    atomic_store((_Atomic(struct orr_waiter *) *)arg, &waiter);
    orr_wait(&waiter, &awaited);
}

START_TEST(others_see_what_a_context_waits_for)
{
    _Atomic(struct orr_waiter *) waiter = NULL;
    struct orr_context *context = spawn("other", wait_for_number, &waiter);
    char text[ORR_AWAITED_TEXT];
    bool seen = true;

    while (!orr_context_tell(context, text, sizeof(text), &seen))
        exec->ops->sleep(exec, 10);
    ck_assert(!seen);
    ck_assert_str_eq(text, "number 7");
    ck_assert(orr_context_tell(context, NULL, 0, &seen));
    ck_assert(seen);
    orr_waiter_release(atomic_load(&waiter));
    join(context);
    ck_assert(!orr_context_tell(orr_self, text, sizeof(text), &seen));
    orr_awaited_write(NULL, text, sizeof(text));
    ck_assert_str_eq(text, "something of its own");
    orr_awaited_write(&nothing, text, sizeof(text));
    ck_assert_str_eq(text, "nothing");
}
END_TEST

START_TEST(relax_returns)
{
    exec->ops->relax(exec);
}
END_TEST

/* --- the thread's own stack --- */

static bool is_near(const void *one, const void *other)
{
    intptr_t distance = (intptr_t)one - (intptr_t)other;

    return distance > -(1 << 20) && distance < 1 << 20;
}

/* What a context has in a call on its thread's stack, and what it had before. */
struct visit {
    const char *frame, *home;
    struct orr_context *self;
    unsigned depth, deepest, frozen;
    bool away;
};

static void look(void *arg)
{
    char here = 0;
    struct visit *v = arg;
    const char *outer = v->frame;

    v->frame = &here;
    v->self = orr_self;
    v->frozen = orr_self->frozen;
    v->away = orr_self->away;
    if (v->depth == v->deepest)
        return;
    v->depth++;
    exec->ops->on_thread_stack(exec, look, v);
    /* Calls lie below each other. */
    if (v->depth-- == v->deepest && outer)
        ck_assert(is_near(outer, &here));
}

START_TEST(main_is_on_its_stack_already)
{
    char here;
    struct visit v = {.deepest = 2};

    exec->ops->on_thread_stack(exec, look, &v);
    ck_assert(is_near(v.frame, &here));
    ck_assert_ptr_eq(v.self, orr_self);
    ck_assert(!v.away);
    ck_assert_uint_eq(v.frozen, 0);
}
END_TEST

static void visit_home(void *arg)
{
    char here;
    struct visit *v = arg;
    bool own = !exec->one_thread;

    orr_self->suspends_at = own ? 0 : 7; /* as that of a kernel which may wait */
    for (int i = 0; i < 100; i++) {
        exec->ops->on_thread_stack(exec, look, v);
        ck_assert(is_near(v->frame, own ? &here : v->home));
        ck_assert_ptr_eq(v->self, orr_self);
        ck_assert(v->away == !own);
        ck_assert_uint_eq(v->frozen, own ? 0 : 1);
    }
    ck_assert(!orr_self->away);
    ck_assert_uint_eq(orr_self->frozen, 0);
    ck_assert_uint_eq(orr_self->suspends_at, own ? 0 : 7);
    orr_self->suspends_at = 0;
}

START_TEST(others_call_there_and_come_back)
{
    char here;
    struct visit visits[] = {{.home = &here}, {.home = &here, .deepest = 3}};
    struct orr_context *contexts[2];

    for (int i = 0; i < 2; i++)
        contexts[i] = spawn("visitor", visit_home, &visits[i]);
    for (int i = 0; i < 2; i++)
        join(contexts[i]);
}
END_TEST

static double deep(double x, int n)
{
    volatile double kept[64] = {x};

    return n == 0 ? kept[0] : deep(x + 1, n - 1) + kept[0];
}

static void compute_deep(void *arg)
{
    *(double *)arg = deep(0, 1000);
}

static void compute_there(void *arg)
{
    double before = 1.5, *result = arg;

    exec->ops->sleep(exec, 5);
    exec->ops->on_thread_stack(exec, compute_deep, result);
    exec->ops->sleep(exec, 5);
    *result += before;
}

/* Main is in the middle of something; what is beneath it is overwritten. */
START_TEST(what_main_has_on_its_stack_stays)
{
    double results[8];
    struct orr_context *contexts[8];
    volatile char mine[4096];

    for (size_t i = 0; i < sizeof(mine); i++)
        mine[i] = (char)i;
    for (int i = 0; i < 8; i++)
        contexts[i] = spawn("deep", compute_there, &results[i]);
    for (int i = 0; i < 8; i++) {
        join(contexts[i]);
        ck_assert_double_eq(results[i], 1000 + 999 * 500. + 1.5);
    }
    for (size_t i = 0; i < sizeof(mine); i++)
        ck_assert_int_eq(mine[i], (char)i);
}
END_TEST

TCase *exec_suite(const struct exec_maker *with)
{
    TCase *tc = tcase_create(with->name);

    maker = with;
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_opener_is_the_main_context);
    tcase_add_test(tc, a_context_knows_itself_and_its_fields);
    tcase_add_test(tc, time_never_goes_back_and_sleep_advances_it);
    tcase_add_test(tc, a_wake_before_the_park_is_not_lost);
    tcase_add_test(tc, a_park_ends_at_its_date);
    tcase_add_test(tc, a_sleep_keeps_the_token);
    tcase_add_test(tc, two_contexts_wake_each_other);
    tcase_add_test(tc, join_waits_for_the_end);
    tcase_add_test(tc, timed_parks_and_wakes_mix);
    tcase_add_test(tc, contexts_make_contexts);
    tcase_add_test(tc, a_wait_that_is_over_does_not_block);
    tcase_add_test(tc, a_wait_ends_at_its_date);
    tcase_add_test(tc, queues_are_first_come_first_served);
    tcase_add_test(tc, two_contexts_end_each_others_waits);
    tcase_add_test(tc, others_see_what_a_context_waits_for);
    tcase_add_test(tc, main_is_on_its_stack_already);
    tcase_add_test(tc, others_call_there_and_come_back);
    tcase_add_test(tc, what_main_has_on_its_stack_stays);
    tcase_add_test(tc, relax_returns);
    return tc;
}

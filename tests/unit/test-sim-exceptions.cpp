/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sim-exceptions.cpp - C++ exceptions and the switches of the
 * simulated machine: what is caught in one context is rethrown there, however
 * many others throw meanwhile.
 */
#include <atomic>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <check.h>

#define _Thread_local __thread /* C's word, for core/base/exec.h */
using std::atomic_bool;        /* likewise, for core/device/driver.h */
extern "C" {
#include "tests/suite.h"
#include "tests/unit/sim-machine.h"
}

static struct orr_machine *machine;
static struct orr_exec *exec;

static void setup()
{
    struct sim_spec spec = {};

    machine = sim_machine_open(&spec);
    exec = machine->exec;
}

static void teardown()
{
    machine->ops->close(machine);
}

struct thrower {
    std::string word;
    double us;
    int depth;
    std::string found;
    int uncaught;
};

static struct orr_context *spawn(void (*body)(void *), void *arg)
{
    struct orr_context init = {}, *context = nullptr;

    init.name = "thrower";
    ck_assert_int_eq(exec->ops->spawn(exec, &init, -1, body, arg, &context), 0);
    return context;
}

static void rethrow(void *arg)
{
    auto *t = static_cast<thrower *>(arg);

    try {
        try {
            throw std::runtime_error(t->word);
        } catch (const std::exception &) {
            exec->ops->sleep(exec, t->us);
            throw;
        }
    } catch (const std::exception &e) {
        t->found = e.what();
    }
}

START_TEST(a_rethrow_after_a_switch_finds_its_own_exception)
{
    thrower a{"a", 30, 0, "", 0}, b{"b", 10, 0, "", 0}, c{"c", 20, 0, "", 0};
    struct orr_context *contexts[] = {spawn(rethrow, &a), spawn(rethrow, &b),
                                      spawn(rethrow, &c)};

    for (auto *context : contexts)
        exec->ops->join(exec, context);
    ck_assert_str_eq(a.found.c_str(), "a");
    ck_assert_str_eq(b.found.c_str(), "b");
    ck_assert_str_eq(c.found.c_str(), "c");
}
END_TEST

START_TEST(main_and_a_context_throw_crosswise)
{
    thrower mine{"main", 15, 0, "", 0}, other{"other", 20, 0, "", 0};
    struct orr_context *context = spawn(rethrow, &other);

    rethrow(&mine);
    exec->ops->join(exec, context);
    ck_assert_str_eq(mine.found.c_str(), "main");
    ck_assert_str_eq(other.found.c_str(), "other");
    ck_assert(!std::current_exception());
}
END_TEST

/* Sleeps while an exception passes through its scope. */
struct Sleeper {
    thrower *t;
    ~Sleeper()
    {
        exec->ops->sleep(exec, t->us);
        t->uncaught = std::uncaught_exceptions();
    }
};

static void sleep_in_destructor(void *arg)
{
    auto *t = static_cast<thrower *>(arg);

    try {
        Sleeper sleeper{t};
        throw std::runtime_error(t->word);
    } catch (const std::exception &e) {
        t->found = e.what();
    }
}

START_TEST(a_switch_in_a_destructor_during_unwinding)
{
    thrower a{"a", 30, 0, "", -1}, b{"b", 10, 0, "", -1};
    struct orr_context *first = spawn(sleep_in_destructor, &a);
    struct orr_context *second = spawn(sleep_in_destructor, &b);

    ck_assert_int_eq(std::uncaught_exceptions(), 0);
    exec->ops->sleep(exec, 5);
    ck_assert_int_eq(std::uncaught_exceptions(), 0);
    exec->ops->join(exec, first);
    exec->ops->join(exec, second);
    ck_assert_str_eq(a.found.c_str(), "a");
    ck_assert_str_eq(b.found.c_str(), "b");
    ck_assert_int_eq(a.uncaught, 1);
    ck_assert_int_eq(b.uncaught, 1);
}
END_TEST

static void throw_deeply(thrower *t, int depth)
{
    exec->ops->sleep(exec, t->us);
    if (depth == 0)
        throw std::runtime_error(t->word);
    throw_deeply(t, depth - 1);
}

static void catch_from_deep(void *arg)
{
    auto *t = static_cast<thrower *>(arg);

    for (int i = 0; i < 10; i++) {
        try {
            throw_deeply(t, t->depth);
        } catch (const std::exception &e) {
            t->found += e.what();
            exec->ops->sleep(exec, 1);
        }
    }
}

START_TEST(unwinding_works_on_a_stack_of_ours)
{
    thrower a{"a", 2, 50, "", 0}, b{"b", 3, 30, "", 0};
    struct orr_context *first = spawn(catch_from_deep, &a);
    struct orr_context *second = spawn(catch_from_deep, &b);

    exec->ops->join(exec, first);
    exec->ops->join(exec, second);
    ck_assert_str_eq(a.found.c_str(), "aaaaaaaaaa");
    ck_assert_str_eq(b.found.c_str(), "bbbbbbbbbb");
}
END_TEST

static void throw_and_catch(void *arg)
{
    auto *t = static_cast<thrower *>(arg);

    t->uncaught = std::uncaught_exceptions();
    try {
        throw std::runtime_error(t->word);
    } catch (const std::exception &e) {
        t->found = e.what();
    }
}

/* In a handler, on the stack of main, which is in one as well. */
static void throw_on_main(void *arg)
{
    auto *t = static_cast<thrower *>(arg);

    try {
        throw std::runtime_error("own");
    } catch (const std::exception &) {
        exec->ops->on_thread_stack(exec, throw_and_catch, t);
        ck_assert_str_eq(t->found.c_str(), t->word.c_str());
        exec->ops->sleep(exec, t->us);
        exec->ops->on_thread_stack(exec, throw_and_catch, t);
        try {
            throw;
        } catch (const std::exception &e) {
            t->found += e.what();
        }
    }
}

START_TEST(what_is_thrown_on_the_stack_of_main_is_caught_there)
{
    thrower a{"a", 20, 0, "", 1}, b{"b", 10, 0, "", 1};
    struct orr_context *contexts[] = {spawn(throw_on_main, &a), spawn(throw_on_main, &b)};

    try {
        throw std::runtime_error("main");
    } catch (const std::exception &) {
        for (auto *context : contexts)
            exec->ops->join(exec, context);
        try {
            throw;
        } catch (const std::exception &e) {
            ck_assert_str_eq(e.what(), "main");
        }
    }
    ck_assert_str_eq(a.found.c_str(), "aown");
    ck_assert_str_eq(b.found.c_str(), "bown");
    ck_assert_int_eq(a.uncaught + b.uncaught, 0);
}
END_TEST

SUITE_MAIN(sim_exceptions)
{
    Suite *suite = suite_create("sim-exceptions");
    TCase *tc = tcase_create("exceptions");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_rethrow_after_a_switch_finds_its_own_exception);
    tcase_add_test(tc, main_and_a_context_throw_crosswise);
    tcase_add_test(tc, a_switch_in_a_destructor_during_unwinding);
    tcase_add_test(tc, unwinding_works_on_a_stack_of_ours);
    tcase_add_test(tc, what_is_thrown_on_the_stack_of_main_is_caught_there);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-callers.c - core/observe/callers.h: whose call is the first that is not ours,
 * and that the stack is not walked for what is known. What is in the section `ours_text' is
 * ours. One thread, but for one test.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/observe/callers.h"
#include "tests/suite.h"

#define OURS  __attribute__((noinline, section("ours_text")))
#define APART __attribute__((noinline))

extern const char __start_ours_text[], __stop_ours_text[];

static struct orr_callers *callers;
static atomic_uint nasked;

static bool is_ours(void *arg, uintptr_t call)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    return call > (uintptr_t)__start_ours_text &&
           call <= (uintptr_t)__stop_ours_text;
}

static void setup(void)
{
    nasked = 0;
    ck_assert_int_eq(
        orr_callers_new(&(struct orr_callers_ops){is_ours, &nasked}, &callers),
        0);
}

static void teardown(void)
{
    orr_callers_free(callers);
}

/* What was found, and what there is. */
struct answer {
    uintptr_t found, call;
};

OURS static uintptr_t inner(void)
{
    uintptr_t found = orr_callers_find(callers);

    __asm__ volatile("" ::: "memory"); /* no jump in the place of a call */
    return found;
}

OURS static struct answer submit(void)
{
    struct answer answer = {inner(), (uintptr_t)__builtin_return_address(0)};

    __asm__ volatile("" ::: "memory");
    return answer;
}

OURS static struct answer insert(void)
{
    struct answer answer = submit();

    answer.call = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
    return answer;
}

/* As a function of a header that is compiled into something with a large frame. */
OURS static struct answer submit_from(size_t size)
{
    char *room = alloca(size);
    struct answer answer;

    memset(room, 1, size);
    answer.found = inner();
    answer.call = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" ::"r"(room) : "memory");
    return answer;
}

APART static struct answer here(void)
{
    struct answer answer = submit();

    __asm__ volatile("" ::: "memory");
    return answer;
}

APART static struct answer there(void)
{
    struct answer answer = submit();

    __asm__ volatile("" ::: "memory");
    return answer;
}

APART static struct answer deeper(void)
{
    struct answer answer = insert();

    __asm__ volatile("" ::: "memory");
    return answer;
}

static void check(struct answer answer)
{
    ck_assert_uint_eq(answer.found, answer.call);
    ck_assert(!is_ours(&nasked, answer.found));
    nasked--;
}

START_TEST(the_first_call_that_is_not_ours_is_found)
{
    check(here());
    check(deeper());
    check(there());
    ck_assert_uint_ne(here().found, there().found);
}
END_TEST

START_TEST(what_was_walked_once_is_known)
{
#if defined(__x86_64__)
    unsigned n;

    check(here());
    check(there());
    check(deeper());
    n = nasked;
    for (int i = 0; i < 100; i++) {
        check(here());
        check(deeper());
        check(there());
    }
    ck_assert_uint_eq(nasked, n);
#else
    suite_skip(
        "return addresses are not known to be the last words of frames here");
#endif
}
END_TEST

/* Frames of every size, with the remains of others in them. */
START_TEST(frames_of_other_sizes_are_no_other_call)
{
    uint32_t x = 2463534242U;

    for (int i = 0; i < 3000; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        check(submit_from(x % 600));
        check(x & 1 ? here() : deeper());
    }
}
END_TEST

static void *find_often(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        struct answer answers[] = {here(), there(), deeper()};

        for (unsigned k = 0; k < 3; k++)
            if (answers[k].found != answers[k].call)
                return arg;
    }
    return NULL;
}

START_TEST(threads_learn_beside_each_other)
{
    pthread_t threads[4];
    void *wrong;

    for (unsigned i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, find_often, &nasked),
                         0);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

SUITE_MAIN(callers)
{
    Suite *s = suite_create("callers");
    TCase *tc = tcase_create("callers");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_first_call_that_is_not_ours_is_found);
    tcase_add_test(tc, what_was_walked_once_is_known);
    tcase_add_test(tc, frames_of_other_sizes_are_no_other_call);
    tcase_add_test(tc, threads_learn_beside_each_other);
    suite_add_tcase(s, tc);
    return suite_main(s);
}

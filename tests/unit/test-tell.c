/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-tell.c - who is told of the events of a run, and in which order. */
#include "core/exec/tell.h"

#include "core/exec/runtime.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct orr_runtime *rt;
static char heard[16]; /* a letter for each that was told */
static uint64_t last;  /* the number that it was told of */

static void hear(struct orr_runtime *of, const struct orr_told *told,
                 enum orr_told_kind kind, const char *letter)
{
    ck_assert_ptr_eq(of, rt);
    ck_assert_int_eq(told->kind, kind);
    strcat(heard, letter);
    last = told->tags.id;
}

static void hear_tags_a(struct orr_runtime *of, const struct orr_told *told)
{
    hear(of, told, ORR_TOLD_TAGS, "a");
}

static void hear_vague_a(struct orr_runtime *of, const struct orr_told *told)
{
    hear(of, told, ORR_TOLD_TAG_VAGUE, "a");
}

static void hear_tags_b(struct orr_runtime *of, const struct orr_told *told)
{
    hear(of, told, ORR_TOLD_TAGS, "b");
}

static const struct orr_observer both = {{
    [ORR_TOLD_TAGS] = hear_tags_a,
    [ORR_TOLD_TAG_VAGUE] = hear_vague_a,
}};
static const struct orr_observer one = {{[ORR_TOLD_TAGS] = hear_tags_b}};

static void set_up(void)
{
    rt = calloc(1, sizeof(*rt));
    ck_assert_ptr_nonnull(rt);
    heard[0] = '\0';
    last = 0;
}

static void tear_down(void)
{
    free(rt);
}

static uint64_t nevaluated;

static uint64_t evaluate(void)
{
    return ++nevaluated;
}

START_TEST(what_nobody_wants_is_not_evaluated)
{
    nevaluated = 0;
    ORR_TELL(rt, ORR_TOLD_TAGS, .tags.id = evaluate());
    ck_assert_uint_eq(nevaluated, 0);
    orr_observers_add(&rt->observers, &both);
    ORR_TELL(rt, ORR_TOLD_TAGS, .tags.id = evaluate());
    ck_assert_uint_eq(nevaluated, 0);
    ck_assert(!orr_is_told(rt, ORR_TOLD_TAGS));
    ck_assert(isnan(orr_tell_since(rt, ORR_TOLD_TAGS)));
}
END_TEST

START_TEST(observers_are_told_in_the_order_in_which_they_registered)
{
    orr_observers_add(&rt->observers, &both);
    orr_observers_add(&rt->observers, &one);
    orr_observers_want(&rt->observers, &one, ORR_TOLD_ALL, true);
    orr_observers_want(&rt->observers, &both, ORR_TOLD_ALL, true);
    ORR_TELL(rt, ORR_TOLD_TAGS, .tags.id = 7);
    ck_assert_str_eq(heard, "ab");
    ck_assert_uint_eq(last, 7);
    ORR_TELL(rt, ORR_TOLD_TAG_VAGUE, .tags.id = 8);
    ck_assert_str_eq(heard, "aba");
    ORR_TELL(rt, ORR_TOLD_WAITED);
    ck_assert_str_eq(heard, "aba");
}
END_TEST

START_TEST(only_who_wants_a_kind_is_told_of_it)
{
    orr_observers_add(&rt->observers, &both);
    orr_observers_add(&rt->observers, &one);
    orr_observers_want(&rt->observers, &one, ORR_TOLD_ALL, true);
    orr_observers_want(&rt->observers, &both,
                       ORR_TOLD_BIT(ORR_TOLD_TAG_VAGUE), true);
    ORR_TELL(rt, ORR_TOLD_TAGS);
    ck_assert_str_eq(heard, "b");
    ORR_TELL(rt, ORR_TOLD_TAG_VAGUE);
    ck_assert_str_eq(heard, "ba");
    orr_observers_want(&rt->observers, &both, ORR_TOLD_ALL, false);
    ck_assert(!orr_is_told(rt, ORR_TOLD_TAG_VAGUE));
    ORR_TELL(rt, ORR_TOLD_TAG_VAGUE);
    ORR_TELL(rt, ORR_TOLD_TAGS);
    ck_assert_str_eq(heard, "bab");
}
END_TEST

SUITE_MAIN(tell)
{
    Suite *suite = suite_create("tell");
    TCase *tcase = tcase_create("tell");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_nobody_wants_is_not_evaluated);
    tcase_add_test(tcase,
                   observers_are_told_in_the_order_in_which_they_registered);
    tcase_add_test(tcase, only_who_wants_a_kind_is_told_of_it);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-turns.c - tests of core/job/turns.h, without jobs that run. */
#include <stdlib.h>
#include <string.h>

#include "core/job/access.h"
#include "core/job/turns.h"
#include "tests/rng.h"
#include "tests/suite.h"

enum { N = 400 };

static struct orr_turns turns;
static struct orr_access accesses[N]; /* of jobs that were submitted in this order */
static enum orr_access_group groups[N];
static uint32_t numbers[N];
static bool present[N];
static unsigned nentered;

static void setup(void)
{
    memset(&turns, 0, sizeof(turns));
    memset(accesses, 0, sizeof(accesses));
    memset(present, 0, sizeof(present));
    nentered = 0;
    orr_turns_init(&turns);
    for (unsigned i = 0; i < N; i++)
        accesses[i].ordered = 1;
}

static unsigned enter(enum orr_access_group group)
{
    unsigned i = nentered++;

    groups[i] = group;
    present[i] = true;
    orr_turns_enter(&turns, &accesses[i], group);
    numbers[i] = turns.number;
    return i;
}

static unsigned index_of(const struct orr_access *access)
{
    return (unsigned)(access - accesses);
}

static bool was_before(const struct orr_access *a, const struct orr_access *b)
{
    return a < b;
}

/* As it is said in words: all that were submitted before and have not left are of the
 * same group, whose members go together. */
static bool has_turn(unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (present[k] &&
            (groups[k] != groups[i] || groups[i] == ORR_GROUP_ALONE))
            return false;
    return true;
}

static void check_all(void)
{
    orr_turns_check(&turns);
    for (unsigned i = 0; i < nentered; i++)
        if (present[i])
            ck_assert_msg(accesses[i].granted == has_turn(i), "access %u", i);
}

/* Returns how many are granted now. */
static unsigned leave(unsigned i)
{
    unsigned n = 0, before = 0;

    ck_assert(accesses[i].granted);
    orr_list_remove(&accesses[i].link);
    present[i] = false;
    for (const struct orr_access *a = orr_turns_grant_next(&turns); a;
         a = a->next, n++) {
        ck_assert(n == 0 || index_of(a) > before);
        before = index_of(a);
    }
    return n;
}

/* --- which accesses are granted --- */

START_TEST(an_access_is_granted_when_all_before_it_go_together_with_it)
{
    uint64_t seed = (uint64_t)_i + 1;

    while (nentered < N || !orr_turns_empty(&turns)) {
        if (nentered < N && rng_next(&seed) % 2) {
            enter((enum orr_access_group)(rng_next(&seed) % 4));
        } else if (!orr_turns_empty(&turns)) {
            unsigned ngranted = 0, chosen;

            orr_turns_foreach (access, &turns)
                ngranted += access->granted;
            chosen = (unsigned)(rng_next(&seed) % ngranted);
            orr_turns_foreach (access, &turns)
                if (chosen-- == 0) {
                    leave(index_of(access));
                    break;
                }
        }
        check_all();
    }
}
END_TEST

START_TEST(whether_one_would_be_granted_is_known_before)
{
    uint64_t seed = (uint64_t)_i + 1;

    for (unsigned i = 0; i < N / 2; i++) {
        enum orr_access_group group =
            rng_next(&seed) % 8 ? ORR_GROUP_READ : ORR_GROUP_ALONE;
        bool would = orr_turns_would_grant(&turns, group);

        ck_assert_int_eq(accesses[enter(group)].granted, would);
        while (!orr_turns_empty(&turns) && rng_next(&seed) % 2)
            leave(index_of(orr_turns_first(&turns)));
    }
}
END_TEST

/* --- numbers --- */

/* Also when those that were before have left. */
START_TEST(neighbours_in_submission_that_go_together_have_one_number)
{
    uint64_t seed = (uint64_t)_i + 1;

    for (unsigned i = 0; i < N; i++) {
        unsigned last = nentered - 1,
                 now = enter((enum orr_access_group)(rng_next(&seed) % 4));

        if (now > 0)
            ck_assert_uint_eq(numbers[now],
                              numbers[last] +
                                  !(groups[last] == groups[now] &&
                                    groups[now] != ORR_GROUP_ALONE));
        while (!orr_turns_empty(&turns) && rng_next(&seed) % 2)
            leave(index_of(orr_turns_first(&turns)));
    }
}
END_TEST

/* It reads what the other one has written. */
START_TEST(a_reader_beside_one_that_shares_has_the_next_number)
{
    unsigned writer = enter(ORR_GROUP_ALONE), reader;

    ck_assert_ptr_null(orr_turns_share(&turns, &accesses[writer]));
    reader = enter(ORR_GROUP_READ);
    ck_assert(accesses[reader].granted);
    ck_assert_uint_eq(numbers[reader], numbers[writer] + 1);
}
END_TEST

/* --- what else happens to turns --- */

START_TEST(readers_go_together_with_a_writer_that_shares)
{
    unsigned writer = enter(ORR_GROUP_ALONE);
    unsigned first = enter(ORR_GROUP_READ), second = enter(ORR_GROUP_READ);
    unsigned next = enter(ORR_GROUP_ALONE);
    const struct orr_access *granted =
        orr_turns_share(&turns, &accesses[writer]);

    ck_assert_ptr_eq(granted, &accesses[first]);
    ck_assert_ptr_eq(granted->next, &accesses[second]);
    ck_assert_ptr_null(granted->next->next);
    ck_assert(!accesses[next].granted);
    ck_assert_uint_eq(leave(first) + leave(writer), 0);
    ck_assert_uint_eq(leave(second), 1);
    ck_assert(accesses[next].granted);
}
END_TEST

START_TEST(nobody_is_granted_while_turns_are_closed)
{
    unsigned first, second;

    turns.closed = true;
    ck_assert(!orr_turns_would_grant(&turns, ORR_GROUP_READ));
    first = enter(ORR_GROUP_READ);
    second = enter(ORR_GROUP_ALONE);
    ck_assert_ptr_null(orr_turns_grant(&turns));
    ck_assert(!accesses[first].granted);
    turns.closed = false;
    ck_assert_ptr_eq(orr_turns_grant(&turns), &accesses[first]);
    ck_assert_ptr_null(accesses[first].next);
    ck_assert(!accesses[second].granted);
}
END_TEST

/* The present turn goes on. */
START_TEST(one_that_comes_late_is_where_its_job_was_submitted)
{
    unsigned granted, late, later;

    granted = enter(ORR_GROUP_ALONE);
    late = nentered++;
    later = enter(ORR_GROUP_ALONE);
    groups[late] = ORR_GROUP_READ;
    present[late] = true;
    orr_turns_insert(&turns, &accesses[late], ORR_GROUP_READ, was_before);
    check_all();
    ck_assert_uint_eq(leave(granted), 1);
    ck_assert(accesses[late].granted);
    ck_assert_uint_eq(leave(late), 1);
    ck_assert(accesses[later].granted);
}
END_TEST

START_TEST(one_that_comes_late_is_behind_all_that_are_granted)
{
    unsigned late = nentered++, granted = enter(ORR_GROUP_READ);

    orr_turns_insert(&turns, &accesses[late], ORR_GROUP_READ, was_before);
    ck_assert_ptr_eq(orr_turns_after(&turns, &accesses[granted]),
                     &accesses[late]);
    ck_assert_ptr_null(orr_turns_grant_next(&turns));
    ck_assert(!accesses[late].granted);
    ck_assert_ptr_eq(orr_turns_grant(&turns), &accesses[late]);
}
END_TEST

/* Jobs that follow others ask for values before their turn has come: whichever chain they enter
 * first, both hold. */
START_TEST(those_that_wait_for_a_copy_may_be_granted_meanwhile)
{
    unsigned a = enter(ORR_GROUP_ALONE);
    struct orr_access *first = &accesses[enter(ORR_GROUP_READ)];
    struct orr_access *second = &accesses[enter(ORR_GROUP_READ)];
    struct orr_access other, *granted;

    *orr_access_waits(second) = first;
    enter(ORR_GROUP_ALONE);
    orr_list_remove(&accesses[a].link);
    granted = orr_turns_grant_next(&turns);
    *orr_access_waits(first) = &other;
    ck_assert_ptr_eq(granted, first);
    ck_assert_ptr_eq(first->next, second);
    ck_assert_ptr_null(second->next);
    ck_assert_ptr_eq(*orr_access_waits(second), first);
    ck_assert_ptr_eq(*orr_access_waits(first), &other);
}
END_TEST

/* --- who is where --- */

START_TEST(behind_an_access_is_the_first_one_of_the_next_turn)
{
    unsigned a = enter(ORR_GROUP_READ), b = enter(ORR_GROUP_READ);
    unsigned c = enter(ORR_GROUP_COMMUTE), d = enter(ORR_GROUP_COMMUTE);
    unsigned e = enter(ORR_GROUP_ALONE), f = enter(ORR_GROUP_ALONE);

    ck_assert_ptr_eq(orr_turns_mate(&turns, &accesses[a]), &accesses[b]);
    ck_assert_ptr_null(orr_turns_mate(&turns, &accesses[b]));
    ck_assert_ptr_eq(orr_turns_behind(&turns, &accesses[a]), &accesses[c]);
    ck_assert_ptr_eq(orr_turns_behind(&turns, &accesses[b]), &accesses[c]);
    ck_assert_ptr_eq(orr_turns_behind(&turns, &accesses[d]), &accesses[e]);
    ck_assert_ptr_eq(orr_turns_behind(&turns, &accesses[e]), &accesses[f]);
    ck_assert_ptr_null(orr_turns_behind(&turns, &accesses[f]));
    leave(a);
    accesses[a].ordered = 0;
    ck_assert_ptr_eq(orr_turns_behind(&turns, &accesses[a]), &accesses[c]);
}
END_TEST

SUITE_MAIN(turns)
{
    Suite *suite = suite_create("turns");
    TCase *tc = tcase_create("turns");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(
        tc, an_access_is_granted_when_all_before_it_go_together_with_it, 0, 20);
    tcase_add_loop_test(tc, whether_one_would_be_granted_is_known_before, 0,
                        10);
    tcase_add_loop_test(
        tc, neighbours_in_submission_that_go_together_have_one_number, 0, 10);
    tcase_add_test(tc, those_that_wait_for_a_copy_may_be_granted_meanwhile);
    tcase_add_test(tc, a_reader_beside_one_that_shares_has_the_next_number);
    tcase_add_test(tc, readers_go_together_with_a_writer_that_shares);
    tcase_add_test(tc, nobody_is_granted_while_turns_are_closed);
    tcase_add_test(tc, one_that_comes_late_is_where_its_job_was_submitted);
    tcase_add_test(tc, one_that_comes_late_is_behind_all_that_are_granted);
    tcase_add_test(tc, behind_an_access_is_the_first_one_of_the_next_turn);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

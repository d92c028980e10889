/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-admit.c - tests of core/data/admit.c: who may use a node's
 * memory, who waits and for what, who is next. Node 1 is a device with room for
 * four data; its jobs are acquisitions as far as admission is concerned, which
 * counts tasks only: `runs` says that one runs there.
 */
#include "core/data/data.h"
#include "core/data/nodes.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { ROOM = 4, NDATA = 8 };

static struct orr_handle *data[NDATA];
static struct orr_node *node; /* 1 */

static void open_with(const struct fake_spec *spec)
{
    fake_open(spec);
    for (unsigned i = 0; i < NDATA; i++)
        data[i] = fake_handle(0, FAKE_SIZE);
    node = &fake.rt.nodes->at[1];
}

static void setup(void)
{
    static const struct fake_spec spec = {.ndevices = 2,
                                          .device_bytes = ROOM * FAKE_SIZE};

    open_with(&spec);
}

static void teardown(void)
{
    fake_close();
}

static void runs(bool yes)
{
    struct orr_deferred deferred = {0};

    atomic_store(&node->admission.nadmitted, yes);
    orr_admit_retry_later(&fake.rt, 1, &deferred);
    orr_deferred_run(&fake.rt, &deferred);
    fake_settle();
}

/* A job that reads `n` data from the first-th on, on node 1. */
static struct orr_job *job_of(unsigned first, unsigned n, int priority)
{
    struct orr_job *job = fake_job(n);

    job->priority = priority;
    for (unsigned i = first; i < first + n; i++)
        fake_use(job, data[i], STARPU_R);
    fake_submit(job);
    return job;
}

static struct orr_job *ask(unsigned first, unsigned n)
{
    struct orr_job *job = job_of(first, n, 0);

    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    return job;
}

static bool uses_nothing(const struct orr_job *job)
{
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].pinned || job->accesses[i].held)
            return false;
    return true;
}

/* --- one job --- */

START_TEST(all_that_is_lacking_is_reserved_at_once)
{
    struct orr_job *job = job_of(0, 3, 0);

    ck_assert(!fake_fetch(job, 1));
    ck_assert_uint_eq(node->used, 3 * FAKE_SIZE);
    ck_assert_uint_eq(node->reserved, 3 * FAKE_SIZE);
    ck_assert_uint_eq(fake.bytes[1], 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(node->used, 3 * FAKE_SIZE);
    ck_assert_uint_eq(node->reserved, 0);
    fake_finish(job, 0);
}
END_TEST

START_TEST(what_is_reserved_is_nobody_elses)
{
    struct orr_job *job = job_of(0, 3, 0);
    uintptr_t memory[2];

    ck_assert(!fake_fetch(job, 1));
    ck_assert_int_eq(orr_node_malloc(&fake.rt, 1, FAKE_SIZE, true, &memory[0]),
                     0);
    ck_assert_int_lt(orr_node_malloc(&fake.rt, 1, FAKE_SIZE, true, &memory[1]),
                     0);
    orr_handle_prefetch(&fake.rt, data[5], 1, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(!fake_is_allocated(data[5], 1));
    orr_node_free(&fake.rt, 1, memory[0], FAKE_SIZE);
    fake_finish(job, 0);
}
END_TEST

/* Two jobs use a datum: its bytes are counted once. */
START_TEST(what_is_reserved_for_one_job_is_for_all)
{
    struct orr_job *first = job_of(0, 2, 0), *second = job_of(1, 2, 0);

    ck_assert(!fake_fetch(first, 1));
    ck_assert(!fake_fetch(second, 1));
    ck_assert_uint_eq(node->used, 3 * FAKE_SIZE);
    fake_settle();
    ck_assert_uint_eq(fake_told(first) + fake_told(second), 2);
    ck_assert_uint_eq(node->used, 3 * FAKE_SIZE);
    fake_finish(first, 0);
    fake_finish(second, 0);
}
END_TEST

START_TEST(a_prefetch_that_stands_takes_the_reservation)
{
    struct orr_job *job = job_of(0, 1, 0);

    orr_handle_prefetch(&fake.rt, data[0], 1, ORR_PREFETCH);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(node->used, FAKE_SIZE);
    fake_finish(job, 0);
}
END_TEST

static struct orr_job *late;

static void ask_meanwhile(unsigned at)
{
    fake.allocating = NULL;
    late = job_of(0, 1, 0);
    ck_assert(!fake_fetch(late, at));
}

/* A prefetch is making the block with memory of its own. */
START_TEST(what_was_reserved_in_vain_is_given_back)
{
    orr_handle_prefetch(&fake.rt, data[0], 1, ORR_PREFETCH);
    fake.allocating = ask_meanwhile;
    fake_progress(1);
    ck_assert_ptr_null(fake.allocating);
    fake_settle();
    ck_assert_uint_eq(fake_told(late), 1);
    ck_assert_uint_eq(node->used, FAKE_SIZE);
    ck_assert_uint_eq(node->reserved, 0);
    fake_finish(late, 0);
}
END_TEST

static bool go_anywhere(struct orr_runtime *rt, struct orr_job *job,
                        uint64_t nodes)
{
    (void)rt, (void)job, (void)nodes;
    return true;
}

/* A refusal is tried once more at once. */
static void refuse_no_more(unsigned at)
{
    static unsigned ncalls;

    (void)at;
    if (++ncalls > 1)
        fake.no_memory = 0;
}

static void ask_and_refuse_meanwhile(unsigned at)
{
    static struct orr_job_type type;

    ask_meanwhile(at);
    fake.allocating = refuse_no_more;
    type = *late->type;
    type.may_avoid = go_anywhere;
    late->type = &type;
    atomic_store(&node->admission.nadmitted, 1);
    fake.no_memory = 2;
}

/* What was tried without memory for the job says nothing about that: it is not sent away
 * to where it may not even run. */
START_TEST(what_a_prefetch_is_refused_is_not_refused_to_a_job)
{
    orr_handle_prefetch(&fake.rt, data[0], 1, ORR_PREFETCH);
    fake.allocating = ask_and_refuse_meanwhile;
    fake_progress(1);
    fake_settle();
    ck_assert_uint_eq(fake_told(late), 1);
    ck_assert_int_eq(late->data.broken, ORR_NOT_BROKEN);
    fake.allocating = NULL;
    atomic_store(&node->admission.nadmitted, 0);
    fake_finish(late, 0);
}
END_TEST

START_TEST(a_machine_without_memory_keeps_the_reservation)
{
    struct orr_job *job = job_of(0, 2, 0);

    fake.no_memory = 2;
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(node->used, 2 * FAKE_SIZE);
    ck_assert_uint_eq(node->reserved, 2 * FAKE_SIZE);
    fake.no_memory = 0;
    orr_node_freed(&fake.rt, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* … by a request that no job waits for, and that comes first. */
START_TEST(who_lacks_memory_holds_up_nobody_who_has_reserved_some)
{
    struct orr_job *job;

    orr_handle_prefetch(&fake.rt, data[7], 1, ORR_FETCH);
    job = job_of(0, ROOM, 0);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(!fake_is_allocated(data[7], 1));
    fake_finish(job, 0);
    fake_settle();
    ck_assert(fake_is_valid(data[7], 1));
}
END_TEST

/* --- several --- */

START_TEST(who_waits_holds_nothing)
{
    struct orr_job *first = ask(0, 3), *second = ask(2, 3);

    ck_assert_uint_eq(fake_told(second), 0);
    ck_assert(uses_nothing(second));
    ck_assert_uint_eq(node->used, 3 * FAKE_SIZE);
    ck_assert_uint_eq(node->admission.nwaiting, 1);
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(second), 1);
    ck_assert_uint_eq(node->admission.nwaiting, 0);
    fake_finish(second, 0);
}
END_TEST

START_TEST(who_lacks_nothing_passes_who_waits)
{
    struct orr_job *first = ask(0, 3), *second = ask(3, 3);
    struct orr_job *third = job_of(0, 2, 0);

    ck_assert(fake_fetch(third, 1));
    ck_assert_uint_eq(fake_told(second), 0);
    fake_finish(third, 0);
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(second), 1);
    fake_finish(second, 0);
}
END_TEST

/* Two wait for different data, each for more than half of the node: the older
 * one is next unless the other is more urgent, whoever came first. */
static const struct {
    int priority; /* of the younger one */
    bool first;   /* it came first */
    bool next;    /* … and is next */
} turns[] = {{9, false, true},
             {9, true, true},
             {0, false, false},
             {0, true, false},
             {-1, true, false}};

START_TEST(priority_comes_before_age)
{
    struct orr_job *first = ask(0, 3), *old = job_of(2, 3, 0),
                   *young = job_of(5, 3, turns[_i].priority);
    struct orr_job *next = turns[_i].next ? young : old;
    struct orr_job *last = turns[_i].next ? old : young;

    runs(true);
    ck_assert(!fake_fetch(turns[_i].first ? young : old, 1));
    ck_assert(!fake_fetch(turns[_i].first ? old : young, 1));
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(next), 1);
    ck_assert_uint_eq(fake_told(last), 0);
    fake_finish(next, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(last), 1);
    fake_finish(last, 0);
    runs(false);
}
END_TEST

/* As long as a task runs the memory that it frees is for the first one. */
START_TEST(who_fits_waits_behind_the_first_while_tasks_run)
{
    struct orr_job *first = ask(0, 3), *large, *small;

    runs(true);
    large = ask(3, 2);
    small = ask(5, 1);
    ck_assert_uint_eq(fake_told(large) + fake_told(small), 0);
    ck_assert(!orr_admit_put_aside(&fake.rt, large, 1));
    runs(false);
    ck_assert_uint_eq(fake_told(large), 0);
    ck_assert_uint_eq(fake_told(small), 1);
    fake_finish(small, 0);
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(large), 1);
    fake_finish(large, 0);
}
END_TEST

START_TEST(who_waits_in_vain_is_put_aside)
{
    struct orr_job *first = ask(0, 3), *large = ask(3, 2), *small;

    ck_assert(atomic_load(&node->admission.starved));
    ck_assert(!orr_admit_put_aside(&fake.rt, first, 1));
    ck_assert(orr_admit_put_aside(&fake.rt, large, 1));
    large->data.aside = 0; /* the fixture's jobs have no worker that resumes them */
    small = ask(5, 1);
    ck_assert_uint_eq(fake_told(small), 1);
    fake_finish(small, 0);
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(large), 1);
    ck_assert(!atomic_load(&node->admission.starved));
    fake_finish(large, 0);
}
END_TEST

START_TEST(prefetches_leave_memory_to_who_waits)
{
    struct orr_job *first = ask(0, 3), *second = ask(3, 2);

    orr_handle_prefetch(&fake.rt, data[6], 1, ORR_PREFETCH);
    fake_settle();
    ck_assert(!fake_is_allocated(data[6], 1));
    fake_finish(first, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(second), 1);
    fake_finish(second, 0);
}
END_TEST

/* --- who frees --- */

START_TEST(whatever_frees_memory_lets_the_next_one_go_on)
{
    uintptr_t memory[3] = {0};
    struct orr_job *job;

    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(
            orr_node_malloc(&fake.rt, 1, FAKE_SIZE, true, &memory[i]), 0);
    job = ask(0, 2);
    ck_assert_uint_eq(fake_told(job), 0);
    orr_node_free(&fake.rt, 1, memory[0], FAKE_SIZE);
    orr_node_freed(&fake.rt, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    for (unsigned i = 1; i < 3; i++)
        orr_node_free(&fake.rt, 1, memory[i], FAKE_SIZE);
}
END_TEST

/* The only values of two data; `_i`: they are given up instead of copied. */
START_TEST(what_must_leave_is_brought_home_for_who_waits)
{
    struct orr_job *job;

    for (unsigned i = 0; i < ROOM; i++)
        fake_task(data[i], STARPU_W, 1, 10 + i);
    job = job_of(4, 2, 0);
    ck_assert(!fake_fetch(job, 1));
    ck_assert_uint_eq(fake_told(job), 0);
    if (_i) {
        orr_data_invalidate_submit(&fake.rt, data[2], false);
        orr_data_invalidate_submit(&fake.rt, data[3], false);
    }
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    if (_i == 0) {
        fake_task(data[0], STARPU_R, 0, 0);
        ck_assert_uint_eq(fake_get(data[0], 0), 10);
    }
}
END_TEST

/* --- main memory --- */

static void open_small(size_t n)
{
    const struct fake_spec spec = {.ndevices = 1,
                                   .ram_bytes = n * FAKE_SIZE,
                                   .device_bytes = ROOM * FAKE_SIZE};

    fake_close();
    open_with(&spec);
}

START_TEST(full_main_memory_is_waited_for)
{
    struct orr_handle *temporary[2];
    struct orr_job *first, *second;

    open_small(1);
    for (unsigned i = 0; i < 2; i++)
        temporary[i] = fake_handle(-1, FAKE_SIZE);
    first = fake_unordered(temporary[0], STARPU_W);
    ck_assert(fake_fetch(first, 0));
    second = fake_ask(temporary[1], STARPU_W, 0);
    ck_assert_uint_eq(fake_told(second), 0);
    fake_finish(first, 1);
    ck_assert_uint_eq(fake_told(second), 0); /* it is the only copy */
    orr_data_unregister_submit(&fake.rt, temporary[0]);
    ck_assert_uint_eq(fake_told(second), 1);
    fake_finish(second, 2);
}
END_TEST

/* A write-back needs some of main memory's: it waits as well. */
START_TEST(a_write_back_waits_for_main_memory)
{
    struct orr_handle *temporary[ROOM + 1];
    uintptr_t memory;
    struct orr_job *job;

    open_small(1);
    for (unsigned i = 0; i <= ROOM; i++)
        temporary[i] = fake_handle(-1, FAKE_SIZE);
    for (unsigned i = 0; i < ROOM; i++)
        fake_task(temporary[i], STARPU_W, 1, i);
    ck_assert_int_eq(orr_node_malloc(&fake.rt, 0, FAKE_SIZE, true, &memory), 0);
    job = fake_ask(temporary[ROOM], STARPU_W, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    ck_assert_uint_eq(node->admission.nleaving, 0);
    orr_node_free(&fake.rt, 0, memory, FAKE_SIZE);
    orr_node_freed(&fake.rt, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 9);
    for (unsigned i = 0; i <= ROOM; i++)
        orr_data_unregister_submit(&fake.rt, temporary[i]);
    fake_settle();
}
END_TEST

/* Nor does the end of a datum wait for a write-back that waits itself. */
START_TEST(who_ends_is_not_brought_out_of_the_way)
{
    struct orr_handle *temporary;
    uintptr_t memory;
    struct orr_job *job;

    open_small(1);
    temporary = fake_handle(-1, FAKE_SIZE);
    fake_task(temporary, STARPU_W, 1, 5);
    ck_assert_int_eq(orr_node_malloc(&fake.rt, 0, FAKE_SIZE, true, &memory), 0);
    job = job_of(0, ROOM, 0);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    if (_i) {
        orr_data_unregister_submit(&fake.rt, temporary);
    } else {
        fake.meanwhile = fake_settle;
        orr_data_unregister(&fake.rt, temporary, true);
        fake.meanwhile = NULL;
    }
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    orr_node_free(&fake.rt, 0, memory, FAKE_SIZE);
}
END_TEST

/* … and what it has brought there stays: the copy that it leaves behind is of no
 * use any more. */
START_TEST(what_comes_to_full_main_memory_stays)
{
    struct orr_handle *only;
    struct orr_job *job;

    open_small(1);
    only = fake_handle(-1, FAKE_SIZE);
    fake_task(only, STARPU_W, 1, 5);
    job = job_of(0, ROOM, 0);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    fake_end_copy(0);
    ck_assert_uint_eq(only->valid, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    ck_assert_uint_eq(fake_get(only, 0), 5);
}
END_TEST

static Suite *admit_suite(void)
{
    Suite *suite = suite_create("admit");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, all_that_is_lacking_is_reserved_at_once);
    tcase_add_test(tc, what_is_reserved_is_nobody_elses);
    tcase_add_test(tc, what_is_reserved_for_one_job_is_for_all);
    tcase_add_test(tc, a_prefetch_that_stands_takes_the_reservation);
    tcase_add_test(tc, what_was_reserved_in_vain_is_given_back);
    tcase_add_test(tc, what_a_prefetch_is_refused_is_not_refused_to_a_job);
    tcase_add_test(tc, a_machine_without_memory_keeps_the_reservation);
    tcase_add_test(tc, who_lacks_memory_holds_up_nobody_who_has_reserved_some);
    tcase_add_test(tc, who_waits_holds_nothing);
    tcase_add_test(tc, who_lacks_nothing_passes_who_waits);
    tcase_add_loop_test(tc, priority_comes_before_age, 0,
                        (int)(sizeof(turns) / sizeof(*turns)));
    tcase_add_test(tc, who_fits_waits_behind_the_first_while_tasks_run);
    tcase_add_test(tc, who_waits_in_vain_is_put_aside);
    tcase_add_test(tc, prefetches_leave_memory_to_who_waits);
    tcase_add_test(tc, whatever_frees_memory_lets_the_next_one_go_on);
    tcase_add_loop_test(tc, what_must_leave_is_brought_home_for_who_waits, 0,
                        2);
    tcase_add_test(tc, full_main_memory_is_waited_for);
    tcase_add_test(tc, a_write_back_waits_for_main_memory);
    tcase_add_loop_test(tc, who_ends_is_not_brought_out_of_the_way, 0, 2);
    tcase_add_test(tc, what_comes_to_full_main_memory_stays);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(admit)
{
    return suite_main(admit_suite());
}

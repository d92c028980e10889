/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-nextuse.c - tests of ORRERY_EVICTION=nextuse: which block
 * leaves, by class (dead, far, queued; clean or dirty), within a class, and of
 * equals; what prefetches may take, and in which order they wait. Node 0 is main
 * memory, 1 and 2 are devices with room for ROOM blocks.
 *
 * Each test of a choice runs twice: memory is short for the first time, or was
 * short before, when heaps are kept already.
 */
#include <errno.h>

#include "core/data/nodes.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { ROOM = 4, COST = 6 };

static struct orr_handle *old[ROOM]; /* on node 1, clean, oldest first */
static struct orr_handle *h;     /* in main memory, would like to go there */
static struct orr_job *jobs[64]; /* still to be run */
static unsigned njobs;

static void setup(void)
{
    const struct fake_spec spec = {.ndevices = 2,
                                   .peers = true,
                                   .device_bytes = ROOM * FAKE_SIZE,
                                   .eviction = &orr_eviction_nextuse};

    fake_open(&spec);
    njobs = 0;
    for (unsigned i = 0; i < ROOM; i++) {
        old[i] = fake_handle(0, FAKE_SIZE);
        fake_task(old[i], STARPU_R, 1, 0);
    }
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
    fake.nstarted = 0;
}

static void run_on(struct orr_job *job, unsigned node)
{
    if (!fake_fetch(job, node))
        fake_settle();
    fake_finish(job, 0);
}

static void teardown(void)
{
    for (unsigned i = 0; i < njobs; i++)
        run_on(jobs[i], 0);
    fake_settle();
    fake_close();
}

/* An urgent need of memory is not there yet: nothing leaves. */
static void begin(bool pressed)
{
    if (!pressed)
        return;
    ck_assert_int_eq(orr_node_make_room(&fake.rt, &fake.rt.nodes->at[1],
                                        FAKE_SIZE, ORR_IDLE_PREFETCH),
                     -ENOMEM);
    ck_assert_uint_eq(atomic_load(&fake.rt.nodes->pressed), 2);
}

static bool left(const struct orr_handle *handle)
{
    return !fake_is_allocated(handle, 1);
}

/* The only one of the old blocks that is gone. */
static void assert_left(const struct orr_handle *handle)
{
    for (unsigned i = 0; i < ROOM; i++)
        ck_assert_msg(left(old[i]) == (old[i] == handle), "block %u", i);
}

static struct orr_job *keep(struct orr_job *job)
{
    jobs[njobs++] = job;
    return job;
}

static struct orr_job *with_priority(struct orr_handle *handle, int priority)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, handle, STARPU_R);
    job->priority = priority;
    fake_submit(job);
    return keep(job);
}

/* A job that was submitted and is not queued for a node. */
static struct orr_job *far(struct orr_handle *handle)
{
    return keep(fake_submit_one(handle, STARPU_R));
}

/* One that the policy has put on node 1. */
static struct orr_job *queued(struct orr_handle *handle)
{
    struct orr_job *job = far(handle);

    orr_job_prefetch(&fake.rt, job, 1, ORR_PREFETCH);
    return job;
}

/* The last one kept has run. */
static void run_last(unsigned node)
{
    run_on(jobs[--njobs], node);
}

static void fetch(struct orr_handle *handle)
{
    fake_task(handle, STARPU_R, 1, 0);
}

static void prefetch(struct orr_handle *handle)
{
    orr_handle_prefetch(&fake.rt, handle, 1, ORR_PREFETCH);
    fake_settle();
}

static void make_dirty(struct orr_handle *handle)
{
    fake_task(handle, STARPU_W, 1, 5);
}

/* --- which one of a class --- */

START_TEST(of_the_dead_the_oldest_leaves)
{
    begin(_i);
    fetch(h);
    assert_left(old[0]);
}
END_TEST

START_TEST(what_a_request_found_is_young)
{
    begin(_i);
    prefetch(old[0]);
    fetch(h);
    assert_left(old[1]);
}
END_TEST

START_TEST(what_is_out_of_date_leaves_first)
{
    begin(_i);
    fake_task(old[2], STARPU_RW, 0, 5);
    fetch(h);
    assert_left(old[2]);
}
END_TEST

static void demote(struct orr_handle *handle)
{
    struct orr_deferred deferred = {0};

    orr_lock(&handle->lock);
    orr_node_demote(handle, 1, &deferred);
    orr_unlock(&handle->lock);
    orr_deferred_run(&fake.rt, &deferred);
}

START_TEST(what_will_not_be_used_leaves_first)
{
    begin(_i);
    demote(old[2]);
    fetch(h);
    assert_left(old[2]);
}
END_TEST

START_TEST(of_the_far_the_one_used_last_leaves)
{
    static const unsigned order[ROOM] = {2, 0, 3, 1};

    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        far(old[order[i]]);
    far(old[2]); /* its first use counts */
    fetch(h);
    assert_left(old[1]);
}
END_TEST

START_TEST(of_the_far_the_least_priority_leaves)
{
    begin(_i);
    fake.rt.nodes->pops_by_priority = true;
    for (unsigned i = 0; i < ROOM; i++)
        with_priority(old[i], i == 1 ? -3 : (int)i);
    fetch(h);
    assert_left(old[1]);
}
END_TEST

/* Under a policy that takes what is there; bit 1 of _i: one that is said not to be
 * used any more. */
START_TEST(of_the_far_the_one_not_used_longest_leaves)
{
    begin(_i % 2);
    fake.rt.nodes->follows_memory = true;
    for (unsigned i = ROOM; i-- > 0;)
        far(old[i]);
    prefetch(old[0]);
    if (_i / 2)
        demote(old[2]);
    fetch(h);
    assert_left(old[_i / 2 ? 2 : 1]);
}
END_TEST

START_TEST(of_the_queued_the_one_pushed_last_leaves)
{
    static const unsigned order[ROOM] = {2, 0, 3, 1};

    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        queued(old[order[i]]);
    queued(old[2]); /* its first use counts */
    fetch(h);
    assert_left(old[1]);
}
END_TEST

START_TEST(of_the_queued_the_least_priority_leaves)
{
    begin(_i);
    fake.rt.nodes->pops_by_priority = true;
    for (unsigned i = 0; i < ROOM; i++)
        orr_job_prefetch(&fake.rt, with_priority(old[i], i == 1 ? -3 : (int)i),
                         1, ORR_PREFETCH);
    /* The most urgent of several counts. */
    orr_job_prefetch(&fake.rt, with_priority(old[0], -4), 1, ORR_PREFETCH);
    fetch(h);
    assert_left(old[1]);
}
END_TEST

/* One job uses all. */
START_TEST(of_equals_the_one_registered_first_leaves)
{
    struct orr_job *job = fake_job(ROOM);

    begin(_i % 2);
    for (unsigned i = ROOM; i-- > 0;)
        fake_use(job, old[i], STARPU_R);
    fake_submit(job);
    keep(job);
    if (_i / 2)
        orr_job_prefetch(&fake.rt, job, 1, ORR_PREFETCH);
    fetch(h);
    assert_left(old[0]);
}
END_TEST

/* --- which class --- */

START_TEST(dead_ones_leave_before_far_ones)
{
    begin(_i);
    for (unsigned i = 0; i < ROOM - 1; i++)
        far(old[i]);
    fetch(h);
    assert_left(old[ROOM - 1]);
}
END_TEST

START_TEST(far_ones_leave_before_queued_ones)
{
    begin(_i);
    far(old[2]);
    for (unsigned i = 0; i < ROOM; i++)
        if (i != 2)
            queued(old[i]);
    fetch(h);
    assert_left(old[2]);
}
END_TEST

START_TEST(clean_ones_leave_before_dirty_ones)
{
    make_dirty(old[0]);
    fake_task(old[1], STARPU_R, 1, 0);
    begin(_i);
    fake.nstarted = 0;
    fetch(h);
    assert_left(old[2]);
    ck_assert_uint_eq(fake.nstarted, 1);
}
END_TEST

START_TEST(dead_dirty_ones_are_written_back_before_far_ones_leave)
{
    make_dirty(old[3]);
    begin(_i);
    for (unsigned i = 0; i < ROOM - 1; i++)
        far(old[i]);
    fetch(h);
    assert_left(old[3]);
    ck_assert_uint_eq(fake_get(old[3], 0), 5);
}
END_TEST

/* Job numbers go on without gaps: the distance of the first one behind what was
 * reached is 1. Bit 1 of _i: the dirty one is far enough away. */
START_TEST(a_dirty_far_one_leaves_if_it_is_much_further_away)
{
    struct orr_job *all = fake_job(2);
    bool further = _i / 2;
    unsigned clean_at = 2;

    make_dirty(old[3]);
    begin(_i % 2);
    fake_use(all, old[0], STARPU_R);
    fake_use(all, old[1], STARPU_R);
    fake_submit(all);
    ck_assert(fake_fetch(all, 1)); /* two blocks are in use */
    for (unsigned n = 1; n <= COST * clean_at + 1; n++) {
        if (n == clean_at)
            far(old[2]);
        else if (n == COST * clean_at + further)
            far(old[3]);
        else
            far(h);
    }
    orr_handle_prefetch(&fake.rt, h, 1, ORR_FETCH);
    fake_settle();
    assert_left(further ? old[3] : old[2]);
    fake_finish(all, 0);
}
END_TEST

START_TEST(a_dirty_queued_one_leaves_if_it_was_pushed_last)
{
    make_dirty(old[1]);
    begin(_i);
    queued(old[0]), queued(old[2]), queued(old[3]), queued(old[1]);
    fetch(h);
    assert_left(old[1]);
    ck_assert_uint_eq(fake_get(old[1], 0), 5);
}
END_TEST

/* --- what changes the class --- */

/* The job that was to use it here ran elsewhere. */
START_TEST(a_promise_that_was_withdrawn_counts_no_more)
{
    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    queued(h); /* no memory for it */
    run_last(0);
    run_on(jobs[0], 2);
    jobs[0] = jobs[--njobs];
    fetch(h);
    assert_left(old[0]);
}
END_TEST

START_TEST(a_queued_job_that_ran_elsewhere_frees_what_it_was_promised)
{
    begin(_i);
    for (unsigned i = 0; i < ROOM - 1; i++)
        far(old[i]);
    queued(old[3]);
    run_last(2);
    fetch(h);
    assert_left(old[3]);
}
END_TEST

START_TEST(an_access_that_has_ended_is_no_next_use)
{
    begin(_i);
    far(old[1]); /* ends */
    far(old[0]), far(old[2]), far(old[3]), far(old[1]);
    run_on(jobs[0], 0);
    jobs[0] = jobs[--njobs];
    fetch(h);
    assert_left(old[1]);
}
END_TEST

START_TEST(what_is_used_elsewhere_next_is_not_needed_here)
{
    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    orr_job_prefetch(&fake.rt, jobs[1], 2, ORR_PREFETCH);
    fetch(h);
    assert_left(old[1]);
}
END_TEST

/* Later jobs read what it writes, not what is here. */
START_TEST(what_is_overwritten_elsewhere_is_not_needed_here)
{
    struct orr_job *writer;

    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        if (i != 1)
            far(old[i]);
    writer = keep(fake_submit_one(old[1], STARPU_RW));
    orr_job_prefetch(&fake.rt, writer, 2, ORR_PREFETCH);
    far(old[1]);
    fetch(h);
    assert_left(old[1]);
}
END_TEST

START_TEST(what_another_context_has_locked_is_passed_over)
{
    struct orr_job *job = fake_submit_one(h, STARPU_R);

    begin(_i);
    fake_be(fake_driver(2));
    orr_lock(&old[0]->lock);
    fake.held = old[0];
    fake_be(-1);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    assert_left(old[1]);
    fake_be(fake_driver(2));
    orr_unlock(&old[0]->lock);
    fake_be(-1);
    fake.held = NULL;
    fake_settle();
    fake_finish(job, 0);
}
END_TEST

/* --- prefetches --- */

START_TEST(a_prefetch_takes_dead_ones_only)
{
    begin(_i);
    far(old[0]), far(old[1]), queued(old[2]);
    prefetch(h);
    assert_left(old[3]);
    ck_assert_uint_eq(fake_get(h, 1), 7);
}
END_TEST

START_TEST(a_prefetch_takes_nothing_that_is_needed)
{
    begin(_i);
    far(old[0]), far(old[1]), queued(old[2]), queued(old[3]);
    prefetch(h);
    assert_left(NULL);
    fake_assert_idle(h); /* nobody was promised it */
}
END_TEST

START_TEST(a_prefetch_for_a_job_waits_for_memory)
{
    struct orr_job *job;

    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    job = queued(h);
    fake_settle();
    ck_assert(left(h));
    ck_assert_ptr_nonnull(h->replicates[1].request);
    njobs--;
    run_on(jobs[0], 1); /* old[0] is dead now */
    jobs[0] = job;
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 1), 7);
    assert_left(old[0]);
}
END_TEST

/* Something has changed, but what prefetches may take is not there. */
START_TEST(a_prefetch_that_waits_is_not_tried_in_vain)
{
    struct orr_node *node = &fake.rt.nodes->at[1];
    unsigned tried;

    begin(_i);
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    queued(h);
    fake_settle();
    tried = node->vain.changes;
    orr_node_changed(node);
    orr_node_progress(&fake.rt, 1);
    ck_assert_uint_eq(node->vain.changes, tried);
    ck_assert(left(h));
    run_on(jobs[0], 1); /* old[0] is dead now */
    jobs[0] = jobs[--njobs];
    fake_settle();
    ck_assert(!left(h));
}
END_TEST

/* Two wait; there is memory for one of them. */
START_TEST(prefetches_wait_in_the_order_of_need)
{
    struct orr_handle *urgent = fake_handle(0, FAKE_SIZE);
    struct orr_job *second;

    begin(_i);
    fake.rt.nodes->pops_by_priority = true;
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    orr_job_prefetch(&fake.rt, with_priority(h, 1), 1, ORR_PREFETCH);
    fake_settle();
    second = with_priority(urgent, 2);
    orr_job_prefetch(&fake.rt, second, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert(left(h) && left(urgent));
    run_on(jobs[0], 1);
    jobs[0] = jobs[--njobs];
    fake_settle();
    ck_assert(left(h) && !left(urgent));
}
END_TEST

/* A prefetch that waits becomes more urgent with a job that needs it sooner. */
START_TEST(a_prefetch_that_waits_is_hastened)
{
    struct orr_handle *other = fake_handle(0, FAKE_SIZE);

    begin(_i);
    fake.rt.nodes->pops_by_priority = true;
    for (unsigned i = 0; i < ROOM; i++)
        far(old[i]);
    orr_job_prefetch(&fake.rt, with_priority(other, 2), 1, ORR_PREFETCH);
    orr_job_prefetch(&fake.rt, with_priority(h, 1), 1, ORR_PREFETCH);
    fake_settle();
    orr_job_prefetch(&fake.rt, with_priority(h, 3), 1, ORR_PREFETCH);
    run_on(jobs[0], 1);
    jobs[0] = jobs[--njobs];
    fake_settle();
    ck_assert(!left(h) && left(other));
}
END_TEST

/* --- writing back --- */

START_TEST(no_more_is_written_back_than_makes_room)
{
    struct orr_job *job;

    for (unsigned i = 0; i < ROOM; i++)
        make_dirty(old[i]);
    begin(_i);
    fake.nstarted = 0;
    job = fake_submit_one(h, STARPU_R);
    ck_assert(!fake_fetch(job, 1));
    for (unsigned i = 0; i < 4; i++)
        fake_progress(1);
    ck_assert_uint_eq(fake.nstarted, 2);
    ck_assert_uint_eq(fake.rt.nodes->at[1].nextuse.leaving, 2 * FAKE_SIZE);
    fake_settle();
    ck_assert_uint_eq(fake.rt.nodes->at[1].nextuse.leaving, 0);
    ck_assert(left(old[0]));
    fake_finish(job, 0);
}
END_TEST

/* Jobs that take what is being written back do not keep others waiting. */
/* The worker that makes room for a prefetch has made a request to its own node, and is
 * woken by nobody. */
START_TEST(what_makes_room_for_a_prefetch_begins_at_once)
{
    make_dirty(old[3]);
    begin(_i);
    for (unsigned i = 0; i < ROOM - 1; i++)
        far(old[i]);
    fake.nstarted = 0;
    queued(h);
    fake_progress(1);
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(fake.rt.nodes->at[1].nextuse.leaving, FAKE_SIZE);
    fake_settle();
    assert_left(old[3]);
    ck_assert_uint_eq(fake_get(h, 1), 7);
}
END_TEST

START_TEST(what_is_used_while_it_is_written_back_does_not_leave)
{
    struct orr_job *job, *users[2];

    for (unsigned i = 0; i < ROOM; i++)
        make_dirty(old[i]);
    begin(_i);
    job = fake_submit_one(h, STARPU_R);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    for (unsigned i = 0; i < 2; i++) {
        users[i] = fake_submit_one(old[i], STARPU_R);
        ck_assert(fake_fetch(users[i], 1));
    }
    fake_settle();
    ck_assert_uint_eq(fake.rt.nodes->at[1].nextuse.leaving, 0);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(!left(old[0]) && !left(old[1]));
    fake_finish(job, 0);
    for (unsigned i = 0; i < 2; i++)
        fake_finish(users[i], 0);
}
END_TEST

/* A copy home that another one needs is under way: it is not tried again and
 * again. */
START_TEST(what_goes_home_from_elsewhere_is_not_written_back)
{
    struct orr_job *others = fake_job(ROOM - 1), *job;

    for (unsigned i = 1; i < ROOM; i++)
        fake_use(others, old[i], STARPU_R);
    make_dirty(old[0]);
    fake_submit(others);
    ck_assert(fake_fetch(others, 1));
    begin(_i);
    ck_assert_int_eq(fake_need(old[0], 0, true, ORR_FETCH, NULL), 0);
    fake.nstarted = 0;
    job = fake_submit_one(h, STARPU_R);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert_uint_eq(fake.nstarted, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(left(old[0]));
    fake_finish(job, 0);
    fake_finish(others, 0);
}
END_TEST

SUITE_MAIN(nextuse)
{
    Suite *suite = suite_create("nextuse");
    TCase *tc = tcase_create("choice"), *more = tcase_create("more");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, of_the_dead_the_oldest_leaves, 0, 2);
    tcase_add_loop_test(tc, what_a_request_found_is_young, 0, 2);
    tcase_add_loop_test(tc, what_is_out_of_date_leaves_first, 0, 2);
    tcase_add_loop_test(tc, what_will_not_be_used_leaves_first, 0, 2);
    tcase_add_loop_test(tc, of_the_far_the_one_used_last_leaves, 0, 2);
    tcase_add_loop_test(tc, of_the_far_the_least_priority_leaves, 0, 2);
    tcase_add_loop_test(tc, of_the_far_the_one_not_used_longest_leaves, 0, 4);
    tcase_add_loop_test(tc, of_the_queued_the_one_pushed_last_leaves, 0, 2);
    tcase_add_loop_test(tc, of_the_queued_the_least_priority_leaves, 0, 2);
    tcase_add_loop_test(tc, of_equals_the_one_registered_first_leaves, 0, 4);
    tcase_add_loop_test(tc, dead_ones_leave_before_far_ones, 0, 2);
    tcase_add_loop_test(tc, far_ones_leave_before_queued_ones, 0, 2);
    tcase_add_loop_test(tc, clean_ones_leave_before_dirty_ones, 0, 2);
    tcase_add_loop_test(
        tc, dead_dirty_ones_are_written_back_before_far_ones_leave, 0, 2);
    tcase_add_loop_test(tc, a_dirty_far_one_leaves_if_it_is_much_further_away,
                        0, 4);
    tcase_add_loop_test(tc, a_dirty_queued_one_leaves_if_it_was_pushed_last, 0,
                        2);
    suite_add_tcase(suite, tc);
    tcase_add_checked_fixture(more, setup, teardown);
    tcase_add_loop_test(more, a_promise_that_was_withdrawn_counts_no_more, 0,
                        2);
    tcase_add_loop_test(
        more, a_queued_job_that_ran_elsewhere_frees_what_it_was_promised, 0, 2);
    tcase_add_loop_test(more, an_access_that_has_ended_is_no_next_use, 0, 2);
    tcase_add_loop_test(more, what_is_used_elsewhere_next_is_not_needed_here, 0,
                        2);
    tcase_add_loop_test(more, what_is_overwritten_elsewhere_is_not_needed_here,
                        0, 2);
    tcase_add_loop_test(more, what_another_context_has_locked_is_passed_over, 0,
                        2);
    tcase_add_loop_test(more, a_prefetch_takes_dead_ones_only, 0, 2);
    tcase_add_loop_test(more, a_prefetch_takes_nothing_that_is_needed, 0, 2);
    tcase_add_loop_test(more, a_prefetch_for_a_job_waits_for_memory, 0, 2);
    tcase_add_loop_test(more, a_prefetch_that_waits_is_not_tried_in_vain, 0, 2);
    tcase_add_loop_test(more, prefetches_wait_in_the_order_of_need, 0, 2);
    tcase_add_loop_test(more, a_prefetch_that_waits_is_hastened, 0, 2);
    tcase_add_loop_test(more, no_more_is_written_back_than_makes_room, 0, 2);
    tcase_add_loop_test(more, what_makes_room_for_a_prefetch_begins_at_once, 0,
                        2);
    tcase_add_loop_test(
        more, what_is_used_while_it_is_written_back_does_not_leave, 0, 2);
    tcase_add_loop_test(more, what_goes_home_from_elsewhere_is_not_written_back,
                        0, 2);
    suite_add_tcase(suite, more);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-eviction.c - tests of ORRERY_EVICTION=starpu: what queued jobs
 * were promised, what prefetches may take and wait for, whose source is kept.
 * Node 0 is main memory, 1 and 2 are devices with room for ROOM blocks; `lru` is
 * what test-node.c and test-request-memory.c test.
 */
#include "core/data/data.h"
#include "core/data/nodes.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { ROOM = 4 };

static struct orr_handle *old[ROOM]; /* on node 1, oldest first */
static struct orr_handle *h; /* in main memory, would like to go there */

/* They are in main memory, too, if they are clean. */
static void open_full(bool clean)
{
    const struct fake_spec spec = {.ndevices = 2,
                                   .peers = true,
                                   .device_bytes = ROOM * FAKE_SIZE,
                                   .eviction = &orr_eviction_starpu};

    fake_open(&spec);
    for (unsigned i = 0; i < ROOM; i++) {
        old[i] = fake_handle(0, FAKE_SIZE);
        fake_task(old[i], clean ? STARPU_R : STARPU_W, 1, 10 + i);
    }
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
    fake.nstarted = 0;
}

static void setup_clean(void)
{
    open_full(true);
}

static void setup_dirty(void)
{
    open_full(false);
}

static void teardown(void)
{
    fake_close();
}

static bool left(const struct orr_handle *handle)
{
    return !fake_is_allocated(handle, 1);
}

/* A job that is ready, which the policy has put on the node. */
static struct orr_job *promised(struct orr_handle *handle, unsigned node)
{
    struct orr_job *job = fake_submit_one(handle, STARPU_R);

    orr_job_prefetch(&fake.rt, job, node, ORR_PREFETCH);
    return job;
}

static void run_on(struct orr_job *job, unsigned node)
{
    if (!fake_fetch(job, node)) {
        fake_settle();
        ck_assert_uint_eq(fake_told(job), 1);
    }
    fake_finish(job, 0);
}

static void prefetch(struct orr_handle *handle)
{
    orr_handle_prefetch(&fake.rt, handle, 1, ORR_PREFETCH);
    fake_settle();
}

/* A job that uses all of node 1. */
static struct orr_job *keep_all(void)
{
    struct orr_job *job = fake_job(ROOM);

    for (unsigned i = 0; i < ROOM; i++)
        fake_use(job, old[i], STARPU_R);
    fake_submit(job);
    ck_assert(fake_fetch(job, 1));
    return job;
}

/* --- what was promised --- */

START_TEST(a_prefetch_takes_the_oldest_that_was_not_promised)
{
    struct orr_job *job = promised(old[0], 1);

    prefetch(h);
    ck_assert(!left(old[0]) && left(old[1]) && !left(old[2]));
    ck_assert_uint_eq(fake_get(h, 1), 7);
    run_on(job, 1);
}
END_TEST

START_TEST(a_prefetch_takes_nothing_that_was_promised)
{
    struct orr_job *jobs[ROOM];

    for (unsigned i = 0; i < ROOM; i++)
        jobs[i] = promised(old[i], 1);
    prefetch(h);
    ck_assert(left(h));
    fake_assert_idle(h); /* no job was promised it */
    for (unsigned i = 0; i < ROOM; i++) {
        ck_assert(!left(old[i]));
        run_on(jobs[i], 1);
    }
}
END_TEST

START_TEST(a_fetch_may_take_what_was_promised)
{
    struct orr_job *jobs[ROOM];

    for (unsigned i = 0; i < ROOM; i++)
        jobs[i] = promised(old[i], 1);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(left(old[0]) && !left(old[1]));
    for (unsigned i = 0; i < ROOM; i++)
        run_on(jobs[i], 1);
}
END_TEST

/* Of two jobs the second one, too, fetches its data, on the node or elsewhere. */
START_TEST(a_promise_ends_when_the_job_has_its_data)
{
    struct orr_job *jobs[] = {promised(old[0], 1), promised(old[0], 1)};

    for (unsigned i = 1; i < ROOM; i++)
        fake_task(old[i], STARPU_R, 1, 0); /* it is the oldest */
    run_on(jobs[0], _i ? 2 : 1);
    ck_assert_uint_eq(old[0]->replicates[1].promised, 1);
    run_on(jobs[1], _i ? 0 : 1);
    ck_assert_uint_eq(old[0]->replicates[1].promised, 0);
    for (unsigned i = 1; i < ROOM; i++)
        fake_task(old[i], STARPU_R, 1, 0);
    prefetch(h);
    ck_assert(left(old[0]));
}
END_TEST

/* It may never be submitted, or never run there. */
START_TEST(a_job_that_is_not_ready_is_promised_nothing)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, old[0], STARPU_R);
    orr_job_prefetch(&fake.rt, job, 1, ORR_PREFETCH);
    ck_assert_uint_eq(old[0]->replicates[1].promised, 0);
    fake_submit(job);
    orr_job_prefetch(&fake.rt, job, 1, ORR_IDLE_PREFETCH);
    ck_assert_uint_eq(old[0]->replicates[1].promised, 0);
    run_on(job, 1);
}
END_TEST

/* --- who is young --- */

START_TEST(what_a_prefetch_found_is_young)
{
    prefetch(old[0]);
    prefetch(h);
    ck_assert(!left(old[0]) && left(old[1]));
}
END_TEST

START_TEST(what_is_out_of_date_leaves_first)
{
    fake_task(old[2], STARPU_RW, 0, 5);
    prefetch(h);
    ck_assert(left(old[2]) && !left(old[0]));
}
END_TEST

/* The other copy, which made it clean, has left; nothing else can. */
START_TEST(the_last_copy_goes_home_first)
{
    struct orr_job *others = fake_job(ROOM - 1);
    uintptr_t memory[ROOM];

    fake_task(old[0], STARPU_RW, 1, 5);
    fake_task(old[0], STARPU_R, 2, 0);
    for (unsigned i = 0; i < ROOM; i++)
        ck_assert_int_eq(
            orr_node_malloc(&fake.rt, 2, FAKE_SIZE, true, &memory[i]), 0);
    ck_assert_uint_eq(old[0]->valid, 2);
    for (unsigned i = 1; i < ROOM; i++)
        fake_use(others, old[i], STARPU_R);
    fake_submit(others);
    ck_assert(fake_fetch(others, 1));
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(left(old[0]));
    ck_assert_uint_eq(old[0]->valid, 1);
    ck_assert_uint_eq(fake_get(old[0], 0), 5);
    fake_finish(others, 0);
    for (unsigned i = 0; i < ROOM; i++)
        orr_node_free(&fake.rt, 2, memory[i], FAKE_SIZE);
}
END_TEST

/* --- prefetches without memory --- */

START_TEST(a_prefetch_for_a_job_sends_home_what_must_leave)
{
    struct orr_job *job = promised(h, 1);

    fake_progress(1);
    fake_progress(1); /* the copies home are more urgent than what found them */
    ck_assert_uint_ge(fake.ncopies, 2);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(fake.copies[i]->dst, 0);
        ck_assert_ptr_eq(
            orr_container(fake.copies[i], struct orr_request, copy)->handle,
            old[i]);
    }
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 1), 7);
    ck_assert(left(old[0]) && !left(old[ROOM - 1]));
    ck_assert_uint_eq(fake_get(old[0], 0), 10);
    run_on(job, 1);
}
END_TEST

START_TEST(a_prefetch_for_a_job_waits_for_memory)
{
    struct orr_job *all = keep_all(), *job = promised(h, 1);

    fake_settle();
    ck_assert(left(h));
    fake_finish(all, 0);
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 1), 7);
    run_on(job, 1);
}
END_TEST

static unsigned ntried;

static int count_tries(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level)
{
    ntried++;
    return orr_eviction_starpu.make_room(rt, node, size, level);
}

/* For as many bytes; whatever changes there has it tried again. Not so where each attempt
 * does something. */
START_TEST(what_found_no_memory_is_not_tried_before_something_changes)
{
    struct orr_eviction counted = orr_eviction_starpu;
    struct orr_job *all = keep_all(), *job = promised(h, 1);

    counted.make_room = count_tries;
    counted.tries_again = false;
    fake.rt.nodes->eviction = &counted;
    ntried = 0;
    for (unsigned i = 0; i < 10; i++)
        fake_progress(1);
    ck_assert_uint_eq(ntried, 1);
    orr_node_freed(&fake.rt, 1);
    for (unsigned i = 0; i < 10; i++)
        fake_progress(1);
    ck_assert_uint_eq(ntried, 2);
    counted.tries_again = true;
    orr_node_freed(&fake.rt, 1);
    for (unsigned i = 0; i < 10; i++)
        fake_progress(1);
    ck_assert_uint_eq(ntried, 12);
    fake_finish(all, 0);
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 1), 7);
    run_on(job, 1);
    fake.rt.nodes->eviction = &orr_eviction_starpu;
}
END_TEST

START_TEST(a_prefetch_ends_when_its_job_runs_elsewhere)
{
    struct orr_job *all = keep_all(), *job = promised(h, 1);

    fake_settle();
    run_on(job, 0);
    fake_settle();
    fake_assert_idle(h);
    fake_finish(all, 0);
    fake_settle();
    ck_assert(left(h));
}
END_TEST

START_TEST(an_idle_prefetch_does_not_wait)
{
    struct orr_job *all = keep_all(), *job = fake_submit_one(h, STARPU_R);

    orr_job_prefetch(&fake.rt, job, 1, ORR_IDLE_PREFETCH);
    fake_settle();
    ck_assert(!h->replicates[1].request);
    fake_finish(all, 0);
    run_on(job, 0);
}
END_TEST

/* Their sources are all that node 1 has, and what they wait for is promised. */
START_TEST(prefetches_that_wait_keep_no_source)
{
    struct orr_job *there[ROOM], *want[ROOM];

    for (unsigned i = 0; i < ROOM; i++) {
        there[i] = promised(fake_handle(0, FAKE_SIZE), 2);
        fake_settle();
    }
    for (unsigned i = 0; i < ROOM; i++)
        want[i] = promised(old[i], 2);
    fake_settle();
    for (unsigned i = 0; i < ROOM; i++)
        ck_assert_ptr_nonnull(old[i]->replicates[2].request);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(left(old[0]));
    /* The first one's source has gone; it finds another one. */
    for (unsigned i = 0; i < ROOM; i++)
        run_on(there[i], 2);
    fake_settle();
    for (unsigned i = 0; i < ROOM; i++) {
        ck_assert_uint_eq(fake_get(old[i], 2), 10 + i);
        run_on(want[i], 2);
    }
}
END_TEST

/* Its value went to the whole, as that of a piece does: it is in the list of the
 * dirty ones still, and nothing else can leave. */
START_TEST(what_lost_its_value_is_found_among_the_dirty)
{
    struct orr_job *others = fake_job(ROOM - 1);

    for (unsigned i = 1; i < ROOM; i++)
        fake_use(others, old[i], STARPU_R);
    fake_submit(others);
    ck_assert(fake_fetch(others, 1));
    orr_lock(&old[0]->lock);
    old[0]->valid = 0;
    orr_unlock(&old[0]->lock);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(left(old[0]));
    ck_assert_uint_eq(fake.nstarted, 1);
    fake_finish(others, 0);
}
END_TEST

static TCase *case_of(const char *name, void (*before)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, before, teardown);
    return tc;
}

/* The end of a lock is told nobody. */
static void unlock_the_third(void)
{
    struct orr_context *caller = orr_self;

    fake.meanwhile = NULL;
    fake_be(fake_driver(2));
    orr_unlock(&old[2]->lock);
    orr_self = caller;
    fake.held = NULL;
}

START_TEST(what_alone_could_leave_is_waited_for_while_it_is_locked)
{
    struct orr_job *jobs[ROOM], *job = fake_submit_one(h, STARPU_R);

    for (unsigned i = 0; i < ROOM; i++) {
        jobs[i] = i == 2 ? NULL : fake_submit_one(old[i], STARPU_R);
        ck_assert(!jobs[i] || fake_fetch(jobs[i], 1));
    }
    fake_be(fake_driver(2));
    orr_lock(&old[2]->lock);
    fake_be(-1);
    fake.held = old[2];
    fake.meanwhile = unlock_the_third;
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert(left(old[2]));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    for (unsigned i = 0; i < ROOM; i++)
        if (jobs[i])
            fake_finish(jobs[i], 0);
}
END_TEST

static TCase *clean(void)
{
    TCase *tc = case_of("clean", setup_clean);

    tcase_add_test(tc, a_prefetch_takes_the_oldest_that_was_not_promised);
    tcase_add_test(tc, a_prefetch_takes_nothing_that_was_promised);
    tcase_add_test(tc, a_fetch_may_take_what_was_promised);
    tcase_add_loop_test(tc, a_promise_ends_when_the_job_has_its_data, 0, 2);
    tcase_add_test(tc, a_job_that_is_not_ready_is_promised_nothing);
    tcase_add_test(tc, what_a_prefetch_found_is_young);
    tcase_add_test(tc, what_is_out_of_date_leaves_first);
    tcase_add_test(tc, the_last_copy_goes_home_first);
    tcase_add_test(tc, a_prefetch_for_a_job_waits_for_memory);
    tcase_add_test(tc,
                   what_found_no_memory_is_not_tried_before_something_changes);
    tcase_add_test(tc, a_prefetch_ends_when_its_job_runs_elsewhere);
    tcase_add_test(tc, an_idle_prefetch_does_not_wait);
    tcase_add_test(tc, what_alone_could_leave_is_waited_for_while_it_is_locked);
    return tc;
}

static TCase *dirty(void)
{
    TCase *tc = case_of("dirty", setup_dirty);

    tcase_add_test(tc, a_prefetch_for_a_job_sends_home_what_must_leave);
    tcase_add_test(tc, prefetches_that_wait_keep_no_source);
    tcase_add_test(tc, what_lost_its_value_is_found_among_the_dirty);
    return tc;
}

SUITE_MAIN(eviction)
{
    Suite *suite = suite_create("eviction");

    suite_add_tcase(suite, clean());
    suite_add_tcase(suite, dirty());
    return suite_main(suite);
}

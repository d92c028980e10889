/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-request.c - tests of core/data/request.c, and of fetch.c on
 * top of it: how values and memory come to where they are needed. Node 0 is main
 * memory, the others are devices, which by default reach each other through it.
 */
#include <errno.h>
#include <math.h>

#include "core/data/bus.h"
#include "core/data/data.h"
#include "core/data/nodes.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

static struct orr_handle *h;

static void open_devices(unsigned ndevices, bool peers)
{
    const struct fake_spec spec = {.ndevices = ndevices, .peers = peers};

    fake_open(&spec);
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
}

static void setup(void)
{
    open_devices(3, false);
}

static void setup_peers(void)
{
    open_devices(3, true);
}

static void teardown(void)
{
    fake_close();
}

static bool is_under_way(unsigned i, unsigned src, unsigned dst)
{
    return i < fake.ncopies && fake.copies[i]->src == src &&
           fake.copies[i]->dst == dst && fake.copies[i]->size == FAKE_SIZE;
}

/* --- one copy --- */

START_TEST(what_is_there_is_had_at_once)
{
    struct orr_job *job = fake_unordered(h, STARPU_RW);

    ck_assert_int_eq(fake_need(h, 0, true, ORR_FETCH, NULL), 1);
    ck_assert_int_eq(fake_need(h, 0, false, ORR_FETCH, NULL), 1);
    ck_assert(fake_fetch(job, 0));
    ck_assert_uint_eq(fake.nstarted + fake.woken, 0);
    fake_finish(job, 0);
    ck_assert_uint_eq(fake_told(job), 0);
}
END_TEST

START_TEST(a_copy_brings_the_value)
{
    struct orr_job *job = fake_ask(h, STARPU_R, 1);
    const struct orr_bus *bus = orr_bus_find(&fake.rt, 0, 1);

    ck_assert_uint_eq(fake.ncopies, 0); /* its progress worker starts it */
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(1));
    ck_assert(h->loading >> 1 & 1);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    ck_assert(is_under_way(0, 0, 1));
    ck_assert(!fake_is_valid(h, 1));
    ck_assert_uint_eq(fake_told(job), 0);
    fake_end_copy(0);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(fake_is_valid(h, 0) && fake_is_valid(h, 1));
    ck_assert_uint_eq(h->loading, 0);
    ck_assert_uint_eq(fake_get(h, 1), 7);
    ck_assert_uint_eq(atomic_load(&bus->transfers), 1);
    ck_assert_uint_eq(atomic_load(&bus->bytes), FAKE_SIZE);
    fake_finish(job, 0);
    fake_assert_idle(h);
}
END_TEST

START_TEST(a_writer_has_the_only_value)
{
    fake_task(h, STARPU_RW, 1, 8);
    ck_assert_uint_eq(h->valid, 2);
    fake_task(h, STARPU_R, 2, 0);
    ck_assert_uint_eq(fake_get(h, 2), 8);
    ck_assert_uint_eq(fake_get(h, 0), 8);
    ck_assert_uint_eq(h->valid, 7);
}
END_TEST

static const struct {
    unsigned from, to, driver;
} ways[] = {{0, 1, 1}, {1, 0, 1}, {2, 1, 1}, {1, 2, 2}};

START_TEST(devices_drive_what_concerns_them_and_of_two_the_destination)
{
    struct orr_handle *there =
        ways[_i].from ? fake_only_on(ways[_i].from, 5) : h;

    ck_assert_int_eq(fake_need(there, ways[_i].to, true, ORR_FETCH, NULL), 0);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(ways[_i].driver));
    fake_progress(ways[_i].driver);
    ck_assert(is_under_way(0, ways[_i].from, ways[_i].to));
    fake_settle();
    ck_assert(fake_is_valid(there, ways[_i].to));
    fake_assert_idle(there);
}
END_TEST

START_TEST(a_datum_of_no_bytes_needs_no_copy)
{
    struct orr_handle *nothing = fake_handle(0, 0);
    struct orr_job *job = fake_ask(nothing, STARPU_R, 1);

    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(fake_is_valid(nothing, 1));
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_finish(job, 0);
}
END_TEST

/* Predicted times decide; of equals the first node; unknown: main memory. */
START_TEST(the_nearest_source_is_taken)
{
    static const struct {
        double latency[3]; /* to node 3 from each */
        unsigned best;
    } cases[] = {{{10, 20, 30}, 0},
                 {{30, 20, 10}, 2},
                 {{30, 10, 20}, 1},
                 {{30, 10, 10}, 1},
                 {{30, 10, (double)NAN}, 0}};

    fake_task(h, STARPU_R, 1, 0);
    fake_task(h, STARPU_R, 2, 0);
    for (unsigned src = 0; src < 3; src++)
        fake.rt.nodes->at[3].routes[src].latency = cases[_i].latency[src];
    ck_assert_int_eq(fake_need(h, 3, true, ORR_FETCH, NULL), 0);
    fake_progress(3);
    ck_assert(is_under_way(0, cases[_i].best, 3));
    fake_settle();
}
END_TEST

/* --- several requests for one value --- */

START_TEST(who_needs_the_same_joins)
{
    struct orr_job *jobs[3];

    jobs[0] = fake_ask(h, STARPU_R, 1);
    jobs[1] = fake_ask(h, STARPU_R, 1);
    fake_progress(1);
    jobs[2] = fake_ask(h, STARPU_R, 1); /* it is under way */
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 1);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_told(jobs[i]), 1);
        fake_finish(jobs[i], 0);
        ck_assert_uint_eq(fake_told(jobs[i]), 1);
    }
}
END_TEST

START_TEST(a_job_is_told_once_when_the_last_of_its_data_has_come)
{
    struct orr_job *job = fake_job(4);

    fake_task(h, STARPU_R, 1, 0);
    fake.nstarted = 0;
    fake_use(job, h, STARPU_R); /* is there */
    for (unsigned i = 0; i < 3; i++)
        fake_use(job, fake_handle(0, FAKE_SIZE), i == 2 ? STARPU_W : STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1); /* of the last one only memory is needed */
    ck_assert_uint_eq(fake.ncopies, 2);
    fake_end_copy(1);
    ck_assert_uint_eq(fake_told(job), 0);
    fake_end_copy(0);
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* More requests than one call takes spares for, of one copy and of two. */
START_TEST(a_job_may_need_many_copies)
{
    struct orr_job *job = fake_job(9);
    struct orr_handle *data[9];

    for (unsigned i = 0; i < 9; i++)
        data[i] = (i + (unsigned)_i) % 3 ? fake_only_on(2, i + 10)
                                         : fake_handle(0, FAKE_SIZE);
    for (unsigned i = 0; i < 9; i++)
        fake_use(job, data[i], STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    for (unsigned i = 0; i < 9; i++)
        ck_assert_uint_eq(fake_get(data[i], 1),
                          (i + (unsigned)_i) % 3 ? i + 10 : 0);
    fake_finish(job, 0);
}
END_TEST

/* --- urgency --- */

/* Requests a new datum on node 1. */
static struct orr_handle *prefetch_new(enum orr_fetch_level level)
{
    struct orr_handle *handle = fake_handle(0, FAKE_SIZE);

    orr_handle_prefetch(&fake.rt, handle, 1, level);
    return handle;
}

/* The copies that are under way bring these. */
static void assert_started(unsigned n, struct orr_handle *const *handles)
{
    ck_assert_uint_eq(fake.ncopies, n);
    for (unsigned i = 0; i < n; i++)
        ck_assert_ptr_eq(
            orr_container(fake.copies[i], struct orr_request, copy)->handle,
            handles[i]);
}

START_TEST(what_is_urgent_goes_first)
{
    struct orr_handle *idle = prefetch_new(ORR_IDLE_PREFETCH);
    struct orr_handle *soon = prefetch_new(ORR_PREFETCH);
    struct orr_job *job = fake_ask(h, STARPU_R, 1);

    fake_progress(1);
    assert_started(2, (struct orr_handle *[]){h, soon});
    fake_end_copy(0);
    fake_end_copy(0);
    fake_progress(1);
    assert_started(1, (struct orr_handle *[]){idle});
    fake_settle();
    fake_finish(job, 0);
}
END_TEST

START_TEST(what_becomes_urgent_is_raised)
{
    struct orr_handle *first = prefetch_new(ORR_PREFETCH), *second;

    second = prefetch_new(_i ? ORR_IDLE_PREFETCH : ORR_PREFETCH);
    fake.woken = 0;
    ck_assert_int_eq(fake_need(second, 1, true, ORR_FETCH, NULL), 0);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(1));
    fake_progress(1);
    assert_started(2, (struct orr_handle *[]){second, first});
    fake_settle();
}
END_TEST

START_TEST(what_is_urgent_stays_so)
{
    struct orr_handle *first, *second;

    first = prefetch_new(ORR_PREFETCH);
    second = prefetch_new(ORR_PREFETCH);
    orr_handle_prefetch(&fake.rt, first, 1, ORR_IDLE_PREFETCH);
    fake_progress(1);
    assert_started(2, (struct orr_handle *[]){first, second});
    fake_settle();
}
END_TEST

/* 5 fetches for tasks, 2 prefetches, 1 idle prefetch. */
START_TEST(few_copies_of_a_level_are_under_way_at_once)
{
    static const unsigned max[] = {5, 2, 1};
    struct orr_handle *handles[8];

    for (unsigned i = 0; i < 8; i++)
        handles[i] = prefetch_new((enum orr_fetch_level)_i);
    fake_progress(1);
    assert_started(max[_i], handles);
    fake.woken = 0;
    fake_end_copy(0);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(1));
    fake_progress(1);
    assert_started(max[_i], &handles[1]);
    fake_settle();
    for (unsigned i = 0; i < 8; i++)
        ck_assert(fake_is_valid(handles[i], 1));
}
END_TEST

START_TEST(each_way_and_each_neighbour_has_its_own_limit)
{
    struct orr_handle *out[8], *peer[8];

    for (unsigned i = 0; i < 8; i++) {
        out[i] = fake_only_on(1, 1);
        peer[i] = fake_only_on(2, 2);
    }
    for (unsigned i = 0; i < 8; i++) {
        (void)prefetch_new(ORR_FETCH);
        orr_handle_prefetch(&fake.rt, out[i], 0, ORR_FETCH);
        orr_handle_prefetch(&fake.rt, peer[i], 1, ORR_FETCH);
    }
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 15);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 24);
}
END_TEST

/* --- through main memory --- */

START_TEST(without_a_link_the_value_goes_by_way_of_main_memory)
{
    struct orr_handle *there = fake_only_on(1, 5);
    struct orr_job *job = fake_ask(there, STARPU_R, 2);

    ck_assert_uint_eq(fake.woken, 1U << fake_driver(1) | 1U << fake_driver(2));
    fake_progress(2); /* nothing for it yet */
    ck_assert_uint_eq(fake.ncopies, 0);
    fake_progress(1);
    ck_assert(is_under_way(0, 1, 0));
    fake.woken = 0;
    fake_end_copy(0);
    ck_assert_uint_eq(fake_told(job), 0);
    ck_assert(fake_is_valid(there, 0));
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(2));
    fake_progress(2);
    ck_assert(is_under_way(0, 0, 2));
    fake_end_copy(0);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake_get(there, 2), 5);
    ck_assert_uint_eq(there->valid, 7);
    fake_finish(job, 0);
    fake_assert_idle(there);
}
END_TEST

START_TEST(with_a_link_it_goes_straight)
{
    struct orr_handle *there = fake_only_on(1, 5);
    struct orr_job *job = fake_ask(there, STARPU_R, 2);

    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(there->valid, 6);
    ck_assert_uint_eq(fake_get(there, 2), 5);
    fake_finish(job, 0);
}
END_TEST

START_TEST(several_go_on_from_the_same_hop)
{
    struct orr_handle *there = fake_only_on(1, 5);
    struct orr_job *jobs[] = {
        fake_ask(there, STARPU_R, 2), fake_ask(there, STARPU_R, 3),
        fake_ask(there, STARPU_R, 2), fake_ask(there, STARPU_R, 0)};

    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 3);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(fake_told(jobs[i]), 1);
        fake_finish(jobs[i], 0);
    }
    ck_assert_uint_eq(fake_get(there, 2), 5);
    ck_assert_uint_eq(fake_get(there, 3), 5);
}
END_TEST

START_TEST(a_copy_home_is_a_hop_too_and_is_raised)
{
    struct orr_handle *first = fake_only_on(1, 4), *second = fake_only_on(1, 5);
    struct orr_job *job;

    orr_handle_prefetch(&fake.rt, first, 0, ORR_PREFETCH);
    orr_handle_prefetch(&fake.rt, second, 0, ORR_IDLE_PREFETCH);
    if (_i) /* it is under way when it becomes a hop */
        fake_progress(1);
    job = fake_ask(second, STARPU_R, 2);
    fake_progress(1);
    if (!_i)
        assert_started(2, (struct orr_handle *[]){second, first});
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 3);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake_get(second, 2), 5);
    fake_finish(job, 0);
}
END_TEST

static struct orr_handle *wanted;

static void want_meanwhile(unsigned node)
{
    ck_assert_uint_eq(node, 0);
    fake.allocating = NULL;
    orr_handle_prefetch(&fake.rt, wanted, 3, ORR_PREFETCH);
}

/* Node 0 is to be written, and is getting memory only when it becomes a hop. */
START_TEST(memory_that_becomes_a_hop_gets_the_value)
{
    struct orr_job *job;

    wanted = fake_handle(-1, FAKE_SIZE);
    fake_task(wanted, STARPU_W, 1, 5);
    fake.allocating = want_meanwhile;
    job = fake_unordered(wanted, STARPU_W);
    ck_assert(fake_fetch(job, 0));
    fake_settle();
    ck_assert_uint_eq(wanted->valid, 1 | 2 | 8);
    ck_assert_uint_eq(fake_get(wanted, 3), 5);
    fake_finish(job, 0);
}
END_TEST

/* The same before it has a value. */
START_TEST(memory_that_was_asked_for_becomes_a_hop)
{
    const struct fake_spec spec = {.nram = 2, .ncpus = 1, .ndevices = 2};
    struct orr_job *job;

    fake_close();
    fake_open(&spec);
    wanted = fake_handle(-1, FAKE_SIZE);
    fake_task(wanted, STARPU_W, 2, 5);
    fake.no_memory = 1;
    job = fake_ask(wanted, STARPU_W, 0);
    orr_handle_prefetch(&fake.rt, wanted, 3, ORR_PREFETCH);
    fake.no_memory = 0;
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake_get(wanted, 3), 5);
    fake_finish(job, 0);
}
END_TEST

/* request.h, "who needs the same joins it and raises its level": not the
 * hop that it waits for. */
START_TEST(joining_two_hops_raises_the_first)
{
    struct orr_handle *first = fake_only_on(1, 4), *second = fake_only_on(1, 5);
    struct orr_job *job;

    orr_handle_prefetch(&fake.rt, first, 0, ORR_PREFETCH);
    orr_handle_prefetch(&fake.rt, second, 2, ORR_IDLE_PREFETCH);
    job = fake_ask(second, STARPU_R, 2);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 2);
    ck_assert_ptr_eq(
        orr_container(fake.copies[0], struct orr_request, copy)->handle,
        second);
    fake_settle();
    fake_finish(job, 0);
}
END_TEST

/* memory that another thread is about to make at once, and that becomes a
 * hop before it does: the list of what is made at once and that of hops share
 * a link. */
START_TEST(memory_at_once_may_become_a_hop_meanwhile)
{
    struct orr_deferred deferred = {0};
    struct orr_handle *there = fake_handle(-1, FAKE_SIZE);

    fake_task(there, STARPU_W, 1, 5);
    ck_assert_int_eq(orr_deferred_prepare(&fake.rt, &deferred), 0);
    orr_lock(&there->lock);
    (void)orr_request_need(&fake.rt, there, 0, false, ORR_FETCH, NULL,
                           &deferred);
    orr_unlock(&there->lock);
    orr_handle_prefetch(&fake.rt, there, 2, ORR_PREFETCH); /* another thread */
    orr_deferred_run(&fake.rt, &deferred);
    fake_settle();
    ck_assert(fake_is_valid(there, 2));
    ck_assert_uint_eq(fake_get(there, 2), 5);
}
END_TEST

/* Who wants only memory is joined by who reads what another device has. */
START_TEST(memory_that_gets_the_value_gets_it_by_way_of_main_memory)
{
    struct orr_job *writer, *job = NULL;

    wanted = fake_handle(-1, FAKE_SIZE);
    fake_task(wanted, STARPU_W, 1, 5);
    fake.nstarted = 0;
    writer = fake_ask(wanted, STARPU_W, 2);
    if (_i)
        job = fake_ask(wanted, STARPU_R, 2);
    else
        orr_handle_prefetch(&fake.rt, wanted, 2, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake_told(writer), 1);
    if (_i) {
        ck_assert_uint_eq(fake.nstarted, 2);
        ck_assert_uint_eq(fake_told(job), 1);
        ck_assert_uint_eq(fake_get(wanted, 2), 5);
        fake_finish(job, 0);
    }
    fake_finish(writer, 6);
    fake_settle();
    ck_assert_uint_eq(fake_get(wanted, 2), 6);
    fake_assert_idle(wanted);
}
END_TEST

/* Main memory has none left, and the prefetch would not wait for some. */
START_TEST(a_hop_is_not_dropped)
{
    wanted = fake_handle(-1, FAKE_SIZE);
    fake_task(wanted, STARPU_W, 1, 5);
    fake.no_memory = 1;
    orr_handle_prefetch(&fake.rt, wanted, 2, ORR_IDLE_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(wanted->loading, 1 | 4);
    fake.no_memory = 0;
    orr_node_freed(&fake.rt, 0);
    fake_settle();
    ck_assert_uint_eq(wanted->valid, 1 | 2 | 4);
    ck_assert_uint_eq(fake_get(wanted, 2), 5);
}
END_TEST

/* --- values that are overwritten meanwhile --- */

START_TEST(a_copy_of_an_old_value_is_ignored)
{
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    if (_i)
        fake_progress(1);
    fake_overwrite(h, 0, 8);
    fake_settle();
    ck_assert_uint_eq(h->valid, 1);
    ck_assert_uint_eq(fake.nstarted, (unsigned)_i); /* not begun in vain */
    fake_assert_idle(h);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert_uint_eq(fake_get(h, 1), 8);
}
END_TEST

/* It was to come to the node that has overwritten it. */
START_TEST(a_copy_that_was_not_begun_does_not_overwrite)
{
    fake_task(h, STARPU_R, 1, 0);
    fake_task(h, STARPU_RW, 0, 8);
    fake.nstarted = 0;
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_overwrite(h, 1, 9);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    ck_assert_uint_eq(h->valid, 2);
    ck_assert_uint_eq(fake_get(h, 1), 9);
}
END_TEST

START_TEST(who_waits_for_an_old_value_gets_the_new_one)
{
    struct orr_job *jobs[2];

    jobs[0] = fake_ask(h, STARPU_R, 1);
    if (_i)
        fake_progress(1);
    fake_overwrite(h, 0, 8);
    jobs[1] = fake_ask(h, STARPU_R, 1);
    if (_i)
        fake_end_copy(0);
    ck_assert_uint_eq(fake_told(jobs[0]) + fake_told(jobs[1]), 0);
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 1), 8);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(fake_told(jobs[i]), 1);
        fake_finish(jobs[i], 0);
    }
    fake_assert_idle(h);
}
END_TEST

START_TEST(a_value_may_become_old_at_each_step_of_two_hops)
{
    struct orr_handle *there = fake_only_on(1, 5);
    struct orr_job *job;

    fake_task(there, STARPU_R, 3, 0); /* so that all nodes have memory */
    fake_overwrite(there, 1, 6);
    job = fake_ask(there, STARPU_R, 2);
    for (int step = 0; step < 4; step++) {
        if (step == _i % 4)
            fake_overwrite(there, _i < 4 ? 1 : 3, 9);
        if (step & 1 && fake.ncopies)
            fake_end_copy(0);
        else if (!(step & 1))
            fake_progress(step ? 2 : 1);
    }
    fake.woken = ~0U >> 1;
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake_get(there, 2), 9);
    ck_assert(fake_is_valid(there, 2));
    fake_finish(job, 0);
    fake_assert_idle(there);
}
END_TEST

START_TEST(a_value_that_is_forgotten_does_not_come_back)
{
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_progress(1);
    orr_data_invalidate_submit(&fake.rt, h, false);
    fake_settle();
    ck_assert_uint_eq(h->valid, 0);
    ck_assert_int_eq(fake_need(h, 1, true, ORR_FETCH, NULL), -ENODATA);
    fake_assert_idle(h);
}
END_TEST

/* --- writers where a copy is on its way --- */

/* _i & 1: home from a device instead of to it; _i & 2: the copy is of an old
 * value by then. */
START_TEST(a_writer_waits_for_a_copy_into_its_memory)
{
    unsigned to = _i & 1 ? 0 : 1;
    struct orr_handle *handle = _i & 1 ? fake_only_on(1, 5) : h;
    struct orr_job *job;

    orr_handle_prefetch(&fake.rt, handle, to, ORR_IDLE_PREFETCH);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    if (_i & 2)
        fake_overwrite(handle, 1 - to, 6);
    job = fake_submit_one(handle, STARPU_W);
    ck_assert(!fake_fetch(job, to));
    ck_assert_uint_eq(fake_told(job), 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 9);
    ck_assert_uint_eq(handle->valid, UINT64_C(1) << to);
    ck_assert_uint_eq(fake_get(handle, to), 9);
    fake_assert_idle(handle);
}
END_TEST

/* The node may have memory for it already. */
START_TEST(a_copy_that_was_not_begun_is_not_made_for_a_writer)
{
    struct orr_job *job;

    if (_i) {
        fake_task(h, STARPU_R, 1, 0);
        fake_task(h, STARPU_RW, 0, 8);
    }
    fake.nstarted = 0;
    orr_handle_prefetch(&fake.rt, h, 1, ORR_IDLE_PREFETCH);
    job = fake_submit_one(h, STARPU_W);
    ck_assert_int_eq(fake_fetch(job, 1), _i);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_finish(job, 9);
    fake_settle();
    ck_assert_uint_eq(h->valid, 2);
    ck_assert_uint_eq(fake_get(h, 1), 9);
    fake_assert_idle(h);
}
END_TEST

/* Another datum of the job is still under way. */
START_TEST(no_copy_begins_where_a_writer_is_about_to_write)
{
    struct orr_job *job = fake_job(2);

    fake_task(h, STARPU_R, 1, 0);
    fake_task(h, STARPU_RW, 0, 8);
    fake_use(job, h, STARPU_W);
    fake_use(job, fake_handle(0, FAKE_SIZE), STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    fake.nstarted = 0;
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_progress(1);
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_settle();
    fake_finish(job, 9);
    ck_assert_uint_eq(fake_get(h, 1), 9);
}
END_TEST

/* Its readers get none of what is written meanwhile. */
START_TEST(a_writer_at_the_source_does_not_wait)
{
    struct orr_job *job;

    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_progress(1);
    job = fake_submit_one(h, _i ? STARPU_RW : STARPU_W);
    ck_assert(fake_fetch(job, 0));
    fake_finish(job, 9);
    fake_settle();
    ck_assert_uint_eq(h->valid, 1);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert_uint_eq(fake_get(h, 1), 9);
}
END_TEST

static TCase *case_of(const char *name, void (*before)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, before, teardown);
    return tc;
}

static TCase *copies(void)
{
    TCase *tc = case_of("copies", setup);

    tcase_add_test(tc, what_is_there_is_had_at_once);
    tcase_add_test(tc, a_copy_brings_the_value);
    tcase_add_test(tc, a_writer_has_the_only_value);
    tcase_add_test(tc, a_datum_of_no_bytes_needs_no_copy);
    tcase_add_test(tc, who_needs_the_same_joins);
    tcase_add_test(tc, a_job_is_told_once_when_the_last_of_its_data_has_come);
    tcase_add_loop_test(tc, a_job_may_need_many_copies, 0, 3);
    tcase_add_test(tc, what_is_urgent_goes_first);
    tcase_add_loop_test(tc, what_becomes_urgent_is_raised, 0, 2);
    tcase_add_test(tc, what_is_urgent_stays_so);
    tcase_add_loop_test(tc, few_copies_of_a_level_are_under_way_at_once, 0, 3);
    return tc;
}

static TCase *peers(void)
{
    TCase *tc = case_of("peers", setup_peers);

    tcase_add_loop_test(
        tc, devices_drive_what_concerns_them_and_of_two_the_destination, 0, 4);
    tcase_add_loop_test(tc, the_nearest_source_is_taken, 0, 5);
    tcase_add_test(tc, each_way_and_each_neighbour_has_its_own_limit);
    tcase_add_test(tc, with_a_link_it_goes_straight);
    return tc;
}

static TCase *hops(void)
{
    TCase *tc = case_of("hops", setup);

    tcase_add_test(tc, without_a_link_the_value_goes_by_way_of_main_memory);
    tcase_add_test(tc, several_go_on_from_the_same_hop);
    tcase_add_loop_test(tc, a_copy_home_is_a_hop_too_and_is_raised, 0, 2);
    tcase_add_test(tc, memory_that_becomes_a_hop_gets_the_value);
    tcase_add_test(tc, memory_that_was_asked_for_becomes_a_hop);
    tcase_add_loop_test(
        tc, memory_that_gets_the_value_gets_it_by_way_of_main_memory, 0, 2);
    tcase_add_test(tc, joining_two_hops_raises_the_first);
    tcase_add_test(tc, memory_at_once_may_become_a_hop_meanwhile);
    tcase_add_test(tc, a_hop_is_not_dropped);
    return tc;
}

static TCase *old_values(void)
{
    TCase *tc = case_of("old values", setup);

    tcase_add_loop_test(tc, a_copy_of_an_old_value_is_ignored, 0, 2);
    tcase_add_test(tc, a_copy_that_was_not_begun_does_not_overwrite);
    tcase_add_loop_test(tc, who_waits_for_an_old_value_gets_the_new_one, 0, 2);
    tcase_add_loop_test(tc, a_value_may_become_old_at_each_step_of_two_hops, 0,
                        8);
    tcase_add_test(tc, a_value_that_is_forgotten_does_not_come_back);
    tcase_add_loop_test(tc, a_writer_waits_for_a_copy_into_its_memory, 0, 4);
    tcase_add_loop_test(tc, a_copy_that_was_not_begun_is_not_made_for_a_writer,
                        0, 2);
    tcase_add_test(tc, no_copy_begins_where_a_writer_is_about_to_write);
    tcase_add_loop_test(tc, a_writer_at_the_source_does_not_wait, 0, 2);
    return tc;
}

SUITE_MAIN(request)
{
    Suite *suite = suite_create("request");

    suite_add_tcase(suite, copies());
    suite_add_tcase(suite, peers());
    suite_add_tcase(suite, hops());
    suite_add_tcase(suite, old_values());
    return suite_main(suite);
}

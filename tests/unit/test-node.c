/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-node.c - tests of core/data/node.c, memory.c and evict.c: how much a
 * memory node holds, what has to leave it and in which order, which workers are
 * woken for it; and of estimate.c, the expected times of transfers. Node 0 is
 * main memory, 1 and 2 are devices with room for ROOM blocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/data/bus.h"
#include "core/data/data.h"
#include "core/data/nodes.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { ROOM = 4 };

static struct orr_handle *old[ROOM]; /* on node 1, oldest first */
static struct orr_handle *h;         /* in main memory, to be copied there */

/* They are in main memory, too, if they are clean. */
static void open_full(bool peers, bool clean)
{
    const struct fake_spec spec = {
        .ndevices = 2, .peers = peers, .device_bytes = ROOM * FAKE_SIZE};

    fake_open(&spec);
    for (unsigned i = 0; i < ROOM; i++) {
        old[i] = fake_handle(0, FAKE_SIZE);
        fake_task(old[i], clean ? STARPU_R : STARPU_W, 1, 10 + i);
    }
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
    fake.woken = fake.nstarted = 0;
    fake.rt.nodes->nevictions = 0;
}

static void setup_clean(void)
{
    open_full(false, true);
}

static void setup_peers(void)
{
    open_full(true, true);
}

static void setup_dirty(void)
{
    open_full(false, false);
}

static void teardown(void)
{
    fake_close();
}

static bool left(const struct orr_handle *handle)
{
    return !fake_is_allocated(handle, 1);
}

/* Some datum comes to node 1; the evicted one leaves, the kept one stays. */
static void assert_evicts(const struct orr_handle *evicted,
                          const struct orr_handle *kept)
{
    ck_assert(!left(evicted) && !left(kept));
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(left(evicted));
    ck_assert(!left(kept));
    ck_assert(fake_is_valid(kept, 1));
    ck_assert_uint_eq(fake_get(h, 1), 7);
}

/* --- which block leaves --- */

START_TEST(the_oldest_leaves_first)
{
    assert_evicts(old[0], old[ROOM - 1]);
    ck_assert_uint_ge(fake.rt.nodes->nevictions, 1);
    ck_assert_uint_eq(fake.nstarted, 1); /* main memory has it, too */
    ck_assert(fake_is_valid(old[0], 0));
    ck_assert(!fake_is_valid(old[0], 1));
}
END_TEST

START_TEST(who_was_used_again_is_young)
{
    fake_task(old[0], STARPU_R, 1, 0);
    assert_evicts(old[1], old[0]);
}
END_TEST

START_TEST(who_is_used_stays)
{
    struct orr_job *job = fake_submit_one(old[0], STARPU_R);

    ck_assert(fake_fetch(job, 1));
    assert_evicts(old[1], old[0]);
    fake_finish(job, 0);
}
END_TEST

START_TEST(who_is_being_read_by_a_copy_stays)
{
    fake_overwrite(old[0], 1, 5);
    orr_handle_prefetch(&fake.rt, old[0], 2, ORR_PREFETCH);
    fake_progress(2);
    ck_assert_uint_eq(fake.ncopies, 1);
    assert_evicts(old[1], old[0]);
    fake_settle();
}
END_TEST

START_TEST(who_a_copy_is_on_its_way_to_stays)
{
    fake_task(old[0], STARPU_RW, 0, 5); /* what node 1 has is old */
    orr_handle_prefetch(&fake.rt, old[0], 1, ORR_PREFETCH);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    assert_evicts(old[1], old[ROOM - 1]);
    fake_settle();
    ck_assert(fake_is_valid(old[0], 1));
    ck_assert_uint_eq(fake_get(old[0], 1), 5);
}
END_TEST

START_TEST(what_will_not_be_used_leaves_first)
{
    orr_data_wont_use(&fake.rt, old[ROOM - 1]);
    fake_settle();
    assert_evicts(old[ROOM - 1], old[0]);
}
END_TEST

/* Jobs that use it had been submitted before. */
START_TEST(what_was_used_again_is_young)
{
    struct orr_job *job = fake_submit_one(old[ROOM - 1], STARPU_R);

    if (_i)
        ck_assert(fake_fetch(job, 1));
    orr_data_wont_use(&fake.rt, old[ROOM - 1]);
    fake_settle();
    if (!_i)
        ck_assert(fake_fetch(job, 1));
    fake_finish(job, 0);
    assert_evicts(old[0], old[ROOM - 1]);
}
END_TEST

START_TEST(what_is_written_again_is_wanted_again)
{
    orr_data_wont_use(&fake.rt, old[ROOM - 1]);
    fake_task(old[ROOM - 1], STARPU_RW, 1, 5);
    fake_task(old[ROOM - 1], STARPU_R, 0, 0);
    assert_evicts(old[0], old[ROOM - 1]);
}
END_TEST

START_TEST(what_needs_no_copy_leaves_first)
{
    fake_task(old[0], STARPU_RW, 1, 5);
    for (unsigned i = 1; i < ROOM; i++)
        fake_task(old[i], STARPU_R, 1, 0); /* the written one is the oldest */
    fake.nstarted = 0;
    assert_evicts(old[1], old[0]);
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(fake_get(old[0], 1), 5);
}
END_TEST

START_TEST(another_device_is_copy_enough)
{
    fake_task(old[0], STARPU_RW, 1, 5);
    fake_task(old[0], STARPU_R, 2, 0);
    for (unsigned i = 1; i < ROOM; i++)
        fake_task(old[i], STARPU_RW, 1, 5);
    fake.nstarted = 0;
    ck_assert_uint_eq(old[0]->valid, 6);
    assert_evicts(old[0], old[ROOM - 1]);
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(old[0]->valid, 4);
}
END_TEST

START_TEST(an_old_value_needs_no_copy)
{
    for (unsigned i = 0; i < ROOM; i++)
        fake_task(old[i], STARPU_RW, i == 2 ? 0 : 1, 5);
    fake.nstarted = 0;
    assert_evicts(old[2], old[0]);
    ck_assert_uint_eq(fake.nstarted, 1);
}
END_TEST

START_TEST(a_value_that_is_forgotten_needs_no_copy)
{
    for (unsigned i = 0; i < ROOM; i++)
        fake_task(old[i], STARPU_RW, 1, 5);
    orr_data_invalidate(&fake.rt, old[2], true);
    fake.nstarted = 0;
    assert_evicts(old[2], old[0]);
    ck_assert_uint_eq(fake.nstarted, 1);
}
END_TEST

START_TEST(what_has_ended_cannot_leave)
{
    orr_data_unregister_submit(&fake.rt, old[0]);
    ck_assert_uint_eq(fake.bytes[1], (ROOM - 1) * FAKE_SIZE);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert(!left(old[1]));
    fake_task(fake_handle(0, FAKE_SIZE), STARPU_R, 1, 0);
    ck_assert(left(old[1]));
    ck_assert(!left(old[ROOM - 1]));
}
END_TEST

START_TEST(as_many_leave_as_are_needed)
{
    struct orr_handle *large = fake_handle(0, (ROOM - 1) * FAKE_SIZE);

    fake_task(large, STARPU_R, 1, 0);
    for (unsigned i = 0; i < ROOM - 1; i++)
        ck_assert(left(old[i]));
    ck_assert_uint_ge(fake.rt.nodes->nevictions, ROOM - 1);
}
END_TEST

/* The lock of the oldest is another thread's: it is passed over, not waited
 * for. */
START_TEST(who_is_locked_is_passed_over)
{
    struct orr_job *job = fake_submit_one(h, STARPU_R);

    fake_be(fake_driver(2));
    orr_lock(&old[0]->lock);
    fake.held = old[0];
    fake_be(-1);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert(left(old[1]));
    ck_assert(!left(old[0]));
    fake_be(fake_driver(2));
    orr_unlock(&old[0]->lock);
    fake_be(-1);
    fake_settle();
    fake_finish(job, 0);
}
END_TEST

START_TEST(a_dying_handle_keeps_its_block_until_its_end)
{
    struct orr_job *job = fake_submit_one(h, STARPU_R);

    orr_handle_wait_idle(&fake.rt, old[0], true);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert(!left(old[0]));
    ck_assert(left(old[1]));
    fake_finish(job, 0);
    orr_handle_free(old[0]);
    ck_assert_uint_eq(fake.bytes[1], (ROOM - 1) * FAKE_SIZE);
}
END_TEST

/* --- which requests may evict --- */

START_TEST(a_prefetch_evicts_nothing_that_may_be_used)
{
    orr_handle_prefetch(&fake.rt, h, 1, _i ? ORR_PREFETCH : ORR_IDLE_PREFETCH);
    fake_settle();
    ck_assert(left(h));
    for (unsigned i = 0; i < ROOM; i++)
        ck_assert(!left(old[i]));
    fake_assert_idle(h);
}
END_TEST

START_TEST(a_prefetch_evicts_what_is_not_expected_to_be_used)
{
    if (_i)
        orr_data_wont_use(&fake.rt, old[2]);
    else
        fake_task(old[2], STARPU_RW, 0, 5); /* what node 1 has is old */
    fake_settle();
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert(left(old[2]));
    ck_assert(!left(old[0]));
    ck_assert_uint_eq(fake_get(h, 1), 7);
}
END_TEST

/* --- only copies --- */

START_TEST(the_oldest_only_copy_goes_home_first)
{
    struct orr_job *job = fake_submit_one(h, STARPU_R);

    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert_uint_ge(fake.ncopies, 1);
    ck_assert_ptr_eq(
        orr_container(fake.copies[0], struct orr_request, copy)->handle,
        old[0]);
    ck_assert_uint_eq(fake.copies[0]->dst, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(left(old[0]));
    ck_assert_uint_eq(fake_get(old[0], 0), 10);
    ck_assert(!left(old[ROOM - 1]));
    fake_finish(job, 0);
}
END_TEST

/* A value that has no home goes to main memory as well. */
START_TEST(a_value_without_home_is_not_lost)
{
    struct orr_handle *homeless = fake_handle(-1, FAKE_SIZE);
    struct orr_job *job = fake_job(ROOM);

    fake_task(homeless, STARPU_W, 1, 5);
    for (unsigned i = 0; i < ROOM; i++)
        fake_use(job, old[i], STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(left(homeless));
    ck_assert_uint_eq(homeless->valid, 1);
    ck_assert_uint_eq(fake_get(homeless, 0), 5);
    for (unsigned i = 0; i < ROOM; i++)
        ck_assert_uint_eq(fake_get(old[i], 1), 10 + i);
    fake_finish(job, 0);
}
END_TEST

START_TEST(no_value_is_lost_by_however_many)
{
    struct orr_handle *many[20];

    for (unsigned i = 0; i < 20; i++) {
        many[i] = fake_handle(i % 2 ? 0 : -1, FAKE_SIZE);
        fake_task(many[i], STARPU_W, 1 + i % 2, i);
    }
    for (unsigned i = 0; i < 20; i++) {
        fake_task(many[i], STARPU_R, 2 - i % 2, 0);
        ck_assert_uint_eq(fake_get(many[i], 2 - i % 2), i);
    }
}
END_TEST

START_TEST(a_prefetch_sends_nothing_home)
{
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert(left(h));
    ck_assert_uint_eq(fake.nstarted, 0);
}
END_TEST

/* --- memory as such --- */

static int allocate(unsigned node, uintptr_t *ret)
{
    return orr_node_malloc(&fake.rt, node, FAKE_SIZE, true, ret);
}

START_TEST(memory_is_counted_and_limited)
{
    const struct orr_node *node = &fake.rt.nodes->at[2];
    uintptr_t memory[ROOM], more = 1;

    ck_assert_uint_eq(node->capacity, ROOM * FAKE_SIZE);
    for (unsigned i = 0; i < ROOM; i++) {
        ck_assert_int_eq(allocate(2, &memory[i]), 0);
        ck_assert_uint_eq(node->used, (i + 1) * FAKE_SIZE);
    }
    ck_assert_int_eq(allocate(2, &more), -ENOMEM);
    ck_assert_uint_eq(more, 1);
    ck_assert_uint_eq(node->used, ROOM * FAKE_SIZE);
    orr_node_free(&fake.rt, 2, memory[0], FAKE_SIZE);
    ck_assert_int_eq(allocate(2, &memory[0]), 0);
    for (unsigned i = 0; i < ROOM; i++)
        orr_node_free(&fake.rt, 2, memory[i], FAKE_SIZE);
    ck_assert_uint_eq(node->used, 0);
}
END_TEST

START_TEST(what_the_machine_refuses_is_not_counted)
{
    uintptr_t memory = 1;

    fake.no_memory = 4;
    ck_assert_int_eq(allocate(2, &memory), -ENOMEM);
    ck_assert_uint_eq(memory, 1);
    ck_assert_uint_eq(fake.rt.nodes->at[2].used, 0);
    fake.no_memory = 0;
    ck_assert_int_eq(allocate(2, &memory), 0);
    orr_node_free(&fake.rt, 2, memory, FAKE_SIZE);
}
END_TEST

START_TEST(memory_as_such_may_evict)
{
    uintptr_t memory;

    ck_assert_int_eq(allocate(1, &memory), 0);
    ck_assert(left(old[0]));
    ck_assert(!left(old[ROOM - 1]));
    orr_node_free(&fake.rt, 1, memory, FAKE_SIZE);
}
END_TEST

START_TEST(main_memory_has_no_limit_without_a_word)
{
    uintptr_t memory[50];

    for (unsigned i = 0; i < 50; i++)
        ck_assert_int_eq(allocate(0, &memory[i]), 0);
    for (unsigned i = 0; i < 50; i++)
        orr_node_free(&fake.rt, 0, memory[i], FAKE_SIZE);
}
END_TEST

/* What cannot leave at once is on its way when the call returns. */
START_TEST(memory_that_needs_a_copy_is_refused_first)
{
    uintptr_t memory;

    ck_assert_int_eq(allocate(1, &memory), -ENOMEM);
    fake_settle();
    ck_assert(fake_is_valid(old[0], 0));
    ck_assert_int_eq(allocate(1, &memory), 0);
    ck_assert(left(old[0]));
    orr_node_free(&fake.rt, 1, memory, FAKE_SIZE);
}
END_TEST

/* --- blocks --- */

static int new_block(unsigned node, struct orr_block **ret)
{
    return orr_block_new(&fake.rt, h, node, ORR_FETCH, 0, ret);
}

START_TEST(a_block_belongs_to_whom_it_is_given)
{
    struct orr_replicate *replicate = &h->replicates[2];
    struct orr_block *block = NULL, *detached;

    ck_assert_int_eq(new_block(2, &block), 0);
    ck_assert(!fake_is_allocated(h, 2));
    ck_assert_uint_eq(fake.bytes[2], FAKE_SIZE);
    orr_lock(&h->lock);
    orr_block_attach_locked(h, block);
    orr_unlock(&h->lock);
    ck_assert(fake_is_allocated(h, 2) && replicate->allocated);
    fake_set(h, 2, 5);
    orr_lock(&h->lock);
    detached = orr_block_detach_locked(h, 2);
    orr_unlock(&h->lock);
    ck_assert_ptr_eq(detached, block);
    ck_assert(!fake_is_allocated(h, 2) && !replicate->allocated);
    ck_assert_uint_eq(fake.bytes[2], FAKE_SIZE);
    orr_block_free(block);
    ck_assert_uint_eq(fake.bytes[2], 0);
    orr_block_free(NULL);
}
END_TEST

START_TEST(memory_of_the_application_is_not_a_block)
{
    struct orr_block *block;

    orr_lock(&h->lock);
    block = orr_block_detach_locked(h, 0);
    orr_unlock(&h->lock);
    ck_assert_ptr_null(block);
    ck_assert(fake_is_allocated(h, 0));
}
END_TEST

START_TEST(a_block_that_cannot_be_had_leaves_nothing_behind)
{
    struct orr_block *block = (void *)old;
    int err;

    if (_i)
        fake.no_memory = 4;
    else
        (void)fake_refuse(0);
    err = new_block(2, &block);
    (void)fake_refuse(-1);
    ck_assert_int_eq(err, -ENOMEM);
    ck_assert_ptr_eq(block, old);
    ck_assert_uint_eq(fake.bytes[2] + fake.rt.nodes->at[2].used, 0);
}
END_TEST

/* --- main memory in several nodes --- */

static void open_numa(void)
{
    static const struct fake_spec spec = {
        .nram = 2, .ncpus = 3, .ram_bytes = 2 * FAKE_SIZE};

    fake_open(&spec);
    for (unsigned i = 0; i < ROOM; i++)
        old[i] = fake_handle(0, FAKE_SIZE);
    h = fake_handle(0, FAKE_SIZE);
}

/* More data than the node has memory, of which nobody frees any. */
START_TEST(a_task_may_exceed_the_limit_of_main_memory_alone)
{
    struct orr_job *job = fake_job(ROOM);

    for (unsigned i = 0; i < ROOM; i++)
        fake_use(job, old[i], STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake.bytes[1], ROOM * FAKE_SIZE);
    fake_finish(job, 0);
    fake_task(h, STARPU_R, 1, 0);
    ck_assert_uint_le(fake.bytes[1], 2 * FAKE_SIZE);
}
END_TEST

/* What is not for a task may not, anywhere. */
START_TEST(the_limit_of_others_holds)
{
    const struct fake_spec specs[] = {
        {.nram = 2, .ram_bytes = FAKE_SIZE},
        {.nram = 1, .ram_bytes = FAKE_SIZE},
        {.nram = 2, .ndevices = 1, .device_bytes = FAKE_SIZE}};
    unsigned node = specs[_i].nram - 1 + specs[_i].ndevices;
    uintptr_t memory[2];

    fake_close();
    fake_open(&specs[_i]);
    ck_assert_int_eq(allocate(node, &memory[0]), 0);
    ck_assert_int_eq(allocate(node, &memory[1]), -ENOMEM);
    orr_node_free(&fake.rt, node, memory[0], FAKE_SIZE);
}
END_TEST

START_TEST(prefetches_may_not)
{
    for (unsigned i = 0; i < ROOM; i++)
        orr_handle_prefetch(&fake.rt, old[i], 1, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake.bytes[1], 2 * FAKE_SIZE);
}
END_TEST

START_TEST(all_workers_of_a_node_of_main_memory_drive_it)
{
    for (unsigned node = 0; node < 2; node++) {
        ck_assert_uint_eq(fake.rt.nodes->at[node].nprogress, 3);
        ck_assert_uint_eq(fake.rt.nodes->at[node].progress_worker, 3 * node);
    }
}
END_TEST

/* Workers 0 to 2 are progress workers of node 0, the others of node 1: which a
 * request wakes. */
static const struct {
    unsigned node;
    int asleep, fetching;
    unsigned woken;
} drivers[] = {{1, -1, -1, 3}, {1, 4, -1, 4}, {1, 5, 4, 5}, {1, -1, 5, 5},
               {1, 0, 1, 3},   {0, 4, 5, 0},  {0, 2, 1, 2}};

START_TEST(who_has_nothing_to_do_is_woken_or_who_waits_for_data)
{
    unsigned node = drivers[_i].node;
    struct orr_handle *there = fake_handle((int)!node, FAKE_SIZE);

    if (drivers[_i].asleep >= 0)
        orr_worker_fall_asleep(&fake.rt.workers->at[drivers[_i].asleep]);
    if (drivers[_i].fetching >= 0)
        fake.rt.workers->at[drivers[_i].fetching].state = ORR_WORKER_FETCHING;
    orr_handle_prefetch(&fake.rt, there, node, ORR_PREFETCH);
    ck_assert_uint_eq(fake.woken, 1U << drivers[_i].woken);
    fake_settle();
}
END_TEST

/* --- which workers are woken --- */

START_TEST(no_worker_is_woken_for_nothing)
{
    orr_node_kick(&fake.rt, 1);
    orr_nodes_kick(&fake.rt, 7);
    orr_node_freed(&fake.rt, 1);
    ck_assert_uint_eq(fake.woken, 0);
}
END_TEST

START_TEST(a_kick_wakes_the_driver_of_what_is_queued)
{
    orr_handle_prefetch(&fake.rt, h, 2, ORR_PREFETCH);
    fake.woken = 0;
    orr_node_kick(&fake.rt, 1);
    ck_assert_uint_eq(fake.woken, 0);
    orr_nodes_kick(&fake.rt, 7);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(2));
    fake_settle();
}
END_TEST

START_TEST(one_main_memory_has_no_driver)
{
    ck_assert_uint_eq(fake.rt.nodes->at[0].nprogress, 0);
    ck_assert_uint_eq(fake.rt.nodes->at[0].progress_worker, fake.rt.workers->n);
    ck_assert_uint_eq(fake.rt.nodes->at[2].nprogress, 1);
    ck_assert_uint_eq(fake.rt.nodes->at[2].progress_worker,
                      (unsigned)fake_driver(2));
}
END_TEST

/* --- expected times of transfers --- */

/* Latency + 2 · devices · size / bandwidth. */
START_TEST(a_transfer_is_predicted_from_latency_and_bandwidth)
{
    struct orr_bus *bus = orr_bus_find(&fake.rt, 0, 1);

    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 0, 1, 5000), 10 + 20);
    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 1, 1, 5000), 0);
    atomic_store(&bus->ngpus, 1);
    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 0, 1, 5000), 10 + 20);
    orr_nodes_estimate(&fake.rt);
    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 0, 1, 5000), 10 + 10);
    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 0, 2, 5000), 10 + 20);
    fake.machine.bandwidth[1] = (double)NAN;
    orr_nodes_estimate(&fake.rt);
    ck_assert_double_eq(orr_transfer_predict(&fake.rt, 0, 1, 5000), 0);
}
END_TEST

static double time_of(unsigned node, uint32_t mode)
{
    return orr_handle_transfer_time(&fake.rt, h, node, mode);
}

START_TEST(a_value_that_is_there_or_on_its_way_takes_no_time)
{
    const double one = 10 + 4.0 * FAKE_SIZE / 1000;

    ck_assert_double_eq(time_of(0, STARPU_R), 0);
    ck_assert_double_eq_tol(time_of(2, STARPU_R), one, 1e-9);
    ck_assert_double_eq(time_of(2, STARPU_W), 0);
    orr_handle_prefetch(&fake.rt, h, 2, ORR_PREFETCH);
    ck_assert_double_eq(time_of(2, STARPU_R), 0);
    fake_settle();
    ck_assert_double_eq(time_of(2, STARPU_R), 0);
    fake_task(h, STARPU_RW, 2, 0);
    /* Devices have no link here: two transfers. */
    ck_assert_double_eq_tol(time_of(1, STARPU_R), 2 * one, 1e-9);
    fake.rt.nodes->count_write_back = true;
    ck_assert_double_eq_tol(time_of(1, STARPU_RW), 3 * one, 1e-9);
    ck_assert_double_eq_tol(time_of(1, STARPU_R), 2 * one, 1e-9);
}
END_TEST

START_TEST(the_time_of_a_job_is_the_sum_of_its_data)
{
    const double one = 10 + 4.0 * FAKE_SIZE / 1000;
    struct orr_job *job = fake_job(5);

    fake_use(job, h, STARPU_R);
    fake_use(job, old[0], STARPU_R);
    fake_use(job, old[1], STARPU_W);
    fake_use(job, h, STARPU_R);
    fake_use(job, fake_handle(-1, FAKE_SIZE), STARPU_SCRATCH | STARPU_RW);
    (void)orr_job_sort_accesses(job);
    ck_assert_double_eq_tol(orr_job_transfer_time(&fake.rt, job, 2), 2 * one,
                            1e-9);
    ck_assert_double_eq_tol(orr_job_transfer_time(&fake.rt, job, 1), one, 1e-9);
    ck_assert_double_eq(orr_job_transfer_time(&fake.rt, job, 0), 0);
    ck_assert_uint_eq(orr_job_absent(job) & 7, 2 | 4);
}
END_TEST

static TCase *case_of(const char *name, void (*before)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, before, teardown);
    return tc;
}

static TCase *eviction(void)
{
    TCase *tc = case_of("eviction", setup_clean);

    tcase_add_test(tc, the_oldest_leaves_first);
    tcase_add_test(tc, who_was_used_again_is_young);
    tcase_add_test(tc, who_is_used_stays);
    tcase_add_test(tc, who_a_copy_is_on_its_way_to_stays);
    tcase_add_test(tc, what_will_not_be_used_leaves_first);
    tcase_add_loop_test(tc, what_was_used_again_is_young, 0, 2);
    tcase_add_test(tc, what_is_written_again_is_wanted_again);
    tcase_add_test(tc, what_needs_no_copy_leaves_first);
    tcase_add_test(tc, an_old_value_needs_no_copy);
    tcase_add_test(tc, a_value_that_is_forgotten_needs_no_copy);
    tcase_add_test(tc, what_has_ended_cannot_leave);
    tcase_add_test(tc, as_many_leave_as_are_needed);
    tcase_add_test(tc, who_is_locked_is_passed_over);
    tcase_add_test(tc, a_dying_handle_keeps_its_block_until_its_end);
    tcase_add_loop_test(tc, a_prefetch_evicts_nothing_that_may_be_used, 0, 2);
    tcase_add_loop_test(tc, a_prefetch_evicts_what_is_not_expected_to_be_used,
                        0, 2);
    return tc;
}

static TCase *peers(void)
{
    TCase *tc = case_of("peers", setup_peers);

    tcase_add_test(tc, who_is_being_read_by_a_copy_stays);
    tcase_add_test(tc, another_device_is_copy_enough);
    return tc;
}

static TCase *only_copies(void)
{
    TCase *tc = case_of("only copies", setup_dirty);

    tcase_add_test(tc, the_oldest_only_copy_goes_home_first);
    tcase_add_test(tc, a_value_without_home_is_not_lost);
    tcase_add_test(tc, a_prefetch_sends_nothing_home);
    tcase_add_test(tc, no_value_is_lost_by_however_many);
    tcase_add_test(tc, memory_that_needs_a_copy_is_refused_first);
    return tc;
}

static TCase *memory(void)
{
    TCase *tc = case_of("memory", setup_clean);

    tcase_add_test(tc, memory_is_counted_and_limited);
    tcase_add_test(tc, what_the_machine_refuses_is_not_counted);
    tcase_add_test(tc, memory_as_such_may_evict);
    tcase_add_test(tc, main_memory_has_no_limit_without_a_word);
    tcase_add_test(tc, a_block_belongs_to_whom_it_is_given);
    tcase_add_test(tc, memory_of_the_application_is_not_a_block);
    tcase_add_loop_test(tc, a_block_that_cannot_be_had_leaves_nothing_behind, 0,
                        2);
    return tc;
}

static TCase *numa(void)
{
    TCase *tc = case_of("numa", open_numa);

    tcase_add_test(tc, a_task_may_exceed_the_limit_of_main_memory_alone);
    tcase_add_loop_test(tc, the_limit_of_others_holds, 0, 3);
    tcase_add_test(tc, prefetches_may_not);
    tcase_add_test(tc, all_workers_of_a_node_of_main_memory_drive_it);
    tcase_add_loop_test(
        tc, who_has_nothing_to_do_is_woken_or_who_waits_for_data, 0, 7);
    return tc;
}

static TCase *others(void)
{
    TCase *tc = case_of("others", setup_clean);

    tcase_add_test(tc, no_worker_is_woken_for_nothing);
    tcase_add_test(tc, a_kick_wakes_the_driver_of_what_is_queued);
    tcase_add_test(tc, one_main_memory_has_no_driver);
    tcase_add_test(tc, a_transfer_is_predicted_from_latency_and_bandwidth);
    tcase_add_test(tc, a_value_that_is_there_or_on_its_way_takes_no_time);
    tcase_add_test(tc, the_time_of_a_job_is_the_sum_of_its_data);
    return tc;
}

SUITE_MAIN(node)
{
    Suite *suite = suite_create("node");

    suite_add_tcase(suite, eviction());
    suite_add_tcase(suite, peers());
    suite_add_tcase(suite, only_copies());
    suite_add_tcase(suite, memory());
    suite_add_tcase(suite, numa());
    suite_add_tcase(suite, others());
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sharing.c - tests of core/data/sharing.c and partition.c: a
 * block in which pieces of partitioned data live. Node 0 is main memory, 1 and 2
 * are devices with room for ROOM blocks of 64 bytes. Each test runs with each
 * rule of eviction.
 */
#include <starpu_data_filters.h>
#include <string.h>

#include "core/data/data.h"
#include "core/data/nodes.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { ROOM = 4, PARTS = 4, PIECE = FAKE_SIZE / PARTS, NRULES = 3 };

static const struct orr_eviction *const rules[NRULES] = {
    &orr_eviction_lru, &orr_eviction_starpu, &orr_eviction_nextuse};
static struct orr_handle *h;      /* written on node 1, and cut there */
static struct orr_handle **piece; /* its pieces, the first bytes of which … */
static struct orr_handle *rest[ROOM]; /* fill node 1, clean */

static void cut(struct orr_handle *handle, unsigned n)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = n};

    ck_assert_int_eq(
        orr_data_partition(&fake.rt, "starpu_data_partition", handle, &filter),
        0);
}

/* Node 1 has h, in pieces, the values of which are `first` and those behind it. */
static void open_cut(int rule, uint64_t first)
{
    const struct fake_spec spec = {.ndevices = 2,
                                   .device_bytes = ROOM * FAKE_SIZE,
                                   .eviction = rules[rule]};

    fake_open(&spec);
    h = fake_only_on(1, 0);
    cut(h, PARTS);
    piece = h->children;
    for (unsigned i = 0; i < PARTS; i++)
        fake_task(piece[i], STARPU_W, 1, first + i);
    fake.nstarted = 0;
    fake.rt.nodes->nevictions = 0;
}

static void fill(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        rest[i] = fake_handle(0, FAKE_SIZE);
        fake_task(rest[i], STARPU_R, 1, 0);
    }
    fake.nstarted = 0;
    fake.rt.nodes->nevictions = 0;
}

static bool is_there(const struct orr_handle *handle)
{
    return fake_is_allocated(handle, 1);
}

static bool all_there(void)
{
    bool there = is_there(h);

    for (unsigned i = 0; i < PARTS; i++)
        ck_assert(is_there(piece[i]) == there);
    return there;
}

/* A job for which all of node 1 but what it uses must leave. */
static struct orr_job *want(unsigned blocks)
{
    struct orr_job *job = fake_job(blocks);

    for (unsigned i = 0; i < blocks; i++)
        fake_use(job, fake_handle(0, FAKE_SIZE), STARPU_R);
    fake_submit(job);
    return job;
}

/* A job that has a piece there, and has not ended. */
static struct orr_job *keep(struct orr_handle *handle)
{
    struct orr_job *job = fake_submit_one(handle, STARPU_RW);

    ck_assert(fake_fetch(job, 1));
    return job;
}

/* Brings h together on node 0 and ends. */
static void close_with(uint64_t first)
{
    fake.meanwhile = fake_settle;
    orr_data_unpartition(&fake.rt, h, 0);
    for (unsigned i = 0; i < PARTS; i++) {
        uint64_t value;

        memcpy(&value,
               (const char *)orr_handle_pointer(h, 0) + (size_t)i * PIECE,
               sizeof(value));
        ck_assert_uint_eq(value, first + i);
    }
    fake_close();
}

START_TEST(pieces_are_in_the_memory_of_the_whole)
{
    open_cut(_i, 10);
    ck_assert(all_there());
    ck_assert_uint_eq(fake.bytes[1], FAKE_SIZE);
    ck_assert_uint_eq(atomic_load(&fake.rt.nodes->at[1].used), FAKE_SIZE);
    for (unsigned i = 0; i < PARTS; i++) {
        ck_assert(piece[i]->valid == 2 && fake_is_allocated(piece[i], 0));
        ck_assert_ptr_eq(orr_handle_pointer(piece[i], 1),
                         (char *)orr_handle_pointer(h, 1) + (size_t)i * PIECE);
    }
    ck_assert_uint_eq(h->valid, 0);
    fake.meanwhile = fake_settle;
    orr_data_unpartition(&fake.rt, h, 1);
    ck_assert_uint_eq(h->valid, 2);
    ck_assert_uint_eq(fake.nstarted, 0);
    ck_assert_uint_eq(fake_get(h, 1), 10);
    fake_close();
}
END_TEST

START_TEST(a_piece_that_is_used_keeps_all)
{
    struct orr_job *user, *job;

    open_cut(_i, 10);
    user = keep(piece[2]);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert(all_there() && fake_told(job) == 0);
    fake_finish(user, 12);
    fake_settle();
    ck_assert(!all_there() && fake_told(job) == 1);
    ck_assert_uint_eq(fake.rt.nodes->nevictions, 1);
    ck_assert_uint_eq(fake.bytes[1], ROOM * FAKE_SIZE);
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

/* One copy each, side by side, of those that are nowhere else; no sooner. */
START_TEST(pieces_are_written_back_together)
{
    struct orr_job *job;

    open_cut(_i, 10);
    fake_task(piece[PARTS - 1], STARPU_R, 0, 0);
    fake.nstarted = 0;
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert_uint_eq(fake.nstarted, PARTS - 1);
    for (unsigned i = 0; i < PARTS - 1; i++) {
        ck_assert(all_there());
        fake_end_copy(0);
    }
    fake_settle();
    ck_assert(!all_there() && fake_told(job) == 1);
    for (unsigned i = 0; i < PARTS; i++)
        ck_assert_uint_eq(fake_get(piece[i], 0), 10 + i);
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

/* Written back in vain: a job takes one of them meanwhile, and writes it. */
/* The whole, whose interface has allocated it, may leave it before its pieces do. */
START_TEST(what_the_first_has_left_is_evicted_as_well)
{
    struct orr_block *left;
    struct orr_job *job;

    open_cut(_i, 10);
    orr_lock(&h->lock);
    left = orr_block_detach_locked(h, 1);
    orr_unlock(&h->lock);
    ck_assert_ptr_null(left);
    fill(ROOM - 1);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    for (unsigned i = 0; i < PARTS; i++)
        ck_assert(!is_there(piece[i]));
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

START_TEST(a_job_that_comes_meanwhile_keeps_all)
{
    struct orr_job *user, *job;

    open_cut(_i, 10);
    fill(ROOM - 1);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    fake_end_copy(0);
    user = keep(piece[3]);
    fake_settle();
    ck_assert(all_there() && fake_told(job) == 0);
    fake_finish(user, 13);
    fake_settle();
    ck_assert(!all_there() && fake_told(job) == 1);
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

/* Another thread has the lock of one piece for a moment. */
START_TEST(a_piece_that_is_locked_keeps_all_for_a_moment)
{
    struct orr_job *job;

    open_cut(_i, 10);
    for (unsigned i = 0; i < PARTS; i++)
        fake_task(piece[i], STARPU_R, 0, 0);
    fake.held = piece[2];
    piece[2]->lock.taken = 1;
    ck_assert_int_eq(orr_node_reserve(&fake.rt, &fake.rt.nodes->at[1],
                                      (ROOM - 1) * FAKE_SIZE, ORR_FETCH),
                     0);
    ck_assert(all_there());
    ck_assert(!piece[0]->lock.taken && !piece[1]->lock.taken &&
              !piece[3]->lock.taken && !h->lock.taken);
    piece[2]->lock.taken = 0;
    fake.held = NULL;
    orr_node_unreserve(&fake.rt.nodes->at[1], (ROOM - 1) * FAKE_SIZE);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert(!all_there() && fake_told(job) == 1);
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

/* The job uses a piece of the block, which is in its way. */
START_TEST(a_job_gives_up_a_block_for_a_piece_of_it)
{
    struct orr_job *job;

    open_cut(_i, 10);
    job = fake_job(ROOM + 1);
    fake_use(job, piece[1], STARPU_RW);
    for (unsigned i = 1; i < ROOM; i++)
        fake_use(job, fake_handle(0, FAKE_SIZE), STARPU_R);
    fake_use(job, piece[0], STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert(all_there() && fake_told(job) == 1); /* there was room */
    fake_finish(job, 11);

    job = fake_job(ROOM + 1);
    fake_use(job, piece[1], STARPU_RW);
    for (unsigned i = 0; i < ROOM - 1; i++)
        fake_use(job, fake_handle(0, FAKE_SIZE), STARPU_R);
    fake_use(job, fake_handle(0, PIECE), STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(!is_there(h) && is_there(piece[1]) && !is_there(piece[0]));
    ck_assert_uint_eq(atomic_load(&fake.rt.nodes->at[1].used),
                      (ROOM - 1) * FAKE_SIZE + 2 * PIECE);
    fake_run(job, 11);
    fake_end(job);
    close_with(10);
}
END_TEST

static unsigned nwaits;

/* The copy that makes room ends while the application waits for it. */
static void end_write_back(void)
{
    nwaits++;
    ck_assert(!h->partitioned && h->nchildren == 0);
    fake_settle();
}

START_TEST(data_are_not_cut_while_they_are_written_back)
{
    const struct fake_spec spec = {
        .ndevices = 2, .device_bytes = ROOM * FAKE_SIZE, .eviction = rules[_i]};
    struct orr_job *job;

    fake_open(&spec);
    h = fake_only_on(1, 10);
    fill(ROOM - 1);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    nwaits = 0;
    fake.meanwhile = end_write_back;
    cut(h, PARTS);
    ck_assert_uint_gt(nwaits, 0);
    piece = h->children;
    ck_assert_uint_eq(fake_get(piece[0], 0), 10);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    fake.meanwhile = fake_settle;
    orr_data_unpartition(&fake.rt, h, 0);
    fake_close();
}
END_TEST

/* Pieces of pieces live there, too; those that end leave the others. */
START_TEST(pieces_of_pieces_share_the_block)
{
    struct orr_job *user, *job;

    open_cut(_i, 10);
    cut(piece[0], 2);
    ck_assert_uint_eq(piece[0]->children[1]->valid, 2);
    user = keep(piece[0]->children[1]);
    job = want(ROOM);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert(all_there());
    fake_finish(user, 0);
    fake.meanwhile = fake_settle;
    orr_data_unpartition(&fake.rt, piece[0], 1);
    fake_settle();
    ck_assert(!all_there() && fake_told(job) == 1);
    fake_finish(job, 0);
    close_with(10);
}
END_TEST

/* With promises: what one of them is needed for keeps all, as far as others can
 * leave. */
START_TEST(a_piece_that_is_promised_keeps_all)
{
    struct orr_job *user, *job;

    if (!rules[_i]->promises)
        return;
    open_cut(_i, 10);
    fill(ROOM - 1);
    for (unsigned i = 0; i < PARTS; i++)
        fake_task(piece[i], STARPU_R, 0, 0);
    user = fake_submit_one(piece[3], STARPU_R);
    orr_job_prefetch(&fake.rt, user, 1, ORR_PREFETCH);
    job = want(ROOM - 1);
    (void)fake_fetch(job, 1);
    fake_settle();
    ck_assert(all_there() && fake_told(job) <= 1);
    for (unsigned i = 0; i < ROOM - 1; i++)
        ck_assert(!is_there(rest[i]));
    fake_finish(job, 0);
    ck_assert(fake_fetch(user, 1));
    fake_finish(user, 0);
    close_with(10);
}
END_TEST

/* Out of memory while it is cut: as before. */
START_TEST(data_are_cut_or_not)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = PARTS};
    int rc = -1;

    open_cut(_i, 10);
    fake.meanwhile = fake_settle;
    orr_data_unpartition(&fake.rt, h, 1);
    for (long n = 0; rc != 0; n++) {
        long left;

        fake_refuse(n);
        rc = orr_data_partition(&fake.rt, "starpu_data_partition", h, &filter);
        left = fake_refuse(-1);
        ck_assert(left >= 0 || rc != 0);
        ck_assert(rc == 0 || !h->partitioned);
        if (rc != 0)
            ck_assert(h->valid == 2 && fake_get(h, 1) == 10 &&
                      h->replicates[1].refs == 0 && h->nchildren == 0);
    }
    piece = h->children;
    close_with(10);
}
END_TEST

SUITE_MAIN(sharing)
{
    Suite *suite = suite_create("sharing");
    TCase *tc = tcase_create("sharing");

    tcase_add_loop_test(tc, pieces_are_in_the_memory_of_the_whole, 0, NRULES);
    tcase_add_loop_test(tc, a_piece_that_is_used_keeps_all, 0, NRULES);
    tcase_add_loop_test(tc, pieces_are_written_back_together, 0, NRULES);
    tcase_add_loop_test(tc, what_the_first_has_left_is_evicted_as_well, 0,
                        NRULES);
    tcase_add_loop_test(tc, a_job_that_comes_meanwhile_keeps_all, 0, NRULES);
    tcase_add_loop_test(tc, a_piece_that_is_locked_keeps_all_for_a_moment, 0,
                        NRULES);
    tcase_add_loop_test(tc, a_job_gives_up_a_block_for_a_piece_of_it, 0,
                        NRULES);
    tcase_add_loop_test(tc, data_are_not_cut_while_they_are_written_back, 0,
                        NRULES);
    tcase_add_loop_test(tc, pieces_of_pieces_share_the_block, 0, NRULES);
    tcase_add_loop_test(tc, a_piece_that_is_promised_keeps_all, 0, NRULES);
    tcase_add_loop_test(tc, data_are_cut_or_not, 0, NRULES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

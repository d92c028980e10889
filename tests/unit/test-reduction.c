/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-reduction.c - private data of workers: scratch that waits for
 * memory, parts of reductions; who has the data while parts are combined. Here
 * the data have no value of their own and one worker contributes, so that its
 * part is copied and no codelet is called.
 */
#include <stdlib.h>

#include "core/data/reduction.h"
#include "fake_runtime.h"
#include "tests/suite.h"

enum { DEVICE = 1, CPU = 0 }; /* memory nodes */

static struct orr_handle *sum;
static struct starpu_codelet codelet;

static void open_run(void)
{
    static const struct fake_spec spec = {
        .ncpus = 2, .ndevices = 1, .device_bytes = 2 * FAKE_SIZE};

    fake_open(&spec);
    sum = fake_handle(-1, FAKE_SIZE);
    ck_assert_int_eq(
        orr_handle_set_reduction(sum, &codelet, NULL, &codelet, NULL), 0);
}

static void close_run(void)
{
    fake_close();
}

static struct orr_job *contributor(bool ordered)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, sum, STARPU_REDUX)->wants_order = ordered;
    fake_submit(job);
    return job;
}

/* Its kernel runs, as the worker's loop does it; the data are there. */
static void run(struct orr_job *job, unsigned node, uint64_t value)
{
    struct orr_handle *partial = orr_access_datum(&job->accesses[0]);

    ck_assert_ptr_ne(partial, sum);
    if (!partial->valid)
        orr_handle_count_partial(sum);
    fake_run(job, 0);
    fake_set(partial, node, value);
}

static void contribute(unsigned node, uint64_t value)
{
    struct orr_job *job = contributor(true);

    ck_assert_uint_eq(fake_readied(job), 1);
    ck_assert(fake_fetch(job, node) || (fake_settle(), fake_told(job)));
    run(job, node, value);
    fake_end(job);
}

START_TEST(contributions_are_under_way_at_once_and_readers_wait)
{
    struct orr_job *one = contributor(true), *two = contributor(true);
    struct orr_job *reader = fake_submit_one(sum, STARPU_R);
    struct orr_job *another = fake_submit_one(sum, STARPU_R);

    ck_assert_uint_eq(fake_readied(one) + fake_readied(two), 2);
    ck_assert(fake_fetch(one, CPU));
    ck_assert(fake_fetch(two, CPU));
    run(one, CPU, 6);
    run(two, CPU, 7);
    fake_end(two);
    ck_assert_uint_eq(fake_readied(reader), 0);
    ck_assert(!fake_is_valid(sum, CPU));
    fake_end(one);
    ck_assert_uint_eq(fake_readied(reader) + fake_readied(another), 2);
    ck_assert(fake_is_valid(sum, CPU));
    ck_assert_uint_eq(fake_get(sum, CPU), 7);
    ck_assert(!orr_handle_has_partials(sum));
    fake_end(reader);
    fake_end(another);
}
END_TEST

/* Whether the access would have to wait for a claim. */
static bool would_wait(uint32_t mode)
{
    struct orr_access access = {.mode = (uint16_t)mode};
    bool result;

    orr_lock(&sum->lock);
    result = orr_handle_is_claimed_locked(sum, &access);
    orr_unlock(&sum->lock);
    return result;
}

START_TEST(nothing_is_combined_until_it_is_wanted)
{
    contribute(CPU, 5);
    ck_assert(orr_handle_has_partials(sum));
    ck_assert(would_wait(STARPU_R));
    ck_assert(would_wait(STARPU_W));
    ck_assert(!would_wait(STARPU_REDUX));
    ck_assert(fake_will_be_written(sum));
    contribute(CPU, 6);
    fake_task(sum, STARPU_R, CPU, 0);
    ck_assert_uint_eq(fake_get(sum, CPU), 6);
    ck_assert(!would_wait(STARPU_R));
    ck_assert(!fake_will_be_written(sum));
}
END_TEST

/* The sum is copied where it is, and that needs memory there. */
START_TEST(contributions_wait_while_parts_are_combined)
{
    struct orr_handle *other = fake_handle(0, FAKE_SIZE);
    struct orr_job *user, *reader, *late;

    contribute(DEVICE, 9);
    user = fake_ask(other, STARPU_RW, DEVICE);
    fake_settle();
    ck_assert_uint_eq(fake_told(user), 1);
    reader = fake_submit_one(sum, STARPU_R);
    late = contributor(false);
    fake_settle();
    ck_assert_uint_eq(fake_readied(reader) + fake_readied(late), 0);
    fake_finish(user, 1);
    fake_settle();
    ck_assert_uint_eq(fake_readied(reader), 1);
    ck_assert_uint_eq(fake_readied(late), 0);
    ck_assert_uint_eq(fake_get(sum, DEVICE), 9);
    fake_end(reader);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
}
END_TEST

START_TEST(a_part_is_written_back_and_comes_again)
{
    struct orr_handle *others[2] = {fake_handle(0, FAKE_SIZE),
                                    fake_handle(0, FAKE_SIZE)};
    struct orr_handle *partial;
    struct orr_job *job;

    contribute(DEVICE, 11);
    fake_task(others[0], STARPU_RW, DEVICE, 1);
    fake_task(others[1], STARPU_RW, DEVICE, 2);
    job = contributor(true);
    ck_assert(!fake_fetch(job, DEVICE));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    partial = orr_access_datum(&job->accesses[0]);
    ck_assert(fake_is_valid(partial, CPU));
    ck_assert_uint_eq(fake_get(partial, DEVICE), 11);
    run(job, DEVICE, 12);
    ck_assert_uint_eq(partial->valid, 1u << DEVICE);
    fake_end(job);
    job = fake_submit_one(sum, STARPU_R);
    fake_settle();
    ck_assert_uint_eq(fake_readied(job), 1);
    ck_assert_uint_eq(fake_get(sum, DEVICE), 12);
    fake_end(job);
}
END_TEST

START_TEST(a_part_is_as_it_must_be_while_it_is_written)
{
    struct orr_job *job = contributor(true);
    struct orr_handle *partial;

    ck_assert(fake_fetch(job, CPU));
    orr_handle_count_partial(sum);
    orr_job_take_data(&fake.rt, job, CPU);
    partial = orr_access_datum(&job->accesses[0]);
    ck_assert_uint_eq(partial->writing, 1);
    orr_lock(&partial->lock);
    orr_handle_check(partial);
    orr_unlock(&partial->lock);
    run(job, CPU, 6);
    fake_end(job);
    fake_task(sum, STARPU_R, CPU, 0);
}
END_TEST

START_TEST(scratch_waits_for_memory_and_makes_way)
{
    struct orr_handle *scratch = fake_handle(-1, 2 * FAKE_SIZE);
    struct orr_handle *other = fake_handle(0, FAKE_SIZE);
    struct orr_job *user = fake_ask(other, STARPU_RW, DEVICE);
    struct orr_job *job = fake_submit_one(scratch, STARPU_SCRATCH);

    fake_settle();
    ck_assert(!fake_fetch(job, DEVICE));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    fake_finish(user, 3);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert(fake_is_allocated(orr_access_datum(&job->accesses[0]), DEVICE));
    ck_assert(!fake_is_allocated(scratch, DEVICE));
    fake_finish(job, 0);
    fake_task(other, STARPU_R, DEVICE, 0);
    ck_assert_uint_eq(fake_get(other, DEVICE), 3);
}
END_TEST

/* A worker has one of each, and another worker has another. */
START_TEST(private_data_are_a_workers_own)
{
    struct orr_job *first = fake_submit_one(sum, STARPU_SCRATCH);
    struct orr_job *second = fake_submit_one(sum, STARPU_SCRATCH);
    struct orr_job *third = fake_submit_one(sum, STARPU_SCRATCH);
    struct orr_job *fourth = contributor(true);

    (void)fake_fetch(first, CPU);
    (void)fake_fetch(second, CPU);
    (void)fake_fetch(third, DEVICE);
    (void)fake_fetch(fourth, CPU);
    fake_settle();
    ck_assert_ptr_eq(orr_access_datum(&first->accesses[0]),
                     orr_access_datum(&second->accesses[0]));
    ck_assert_ptr_ne(orr_access_datum(&first->accesses[0]),
                     orr_access_datum(&third->accesses[0]));
    ck_assert_ptr_ne(orr_access_datum(&first->accesses[0]),
                     orr_access_datum(&fourth->accesses[0]));
    fake_finish(first, 0);
    fake_finish(second, 0);
    fake_finish(third, 0);
    run(fourth, CPU, 1);
    fake_end(fourth);
}
END_TEST

SUITE_MAIN(reduction)
{
    Suite *suite = suite_create("reduction");
    TCase *tc = tcase_create("reduction");

    tcase_add_checked_fixture(tc, open_run, close_run);
    tcase_add_test(tc, contributions_are_under_way_at_once_and_readers_wait);
    tcase_add_test(tc, nothing_is_combined_until_it_is_wanted);
    tcase_add_test(tc, contributions_wait_while_parts_are_combined);
    tcase_add_test(tc, a_part_is_written_back_and_comes_again);
    tcase_add_test(tc, a_part_is_as_it_must_be_while_it_is_written);
    tcase_add_test(tc, scratch_waits_for_memory_and_makes_way);
    tcase_add_test(tc, private_data_are_a_workers_own);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-hint.c - hints on data that jobs write: fetch.c makes no copy
 * of a value that is changing, and says when a hint has to wait.
 */
#include "core/data/data.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

static struct orr_handle *h;

static void setup(void)
{
    static const struct fake_spec spec = {.ndevices = 2, .peers = true};

    fake_open(&spec);
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
}

static void teardown(void)
{
    fake_close();
}

static struct orr_job *submit_unordered(uint32_t mode)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, h, mode)->wants_order = 0;
    fake_submit(job);
    return job;
}

static const uint32_t writes[] = {STARPU_W, STARPU_RW};

/* Neither for the application nor for a job that waits for the writer. */
START_TEST(what_is_being_written_is_not_copied)
{
    struct orr_job *writer = fake_submit_one(h, writes[_i]), *reader;

    reader = fake_submit_one(h, STARPU_R);
    ck_assert(fake_fetch(writer, 0));
    orr_job_take_data(&fake.rt, writer, 0);
    orr_handle_prefetch(&fake.rt, h, 1, ORR_FETCH);
    orr_job_prefetch(&fake.rt, reader, 2, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    ck_assert_uint_eq(h->valid, 1);
    fake_finish(writer, 8);
    orr_job_prefetch(&fake.rt, reader, 2, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake_get(h, 2), 8);
    ck_assert(fake_fetch(reader, 2));
    fake_finish(reader, 0);
}
END_TEST

/* A copy that was asked for before becomes stale, as ever. */
START_TEST(what_was_asked_for_before_the_writer_began_is_not_kept)
{
    struct orr_job *writer = fake_submit_one(h, writes[_i]);

    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    ck_assert(fake_fetch(writer, 0));
    orr_job_take_data(&fake.rt, writer, 0);
    fake_settle();
    ck_assert_uint_eq(h->valid, 1);
    fake_finish(writer, 8);
}
END_TEST

START_TEST(a_hint_waits_for_a_writer_in_the_order)
{
    struct orr_job *reader = fake_submit_one(h, STARPU_R);
    struct orr_job *writer = fake_submit_one(h, writes[_i]);

    ck_assert(!orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_end(reader);
    ck_assert(!orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_end(writer);
    ck_assert(orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_settle();
    ck_assert(fake_is_valid(h, 1));
}
END_TEST

START_TEST(a_hint_waits_for_who_has_claimed_the_value_to_write)
{
    struct orr_job *writer = submit_unordered(writes[_i]);

    ck_assert_uint_eq(fake_readied(writer), 1);
    ck_assert(!orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_end(writer);
    ck_assert(orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_settle();
    ck_assert(fake_is_valid(h, 1));
}
END_TEST

START_TEST(a_hint_does_not_wait_for_readers)
{
    struct orr_job *ordered = fake_submit_one(h, STARPU_R);
    struct orr_job *unordered = submit_unordered(STARPU_R);

    ck_assert(orr_handle_try_prefetch(&fake.rt, h, 1, ORR_PREFETCH, 0));
    fake_settle();
    ck_assert(fake_is_valid(h, 1));
    fake_end(ordered);
    fake_end(unordered);
}
END_TEST

SUITE_MAIN(hint)
{
    Suite *suite = suite_create("hint");
    TCase *tc = tcase_create("hint");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, what_is_being_written_is_not_copied, 0, 2);
    tcase_add_loop_test(
        tc, what_was_asked_for_before_the_writer_began_is_not_kept, 0, 2);
    tcase_add_loop_test(tc, a_hint_waits_for_a_writer_in_the_order, 0, 2);
    tcase_add_loop_test(tc, a_hint_waits_for_who_has_claimed_the_value_to_write,
                        0, 2);
    tcase_add_test(tc, a_hint_does_not_wait_for_readers);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

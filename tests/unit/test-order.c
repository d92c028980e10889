/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-order.c - tests of core/data/order.c: which jobs that use the
 * same data wait for which, and which become ready when one ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/data/data.h"
#include "core/data/plan.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

#define COMMUTE (STARPU_RW | STARPU_COMMUTE)

static struct orr_handle *a, *b, *c; /* numbered in this order */

static void setup(void)
{
    static const struct fake_spec spec = {.ncpus = 1};

    fake_open(&spec);
    a = fake_handle(0, 64);
    b = fake_handle(0, 64);
    c = fake_handle(0, 64);
}

static void teardown(void)
{
    fake_close();
}

static struct orr_job *submit(uint32_t mode)
{
    return fake_submit_one(a, mode);
}

static struct orr_job *submit_unordered(uint32_t mode)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, a, mode)->wants_order = 0;
    fake_submit(job);
    return job;
}

/* It waits for the job that has the datum, not for those submitted before. */
/* --- which job waits for which --- */

START_TEST(readers_go_together)
{
    struct orr_job *readers[3];

    for (unsigned i = 0; i < 3; i++) {
        readers[i] = submit(STARPU_R);
        ck_assert_uint_eq(fake_readied(readers[i]), 1);
    }
    for (unsigned i = 3; i-- > 0;)
        fake_end(readers[i]);
}
END_TEST

START_TEST(a_writer_waits_for_every_reader_before_it)
{
    struct orr_job *readers[] = {submit(STARPU_R), submit(STARPU_R)};
    struct orr_job *writer = submit(_i < 2 ? STARPU_W : STARPU_RW);

    ck_assert_uint_eq(fake_readied(writer), 0);
    fake_end(readers[_i & 1]);
    ck_assert_uint_eq(fake_readied(writer), 0);
    fake_end(readers[!(_i & 1)]);
    ck_assert_uint_eq(fake_readied(writer), 1);
    fake_end(writer);
}
END_TEST

static const uint32_t all_modes[] = {STARPU_R, STARPU_W, STARPU_RW, COMMUTE};

START_TEST(a_writer_goes_alone)
{
    struct orr_job *writer = submit(STARPU_W);
    struct orr_job *next = submit(all_modes[_i]);

    ck_assert_uint_eq(fake_readied(writer), 1);
    ck_assert_uint_eq(fake_readied(next), 0);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(next), 1);
    fake_end(next);
}
END_TEST

START_TEST(readers_up_to_the_next_writer_go_together_in_their_order)
{
    struct orr_job *first = submit(STARPU_W), *readers[3], *last, *late;

    for (unsigned i = 0; i < 3; i++)
        readers[i] = submit(STARPU_R);
    last = submit(STARPU_W);
    late = submit(STARPU_R);
    fake_end(first);
    ck_assert_uint_eq(fake.nready, 4);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(fake.ready[i + 1], readers[i]->id);
    for (unsigned i = 0; i < 3; i++)
        fake_end(readers[i]);
    ck_assert_uint_eq(fake_readied(last), 1);
    ck_assert_uint_eq(fake_readied(late), 0);
    fake_end(last);
    fake_end(late);
}
END_TEST

/* A reader that is submitted later does not overtake a writer that waits. */
START_TEST(readers_do_not_pass_a_waiting_writer)
{
    struct orr_job *reader = submit(STARPU_R);
    struct orr_job *writer = submit(STARPU_W), *late = submit(STARPU_R);

    ck_assert_uint_eq(fake_readied(late), 0);
    fake_end(reader);
    ck_assert_uint_eq(fake_readied(writer), 1);
    ck_assert_uint_eq(fake_readied(late), 0);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
}
END_TEST

/* 0: all use the data in order; 1: they claim them. */
START_TEST(readers_go_together_with_a_writer_that_goes_on_as_one)
{
    struct orr_job *other = _i ? submit_unordered(STARPU_R) : NULL;
    struct orr_job *writer, *readers[2], *next, *late;
    struct orr_released released;

    if (other)
        fake_end(other);
    writer = submit(STARPU_RW);
    readers[0] = submit(STARPU_R);
    readers[1] = submit(STARPU_R);
    next = submit(STARPU_W);
    ck_assert(fake_fetch(writer, 0));
    orr_job_take_data(&fake.rt, writer, 0);
    orr_job_set_state(writer, ORR_JOB_RUNNING);
    orr_access_share(&writer->accesses[0], &released);
    orr_jobs_release(&fake.rt, NULL, &released);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_eq(fake_readied(readers[i]), 1);
    late = submit(STARPU_R);
    ck_assert_uint_eq(fake_readied(next) + fake_readied(late), 0);
    fake_end(readers[1]);
    fake_end(readers[0]);
    ck_assert_uint_eq(fake_readied(next), 0);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(next), 1);
    fake_end(next);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
}
END_TEST

START_TEST(commuting_writers_go_one_at_a_time_in_their_order)
{
    struct orr_job *writers[4];

    for (unsigned i = 0; i < 4; i++)
        writers[i] = submit(COMMUTE);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(fake.nready, i + 1);
        ck_assert_uint_eq(fake.ready[i], writers[i]->id);
        fake_end(writers[i]);
    }
}
END_TEST

/* --- jobs without order --- */

START_TEST(an_access_without_order_waits_only_for_its_turn)
{
    struct orr_job *writer = submit(STARPU_W), *next = submit(STARPU_W);
    struct orr_job *free_one = submit_unordered(STARPU_RW);

    ck_assert_uint_eq(fake_readied(free_one), 0);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(next) + fake_readied(free_one), 1);
    if (fake_readied(next)) {
        fake_end(next);
        ck_assert_uint_eq(fake_readied(free_one), 1);
        fake_end(free_one);
    } else {
        fake_end(free_one);
        ck_assert_uint_eq(fake_readied(next), 1);
        fake_end(next);
    }
}
END_TEST

START_TEST(scratch_data_have_no_order)
{
    struct orr_job *jobs[2];

    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = submit(STARPU_SCRATCH | STARPU_RW);
        ck_assert_uint_eq(fake_readied(jobs[i]), 1);
    }
    ck_assert(!fake_will_be_written(a));
    for (unsigned i = 0; i < 2; i++)
        fake_end(jobs[i]);
}
END_TEST

/* --- several data in a job --- */

START_TEST(a_job_waits_for_all_its_data_and_is_let_go_once)
{
    struct orr_job *first = fake_submit_one(a, STARPU_W);
    struct orr_job *second = fake_submit_one(b, STARPU_W);
    struct orr_job *job = fake_job(3);

    fake_use(job, a, STARPU_R);
    fake_use(job, b, STARPU_R);
    fake_use(job, c, STARPU_W);
    fake_submit(job);
    fake_end(_i ? first : second);
    ck_assert_uint_eq(fake_readied(job), 0);
    fake_end(_i ? second : first);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
    ck_assert_uint_eq(fake_readied(job), 1);
}
END_TEST

/* Two data, and the job before writes both. */
START_TEST(a_job_that_one_end_frees_twice_over_is_let_go_once)
{
    struct orr_job *jobs[2];

    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = fake_job(2);
        fake_use(jobs[i], i ? a : b, STARPU_RW);
        fake_use(jobs[i], i ? b : a, STARPU_RW);
        fake_submit(jobs[i]);
    }
    ck_assert_uint_eq(fake_readied(jobs[1]), 0);
    fake_end(jobs[0]);
    ck_assert_uint_eq(fake_readied(jobs[1]), 1);
    fake_end(jobs[1]);
}
END_TEST

/* Whatever the order of the buffers: the job submitted first is first. */
START_TEST(jobs_are_let_go_in_the_order_of_submission)
{
    struct orr_job *first = fake_job(3), *next[6];
    struct orr_handle *data[] = {a, b, c};

    for (unsigned i = 0; i < 3; i++)
        fake_use(first, data[(i + _i) % 3], STARPU_W);
    fake_submit(first);
    for (unsigned i = 0; i < 6; i++)
        next[i] = fake_submit_one(data[5 * i % 3], STARPU_R);
    fake_end(first);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_uint_eq(fake.ready[i + 1], next[i]->id);
        fake_end(next[i]);
    }
}
END_TEST

START_TEST(what_leaving_grants_comes_by_number)
{
    struct orr_job *first = fake_job(3), *next[4];
    struct orr_released released;
    struct orr_access *granted;
    uint64_t last = 0;
    unsigned n = 0;

    fake_use(first, a, STARPU_W);
    fake_use(first, b, STARPU_W);
    fake_use(first, c, STARPU_W);
    fake_submit(first);
    next[0] = fake_submit_one(c, STARPU_R);
    next[1] = fake_submit_one(a, STARPU_R);
    next[2] = fake_submit_one(c, STARPU_R);
    next[3] = fake_submit_one(b, STARPU_R);
    orr_job_leave_order(&fake.rt, first, &released);
    granted = released.granted;
    for (; granted; granted = granted->next) {
        ck_assert_uint_gt(granted->job->id, last);
        last = granted->job->id;
        ck_assert_ptr_eq(granted->job, next[n++]);
        orr_job_release(&fake.rt, granted->job);
    }
    ck_assert_uint_eq(n, 4);
    /* The rest of its end: it is in no order any more. */
    first->naccesses = 0;
    fake_end(first);
    for (unsigned i = 0; i < 4; i++)
        fake_end(next[i]);
}
END_TEST

/* --- one datum several times in a job --- */

START_TEST(the_same_datum_twice_is_one_access_with_both_modes)
{
    struct orr_job *before = submit(STARPU_R), *job = fake_job(3), *after;
    struct orr_access *chain;

    fake_use(job, a, _i ? STARPU_W : STARPU_R);
    fake_use(job, b, STARPU_R);
    fake_use(job, a, _i ? STARPU_R : STARPU_W);
    chain = orr_job_sort_accesses(job);
    ck_assert_ptr_eq(chain, &job->accesses[0]);
    ck_assert_uint_eq(chain->mode & STARPU_RW, STARPU_RW);
    ck_assert_ptr_eq(chain->next, &job->accesses[1]);
    ck_assert_ptr_null(chain->next->next);
    fake_submit(job);
    after = submit(STARPU_R);
    ck_assert_uint_eq(fake_readied(job), 0);
    fake_end(before);
    ck_assert_uint_eq(fake_readied(job), 1);
    ck_assert_uint_eq(fake_readied(after), 0);
    fake_end(job);
    ck_assert_uint_eq(fake_readied(after), 1);
    fake_end(after);
}
END_TEST

START_TEST(reading_twice_does_not_write)
{
    struct orr_job *jobs[2];

    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = fake_job(2);
        fake_use(jobs[i], a, STARPU_R);
        fake_use(jobs[i], a, STARPU_R);
        fake_submit(jobs[i]);
        ck_assert_uint_eq(fake_readied(jobs[i]), 1);
    }
    fake_end(jobs[0]);
    fake_end(jobs[1]);
}
END_TEST

/* --- the chain of a job --- */

START_TEST(accesses_are_sorted_by_datum_whatever_the_order_of_buffers)
{
    uint64_t rng = rng_of((uint64_t)_i);
    struct orr_handle *data[12];
    struct orr_job *job = fake_job(24);
    unsigned present = 0, seen = 0;
    const struct orr_access *access;

    for (unsigned i = 0; i < 12; i++)
        data[i] = fake_handle(0, 8);
    for (unsigned i = 0; i < 24; i++) {
        unsigned k = rng_next(&rng) % 12;

        present |= 1U << k;
        fake_use(job, data[k], STARPU_R);
    }
    access = orr_job_sort_accesses(job);
    for (uint64_t last = 0; access; access = access->next) {
        ck_assert_uint_gt(access->handle->id, last);
        last = access->handle->id;
        for (unsigned i = 0; i < access->index; i++)
            ck_assert_ptr_ne(job->accesses[i].handle, access->handle);
        seen |= 1U << (access->handle->id - data[0]->id);
    }
    ck_assert_uint_eq(seen, present);
}
END_TEST

START_TEST(a_job_without_data_has_an_empty_chain)
{
    struct orr_job *job = fake_job(0);

    ck_assert_ptr_null(orr_job_sort_accesses(job));
    fake_submit(job);
    ck_assert_uint_eq(fake_readied(job), 1);
    fake_end(job);
}
END_TEST

/* --- attempts --- */

static const struct orr_job_type of_attempt = {0};

/* A job that uses the datum now, or NULL. */
static struct orr_job *attempt(struct orr_handle *handle, uint32_t mode,
                               bool ordered)
{
    struct orr_job *job = orr_job_new(&fake.rt, &of_attempt, 1);
    struct orr_access *access = &job->accesses[0];

    access->job = job;
    access->handle = handle;
    access->mode = (uint16_t)mode;
    access->wants_order = ordered;
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    if (orr_job_try_order(&fake.rt, job)) {
        atomic_store(&job->waiting, 0);
        orr_job_set_state(job, ORR_JOB_READY);
        return job;
    }
    orr_job_unref(&fake.rt, job);
    return NULL;
}

START_TEST(an_attempt_fails_while_others_are_registered)
{
    struct orr_job *reader = submit(STARPU_R), *writer, *tried;

    ck_assert_ptr_null(attempt(a, STARPU_R, true));
    writer = submit(STARPU_W);
    ck_assert_ptr_null(attempt(a, STARPU_R, true));
    fake_end(reader);
    ck_assert_ptr_null(attempt(a, STARPU_W, true));
    tried = attempt(b, STARPU_W, true);
    ck_assert_ptr_nonnull(tried);
    fake_end(tried);
    fake_end(writer);
    ck_assert_uint_eq(fake.nready, 2); /* a failure leaves nothing */
    fake_assert_idle(a);
}
END_TEST

START_TEST(who_succeeds_holds_up_who_comes_later)
{
    struct orr_job *tried = attempt(a, STARPU_RW, true), *later;

    ck_assert_ptr_nonnull(tried);
    ck_assert_ptr_null(attempt(a, STARPU_R, true));
    later = submit(STARPU_R);
    ck_assert_uint_eq(fake_readied(later), 0);
    fake_end(tried);
    ck_assert_uint_eq(fake_readied(later), 1);
    fake_end(later);
}
END_TEST

START_TEST(attempts_to_read_go_together)
{
    struct orr_job *first = attempt(a, STARPU_R, _i & 1);
    struct orr_job *second = attempt(a, STARPU_R, _i & 2);

    ck_assert(first && second);
    ck_assert_ptr_null(attempt(a, STARPU_W, _i & 1));
    ck_assert_ptr_null(attempt(a, STARPU_W, _i & 2));
    fake_end(first);
    fake_end(second);
    fake_assert_idle(a);
}
END_TEST

/* Claims are asked, too, and taken. */
START_TEST(an_attempt_and_a_job_without_order_exclude_each_other)
{
    struct orr_job *writer = submit_unordered(STARPU_RW), *tried;

    ck_assert_ptr_null(attempt(a, STARPU_R, _i));
    fake_end(writer);
    tried = attempt(a, STARPU_R, _i);
    ck_assert_ptr_nonnull(tried);
    writer = submit_unordered(STARPU_RW);
    ck_assert_uint_eq(fake_readied(writer), 0);
    fake_end(tried);
    ck_assert_uint_eq(fake_readied(writer), 1);
    fake_end(writer);
    fake_assert_idle(a);
}
END_TEST

/* One that required no claims yet: the attempt has passed without a claim. */
START_TEST(an_attempt_that_has_succeeded_is_claimed_belatedly)
{
    struct orr_job *tried = attempt(a, STARPU_RW, true), *writer;

    writer = submit_unordered(STARPU_RW);
    ck_assert_uint_eq(fake_readied(writer), 0);
    fake_end(tried);
    ck_assert_uint_eq(fake_readied(writer), 1);
    fake_end(writer);
}
END_TEST

/* --- questions --- */

START_TEST(what_will_be_written)
{
    struct orr_job *reader, *writer;

    ck_assert(!fake_will_be_written(a));
    reader = submit(STARPU_R);
    ck_assert(!fake_will_be_written(a));
    writer = submit(STARPU_RW);
    ck_assert(fake_will_be_written(a)); /* it waits */
    ck_assert(!fake_will_be_written(b));
    fake_end(reader);
    ck_assert(fake_will_be_written(a)); /* it is ready */
    fake_end(writer);
    ck_assert(!fake_will_be_written(a));
}
END_TEST

/* --- users --- */

START_TEST(a_datum_is_freed_by_the_last_job_that_uses_it)
{
    struct orr_job *ordered = submit(STARPU_R);
    struct orr_job *unordered = submit_unordered(STARPU_R);
    unsigned n = 0;

    orr_data_unregister_submit(&fake.rt, a);
    fake_end(_i ? ordered : unordered);
    orr_list_foreach (link, &fake.rt.data->handles)
        n++;
    ck_assert_uint_eq(n, 3);
    fake_end(_i ? unordered : ordered);
    orr_list_foreach (link, &fake.rt.data->handles) {
        ck_assert_ptr_ne(orr_container(link, struct orr_handle, all), a);
        n--;
    }
    ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(a_datum_that_a_job_has_twice_is_idle_after_its_end)
{
    struct orr_job *job = fake_job(2);

    fake_use(job, a, STARPU_W);
    fake_use(job, a, STARPU_R);
    fake_submit(job);
    fake_end(job);
    orr_handle_wait_idle(&fake.rt, a, false); /* fails if it would park */
}
END_TEST

static struct orr_job *last_user;

static void end_last_user(void)
{
    if (last_user)
        fake_end(last_user);
    last_user = NULL;
}

START_TEST(waiting_for_idle_data_ends_with_their_last_user)
{
    struct orr_job *first = submit(STARPU_R);

    last_user = submit(STARPU_R);
    fake_end(first);
    fake.meanwhile = end_last_user;
    orr_handle_wait_idle(&fake.rt, a, false);
    ck_assert_ptr_null(last_user);
}
END_TEST

/* --- what it may not do --- */

START_TEST(nothing_is_allocated)
{
    struct orr_job *jobs[8];
    struct orr_access *chain;

    for (unsigned i = 0; i < 8; i++) {
        jobs[i] = fake_job(3);
        fake_use(jobs[i], c, i & 1 ? STARPU_R : STARPU_RW);
        fake_use(jobs[i], a, STARPU_R);
        fake_use(jobs[i], c, STARPU_R);
        orr_job_set_state(jobs[i], ORR_JOB_BLOCKED);
        jobs[i]->id = i + 1;
    }
    fake.ntaken = 0;
    fake_refuse(0);
    for (unsigned i = 0; i < 8; i++) {
        chain = orr_job_sort_accesses(jobs[i]);
        orr_job_order(&fake.rt, jobs[i], chain);
        orr_job_release(&fake.rt, jobs[i]);
    }
    for (unsigned i = 0; i < 8; i++)
        fake_end(jobs[i]);
    ck_assert_int_eq(fake_refuse(-1), 0);
    ck_assert_uint_eq(fake.ntaken, 0);
    ck_assert_uint_eq(fake.nready, 8);
}
END_TEST

/* What a thread that has b's lock sees while another one enters the orders of
 * c, a and b. */
static struct {
    bool a_taken, c_taken;
} between;

static void look_between(void)
{
    between.a_taken = a->lock.taken;
    between.c_taken = c->lock.taken;
    fake_be(fake_driver(0));
    orr_unlock(&b->lock);
    fake_be(-1);
    fake.held = NULL;
    fake.meanwhile = NULL;
}

START_TEST(locks_are_taken_by_number_and_kept_to_the_last_entry)
{
    struct orr_job *job = fake_job(3);

    fake_use(job, c, STARPU_R);
    fake_use(job, a, STARPU_R);
    fake_use(job, b, STARPU_R);
    fake_be(fake_driver(0));
    orr_lock(&b->lock);
    fake_be(-1);
    fake.held = b;
    fake.meanwhile = look_between;
    fake_submit(job);
    ck_assert_ptr_null(fake.meanwhile);
    ck_assert(between.a_taken && !between.c_taken);
    ck_assert(!a->lock.taken && !b->lock.taken && !c->lock.taken);
    fake_end(job);
}
END_TEST

/* --- any graph, ended in any legal order --- */

enum { DATA = 5, JOBS = 60, ACCESSES = 4 };

struct member {
    struct orr_job *job;
    uint32_t modes[DATA]; /* of its ordered accesses, together */
    bool ended;
};

static bool must_wait(const struct member *members, unsigned i)
{
    for (unsigned before = 0; before < i; before++)
        for (unsigned k = 0; !members[before].ended && k < DATA; k++)
            if (members[before].modes[k] && members[i].modes[k] &&
                (members[before].modes[k] | members[i].modes[k]) & STARPU_W)
                return true;
    return false;
}

static void submit_some(struct member *member, struct orr_handle **data,
                        uint64_t *rng)
{
    unsigned n = rng_next(rng) % (ACCESSES + 1);

    *member = (struct member){.job = fake_job(n)};
    for (unsigned i = 0; i < n; i++) {
        static const uint32_t modes[] = {STARPU_R, STARPU_R, STARPU_W,
                                         STARPU_RW};
        unsigned k = rng_next(rng) % DATA;
        uint32_t mode = modes[rng_next(rng) % 4];

        fake_use(member->job, data[k], mode);
        member->modes[k] |= mode;
    }
    fake_submit(member->job);
}

static void check_all(const struct member *members, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bool waits = !members[i].ended && must_wait(members, i);

        ck_assert_uint_eq(fake_readied(members[i].job), !waits);
    }
}

/* Ends one of those that may; false when all have ended. */
static bool end_some(struct member *members, unsigned n, uint64_t *rng)
{
    unsigned may[JOBS], nmay = 0, before = fake.nready;
    struct member *member;

    for (unsigned i = 0; i < n; i++)
        if (!members[i].ended && !must_wait(members, i))
            may[nmay++] = i;
    if (nmay == 0)
        return false;
    member = &members[may[rng_next(rng) % nmay]];
    member->ended = true;
    fake_end(member->job);
    for (unsigned i = before + 1; i < fake.nready; i++)
        ck_assert_uint_gt(fake.ready[i], fake.ready[i - 1]);
    return true;
}

START_TEST(any_jobs_wait_for_those_before_that_conflict_and_no_others)
{
    uint64_t rng = rng_of((uint64_t)_i);
    struct orr_handle *data[DATA];
    struct member members[JOBS];
    unsigned n = 0;

    for (unsigned k = 0; k < DATA; k++)
        data[k] = fake_handle(0, 8);
    while (n < JOBS) {
        submit_some(&members[n++], data, &rng);
        check_all(members, n);
        if (rng_next(&rng) % 3 == 0)
            (void)end_some(members, n, &rng);
        check_all(members, n);
    }
    while (end_some(members, n, &rng))
        check_all(members, n);
    for (unsigned i = 0; i < n; i++)
        ck_assert(members[i].ended);
}
END_TEST

SUITE_MAIN(order)
{
    Suite *suite = suite_create("order");
    TCase *tc = tcase_create("order");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, readers_go_together);
    tcase_add_loop_test(tc, a_writer_waits_for_every_reader_before_it, 0, 4);
    tcase_add_loop_test(tc, a_writer_goes_alone, 0, 4);
    tcase_add_test(tc,
                   readers_up_to_the_next_writer_go_together_in_their_order);
    tcase_add_test(tc, readers_do_not_pass_a_waiting_writer);
    tcase_add_loop_test(
        tc, readers_go_together_with_a_writer_that_goes_on_as_one, 0, 2);
    tcase_add_test(tc, commuting_writers_go_one_at_a_time_in_their_order);
    tcase_add_test(tc, an_access_without_order_waits_only_for_its_turn);
    tcase_add_test(tc, scratch_data_have_no_order);
    tcase_add_loop_test(tc, a_job_waits_for_all_its_data_and_is_let_go_once, 0,
                        2);
    tcase_add_test(tc, a_job_that_one_end_frees_twice_over_is_let_go_once);
    tcase_add_loop_test(tc, jobs_are_let_go_in_the_order_of_submission, 0, 3);
    tcase_add_test(tc, what_leaving_grants_comes_by_number);
    tcase_add_loop_test(tc, the_same_datum_twice_is_one_access_with_both_modes,
                        0, 2);
    tcase_add_test(tc, reading_twice_does_not_write);
    tcase_add_loop_test(
        tc, accesses_are_sorted_by_datum_whatever_the_order_of_buffers, 0, 20);
    tcase_add_test(tc, a_job_without_data_has_an_empty_chain);
    tcase_add_test(tc, an_attempt_fails_while_others_are_registered);
    tcase_add_test(tc, who_succeeds_holds_up_who_comes_later);
    tcase_add_loop_test(tc, attempts_to_read_go_together, 0, 4);
    tcase_add_loop_test(
        tc, an_attempt_and_a_job_without_order_exclude_each_other, 0, 2);
    tcase_add_test(tc, an_attempt_that_has_succeeded_is_claimed_belatedly);
    tcase_add_test(tc, what_will_be_written);
    tcase_add_loop_test(tc, a_datum_is_freed_by_the_last_job_that_uses_it, 0,
                        2);
    tcase_add_test(tc, a_datum_that_a_job_has_twice_is_idle_after_its_end);
    tcase_add_test(tc, waiting_for_idle_data_ends_with_their_last_user);
    tcase_add_test(tc, nothing_is_allocated);
    tcase_add_test(tc,
                   locks_are_taken_by_number_and_kept_to_the_last_entry);
    tcase_add_loop_test(
        tc, any_jobs_wait_for_those_before_that_conflict_and_no_others, 0, 30);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-claim.c - who has data whose order of submission does not
 * say it: commuting and unordered accesses. Jobs "run" from the moment they
 * are ready until the test ends them.
 */
#include <stdlib.h>

#include "fake_runtime.h"
#include "tests/rng.h"
#include "tests/suite.h"

#define COMMUTE (STARPU_RW | STARPU_COMMUTE)

static struct orr_handle *a, *b, *c;

static void open_run(void)
{
    static const struct fake_spec spec = {.ncpus = 2};

    fake_open(&spec);
    a = fake_handle(0, FAKE_SIZE);
    b = fake_handle(0, FAKE_SIZE);
    c = fake_handle(0, FAKE_SIZE);
}

static void close_run(void)
{
    fake_close();
}

static struct orr_job *commuter(struct orr_handle *handle, int priority)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, handle, COMMUTE);
    job->priority = priority;
    fake_submit(job);
    return job;
}

static struct orr_job *unordered(struct orr_handle *handle, uint32_t mode)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, handle, mode)->wants_order = 0;
    fake_submit(job);
    return job;
}

/* --- one datum --- */

START_TEST(commuting_writers_come_one_at_a_time)
{
    struct orr_job *jobs[4];

    for (unsigned i = 0; i < 4; i++)
        jobs[i] = commuter(a, 0);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(fake.nready, i + 1);
        ck_assert_uint_eq(fake_readied(jobs[i]), 1);
        fake_end(jobs[i]);
    }
}
END_TEST

START_TEST(the_most_urgent_comes_first_then_the_oldest)
{
    struct orr_job *first = commuter(a, 0), *low = commuter(a, -1);
    struct orr_job *two = commuter(a, 2), *three = commuter(a, 3);
    struct orr_job *other = commuter(a, 2);

    fake_end(first);
    ck_assert_uint_eq(fake_readied(three), 1);
    fake_end(three);
    ck_assert_uint_eq(fake_readied(two), 1);
    fake_end(two);
    ck_assert_uint_eq(fake_readied(other), 1);
    fake_end(other);
    ck_assert_uint_eq(fake_readied(low), 1);
    fake_end(low);
}
END_TEST

START_TEST(commuting_writers_keep_their_place_among_the_others)
{
    struct orr_job *before = fake_submit_one(a, STARPU_RW);
    struct orr_job *one = commuter(a, 0), *two = commuter(a, 0);
    struct orr_job *after = fake_submit_one(a, STARPU_R);

    ck_assert_uint_eq(fake.nready, 1);
    fake_end(before);
    ck_assert_uint_eq(fake_readied(one), 1);
    ck_assert_uint_eq(fake_readied(two), 0);
    fake_end(one);
    ck_assert_uint_eq(fake_readied(after), 0);
    fake_end(two);
    ck_assert_uint_eq(fake_readied(after), 1);
    fake_end(after);
}
END_TEST

/* The order of submission of commuting writers is no dependency. */
START_TEST(commuting_writers_may_depend_on_later_ones)
{
    struct orr_job *late = fake_job(1), *early = fake_job(1);

    fake_use(early, a, COMMUTE);
    fake_use(late, a, COMMUTE);
    ck_assert_int_eq(orr_job_add_dep(&fake.rt, early, late), 0);
    fake_submit(early);
    ck_assert_uint_eq(fake_readied(early), 0);
    fake_submit(late);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
    ck_assert_uint_eq(fake_readied(early), 1);
    fake_end(early);
}
END_TEST

START_TEST(unordered_writers_exclude_each_other_and_readers)
{
    struct orr_job *writer = unordered(a, STARPU_RW);
    struct orr_job *other = unordered(a, STARPU_W);
    struct orr_job *readers[2] = {unordered(a, STARPU_R),
                                  unordered(a, STARPU_R)};

    ck_assert_uint_eq(fake.nready, 1);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(other), 1);
    ck_assert_uint_eq(fake.nready, 2);
    fake_end(other);
    ck_assert_uint_eq(fake.nready, 4);
    fake_end(readers[1]);
    fake_end(readers[0]);
}
END_TEST

/* Readers that keep coming do not hold up a writer. */
START_TEST(a_writer_that_waits_stops_later_readers)
{
    struct orr_job *reader = unordered(a, STARPU_R);
    struct orr_job *writer = unordered(a, STARPU_W);
    struct orr_job *late = unordered(a, STARPU_R);

    ck_assert_uint_eq(fake_readied(late), 0);
    fake_end(reader);
    ck_assert_uint_eq(fake_readied(writer), 1);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
}
END_TEST

START_TEST(what_was_under_way_before_is_claimed_belatedly)
{
    struct orr_job *readers[2] = {fake_submit_one(a, STARPU_R),
                                  fake_submit_one(a, STARPU_R)};
    struct orr_job *writer = unordered(a, STARPU_W);
    struct orr_job *late = fake_submit_one(a, STARPU_R);

    ck_assert_uint_eq(fake.nready, 2);
    fake_end(readers[0]);
    ck_assert_uint_eq(fake_readied(writer), 0);
    fake_end(readers[1]);
    ck_assert_uint_eq(fake_readied(writer), 1);
    ck_assert_uint_eq(fake_readied(late), 0);
    fake_end(writer);
    ck_assert_uint_eq(fake_readied(late), 1);
    fake_end(late);
}
END_TEST

/* Its turn has come on a, but it waits on b: a is free for others. */
START_TEST(a_job_with_predecessors_holds_nothing)
{
    struct orr_job *first = fake_submit_one(b, STARPU_RW);
    struct orr_job *both = fake_job(2), *free_one;

    fake_use(both, a, STARPU_RW);
    fake_use(both, b, STARPU_RW);
    fake_submit(both);
    free_one = unordered(a, STARPU_RW);
    ck_assert_uint_eq(fake_readied(free_one), 1);
    fake_end(first);
    ck_assert_uint_eq(fake_readied(both), 0);
    fake_end(free_one);
    ck_assert_uint_eq(fake_readied(both), 1);
    fake_end(both);
}
END_TEST

/* --- several data --- */

static struct orr_job *both(struct orr_handle *one, struct orr_handle *two)
{
    struct orr_job *job = fake_job(2);

    fake_use(job, one, COMMUTE);
    fake_use(job, two, COMMUTE);
    fake_submit(job);
    return job;
}

START_TEST(a_job_has_all_its_data_or_none)
{
    struct orr_job *holder = commuter(b, 0), *wants = both(a, b);
    struct orr_job *free_one = commuter(a, 0);

    ck_assert_uint_eq(fake_readied(wants), 0);
    ck_assert_uint_eq(fake_readied(free_one), 1);
    fake_end(holder);
    ck_assert_uint_eq(fake_readied(wants), 0);
    fake_end(free_one);
    ck_assert_uint_eq(fake_readied(wants), 1);
    fake_end(wants);
}
END_TEST

/* Neighbours that pass b and c between them never leave both free; in the end
 * the job keeps what it gets. */
START_TEST(no_job_is_passed_over_for_ever)
{
    struct orr_job *on_b = commuter(b, 0), *on_c = commuter(c, 0);
    struct orr_job *wants = both(b, c);
    unsigned rounds = 0;

    while (!fake_readied(wants)) {
        struct orr_job *next_b = commuter(b, 1), *next_c;

        fake_end(on_b);
        on_b = next_b;
        next_c = commuter(c, 1);
        fake_end(on_c);
        on_c = next_c;
        ck_assert_uint_lt(rounds++, 50);
        if (fake_readied(wants))
            break;
        ck_assert_uint_eq(fake_readied(on_b) + fake_readied(on_c) > 0, 1);
    }
    ck_assert_uint_gt(rounds, 1);
    fake_end(wants);
    ck_assert_uint_eq(fake_readied(on_b), 1);
    ck_assert_uint_eq(fake_readied(on_c), 1);
    fake_end(on_b);
    fake_end(on_c);
}
END_TEST

START_TEST(philosophers_all_eat)
{
    enum { N = 5, MEALS = 20 };
    struct orr_handle *fork[N];
    struct orr_job *meal[N * MEALS];
    bool done[N * MEALS] = {false};
    uint64_t seed = (uint64_t)_i + 1;
    unsigned left = N * MEALS;

    for (unsigned i = 0; i < N; i++)
        fork[i] = fake_handle(0, FAKE_SIZE);
    for (unsigned i = 0; i < N * MEALS; i++)
        meal[i] = both(fork[i % N], fork[(i + 1) % N]);
    while (left) {
        unsigned eating = 0, at = (unsigned)(rng_next(&seed) % (N * MEALS));

        for (unsigned i = 0; i < N * MEALS; i++)
            eating += fake_readied(meal[i]) && !done[i];
        ck_assert_uint_ge(eating, 1);
        ck_assert_uint_le(eating, N / 2);
        while (!fake_readied(meal[at]) || done[at])
            at = (at + 1) % (N * MEALS);
        done[at] = true;
        fake_end(meal[at]);
        left--;
    }
}
END_TEST

START_TEST(many_data_are_claimed_in_time_proportional_to_their_number)
{
    enum { N = 2000 };
    static struct orr_handle *many[N];
    struct orr_job *all = fake_job(N), *ones[N / 100];

    for (unsigned i = 0; i < N; i++)
        many[i] = fake_handle(0, FAKE_SIZE);
    for (unsigned i = 0; i < N / 100; i++)
        ones[i] = commuter(many[i * 100 + 99], 0);
    for (unsigned i = 0; i < N; i++)
        fake_use(all, many[i], COMMUTE);
    fake_submit(all);
    for (unsigned i = 0; i < N / 100; i++) {
        ck_assert_uint_eq(fake_readied(all), 0);
        fake_end(ones[i]);
    }
    ck_assert_uint_eq(fake_readied(all), 1);
    ck_assert_uint_le(all->claims.refusals, 8);
    fake_end(all);
}
END_TEST

/* --- any mixture, against what may be under way together --- */

enum { NHANDLES = 5, NJOBS = 60 };

struct use {
    unsigned handle;
    bool writes;
};

struct drawn {
    struct orr_job *job;
    struct use uses[3];
    unsigned n;
    bool ended;
};

static bool conflict(const struct drawn *x, const struct drawn *y)
{
    for (unsigned i = 0; i < x->n; i++)
        for (unsigned j = 0; j < y->n; j++)
            if (x->uses[i].handle == y->uses[j].handle &&
                (x->uses[i].writes || y->uses[j].writes))
                return true;
    return false;
}

static void draw(struct drawn *d, struct orr_handle **handles, uint64_t *seed)
{
    static const uint32_t modes[] = {
        STARPU_R, STARPU_W, STARPU_RW, COMMUTE, STARPU_W | STARPU_COMMUTE,
        COMMUTE};

    *d = (struct drawn){.n = 1 + (unsigned)(rng_next(seed) % 3)};
    d->job = fake_job(d->n);
    d->job->priority = (int)(rng_next(seed) % 3);
    for (unsigned i = 0; i < d->n; i++) {
        uint32_t mode = modes[rng_next(seed) % 6];
        unsigned h = (unsigned)(rng_next(seed) % NHANDLES);

        fake_use(d->job, handles[h], mode)->wants_order =
            rng_next(seed) % 3 > 0;
        d->uses[i] = (struct use){h, (mode & STARPU_W) != 0};
    }
}

static bool runs(const struct drawn *d)
{
    return fake_readied(d->job) && !d->ended;
}

START_TEST(those_that_conflict_are_never_under_way_together)
{
    struct orr_handle *handles[NHANDLES];
    struct drawn jobs[NJOBS];
    uint64_t seed = (uint64_t)_i * 7919 + 1;
    unsigned submitted = 0, ended = 0;

    for (unsigned h = 0; h < NHANDLES; h++)
        handles[h] = fake_handle(0, FAKE_SIZE);
    while (ended < NJOBS) {
        unsigned at, nrunning = 0;

        if (submitted < NJOBS && rng_next(&seed) % 2) {
            draw(&jobs[submitted], handles, &seed);
            fake_submit(jobs[submitted++].job);
        }
        for (unsigned i = 0; i < submitted; i++)
            for (unsigned j = 0; j < i; j++)
                ck_assert(!runs(&jobs[i]) || !runs(&jobs[j]) ||
                          !conflict(&jobs[i], &jobs[j]));
        for (unsigned h = 0; h < NHANDLES; h++) {
            orr_lock(&handles[h]->lock);
            orr_handle_check(handles[h]);
            orr_unlock(&handles[h]->lock);
        }
        for (unsigned i = 0; i < submitted; i++)
            nrunning += runs(&jobs[i]);
        ck_assert(nrunning > 0 || ended == submitted);
        if (!nrunning || rng_next(&seed) % 3 == 0)
            continue;
        at = (unsigned)(rng_next(&seed) % submitted);
        while (!runs(&jobs[at]))
            at = (at + 1) % submitted;
        jobs[at].ended = true;
        ended++;
        fake_end(jobs[at].job);
    }
}
END_TEST

SUITE_MAIN(claim)
{
    Suite *suite = suite_create("claim");
    TCase *tc = tcase_create("one datum");

    tcase_add_checked_fixture(tc, open_run, close_run);
    tcase_add_test(tc, commuting_writers_come_one_at_a_time);
    tcase_add_test(tc, the_most_urgent_comes_first_then_the_oldest);
    tcase_add_test(tc, commuting_writers_keep_their_place_among_the_others);
    tcase_add_test(tc, commuting_writers_may_depend_on_later_ones);
    tcase_add_test(tc, unordered_writers_exclude_each_other_and_readers);
    tcase_add_test(tc, a_writer_that_waits_stops_later_readers);
    tcase_add_test(tc, what_was_under_way_before_is_claimed_belatedly);
    tcase_add_test(tc, a_job_with_predecessors_holds_nothing);
    suite_add_tcase(suite, tc);
    tc = tcase_create("several data");
    tcase_add_checked_fixture(tc, open_run, close_run);
    tcase_add_test(tc, a_job_has_all_its_data_or_none);
    tcase_add_test(tc, no_job_is_passed_over_for_ever);
    tcase_add_loop_test(tc, philosophers_all_eat, 0, 5);
    tcase_add_test(tc,
                   many_data_are_claimed_in_time_proportional_to_their_number);
    suite_add_tcase(suite, tc);
    tc = tcase_create("mixtures");
    tcase_add_checked_fixture(tc, open_run, close_run);
    tcase_add_loop_test(tc, those_that_conflict_are_never_under_way_together, 0,
                        60);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-coherency.c - a test of core/data as a whole: random jobs on
 * small devices, in any order that is allowed, with prefetches, values that are
 * not needed any more and copies that end at any time. A reader finds what was
 * written last before it in the order of submission, no device holds more than
 * it may, no job waits for ever. Seeded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/data/data.h"
#include "core/data/nodes.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/fake_runtime.h"

enum { DATA = 8, JOBS = 150, ACCESSES = 3 };

struct datum {
    struct orr_handle *handle;
    uint64_t value; /* that the last job submitted so far leaves; 0: none yet */
};

/* A job, and what it has to find and to write. */
struct member {
    struct orr_job *job;
    struct datum *data[ACCESSES];
    uint32_t modes[ACCESSES];
    uint64_t finds[ACCESSES], writes;
    unsigned node;
};

static uint64_t rng;
static struct datum data[DATA];
static struct member members[JOBS];
static unsigned nmembers, nended;
static struct member *running[FAKE_NODES]; /* one job at a time in each node */

static unsigned upto(unsigned n)
{
    return (unsigned)(rng_next(&rng) % n);
}

/* --- the machine --- */

static const struct fake_spec specs[] = {
    {.ndevices = 2, .device_bytes = 4 * FAKE_SIZE},
    {.ndevices = 3, .device_bytes = 4 * FAKE_SIZE, .peers = true},
    {.ndevices = 3, .device_bytes = 4 * FAKE_SIZE, .simulated = true},
    {.nram = 3, .ncpus = 2},
    {.nram = 2,
     .ncpus = 1,
     .ndevices = 2,
     .device_bytes = 4 * FAKE_SIZE,
     .simulated = true},
};
enum { SPECS = sizeof(specs) / sizeof(*specs), ROUNDS = 120 };

static void setup_data(void)
{
    nmembers = nended = 0;
    for (unsigned n = 0; n < FAKE_NODES; n++)
        running[n] = NULL;
    for (unsigned k = 0; k < DATA; k++) {
        int home = upto(3) ? (int)upto(fake.rt.nodes->nram) : -1;

        data[k].handle = fake_handle(home, FAKE_SIZE);
        data[k].value = 0;
        if (home >= 0)
            fake_set(data[k].handle, (unsigned)home, data[k].value = 1000 + k);
    }
}

/* --- jobs --- */

/* A job that only writes a datum that has a value would not wait for a copy of
 * that value which is on its way to the same memory. */
static uint32_t some_mode(const struct datum *datum)
{
    if (!datum->value)
        return STARPU_W;
    return upto(2) ? STARPU_R : STARPU_RW;
}

static bool has(const struct member *member, unsigned n,
                const struct datum *datum)
{
    while (n-- > 0)
        if (member->data[n] == datum)
            return true;
    return false;
}

static void submit(void)
{
    struct member *member = &members[nmembers++];
    unsigned n = 1 + upto(ACCESSES);

    *member = (struct member){.job = fake_job(n), .writes = nmembers};
    member->node = upto(fake.rt.nodes->n);
    for (unsigned i = 0; i < n; i++) {
        struct datum *datum = &data[upto(DATA)];

        if (has(member, i, datum))
            break;
        member->data[i] = datum;
        member->modes[i] = some_mode(datum);
        member->finds[i] = datum->value;
        fake_use(member->job, datum->handle, member->modes[i]);
    }
    for (unsigned i = 0; i < ACCESSES && member->data[i]; i++)
        if (member->modes[i] & STARPU_W)
            member->data[i]->value = member->writes;
    fake_submit(member->job);
}

static void check_values(const struct member *member)
{
    for (unsigned i = 0; i < ACCESSES && member->data[i]; i++)
        if (member->modes[i] & STARPU_R)
            ck_assert_uint_eq(fake_get(member->data[i]->handle, member->node),
                              member->finds[i]);
}

static void finish(struct member *member)
{
    struct orr_job *job = member->job;

    ck_assert_uint_le(fake_told(job), 1);
    check_values(member);
    fake_run(job, member->writes);
    fake_end(job);
    running[member->node] = NULL;
    nended++;
}

/* Takes some ready job whose node is free; returns whether there was one. */
static bool begin(void)
{
    unsigned first = upto(JOBS);

    for (unsigned i = 0; i < nmembers; i++) {
        struct member *member = &members[(first + i) % nmembers];

        if (orr_job_state(member->job) != ORR_JOB_READY ||
            running[member->node])
            continue;
        running[member->node] = member;
        (void)fake_fetch(member->job, member->node);
        return true;
    }
    return false;
}

/* Ends the job of some node whose data are there. */
static bool end(void)
{
    unsigned first = upto(FAKE_NODES);

    for (unsigned i = 0; i < FAKE_NODES; i++) {
        struct member *member = running[(first + i) % FAKE_NODES];

        if (!member || atomic_load(&member->job->data.pending) != 0)
            continue;
        finish(member);
        return true;
    }
    return false;
}

/* --- what happens beside them --- */

static void prefetch(void)
{
    struct orr_handle *handle = data[upto(DATA)].handle;
    unsigned node = upto(fake.rt.nodes->n);

    orr_handle_prefetch(&fake.rt, handle, node,
                        (enum orr_fetch_level)upto(ORR_FETCH_LEVELS));
}

/* The policy has put some job that is ready on a node, maybe another than that
 * which takes it. */
static void prefetch_job(void)
{
    const struct member *member = &members[upto(JOBS) % (nmembers + 1)];
    unsigned node = upto(2) ? member->node : upto(fake.rt.nodes->n);

    if (member < members + nmembers &&
        orr_job_state(member->job) == ORR_JOB_READY)
        orr_job_prefetch(&fake.rt, member->job, node, ORR_PREFETCH);
}

static void progress(void)
{
    unsigned node = upto(fake.rt.nodes->n);

    if (fake_driver(node) >= 0)
        fake_progress(node);
}

static void step(void)
{
    switch (upto(9)) {
    case 0:
    case 1:
        if (nmembers < JOBS)
            submit();
        break;
    case 2:
        (void)begin();
        break;
    case 3:
        (void)end();
        break;
    case 4:
        prefetch();
        break;
    case 5:
        progress();
        break;
    case 6:
        if (fake.ncopies)
            fake_end_copy(upto(fake.ncopies));
        break;
    case 7:
        if (upto(10) == 0)
            orr_data_wont_use(&fake.rt, data[upto(DATA)].handle);
        break;
    case 8:
        prefetch_job();
        break;
    }
}

/* --- invariants of each datum, whatever is under way --- */

static void check_datum(const struct datum *datum)
{
    const struct orr_handle *handle = datum->handle;
    uint64_t value = 0;

    ck_assert_uint_eq(handle->valid & ~handle->allocated, 0);
    for (unsigned node = 0; node < fake.rt.nodes->n; node++) {
        if (!fake_is_valid(handle, node))
            continue;
        if (!value)
            value = fake_get(handle, node);
        ck_assert_uint_eq(fake_get(handle, node), value);
    }
}

START_TEST(who_reads_finds_what_was_written_last)
{
    struct fake_spec spec = specs[_i % SPECS];

    rng = rng_of((uint64_t)_i);
    spec.eviction = _i / SPECS % 2 ? &orr_eviction_starpu : &orr_eviction_lru;
    fake_open(&spec);
    setup_data();
    while (nmembers < JOBS) {
        step();
        for (unsigned k = 0; k < DATA; k++)
            check_datum(&data[k]);
    }
    while (nended < JOBS) {
        bool any = begin();

        fake_settle();
        any |= end();
        ck_assert_msg(any, "seed %d: %u of %u jobs have ended, the rest waits",
                      _i, nended, nmembers);
    }
    fake_settle();
    for (unsigned k = 0; k < DATA; k++)
        if (data[k].value) {
            fake_task(data[k].handle, STARPU_R, 0, 0);
            ck_assert_uint_eq(fake_get(data[k].handle, 0), data[k].value);
        }
    fake_close();
}
END_TEST

/* A prefetch comes when it likes, and what a writer leaves is not there yet:
 * what was copied before its end would be taken for its value. */
START_TEST(nothing_is_prefetched_while_it_is_written)
{
    struct orr_handle *handle;
    struct orr_job *job;

    fake_open(&specs[0]);
    handle = fake_handle(0, FAKE_SIZE);
    job = fake_submit_one(handle, STARPU_RW);
    ck_assert(fake_fetch(job, 0));
    orr_job_take_data(&fake.rt, job, 0);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    orr_handle_prefetch(&fake.rt, handle, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert(!fake_is_valid(handle, 1));
    fake_set(handle, 0, 7);
    orr_job_drop_data(&fake.rt, job);
    fake_end(job);
    fake_task(handle, STARPU_R, 1, 0);
    ck_assert_uint_eq(fake_get(handle, 1), 7);
    fake_close();
}
END_TEST

SUITE_MAIN(coherency)
{
    Suite *suite = suite_create("coherency");
    TCase *tc = tcase_create("coherency");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, who_reads_finds_what_was_written_last, 0, ROUNDS);
    tcase_add_test(tc, nothing_is_prefetched_while_it_is_written);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

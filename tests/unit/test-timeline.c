/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-timeline.c - the order of a record's moments: records by chance,
 * beside a comparison of all that decides it. One thread.
 */
#include "core/observe/timeline.h"

#include <check.h>
#include <stdlib.h>

#include "core/device/machine.h"
#include "core/observe/record.h"
#include "tests/rng.h"
#include "tests/suite.h"

static struct orr_worker_desc workers[] = {
    {.node = 0, .cpu = 0, .name = "CPU 0"},
    {.node = 0, .cpu = 1, .name = "CPU 1"},
    {.node = 1, .cpu = -1, .name = "CUDA 0"},
};
static const struct orr_machine machine = {
    .nnodes = 2, .row = 2, .nworkers = 3, .workers = workers};

/* Whether x is to come before y, which is another moment. */
static bool comes_before(const struct orr_moment *x, const struct orr_moment *y)
{
    if (x->time < y->time || x->time > y->time)
        return x->time < y->time;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence;
    return x->end < y->end;
}

/* Times as simulations have them, or of any size, negative ones and zeros, often
 * equal. */
static double some_time(uint64_t *state, double *now)
{
    switch (rng_next(state) % 6) {
    case 0:
        return *now;
    case 1:
        return *now - rng_uniform(state);
    case 2:
        return (double)(rng_next(state) % 5) - 2;
    case 3:
        return rng_next(state) % 2 ? -0.0 : 0.0;
    case 4:
        return ldexp(rng_uniform(state) - 0.5,
                     (int)(rng_next(state) % 200) - 100);
    default:
        *now += rng_uniform(state);
        return *now;
    }
}

static void record(struct orr_trace *trace, uint64_t *state, double *now)
{
    unsigned worker = rng_next(state) % 4;
    double start = some_time(state, now);

    if (worker == machine.nworkers)
        worker = ORR_TRACE_OUTSIDE;
    if (rng_next(state) % 2) {
        struct orr_trace_task task = {
            .name = "task", .start = start, .end = some_time(state, now)};

        if (task.end < task.start)
            task.end = task.start;
        orr_trace_record_task(trace, worker, &task);
    } else {
        orr_trace_record_count(trace, worker, ORR_TRACE_NREADY, 1, 0, start);
    }
}

static double time_of(const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    if (event->type == ORR_EVENT_COUNT)
        return event->u.count.time;
    return moment->end ? event->u.task.end : event->u.task.start;
}

static void check_order(uint64_t seed)
{
    uint64_t state = rng_of(seed);
    unsigned n = rng_next(&state) % 3000;
    struct orr_timeline line;
    struct orr_trace *trace;
    double now = 0;
    size_t ends = 0;

    ck_assert_int_eq(orr_trace_new(&machine, 0.0, &trace), 0);
    for (unsigned i = 0; i < n; i++)
        record(trace, &state, &now);
    ck_assert_int_eq(orr_timeline_init(trace, &line), 0);
    ck_assert_uint_eq(line.n, n + line.ntasks);
    for (size_t i = 0; i < line.n; i++) {
        const struct orr_moment *moment = &line.moments[i];

        ends += moment->end;
        /* Assertions that hold cost more than all of the rest. */
        if (moment->time != time_of(moment) ||
            (i > 0 && !comes_before(&moment[-1], moment)))
            ck_abort_msg("seed %llu: moment %zu of %zu",
                         (unsigned long long)seed, i, line.n);
    }
    ck_assert_uint_eq(ends, line.ntasks);
    orr_timeline_done(&line);
    orr_trace_free(trace);
}

START_TEST(moments_of_any_record_are_in_order)
{
    for (uint64_t seed = 1; seed <= 100; seed++)
        check_order(seed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tests = tcase_create("timeline");

    tcase_add_test(tests, moments_of_any_record_are_in_order);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

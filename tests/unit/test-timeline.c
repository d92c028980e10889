/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-timeline.c - the order of a record's moments: records by chance,
 * beside a comparison of all that decides it. One thread.
 */
#include "core/observe/timeline.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/machine.h"
#include "core/observe/trace_record.h"
#include "core/observe/trace_record_private.h"
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

/* One event of the i-th kind, which is known again by `i`. */
static void record_kind(struct orr_trace *trace, unsigned i)
{
    double time = i;

    switch (i % 12) {
    case ORR_EVENT_TASK:
        orr_trace_record_task(trace, 0,
                              &(struct orr_trace_task){.name = "task",
                                                       .start = time,
                                                       .end = time,
                                                       .job = i,
                                                       .gflop = i});
        break;
    case ORR_EVENT_STATE:
        orr_trace_record_state(trace, 0, ORR_TRACE_FETCHING, time);
        break;
    case ORR_EVENT_COPY:
        orr_trace_record_copy(trace, 0,
                              &(struct orr_trace_copy){.name = "datum",
                                                       .start = time,
                                                       .end = time,
                                                       .job = i,
                                                       .handle = i});
        break;
    case ORR_EVENT_COUNT:
        orr_trace_record_count(trace, 0, ORR_TRACE_NREADY, 1, i, time);
        break;
    case ORR_EVENT_MEMORY:
        orr_trace_record_memory(trace, 0, 1, i, time);
        break;
    case ORR_EVENT_MARK:
        orr_trace_record_mark(trace, 0, "mark", true, time);
        break;
    case ORR_EVENT_SUSPENSION:
        orr_trace_record_suspension(trace, 0, i, time, time);
        break;
    case ORR_EVENT_STEAL:
        orr_trace_record_steal(trace, 0, 1, i, time);
        break;
    case ORR_EVENT_ALLOCATION:
        orr_trace_record_allocation(trace, 0, 1, true, i, time, time);
        break;
    case ORR_EVENT_MESSAGE:
        orr_trace_record_message(trace,
                                 &(struct orr_trace_message){.name = "datum",
                                                             .start = time,
                                                             .end = time,
                                                             .tag = i});
        break;
    case ORR_EVENT_CLOCKS:
        orr_trace_record_clocks(trace,
                                &(struct orr_clocks_told){.start = time,
                                                          .end = time,
                                                          .offset = i});
        break;
    default:
        orr_trace_record_application(trace, ORR_TRACE_OWN, NULL, time, time);
    }
}

/* Whether the last thing that the event has is what was recorded. */
static bool is_kind(const struct orr_event *event, unsigned i)
{
    if ((unsigned)event->type != i % 12)
        return false;
    switch (event->type) {
    case ORR_EVENT_TASK:
        return event->u.task.job == i && !strcmp(event->u.task.name, "task") &&
               (unsigned)event->u.task.gflop == i &&
               (unsigned)event->u.task.end == i;
    case ORR_EVENT_STATE:
        return event->which == ORR_TRACE_FETCHING &&
               (unsigned)event->u.state.time == i;
    case ORR_EVENT_COPY:
        return event->u.copy.job == i && event->u.copy.handle == i &&
               (unsigned)event->u.copy.end == i;
    case ORR_EVENT_COUNT:
        return event->u.count.job == i && event->step == 1 &&
               (unsigned)event->u.count.time == i;
    case ORR_EVENT_MEMORY:
        return event->u.memory.change == i &&
               (unsigned)event->u.memory.time == i;
    case ORR_EVENT_MARK:
        return !strcmp(event->u.mark.text, "mark") && event->u.mark.numbered &&
               (unsigned)event->u.mark.time == i;
    case ORR_EVENT_SUSPENSION:
        return event->u.suspension.job == i &&
               (unsigned)event->u.suspension.end == i;
    case ORR_EVENT_STEAL:
        return event->u.steal.job == i && (unsigned)event->u.steal.time == i;
    case ORR_EVENT_ALLOCATION:
        return event->u.allocation.size == i && event->u.allocation.frees &&
               (unsigned)event->u.allocation.end == i;
    case ORR_EVENT_APPLICATION:
        return event->u.application.doing == ORR_TRACE_OWN &&
               (unsigned)event->u.application.end == i;
    case ORR_EVENT_MESSAGE:
        return !strcmp(event->u.message.name, "datum") &&
               event->u.message.tag == (int64_t)i &&
               (unsigned)event->u.message.end == i;
    case ORR_EVENT_CLOCKS:
        return (unsigned)event->u.clocks.offset == i &&
               (unsigned)event->u.clocks.end == i;
    }
    return false;
}

/* Each is as long as what it has; chunks end anywhere among them. */
START_TEST(events_of_all_kinds_are_read_as_they_were_recorded)
{
    enum { N = 9000 };
    struct orr_timeline line;
    struct orr_trace *trace;
    unsigned next = 0;

    ck_assert_int_eq(orr_trace_new(&machine, 0.0, &trace), 0);
    for (unsigned i = 0; i < N; i++)
        record_kind(trace, i);
    ck_assert_int_eq(orr_timeline_init(trace, &line), 0);
    for (size_t m = 0; m < line.n; m++)
        if (!line.moments[m].end && !is_kind(line.moments[m].event, next++))
            ck_abort_msg("event %u is another one", next - 1);
    ck_assert_uint_eq(next, N);
    ck_assert_uint_eq(line.ntasks, N / 12);
    orr_timeline_done(&line);
    orr_trace_free(trace);
}
END_TEST

/* Events as a simulation records them: what goes on begins before all that is recorded
 * meanwhile. */
struct run {
    struct orr_trace *trace;
    uint64_t state;
    double now;
    double starts[5]; /* of what goes on, INFINITY: nothing */
};

static void go_on(struct run *run)
{
    unsigned i = rng_next(&run->state) % 5;
    struct orr_trace_task task = {.name = "task", .end = run->now};

    if (rng_next(&run->state) % 2)
        run->now += rng_uniform(&run->state);
    if (rng_next(&run->state) % 2) {
        orr_trace_record_count(run->trace, i, ORR_TRACE_NREADY, 1, 0, run->now);
    } else if (run->starts[i] > run->now) {
        run->starts[i] = run->now;
    } else {
        task.start = run->starts[i];
        task.end = run->now;
        orr_trace_record_task(run->trace, i, &task);
        run->starts[i] = (double)INFINITY;
    }
}

static double settled(const struct run *run)
{
    double until = run->now;

    for (unsigned i = 0; i < 5; i++)
        until = fmin(until, run->starts[i]);
    return until;
}

static bool are_equal(const struct orr_moment *x, const struct orr_moment *y)
{
    return !(x->time < y->time) && !(x->time > y->time) &&
           x->buffer == y->buffer && x->sequence == y->sequence &&
           x->end == y->end && x->event == y->event;
}

/* Reads some more, which must be what follows in the order of all. */
static void read_part(struct orr_timeline_reader *reader, double until,
                      struct orr_moment *all, size_t *n)
{
    struct orr_timeline part;

    ck_assert_int_eq(orr_timeline_read(reader, until, &part), 0);
    for (size_t i = 0; i < part.n; i++) {
        ck_assert(part.moments[i].time < until);
        all[(*n)++] = part.moments[i];
    }
    ck_assert(*n <= 40000);
    orr_timeline_done(&part);
}

static void check_parts(uint64_t seed)
{
    struct run run = {.state = rng_of(seed)};
    unsigned n = rng_next(&run.state) % 5000, often;
    struct orr_moment *all = calloc(40000, sizeof(*all));
    struct orr_timeline_reader reader;
    struct orr_timeline line;
    size_t nall = 0;

    often = 1 + rng_next(&run.state) % 2000;
    for (unsigned i = 0; i < 5; i++)
        run.starts[i] = (double)INFINITY;
    ck_assert_int_eq(orr_trace_new(&machine, 0.0, &run.trace), 0);
    ck_assert_int_eq(orr_timeline_reader_init(run.trace, &reader), 0);
    for (unsigned i = 0; i < n; i++) {
        go_on(&run);
        if (rng_next(&run.state) % often == 0)
            read_part(&reader, settled(&run), all, &nall);
    }
    read_part(&reader, (double)INFINITY, all, &nall);
    ck_assert_int_eq(orr_timeline_init(run.trace, &line), 0);
    ck_assert_uint_eq(line.n, nall);
    for (size_t i = 0; i < nall; i++)
        if (!are_equal(&line.moments[i], &all[i]))
            ck_abort_msg("seed %llu: moment %zu of %zu",
                         (unsigned long long)seed, i, nall);
    orr_timeline_done(&line);
    orr_timeline_reader_done(&reader);
    orr_trace_free(run.trace);
    free(all);
}

START_TEST(parts_that_are_read_during_the_run_make_the_whole)
{
    for (uint64_t seed = 1; seed <= 100; seed++)
        check_parts(seed);
}
END_TEST

START_TEST(what_comes_before_a_part_that_was_read_is_refused)
{
    struct orr_timeline_reader reader;
    struct orr_timeline part;
    struct orr_trace *trace;

    ck_assert_int_eq(orr_trace_new(&machine, 0.0, &trace), 0);
    ck_assert_int_eq(orr_timeline_reader_init(trace, &reader), 0);
    orr_trace_record_count(trace, 0, ORR_TRACE_NREADY, 1, 0, 5);
    ck_assert_int_eq(orr_timeline_read(&reader, 6, &part), 0);
    ck_assert_uint_eq(part.n, 1);
    orr_timeline_done(&part);
    orr_trace_record_count(trace, 1, ORR_TRACE_NREADY, 1, 0, 5.5);
    ck_assert_int_eq(orr_timeline_read(&reader, 7, &part), -ESTALE);
    orr_timeline_reader_done(&reader);
    orr_trace_free(trace);
}
END_TEST

SUITE_MAIN(timeline)
{
    Suite *suite = suite_create("timeline");
    TCase *tests = tcase_create("timeline");

    tcase_add_test(tests, parts_that_are_read_during_the_run_make_the_whole);
    tcase_add_test(tests, what_comes_before_a_part_that_was_read_is_refused);
    tcase_add_test(tests, moments_of_any_record_are_in_order);
    tcase_add_test(tests, events_of_all_kinds_are_read_as_they_were_recorded);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

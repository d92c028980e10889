/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-trace.c - the event record and its Pajé file, on a machine
 * of two CPUs and one GPU that exists only as a description.
 */
#include "core/observe/trace_record.h"

#include "core/base/exec.h"
#include "core/device/machine.h"
#include "core/observe/ahead.h"
#include "core/observe/timeline.h"
#include "core/observe/trace_record_private.h"
#include "tests/suite.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct orr_worker_desc workers[] = {
    {.node = 0, .cpu = 4, .name = "CPU 0"},
    {.node = 0, .cpu = -1, .name = "CPU 1"},
    {.node = 1, .cpu = -1, .name = "CUDA 0.0 (Tesla M2070 4.7 GiB)"},
};
static const struct orr_machine machine = {
    .nnodes = 2, .row = 2, .nworkers = 3, .workers = workers};

static struct orr_trace *trace;
static char path[64];

static void set_up(void)
{
    snprintf(path, sizeof(path), "/tmp/orr-test-trace-%ld.paje",
             (long)getpid());
    ck_assert_int_eq(orr_trace_new(&machine, 100.0, &trace), 0);
}

static void tear_down(void)
{
    orr_trace_free(trace);
    unlink(path);
}

/* The whole file; the caller frees it. */
static char *written(void)
{
    struct orr_error err = {""};
    FILE *file;
    char *text = NULL;
    size_t size = 0;
    ssize_t n;

    ck_assert_int_eq(orr_trace_write(trace, path, &err), 0);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    n = getdelim(&text, &size, '\0', file);
    ck_assert_int_gt(n, 0);
    fclose(file);
    return text;
}

static void record_coloured(unsigned worker, uint64_t job, const char *name,
                            unsigned colour, double start, double end)
{
    struct orr_trace_task task = {.job = job,
                                  .name = name,
                                  .colour = colour,
                                  .footprint = 0xcea37d6d,
                                  .priority = -3,
                                  .tag = 0x12,
                                  .size = 409600,
                                  .gflop = 0.010974,
                                  .start = start,
                                  .end = end};

    orr_trace_record_task(trace, worker, &task);
}

static void record_task(unsigned worker, uint64_t job, const char *name,
                        double start, double end)
{
    record_coloured(worker, job, name, 0, start, end);
}

/* Position of `line` in `text`; it must be there. */
static size_t position(const char *text, const char *line)
{
    const char *at = strstr(text, line);

    ck_assert_msg(at != NULL, "no line %s in\n%s", line, text);
    return (size_t)(at - text);
}

START_TEST(where_tasks_alone_are_shown_nothing_else_is_kept)
{
    struct orr_trace_copy copy = {.id = 1, .name = "tile", .end = 300};
    struct orr_timeline line;

    orr_trace_keep_tasks_alone(trace);
    record_task(0, 12, "POTRF", 2350.0, 9225.0);
    orr_trace_record_state(trace, 0, ORR_TRACE_SLEEPING, 9225.0);
    orr_trace_record_copy(trace, ORR_TRACE_OUTSIDE, &copy);
    orr_trace_record_count(trace, ORR_TRACE_OUTSIDE, ORR_TRACE_NREADY, 1, 12,
                           200);
    orr_trace_record_memory(trace, 0, 0, 4096, 200);
    orr_trace_record_mark(trace, 0, "half", false, 250);
    record_task(ORR_TRACE_OUTSIDE, 13, "GEMM", 9300.0, 9400.0);
    ck_assert_int_eq(orr_timeline_init(trace, &line), 0);
    ck_assert_uint_eq(line.ntasks, 2);
    ck_assert_uint_eq(line.n, 4);
    ck_assert_uint_eq(orr_trace_dropped(trace), 0);
    orr_timeline_done(&line);
}
END_TEST

START_TEST(a_task_is_a_line_of_event_20_with_all_fields)
{
    char *text;

    record_task(0, 12, "POTRF", 2350.0, 9225.0);
    text = written();
    position(text,
             "20\t2.250000000\tw0\tWS\t\"POTRF\"\t409600\t\"-\"\tcea37d6d\t"
             "0000000000000012\t12\t12\t-3\t0.010974\t0\t0\t0\t-1\t"
             "\"0\"\n");
    position(text, "10\t9.125000000\tw0\tWS\tI\n");
    free(text);
}
END_TEST

START_TEST(containers_carry_the_names_that_viewers_know)
{
    char *text = written();

    position(text, "\tw0\tW\tt0\tCPU0\n");
    position(text, "\tt0\tT\tmn0\tT4\n");
    position(text, "\tw2\tW\tt2\tCUDA0_0\n");
    position(text, "\tmm1\tMm\tmn1\tMEMMANAGER1\n");
    free(text);
}
END_TEST

START_TEST(moments_of_all_buffers_come_in_order_of_time)
{
    char *text;

    record_task(2, 3, "c", 500, 600);
    record_task(1, 2, "b", 300, 550);
    record_task(0, 1, "a", 200, 400);
    text = written();
    ck_assert_uint_lt(position(text, "\tw0\tWS\t\"a\""),
                      position(text, "\tw1\tWS\t\"b\""));
    ck_assert_uint_lt(position(text, "10\t0.300000000\tw0\tWS\tI"),
                      position(text, "\tw2\tWS\t\"c\""));
    ck_assert_uint_lt(position(text, "\tw2\tWS\t\"c\""),
                      position(text, "10\t0.450000000\tw1\tWS\tI"));
    free(text);
}
END_TEST

START_TEST(a_state_entered_during_a_task_shows_when_it_ends)
{
    char *text;

    orr_trace_record_state(trace, 2, ORR_TRACE_FETCHING, 300);
    record_task(2, 1, "gemm", 200, 400);
    text = written();
    ck_assert_ptr_null(strstr(text, "10\t0.200000000\tw2"));
    position(text, "10\t0.300000000\tw2\tWS\tFi\n");
    free(text);
}
END_TEST

START_TEST(tasks_back_to_back_end_before_the_next_starts)
{
    char *text;

    record_task(0, 1, "a", 200, 300);
    record_task(0, 2, "b", 300, 300);
    record_task(0, 3, "c", 300, 400);
    text = written();
    ck_assert_uint_lt(position(text, "10\t0.200000000\tw0\tWS\tI"),
                      position(text, "\tw0\tWS\t\"c\""));
    ck_assert_uint_lt(position(text, "\tw0\tWS\t\"b\""),
                      position(text, "\tw0\tWS\t\"c\""));
    free(text);
}
END_TEST

/* It waits in its kernel, from 220 to 280, while the worker executes others. */
START_TEST(a_task_that_waited_is_shown_again_when_it_goes_on)
{
    char *text;

    record_task(0, 2, "inner", 220, 240);
    record_task(0, 4, "deeper", 260, 270);
    record_task(0, 3, "inner", 250, 280);
    record_task(0, 1, "outer", 200, 300);
    text = written();
    position(text, "20\t0.120000000\tw0\tWS\t\"inner\"");
    position(text, "20\t0.140000000\tw0\tWS\t\"outer\"");
    position(text, "20\t0.170000000\tw0\tWS\t\"inner\"");
    position(text, "20\t0.180000000\tw0\tWS\t\"outer\"");
    ck_assert_ptr_null(strstr(text, "10\t0.180000000\tw0"));
    position(text, "10\t0.200000000\tw0\tWS\tI");
    free(text);
}
END_TEST

/* Two kernels in flight on a device. */
/* Lines of events 10 and 20 of worker 0 from there on, their values only. */
static const char *shown_from(const char *text, const char *at)
{
    static char shown[512];
    size_t n = 0;

    shown[0] = '\0';
    for (const char *line = strstr(text, at); line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char value[64];

        if ((sscanf(line, "10\t%*s\tw0\tWS\t%63s", value) == 1 ||
             sscanf(line, "20\t%*s\tw0\tWS\t%63s", value) == 1))
            n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%s ", value);
    }
    return shown;
}

START_TEST(a_suspended_task_makes_place_for_others_and_is_shown_again)
{
    char *text;

    orr_trace_record_state(trace, 0, ORR_TRACE_SCHEDULING, 100 + 10);
    orr_trace_record_state(trace, 0, ORR_TRACE_SUSPENDED, 100 + 12);
    record_task(0, 2, "inner", 100 + 20, 100 + 30);
    orr_trace_record_suspension(trace, 0, 1, 100 + 10, 100 + 40);
    record_task(0, 1, "outer", 100 + 5, 100 + 50);
    text = written();
    ck_assert_str_eq(shown_from(text, "20\t"),
                     "\"outer\" Sc Sp \"inner\" Sp \"outer\" Sp ");
    ck_assert_ptr_nonnull(strstr(text, "6\tSp\tWS\t\"Suspended\""));
    free(text);
}
END_TEST

/* A simulated kernel waits when it has begun: the moment is the same. */
START_TEST(tasks_that_are_suspended_at_once_are_not_shown_before)
{
    char *text;

    orr_trace_record_state(trace, 0, ORR_TRACE_SUSPENDED, 100 + 10);
    record_task(0, 3, "leaf", 100 + 20, 100 + 30);
    orr_trace_record_suspension(trace, 0, 2, 100 + 10, 100 + 40);
    record_task(0, 2, "inner", 100 + 10, 100 + 40);
    orr_trace_record_suspension(trace, 0, 1, 100 + 10, 100 + 40);
    record_task(0, 1, "outer", 100 + 10, 100 + 50);
    text = written();
    ck_assert_str_eq(shown_from(text, "10\t0.010"),
                     "Sp \"leaf\" Sp \"inner\" Sp \"outer\" Sp ");
    free(text);
}
END_TEST

START_TEST(tasks_that_overlap_are_shown_from_their_starts)
{
    char *text;

    record_task(0, 1, "a", 200, 300);
    record_task(0, 2, "b", 250, 350);
    text = written();
    position(text, "20\t0.150000000\tw0\tWS\t\"b\"");
    ck_assert_ptr_null(strstr(text, "\t0.200000000\tw0"));
    position(text, "10\t0.250000000\tw0\tWS\tI");
    free(text);
}
END_TEST

START_TEST(a_copy_is_a_link_between_memory_managers)
{
    struct orr_trace_copy copy = {.id = 7,
                                  .handle = 0x1f,
                                  .src = 0,
                                  .dst = 1,
                                  .size = 4096,
                                  .kind = ORR_TRACE_TASK_PREFETCH,
                                  .start = 110,
                                  .end = 120};
    char *text;

    orr_trace_record_copy(trace, ORR_TRACE_OUTSIDE, &copy);
    text = written();
    position(text, "24\t0.010000000\tTF\tp\t4096\tmm0\tcom_7\t1f\t\"-\"\t0\t0");
    position(text, "19\t0.020000000\tTF\tp\t4096\tmm1\tcom_7\n");
    free(text);
}
END_TEST

START_TEST(a_write_back_is_marked_on_the_node_it_leaves)
{
    struct orr_trace_copy copy = {.id = 8,
                                  .handle = 0x20,
                                  .src = 1,
                                  .dst = 0,
                                  .size = 4096,
                                  .kind = ORR_TRACE_WRITEBACK,
                                  .start = 110,
                                  .end = 120};
    char *text;

    orr_trace_record_copy(trace, 0, &copy);
    text = written();
    position(text, "9\t0.010000000\tWb\tmm1\t20\n");
    position(text, "9\t0.020000000\tWbE\tmm1\t20\n");
    free(text);
}
END_TEST

START_TEST(counters_add_up_over_all_buffers)
{
    char *text;

    orr_trace_record_count(trace, ORR_TRACE_OUTSIDE, ORR_TRACE_NREADY, 2, 7,
                           110);
    orr_trace_record_count(trace, 1, ORR_TRACE_NREADY, -1, 7, 120);
    text = written();
    position(text, "13\t0.010000000\tsched\tnready\t2\n");
    position(text, "13\t0.020000000\tsched\tnready\t1\n");
    free(text);
}
END_TEST

START_TEST(changes_at_one_time_are_one_point_of_a_curve)
{
    char *text;

    orr_trace_record_count(trace, 0, ORR_TRACE_NSUBMITTED, 1, 7, 110);
    orr_trace_record_count(trace, 0, ORR_TRACE_NSUBMITTED, 1, 7, 110);
    orr_trace_record_count(trace, 0, ORR_TRACE_NSUBMITTED, -1, 7, 130);
    text = written();
    ck_assert_ptr_null(strstr(text, "\tnsubmitted\t1\n13"));
    ck_assert_uint_lt(
        position(text, "13\t0.010000000\tsched\tnsubmitted\t2\n"),
        position(text, "13\t0.030000000\tsched\tnsubmitted\t1\n"));
    free(text);
}
END_TEST

START_TEST(memory_is_a_curve_of_each_node_from_0)
{
    char *text;

    orr_trace_record_memory(trace, 2, 1, 4096, 110);
    orr_trace_record_memory(trace, ORR_TRACE_OUTSIDE, 1, 3000000, 120);
    orr_trace_record_memory(trace, 2, 1, -4096, 130);
    orr_trace_record_memory(trace, 2, 7, 1, 140); /* no such node */
    text = written();
    position(text, "4\tuse\tMm\t");
    position(text, "13\t0.000000000\tmm0\tuse\t0\n");
    position(text, "13\t0.010000000\tmm1\tuse\t0.004096\n");
    position(text, "13\t0.020000000\tmm1\tuse\t3.004096\n");
    position(text, "13\t0.030000000\tmm1\tuse\t3.000000\n");
    ck_assert_ptr_null(strstr(text, "mm7"));
    free(text);
}
END_TEST

START_TEST(colours_are_those_of_the_program_else_by_name)
{
    char *text;

    record_task(0, 1, "gemm", 110, 120);
    record_coloured(1, 2, "gemm", 0xff8000, 110, 120);
    record_coloured(0, 3, "trsm", 0x0000ff, 130, 140);
    text = written();
    position(text, "6\t\"gemm\"\tWS\t\"gemm\"\t\"0.13 0.33 0.66\"\n");
    position(text, "6\t\"gemm#2\"\tWS\t\"gemm\"\t\"1.00 0.50 0.00\"\n");
    position(text, "6\t\"trsm\"\tWS\t\"trsm\"\t\"0.00 0.00 1.00\"\n");
    position(text, "\tw0\tWS\t\"gemm\"\t");
    position(text, "\tw1\tWS\t\"gemm#2\"\t");
    free(text);
}
END_TEST

START_TEST(aliases_are_unique)
{
    char *text;

    record_task(0, 1, "B", 110, 120);    /* a state's */
    record_task(0, 2, "a\"b", 130, 140); /* equal when they are safe */
    record_task(0, 3, "a_b", 150, 160);
    record_coloured(0, 4, "a_b", 1, 170, 180);
    record_task(0, 5, "a_b#2", 190, 200); /* looks like another's alias */
    text = written();
    position(text, "6\t\"B#2\"\tWS\t\"B\"\t");
    position(text, "\tw0\tWS\t\"B#2\"\t");
    position(text, "6\t\"a_b\"\tWS\t\"a_b\"\t");
    position(text, "6\t\"a_b#3\"\tWS\t\"a_b\"\t");
    position(text, "6\t\"a_b#4\"\tWS\t\"a_b\"\t");
    position(text, "6\t\"a_b#2\"\tWS\t\"a_b#2\"\t");
    free(text);
}
END_TEST

START_TEST(no_field_is_empty)
{
    struct orr_trace_copy copies[] = {
        {.id = 1, .dst = 1, .start = 110, .end = 120},
        {.id = 2, .dst = 1, .name = "", .start = 110, .end = 120},
        {.id = 3, .dst = 1, .name = "A \"0\"", .start = 110, .end = 120}};
    char *text;

    record_task(0, 1, "", 110, 120);
    for (unsigned i = 0; i < 3; i++)
        orr_trace_record_copy(trace, 0, &copies[i]);
    orr_trace_record_mark(trace, 0, "", false, 130);
    orr_trace_record_mark(trace, 0, NULL, false, 130);
    text = written();
    ck_assert_ptr_null(strstr(text, "\"\""));
    ck_assert_ptr_null(strstr(text, "\t\t"));
    position(text, "\tcom_3\t0\t\"A _0_\"\t");
    free(text);
}
END_TEST

START_TEST(each_task_may_have_a_name_of_its_own)
{
    char name[32];
    char *text;

    for (unsigned i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "gemm_%u", i);
        record_task(i % 3, i + 1, name, 200 + i, 201 + i);
    }
    text = written();
    position(text, "6\t\"gemm_19999\"\tWS\t");
    free(text);
}
END_TEST

START_TEST(names_are_copied_and_made_safe)
{
    char name[] = "my \"odd\"\nname";
    char *text;

    record_task(0, 1, name, 110, 120);
    memset(name, 'x', sizeof(name) - 1);
    record_task(0, 2, NULL, 120, 130);
    text = written();
    position(text, "6\t\"my _odd_ name\"\tWS\t\"my _odd_ name\"\t");
    position(text, "6\t\"unknown\"\tWS\t");
    free(text);
}
END_TEST

START_TEST(many_events_survive_and_equal_records_give_equal_bytes)
{
    char *one, *other;

    for (unsigned i = 0; i < 5000; i++) {
        record_task(i % 3, i + 1, i % 2 ? "syrk" : "gemm", 200 + i, 201 + i);
        orr_trace_record_state(trace, i % 3, ORR_TRACE_OVERHEAD, 201 + i);
    }
    one = written();
    position(one, "\t5000\t5000\t-3\t");
    ck_assert_uint_eq(orr_trace_dropped(trace), 0);
    orr_trace_free(trace);

    ck_assert_int_eq(orr_trace_new(&machine, 100.0, &trace), 0);
    for (unsigned w = 3; w-- > 0;)
        for (unsigned i = w; i < 5000; i += 3) {
            record_task(w, i + 1, i % 2 ? "syrk" : "gemm", 200 + i, 201 + i);
            orr_trace_record_state(trace, w, ORR_TRACE_OVERHEAD, 201 + i);
        }
    other = written();
    ck_assert_str_eq(one, other);
    free(one);
    free(other);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_named)
{
    struct orr_error err = {""};
    int result = orr_trace_write(trace, "/nonexistent/folder/x.paje", &err);

    ck_assert_int_lt(result, 0);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/folder/x.paje"));
}
END_TEST

/* --- files that are written while the run goes on --- */

static double clock_us;

static double clock_now(struct orr_exec *exec)
{
    (void)exec;
    return clock_us;
}

static const struct orr_exec_ops clock_ops = {.now = clock_now};
static struct orr_exec clock_exec = {.ops = &clock_ops};

static bool skips_without_processors(void)
{
    cpu_set_t set;
    bool has_one = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2;

    if (has_one)
        suite_skip("one processor: nothing is written ahead");
    return has_one;
}

/* Tasks of all workers and copies, one long, with the times of a simulation; `names`:
 * as many of tasks. */
static void record_run(unsigned n, unsigned names)
{
    uint32_t tickets[4] = {0}, waits = 0;
    bool goes_on[4] = {false};
    double starts[4] = {0}, waits_since = 0;

    clock_us = 100;
    for (unsigned i = 0; i < n; i++) {
        unsigned w = i % 4;
        char name[24];

        clock_us += i % 5;
        if (i % 100 == 0) {
            orr_trace_begin(trace, &waits);
            waits_since = clock_us;
        } else if (i % 100 == 50) {
            orr_trace_record_application(trace, ORR_TRACE_WAITS, "a call",
                                         waits_since, clock_us);
            orr_trace_end(trace, &waits);
        }
        orr_trace_record_count(trace, w, ORR_TRACE_NREADY, i % 2 ? 1 : -1, i,
                        clock_us);
        orr_trace_record_memory(trace, w, i % 2, 4096, clock_us);
        if (goes_on[w] && (w != 2 || i % 1000 == 2)) {
            struct orr_trace_copy copy = {.id = i,
                                          .handle = 7,
                                          .name = "a \"datum\"",
                                          .src = 0,
                                          .dst = 1,
                                          .size = 4096,
                                          .job = i - 4,
                                          .start = starts[w],
                                          .end = clock_us};

            snprintf(name, sizeof(name), "kernel%u", i % names);
            if (w == 3)
                orr_trace_record_copy(trace, ORR_TRACE_OUTSIDE, &copy);
            else
                record_task(w, i, name, starts[w], clock_us);
            orr_trace_end(trace, &tickets[w]);
            goes_on[w] = false;
            orr_trace_record_state(trace, w, ORR_TRACE_OVERHEAD, clock_us);
        } else if (!goes_on[w]) {
            orr_trace_begin(trace, &tickets[w]);
            goes_on[w] = true;
            starts[w] = clock_us;
        }
        if (i == n / 2)
            orr_trace_record_mark(trace, 0, "half", false, clock_us);
        if (i % 777 == 0)
            orr_trace_record_steal(trace, 0, 1, i, clock_us);
    }
}

/* Is there something written ahead for that path? */
static bool is_ahead(const char *of)
{
    struct orr_ahead *ahead = orr_ahead_take(trace, of);

    orr_ahead_free(ahead);
    return ahead != NULL;
}

static void check_ahead(const char *extension, unsigned names)
{
    char *one, *other;

    strcpy(strrchr(path, '.'), extension);
    record_run(20000, names);
    one = written();
    orr_trace_free(trace);
    ck_assert_int_eq(orr_trace_new(&machine, 100.0, &trace), 0);
    orr_ahead_start(trace, &clock_exec, path);
    record_run(20000, names);
    other = written();
    ck_assert_msg(!strcmp(one, other), "%s: not the same bytes", extension);
    ck_assert_msg(!is_ahead(path), "a file is written once");
    free(one);
    free(other);
    unlink(path);
}

START_TEST(csv_says_what_the_application_did_and_who_submitted)
{
    const unsigned who[] = {ORR_TRACE_OUTSIDE, 2, ORR_TRACE_THREAD};
    char *text;

    strcpy(strrchr(path, '.'), ".csv");
    for (unsigned i = 0; i < 3; i++)
        orr_trace_record_count(trace, who[i], ORR_TRACE_NSUBMITTED, 1, 7 + i,
                               200 + i);
    orr_trace_record_count(trace, 1, ORR_TRACE_NSUBMITTED, -1, 7, 400);
    orr_trace_record_application(trace, ORR_TRACE_WAITS, "starpu_tag_wait", 200,
                                 400);
    orr_trace_record_application(trace, ORR_TRACE_OWN, NULL, 400, 450);
    text = written();
    position(text, "\nsubmitted,0.100000000,0.100000000,,7,,,,,,,,1,,,,,,\n");
    position(text, "\nsubmitted,0.101000000,0.101000000,2,8,,,,,,,,1,,,,,,\n");
    position(text,
             "\nsubmitted,0.102000000,0.102000000,,9,,,,,,thread,,1,,,,,,\n");
    position(text, "\nsubmitted,0.300000000,0.300000000,,7,,,,,,,,-1,,,,,,\n");
    position(text, "\napplication,0.100000000,0.300000000,,,"
                   "\"starpu_tag_wait\",,,,,waiting,,,,,,,,\n");
    position(text, "\napplication,0.300000000,0.350000000,,,,,,,,own,,,,,,,,\n");
    free(text);
    unlink(path);
}
END_TEST

START_TEST(files_written_during_the_run_are_those_written_at_its_end)
{
    if (skips_without_processors())
        return;
    check_ahead(".paje", 3);
    tear_down();
    set_up();
    check_ahead(".csv", 3);
    tear_down();
    set_up();
    check_ahead(".json", 3);
}
END_TEST

/* More names than are kept one after the other. */
START_TEST(what_cannot_be_written_ahead_is_written_at_the_end)
{
    check_ahead(".paje", 5000);
}
END_TEST

START_TEST(long_runs_are_written_ahead_and_short_ones_are_not)
{
    if (skips_without_processors())
        return;
    orr_ahead_start(trace, &clock_exec, path);
    record_run(100, 2);
    ck_assert(!is_ahead(path));
    tear_down();
    set_up();
    orr_ahead_start(trace, &clock_exec, path);
    record_run(20000, 2);
    ck_assert(!is_ahead("another.paje"));
    ck_assert(is_ahead(path));
}
END_TEST

START_TEST(a_run_whose_file_was_begun_and_is_not_written_leaves_none)
{
    orr_ahead_start(trace, &clock_exec, path);
    record_run(20000, 2);
    orr_trace_free(trace);
    trace = NULL;
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_device_and_a_folder_that_is_not_there_are_written_at_the_end)
{
    struct orr_error err = {""};

    orr_ahead_start(trace, &clock_exec, "/dev/null");
    record_run(20000, 2);
    ck_assert_int_eq(orr_trace_write(trace, "/dev/null", &err), 0);
    tear_down();
    set_up();
    orr_ahead_start(trace, &clock_exec, "/nonexistent/folder/x.csv");
    record_run(20000, 2);
    ck_assert_int_lt(orr_trace_write(trace, "/nonexistent/folder/x.csv", &err),
                     0);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/folder/x.csv"));
}
END_TEST

/* It has no thread. */
START_TEST(a_child_of_the_run_writes_from_the_record)
{
    char *text;
    int status;
    pid_t child;

    orr_ahead_start(trace, &clock_exec, path);
    record_run(20000, 2);
    child = fork();
    if (child == 0) {
        struct orr_error err = {""};

        _exit(orr_trace_write(trace, path, &err) == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    text = written();
    position(text, "kernel1");
    free(text);
}
END_TEST

SUITE_MAIN(trace)
{
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("trace");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, csv_says_what_the_application_did_and_who_submitted);
    tcase_add_test(tests,
                   files_written_during_the_run_are_those_written_at_its_end);
    tcase_add_test(tests, what_cannot_be_written_ahead_is_written_at_the_end);
    tcase_add_test(tests, long_runs_are_written_ahead_and_short_ones_are_not);
    tcase_add_test(tests,
                   a_run_whose_file_was_begun_and_is_not_written_leaves_none);
    tcase_add_test(
        tests, a_device_and_a_folder_that_is_not_there_are_written_at_the_end);
    tcase_add_test(tests, a_child_of_the_run_writes_from_the_record);
    tcase_add_test(tests, where_tasks_alone_are_shown_nothing_else_is_kept);
    tcase_add_test(tests, a_task_is_a_line_of_event_20_with_all_fields);
    tcase_add_test(tests, containers_carry_the_names_that_viewers_know);
    tcase_add_test(tests, moments_of_all_buffers_come_in_order_of_time);
    tcase_add_test(tests, a_state_entered_during_a_task_shows_when_it_ends);
    tcase_add_test(tests, tasks_back_to_back_end_before_the_next_starts);
    tcase_add_test(tests, a_task_that_waited_is_shown_again_when_it_goes_on);
    tcase_add_test(tests,
                   a_suspended_task_makes_place_for_others_and_is_shown_again);
    tcase_add_test(tests,
                   tasks_that_are_suspended_at_once_are_not_shown_before);
    tcase_add_test(tests, tasks_that_overlap_are_shown_from_their_starts);
    tcase_add_test(tests, a_copy_is_a_link_between_memory_managers);
    tcase_add_test(tests, a_write_back_is_marked_on_the_node_it_leaves);
    tcase_add_test(tests, counters_add_up_over_all_buffers);
    tcase_add_test(tests, changes_at_one_time_are_one_point_of_a_curve);
    tcase_add_test(tests, memory_is_a_curve_of_each_node_from_0);
    tcase_add_test(tests, colours_are_those_of_the_program_else_by_name);
    tcase_add_test(tests, aliases_are_unique);
    tcase_add_test(tests, no_field_is_empty);
    tcase_add_test(tests, each_task_may_have_a_name_of_its_own);
    tcase_add_test(tests, names_are_copied_and_made_safe);
    tcase_add_test(tests,
                   many_events_survive_and_equal_records_give_equal_bytes);
    tcase_add_test(tests, a_folder_that_is_not_there_is_named);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

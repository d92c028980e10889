/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-trace.c - the event record and its Pajé file, on a machine
 * of two CPUs and one GPU that exists only as a description.
 */
#include "core/observe/record.h"

#include "core/device/machine.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct orr_worker_desc workers[] = {
    {.node = 0, .cpu = 4, .name = "CPU 0"},
    {.node = 0, .cpu = -1, .name = "CPU 1"},
    {.node = 1, .cpu = -1, .name = "CUDA 0.0 (Tesla M2070 4.7 GiB)"},
};
static const struct orr_machine machine = {
    .nnodes = 2, .nworkers = 3, .workers = workers};

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

    ck_assert_int_eq(orr_trace_write_paje(trace, path, &err), 0);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    n = getdelim(&text, &size, '\0', file);
    ck_assert_int_gt(n, 0);
    fclose(file);
    return text;
}

static void record_task(unsigned worker, uint64_t job, const char *name,
                        double start, double end)
{
    struct orr_trace_task task = {.job = job,
                                  .submit_order = job,
                                  .name = name,
                                  .footprint = 0xcea37d6d,
                                  .priority = -3,
                                  .tag = 0x12,
                                  .size = 409600,
                                  .gflop = 0.010974,
                                  .start = start,
                                  .end = end};

    orr_trace_task(trace, worker, &task);
}

/* Position of `line` in `text`; it must be there. */
static size_t position(const char *text, const char *line)
{
    const char *at = strstr(text, line);

    ck_assert_msg(at != NULL, "no line %s in\n%s", line, text);
    return (size_t)(at - text);
}

START_TEST(no_trace_records_nothing_and_needs_no_test)
{
    struct orr_trace_task task = {.name = "gemm"};
    struct orr_trace_copy copy = {.id = 1};

    orr_trace_task(NULL, 0, &task);
    orr_trace_state(NULL, 0, ORR_TRACE_IDLE, 0);
    orr_trace_copy(NULL, 0, &copy);
    orr_trace_count(NULL, 0, ORR_TRACE_NREADY, 1, 0);
    orr_trace_free(NULL);
}
END_TEST

START_TEST(a_task_is_a_line_of_event_20_with_all_fields)
{
    char *text;

    record_task(0, 12, "POTRF", 2350.0, 9225.0);
    text = written();
    position(text,
             "20\t2.250000000\tw0\tWS\t\"POTRF\"\t409600\t\"\"\tcea37d6d\t"
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

    orr_trace_state(trace, 2, ORR_TRACE_FETCHING, 300);
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

    orr_trace_copy(trace, ORR_TRACE_OUTSIDE, &copy);
    text = written();
    position(text, "24\t0.010000000\tTF\tp\t4096\tmm0\tcom_7\t1f\t\"\"\t0\t0");
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

    orr_trace_copy(trace, 0, &copy);
    text = written();
    position(text, "9\t0.010000000\tWb\tmm1\t20\n");
    position(text, "9\t0.020000000\tWbE\tmm1\t20\n");
    free(text);
}
END_TEST

START_TEST(counters_add_up_over_all_buffers)
{
    char *text;

    orr_trace_count(trace, ORR_TRACE_OUTSIDE, ORR_TRACE_NREADY, 2, 110);
    orr_trace_count(trace, 1, ORR_TRACE_NREADY, -1, 120);
    text = written();
    position(text, "13\t0.010000000\tsched\tnready\t2\n");
    position(text, "13\t0.020000000\tsched\tnready\t1\n");
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
    position(text, "6\t\"my _odd__name\"\tWS\t\"my _odd__name\"\t");
    position(text, "6\t\"unknown\"\tWS\t");
    free(text);
}
END_TEST

START_TEST(many_events_survive_and_equal_records_give_equal_bytes)
{
    char *one, *other;

    for (unsigned i = 0; i < 5000; i++) {
        record_task(i % 3, i + 1, i % 2 ? "syrk" : "gemm", 200 + i, 201 + i);
        orr_trace_state(trace, i % 3, ORR_TRACE_OVERHEAD, 201 + i);
    }
    one = written();
    position(one, "\t5000\t5000\t-3\t");
    ck_assert_uint_eq(orr_trace_dropped(trace), 0);
    orr_trace_free(trace);

    ck_assert_int_eq(orr_trace_new(&machine, 100.0, &trace), 0);
    for (unsigned w = 3; w-- > 0;)
        for (unsigned i = w; i < 5000; i += 3) {
            record_task(w, i + 1, i % 2 ? "syrk" : "gemm", 200 + i, 201 + i);
            orr_trace_state(trace, w, ORR_TRACE_OVERHEAD, 201 + i);
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
    int result =
        orr_trace_write_paje(trace, "/nonexistent/folder/x.paje", &err);

    ck_assert_int_lt(result, 0);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/folder/x.paje"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *tests = tcase_create("trace");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, no_trace_records_nothing_and_needs_no_test);
    tcase_add_test(tests, a_task_is_a_line_of_event_20_with_all_fields);
    tcase_add_test(tests, containers_carry_the_names_that_viewers_know);
    tcase_add_test(tests, moments_of_all_buffers_come_in_order_of_time);
    tcase_add_test(tests, a_state_entered_during_a_task_shows_when_it_ends);
    tcase_add_test(tests, tasks_back_to_back_end_before_the_next_starts);
    tcase_add_test(tests, a_copy_is_a_link_between_memory_managers);
    tcase_add_test(tests, a_write_back_is_marked_on_the_node_it_leaves);
    tcase_add_test(tests, counters_add_up_over_all_buffers);
    tcase_add_test(tests, names_are_copied_and_made_safe);
    tcase_add_test(tests,
                   many_events_survive_and_equal_records_give_equal_bytes);
    tcase_add_test(tests, a_folder_that_is_not_there_is_named);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

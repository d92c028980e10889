/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-own-times.c - the calls of a run with the times that its kernels took:
 * of files written by hand, what is written of them.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read.h"
#include "tests/unit/perfmodel_util.h"
#include "tools/validate/own_times.h"

static char folder[64], calls[96], trace[96], made[96];

static void set_up(void)
{
    tmp_make(folder);
    snprintf(calls, sizeof(calls), "%s/calls.rec", folder);
    snprintf(trace, sizeof(trace), "%s/trace.csv", folder);
    snprintf(made, sizeof(made), "%s/own.rec", folder);
}

static void tear_down(void)
{
    tmp_remove(folder);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

#define CALLS                                                                  \
    "orrery-record 1\nrun machine=\"here\"\n"                                  \
    "model 1 kind=\"history\" symbol=\"gemm\"\n"                               \
    "codelet 1 name=\"gemm\" cpu=1 buffers=0 model=1\n"                        \
    "codelet 2 name=\"print\" cpu=1 buffers=0 flags=1\n"                       \
    "submit 1 codelet=1\nsubmit 2 codelet=2\nsubmit 3 codelet=1\nend value=7\n"
#define HEAD(end)                                                               \
    "record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"    \
    "handle,change,footprint,gflop,tag,iteration,subiteration\n"               \
    "worker,0," end ",0,,\"CPU0\",,0,,,,,,,,,,\n"
#define TASK(begin, end, job, name)                                            \
    "task," begin "," end ",0," job ",\"" name "\",0,0,,0,,,,1,0,0,,\n"

/* The times of its tasks on a processor; their number. */
static unsigned read_times(double times[8])
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    unsigned n = 0;
    int rc;

    ck_assert_int_eq(orr_record_open(made, &reader, &err), 0);
    while ((rc = orr_record_next(reader, &call, &err)) > 0)
        if (call->verb == ORR_CALL_SUBMIT && n < 8) {
            ck_assert_uint_gt(call->times.n, 0);
            times[n++] = call->times.at[0];
        } else if (call->verb == ORR_CALL_CODELET) {
            /* Each has a model of times, and is not executed. */
            ck_assert(call->model > 0 && call->flags == 0);
        }
    ck_assert_msg(rc == 0, "%s", err.text);
    orr_record_close(reader);
    return n;
}

START_TEST(each_task_takes_what_it_took)
{
    struct orr_error err = {""};
    char *assumed = NULL;
    double times[8];

    put_text(calls, CALLS);
    put_text(trace, HEAD("3.5") TASK("3", "3.5", "7", "gemm")
                        TASK("1", "1.25", "4", "gemm")
                            TASK("2", "2.125", "5", "print"));
    ck_assert_msg(own_times_write(calls, trace, made, &assumed, &err) == 0, "%s",
                  err.text);
    ck_assert_ptr_null(assumed);
    ck_assert_uint_eq(read_times(times), 3);
    ck_assert_double_eq_tol(times[0], 250, 1e-6);
    ck_assert_double_eq_tol(times[1], 125, 1e-6);
    ck_assert_double_eq_tol(times[2], 500, 1e-6);
}
END_TEST

START_TEST(tasks_that_no_call_has_submitted_are_assumed_to_take_their_mean)
{
    struct orr_error err = {""};
    char *assumed = NULL;
    double times[8];

    put_text(calls, CALLS);
    put_text(trace,
             HEAD("5.5") TASK("1", "1.25", "4", "gemm") TASK("2", "2.1", "5", "sum")
                 TASK("3", "3.125", "6", "print") TASK("4", "4.3", "7", "sum")
                     TASK("5", "5.5", "8", "gemm"));
    ck_assert_int_eq(own_times_write(calls, trace, made, &assumed, &err), 0);
    ck_assert_str_eq(assumed, "kernel[\"sum\"] = 200us");
    ck_assert_uint_eq(read_times(times), 3);
    ck_assert_double_eq_tol(times[1], 125, 1e-6);
    ck_assert_double_eq_tol(times[2], 500, 1e-6);
    free(assumed);
}
END_TEST

START_TEST(a_task_that_did_not_run_is_an_error)
{
    struct orr_error err = {""};
    char *assumed = NULL;

    put_text(calls, CALLS);
    put_text(trace, HEAD("1.25") TASK("1", "1.25", "4", "gemm"));
    ck_assert_int_lt(own_times_write(calls, trace, made, &assumed, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "did not run"));
    ck_assert_ptr_null(assumed);
}
END_TEST

SUITE_MAIN(own_times)
{
    Suite *suite = suite_create("own-times");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, each_task_takes_what_it_took);
    tcase_add_test(
        tc, tasks_that_no_call_has_submitted_are_assumed_to_take_their_mean);
    tcase_add_test(tc, a_task_that_did_not_run_is_an_error);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bound.c - pools, the area bound and its text. One thread.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/solver.h"
#include "core/base/module.h"
#include "tests/unit/perfmodel_util.h"

const struct orr_module *orr_module_entry(void);

enum { MOST = 8 };

/* Durations by worker and codelet; a codelet is a pointer to its number. */
struct table {
    unsigned nworkers, ntypes;
    unsigned counts[MOST];
    double ms[MOST][MOST]; /* worker, type; 0: unknown */
};

static const unsigned types[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};

static const char *worker_name(unsigned worker, void *arg)
{
    (void)arg;
    return worker ? "GPU" : "CPU";
}

static double duration_ms(const void *codelet, uint32_t footprint,
                          unsigned worker, void *arg)
{
    const struct table *table = arg;
    double ms = table->ms[worker][*(const unsigned *)codelet];

    ck_assert_uint_eq(footprint, 0xf0 + *(const unsigned *)codelet);
    return ms == 0 ? (double)NAN : ms;
}

static struct orr_bound_problem *problem_of(const struct table *table)
{
    struct table copy = *table;
    struct orr_bound_source source = {.nworkers = table->nworkers,
                                      .worker_name = worker_name,
                                      .duration_ms = duration_ms,
                                      .arg = &copy};
    struct orr_bound_record *record;
    struct orr_bound_problem *problem;

    ck_assert_int_eq(orr_bound_record_new(&record), 0);
    for (unsigned k = 0; k < table->ntypes; k++)
        for (unsigned i = 0; i < table->counts[k]; i++)
            ck_assert_int_eq(
                orr_bound_record_task(record, &types[k], 0xf0 + k, "model"), 0);
    ck_assert_int_eq(orr_bound_record_problem(record, &source, &problem), 0);
    orr_bound_record_free(record);
    return problem;
}

static const struct orr_bound_solver *solver(void)
{
    return orr_module_entry()->table;
}

/* Problems whose optimum is known by hand. */
static const struct {
    struct table table;
    double relaxed, integer;
} cases[] = {
    /* one worker does it all */
    {{1, 2, {3, 2}, {{2, 5}}}, 16, 16},
    /* three equal workers share 4 tasks; whole ones do not divide */
    {{3, 1, {4}, {{3}, {3}, {3}}}, 4, 6},
    /* a GPU ten times as fast: rates 1/10 + 1 per ms */
    {{2, 1, {11}, {{10}, {1}}}, 10, 10},
    /* each worker can do one type only */
    {{2, 2, {4, 5}, {{2, 0}, {0, 3}}}, 15, 15},
    /* affinity: the GPU is 8 times as fast on type 0, twice on type 1; it
     * does all of type 0 (10 ms) and half of type 1, the CPU the other half */
    {{2, 2, {10, 20}, {{8, 2}, {1, 1}}}, 20, 20},
};

START_TEST(area_bound_is_the_known_optimum)
{
    struct orr_bound_problem *problem = problem_of(&cases[_i].table);
    double relaxed = -1, integer = -1, counts[MOST * MOST];
    struct orr_error err = {""};

    ck_assert_msg(solver()->area(problem, &relaxed, NULL, counts, &err) == 0,
                  "%s", err.text);
    ck_assert_double_eq_tol(relaxed, cases[_i].relaxed, 1e-6 * relaxed);
    for (unsigned t = 0; t < problem->npools; t++) {
        double sum = 0;

        for (unsigned w = 0; w < problem->nworkers; w++)
            sum += counts[t * problem->nworkers + w];
        ck_assert_double_eq_tol(sum, (double)problem->pools[t].count, 1e-6);
    }
    ck_assert_msg(solver()->area(problem, &relaxed, &integer, counts, &err) ==
                      0,
                  "%s", err.text);
    ck_assert_double_eq_tol(integer, cases[_i].integer, 1e-6 * integer);
    for (unsigned i = 0; i < problem->npools * problem->nworkers; i++)
        ck_assert_double_eq(counts[i], floor(counts[i]));
    orr_bound_problem_free(problem);
}
END_TEST

START_TEST(random_problems_are_solved_and_proved)
{
    enum { NPOOLS = 60, NWORKERS = 12 };
    static double ms[NPOOLS][NWORKERS];
    static struct orr_bound_pool pools[NPOOLS];
    char *names[NWORKERS] = {NULL};
    struct orr_bound_problem problem = {NWORKERS, NPOOLS, names, pools};
    unsigned seed = 12345;

    for (unsigned round = 0; round < 10; round++) {
        struct orr_error err = {""};
        double relaxed = -1;

        for (unsigned t = 0; t < NPOOLS; t++) {
            pools[t].symbol = NULL;
            pools[t].count = 1 + t * 37 % 1000;
            pools[t].duration_ms = ms[t];
            for (unsigned w = 0; w < NWORKERS; w++) {
                seed = seed * 1103515245 + 12345;
                /* workers 0-7 equal; some pairs are unknown */
                ms[t][w] = w > 0 && w < 8 ? ms[t][0]
                           : w > 8 && seed >> 16 & 1
                               ? (double)NAN
                               : 0.001 + (seed >> 8) % 100000 / 100.;
            }
        }
        ck_assert_msg(solver()->area(&problem, &relaxed, NULL, NULL, &err) == 0,
                      "%s", err.text);
        ck_assert_double_gt(relaxed, 0);
    }
}
END_TEST

START_TEST(what_has_no_answer_is_an_error)
{
    struct table none = {1, 0, {0}, {{0}}};
    struct table unknown = {2, 2, {1, 1}, {{5, 0}, {5, 0}}};
    struct orr_bound_problem *problem = problem_of(&none);
    struct orr_error err = {""};
    double relaxed = -1;

    ck_assert_int_eq(solver()->area(problem, &relaxed, NULL, NULL, &err),
                     -ENODATA);
    orr_bound_problem_free(problem);
    problem = problem_of(&unknown);
    ck_assert_int_eq(solver()->area(problem, &relaxed, NULL, NULL, &err),
                     -ENODATA);
    ck_assert_ptr_nonnull(strstr(err.text, "model has no estimate"));
    ck_assert_ptr_nonnull(strstr(err.text, "000000f1"));
    ck_assert_double_eq(relaxed, -1);
    orr_bound_problem_free(problem);
}
END_TEST

START_TEST(a_thousand_pools_are_counted_latest_first)
{
    static unsigned codelets[1000];
    struct orr_bound_source source = {.nworkers = 0};
    struct orr_bound_record *record;
    struct orr_bound_problem *problem;

    ck_assert_int_eq(orr_bound_record_new(&record), 0);
    for (unsigned i = 0; i < 3000; i++)
        ck_assert_int_eq(orr_bound_record_task(record, &codelets[i % 1000],
                                               i % 1000 % 3, "m"),
                         0);
    ck_assert_int_eq(orr_bound_record_problem(record, &source, &problem), 0);
    ck_assert_uint_eq(problem->npools, 1000);
    for (unsigned t = 0; t < 1000; t++) {
        ck_assert_ptr_eq(problem->pools[t].codelet, &codelets[999 - t]);
        ck_assert_uint_eq(problem->pools[t].count, 3);
    }
    orr_bound_problem_free(problem);
    orr_bound_record_free(record);
}
END_TEST

/* What a printer writes for the fourth case, for the caller to free(). */
static char *printed(int (*print)(const struct orr_bound_problem *, FILE *))
{
    struct orr_bound_problem *problem = problem_of(&cases[3].table);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(print(problem, f), 0);
    fclose(f);
    orr_bound_problem_free(problem);
    return text;
}

START_TEST(lp_text_has_lp_solve_s_dialect)
{
    char *text = printed(orr_bound_print_lp);

    ck_assert_ptr_nonnull(strstr(text, "\nmin: tmax;\n\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "/* CPU */\n0\t+2.000000 * w0t1n <= tmax;\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "/* GPU */\n0\t+3.000000 * w1t0n <= tmax;\n"));
    ck_assert_ptr_nonnull(strstr(text, "/* model key f1 */\n0\t+w1t0n = 5;\n"));
    ck_assert_ptr_nonnull(strstr(text, "int w0t1n,w1t0n;"));
    free(text);
}
END_TEST

START_TEST(mps_text_has_fixed_columns)
{
    char *text = printed(orr_bound_print_mps);

    ck_assert_ptr_nonnull(strstr(text, "\n N  TMAX\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n L  W1\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n E  T1\n"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "\n    W0T1      W0            2.000000\n"
                                 "    W0T1      T1                   1\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\n    TMAX      W1                  -1\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nRHS\n    NT0       T0                   5\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nENDATA\n"));
    free(text);
}
END_TEST

SUITE_MAIN(bound)
{
    Suite *suite = suite_create("bound");
    TCase *tc = tcase_create("all");

    tcase_add_loop_test(tc, area_bound_is_the_known_optimum, 0,
                        (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(tc, random_problems_are_solved_and_proved);
    tcase_add_test(tc, what_has_no_answer_is_an_error);
    tcase_add_test(tc, a_thousand_pools_are_counted_latest_first);
    tcase_add_test(tc, lp_text_has_lp_solve_s_dialect);
    tcase_add_test(tc, mps_text_has_fixed_columns);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

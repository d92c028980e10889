/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-lp.c - linear programs as text: three solvers read them in
 * all formats they know and must agree. Solvers that are missing are skipped.
 */
#include "bound/lp.h"

#include "tests/rng.h"
#include "tests/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- solvers --- */

enum outcome { OPTIMAL, INFEASIBLE, UNBOUNDED, UNREADABLE };

/* glpsol removes the file that it writes to, as root even /dev/stdout. */
static const struct solver {
    const char *program, *command; /* with the file's name */
    enum orr_lp_format format;
    const char *suffix;
    const char *value; /* what stands before the optimum */
    const char *infeasible[2], *unbounded[2];
} solvers[] = {
    {"glpsol",
     "f=%s; glpsol --lp $f -o $f.out; cat $f.out; rm -f $f.out",
     ORR_LP_CPLEX,
     "lp",
     "OPTIMAL\nObjective:  cost. =",
     {"NO PRIMAL FEASIBLE", "NO FEASIBLE"},
     {"UNBOUNDED", "NO DUAL FEASIBLE"}},
    {"glpsol",
     "f=%s; glpsol --freemps $f -o $f.out; cat $f.out; rm -f $f.out",
     ORR_LP_MPS,
     "mps",
     "OPTIMAL\nObjective:  cost. =",
     {"NO PRIMAL FEASIBLE", "NO FEASIBLE"},
     {"UNBOUNDED", "NO DUAL FEASIBLE"}},
    {"cbc",
     "cbc %s solve",
     ORR_LP_CPLEX,
     "lp",
     "Optimal objective ",
     {"nfeasible", "nfeasible"},
     {"nbounded", "Dual infeasible"}},
    {"cbc",
     "cbc %s solve",
     ORR_LP_MPS,
     "mps",
     "Optimal objective ",
     {"nfeasible", "nfeasible"},
     {"nbounded", "Dual infeasible"}},
    {"lp_solve",
     "lp_solve -S3 %s",
     ORR_LP_LP_SOLVE,
     "lps",
     "Value of objective function:",
     {"infeasible", "INFEASIBLE"},
     {"unbounded", "UNBOUNDED"}},
    {"lp_solve",
     "lp_solve -S3 -fmps %s",
     ORR_LP_MPS,
     "mps",
     "Value of objective function:",
     {"infeasible", "INFEASIBLE"},
     {"unbounded", "UNBOUNDED"}},
};

enum { NSOLVERS = sizeof(solvers) / sizeof(*solvers) };

static bool is_there(const char *program)
{
    char command[64];

    snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
    return system(command) == 0;
}

static char *output_of(const char *command)
{
    char *text = NULL, buffer[4096];
    FILE *to, *from;
    size_t size, n;

    from = popen(command, "r");
    to = open_memstream(&text, &size);
    ck_assert(from && to);
    while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0)
        fwrite(buffer, 1, n, to);
    pclose(from);
    fclose(to);
    return text;
}

static bool has_one(const char *text, const char *const words[2])
{
    return strstr(text, words[0]) || strstr(text, words[1]);
}

/* Writes the program, has it solved and prints the result. */
static enum outcome solve(const struct orr_lp *lp, const struct solver *solver,
                          double *ret)
{
    char path[64], command[160], *text, *value;
    static const char whole_value[] = "Objective value:";
    enum outcome outcome = UNREADABLE;
    size_t length;
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/orrery-test-lp-%ld.%s", (long)getpid(),
             solver->suffix);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(orr_lp_write(lp, solver->format, f), 0);
    fclose(f);
    /* The name is the only conversion of each command. */
    snprintf(command, sizeof(command), "%.*s%s%s 2>&1",
             (int)(strstr(solver->command, "%s") - solver->command),
             solver->command, path, strstr(solver->command, "%s") + 2);
    text = output_of(command);
    value = strstr(text, solver->value);
    length = strlen(solver->value);
    if (!value) { /* cbc with whole columns */
        value = strstr(text, whole_value);
        length = strlen(whole_value);
    }
    if (value) {
        outcome = OPTIMAL;
        *ret = strtod(value + length, NULL);
    } else if (has_one(text, solver->unbounded)) {
        outcome = UNBOUNDED;
    } else if (has_one(text, solver->infeasible)) {
        outcome = INFEASIBLE;
    } else {
        printf("# %s\n", text);
    }
    free(text);
    unlink(path);
    return outcome;
}

/* All solvers there are find that outcome and, unless it is NaN, that optimum;
 * if it is, they find the same. */
static void all_find(struct orr_lp *lp, enum outcome expected, double optimum)
{
    unsigned asked = 0;

    ck_assert_int_eq(orr_lp_end(lp), 0);
    for (size_t s = 0; s < NSOLVERS; s++) {
        double value = 0;
        enum outcome outcome;

        if (!is_there(solvers[s].program))
            continue;
        asked++;
        outcome = solve(lp, &solvers[s], &value);
        ck_assert_msg(outcome == expected, "%s: %s: outcome %d, not %d",
                      lp->title, solvers[s].command, outcome, expected);
        if (outcome == OPTIMAL && isnan(optimum))
            optimum = value;
        if (outcome == OPTIMAL)
            ck_assert_msg(fabs(value - optimum) <=
                              1e-6 * fmax(1, fabs(optimum)),
                          "%s: %s: %.10g, not %.10g", lp->title,
                          solvers[s].command, value, optimum);
    }
    if (asked == 0)
        suite_skip("no solver is installed");
    orr_lp_free(lp);
}

/* The others run the solvers that are there: this one reports the missing
 * ones. */
START_TEST(every_solver_is_asked)
{
    if (!is_there(solvers[_i].program))
        SKIP_TEST("%s is not installed", solvers[_i].program);
}
END_TEST

/* --- names --- */

static const char *const nasty[] = {
    "free",
    "st",
    "bin",
    "int",
    "e1",
    "inf",
    "sin",
    "sec",
    "E",
    "e_5",
    "infra",
    "nan1",
    "max",
    "min",
    "end",
    "sos2",
    "x",
    "R1",
    "C1",
    "ee",
    "bounds",
    "rhs",
    "3x",
    "subject to",
    "r1",
    "obj",
    "cost",
    "marker",
    "general",
    "zero",
    "n_e1",
    "infinity",
    "gen",
    "for",
    "sign",
    "abs",
    "such",
    "that",
    "semi",
    "generals",
    "integers",
    "binary",
    "rows",
    "columns",
    "ranges",
    "endata",
    "name",
    "a.b-c*/",
    "e12x",
    "e",
    "free",
    "free_2",
    "",
    "minimize",
    "maximise",
    "bound",
    "integer",
    "up",
    "fr",
    "sum",
    "d\xc3\xa9grad\xc3\xa9",
    "l",
    "f",
    "lazy",
    "n_free",
};

enum { NNASTY = sizeof(nasty) / sizeof(*nasty) };

/* Every name is of a column and of a row; column i costs i + 1 and is at least
 * 1 by its row. */
static void make_nasty(struct orr_lp *lp)
{
    orr_lp_begin(lp, "names\nof */ keywords");
    for (unsigned i = 0; i < NNASTY; i++)
        orr_lp_column(lp, 1 + i, i % 2 ? -INFINITY : -3, 10 + i % 3, i % 3 == 0,
                      "%s", nasty[i]);
    for (unsigned i = 0; i < NNASTY; i++) {
        orr_lp_row(lp, 1, INFINITY, "%s", nasty[i]);
        orr_lp_coef(lp, i, 1);
    }
}

START_TEST(keywords_as_names_are_read_by_all)
{
    struct orr_lp lp;

    make_nasty(&lp);
    all_find(&lp, OPTIMAL, NNASTY * (NNASTY + 1) / 2.);
}
END_TEST

START_TEST(names_are_unique_and_of_plain_letters)
{
    const char *names[2 * NNASTY];
    struct orr_lp lp;

    make_nasty(&lp);
    ck_assert_int_eq(orr_lp_end(&lp), 0);
    ck_assert_ptr_null(strchr(lp.title, '\n'));
    for (unsigned i = 0; i < NNASTY; i++) {
        names[i] = lp.columns[i].name;
        names[NNASTY + i] = lp.rows[i].name;
    }
    for (unsigned i = 0; i < 2 * NNASTY; i++) {
        ck_assert_msg(names[i][0] >= 'a' && names[i][0] <= 'z', "%s", names[i]);
        ck_assert_uint_eq(
            strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789_"),
            strlen(names[i]));
        for (unsigned j = 0; j < i; j++)
            ck_assert_str_ne(names[i], names[j]);
    }
    ck_assert_str_eq(lp.columns[16].name, "x");
    orr_lp_free(&lp);
}
END_TEST

START_TEST(a_long_name_is_cut)
{
    char name[2000];
    struct orr_lp lp;

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    orr_lp_begin(&lp, "long names");
    for (unsigned i = 0; i < 12; i++)
        orr_lp_column(&lp, 1, 1, 2, false, "%s", name);
    orr_lp_row(&lp, 0, 100, "%s", name);
    for (unsigned i = 0; i < 12; i++)
        orr_lp_coef(&lp, 11 - i, 1);
    all_find(&lp, OPTIMAL, 12);
}
END_TEST

/* --- structures --- */

START_TEST(nothing_at_all_is_a_program)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "nothing");
    all_find(&lp, OPTIMAL, 0);
}
END_TEST

START_TEST(empty_rows_and_columns_are_read)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "empty");
    orr_lp_column(&lp, 0, 0, INFINITY, false, "nowhere");
    orr_lp_column(&lp, 2, 3, INFINITY, false, "cost_only");
    orr_lp_column(&lp, 0, -INFINITY, INFINITY, false, "free_nowhere");
    orr_lp_column(&lp, 0, 0, INFINITY, true, "whole_nowhere");
    orr_lp_row(&lp, -1, INFINITY, "empty");
    orr_lp_row(&lp, -1, 2, "empty_range");
    orr_lp_row(&lp, -INFINITY, INFINITY, "empty_free");
    all_find(&lp, OPTIMAL, 6);
}
END_TEST

START_TEST(an_empty_row_that_cannot_hold_is_infeasible)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "0 >= 1");
    orr_lp_column(&lp, 1, 0, INFINITY, false, "x");
    orr_lp_row(&lp, 1, INFINITY, "empty");
    all_find(&lp, INFEASIBLE, NAN);
}
END_TEST

START_TEST(an_empty_objective_is_read)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "no objective");
    orr_lp_column(&lp, 0, 0, INFINITY, false, "x");
    orr_lp_column(&lp, 0, 0, INFINITY, false, "y");
    orr_lp_row(&lp, 1, 2, "row");
    orr_lp_coef(&lp, 0, 1);
    orr_lp_coef(&lp, 1, 1);
    all_find(&lp, OPTIMAL, 0);
}
END_TEST

/* One column, its bounds, and the least that it or its negative can be. */
static const struct {
    double lower, upper, cost;
    bool integer;
    enum outcome outcome;
    double optimum;
} bounds[] = {
    {0, INFINITY, 1, false, OPTIMAL, 0},
    {-INFINITY, INFINITY, 1, false, UNBOUNDED, 0},
    {-INFINITY, 5, -1, false, OPTIMAL, -5},
    {-INFINITY, -5, -1, false, OPTIMAL, 5},
    {-7.5, -5, 1, false, OPTIMAL, -7.5},
    {-7.5, -5, -1, false, OPTIMAL, 5},
    {-7.5, INFINITY, 1, false, OPTIMAL, -7.5},
    {2.5, 2.5, 1, false, OPTIMAL, 2.5},
    {-2.5, -2.5, 1, false, OPTIMAL, -2.5},
    {0, 0, -1, false, OPTIMAL, 0},
    {0, 3, -1, false, OPTIMAL, -3},
    {-3, 0, 1, false, OPTIMAL, -3},
    /* whole */
    {0, 12, -1, true, OPTIMAL, -12}, /* not 0 or 1 */
    {0, 12.5, -1, true, OPTIMAL, -12},
    {-2.5, 12, 1, true, OPTIMAL, -2},
    {-INFINITY, -1.5, -1, true, OPTIMAL, 2},
    {4, 4, 1, true, OPTIMAL, 4},
};

START_TEST(bounds_of_columns_mean_the_same_to_all)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "bounds");
    orr_lp_column(&lp, bounds[_i].cost, bounds[_i].lower, bounds[_i].upper,
                  bounds[_i].integer, "x");
    orr_lp_column(&lp, 0, 0, 1, false, "y");
    orr_lp_row(&lp, -INFINITY, 1e6, "row");
    orr_lp_coef(&lp, 0, 1);
    orr_lp_coef(&lp, 1, 1);
    all_find(&lp, bounds[_i].outcome, bounds[_i].optimum);
}
END_TEST

START_TEST(a_whole_column_without_upper_bound_may_be_large)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "whole, no bound");
    orr_lp_column(&lp, 1, 0, INFINITY, true, "x");
    orr_lp_row(&lp, 41.5, INFINITY, "row");
    orr_lp_coef(&lp, 0, 1);
    all_find(&lp, OPTIMAL, 42);
}
END_TEST

/* Rows of one column are no bounds of it, whatever their signs. */
static const struct {
    double lower, upper, coef;
    double least; /* of the column, which is free */
} rows[] = {
    {3, INFINITY, 1, 3},    {3, INFINITY, 2, 1.5},    {-3, INFINITY, 1, -3},
    {-INFINITY, 4, -2, -2}, {-INFINITY, -4, -1, 4},   {-5, 8, 1, -5},
    {-5, 8, -1, -8},        {7, 7, -2, -3.5},         {-8, -5, 1, -8},
    {5, 8, 0.5, 10},        {-1e-3, 1e9, 1e3, -1e-6}, {3e8, 4e8, 1e6, 300},
};

START_TEST(rows_mean_the_same_to_all)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "rows");
    orr_lp_column(&lp, 1, -INFINITY, INFINITY, false, "x");
    orr_lp_row(&lp, rows[_i].lower, rows[_i].upper, "row");
    orr_lp_coef(&lp, 0, rows[_i].coef);
    orr_lp_row(&lp, -INFINITY, INFINITY, "says_nothing");
    orr_lp_coef(&lp, 0, 5);
    all_find(&lp, OPTIMAL, rows[_i].least);
}
END_TEST

START_TEST(a_row_does_not_undo_a_bound)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "x >= 2 as bound, x >= 1 as row");
    orr_lp_column(&lp, 1, 2, INFINITY, false, "x");
    orr_lp_column(&lp, -1, 0, 6, false, "y");
    orr_lp_row(&lp, 1, INFINITY, "least");
    orr_lp_coef(&lp, 0, 1);
    orr_lp_row(&lp, -INFINITY, 9, "most");
    orr_lp_coef(&lp, 1, 1);
    all_find(&lp, OPTIMAL, -4);
}
END_TEST

/* A random program with a point that fits, in a box or pushed to its bounds by
 * the costs, so that it has an optimum. */
static void make_random(struct orr_lp *lp, uint64_t seed)
{
    uint64_t random = 0x9e3779b97f4a7c15U * (seed + 1);
    unsigned ncolumns = 2 + (unsigned)(rng_next(&random) % 9);
    unsigned nrows = 1 + (unsigned)(rng_next(&random) % 10);
    double point[16];

    orr_lp_begin(lp, "random");
    for (unsigned c = 0; c < ncolumns; c++) {
        unsigned sort = (unsigned)(rng_next(&random) % 6);
        double scale = (double[]){1, 0.1, 10}[rng_next(&random) % 3];
        double cost = (double)(rng_next(&random) % 100) / 7 / scale;
        double lower = -(double)(rng_next(&random) % 20) * scale;
        double upper = (double)(rng_next(&random) % 20) * scale;

        if (sort == 1)
            upper = INFINITY;
        if (sort == 2) { /* pushed up */
            lower = -INFINITY;
            cost = -cost;
        }
        if (sort == 3)
            upper = lower;
        if (sort == 4 && isfinite(upper))
            cost = -cost;
        point[c] = isinf(lower) ? upper : lower;
        orr_lp_column(lp, cost, lower, upper, scale == 1 && sort == 5, "x_%u",
                      c);
    }
    for (unsigned r = 0; r < nrows; r++) {
        unsigned sides = (unsigned)(rng_next(&random) % 4);
        double coefs[16], at = 0;

        for (unsigned c = 0; c < ncolumns; c++) {
            coefs[c] = rng_next(&random) % 2
                           ? ((double)(rng_next(&random) % 199) - 99) / 13
                           : 0;
            at += coefs[c] * point[c];
        }
        orr_lp_row(lp,
                   sides & 1 ? at - (double)(rng_next(&random) % 9)
                             : (double)-INFINITY,
                   sides & 2 ? at + (double)(rng_next(&random) % 9)
                             : (double)INFINITY,
                   "row_%u", r);
        for (unsigned c = ncolumns; c-- > 0;)
            if (coefs[c] != 0)
                orr_lp_coef(lp, c, coefs[c]);
    }
}

START_TEST(random_programs_have_one_optimum)
{
    for (unsigned i = 0; i < 10; i++) {
        struct orr_lp lp;

        make_random(&lp, (uint64_t)_i * 10 + i);
        all_find(&lp, OPTIMAL, NAN);
    }
}
END_TEST

START_TEST(coefficients_are_sorted_and_kept)
{
    struct orr_lp lp;

    orr_lp_begin(&lp, "sorted");
    for (unsigned c = 0; c < 300; c++)
        ck_assert_uint_eq(orr_lp_column(&lp, c, 0, 1, false, "x"), c);
    for (unsigned r = 0; r < 3; r++) {
        ck_assert_uint_eq(orr_lp_row(&lp, 0, 1, "r"), r);
        for (unsigned c = 0; c < 300; c++)
            orr_lp_coef(&lp, (c * 7 + r) % 300, c);
    }
    ck_assert_int_eq(orr_lp_end(&lp), 0);
    ck_assert_uint_eq(lp.ncoefs, 900);
    for (unsigned r = 0; r < 3; r++)
        for (unsigned i = 0; i < 300; i++) {
            unsigned c = (unsigned)lp.coef_value[300 * r + i];

            ck_assert_uint_eq(lp.coef_column[300 * r + i], i);
            ck_assert_uint_eq((c * 7 + r) % 300, i);
        }
    ck_assert_str_eq(lp.columns[1].name, "x_2");
    orr_lp_free(&lp);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    FILE *f = fopen("/dev/full", "w");
    struct orr_lp lp;

    if (!f)
        SKIP_TEST("no /dev/full");
    make_nasty(&lp);
    ck_assert_int_eq(orr_lp_end(&lp), 0);
    for (int format = 0; format <= ORR_LP_MPS; format++)
        ck_assert_int_lt(orr_lp_write(&lp, (enum orr_lp_format)format, f), 0);
    fclose(f);
    orr_lp_free(&lp);
}
END_TEST

#define LENGTH(array) (int)(sizeof(array) / sizeof(*(array)))

SUITE_MAIN(lp)
{
    Suite *suite = suite_create("lp");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, every_solver_is_asked, 0, NSOLVERS);
    tcase_add_test(tc, keywords_as_names_are_read_by_all);
    tcase_add_test(tc, names_are_unique_and_of_plain_letters);
    tcase_add_test(tc, a_long_name_is_cut);
    tcase_add_test(tc, nothing_at_all_is_a_program);
    tcase_add_test(tc, empty_rows_and_columns_are_read);
    tcase_add_test(tc, an_empty_row_that_cannot_hold_is_infeasible);
    tcase_add_test(tc, an_empty_objective_is_read);
    tcase_add_loop_test(tc, bounds_of_columns_mean_the_same_to_all, 0,
                        LENGTH(bounds));
    tcase_add_test(tc, a_whole_column_without_upper_bound_may_be_large);
    tcase_add_loop_test(tc, rows_mean_the_same_to_all, 0, LENGTH(rows));
    tcase_add_test(tc, a_row_does_not_undo_a_bound);
    tcase_add_loop_test(tc, random_programs_have_one_optimum, 0, 6);
    tcase_add_test(tc, coefficients_are_sorted_and_kept);
    tcase_add_test(tc, a_full_disk_is_an_error);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

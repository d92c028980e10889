/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/export.c - the area problem as text: for lp_solve, as fixed MPS, and
 * its solution as text. No threads. Workers are rows of their own here, as
 * readers of these files expect.
 */
#include "bound/record.h"

#include "core/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

static bool pool_duration_is_known(const struct orr_bound_problem *problem,
                                   unsigned t, unsigned w)
{
    return !isnan(problem->pools[t].duration_ms[w]);
}

static void lp_worker(const struct orr_bound_problem *problem, unsigned w,
                      FILE *f)
{
    fprintf(f, "/* %s */\n0", problem->worker_names[w]);
    for (unsigned t = 0; t < problem->npools; t++)
        if (pool_duration_is_known(problem, t, w))
            orr_fprintf(f, "\t%+f * w%ut%un",
                        (double)(float)problem->pools[t].duration_ms[w], w, t);
    fprintf(f, " <= tmax;\n");
}

static void lp_pool(const struct orr_bound_problem *problem, unsigned t,
                    FILE *f)
{
    const struct orr_bound_pool *pool = &problem->pools[t];

    fprintf(f, "/* %s key %x */\n0", pool->symbol, pool->footprint);
    for (unsigned w = 0; w < problem->nworkers; w++)
        if (pool_duration_is_known(problem, t, w))
            fprintf(f, "\t+w%ut%un", w, t);
    fprintf(f, " = %lu;\n", pool->count);
    if (pool->executed) {
        fprintf(f, "/* executed so far:");
        for (unsigned w = 0; w < problem->nworkers; w++)
            fprintf(f, "\t+%lu", pool->executed[w]);
        fprintf(f, " */\n");
    }
    fprintf(f, "\n");
}

static void print_lp(const struct orr_bound_problem *problem, FILE *f)
{
    bool first = true;

    fprintf(f, "/* Least time for all tasks, without regard to transfers and "
               "dependencies */\n"
               "/* w<W>t<T>n: tasks of pool T that worker W executes; tmax in "
               "milliseconds */\nmin: tmax;\n\n");
    for (unsigned w = 0; w < problem->nworkers; w++)
        lp_worker(problem, w, f);
    fprintf(f, "\n");
    for (unsigned t = 0; t < problem->npools; t++)
        lp_pool(problem, t, f);
    fprintf(f, "/* For whole tasks, take this out of its comment:\nint ");
    for (unsigned w = 0; w < problem->nworkers; w++)
        for (unsigned t = 0; t < problem->npools; t++)
            if (pool_duration_is_known(problem, t, w)) {
                fprintf(f, "%sw%ut%un", first ? "" : ",", w, t);
                first = false;
            }
    fprintf(f, ";\n*/\n");
}

/* A line of fixed MPS columns: name, row letter and number, value. */
static void mps_line(FILE *f, const char *name, char letter, unsigned number,
                     const char *value)
{
    char row[16];

    snprintf(row, sizeof(row), "%c%u", letter, number);
    fprintf(f, "    %-8s  %-8s  %12s\n", name, row, value);
}

static void write_area_mps_columns(const struct orr_bound_problem *problem,
                                   FILE *f)
{
    char name[32], value[64];

    fprintf(f, "COLUMNS\n");
    for (unsigned w = 0; w < problem->nworkers; w++)
        for (unsigned t = 0; t < problem->npools; t++) {
            if (!pool_duration_is_known(problem, t, w))
                continue;
            snprintf(name, sizeof(name), "W%uT%u", w, t);
            orr_snprintf(value, sizeof(value), "%12f",
                         problem->pools[t].duration_ms[w]);
            mps_line(f, name, 'W', w, value);
            mps_line(f, name, 'T', t, "1");
        }
    for (unsigned w = 0; w < problem->nworkers; w++)
        mps_line(f, "TMAX", 'W', w, "-1");
    fprintf(f, "    %-8s  %-8s  %12s\n", "TMAX", "TMAX", "1");
}

static void print_mps(const struct orr_bound_problem *problem, FILE *f)
{
    char name[32], value[64];

    fprintf(f, "NAME           StarPU theoretical bound\nROWS\n");
    fprintf(f, "* minimise the time of the last worker\n N  TMAX\n");
    fprintf(f, "* each worker ends by then\n");
    for (unsigned w = 0; w < problem->nworkers; w++)
        fprintf(f, " L  W%u\n", w);
    fprintf(f, "* every task is executed\n");
    for (unsigned t = 0; t < problem->npools; t++)
        fprintf(f, " E  T%u\n", t);
    write_area_mps_columns(problem, f);
    fprintf(f, "RHS\n");
    for (unsigned t = 0; t < problem->npools; t++) {
        snprintf(name, sizeof(name), "NT%u", t);
        snprintf(value, sizeof(value), "%lu", problem->pools[t].count);
        mps_line(f, name, 'T', t, value);
    }
    fprintf(f, "ENDATA\n");
}

static int print_with(void (*print)(const struct orr_bound_problem *, FILE *),
                      const struct orr_bound_problem *problem, FILE *f)
{
    print(problem, f);
    return ferror(f) ? -EIO : 0;
}

int orr_bound_print_lp(const struct orr_bound_problem *problem, FILE *f)
{
    return print_with(print_lp, problem, f);
}

int orr_bound_print_mps(const struct orr_bound_problem *problem, FILE *f)
{
    return print_with(print_mps, problem, f);
}

int orr_bound_print_solution(const struct orr_bound_problem *problem,
                             double bound_ms, const double *counts, FILE *f)
{
    orr_fprintf(f, "Theoretical minimum execution time: %f ms\n", bound_ms);
    for (unsigned t = 0; t < problem->npools; t++) {
        fprintf(f, "%s key %x\n", problem->pools[t].symbol,
                problem->pools[t].footprint);
        for (unsigned w = 0; w < problem->nworkers; w++)
            orr_fprintf(f, "\tw%ut%un %f", w, t, counts[t * problem->nworkers + w]);
        fprintf(f, "\n");
    }
    return ferror(f) ? -EIO : 0;
}

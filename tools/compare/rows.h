/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/rows.h - a comparison as rows: as a table, as Markdown, as CSV and
 * as JSON. One thread.
 */
#pragma once

#include <jansson.h>

#include "tools/common/comparison.h"

/* What a row says of a good cell; NaN: not known. */
struct row {
    double ms, low_ms, high_ms; /* the median and its interval */
    double unit_ms; /* the unit in which tables have them */
    double to_best;    /* over the median of the best of its rivals */
    double slower;     /* share of the pairs of runs in which it is slower than
                         * that */
    double first;      /* share of the draws in which it is the best of its rivals */
    double difference; /* the probability of as much by chance: rank_test */
    double of_bound;   /* the bound over the median, at most 1 */
    double idle;       /* share of the workers' time */
    double speedup, efficiency; /* of clusters of several sizes: cell_speedup */
    double price;   /* of a run, where prices of an hour are known */
    bool is_pareto; /* no rival has less of time and energy */
    bool is_best, is_alike; /* alike: as good as the best, by that test */
    unsigned nran, nfailed; /* of its rivals; the best is of the former alone */
};
struct row row_of(const struct comparison *comparison, const struct cell *cell);

/* Why a cell is not good; owned. NULL without memory. */
char *cell_why(const struct comparison *comparison, const struct cell *cell);

/* "predicted ms", or "ms" where real runs are among them; of a picture's axis
 * "predicted time (ms)", "time (ms)". Returns text. */
const char *comparison_time_title(const struct comparison *comparison, bool axis,
                                  char text[REPORT_TIME_MAX]);

/* Print all cells; a message and -1 without memory. */
int rows_print_table(const struct comparison *comparison);
int rows_print_markdown(const struct comparison *comparison);
int rows_print_csv(const struct comparison *comparison);
int rows_print_json(const struct comparison *comparison);

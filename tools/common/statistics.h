/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/statistics.h - samples of two runs compared. Pure functions of
 * arrays.
 */
#pragma once

#include <stddef.h>

#define STATISTICS_LEVEL 0.05 /* of tests; intervals contain with the rest */
#define STATISTICS_PROPER 6 /* samples with which an interval may be that good */
#define STATISTICS_LEAST 4 /* samples of both without which no test can tell */

/* Sorts the values; their median, and the values between which that of the
 * distribution lies with a probability of 95 % (order statistics: David, Nagaraja,
 * "Order statistics", 2003, 7.1). Of less than 6 values these are the least and the
 * greatest. NaN of none. */
struct spread {
    double median, low, high;
};
struct spread spread_of(double *values, size_t n);

/* The same, but between which nine of ten values lie: of what may be, not of what was
 * measured, of which more say nothing more exactly. */
struct spread draws_of(double *values, size_t n);

/* The share of pairs (x, y) in which x is less than y, ties counting half; NaN
 * without pairs. O(nx ny). */
double share_less(const double *x, size_t nx, const double *y, size_t ny);

/* The probability that two samples of one distribution differ in ranks by as much
 * as these or more, in either direction (Mann, Whitney, "On a test of whether one
 * of two random variables is stochastically larger than the other", 1947): exact
 * where there are no ties and at most 30 values each, else by the normal
 * distribution with ties taken into account. 1 with less than STATISTICS_LEAST of
 * either. */
double rank_test(const double *x, size_t nx, const double *y, size_t ny);

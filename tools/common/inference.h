/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/inference.h - what samples of several treatments on common inputs allow to
 * conclude: paired tests, corrections for their number, sizes of effects, ranks over
 * workloads, performance profiles. docs/STUDY.md says what is used when. Pure functions of
 * arrays.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Two samples whose i-th values were made under the same conditions. */
struct paired {
    size_t n;      /* pairs in which both are numbers, and greater than 0 */
    double chance; /* of sums of signed ranks as far from the middle as these or farther,
                    * in either direction (Wilcoxon, "Individual comparisons by ranking
                    * methods", 1945), of all 2^n ways to choose the signs: exact for up to
                    * INFERENCE_EXACT pairs, also with ties, else by the normal
                    * distribution. 1: no pair differs. Pairs that are equal count half of
                    * their ranks on either side (Demšar, "Statistical comparisons of
                    * classifiers over multiple data sets", JMLR 7, 2006, 3.1.3). */
    double plus, minus; /* sums of ranks of the pairs in which x is greater, and less */
    double biserial;    /* (plus - minus) over both (Kerby, "The simple difference formula",
                         * 2014): 1 where x is greater in all pairs */
    double ratio;       /* of x to y: of the logarithms of their ratios the median of all
                         * means of two (Hodges, Lehmann, "Estimates of location based on
                         * rank tests", 1963) */
};

#define INFERENCE_EXACT 50

/* NaN in a pair leaves it out. What lacks memory has a chance of NaN. */
struct paired paired_test(const double *x, const double *y, size_t n);

/* The least chance that so many pairs can have: 2 / 2^n. */
double paired_least_chance(size_t n);

/* Corrects `n` chances for their number, in place: the least times n, the next times n - 1,
 * …, none less than one before it (Holm, "A simple sequentially rejective multiple test
 * procedure", 1979). NaN stay, and do not count. Errors: -ENOMEM. */
int holm_correct(double *chances, size_t n);

/* Ranks of `k` treatments in each of `n` blocks: values[block * k + treatment], 1 for the
 * least, means of equal ones (Friedman, "The use of ranks to avoid the assumption of
 * normality", 1937). */
struct friedman {
    double square; /* Friedman's statistic, with ties taken into account */
    double f;      /* Iman and Davenport's, "Approximations of the critical region of the
                    * Friedman statistic", 1980; INFINITY: all blocks agree */
    double chance; /* of such an f or more, if treatments do not differ; NaN: n or k is
                    * less than 2 */
};

/* Fills in the mean rank of each treatment. Errors: -ENOMEM. */
int friedman_test(const double *values, size_t n, size_t k, double *ret_ranks,
                  struct friedman *ret);

/* How far mean ranks have to be apart, of all pairs of k treatments over n blocks
 * (Nemenyi, "Distribution-free multiple comparisons", 1963; by the studentized range as in
 * Demšar 2006, 3.2.2). */
double nemenyi_difference(double level, size_t n, size_t k);

/* The probability that the range of k standard normal variables is less than q. */
double range_below(double q, size_t k);

/* The probability that a variable of Fisher's distribution is greater than f. */
double fisher_above(double f, double freedom1, double freedom2);

/* The geometric mean, by which ratios are averaged (Fleming, Wallace, "How not to lie with
 * statistics", 1986). NaN of none, and where a value is not greater than 0. */
double geometric_mean(const double *values, size_t n);

/* The share of blocks in which a treatment takes at most `factor` times the least of all
 * (Dolan, Moré, "Benchmarking optimization software with performance profiles", 2002); one
 * that failed, NaN, never does. */
double profile_share(const double *values, size_t n, size_t k, size_t treatment, double factor);

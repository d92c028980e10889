/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/advise/value.h - a choice between candidates whose losses are known in draws: how
 * sure it is, what it may cost, and which uncertain figure, once known, would help most.
 * Pure functions of arrays. A loss is what is to be small: a time, a price of it.
 *
 * losses[c * ndraws + d]: of candidate c in draw d; NaN: not known, the candidate is none
 * there. figures[d]: the logarithm of a figure's factor.
 */
#pragma once

#include <stddef.h>

struct choices {
    size_t n, ndraws;
    const double *losses;
};

/* The mean of a candidate's losses; NaN if one is not known. */
double choice_mean(const struct choices *choices, size_t c);

/* The share of draws in which the candidate has the least loss, ties shared. */
double choice_first_share(const struct choices *choices, size_t c);

/* The candidate with the least mean; n: none has one. */
size_t choices_best(const struct choices *choices);

/* What the best choice now costs more, in the mean, than if the draw were known: the expected
 * value of perfect information (Raiffa and Schlaifer, "Applied statistical decision theory",
 * 1961). 0: it is the same choice in all draws. */
double choices_regret(const struct choices *choices);

/* By how much that gets less, in the mean, if one figure alone becomes known: the expected
 * value of partial perfect information, with what each candidate saves given the figure by a linear
 * regression on it (Strong, Oakley, Brennan, "Estimating multiparameter
 * partial expected value of perfect information from a probabilistic sensitivity analysis sample",
 * 2014). Regressions that may be chance count as none: slopes below two of their standard
 * errors. */
double choices_figure_value(const struct choices *choices, const double *figure);

/* By how many per cent the candidate's loss changes where the figure changes by one: the slope
 * of logarithms. 0 where it may be chance: below three of its standard errors. */
double choice_elasticity(const struct choices *choices, size_t c, const double *figure);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/robust_private.h - what robust.c, regimes.c, dip.c and intervals.c
 * share. Pure functions of arrays, like robust.h.
 */
#pragma once

#include "perfmodel/robust.h"

/* The step of the clock that n sorted samples were taken with, in their unit:
 * the smallest distance between readings that come again and again; 0 unless
 * most samples are such readings. */
double orr_resolution(const double *sorted, unsigned n);

/* The dip of n sorted values: 1/(2n) … 1/4, small for a single mode. Errors:
 * -ENOMEM. */
int orr_dip(const double *sorted, unsigned n, double *ret);

/* The levels of n >= 1 samples, given also sorted: one or two in *ret and
 * *ret_n. All samples up to a duration belong to the first, the others to the
 * second. Errors: -ENOMEM. */
int orr_regimes(const double *samples, const double *sorted, unsigned n,
                struct orr_regime *ret, unsigned *ret_n);

/* Fills in the three intervals of n >= 1 samples, the last for the median of m
 * more. Errors: -ENOMEM. */
int orr_intervals(const double *samples, unsigned n, unsigned m, double level,
                  struct orr_summary *ret);

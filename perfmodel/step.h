/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/step.h - steps in times over sizes, as where data no longer fit a
 * cache: on which side of the step a size between two measured ones lies is not
 * known. Pure functions.
 */
#pragma once

/* How far ln time may be from `value` at t, which lies between two of the n points
 * (u ascending, v: logarithms of sizes and times), when the time steps between
 * these by `least` or more (ln); 0 when it does not. */
double orr_step_furthest(const double *u, const double *v, unsigned n, double t,
                         double value, double least);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/distributions.h - quantiles of the normal distribution and of
 * Student's. Pure functions.
 */
#pragma once

/* The q-quantile (0 < q < 1) of the standard normal distribution, relative
 * error 1e-7 (Wichura 1988, algorithm AS 241). */
double orr_normal_quantile(double q);

/* The standard normal distribution function at x. */
double orr_normal_below(double x);

/* The t that a Student variable with `freedom` >= 1 degrees, not necessarily
 * whole, stays within with probability `level` (0 < level < 1), on both sides;
 * three digits at least, more above five degrees (Hill 1970, algorithm 396). */
double orr_student_within(double level, double freedom);

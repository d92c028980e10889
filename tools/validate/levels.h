/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/levels.h - whether a kernel takes two times, alike in every
 * repetition of a program: a property of the kernel, which a model with one time
 * cannot describe, and not of what else the machine does. Pure functions.
 */
#pragma once

#include <stdbool.h>

/* One repetition: µs; shares of the kernel's runs. */
struct levels_sample {
    double usual;       /* mean without outliers */
    double other;       /* median of the outliers; NaN: none */
    double other_share; /* within a factor of 1.5 of that */
    double aside_share; /* all outliers */
    double runs;
};

/* Two times and the share of the runs that take the other one; medians. */
struct levels {
    double usual, other, share;
};

/* Whether all of n repetitions have the same two levels, in the same shares.
 * `work` has room for n. */
bool levels_find(const struct levels_sample *samples, unsigned n, double *work,
                 struct levels *ret);

/* Whether all of n shares are alike: what differs from one repetition to the
 * next is noise, what does not is the program's. */
bool levels_alike(const double *shares, unsigned n);

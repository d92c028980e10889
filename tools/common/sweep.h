/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/sweep.h - what-if edits with several values, "cuda.count = 1..8" or
 * "cuda.memory = 4GiB, 8GiB", and the edits of each combination. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SWEEP_MAX_VALUES 1000
#define SWEEP_MAX_POINTS 100000

/* An edit that takes several values. */
struct sweep_axis {
    const char *command; /* borrowed: whose messages these are */
    char *
        target; /* owned: "cuda.count", "pcie.bandwidth *" where the operator is
                    * not just "=" */
    char **values; /* owned, as are the texts: as in an edit, "4GiB" */
    size_t n;
    double *
        numbers; /* owned: the values, in `unit`; NULL: not all are numbers with
                      * one unit */
    char unit[16];
};

/* All of them, and the edits between: zeroed to begin with. Its points are the
 * combinations of values, the last axis changing first; without an axis there is
 * one. */
struct sweep {
    const char *command;
    char **edits; /* owned: each edit, as it was written */
    int *axis_of; /* owned: the edit's axis, -1: it has one value */
    size_t nedits;
    struct sweep_axis *axes; /* owned */
    size_t naxes, npoints;
};

/* Reads edits, as --set of that command takes them, or NULL. Errors: a message and -1. */
int sweep_read(struct sweep *sweep, const char *command, const char *edits);
void sweep_done(struct sweep *sweep);

/* The edits of a point, one a line; owned. "" without edits, NULL without memory. */
char *sweep_edits(const struct sweep *sweep, size_t point);

/* Which value the point has on an axis, and its text. */
size_t sweep_index(const struct sweep *sweep, size_t point, size_t axis);
const char *sweep_value(const struct sweep *sweep, size_t point, size_t axis);

/* "cuda.count = 4, cuda.memory = 8GiB"; owned. "" without axes, NULL without
 * memory. */
char *sweep_name(const struct sweep *sweep, size_t point);

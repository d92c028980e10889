/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/assume.h - times that the user gives for kernels without a model:
 * ORRERY_ASSUME. Constant after it was read.
 */
#pragma once

#include <stdbool.h>

struct orr_assumption {
    char *name; /* of a codelet or of a model, owned */
    double us;
};

struct orr_assumptions {
    struct orr_assumption *all; /* owned */
    unsigned n;
};

/* Reads "kernel[init] = 50us; copy = 2ms; check = 0": names, with or without
 * `kernel[]` around them, and times in us (also without unit), ms or s. The
 * text may be NULL. A part that cannot be understood is named in a warning and
 * left out. Errors: -ENOMEM. The caller ends it with orr_assumptions_done. */
int orr_assumptions_read(const char *text, struct orr_assumptions *ret);
void orr_assumptions_done(struct orr_assumptions *a);

/* Whether a time is given for the name, which may be NULL; the last one
 * counts. */
bool orr_assumptions_find(const struct orr_assumptions *a, const char *name,
                          double *ret_us);

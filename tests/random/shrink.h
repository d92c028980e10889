/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/shrink.h - the smallest program that still fails. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "program.h"
#include "trial.h"

struct shrink_options {
    uint64_t features;
    unsigned limit_s;  /* for a graph */
    unsigned nrepeats; /* of each trial, until it fails */
    unsigned ntrials;  /* at most, in all */
};

/* Makes the program, which failed as *verdict says, as small as it can while it
 * fails in the same way, and *verdict that of the last failure. Returns false
 * if it does not fail again. */
bool program_shrink(struct program *program,
                    const struct shrink_options *options,
                    struct verdict *verdict);

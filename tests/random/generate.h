/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/generate.h - programs drawn from a seed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

struct wishes {
    uint64_t features; /* of enum feature */
    bool real;
    unsigned ndevices; /* that the real machine has beside processors */
    bool full;         /* memories are tiny on most machines */
    unsigned ngraphs;  /* per machine, at most MAX_GRAPHS */
};

/* The machine and the graphs number `batch` of the seed, as drawn: not legal
 * yet. */
void program_draw(struct program *ret, uint64_t seed, unsigned batch,
                  const struct wishes *wishes);

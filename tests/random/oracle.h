/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/oracle.h - what a graph must compute: the same calls one after
 * the other on plain arrays.
 */
#pragma once

#include <stdint.h>

#include "program.h"

/* The hash of what each call finds: a task in each of its buffers, an
 * acquisition and the end of a datum in the first. */
struct answers {
    uint64_t hash[MAX_CALLS][MAX_BUFFERS];
};

/* Whether the call looks at buffer k: its content is determined. */
bool oracle_looks(const struct graph *graph, const struct machine *machine,
                  const struct call *call, unsigned k);

/* The number that a task or an acquisition writes with, given the hashes that
 * it found. */
uint64_t oracle_number(const struct graph *graph, const struct call *call,
                       const uint64_t *hashes);

/* Of a legal graph. Errors: -ENOMEM. */
int oracle_ask(const struct graph *graph, const struct machine *machine,
               struct answers *ret);

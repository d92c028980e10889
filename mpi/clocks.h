/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/clocks.h - the clocks of ranks beside that of rank 0, when ranks begin and when they
 * end: by how much they differ then, and so how fast they drift apart, is told to the
 * observers of each run, for those who put the files of several ranks together.
 */
#pragma once

#include <stdbool.h>

#include "mpi/control.h"

struct orr_rank;
struct orr_waiter;

struct orr_clocks {
    bool compared;       /* [const] after orr_clocks_open: some rank leaves a file */
    unsigned left;       /* [carrier] questions to rank 0 that are to come */
    double sent;         /* [carrier] µs, when the last one went */
    double start, end;   /* [carrier] of the shortest round trip … */
    double offset;       /* … and what rank 0's clock was ahead in its middle */
    struct orr_waiter *waiter;
};

/* A message of this part's has come. */
orr_control orr_clocks_take;

/* Asks all ranks whether one leaves a file, and compares clocks if so. Nothing on simulated
 * machines, whose clocks agree. Main. */
void orr_clocks_open(struct orr_rank *rank, const char *call);

/* Compares once more, while all ranks still answer. Main. */
void orr_clocks_close(struct orr_rank *rank, const char *call);

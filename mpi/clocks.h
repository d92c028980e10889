/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/clocks.h - the clocks of ranks beside that of rank 0, when ranks begin and when they
 * end: by how much they differ then, and so how fast they drift apart, is told to the
 * observers of each run, for those who put the files of several ranks together.
 */
#pragma once

#include "mpi/members.h"

struct orr_rank;

/* A message of this part's has come. */
orr_control orr_clocks_take;

/* Asks all ranks whether one leaves a file, and compares clocks if so. Nothing on simulated
 * machines, whose clocks agree. Main. */
void orr_clocks_open(struct orr_rank *rank, const char *call);

/* Compares once more, while all ranks still answer. Main. */
void orr_clocks_close(struct orr_rank *rank, const char *call);

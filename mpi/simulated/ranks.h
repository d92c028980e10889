/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/ranks.h - a program (program.h) each of whose ranks opens one run, and does
 * in it what it does as a rank.
 */
#pragma once

#include "mpi/simulated/program.h"

struct orr_rank;
struct orr_rank_conf;

struct orr_simulated_ranks {
    unsigned nranks;
    const unsigned *nodes; /* these three as struct orr_simulated_conf has them */
    unsigned nnodes;
    const char *network;
    /* Opens a run on the calling context, on a simulated machine, as that of this rank;
     * 0, or an error after a message. Closes it. */
    int (*open)(int rank, void *arg);
    void (*close)(void *arg);
    /* What the rank does, on the same context. */
    void (*main)(struct orr_rank *rank, void *arg);
    void *arg;
};

/* Runs all ranks, as orr_simulated_program_run does. Where a run cannot be opened, no rank
 * begins. Errors, after a message: those of `open` and of orr_simulated_program_run. */
int orr_simulated_ranks_run(const struct orr_simulated_ranks *ranks);

/* The transport of the calling context's rank, for the run that is open there, whose machine
 * is its node's from now on. NULL, with a message. */
struct orr_transport *orr_simulated_transport(struct orr_error *err);

/* How the calling context's rank is opened, with communicators of the network as natives. */
void orr_simulated_rank_fill(struct orr_rank_conf *conf);

/* Opens the calling context's rank, of the program that it belongs to, in the run that is
 * open there. orr_rank_close ends it. Errors: as orr_rank_open. */
int orr_simulated_rank_open(const char *call);

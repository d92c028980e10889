/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/ranks.h - a program of several ranks in one process, each with a simulated
 * machine of its own, on one engine, in virtual time.
 */
#pragma once

#include "mpi/simulated/simulated.h"

struct orr_rank;

struct orr_simulated_ranks {
    unsigned nranks;
    const unsigned *nodes; /* these three as struct orr_simulated_conf has them */
    unsigned nnodes;
    const char *network;
    /* Opens a run on the calling context, on a simulated machine, as that of this rank;
     * 0, or an error after a message. Closes it. */
    int (*open)(int rank, void *arg);
    void (*close)(void *arg);
    /* What the rank does, on the same context. Data that it owns have to stay until all
     * others have them: it waits for its messages. */
    void (*main)(struct orr_rank *rank, void *arg);
    void *arg;
};

/* Runs all ranks: rank 0 on the calling thread, which becomes the engine's main context as
 * with any simulated run, the others on contexts beside it. Returns when all have ended.
 * Where a run cannot be opened, no rank begins. Errors, after a message: those of `open`,
 * -ENOMEM, -EINVAL. */
int orr_simulated_ranks_run(const struct orr_simulated_ranks *ranks);

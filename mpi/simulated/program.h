/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/program.h - a program of several ranks in one process, in virtual time: a
 * context for each, on one engine, and the network between their nodes. What a rank calls
 * of the library is its own: settings, runs, simulated machines.
 */
#pragma once

#include "mpi/simulated/simulated.h"

struct orr_cluster_processors;
struct orr_cluster_ranks;
struct orr_setting;

struct orr_simulated_program {
    struct orr_simulated_conf conf; /* but for `cluster` */
    /* By rank, what goes before the environment's settings, as ORR_CFG_MACHINE; lent.
     * NULL: nothing does. */
    const struct orr_setting *const *settings;
    /* Likewise, those that its threads share; NULL: each thread has one. */
    const struct orr_cluster_processors *processors;
    /* What the rank does, from begin to end. All runs that it opens it closes. Data that
     * it owns have to stay until all others have them: it waits for its messages. */
    void (*main)(int rank, void *arg);
    void *arg;
};

/* Runs all ranks: rank 0 on the calling thread, which is no context of a run, the others on
 * contexts beside it. Returns when all have ended. Where one cannot be started, no other
 * begins. Errors: -ENOMEM, -EAGAIN; -EINVAL; after a message. */
int orr_simulated_program_run(const struct orr_simulated_program *program);

/* The same on a cluster, by its first n ranks, which it has at least; with their machines. */
int orr_simulated_program_run_on(const struct orr_cluster_ranks *cluster, unsigned n,
                                 void (*main)(int rank, void *arg), void *arg);

/* The process may have n files more open, one for each rank, if the system lets it. */
void orr_simulated_allow_files(unsigned n);

/* Where the caller is in such a program: its network and its rank. NULL: in none. */
struct orr_simulated_place {
    struct orr_simulated *net;
    int rank;
    void *own; /* of those above, for this rank */
};
struct orr_simulated_place *orr_simulated_place(void);

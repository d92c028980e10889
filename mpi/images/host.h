/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/host.h - a program of one process as the ranks of a simulated cluster: its main
 * runs once for each, on images of the executable.
 */
#pragma once

#include "mpi/images/image.h"

struct orr_host {
    orr_finder find;        /* the functions that stand for those of MPI */
    const char *variables;  /* with that the names of MPI's variables begin */
    void (*begin)(void);    /* before the first rank begins; on main */
    void (*end_rank)(void); /* when main of a rank has ended, as the rank */
    void (*end)(void);      /* when all have */
};

/* Called before main, where the process pretends to be one rank of several: its calls of MPI are
 * answered by `find`, or refused by their names where other ranks would have to take part. */
void orr_host_alone(orr_finder find);

/* Called before main, of the library's own: if ORRERY_MACHINE names a cluster, ranks run
 * instead of main, as many as the cluster has. The process then ends with the status of the
 * first rank that has one other than 0. `host` stays. */
void orr_host_watch(const struct orr_host *host);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/launchers.h - the parts of a study on several machines: through SLURM, GNU
 * parallel or MPI's launcher, each of which starts this command with --part. One thread.
 */
#pragma once

#include <stdbool.h>

struct launcher_options {
    const char *on;     /* "slurm", "parallel", "mpi" */
    const char *with;   /* words for it, as a shell splits them; NULL: none */
    const char *study;  /* the file, and the folder that keeps results; absolute */
    const char *store;
    const char *jobs;   /* -j; NULL: not given */
    unsigned parts;     /* how many there are to be */
};

/* Starts the parts. *ret_waits: they have ended when this returns, as those of SLURM, which
 * queues them, have not. Says what is wrong; returns an exit code. */
int launcher_start(const struct launcher_options *options, bool *ret_waits);

/* "3/8", or "mpi" in a process that MPI's launcher has started, in *ret_part and *ret_parts.
 * Says what is wrong; returns an exit code. */
int launcher_read_part(const char *text, unsigned *ret_part, unsigned *ret_parts);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/real/real.h - the transport of ranks of MPI. The same sources are compiled once for
 * each MPI, whose types differ. This header needs none.
 *
 * Messages go over the application's communicators, with tags of their own: headers
 * with `tag`, data with tag + 1. A duplicate of each would be private, but duplicating
 * is done by all members together, and comm_add is not: a rank that learns of a
 * communicator late, or never, would hang the others. Programs know these tags
 * (StarPU's are 42, and tag + 2 is one of them, which is left alone). Meetings are
 * MPI_Ibarrier and MPI_Iallgather on the same communicator.
 */
#pragma once

#include "mpi/transport.h"

struct orr_mpi_conf {
    /* open calls MPI_Init_thread, close MPI_Finalize: after that MPI is over for the
     * process. False: MPI is initialised already. */
    bool initialize;
    int *argc; /* of main, for MPI_Init_thread; may be NULL */
    char ***argv;
    bool every_thread; /* initialize with MPI_THREAD_MULTIPLE, not _SERIALIZED */
    int tag;           /* 0: 42; equal on all ranks */
};

/* Opens it; the calling thread is the owner, and the one that makes all calls of MPI.
 * No communicator is known yet; the native one of comm_add is the address of an
 * MPI_Comm, whose error handler is MPI_ERRORS_RETURN until close. A notice is printed
 * if the application has initialised MPI with a thread level below
 * MPI_THREAD_SERIALIZED. Errors, with a sentence: -EINVAL if MPI is not initialised and
 * should be, or the reverse, or is over, or `tag` is too large; -EIO from MPI; -ENOMEM. */
int orr_mpi_open(const struct orr_mpi_conf *conf, struct orr_transport **ret,
                 struct orr_error *err);

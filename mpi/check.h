/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/check.h - whether all ranks insert the same tasks (ORRERY_MPI_CHECK=1).
 *
 * Each rank keeps what it has inserted in each communicator, with a hash of all up to
 * there. When it comes to a wait, a barrier, or the shutdown, it tells rank 0 of the
 * communicator how many these are, and their hash; rank 0 compares as soon as it has
 * inserted as many itself, looks for the first that differs, names it, and ends the
 * program. Nobody waits for that but the shutdown.
 *
 * Where it is off, `rank->check` is NULL, and the calls do nothing.
 */
#pragma once

#include "core/api/insertion.h"

struct orr_check;
struct orr_comm;
struct orr_rank;

/* When the rank opens. Errors: -ENOMEM. Main. */
int orr_check_open(struct orr_rank *rank);
/* When its carrier has ended. */
void orr_check_close(struct orr_rank *rank);

/* An insertion in that communicator. The thread that submits. */
void orr_check_inserted(struct orr_rank *rank, const struct orr_comm *comm,
                        const struct orr_insertion *insertion);

/* The caller comes to a wait; to the next barrier of the communicator. */
void orr_check_wait(struct orr_rank *rank);
void orr_check_barrier(struct orr_rank *rank, const struct orr_comm *comm);

/* Returns when all ranks have come to their end, also where nothing is checked; ends the
 * program if what they have inserted in the communicator of all differs, or not all ranks
 * check. Main. */
void orr_check_end(struct orr_rank *rank, const char *call);

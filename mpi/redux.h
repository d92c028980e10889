/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/redux.h - reductions over ranks: tasks contribute to a datum on several ranks
 * (STARPU_REDUX, STARPU_MPI_REDUX), each into its own copy; then the copies are sent to the
 * owner's and combined there by the datum's redux codelet, all at once or along a tree.
 *
 * Which ranks have contributed each rank knows by itself, since all of them insert all
 * contributions.
 */
#pragma once

#include <stdint.h>

#include <starpu.h>

#include "mpi/datum.h"

/* An insertion is about to use the datum with that mode: one that does not contribute
 * ends a reduction that is under way; the first contribution of one makes room for it. */
void orr_redux_before(struct orr_datum *datum, uint32_t mode, const char *call);

/* A contribution was inserted, which `executor` executes. */
void orr_redux_contributed(struct orr_datum *datum, int executor, const char *call);

/* Ends the reduction: submits what combines all contributions. arity: so many copies are
 * combined at a time, less than 2: all of them. Nothing if none is under way. On all ranks
 * that contribute, and the owner's. */
void orr_redux_end(struct orr_datum *datum, int arity, int priority, const char *call);

/* That for all of the rank's data, with an arity that depends on their size
 * (STARPU_MPI_REDUX_ARITY_THRESHOLD). */
void orr_redux_end_all(struct orr_rank *rank, const char *call);

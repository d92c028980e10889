/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/stats.h - bytes sent, by receiver: STARPU_MPI_STATS, starpu_mpi_comm_stats_*.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_comm;
struct orr_rank;

/* Counts from now on, or no more; what was counted stays. Any context. */
void orr_stats_set(struct orr_rank *rank, bool on);

/* Bytes sent to each rank of the communicator of all; false, and nothing is written: nothing
 * was ever counted. */
bool orr_stats_get(struct orr_rank *rank, size_t *bytes);

/* A message of so many bytes goes to a rank, from a memory node; on the carrier. */
void orr_stats_sent(struct orr_rank *rank, const struct orr_comm *comm, int peer,
                    unsigned node, size_t bytes);

/* Writes what was counted to stderr, and frees it. */
void orr_stats_end(struct orr_rank *rank);

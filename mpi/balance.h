/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/balance.h - data go from ranks that are slow to ranks that are fast, so that the tasks
 * which write them do.
 *
 * All ranks insert all tasks, which have numbers (STARPU_TAG_ONLY). At certain numbers,
 * so at one point of submission, ranks tell each other how long they took since the last
 * one; one that is slower than its fastest neighbour gives that some data, of which it
 * tells all ranks, and all migrate them before they go on. Of the thread that submits.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "mpi/rank.h"

struct orr_insertion;

/* What the application says, as struct starpu_mpi_lb_conf. */
struct orr_balance_conf {
    void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
    void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit, int *nhandles,
                                     int dst_node);
};

/* Begins with the policy of that name, STARPU_MPI_LB's if it is set; "help" or NULL: names
 * are printed, and nothing begins; nor does it, after a message, with another name. The
 * program ends, after a message, where something is missing, or it has begun already. */
void orr_balance_begin(struct orr_rank *rank, const char *name,
                       const struct orr_balance_conf *conf, const char *call);

/* All data go back to those that owned them at first. Nothing if none has begun. */
void orr_balance_end(struct orr_rank *rank, const char *call);

/* A task was inserted, which this rank executes or not. */
void orr_balance_inserted(struct orr_rank *rank, const struct orr_insertion *insertion,
                          bool executes);

/* What says how many µs the rank has taken since the last comparison; NULL: the clock. */
void orr_balance_set_elapsed(struct orr_rank *rank, double (*elapsed)(void));

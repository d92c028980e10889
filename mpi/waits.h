/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/waits.h - what the application waits for, beside single messages. Any context that may
 * block; -EDEADLK after a message that names `call` if it may not. */
#pragma once

struct orr_comm;
struct orr_rank;

/* Ends reductions that are under way; returns when no task of this rank and no message is
 * left. */
int orr_wait_messages(struct orr_rank *rank, const char *call);

/* Returns when all ranks of the communicator are here; errors: those of orr_rank_meet. */
int orr_wait_barrier(struct orr_rank *rank, const struct orr_comm *comm, const char *call);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/move.h - data go from rank to rank: for insertions, and because the application says
 * so. Each call is made on all ranks of the communicator, at the same point of submission,
 * but those of the first part, which the ranks make that take part.
 */
#pragma once

#include <stdbool.h>

#include "mpi/datum.h"

struct orr_comm;
struct orr_rank;

/* --- one datum, two ranks --- */

/* The owner's value goes to a rank, unless the cache knows that it has it; and comes here. */
void orr_move_send(struct orr_datum *datum, const struct orr_comm *comm, int to,
                   int priority, bool synchronous, const char *call);
/* Returns whether it has to come. */
bool orr_move_receive(struct orr_datum *datum, const struct orr_comm *comm, int priority,
                      const char *call);

/* A value goes to a rank, or comes from one, whatever the cache knows. */
void orr_move_give(struct orr_datum *datum, const struct orr_comm *comm, int to,
                   int priority, const char *call);
void orr_move_take(struct orr_datum *datum, const struct orr_comm *comm, int from,
                   int priority, const char *call);

/* The executor has read the datum: where nothing is remembered, its value goes. */
void orr_move_drop(struct orr_datum *datum, int executor);

/* --- all ranks --- */

/* The owner's value comes to a rank, as far as that has it not; then `callback` is called
 * there, if it has come, on the carrier. Errors, after a message: -EINVAL. */
int orr_move_to(struct orr_rank *rank, const struct orr_comm *comm,
                struct orr_handle *handle, int to, void (*callback)(void *), void *arg,
                const char *call);
/* The same, and returns there when it has come. */
int orr_move_to_and_wait(struct orr_rank *rank, const struct orr_comm *comm,
                         struct orr_handle *handle, int to, const char *call);

/* From now on the datum belongs to another rank, which gets its value. */
int orr_move_migrate(struct orr_rank *rank, const struct orr_comm *comm,
                     struct orr_handle *handle, int owner, const char *call);

/* The value of one datum is copied to another one: by a message if they belong to two
 * ranks. The callback is called once, on the rank of the target, if that is another rank,
 * else on each that calls. With `waits` it returns there when that is so. */
int orr_move_copy(struct orr_rank *rank, const struct orr_comm *comm,
                  struct orr_handle *to, struct orr_handle *from, int priority, bool waits,
                  void (*callback)(void *), void *arg, const char *call);

/* What data do that go from one rank to all, or from all to one. */
struct orr_collection {
    struct orr_handle **handles; /* NULL: none of this rank's business */
    int n, root;
    void (*send_callback)(void *), (*receive_callback)(void *);
    void *send_arg, *receive_arg;
};

/* Each goes from the root to its owner, or from its owner to the root. When those of this
 * rank are done one of the callbacks is called, on the carrier: of those that send that of
 * the senders; a rank without any calls none. */
int orr_move_scatter(struct orr_rank *rank, const struct orr_comm *comm,
                     const struct orr_collection *collection, const char *call);
int orr_move_gather(struct orr_rank *rank, const struct orr_comm *comm,
                    const struct orr_collection *collection, const char *call);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/together.h - what all ranks of a communicator do together, with bytes. Each
 * takes the next number of the communicator's, by which their letters are told apart. */
#pragma once

#include "mpi/answers/answers.h"

/* From `root` to all, along a binomial tree. */
void together_broadcast(struct orr_answers_comm *comm, int root, void *bytes, size_t size);

/* `size` bytes of each rank, behind each other in `all` of the root. */
void together_gather(struct orr_answers_comm *comm, int root, const void *mine, size_t size,
                     void *all);

/* A letter to a rank, and one from it, at once; sizes may be 0. */
void together_exchange(struct orr_answers_comm *comm, int64_t number, int to,
                       const void *bytes, size_t size, int from, void *room, size_t rooms);
void together_send(struct orr_answers_comm *comm, int64_t number, int to, const void *bytes,
                   size_t size);
void together_receive(struct orr_answers_comm *comm, int64_t number, int from, void *room,
                      size_t size);

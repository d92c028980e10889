/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/insert.h - tasks that all ranks insert and one executes, with the messages that bring
 * it its data.
 *
 * All ranks that own some of a task's data, or need them, insert the same task at the same
 * point of submission. Each decides by itself, with the same result, which rank executes
 * it; then the owners send what the executor reads and has not got, and the executor
 * receives that, executes the task, and sends back what it has written and others own.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

struct orr_comm;
struct orr_insertion;
struct orr_rank;

/* What becomes of an insertion on this rank. */
struct orr_part_in {
    int executor;     /* rank in the communicator; ORR_EVERY_RANK: each for itself */
    bool executes;    /* this rank does */
    int priority;     /* of the messages */
};

/* Who executes a task of these data: `node` if that is not negative, else the owner of what
 * is written, if it is one, else what the policy (-1: the current one) says. 0; -EINVAL: a
 * datum that is written is NULL, so that this rank takes no part; or after a message. */
int orr_insert_decide(struct orr_rank *rank, const struct orr_comm *comm, int node,
                      int policy, struct starpu_data_descr *data, unsigned n, int priority,
                      const char *call, struct orr_part_in *ret);

/* The messages before the task, and those behind it, on each rank. They end the program,
 * after a message, where a datum has no rank or tag and needs one. */
void orr_insert_before(struct orr_rank *rank, const struct orr_comm *comm,
                       const struct orr_part_in *part, struct starpu_data_descr *data,
                       unsigned n, const char *call);
void orr_insert_after(struct orr_rank *rank, const struct orr_comm *comm,
                      const struct orr_part_in *part, struct starpu_data_descr *data,
                      unsigned n, const char *call);

/* starpu_mpi_task_insert of a list that is decoded, which is ended. Returns 0, -EINVAL (see
 * orr_insert_decide), or on the executor -ENODEV: no worker can run the task; its data have
 * not come back to their owners. */
int orr_insert(struct orr_rank *rank, const struct orr_comm *comm,
               struct orr_insertion *insertion);

/* The two halves of it, of which each ends the list that it is given: up to the task, which
 * the executor gets and submits, others get NULL, as it does if there is none after a
 * message; and what comes behind it. */
struct starpu_task *orr_insert_build(struct orr_rank *rank, const struct orr_comm *comm,
                                     struct orr_insertion *insertion);
int orr_insert_post_build(struct orr_rank *rank, const struct orr_comm *comm,
                          struct orr_insertion *insertion);

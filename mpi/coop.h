/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/coop.h - cooperative sends: detached sends of one value to several ranks, for which
 * nobody waits and whose data are not there yet, are gathered in a bag, which has the datum
 * for all of them. When it has it, it is closed; from three receivers on the value then
 * goes along a tree (tree.h), whose ranks pass it on, else to each.
 *
 * A bag is closed, too, when a writer of the datum is submitted, or when as many sends are
 * in it as the application has said would come. If it has said so and fewer are there when
 * the data are, the bag waits for the others a little, not for ever.
 */
#pragma once

#include <stdbool.h>

#include "mpi/request.h"

struct orr_datum;

/* From so many receivers on: fewer are no tree. */
enum { ORR_COOP_FEWEST = 3 };

/* As orr_request_start, but sends that may be gathered are. */
int orr_coop_start(struct orr_rank *rank, const struct orr_request_call *call,
                   struct orr_request **ret);

/* A writer of the datum was submitted: what is sent from now on is another value. Any
 * context, no lock held. */
void orr_coop_writer(struct orr_datum *datum);

/* Whether sends are gathered from now on. */
void orr_coop_use(struct orr_rank *rank, bool use);

/* So many sends of the datum's next value will come; less than 1: it is not known. */
void orr_coop_expect(struct orr_datum *datum, int nsends);

/* On the carrier, when it has nothing else to do: true if it is not to sleep. */
bool orr_coop_look(struct orr_rank *rank);

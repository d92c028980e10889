/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/control.h - what ranks tell each other beside data: messages, each for one of those
 * below. Those of at most ORR_TRANSPORT_INSIDE bytes are taken in the order in which they
 * were sent; longer ones are when they have come.
 */
#pragma once

#include <stddef.h>

#include "mpi/members.h"

struct orr_rank;

/* Sends one to a rank of the communicator; on the carrier. The tag is the receiver's to
 * read. */
void orr_control_send(struct orr_rank *rank, unsigned comm, int peer,
                      enum orr_control_kind kind, int64_t tag, const void *bytes,
                      size_t size);
/* The same with bytes that are taken over, and freed when they are sent. */
void orr_control_send_owned(struct orr_rank *rank, unsigned comm, int peer,
                            enum orr_control_kind kind, int64_t tag, void *bytes,
                            size_t size);

/* The bytes that the function was given, for the caller to free: a copy if need be. */
void *orr_control_keep(struct orr_rank *rank, const struct orr_header *header,
                       const void *bytes);

/* A header of that kind has come. */
void orr_control_take(struct orr_rank *rank, const struct orr_header *header,
                      const void *inside);

/* Sends a header without data; on the carrier. */
void orr_control_tell(struct orr_rank *rank, const struct orr_header *header);

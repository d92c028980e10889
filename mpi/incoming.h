/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/incoming.h - messages that other ranks send: from their header to the datum that
 * takes them. All of it is the carrier's.
 *
 * A message is paired with the first receive of its channel that has none. Until that
 * receive has its datum the data are early: small ones are kept as they came; larger ones
 * come into memory that is reserved for them (core/data/reservation.h), or, where there is
 * none, stay with their sender. So early data never take more than main memory has room
 * for, and a sender is held back, but not for ever: a receive that has its datum needs no
 * other memory.
 */
#pragma once

#include "mpi/channel.h"
#include "mpi/transport.h"

struct orr_incoming;
struct orr_rank;
struct orr_request;

/* A header has come, of whatever kind. */
void orr_incoming_take(struct orr_rank *rank, const struct orr_header *header,
                       const void *inside);

/* Pairs messages with receives, as far as there are both. */
void orr_incoming_pair(struct orr_rank *rank, struct orr_channel *channel);

/* The receive that the message is paired with has its datum now. */
void orr_incoming_deliver(struct orr_rank *rank, struct orr_incoming *incoming);

/* Whether its data are still with the sender: the header that is about them, and *bytes of
 * them. NULL: they are here, or come. */
const struct orr_header *orr_incoming_left(const struct orr_incoming *incoming, size_t *bytes);

/* What was received was taken; NULL is allowed. */
void orr_incoming_free(struct orr_incoming *incoming);

/* Whether messages are there that nobody has asked for; each is named in a message. */
bool orr_incoming_unclaimed(struct orr_rank *rank);

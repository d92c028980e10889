/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/cache.h - which ranks have the present value of a datum that another rank owns, so
 * that insertions send it once. All ranks make the same changes at the same points of
 * submission, without telling each other: what the owner believes to have sent is what the
 * others believe to have.
 *
 * The flags of a datum are written by the thread that submits its tasks. Where the cache is
 * off all answers are "no", and nothing is remembered.
 */
#pragma once

#include <stdbool.h>

struct orr_comm;
struct orr_datum;
struct orr_rank;

/* Notes that this rank has the owner's value, or has sent its own to a rank; returns
 * whether that was so. */
bool orr_cache_set_received(struct orr_datum *datum);
bool orr_cache_set_sent(struct orr_datum *datum, int to);

bool orr_cache_is_received(const struct orr_datum *datum);
bool orr_cache_is_sent(const struct orr_datum *datum, int to);

/* This rank does not have it any more, and its memory here may go: its value is invalid
 * from this point of submission on. Nothing if it had none. */
void orr_cache_clear_received(struct orr_datum *datum);
/* If this rank is not the owner and may have some value, that is invalid from now on. */
void orr_cache_drop_leftover(struct orr_datum *datum);
/* Nobody else has it any more. */
void orr_cache_clear_sent(struct orr_datum *datum);

/* The datum was written: both. */
void orr_cache_written(struct orr_datum *datum);

/* Both, and its value here is invalid from now on unless this rank owns it. */
void orr_cache_flush(struct orr_datum *datum);
/* That for all of the rank's data of the communicator that have flags. */
void orr_cache_flush_all(struct orr_rank *rank, const struct orr_comm *comm);

/* On or off, from the next insertion on; off flushes all. */
void orr_cache_turn(struct orr_rank *rank, bool on);

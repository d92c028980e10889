/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/stall.h - a rank that waits, and in which no message has moved and no task has ended
 * for a while (ORRERY_MPI_TIMEOUT), says what it waits for, once, and asks the ranks that
 * it waits for what they do. The program goes on waiting: a slow task may end.
 *
 * A probe goes along: from a rank that waits to those that it waits for, which add
 * themselves and pass it on if they wait, too. One that comes back has gone around a
 * cycle; the lowest rank of it names it. All of it is the carrier's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct orr_awaited;
struct orr_rank;

/* Errors: -ENOMEM. */
int orr_stall_open(struct orr_rank *rank);
void orr_stall_close(struct orr_rank *rank);

/* Looks whether it is time, before the carrier rests. Returns the ns after which it wants
 * to look again, 0: never. */
uint64_t orr_stall_look(struct orr_rank *rank);

/* What a carrier that has nothing to do waits for: a message, of which it says the rank and
 * the tag, else the noun. awaited->object is the rank. */
void orr_stall_describe(const struct orr_awaited *awaited, char *text, size_t size);

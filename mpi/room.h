/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/room.h - how much of a limited main memory a rank's sends hold.
 *
 * A send holds its datum until the receiver takes it, and a receiver takes memory first. If
 * sends filled the main memory of all ranks, all would wait for each other. So sends hold at
 * most half of it: one whose turn at its datum has come waits for room, in the order of the
 * calls. The oldest send that has not ended never waits: all ranks come to the first
 * message that none has made yet, whatever is behind it.
 *
 * The carrier alone calls these functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/remote.h"

struct orr_room {
    size_t most, held;       /* bytes */
    uint64_t nentered;       /* sends up to now */
    struct orr_list all;     /* sends that have not ended, the oldest first */
    struct orr_list waiting; /* of these, the ones that have their turn and no room; likewise */
};

/* A send in a room; zeroed. */
struct orr_room_place {
    struct orr_message *turn; /* the send's, which is held back until there is room */
    struct orr_list in_all, in_waiting;
    uint64_t nth;
    size_t holds; /* bytes that it has been given */
};

/* `capacity`: main memory's, in bytes. Where it has no limit nothing below is called. */
void orr_room_init(struct orr_room *room, size_t capacity);

/* A send was called, behind all others. */
void orr_room_enter(struct orr_room *room, struct orr_room_place *place);

/* It has its turn at its datum, and uses it once there is room. */
void orr_room_ask(struct orr_room *room, struct orr_room_place *place);

/* It has ended. */
void orr_room_leave(struct orr_room *room, struct orr_room_place *place);

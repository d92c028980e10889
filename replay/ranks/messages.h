/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/ranks/messages.h - what a player does of a record's messages: they are requests of
 * mpi/, as in the program that was recorded. By the context that plays the rank.
 */
#pragma once

#include "replay/player.h"

struct orr_comm;
struct orr_rank;
struct orr_request;

/* A communicator of the program that is played; of all its ranks. */
struct played_comm {
    struct played_comm *next;
    uint64_t number;
    int *members; /* owned: ranks in that of all */
    int size;
    const void *native;
};

struct played_rank {
    int number, size;           /* what the record has to say that it is */
    struct played_comm **comms; /* those that the ranks have made up to now */
    struct orr_rank *rank;      /* while it is one */
    struct orr_request **requests; /* by number; NULL: it is none, or was waited for */
    size_t nrequests;
    const struct orr_comm **known; /* communicators by number */
    size_t nknown;
    char **names; /* owned: of functions that wait, which traces have */
    size_t nnames;
    uint64_t last_datum; /* data up to that number may be registered in any order */
};

/* For struct player, whose `rank` is a struct played_rank. */
extern const struct player_messages played_messages;

/* Frees what it needed, not itself. */
void played_rank_done(struct played_rank *played);
void played_comms_free(struct played_comm *comms);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/rank.h - a rank of a test: a transport, what has been taken from it and not
 * been looked at, and calls that wait. Scenarios are written with these alone, and run on
 * any transport; each rank runs the same one.
 */
#pragma once

#include <stdio.h>

#include "mpi/transport.h"

struct orr_loopback;

/* A header that was taken, with a copy of what was inside. */
struct taken {
    struct orr_list link;
    struct orr_header header;
    char *inside;
};

struct rank {
    struct orr_transport *t;
    struct orr_comm world;
    uint64_t seed, random;
    /* NULL: not on this transport. */
    struct orr_loopback *net;
    /* A communicator of every second rank, native, that this one is in; NULL: of none.
     * All ranks call it at the same point; the last one goes with the next. */
    const void *(*half)(struct rank *rank);
    struct orr_list headers; /* taken */
    struct orr_list ended, met;
    int failures;
};

/* Counts a failure, and says where, unless the condition holds. */
#define EXPECT(rank, condition)                                                        \
    rank_expect(rank, (condition) ? 1 : 0, #condition, __FILE__, __LINE__)
bool rank_expect(struct rank *rank, int holds, const char *what, const char *file,
                 int line);

/* The communicator of all is `native`. */
void rank_begin(struct rank *rank, const void *native, uint64_t seed);
/* Nothing is left that was not looked at. */
void rank_end(struct rank *rank);

/* Waits until `message` or `meeting` has ended, or the next header of that communicator
 * and peer is there (peer -1: of any); the caller frees what it gets, by free_taken. */
void await_message(struct rank *rank, struct orr_packet *message);
void await_meeting(struct rank *rank, struct orr_meeting *meeting);
struct taken *await_header(struct rank *rank, unsigned comm, int peer);
void free_taken(struct taken *taken);

/* All that can be taken now is put into the rank's lists. */
void take_all(struct rank *rank);
bool has_ended(struct rank *rank, struct orr_packet *message);

/* Memory that a message is sent from or received into: parts by chance, gaps between
 * them that must stay as they are. */
struct area {
    char *memory;
    size_t size;
    struct orr_part parts[4];
    unsigned nparts;
};

/* For `bytes` bytes; plain: one part without gaps. */
void area_make(struct area *area, size_t bytes, bool plain, uint64_t *random);
/* Fills them with those of message `id`; whether the first `bytes` are that, and nothing
 * else was written to. */
void area_fill(struct area *area, uint64_t id);
bool area_is(const struct area *area, uint64_t id, size_t bytes);
void area_free(struct area *area);

/* A byte of message `id`. */
unsigned char byte_of(uint64_t id, size_t at);

/* --- what is run --- */

struct scenario {
    const char *name;
    void (*run)(struct rank *rank);
    bool faults;   /* on loopback only */
    int most;      /* ranks that make sense; 0: any number */
};

extern const struct scenario scenarios[]; /* ends with a name of NULL */

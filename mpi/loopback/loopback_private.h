/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/loopback/loopback_private.h - what the files of this folder share: the network, its
 * ranks, and what is on its way. All of it is guarded by the network's mutex. */
#pragma once

#include <pthread.h>

#include "mpi/loopback/loopback.h"

/* A header on its way or arrived, and its data: inside, in a copy of the sender's, or in
 * the sender's memory. It is in the pair's list of headers or the receiver's until the
 * header is taken, then in the pair's list of data until these have gone. */
struct packet {
    struct orr_list link;
    struct orr_header header;    /* as the receiver sees it, but for `comm` */
    struct pair *pair;
    uint64_t due;                /* turn from which it, then its data, are there */
    size_t bytes;                /* of data that come: less after truncation */
    struct orr_packet *sender;  /* it ends when the data have gone; NULL: it has */
    struct orr_packet *receive; /* NULL: none yet */
    bool wanted;                 /* recv was called, even if it was cancelled then */
    void *copy;                  /* of the data; NULL: they are the sender's */
};

/* From one rank of a communicator to another. */
struct pair {
    struct orr_loopback_comm *comm;
    int from, to; /* ranks there */
    uint64_t random;
    uint64_t headers, data; /* sent */
    uint64_t last_due;
    struct orr_list on_way; /* packets */
    struct orr_list behind; /* packets whose headers were taken, with data */
};

/* The n-th meeting of a communicator. */
struct round {
    struct orr_list link;
    uint64_t n;
    int begun, taken; /* how many of the members have */
    enum orr_meeting_kind kind;
    size_t bytes;
    int error;
    struct orr_meeting **of; /* by rank: under way, NULL otherwise */
    uint64_t *due;           /* by rank */
    char *given;             /* by rank, `bytes` each */
};

struct orr_loopback_comm {
    struct orr_list link;
    struct orr_loopback *net;
    int size;
    int *world;         /* by rank */
    struct pair *pairs; /* from * size + to */
    uint64_t random;
    uint64_t *meetings;     /* by rank: begun */
    struct orr_list rounds; /* those that not all have left */
};

struct endpoint_comm {
    struct orr_loopback_comm *comm;
    int rank;
};

/* A rank that is open. */
struct endpoint {
    struct orr_transport base;
    struct orr_loopback *net;
    int world; /* its rank in the communicator of all */
    pthread_cond_t something;
    bool woken;
    struct endpoint_comm *comms;
    size_t ncomms, room;
    struct orr_list arrived;  /* packets */
    struct packet *shown;     /* what take_header has given a pointer into */
    struct orr_list ended;    /* messages */
    struct orr_list met;      /* meetings */
    struct orr_list failures; /* struct failed */
};

struct failed {
    struct orr_list link;
    struct orr_failure failure;
};

struct orr_loopback {
    struct orr_loopback_conf conf;
    pthread_mutex_t mutex;
    uint64_t turn;
    struct orr_list comms;
    struct orr_loopback_comm *all;
    struct endpoint **ranks; /* NULL: not open */
    bool *dead;
    unsigned *truncate; /* from * nranks + to: how many */
};

/* Turns from now on, by chance. */
uint64_t loopback_due(struct orr_loopback *net, uint64_t *random);

/* What belongs to `world` has something to look at, or to take. */
void loopback_rouse(struct orr_loopback *net, int world);

/* The message ends, at the rank that sent or receives it. */
void loopback_end(struct orr_loopback *net, int world, struct orr_packet *message,
                  int error, size_t moved);

/* The rank there is dead. */
bool loopback_is_dead(const struct orr_loopback_comm *comm, int rank);

/* A failure that this endpoint is told of, unless there is no memory. */
void loopback_fail(struct endpoint *at, size_t comm, int peer);

/* -- meetings: meet.c -- */
int loopback_meet(struct endpoint *at, struct orr_meeting *meeting);
/* Ends those of the endpoint that are due. Returns whether some only wait for turns. */
bool loopback_hold_meetings(struct endpoint *at);
/* A member has died. */
void loopback_break_meetings(struct orr_loopback_comm *comm);
/* The rank there begins or ends no more. */
void loopback_leave_meetings(struct orr_loopback_comm *comm, int rank);
void loopback_free_meetings(struct orr_loopback_comm *comm);

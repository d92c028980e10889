/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/real/real_private.h - what the files of this folder share. The owner's, but
 * `nap`. */
#pragma once

#include <mpi.h>

#include "mpi/real/nap.h"
#include "mpi/real/real.h"
#include "mpi/real/types.h"

/* What a header is in a message of MPI, before what is inside of it, which is rounded up to
 * whole words; the next header follows. Both sides have equal processors and are of one
 * build. */
struct wire {
    int64_t tag;
    uint64_t announced, id, bytes, sequence;
    uint16_t kind, flags;
    uint32_t unused;
};

/* Headers with what is inside of them, or one with as much as it may have: with MPI's own
 * header less than 4 KiB, which both MPIs send at once. */
enum { INSIDE = 3840, HEADERS_BYTES = sizeof(struct wire) + INSIDE };

/* Receives of headers that are posted at a time, per communicator. */
enum { NSLOTS = 8 };

/* Headers that come. */
struct slot {
    struct comm *comm;
    bool posted, arrived;
    int from;
    size_t size, at; /* bytes that have come; those that were taken */
    _Alignas(struct wire) char bytes[HEADERS_BYTES];
};

/* Headers on their way out. */
struct out {
    struct orr_list link; /* when it is free */
    struct peer *peer;
    size_t size; /* bytes in use */
    _Alignas(struct wire) char bytes[HEADERS_BYTES];
};

/* Data behind a header that was taken, until they have come. */
struct incoming {
    struct orr_list link; /* in peer->incoming until it is posted */
    struct peer *peer;
    uint64_t number, bytes;
    bool asked;                  /* recv was called */
    bool parked;                 /* MPI has matched it: `matched` */
    MPI_Message matched;
    struct orr_packet *receive; /* NULL: it is thrown away */
    void *scratch;               /* for what has no place in the parts */
    struct orr_part *parts;      /* with scratch: those of the receive, and that */
};

/* Data of a pair come in the order of their headers, but are asked for in any order:
 * those before the one that is wanted are matched without being received (MPI_Improbe). */
struct peer {
    struct comm *comm;
    int rank;
    bool dead;
    uint64_t headers_out, data_out, headers_in;
    uint64_t known;            /* data behind headers that were taken */
    uint64_t next;             /* number of the first one that MPI has not matched */
    struct out *filling;       /* headers that MPI has not been given yet; NULL: none */
    struct orr_list has_filling; /* in real->filling */
    struct orr_list incoming;  /* by number */
    struct orr_list probing;   /* in real->probing */
};

struct comm {
    unsigned number;
    MPI_Comm native;
    MPI_Errhandler handler; /* the application's */
    int rank, size;
    struct peer *peers;
    struct slot slots[NSLOTS]; /* a ring: MPI matches them in this order */
    unsigned first;            /* the next to be taken */
    unsigned faults;           /* of receives of headers */
};

enum what { NOTHING, HEADER_IN, HEADER_OUT, DATA_OUT, DATA_IN, MEETING };

/* Beside requests[i]. */
struct pending {
    enum what what;
    void *of; /* slot, out, message, incoming, meeting */
};

struct failed {
    struct orr_list link;
    struct orr_failure failure;
};

struct real {
    struct orr_transport base;
    bool initialized; /* by us */
    int tag;
    struct nap nap;
    struct types types;
    struct comm **comms;
    size_t ncomms, comms_room;
    unsigned turn; /* the communicator to look at first */
    MPI_Request *requests;
    struct pending *pending;
    int *indices;
    MPI_Status *statuses;
    size_t n, requests_room, pending_room, indices_room, statuses_room;
    size_t active; /* those that are no receives of headers */
    struct slot *shown;
    struct orr_list free_outs, ended, met, failures, probing;
    struct orr_list filling; /* peers for which there are headers to be sent */
    unsigned long slack; /* of the owner's timers, before; ns */
};

/* -- messages.c -- */
/* Posts the receive of a slot's header. */
void real_post_slot(struct real *real, struct slot *slot);
/* Whether there is something to take. */
bool real_something(const struct real *real);
/* Looks once. */
void real_look(struct real *real);
/* Room for so many requests more. -ENOMEM. */
int real_room(struct real *real, unsigned more);
void real_add(struct real *real, MPI_Request request, enum what what, void *of);
void real_free_incoming(struct incoming *incoming);
/* The negative errno of a code of MPI's. */
int real_errno(int code);
/* A failure that the caller is told of; peer NULL: it is none's. */
void real_fail(struct real *real, struct comm *comm, struct peer *peer, int code,
               const char *doing);

int real_send(struct orr_transport *t, struct orr_packet *message);
bool real_take_header(struct orr_transport *t, struct orr_header *ret,
                      const void **inside);
int real_recv(struct orr_transport *t, struct orr_packet *message);
int real_cancel(struct orr_transport *t, struct orr_packet *message);
int real_meet(struct orr_transport *t, struct orr_meeting *meeting);

static inline struct real *real_of(struct orr_transport *t)
{
    return orr_container(t, struct real, base);
}

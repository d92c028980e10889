/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/transport.h - what carries packets between ranks: one table of operations, behind
 * which is MPI (mpi/real), N ranks of one process (mpi/loopback), or ranks on simulated
 * machines, in virtual time (mpi/simulated). What is above knows no MPI, no clock and no
 * tag of MPI's.
 *
 * A packet is a header, with its data. Few bytes travel inside of the header, in one
 * piece; more go behind it, from the sender's memory to the receiver's. The receiver
 * takes each header, in the order in which its peer sent them, and only then says where
 * the data go; until that they may stay with the sender. Which receive a header is for,
 * the caller decides: the transport matches nothing and reads neither tags nor kinds.
 *
 *     sender                                  receiver
 *     send(t, packet)  ── header ──────────→ take_header(t, &header, &inside)
 *                                               inside: orr_parts_unpack, at once or later
 *                       ── data ────────────→   else: recv(t, packet)
 *     take_ended(t) → packet                 take_ended(t) → packet
 *
 * Threads: a transport has an owner, the thread that opened it, which makes all calls;
 * wake alone may be called by any thread. No call blocks but wait, and none calls back.
 *
 * Failures are values. A call that returns an error has done nothing. What was begun
 * ends, with packet->error, whatever happens to the peer, if the transport learns of it
 * (mpi/real/README.md says when MPI does); what is no packet's fault, or nobody would
 * look for, is in take_failure, with a sentence that names the rank. Errors of packets:
 *   -EMSGSIZE    the data are longer than the parts: their first bytes are there
 *   -EBADMSG     fewer bytes came than the header had said: packet->moved of them
 *   -ECONNRESET  the peer, header.peer, has died or cannot be reached
 *   -ECANCELED   taken back by cancel
 *   -ENOMEM, -EIO  as usual
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/list.h"
#include "mpi/parts.h"
#include "mpi/patience.h"

struct orr_transport;

/* What a header is for: the words of those above, of which the transport knows none. */
enum orr_packet_kind {
    ORR_PACKET_DATA,        /* the data of a tag */
    ORR_PACKET_SYNCHRONOUS, /* there are data; they are sent when READY has come */
    ORR_PACKET_READY,       /* the receiver waits for the data of a SYNCHRONOUS one */
    ORR_PACKET_ACKNOWLEDGE, /* the data have arrived */
    ORR_PACKET_FORWARD,     /* data that the receiver passes on */
    ORR_PACKET_CONTROL,     /* what ranks tell each other beside data */
    ORR_PACKET_KINDS
};

struct orr_header {
    /* The caller's, as sent. */
    int64_t tag;
    uint64_t announced; /* bytes of data that it is about, but has not with it */
    uint64_t id;        /* such as a request's, which the answer names */
    uint16_t kind;      /* enum orr_packet_kind */
    uint16_t flags;

    unsigned comm; /* number of the communicator, at this rank */
    int peer;      /* rank there: who gets it; who sent it */

    /* The transport's; of what is sent, send fills them. */
    uint64_t bytes;    /* of its data, inside or behind it */
    uint64_t sequence; /* of headers from that peer in that communicator: 1, 2 … */
    uint64_t data;     /* of data behind headers, likewise: 1, 2 …; 0: there are none */
    uint64_t unreal;   /* of its data: so many of the last bytes are values that nobody
                        * computes, and are not moved; 0 where time is not virtual */
};

/* What is sent or received. The caller's memory, zeroed before its first use, not
 * touched from send or recv until take_ended has given it back; so are the bytes of its
 * parts, but those of what is sent may be read. It may be used again then. */
struct orr_packet {
    struct orr_header header; /* of a receive: as take_header gave it */
    const struct orr_part *parts; /* the caller's; NULL of none */
    unsigned nparts;
    unsigned node; /* memory node of the parts; of a receive: main memory, or one that
                    * receives_into allows */
    size_t unreal; /* of what is sent: so many of the last bytes are values that nobody
                    * computes. Where time is virtual they need not be moved: what they
                    * are received into stays as it is */

    /* When it has ended. */
    int error;    /* 0, or see above */
    size_t moved; /* bytes of data sent, or put into the parts */

    void *owner; /* the caller's own */

    /* The transport's. */
    struct orr_list link;
    bool receives;
    void *inner[2];
};

/* What all members of a communicator do together. All begin the same ones of a
 * communicator in the same order, those of the application on it among them; each ends
 * when all have begun it. The caller's memory until take_met gives it back. */
enum orr_meeting_kind {
    ORR_MEETING_BARRIER,
    ORR_MEETING_GATHER /* each gets what each gives, in the order of ranks */
};

/* Bytes that a member may give to a GATHER. */
enum { ORR_MEETING_BYTES = 1024 };

struct orr_meeting {
    enum orr_meeting_kind kind;
    unsigned comm;
    const void *mine; /* of a GATHER: `bytes` of them, equally many of each rank */
    void *all;        /* room for as many of each rank */
    size_t bytes;

    int error; /* when it has ended: 0, -ECONNRESET, -EIO */

    void *owner; /* the caller's own */

    /* The transport's. */
    struct orr_list link;
    void *inner;
};

/* A communicator of the application's, as this rank sees it. */
struct orr_comm {
    unsigned number; /* in headers, at this rank only */
    int rank, size;
};

/* What went wrong beside, or in addition to, the error of a packet. */
struct orr_failure {
    int error;      /* as of packets */
    bool of_a_peer; /* the next two say which one; else it is the transport itself */
    unsigned comm;
    int peer;
    struct orr_error why; /* a sentence that names the rank */
};

enum orr_transport_threads {
    ORR_TRANSPORT_OWNER,      /* the application may communicate by itself when the owner
                               * is not in a call */
    ORR_TRANSPORT_EVERY_THREAD /* and at any time */
};

/* Constant when the transport is open. */
struct orr_transport_caps {
    size_t inside_bytes; /* data of up to that size travel inside of a header; at most
                          * ORR_TRANSPORT_INSIDE */
    size_t eager_bytes;  /* a send of more may not end before its receive; a guess */
    bool ordered;        /* headers of a pair do not overtake each other: true of all that
                          * there are */
    enum orr_transport_threads threads;
    bool virtual_time; /* nothing of it takes time of a clock */
    bool wakes; /* it wakes the owner, a context, when there is something to take */
    bool looks; /* of virtual time: but it takes time to look, as for real: `wait` does */
};

enum { ORR_TRANSPORT_INSIDE = 4096 };

struct orr_transport_ops {
    const char *name; /* "MPI (Open MPI)", "loopback", for packets */

    /* Ends it, and frees it. What is still under way is given up without being ended: the
     * caller has waited for all but what cannot end since a peer has died; its memory is
     * then not used again. Data that were thrown away or taken back may not have come yet:
     * whose they are waits for that. All ranks of the first communicator close; real ranks
     * wait for each other in it, since each may open another transport at once. */
    void (*close)(struct orr_transport *t);

    /* -- communicators -- */
    /* From now on headers of that communicator come, those that were sent before too.
     * Local: no other rank needs to call it, or at the same point. `native` is what the
     * transport has for one: the address of an MPI_Comm, or of a struct
     * orr_loopback_comm or orr_simulated_comm; it stays as it is until close. Known
     * already: the same number again. Errors: -EINVAL if it is none, or this rank is no
     * member; -ENOMEM. */
    int (*comm_add)(struct orr_transport *t, const void *native, struct orr_comm *ret,
                    struct orr_error *err);

    /* Whether packets may be sent from that memory node, of a device. NULL: from main memory
     * alone. Where time is virtual; any context. */
    bool (*sends_from)(struct orr_transport *t, unsigned node);

    /* Whether the data that the header is about, `bytes` of them, for which nobody has asked
     * yet, may be received into that memory node, of a device; without header: whether any may.
     * NULL: into main memory alone. Where time is virtual; any context. */
    bool (*receives_into)(struct orr_transport *t, const struct orr_header *header,
                          size_t bytes, unsigned node);

    /* -- packets -- */
    /* Sends packet->header to header.peer, of header.comm, then the parts' bytes;
     * fills the rest of the header. To oneself, too. The header is copied, and what
     * travels inside of it; these end at once (take_ended all the same), and leave at the
     * next progress or wait, several together. Packets of a
     * pair of ranks in a communicator are taken in the order of these calls. Errors:
     * -EINVAL for a communicator or a rank that is none; -ECONNRESET when the peer has
     * died; -ENOMEM. */
    int (*send)(struct orr_transport *t, struct orr_packet *packet);
    /* The next header that has come, and where its data are, if they came inside: NULL
     * otherwise, valid until the next call of take_header, progress or wait. False:
     * none. */
    bool (*take_header)(struct orr_transport *t, struct orr_header *ret,
                        const void **inside);
    /* Receives the data behind a header that was taken (header.data is not 0) into the
     * parts, in whatever order headers were taken. Fewer bytes than the parts have are
     * fine. No parts: the data are thrown away, and it ends without error. Once per
     * header, and of each sometime: who sent it may wait. Errors: -EINVAL if that header
     * has no data behind it; -ENOMEM. */
    int (*recv)(struct orr_transport *t, struct orr_packet *packet);
    /* Takes it back, if it has not begun: it ends with -ECANCELED, its data, if it was a
     * receive, are thrown away when they come. -EBUSY: too late, it ends by itself. A
     * send has always begun. */
    int (*cancel)(struct orr_transport *t, struct orr_packet *packet);
    /* The next one that has ended, NULL: none. */
    struct orr_packet *(*take_ended)(struct orr_transport *t);

    /* -- together -- */
    /* Begins it. Errors: -EINVAL for a communicator that is none, or too many bytes;
     * -ENOMEM. */
    int (*meet)(struct orr_transport *t, struct orr_meeting *meeting);
    /* The next one that has ended, NULL: none. */
    struct orr_meeting *(*take_met)(struct orr_transport *t);

    /* -- progress -- */
    /* Looks once, without waiting: in virtual time it may take what messages take of the
     * owner. Returns whether there is something to take. */
    bool (*progress)(struct orr_transport *t);
    /* Looks until there is something to take, or wake was called since the last wait
     * returned (true: something to take). Where neither packets nor meetings are under
     * way and the caller is not `expecting` any header, it sleeps until wake and uses no
     * processor, headers that come meanwhile stay where they are; otherwise it looks
     * again and again, as `patience` has it, less and less often. It returns after
     * most_ns of the clock in any case, and not before; 0: it has no end. With
     * patience.nap_ns it may return after one nap, for the caller to decide anew. */
    bool (*wait)(struct orr_transport *t, bool expecting,
                 struct orr_patience patience, uint64_t most_ns);
    /* wait returns, now or a moment later, or when it is called next. Any thread, until
     * close is called. */
    void (*wake)(struct orr_transport *t);
    /* The next failure, false: none. */
    bool (*take_failure)(struct orr_transport *t, struct orr_failure *ret);
};

/* The head of every transport. */
struct orr_transport {
    const struct orr_transport_ops *ops;
    struct orr_transport_caps caps;
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/simulated_private.h - what the files of this folder share: the network, its
 * ranks, and what is on its way. */
#pragma once

#include "core/base/cluster.h"
#include "core/base/wait.h"
#include "mpi/simulated/simulated.h"

struct orr_context;

/* What a header takes of the network, and each message that has none. */
enum { SIMULATED_HEADER = 64 };

/* A header on its way or arrived, and its data. It is in the pair's list of headers or the
 * receiver's until the header is taken, then in the pair's list of data until these are
 * there and wanted. */
struct packet {
    struct orr_list link;
    struct orr_list answered; /* among those whose data may be sent */
    struct orr_header header; /* as the receiver sees it, but for `comm` */
    struct pair *pair;
    struct orr_cluster_post head; /* the header; later, that the data may come */
    struct orr_cluster_post body; /* data behind it */
    bool head_there, body_there;
    bool wanted;                /* recv was called, even if it was cancelled then */
    struct orr_packet *sender;  /* it ends when the data are received; NULL: it has */
    struct orr_packet *receive; /* NULL: none yet, or cancelled */
    unsigned node, to_node;     /* the memory nodes that data leave from, and come to */
    size_t real;                /* bytes of data that are moved */
    void *copy;                 /* of these; NULL: they are the sender's */
};

/* From one rank of a communicator to another. */
struct pair {
    struct orr_simulated_comm *comm;
    int from, to; /* ranks there */
    uint64_t headers, data; /* sent */
    struct orr_list on_way; /* packets, as they were sent */
    struct orr_list behind; /* packets whose headers were taken, with data */
};

struct member {
    int world;           /* its rank in the communicator of all */
    struct endpoint *at; /* NULL: it is not open, or does not know the communicator … */
    unsigned number;     /* … by this number */
    uint64_t meetings;   /* begun */
};

struct orr_simulated_comm {
    struct orr_list link;
    struct orr_simulated *net;
    int size;
    struct member *members;
    struct pair **pairs;    /* from * size + to; NULL: no packet yet */
    struct orr_list rounds; /* meetings that not all have left */
};

struct endpoint_comm {
    struct orr_simulated_comm *comm;
    int rank;
};

/* What an application's own messages are for a rank: letters.h. */
struct mailbox {
    struct orr_list expected;   /* receives that wait for a letter, the first one first */
    struct orr_list come;       /* letters that wait for a receive, likewise */
    struct orr_list *on_way;    /* by rank of the sender, as they were sent; NULL: none yet */
    struct orr_waiters probing; /* for what comes next */
};

/* A rank that is open. */
struct endpoint {
    struct orr_transport base;
    struct orr_simulated *net;
    int world; /* its rank in the communicator of all */
    struct orr_context *owner;
    bool woken;
    double look_us;            /* 0: it is woken when there is something to take … */
    bool naps;                 /* … else it looks, and does not now … */
    double looks_since;        /* … and has seen nothing since then; NaN: it has */
    unsigned nactive;          /* what it has begun that has not ended */
    struct orr_list answered;  /* packets: the receivers have asked for their data since it looked */
    struct endpoint_comm *comms;
    size_t ncomms, room;
    struct orr_list arrived; /* packets; the first ones … */
    unsigned nmatched;       /* … may be taken … */
    unsigned ncame;          /* … the others … */
    double match_us;         /* … when the owner has spent that on them, and on data */
    double send_us;          /* that it owes for what it has sent */
    struct packet *shown;    /* what take_header has given a pointer into */
    struct orr_list ended;   /* messages */
    struct orr_list met;     /* meetings */
};

struct orr_simulated {
    const struct orr_cluster_ops *ops;
    struct orr_cluster *cluster;
    unsigned nranks;
    unsigned *nodes; /* by rank */
    size_t inside_bytes;
    size_t most_values; /* of a letter whose values are moved */
    struct orr_cluster_costs far, near; /* of messages between nodes, and within one */
    struct orr_list comms;
    struct orr_list spares; /* packets that are no more, for the next */
    struct orr_simulated_comm *all;
    struct mailbox *boxes; /* by rank */
};

/* There is something to take. */
void simulated_rouse(struct endpoint *at);

/* What messages between two of its ranks are like. */
const struct orr_cluster_costs *simulated_costs(const struct orr_simulated_comm *comm,
                                                int from, int to);

/* Sends so many bytes from one rank of a communicator to another. */
void simulated_post(const struct orr_simulated_comm *comm, int from, int to,
                    struct orr_cluster_post *post, size_t bytes,
                    void (*arrived)(struct orr_cluster_post *post));

/* When a message leaves, from where, and where it comes to. */
struct simulated_way {
    double us; /* from now on */
    unsigned memory, to_memory; /* nodes of the two machines */
};

/* The same, that way. */
void simulated_post_by(const struct orr_simulated_comm *comm, int from, int to,
                       struct orr_cluster_post *post, size_t bytes,
                       void (*arrived)(struct orr_cluster_post *post),
                       const struct simulated_way *way);

void simulated_packet_free(struct packet *packet);

/* -- letters.c -- */
void simulated_mailbox_init(struct mailbox *box);
void simulated_mailbox_done(struct mailbox *box, unsigned nranks);

/* -- meetings: meet.c -- */
int simulated_meet(struct endpoint *at, struct orr_meeting *meeting);
/* The rank there ends none any more. */
void simulated_leave_meetings(struct orr_simulated_comm *comm, int rank);
void simulated_free_meetings(struct orr_simulated_comm *comm);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/request.h - one datum sent to another rank, or received from it.
 *
 * A request has the datum in its turn (core/data/message.h): it takes its place among the
 * tasks at the call, goes to the transport when the datum is its own, and lets the datum
 * go when the transport is done. Its life: made by the caller; posted, from which the
 * carrier knows its place in its channel; granted, on whatever context; paired with a
 * message, if it receives; done. The carrier alone does what is between.
 */
#pragma once

#include "mpi/flight.h"
#include "mpi/layout.h"
#include "mpi/rank.h"

struct orr_bag;
struct orr_incoming;

/* In a header's flags: its data answer a READY, whose `announced` is the header's id. */
enum { ORR_ANSWERS = 1 };

enum orr_request_way { ORR_SENDS, ORR_RECEIVES };

/* The call has been made; the datum was granted. Whichever comes second hands in what tells
 * the carrier. */
enum orr_request_stage { ORR_POSTED = 1, ORR_GRANTED = 2 };

/* What a call says of a request; zeroed, then filled. */
struct orr_request_call {
    const char *call; /* for messages */
    starpu_data_handle_t handle;
    enum orr_request_way way;
    int peer; /* rank in the communicator */
    int64_t tag;
    const struct orr_comm *comm;
    int priority;
    bool synchronous; /* sends: ends when the receiver has posted its receive */
    bool unordered;   /* the datum's implicit dependencies are left out */
    bool gathers;     /* sends: coop.h may gather it with others */
    /* Nobody waits: it is freed when it is done, after the callback, which may be NULL. */
    bool detached;
    void (*callback)(void *arg);
    void *arg;
};

struct orr_request {
    struct orr_request_call call; /* [const] */
    struct orr_rank *rank;
    struct orr_message turn; /* of the datum */
    struct orr_errand posted, granted;
    atomic_uchar stages; /* that the contexts of both errands have come to */
    struct orr_errand turned; /* of a send that needs room (room.h): its turn has come */
    /* Of several sends that have the datum together, coop.h; NULL: it has its own turn. */
    struct orr_bag *bag;
    struct orr_list member;
    void (*let_go)(struct orr_request *request); /* it needs the datum no more */

    /* [carrier] */
    struct orr_channel *channel;
    struct orr_list place; /* in its channel, until it is sent or paired; then in `agreed`
                            * or `sending` */
    struct orr_list link;  /* in the rank's `ready` */
    uint64_t id;           /* what the answers of the peer name it by */
    struct orr_room_place in_room; /* of a send that needs room, and … */
    bool has_turn;                 /* … whether its turn has come */
    bool is_placed;  /* in its channel */
    bool is_granted;
    bool needs_room; /* [const] a send that is held back */
    bool in_tree;    /* it is sent by others, and stays in its channel meanwhile */
    unsigned node;   /* when it is granted: where the datum lies … */
    void *interface; /* … and how */
    struct orr_layout layout;
    struct orr_flight flight;
    bool is_announced;            /* of a synchronous send: its header has gone … */
    uint64_t answers;             /* … and the receiver waits for its data, under that id */
    struct orr_incoming *message; /* of a receive: what it is paired with … */
    void (*drop)(struct orr_incoming *message); /* … and what ends that */
    uint64_t number; /* of the message among the sender's, when it was sent or paired; 0:
                      * it went along a tree */
    uint64_t recorded; /* its number in the record of the run */
    double called;   /* µs, for observers: it was made; … */
    double since;    /* … the datum was there; NaN: nobody asks */

    /* Results. */
    atomic_bool is_awaited; /* by main */
    atomic_bool done; /* written under the rank's lock */
    int error;
    size_t moved;              /* bytes */
    struct orr_waiters waiters; /* [rank's lock] */
};

/* Blocks until it is done, and frees it. *moved is the number of its bytes. -EDEADLK, after
 * a message, where blocking is refused; then it goes on. */
int orr_request_wait(struct orr_request *request, const char *call, size_t *moved);

/* Whether it is done, and freed. */
bool orr_request_test(struct orr_request *request, size_t *moved);

/* --- the carrier's --- */

/* It needs its datum no more: it is done, and gone if it is detached. */
void orr_request_end(struct orr_request *request, int error, size_t moved);

/* Ends the program, after a message that names the request and says what is wrong. */
_Noreturn void orr_request_refuse(const struct orr_request *request, const char *what);

/* Sends what is ready; true if anything was. */
bool orr_requests_start_ready(struct orr_rank *rank);

/* Whether a send is the first one of its channel. */
bool orr_request_is_first(const struct orr_request *request);

/* Sends what is first in the channel, if that has its datum. */
void orr_requests_look(struct orr_rank *rank, struct orr_channel *channel);

/* A send of a tree has gone, `moved` bytes, by way of others: it is done. */
void orr_request_passed(struct orr_request *request, size_t moved);

/* A READY has come. */
void orr_requests_take_ready(struct orr_rank *rank, const struct orr_header *header);

/* A receive that has its datum and is paired: where `bytes` bytes go, which the program
 * ends for if the datum has fewer. */
void orr_request_lay_out(struct orr_request *request, size_t bytes);

/* Then either they come from the transport, behind that header … */
void orr_request_receive_behind(struct orr_request *request,
                                const struct orr_header *header);

/* … or they are there, `moved` of them: the request is done, and gone if it is detached. */
void orr_request_received(struct orr_request *request, size_t moved);

/* … or they are still with the sender, which is told that they may come. */
void orr_request_ask(struct orr_request *request, const struct orr_header *header);

/* The receive that has asked for what comes under that id; NULL: none. */
struct orr_request *orr_request_answered(struct orr_rank *rank, uint64_t id);

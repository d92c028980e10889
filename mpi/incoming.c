/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/incoming.c - see incoming.h. */
#include "mpi/incoming.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/fresh.h"
#include "core/base/log.h"
#include "mpi/control.h"
#include "mpi/flight.h"
#include "mpi/request.h"
#include "mpi/tree.h"

enum state {
    LEFT,      /* the data are with the sender, behind the header */
    ANNOUNCED, /* … and come when it is told that they may */
    COMING,    /* into the buffer */
    THERE,     /* in the buffer */
};

struct orr_incoming {
    struct orr_rank *rank;
    struct orr_list place; /* in its channel, until it is paired; before, if it has to wait
                            * for others, in the rank's `postponed` */
    struct orr_header header;
    int origin;      /* who has made the call: header.peer, unless it came along a tree */
    struct orr_request *request; /* NULL: not paired */
    enum state state;
    struct orr_flight flight;
    struct orr_part part;
    void *buffer;      /* owned */
    bool is_reserved;  /* header.bytes of main memory … */
    unsigned node;     /* … on this node */
    size_t moved;
    unsigned nusers; /* that need it: its receive, its tree */

    /* Of those that came along a tree. */
    unsigned nplaces; /* before the data, to whom it goes on … */
    size_t skip;      /* … and their bytes */
    bool is_placed, is_passed; /* in its channel; all behind it have it, too */
    struct orr_tree tree;
    struct orr_part passed;
};

_Noreturn static void fail(const struct orr_incoming *incoming, const char *what)
{
    orr_rank_fail(incoming->rank, "a message of rank %d with tag %lld: %s",
                  incoming->origin, (long long)incoming->header.tag, what);
}

void orr_incoming_free(struct orr_incoming *incoming)
{
    if (!incoming || --incoming->nusers > 0)
        return;
    free(incoming->buffer);
    if (incoming->is_reserved)
        orr_memory_unreserve(incoming->rank->rt, incoming->node,
                             incoming->header.bytes);
    free(incoming);
}

/* --- early data --- */

static void make_buffer(struct orr_incoming *incoming)
{
    /* Nothing comes into the rest, and nobody looks at it. */
    size_t bytes = incoming->header.bytes - incoming->header.unreal;

    incoming->buffer = malloc(bytes ? bytes : 1);
    if (!incoming->buffer)
        fail(incoming, "out of memory");
}

static void pass_on(struct orr_incoming *incoming);

static void early_ended(struct orr_rank *rank, struct orr_flight *flight)
{
    struct orr_incoming *incoming = orr_container(flight, struct orr_incoming, flight);

    rank->nreceiving--;
    if (flight->packet.error)
        fail(incoming, flight->packet.error == -ECONNRESET
                           ? "that rank has ended"
                           : "fewer bytes came than were sent");
    incoming->moved = flight->packet.moved;
    incoming->state = THERE;
    if (incoming->nplaces > 0)
        pass_on(incoming);
    if (incoming->request && incoming->request->is_granted)
        orr_incoming_deliver(rank, incoming);
}

/* Receives the data behind the header before anybody has asked for them, if there is
 * memory, or `anyway`: true. */
static bool come_early(struct orr_incoming *incoming, bool anyway)
{
    struct orr_rank *rank = incoming->rank;

    incoming->is_reserved =
        orr_memory_reserve(rank->rt, incoming->header.bytes, &incoming->node) == 0;
    if (!incoming->is_reserved && !anyway)
        return false;
    make_buffer(incoming);
    incoming->part = (struct orr_part){.address = incoming->buffer,
                                       .size = incoming->header.bytes};
    incoming->flight = (struct orr_flight){
        .packet = {.header = incoming->header,
                   .parts = &incoming->part,
                   .nparts = incoming->header.bytes > 0,
                   .owner = &incoming->flight},
        .ended = early_ended,
    };
    incoming->state = COMING;
    rank->nreceiving++;
    if (rank->transport->ops->recv(rank->transport, &incoming->flight.packet))
        fail(incoming, "it could not be received");
    return true;
}

/* --- delivery --- */

/* The data came with the header: no copy of them is needed where the datum is ready. */
static void deliver_inside(struct orr_incoming *incoming, const void *inside,
                           size_t bytes)
{
    struct orr_request *request = incoming->request;

    orr_request_lay_out(request, bytes);
    if (!orr_layout_is_unreal(request->rank, &request->layout))
        orr_parts_unpack(request->layout.parts, request->layout.nparts, inside, bytes);
    orr_request_received(request, bytes);
}

const struct orr_header *orr_incoming_left(const struct orr_incoming *incoming, size_t *bytes)
{
    if (incoming->state != LEFT && incoming->state != ANNOUNCED)
        return NULL;
    *bytes = incoming->state == LEFT ? incoming->header.bytes : incoming->header.announced;
    return &incoming->header;
}

void orr_incoming_deliver(struct orr_rank *rank, struct orr_incoming *incoming)
{
    struct orr_request *request = incoming->request;

    (void)rank;
    switch (incoming->state) {
    case LEFT:
        orr_request_lay_out(request, incoming->header.bytes);
        orr_request_receive_behind(request, &incoming->header);
        break;
    case ANNOUNCED:
        orr_request_ask(request, &incoming->header);
        break;
    case COMING:
        break; /* early_ended goes on */
    case THERE:
        deliver_inside(incoming, (char *)incoming->buffer + incoming->skip,
                       incoming->moved - incoming->skip);
        break;
    }
}

/* What came along a tree was numbered by the rank that passed it on. */
static uint64_t number_of(const struct orr_header *header)
{
    return header->kind == ORR_PACKET_FORWARD ? 0 : header->id;
}

static void pair_first(struct orr_channel *channel)
{
    struct orr_incoming *incoming =
        orr_container(orr_list_pop(&channel->messages), struct orr_incoming, place);
    struct orr_request *request =
        orr_container(orr_list_pop(&channel->calls), struct orr_request, place);

    incoming->request = request;
    request->message = incoming;
    request->drop = orr_incoming_free;
    request->number = number_of(&incoming->header);
    incoming->rank->nexpected--;
    if (request->is_granted)
        orr_incoming_deliver(incoming->rank, incoming);
    else if (request->turn.held_back)
        orr_message_go(&request->turn);
}

void orr_incoming_pair(struct orr_rank *rank, struct orr_channel *channel)
{
    while (!orr_list_empty(&channel->messages) && !orr_list_empty(&channel->calls))
        pair_first(channel);
    orr_channel_leave(&rank->channels, channel);
}

/* --- headers --- */

static struct orr_incoming *make_incoming(struct orr_rank *rank,
                                          const struct orr_header *header)
{
    struct orr_incoming *incoming = orr_fresh(sizeof(*incoming));

    if (!incoming)
        orr_rank_fail(rank, "out of memory for a message of rank %d", header->peer);
    incoming->rank = rank;
    incoming->header = *header;
    incoming->origin = header->peer;
    incoming->nusers = 1;
    return incoming;
}

/* The data of a synchronous send, for which a receive has asked. */
static void take_answer(struct orr_rank *rank, const struct orr_header *header,
                        const void *inside)
{
    struct orr_request *request = orr_request_answered(rank, header->id);

    if (!request)
        orr_rank_fail(rank,
                      "rank %d has sent data that nobody has asked for: tag %lld",
                      header->peer, (long long)header->tag);
    request->message->header = *header;
    if (header->data == 0) {
        deliver_inside(request->message, inside, header->bytes);
        return;
    }
    orr_request_lay_out(request, header->bytes);
    orr_request_receive_behind(request, header);
}

/* The one that waits for it, if there is nothing before it. */
static struct orr_request *find_taker(const struct orr_channel *channel)
{
    struct orr_request *first;

    if (orr_list_empty(&channel->calls))
        return NULL;
    first = orr_container(channel->calls.next, struct orr_request, place);
    return first->is_granted ? first : NULL;
}

/* Whether a receive waits for its message, and takes memory then. */
static bool is_called(const struct orr_channel *channel)
{
    return !orr_list_empty(&channel->calls) &&
           orr_container(channel->calls.next, struct orr_request, place)->turn.held_back;
}

static struct orr_channel *need_channel(const struct orr_incoming *incoming)
{
    struct orr_channel_key key = {.tag = incoming->header.tag,
                                  .comm = incoming->header.comm,
                                  .peer = incoming->origin,
                                  .receives = true};
    struct orr_channel *channel = orr_channel_get(&incoming->rank->channels, &key);

    if (!channel)
        fail(incoming, "out of memory");
    return channel;
}

/* Keeps what came with the header. */
static void keep_inside(struct orr_incoming *incoming, const void *inside)
{
    make_buffer(incoming);
    if (incoming->header.bytes > incoming->header.unreal)
        memcpy(incoming->buffer, inside, incoming->header.bytes - incoming->header.unreal);
    incoming->moved = incoming->header.bytes;
    incoming->state = THERE;
}

static void take_data(struct orr_rank *rank, const struct orr_header *header,
                      const void *inside)
{
    struct orr_incoming *incoming = make_incoming(rank, header);
    struct orr_channel *channel = need_channel(incoming);
    struct orr_request *taker = find_taker(channel);

    rank->nmoved++;
    if (header->kind == ORR_PACKET_SYNCHRONOUS) {
        incoming->state = ANNOUNCED;
    } else if (header->data == 0 && taker) {
        orr_list_remove(&taker->place);
        incoming->request = taker;
        taker->message = incoming;
        taker->drop = orr_incoming_free;
        taker->number = number_of(header);
        rank->nexpected--;
        deliver_inside(incoming, inside, header->bytes);
        orr_channel_leave(&rank->channels, channel);
        return;
    } else if (header->data == 0) {
        keep_inside(incoming, inside);
    } else if (!taker && !is_called(channel)) {
        (void)come_early(incoming, false);
    }
    orr_list_append(&channel->messages, &incoming->place);
    orr_incoming_pair(rank, channel);
}

/* --- along a tree --- */

static void acknowledge(struct orr_incoming *incoming)
{
    if (incoming->is_placed && incoming->is_passed)
        orr_tree_acknowledge(incoming->rank, &incoming->header);
}

/* The tree needs it no more. */
static void leave_tree(struct orr_incoming *incoming)
{
    struct orr_rank *rank = incoming->rank;

    orr_incoming_free(incoming);
    orr_outside_end(rank->rt);
}

static void passed_acknowledged(struct orr_tree *tree)
{
    struct orr_incoming *incoming = orr_container(tree, struct orr_incoming, tree);

    incoming->is_passed = true;
    acknowledge(incoming);
}

static void passed_ended(struct orr_tree *tree)
{
    leave_tree(orr_container(tree, struct orr_incoming, tree));
}

/* The data are there, whether or not somebody here has asked for them. */
static void pass_on(struct orr_incoming *incoming)
{
    incoming->passed =
        (struct orr_part){.address = (char *)incoming->buffer + incoming->skip,
                          .size = incoming->moved - incoming->skip};
    incoming->tree = (struct orr_tree){
        .rank = incoming->rank,
        .origin = incoming->origin,
        .places = incoming->buffer,
        .nplaces = incoming->nplaces,
        .parts = &incoming->passed,
        .nparts = incoming->passed.size > 0,
        .node = incoming->is_reserved ? incoming->node : STARPU_MAIN_RAM,
        .unreal = incoming->header.unreal > 0,
        .acknowledged = passed_acknowledged,
        .ended = passed_ended,
    };
    orr_tree_start(&incoming->tree);
}

/* Those before it, which came another way, have their places. */
static void place(struct orr_incoming *incoming)
{
    struct orr_channel *channel = need_channel(incoming);

    incoming->nusers++; /* until this returns */
    orr_list_append(&channel->messages, &incoming->place);
    orr_incoming_pair(incoming->rank, channel);
    incoming->is_placed = true;
    acknowledge(incoming);
    if (incoming->nplaces == 0)
        leave_tree(incoming);
    orr_incoming_free(incoming);
}

static void place_postponed(struct orr_rank *rank, int origin)
{
    struct orr_list *link = rank->postponed.next, *next;

    for (; link != &rank->postponed; link = next) {
        struct orr_incoming *incoming = orr_container(link, struct orr_incoming, place);

        next = link->next;
        if (incoming->origin != origin ||
            incoming->header.announced > rank->taken_upto[origin])
            continue;
        orr_list_remove(link);
        place(incoming);
    }
}

static bool is_waited_for(const struct orr_incoming *incoming)
{
    struct orr_channel *channel = need_channel(incoming);
    bool ret = find_taker(channel) != NULL;

    orr_channel_leave(&incoming->rank->channels, channel);
    return ret;
}

static void take_forward(struct orr_rank *rank, const struct orr_header *header,
                         const void *inside)
{
    struct orr_incoming *incoming = make_incoming(rank, header);
    bool is_late;

    incoming->origin = (int)(uint32_t)header->id;
    incoming->nplaces = header->flags;
    incoming->skip = header->flags * sizeof(struct orr_tree_place);
    incoming->is_passed = incoming->nplaces == 0;
    incoming->nusers = 2;
    is_late = header->announced > rank->taken_upto[incoming->origin];
    orr_outside_begin(rank->rt);
    if (header->data == 0) {
        keep_inside(incoming, inside);
        if (incoming->nplaces > 0)
            pass_on(incoming);
    } else if (incoming->nplaces > 0 || is_late || !is_waited_for(incoming)) {
        /* It must not stay with a rank that would hold memory for it until somebody here
         * asks. */
        (void)come_early(incoming, true);
    }
    if (is_late)
        orr_list_append(&rank->postponed, &incoming->place);
    else
        place(incoming);
}

void orr_incoming_take(struct orr_rank *rank, const struct orr_header *header,
                       const void *inside)
{
    if (header->kind == ORR_PACKET_FORWARD)
        take_forward(rank, header, inside);
    else if (header->kind == ORR_PACKET_ACKNOWLEDGE)
        orr_tree_take_answer(rank, header);
    else if (header->kind == ORR_PACKET_READY)
        orr_requests_take_ready(rank, header);
    else if (header->kind == ORR_PACKET_CONTROL)
        orr_control_take(rank, header, inside);
    else if (header->flags & ORR_ANSWERS)
        take_answer(rank, header, inside);
    else
        take_data(rank, header, inside);
    if (header->comm == ORR_TREE_COMM) {
        rank->taken_upto[header->peer] = header->sequence;
        if (!orr_list_empty(&rank->postponed))
            place_postponed(rank, header->peer);
    }
}

/* --- at the end --- */

static void name_unclaimed(const struct orr_channel *channel, void *arg)
{
    bool *any = arg;

    orr_list_foreach (link, &channel->messages) {
        const struct orr_incoming *incoming =
            orr_container(link, struct orr_incoming, place);

        orr_log_error("a message of rank %d with tag %lld, %llu bytes, was never asked "
                      "for: a receive is missing, or there is one send too many",
                      incoming->origin, (long long)incoming->header.tag,
                      (unsigned long long)(incoming->state == ANNOUNCED
                                               ? incoming->header.announced
                                               : incoming->header.bytes -
                                                     incoming->skip));
        *any = true;
    }
}

bool orr_incoming_unclaimed(struct orr_rank *rank)
{
    bool any = false;

    orr_channels_each(&rank->channels, name_unclaimed, &any);
    return any;
}

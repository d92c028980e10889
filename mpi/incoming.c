/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/incoming.c - see incoming.h. */
#include "mpi/incoming.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "mpi/control.h"
#include "mpi/request.h"

enum state {
    LEFT,      /* the data are with the sender, behind the header */
    ANNOUNCED, /* … and come when it is told that they may */
    COMING,    /* into the buffer */
    THERE,     /* in the buffer */
};

struct orr_incoming {
    struct orr_rank *rank;
    struct orr_channel *channel;
    struct orr_list place; /* in its channel, until it is paired */
    struct orr_header header;
    struct orr_request *request; /* NULL: not paired */
    enum state state;
    struct orr_flight flight;
    struct orr_part part;
    void *buffer;      /* owned */
    bool is_reserved;  /* header.bytes of main memory … */
    unsigned node;     /* … on this node */
    size_t moved;
};

_Noreturn static void fail(const struct orr_incoming *incoming, const char *what)
{
    orr_rank_fail(incoming->rank, "a message of rank %d with tag %lld: %s",
                  incoming->header.peer, (long long)incoming->header.tag, what);
}

void orr_incoming_free(struct orr_incoming *incoming)
{
    if (!incoming)
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
    incoming->buffer = malloc(incoming->header.bytes ? incoming->header.bytes : 1);
    if (!incoming->buffer)
        fail(incoming, "out of memory");
}

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
    if (incoming->request && incoming->request->is_granted)
        orr_incoming_deliver(rank, incoming);
}

/* Receives the data behind the header before anybody has asked for them, if there is
 * memory. */
static void come_early(struct orr_incoming *incoming)
{
    struct orr_rank *rank = incoming->rank;

    if (orr_memory_reserve(rank->rt, incoming->header.bytes, &incoming->node))
        return;
    incoming->is_reserved = true;
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
}

/* --- delivery --- */

/* The data came with the header: no copy of them is needed where the datum is ready. */
static void deliver_inside(struct orr_incoming *incoming, const void *inside)
{
    struct orr_request *request = incoming->request;
    size_t bytes = incoming->header.bytes;

    orr_request_lay_out(request, bytes);
    orr_parts_unpack(request->layout.parts, request->layout.nparts, inside, bytes);
    orr_request_received(request, bytes);
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
        incoming->header.bytes = incoming->moved;
        deliver_inside(incoming, incoming->buffer);
        break;
    }
}

static void pair_first(struct orr_channel *channel)
{
    struct orr_incoming *incoming =
        orr_container(orr_list_pop(&channel->messages), struct orr_incoming, place);
    struct orr_request *request =
        orr_container(orr_list_pop(&channel->calls), struct orr_request, place);

    incoming->request = request;
    request->message = incoming;
    request->number = incoming->header.id;
    incoming->rank->nexpected--;
    if (request->is_granted)
        orr_incoming_deliver(incoming->rank, incoming);
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
    struct orr_incoming *incoming = calloc(1, sizeof(*incoming));

    if (!incoming)
        orr_rank_fail(rank, "out of memory for a message of rank %d", header->peer);
    incoming->rank = rank;
    incoming->header = *header;
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
        deliver_inside(request->message, inside);
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

static void take_data(struct orr_rank *rank, const struct orr_header *header,
                      const void *inside)
{
    struct orr_channel_key key = {.tag = header->tag,
                                  .comm = header->comm,
                                  .peer = header->peer,
                                  .receives = true};
    struct orr_channel *channel = orr_channel_get(&rank->channels, &key);
    struct orr_incoming *incoming = make_incoming(rank, header);
    struct orr_request *taker;

    if (!channel)
        fail(incoming, "out of memory");
    incoming->channel = channel;
    taker = find_taker(channel);
    if (header->kind == ORR_PACKET_SYNCHRONOUS) {
        incoming->state = ANNOUNCED;
    } else if (header->data == 0 && taker) {
        orr_list_remove(&taker->place);
        incoming->request = taker;
        taker->message = incoming;
        taker->number = header->id;
        rank->nexpected--;
        deliver_inside(incoming, inside);
        orr_channel_leave(&rank->channels, channel);
        return;
    } else if (header->data == 0) {
        make_buffer(incoming);
        if (header->bytes)
            memcpy(incoming->buffer, inside, header->bytes);
        incoming->moved = header->bytes;
        incoming->state = THERE;
    } else if (!taker) {
        come_early(incoming);
    }
    orr_list_append(&channel->messages, &incoming->place);
    orr_incoming_pair(rank, channel);
}

void orr_incoming_take(struct orr_rank *rank, const struct orr_header *header,
                       const void *inside)
{
    if (header->kind == ORR_PACKET_READY)
        orr_requests_take_ready(rank, header);
    else if (header->kind == ORR_PACKET_CONTROL)
        orr_control_take(rank, header, inside);
    else if (header->flags & ORR_ANSWERS)
        take_answer(rank, header, inside);
    else
        take_data(rank, header, inside);
}

/* --- headers without data --- */

static void told(struct orr_rank *rank, struct orr_flight *flight)
{
    rank->nsending--;
    if (flight->packet.error)
        orr_rank_fail(rank, "rank %d has ended: it was to be told that tag %lld is "
                            "waited for",
                      flight->packet.header.peer,
                      (long long)flight->packet.header.tag);
    free(flight);
}

void orr_incoming_tell(struct orr_rank *rank, const struct orr_header *header)
{
    struct orr_flight *flight = calloc(1, sizeof(*flight));

    if (!flight)
        orr_rank_fail(rank, "out of memory for a message to rank %d", header->peer);
    flight->packet.header = *header;
    flight->packet.owner = flight;
    flight->ended = told;
    rank->nsending++;
    if (rank->transport->ops->send(rank->transport, &flight->packet))
        orr_rank_fail(rank, "rank %d cannot be reached", header->peer);
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
                      incoming->header.peer, (long long)incoming->header.tag,
                      (unsigned long long)(incoming->state == ANNOUNCED
                                               ? incoming->header.announced
                                               : incoming->header.bytes));
        *any = true;
    }
}

bool orr_incoming_unclaimed(struct orr_rank *rank)
{
    bool any = false;

    orr_channels_each(&rank->channels, name_unclaimed, &any);
    return any;
}

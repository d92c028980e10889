/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/control.c - see control.h. */
#include "mpi/control.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/fresh.h"
#include "mpi/flight.h"
#include "mpi/rank.h"

struct control {
    struct orr_flight flight;
    struct orr_part part;
    void *owned; /* the bytes, if they are not behind this */
    char bytes[];
};

static void control_free(struct control *control)
{
    free(control->owned);
    free(control);
}

static void sent(struct orr_rank *rank, struct orr_flight *flight)
{
    rank->nsending--;
    if (flight->packet.error)
        orr_rank_fail(rank, "rank %d has ended, and was to be told something",
                      flight->packet.header.peer);
    control_free(orr_container(flight, struct control, flight));
}

static struct control *make(struct orr_rank *rank, int peer, size_t room)
{
    struct control *control = orr_fresh(sizeof(*control) + room);

    if (!control)
        orr_rank_fail(rank, "out of memory for a message to or from rank %d", peer);
    return control;
}

static void start(struct orr_rank *rank, struct control *control, unsigned comm, int peer,
                  enum orr_control_kind kind, int64_t tag, void *bytes, size_t size)
{
    control->part = (struct orr_part){.address = bytes, .size = size};
    control->flight = (struct orr_flight){
        .packet = {.header = {.tag = tag,
                              .kind = ORR_PACKET_CONTROL,
                              .flags = (uint16_t)kind,
                              .comm = comm,
                              .peer = peer},
                   .parts = &control->part,
                   .nparts = size > 0,
                   .owner = &control->flight},
        .ended = sent,
    };
    rank->nsending++;
    if (rank->transport->ops->send(rank->transport, &control->flight.packet))
        orr_rank_fail(rank, "rank %d cannot be reached", peer);
}

void orr_control_send(struct orr_rank *rank, unsigned comm, int peer,
                      enum orr_control_kind kind, int64_t tag, const void *bytes,
                      size_t size)
{
    struct control *control = make(rank, peer, size);

    if (size)
        memcpy(control->bytes, bytes, size);
    start(rank, control, comm, peer, kind, tag, control->bytes, size);
}

void orr_control_send_owned(struct orr_rank *rank, unsigned comm, int peer,
                            enum orr_control_kind kind, int64_t tag, void *bytes,
                            size_t size)
{
    struct control *control = make(rank, peer, 0);

    control->owned = bytes;
    start(rank, control, comm, peer, kind, tag, bytes, size);
}

/* --- those that come --- */

void *orr_control_keep(struct orr_rank *rank, const struct orr_header *header,
                       const void *bytes)
{
    void *kept = rank->control_taken;

    rank->control_taken = NULL;
    if (kept)
        return kept;
    kept = malloc(header->bytes ? header->bytes : 1);
    if (!kept)
        orr_rank_fail(rank, "out of memory for a message of rank %d", header->peer);
    if (header->bytes)
        memcpy(kept, bytes, header->bytes);
    return kept;
}

static void received(struct orr_rank *rank, struct orr_flight *flight)
{
    struct control *control = orr_container(flight, struct control, flight);
    struct orr_header header = flight->packet.header;

    rank->nreceiving--;
    if (flight->packet.error)
        orr_rank_fail(rank, "rank %d has ended in the middle of a message", header.peer);
    rank->control_taken = control->owned;
    control->owned = NULL;
    rank->controls[header.flags](rank, &header, rank->control_taken);
    free(rank->control_taken);
    rank->control_taken = NULL;
    control_free(control);
}

static void receive(struct orr_rank *rank, const struct orr_header *header)
{
    struct control *control = make(rank, header->peer, 0);

    control->owned = malloc(header->bytes);
    if (!control->owned)
        orr_rank_fail(rank, "out of memory for %llu bytes of rank %d",
                      (unsigned long long)header->bytes, header->peer);
    control->part = (struct orr_part){.address = control->owned, .size = header->bytes};
    control->flight = (struct orr_flight){
        .packet = {.header = *header,
                   .parts = &control->part,
                   .nparts = 1,
                   .owner = &control->flight},
        .ended = received,
    };
    rank->nreceiving++;
    if (rank->transport->ops->recv(rank->transport, &control->flight.packet))
        orr_rank_fail(rank, "a message of rank %d could not be received", header->peer);
}

void orr_control_take(struct orr_rank *rank, const struct orr_header *header,
                      const void *inside)
{
    if (header->flags >= ORR_CONTROLS || !rank->controls[header->flags])
        orr_rank_fail(rank, "rank %d has sent a message of kind %u, which this rank does "
                            "not know: all ranks need the same version of the library",
                      header->peer, header->flags);
    if (header->data)
        receive(rank, header);
    else
        rank->controls[header->flags](rank, header, inside);
}

/* --- headers without data --- */

static void told(struct orr_rank *rank, struct orr_flight *flight)
{
    rank->nsending--;
    if (flight->packet.error)
        orr_rank_fail(rank, "rank %d has ended: it was to be told of a message "
                            "with tag %lld",
                      flight->packet.header.peer,
                      (long long)flight->packet.header.tag);
    free(flight);
}

void orr_control_tell(struct orr_rank *rank, const struct orr_header *header)
{
    struct orr_flight *flight = orr_fresh(sizeof(*flight));

    if (!flight)
        orr_rank_fail(rank, "out of memory for a message to rank %d", header->peer);
    flight->packet.header = *header;
    flight->packet.owner = flight;
    flight->ended = told;
    rank->nsending++;
    if (rank->transport->ops->send(rank->transport, &flight->packet))
        orr_rank_fail(rank, "rank %d cannot be reached", header->peer);
}

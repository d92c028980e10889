/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/control.c - see control.h. */
#include "mpi/control.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/request.h"

struct control {
    struct orr_flight flight;
    struct orr_part part;
    char bytes[];
};

static void sent(struct orr_rank *rank, struct orr_flight *flight)
{
    rank->nsending--;
    free(orr_container(flight, struct control, flight));
}

void orr_control_send(struct orr_rank *rank, unsigned comm, int peer,
                      enum orr_control_kind kind, int64_t tag, const void *bytes,
                      size_t size)
{
    struct control *control = calloc(1, sizeof(*control) + size);

    if (!control)
        orr_rank_fail(rank, "out of memory for a message to rank %d", peer);
    if (size)
        memcpy(control->bytes, bytes, size);
    control->part = (struct orr_part){.address = control->bytes, .size = size};
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

void orr_control_take(struct orr_rank *rank, const struct orr_header *header,
                      const void *inside)
{
    if (header->flags >= ORR_CONTROLS || !rank->controls[header->flags])
        orr_rank_fail(rank, "rank %d has sent a message of kind %u, which this rank does "
                            "not know: all ranks need the same version of the library",
                      header->peer, header->flags);
    rank->controls[header->flags](rank, header, inside);
}

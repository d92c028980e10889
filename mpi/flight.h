/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/flight.h - a packet in the transport. */
#pragma once

#include "mpi/transport.h"

struct orr_rank;

/* What is in the transport, with what comes after. */
struct orr_flight {
    struct orr_packet packet; /* its `owner` is this */
    void (*ended)(struct orr_rank *rank, struct orr_flight *flight);
};

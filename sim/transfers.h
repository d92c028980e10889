/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/transfers.h - the copy engines: which copy may start when, and its end,
 * by the network. One OS thread.
 *
 * A new copy waits for all earlier ones that it conflicts with. With "peer"
 * for a copy neither end of which is main memory, these are
 *   1. those of the same source and destination;
 *   2. the exact reverse, when it is a peer copy;
 *   3. when it is a peer copy, those that arrive at its source or destination;
 *   4. peer copies of which it arrives at the source or the destination.
 * That is the same as saying: each device has a lock that serves in order of
 * arrival; a copy to it writes, a peer copy from it reads; and copies to main
 * memory go one after the other per device. So the rules cost a queue
 * operation or two per copy, however many wait. Several nodes of main memory
 * are one to these rules; copies between them wait for none. Nor do those within a
 * node, which a processor makes: they take a time by their bytes, and no link.
 */
#pragma once

#include "core/device/machine.h"
#include "sim/costs.h"
#include "sim/exec.h"
#include "sim/network.h"
#include "sim/streaming.h"

struct orr_transfers;

/* The first `nmain` nodes are main memory. `network` has one endpoint per node
 * and is borrowed, as the user is; NULL: copies take no time. `perform`: copies move bytes.
 * `delay_us` is the cost of handing over a copy when the machine itself does
 * it. Errors: -ENOMEM. */
int orr_transfers_new(const struct orr_sim_user *user,
                      struct orr_network *network,
                      unsigned nnodes, unsigned nmain, bool perform,
                      double delay_us, struct orr_transfers **ret);

/* Copies take their part of main memory's bandwidth, each alone as much as the n × n
 * nodes of `bandwidth` say, bytes per µs. Both are lent. */
void orr_transfers_set_streaming(struct orr_transfers *transfers,
                                 struct orr_streaming *streaming,
                                 const double *bandwidth, unsigned n);

/* Moves copies that have not begun by another network, lent as the first one was. */
void orr_transfers_set_network(struct orr_transfers *transfers,
                               struct orr_network *network);

/* The network has ended copies otherwise than in its own events: they are taken before the
 * clock moves. */
void orr_transfers_rouse(struct orr_transfers *transfers);

/* What a copy within the node takes; nothing at first. */
void orr_transfers_set_local(struct orr_transfers *transfers, unsigned node,
                             struct orr_local_copy takes);

/* What a copy into memory of the node takes more that nobody has used before; nothing at
 * first. */
void orr_transfers_set_first_use(struct orr_transfers *transfers, unsigned node,
                                 double us_per_byte);

/* Forgets what is still under way. Accepts NULL. */
void orr_transfers_free(struct orr_transfers *transfers);

/* Never blocks or switches, never fails; copy->done is called later, on the
 * dispatcher's stack. */
void orr_transfers_start(struct orr_transfers *transfers,
                         struct orr_copy *copy);

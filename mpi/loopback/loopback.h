/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/loopback/loopback.h - the transport of N ranks in one process, for tests: what is
 * above runs without MPI, under the sanitizers, and meets orders, delays and faults that
 * a good network does not show. Each rank has a thread of its own, or one thread has all
 * of them in turn.
 *
 * Time is counted in turns of the network, one for each look (progress, or a round of
 * wait) of any rank. By chance: each message is some turns on its way, so those of
 * different pairs overtake each other, but never those of one; data come later than their
 * header; some sends end at once, others when their data have been received; cancel comes
 * in time, or not. With one thread for all ranks a seed gives the same run each time;
 * with several it gives the same chances, and the system their order.
 */
#pragma once

#include <stdint.h>

#include "mpi/transport.h"

struct orr_loopback;

/* What its comm_add takes for a communicator. */
struct orr_loopback_comm;

struct orr_loopback_conf {
    unsigned nranks;
    uint64_t seed;
    unsigned delay;      /* turns that a message takes at most; 0: none */
    size_t inside_bytes; /* 0: ORR_TRANSPORT_INSIDE, which is the most */
    size_t eager_bytes;  /* sends of more never end before their receive */
};

/* A network whose ranks are 0 … nranks - 1, with none of them open. NULL: no memory. */
struct orr_loopback *orr_loopback_new(const struct orr_loopback_conf *conf);
/* When all transports of it are closed. */
void orr_loopback_free(struct orr_loopback *net);

/* The communicator of all, and a new one of n ranks (numbers in that of all, each once),
 * which go with the network. Any thread. NULL: no memory. */
struct orr_loopback_comm *orr_loopback_world(struct orr_loopback *net);
struct orr_loopback_comm *orr_loopback_comm_new(struct orr_loopback *net,
                                                const int *ranks, int n);

/* The transport of a rank, which has none yet. The calling thread is its owner. NULL: no
 * memory. */
struct orr_transport *orr_loopback_open(struct orr_loopback *net, int rank);

/* -- faults; any thread -- */

/* The rank dies: what it has sent and has not arrived is lost, what others have under way
 * with it ends with -ECONNRESET. Its own calls fail likewise: it hears no more. */
void orr_loopback_kill(struct orr_loopback *net, int rank);

/* The next data that travel behind a header of `from` to `to`, in any communicator, lose
 * their second half. */
void orr_loopback_truncate(struct orr_loopback *net, int from, int to);

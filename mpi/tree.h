/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/tree.h - one value on its way to many ranks: a rank sends it to a few, each with a
 * list of those to whom it passes it on. All of it is the carrier's.
 *
 * A packet of kind ORR_PACKET_FORWARD has the list, then the data. Its header:
 *   tag        that of the receiver
 *   announced  the receiver takes it behind the origin's header of that number
 *   id         upper half: what the answer names; lower half: the origin, who made the call
 *   flags      places of the list
 * The receiver answers with ORR_PACKET_ACKNOWLEDGE when it and all behind it have the
 * message in its place among those of the origin. A rank takes it whatever its memory's
 * limit is; where there is one, it starts no trees itself.
 *
 * Nobody here waits for what an application does, so trees end whatever happens above.
 */
#pragma once

#include "core/base/list.h"
#include "mpi/parts.h"
#include "mpi/transport.h"

struct orr_rank;

/* A list has fewer places. */
enum { ORR_MOST_PLACES = 65535 };

/* Trees are in the communicator of all, whose headers every rank takes. */
enum { ORR_TREE_COMM = 0 };

/* A receiver, as in the packet. */
struct orr_tree_place {
    int64_t tag;
    uint64_t behind; /* see `announced` */
    int64_t rank;
};

/* A rank's part in it. The caller's memory, zeroed, then filled, until `ended`. */
struct orr_tree {
    struct orr_rank *rank;
    int origin;
    const struct orr_tree_place *places; /* to whom, but not this rank itself */
    unsigned nplaces;
    const struct orr_part *parts; /* the data … */
    unsigned nparts, node;        /* … on that memory node */
    bool unreal; /* … which are values that nobody computes: they have no memory maybe */
    /* All have answered. */
    void (*acknowledged)(struct orr_tree *tree);
    /* That, and places and data are not needed any more. */
    void (*ended)(struct orr_tree *tree);

    /* Its own. */
    struct orr_list link; /* in the rank's `trees` */
    uint32_t id;
    unsigned nsending, nawaited;
};

/* Sends it to the first ranks. None of the functions is called before it returns. */
void orr_tree_start(struct orr_tree *tree);

/* An answer has come. */
void orr_tree_take_answer(struct orr_rank *rank, const struct orr_header *header);

/* Answers to the rank from which a packet with that header has come. */
void orr_tree_acknowledge(struct orr_rank *rank, const struct orr_header *header);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/tree.c - see tree.h. */
#include "mpi/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/fresh.h"
#include "mpi/control.h"
#include "mpi/flight.h"
#include "mpi/rank.h"
#include "mpi/stats.h"

/* --- the shape --- */

/* Of n places the first one gets the message with those that follow, this many with
 * itself: the bigger half, so that the sender of n sends log2(n + 1) times, rounded up. */
static unsigned first_branch(unsigned n)
{
    return n - n / 2;
}

/* --- what goes to a child --- */

struct branch {
    struct orr_flight flight;
    struct orr_tree *tree;
    struct orr_part parts[]; /* the list, the data */
};

static void look_at_end(struct orr_tree *tree)
{
    if (tree->nsending || tree->nawaited)
        return;
    orr_list_remove(&tree->link);
    tree->ended(tree);
}

static void branch_ended(struct orr_rank *rank, struct orr_flight *flight)
{
    struct branch *branch = orr_container(flight, struct branch, flight);
    struct orr_tree *tree = branch->tree;

    rank->nsending--;
    if (flight->packet.error)
        orr_rank_fail(rank, "tag %lld, to rank %d: that rank has ended, or the message "
                            "could not be sent",
                      (long long)flight->packet.header.tag, flight->packet.header.peer);
    free(branch);
    tree->nsending--;
    look_at_end(tree);
}

static void send_branch(struct orr_tree *tree, const struct orr_tree_place *places,
                        unsigned n)
{
    struct orr_rank *rank = tree->rank;
    struct branch *branch =
        orr_fresh(sizeof(*branch) + (1 + tree->nparts) * sizeof(branch->parts[0]));
    int peer = (int)places[0].rank;

    if (!branch)
        orr_rank_fail(rank, "out of memory for a message to rank %d", peer);
    branch->tree = tree;
    /* What is sent is not written to. */
    branch->parts[0] = (struct orr_part){.address = (void *)(uintptr_t)&places[1],
                                         .size = (n - 1) * sizeof(*places)};
    if (tree->nparts)
        memcpy(&branch->parts[1], tree->parts, tree->nparts * sizeof(*tree->parts));
    branch->flight = (struct orr_flight){
        .packet = {.header = {.tag = places[0].tag,
                              .announced = places[0].behind,
                              .id = (uint64_t)tree->id << 32 | (uint32_t)tree->origin,
                              .kind = ORR_PACKET_FORWARD,
                              .flags = (uint16_t)(n - 1),
                              .comm = ORR_TREE_COMM,
                              .peer = peer},
                   .parts = branch->parts,
                   .nparts = 1 + tree->nparts,
                   .unreal = tree->unreal ? orr_parts_bytes(tree->parts, tree->nparts) : 0,
                   .owner = &branch->flight},
        .ended = branch_ended,
    };
    tree->nsending++;
    tree->nawaited++;
    rank->nsending++;
    rank->nexpected++;
    orr_stats_sent(rank, orr_rank_comm_at(rank, ORR_TREE_COMM), peer, tree->node,
                   orr_parts_bytes(tree->parts, tree->nparts));
    if (rank->transport->ops->send(rank->transport, &branch->flight.packet))
        orr_rank_fail(rank, "tag %lld: rank %d cannot be reached",
                      (long long)places[0].tag, peer);
}

void orr_tree_start(struct orr_tree *tree)
{
    struct orr_rank *rank = tree->rank;

    tree->id = ++rank->last_tree;
    orr_list_append(&rank->trees, &tree->link);
    for (unsigned first = 0; first < tree->nplaces;) {
        unsigned n = first_branch(tree->nplaces - first);

        send_branch(tree, &tree->places[first], n);
        first += n;
    }
}

/* --- answers --- */

static struct orr_tree *find_tree(struct orr_rank *rank, uint32_t id)
{
    orr_list_foreach (link, &rank->trees) {
        struct orr_tree *tree = orr_container(link, struct orr_tree, link);

        if (tree->id == id)
            return tree;
    }
    return NULL;
}

void orr_tree_take_answer(struct orr_rank *rank, const struct orr_header *header)
{
    struct orr_tree *tree = find_tree(rank, (uint32_t)(header->id >> 32));

    if (!tree || !tree->nawaited)
        orr_rank_fail(rank, "rank %d acknowledges a message that was not sent to it: "
                            "tag %lld",
                      header->peer, (long long)header->tag);
    rank->nexpected--;
    if (--tree->nawaited == 0)
        tree->acknowledged(tree);
    look_at_end(tree);
}

void orr_tree_acknowledge(struct orr_rank *rank, const struct orr_header *header)
{
    orr_control_tell(rank, &(struct orr_header){.tag = header->tag,
                                                 .id = header->id,
                                                 .kind = ORR_PACKET_ACKNOWLEDGE,
                                                 .comm = header->comm,
                                                 .peer = header->peer});
}

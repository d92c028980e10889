/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/simulated/network.c - the network between the ranks, and communicators. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/simulated/simulated_private.h"

static void free_packets(struct orr_list *packets)
{
    struct orr_list *link;

    while ((link = orr_list_pop(packets)))
        simulated_packet_free(orr_container(link, struct packet, link));
}

static void free_pair(struct pair *pair)
{
    if (!pair)
        return;
    free_packets(&pair->on_way);
    free_packets(&pair->behind);
    free(pair);
}

static void free_comm(struct orr_simulated_comm *comm)
{
    for (int i = 0; comm->pairs && i < comm->size * comm->size; i++)
        free_pair(comm->pairs[i]);
    simulated_free_meetings(comm);
    free(comm->pairs);
    free(comm->members);
    free(comm);
}

struct orr_simulated_comm *orr_simulated_comm_new(struct orr_simulated *net,
                                                  const int *ranks, int n)
{
    struct orr_simulated_comm *comm = calloc(1, sizeof(*comm));
    size_t size = (size_t)n;

    if (!comm)
        return NULL;
    comm->net = net;
    comm->size = n;
    orr_list_init(&comm->rounds);
    comm->members = calloc(size, sizeof(*comm->members));
    comm->pairs = calloc(size * size, sizeof(struct pair *));
    if (!comm->members || !comm->pairs) {
        free_comm(comm);
        return NULL;
    }
    for (int rank = 0; rank < n; rank++)
        comm->members[rank].world = ranks[rank];
    orr_list_append(&net->comms, &comm->link);
    return comm;
}

struct orr_simulated_comm *orr_simulated_world(struct orr_simulated *net)
{
    return net->all;
}

struct orr_simulated *orr_simulated_network(const struct orr_simulated_comm *comm)
{
    return comm->net;
}

int orr_simulated_comm_size(const struct orr_simulated_comm *comm)
{
    return comm->size;
}

unsigned orr_simulated_node_of(const struct orr_simulated *net, int rank)
{
    return net->nodes[rank];
}

int orr_simulated_world_rank(const struct orr_simulated_comm *comm, int rank)
{
    return comm->members[rank].world;
}

const struct orr_cluster_costs *simulated_costs(const struct orr_simulated_comm *comm,
                                                int from, int to)
{
    const struct orr_simulated *net = comm->net;

    return net->nodes[comm->members[from].world] == net->nodes[comm->members[to].world]
               ? &net->near
               : &net->far;
}

/* Where the ranks are, and how many nodes there are. Errors: -EINVAL. */
static int place_ranks(struct orr_simulated *net, const struct orr_simulated_conf *conf,
                       unsigned *ret_nnodes, struct orr_error *err)
{
    *ret_nnodes = conf->nnodes;
    for (unsigned rank = 0; rank < net->nranks; rank++) {
        unsigned node = conf->nodes ? conf->nodes[rank] : rank;

        if (conf->nnodes && node >= conf->nnodes)
            return orr_fail(err, -EINVAL,
                            "rank %u cannot be on node %u of %u, from 0 on: give it another "
                            "one, or more nodes",
                            rank, node, conf->nnodes);
        net->nodes[rank] = node;
        if (node >= *ret_nnodes)
            *ret_nnodes = node + 1;
    }
    return 0;
}

static int make_world(struct orr_simulated *net)
{
    int *ranks = calloc(net->nranks, sizeof(*ranks));

    for (unsigned rank = 0; ranks && rank < net->nranks; rank++)
        ranks[rank] = (int)rank;
    if (ranks)
        net->all = orr_simulated_comm_new(net, ranks, (int)net->nranks);
    free(ranks);
    return net->all ? 0 : -ENOMEM;
}

int orr_simulated_new(const struct orr_simulated_conf *conf, struct orr_simulated **ret,
                      struct orr_error *err)
{
    struct orr_simulated *net = calloc(1, sizeof(*net));
    unsigned nnodes;
    int rc = -ENOMEM;

    if (!net)
        return orr_fail(err, -ENOMEM, "no memory for the network");
    orr_list_init(&net->comms);
    orr_list_init(&net->spares);
    net->ops = conf->cluster;
    net->nranks = conf->nranks;
    net->nodes = calloc(conf->nranks, sizeof(*net->nodes));
    net->boxes = calloc(conf->nranks, sizeof(*net->boxes));
    for (unsigned i = 0; net->boxes && i < conf->nranks; i++)
        simulated_mailbox_init(&net->boxes[i]);
    if (net->nodes && net->boxes)
        rc = place_ranks(net, conf, &nnodes, err);
    if (rc == 0)
        rc = net->ops->open(conf->network, nnodes, &net->cluster, err);
    if (rc == 0)
        rc = make_world(net);
    if (rc) {
        orr_simulated_free(net);
        return rc;
    }
    net->inside_bytes = ORR_TRANSPORT_INSIDE;
    net->most_values = conf->most_values ? conf->most_values : SIZE_MAX;
    net->far = net->ops->costs(net->cluster, false);
    net->near = net->ops->costs(net->cluster, true);
    *ret = net;
    return 0;
}

int orr_simulated_attach(struct orr_simulated *net, int rank, struct orr_machine *machine,
                         struct orr_error *err)
{
    return net->ops->attach(net->cluster, net->nodes[rank], machine, err);
}

int orr_simulated_seat(struct orr_simulated *net, int rank,
                       const struct orr_cluster_processors *processors)
{
    static const struct orr_cluster_processors own = {0};

    return net->ops->seat(net->cluster, net->nodes[rank], processors ? processors : &own);
}

void orr_simulated_free(struct orr_simulated *net)
{
    struct orr_list *link;

    if (net->cluster)
        net->ops->close(net->cluster);
    while ((link = orr_list_pop(&net->comms)))
        free_comm(orr_container(link, struct orr_simulated_comm, link));
    while ((link = orr_list_pop(&net->spares)))
        free(orr_container(link, struct packet, link));
    for (unsigned i = 0; net->boxes && i < net->nranks; i++)
        simulated_mailbox_done(&net->boxes[i], net->nranks);
    free(net->boxes);
    free(net->nodes);
    free(net);
}

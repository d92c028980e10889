/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/loopback/network.c - the network between the ranks: communicators, faults. */
#include "mpi/loopback/loopback_private.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/splitmix.h"

uint64_t loopback_due(struct orr_loopback *net, uint64_t *random)
{
    /* Most are quick, some slow. */
    uint64_t most = orr_splitmix(random) % 4 ? net->conf.delay / 8 : net->conf.delay;

    return net->turn + 1 + orr_splitmix(random) % (most + 1);
}

bool loopback_is_dead(const struct orr_loopback_comm *comm, int rank)
{
    return comm->net->dead[comm->world[rank]];
}

/* --- communicators --- */

static void free_packets(struct orr_list *packets)
{
    struct orr_list *link;

    while ((link = orr_list_pop(packets))) {
        struct packet *packet = orr_container(link, struct packet, link);

        free(packet->copy);
        free(packet);
    }
}

static void free_comm(struct orr_loopback_comm *comm)
{
    for (int i = 0; comm->pairs && i < comm->size * comm->size; i++) {
        free_packets(&comm->pairs[i].on_way);
        free_packets(&comm->pairs[i].behind);
    }
    loopback_free_meetings(comm);
    free(comm->world);
    free(comm->pairs);
    free(comm->meetings);
    free(comm);
}

struct orr_loopback_comm *orr_loopback_comm_new(struct orr_loopback *net,
                                                const int *ranks, int n)
{
    struct orr_loopback_comm *comm = calloc(1, sizeof(*comm));
    size_t size = (size_t)n;

    if (!comm)
        return NULL;
    comm->net = net;
    comm->size = n;
    orr_list_init(&comm->rounds);
    comm->world = calloc(size, sizeof(*comm->world));
    comm->meetings = calloc(size, sizeof(*comm->meetings));
    comm->pairs = calloc(size * size, sizeof(*comm->pairs));
    if (!comm->world || !comm->meetings || !comm->pairs) {
        free(comm->pairs);
        comm->pairs = NULL;
        free_comm(comm);
        return NULL;
    }
    pthread_mutex_lock(&net->mutex);
    comm->random = net->conf.seed + 1;
    orr_list_foreach(link, &net->comms)
        comm->random += orr_splitmix(&comm->random);
    for (int from = 0; from < n; from++) {
        comm->world[from] = ranks[from];
        for (int to = 0; to < n; to++) {
            struct pair *pair = &comm->pairs[from * n + to];

            pair->comm = comm;
            pair->from = from;
            pair->to = to;
            pair->random = orr_splitmix(&comm->random);
            orr_list_init(&pair->on_way);
            orr_list_init(&pair->behind);
        }
    }
    orr_list_append(&net->comms, &comm->link);
    pthread_mutex_unlock(&net->mutex);
    return comm;
}

struct orr_loopback_comm *orr_loopback_world(struct orr_loopback *net)
{
    return net->all;
}

struct orr_loopback *orr_loopback_new(const struct orr_loopback_conf *conf)
{
    struct orr_loopback *net = calloc(1, sizeof(*net));
    int *ranks = calloc(conf->nranks, sizeof(*ranks));

    if (!net || !ranks)
        goto failed;
    net->conf = *conf;
    if (net->conf.inside_bytes == 0 || net->conf.inside_bytes > ORR_TRANSPORT_INSIDE)
        net->conf.inside_bytes = ORR_TRANSPORT_INSIDE;
    pthread_mutex_init(&net->mutex, NULL);
    orr_list_init(&net->comms);
    net->ranks = calloc(conf->nranks, sizeof(struct endpoint *));
    net->dead = calloc(conf->nranks, sizeof(*net->dead));
    net->truncate = calloc((size_t)conf->nranks * conf->nranks, sizeof(*net->truncate));
    for (unsigned i = 0; i < conf->nranks; i++)
        ranks[i] = (int)i;
    if (!net->ranks || !net->dead || !net->truncate ||
        !(net->all = orr_loopback_comm_new(net, ranks, (int)conf->nranks))) {
        free(ranks);
        orr_loopback_free(net);
        return NULL;
    }
    free(ranks);
    return net;
failed:
    free(ranks);
    free(net);
    return NULL;
}

void orr_loopback_free(struct orr_loopback *net)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&net->comms)))
        free_comm(orr_container(link, struct orr_loopback_comm, link));
    pthread_mutex_destroy(&net->mutex);
    free(net->ranks);
    free(net->dead);
    free(net->truncate);
    free(net);
}

/* --- faults --- */

void orr_loopback_truncate(struct orr_loopback *net, int from, int to)
{
    pthread_mutex_lock(&net->mutex);
    net->truncate[(unsigned)from * net->conf.nranks + (unsigned)to]++;
    pthread_mutex_unlock(&net->mutex);
}

/* What was on its way between the two is lost; who waits for it is told. */
static void cut_pair(struct pair *pair)
{
    struct orr_loopback_comm *comm = pair->comm;
    struct orr_list *link;

    while ((link = orr_list_pop(&pair->on_way)) ||
           (link = orr_list_pop(&pair->behind))) {
        struct packet *packet = orr_container(link, struct packet, link);

        if (packet->sender)
            loopback_end(comm->net, comm->world[pair->from], packet->sender,
                         -ECONNRESET, 0);
        if (packet->receive)
            loopback_end(comm->net, comm->world[pair->to], packet->receive,
                         -ECONNRESET, 0);
        free(packet->copy);
        free(packet);
    }
}

/* The same of what has arrived; the header is there all the same. */
static void cut_arrived(struct endpoint *at, int world)
{
    orr_list_foreach(link, &at->arrived)
    {
        struct packet *packet = orr_container(link, struct packet, link);
        int from = packet->pair->comm->world[packet->pair->from];

        if (packet->sender && (from == world || at->world == world)) {
            loopback_end(at->net, from, packet->sender, -ECONNRESET, 0);
            packet->sender = NULL;
        }
    }
}

static void cut_comm(struct orr_loopback_comm *comm, int world)
{
    int rank = 0;

    while (rank < comm->size && comm->world[rank] != world)
        rank++;
    if (rank == comm->size)
        return;
    for (int peer = 0; peer < comm->size; peer++) {
        cut_pair(&comm->pairs[rank * comm->size + peer]);
        cut_pair(&comm->pairs[peer * comm->size + rank]);
    }
    loopback_break_meetings(comm);
    for (int peer = 0; peer < comm->size; peer++) {
        struct endpoint *at = comm->net->ranks[comm->world[peer]];

        for (size_t i = 0; at && peer != rank && i < at->ncomms; i++)
            if (at->comms[i].comm == comm)
                loopback_fail(at, i, rank);
    }
}

void orr_loopback_kill(struct orr_loopback *net, int rank)
{
    pthread_mutex_lock(&net->mutex);
    if (!net->dead[rank]) {
        net->dead[rank] = true;
        orr_list_foreach(link, &net->comms)
            cut_comm(orr_container(link, struct orr_loopback_comm, link), rank);
        for (unsigned i = 0; i < net->conf.nranks; i++) {
            if (net->ranks[i])
                cut_arrived(net->ranks[i], rank);
            loopback_rouse(net, (int)i);
        }
    }
    pthread_mutex_unlock(&net->mutex);
}

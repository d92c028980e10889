/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/loopback/loopback.c - the table of operations of a rank. */
#include "mpi/loopback/loopback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/grow.h"
#include "core/base/splitmix.h"
#include "mpi/loopback/loopback_private.h"

static struct endpoint *endpoint_of(struct orr_transport *t)
{
    return orr_container(t, struct endpoint, base);
}

static void enter(struct endpoint *at)
{
    pthread_mutex_lock(&at->net->mutex);
}

static void leave(struct endpoint *at)
{
    pthread_mutex_unlock(&at->net->mutex);
}

/* --- what happens to a rank, with the mutex --- */

void loopback_rouse(struct orr_loopback *net, int world)
{
    if (net->ranks[world])
        pthread_cond_signal(&net->ranks[world]->something);
}

void loopback_end(struct orr_loopback *net, int world, struct orr_packet *message,
                  int error, size_t moved)
{
    message->error = error;
    message->moved = moved;
    orr_list_append(&net->ranks[world]->ended, &message->link);
    loopback_rouse(net, world);
}

void loopback_fail(struct endpoint *at, size_t comm, int peer)
{
    struct failed *failed = calloc(1, sizeof(*failed));

    if (!failed)
        return;
    failed->failure.error = -ECONNRESET;
    failed->failure.of_a_peer = true;
    failed->failure.comm = (unsigned)comm;
    failed->failure.peer = peer;
    orr_fail(&failed->failure.why, 0, "rank %d has died", peer);
    orr_list_append(&at->failures, &failed->link);
    loopback_rouse(at->net, at->world);
}

static void free_packet(struct packet *packet)
{
    free(packet->copy);
    free(packet);
}

/* --- sending --- */

/* NULL: there is no such communicator or rank. */
static struct pair *pair_to(struct endpoint *at, unsigned comm, int peer)
{
    struct endpoint_comm *in;

    if (comm >= at->ncomms)
        return NULL;
    in = &at->comms[comm];
    if (peer < 0 || peer >= in->comm->size)
        return NULL;
    return &in->comm->pairs[in->rank * in->comm->size + peer];
}

/* How its data travel: inside, in a copy, or in the sender's memory. -ENOMEM. */
static int load(struct endpoint *at, struct packet *packet, struct orr_packet *message)
{
    size_t bytes = message->header.bytes;
    bool inside = bytes <= at->net->conf.inside_bytes;

    packet->bytes = bytes;
    if (bytes == 0)
        return 0;
    if (!inside && (bytes > at->net->conf.eager_bytes ||
                    orr_splitmix(&packet->pair->random) % 2)) {
        packet->sender = message;
        return 0;
    }
    packet->copy = malloc(bytes);
    if (!packet->copy)
        return -ENOMEM;
    orr_parts_pack(message->parts, message->nparts, packet->copy, bytes);
    return 0;
}

static void number(struct endpoint *at, struct packet *packet,
                   struct orr_packet *message)
{
    struct pair *pair = packet->pair;
    struct orr_loopback *net = at->net;
    int to = pair->comm->world[pair->to];
    unsigned *lost = &net->truncate[(unsigned)at->world * net->conf.nranks +
                                    (unsigned)to];

    message->header.sequence = ++pair->headers;
    message->header.data = 0;
    if (message->header.bytes > net->conf.inside_bytes) {
        message->header.data = ++pair->data;
        if (*lost > 0) {
            (*lost)--;
            packet->bytes /= 2;
        }
    }
    packet->header = message->header;
    packet->header.peer = pair->from;
}

static int send(struct orr_transport *t, struct orr_packet *message)
{
    struct endpoint *at = endpoint_of(t);
    struct packet *packet = calloc(1, sizeof(*packet));
    int result = -ENOMEM;

    if (!packet)
        return -ENOMEM;
    enter(at);
    packet->pair = pair_to(at, message->header.comm, message->header.peer);
    if (!packet->pair) {
        result = -EINVAL;
        goto failed;
    }
    if (at->net->dead[at->world] ||
        loopback_is_dead(packet->pair->comm, packet->pair->to)) {
        result = -ECONNRESET;
        goto failed;
    }
    message->header.bytes = orr_parts_bytes(message->parts, message->nparts);
    message->receives = false;
    result = load(at, packet, message);
    if (result)
        goto failed;
    number(at, packet, message);
    packet->due = loopback_due(at->net, &packet->pair->random);
    if (packet->due < packet->pair->last_due)
        packet->due = packet->pair->last_due;
    packet->pair->last_due = packet->due;
    orr_list_append(&packet->pair->on_way, &packet->link);
    if (!packet->sender)
        loopback_end(at->net, at->world, message, 0, message->header.bytes);
    loopback_rouse(at->net, packet->pair->comm->world[packet->pair->to]);
    leave(at);
    return 0;
failed:
    leave(at);
    free_packet(packet);
    return result;
}

/* --- receiving --- */

/* The bytes go where they are to go, and both sides end. */
static void deliver(struct endpoint *at, struct packet *packet)
{
    struct orr_packet *receive = packet->receive;
    size_t moved = 0, room = 0;
    int error = 0;

    orr_list_remove(&packet->link);
    if (receive && receive->nparts > 0) {
        room = orr_parts_bytes(receive->parts, receive->nparts);
        if (packet->copy)
            moved = orr_parts_unpack(receive->parts, receive->nparts, packet->copy,
                                     packet->bytes);
        else
            moved = orr_parts_move(receive->parts, receive->nparts,
                                   packet->sender->parts, packet->sender->nparts,
                                   packet->bytes);
        if (room < packet->header.bytes)
            error = -EMSGSIZE;
        else if (packet->bytes < packet->header.bytes)
            error = -EBADMSG;
    }
    if (packet->sender)
        loopback_end(at->net, packet->pair->comm->world[packet->pair->from],
                     packet->sender, 0, packet->header.bytes);
    if (receive)
        loopback_end(at->net, at->world, receive, error, moved);
    free_packet(packet);
}

/* Headers that have arrived, of one pair; returns whether there are later ones. */
static bool arrive(struct endpoint *at, struct pair *pair)
{
    while (!orr_list_empty(&pair->on_way)) {
        struct orr_list *first = pair->on_way.next;
        struct packet *packet = orr_container(first, struct packet, link);

        if (packet->due > at->net->turn)
            return true;
        orr_list_remove(first);
        orr_list_append(&at->arrived, first);
    }
    return false;
}

/* The same of data. */
static bool arrive_data(struct endpoint *at, struct pair *pair)
{
    struct orr_list *next;
    bool later = false;

    for (struct orr_list *link = pair->behind.next; link != &pair->behind; link = next) {
        struct packet *packet = orr_container(link, struct packet, link);

        next = link->next;
        if (packet->wanted && packet->due <= at->net->turn)
            deliver(at, packet);
        else if (packet->wanted)
            later = true;
    }
    return later;
}

/* One turn: whatever has become due. Returns whether more will, by itself. */
static bool turn(struct endpoint *at)
{
    bool later;

    at->net->turn++;
    if (at->shown) {
        free_packet(at->shown);
        at->shown = NULL;
    }
    later = loopback_hold_meetings(at);
    for (size_t i = 0; i < at->ncomms; i++) {
        struct orr_loopback_comm *comm = at->comms[i].comm;
        int to = at->comms[i].rank;
        int first = (int)(orr_splitmix(&comm->random) % (uint64_t)comm->size);

        for (int j = 0; j < comm->size; j++) {
            int from = (first + j) % comm->size;
            struct pair *pair = &comm->pairs[from * comm->size + to];

            later |= arrive(at, pair);
            later |= arrive_data(at, pair);
        }
    }
    return later;
}

static bool take_header(struct orr_transport *t, struct orr_header *ret,
                        const void **inside)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_list *link;
    struct packet *packet;

    enter(at);
    if (at->shown) {
        free_packet(at->shown);
        at->shown = NULL;
    }
    link = orr_list_pop(&at->arrived);
    if (!link) {
        leave(at);
        return false;
    }
    packet = orr_container(link, struct packet, link);
    *ret = packet->header;
    for (size_t i = 0; i < at->ncomms; i++)
        if (at->comms[i].comm == packet->pair->comm)
            ret->comm = (unsigned)i;
    *inside = NULL;
    if (ret->data) {
        /* Of who has died meanwhile the data are lost, but not what they were for. */
        if (loopback_is_dead(packet->pair->comm, packet->pair->from) ||
            at->net->dead[at->world])
            free_packet(packet);
        else
            orr_list_append(&packet->pair->behind, &packet->link);
    } else {
        *inside = packet->copy;
        at->shown = packet;
    }
    leave(at);
    return true;
}

static struct packet *find_behind(struct pair *pair, uint64_t data)
{
    orr_list_foreach(link, &pair->behind)
    {
        struct packet *packet = orr_container(link, struct packet, link);

        if (packet->header.data == data)
            return packet;
    }
    return NULL;
}

static int recv(struct orr_transport *t, struct orr_packet *message)
{
    struct endpoint *at = endpoint_of(t);
    const struct orr_header *header = &message->header;
    struct pair *pair;
    struct packet *packet;
    int result = -EINVAL;

    enter(at);
    pair = pair_to(at, header->comm, header->peer);
    if (pair)
        pair = &pair->comm->pairs[pair->to * pair->comm->size + pair->from];
    packet = pair && header->data ? find_behind(pair, header->data) : NULL;
    if (packet && !packet->wanted) {
        message->receives = true;
        message->inner[0] = packet;
        packet->wanted = true;
        packet->receive = message;
        packet->due = loopback_due(at->net, &pair->random);
        result = 0;
    } else if (!packet && pair && header->data &&
               (at->net->dead[at->world] || loopback_is_dead(pair->comm, pair->from))) {
        message->receives = true;
        loopback_end(at->net, at->world, message, -ECONNRESET, 0);
        result = 0;
    }
    leave(at);
    return result;
}

static int cancel(struct orr_transport *t, struct orr_packet *message)
{
    struct endpoint *at = endpoint_of(t);
    int result = -EBUSY;

    enter(at);
    if (message->receives && orr_link_free(&message->link)) {
        struct packet *packet = message->inner[0];

        if (orr_splitmix(&packet->pair->random) % 2) {
            packet->receive = NULL;
            loopback_end(at->net, at->world, message, -ECANCELED, 0);
            result = 0;
        }
    }
    leave(at);
    return result;
}

/* --- taking --- */

static struct orr_packet *take_ended(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_list *link;

    enter(at);
    link = orr_list_pop(&at->ended);
    leave(at);
    return link ? orr_container(link, struct orr_packet, link) : NULL;
}

static struct orr_meeting *take_met(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_list *link;

    enter(at);
    link = orr_list_pop(&at->met);
    leave(at);
    return link ? orr_container(link, struct orr_meeting, link) : NULL;
}

static bool take_failure(struct orr_transport *t, struct orr_failure *ret)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_list *link;

    enter(at);
    link = orr_list_pop(&at->failures);
    leave(at);
    if (!link)
        return false;
    *ret = orr_container(link, struct failed, link)->failure;
    free(orr_container(link, struct failed, link));
    return true;
}

static int meet(struct orr_transport *t, struct orr_meeting *meeting)
{
    struct endpoint *at = endpoint_of(t);
    int result = -EINVAL;

    enter(at);
    if (meeting->comm < at->ncomms &&
        (meeting->kind == ORR_MEETING_BARRIER || meeting->bytes <= ORR_MEETING_BYTES))
        result = loopback_meet(at, meeting);
    leave(at);
    return result;
}

/* --- progress --- */

static bool something(const struct endpoint *at)
{
    return !orr_list_empty(&at->arrived) || !orr_list_empty(&at->ended) ||
           !orr_list_empty(&at->met) || !orr_list_empty(&at->failures);
}

static bool progress(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);
    bool found;

    enter(at);
    turn(at);
    found = something(at);
    leave(at);
    return found;
}

/* Whoever does something for this rank signals it, so that nobody looks again and again;
 * without `expecting`, only its wake and what it has begun itself count. */
static bool wait(struct orr_transport *t, bool expecting,
                 struct orr_patience patience, uint64_t most_ns)
{
    struct endpoint *at = endpoint_of(t);
    struct timespec end;
    bool found = false, late = false, has_end = most_ns > 0;

    (void)expecting; /* headers cost nothing here */
    (void)patience;
    clock_gettime(CLOCK_MONOTONIC, &end);
    most_ns += (uint64_t)end.tv_nsec;
    end.tv_sec += (time_t)(most_ns / 1000000000);
    end.tv_nsec = (long)(most_ns % 1000000000);
    enter(at);
    for (;;) {
        bool later = turn(at);

        found = something(at);
        if (found || at->woken || late)
            break;
        if (later) {
            leave(at);
            enter(at);
        } else if (has_end) {
            late = pthread_cond_clockwait(&at->something, &at->net->mutex, CLOCK_MONOTONIC,
                                          &end) == ETIMEDOUT;
        } else {
            pthread_cond_wait(&at->something, &at->net->mutex);
        }
    }
    at->woken = false;
    leave(at);
    return found;
}

static void wake(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);

    enter(at);
    at->woken = true;
    pthread_cond_signal(&at->something);
    leave(at);
}

/* --- opening and closing --- */

static int comm_add(struct orr_transport *t, const void *native, struct orr_comm *ret,
                    struct orr_error *err)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_loopback_comm *comm = (struct orr_loopback_comm *)(uintptr_t)native;
    size_t number = 0;
    int rank = 0, result = 0;

    if (!comm)
        return orr_fail(err, -EINVAL, "there is no communicator NULL");
    enter(at);
    while (rank < comm->size && comm->world[rank] != at->world)
        rank++;
    while (number < at->ncomms && at->comms[number].comm != comm)
        number++;
    if (rank == comm->size) {
        result = orr_fail(err, -EINVAL, "rank %d of all is no member of the communicator",
                          at->world);
    } else if (number == at->ncomms) {
        result = orr_grow(&at->comms, &at->room, number + 1, sizeof(*at->comms));
        if (!result) {
            at->comms[at->ncomms].comm = comm;
            at->comms[at->ncomms++].rank = rank;
            for (int peer = 0; peer < comm->size; peer++)
                if (peer != rank && loopback_is_dead(comm, peer))
                    loopback_fail(at, number, peer);
        }
    }
    if (!result)
        *ret = (struct orr_comm){(unsigned)number, rank, comm->size};
    leave(at);
    return result;
}

/* What others may still want of the rank's data they get from a copy. */
static void give_up_sends(struct endpoint *at, struct orr_list *packets)
{
    orr_list_foreach(link, packets)
    {
        struct packet *packet = orr_container(link, struct packet, link);
        size_t bytes = packet->header.bytes;

        if (!packet->sender || packet->pair->comm->world[packet->pair->from] != at->world)
            continue;
        packet->copy = malloc(bytes);
        if (packet->copy)
            orr_parts_pack(packet->sender->parts, packet->sender->nparts, packet->copy,
                           bytes);
        else
            packet->bytes = 0;
        packet->sender = NULL;
    }
}

static void give_up(struct endpoint *at)
{
    struct orr_list *link;

    for (size_t i = 0; i < at->ncomms; i++) {
        struct orr_loopback_comm *comm = at->comms[i].comm;
        int rank = at->comms[i].rank;

        loopback_leave_meetings(comm, rank);
        for (int peer = 0; peer < comm->size; peer++) {
            struct pair *to = &comm->pairs[rank * comm->size + peer];
            struct pair *from = &comm->pairs[peer * comm->size + rank];
            struct endpoint *other = at->net->ranks[comm->world[peer]];

            give_up_sends(at, &to->on_way);
            give_up_sends(at, &to->behind);
            if (other)
                give_up_sends(at, &other->arrived);
            orr_list_foreach(behind, &from->behind)
                orr_container(behind, struct packet, link)->receive = NULL;
        }
    }
    while ((link = orr_list_pop(&at->arrived)))
        free_packet(orr_container(link, struct packet, link));
    while ((link = orr_list_pop(&at->failures)))
        free(orr_container(link, struct failed, link));
    if (at->shown)
        free_packet(at->shown);
}

static void close_endpoint(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);

    enter(at);
    give_up(at);
    at->net->ranks[at->world] = NULL;
    leave(at);
    pthread_cond_destroy(&at->something);
    free(at->comms);
    free(at);
}

static const struct orr_transport_ops loopback_ops = {
    .name = "loopback",
    .close = close_endpoint,
    .comm_add = comm_add,
    .send = send,
    .take_header = take_header,
    .recv = recv,
    .cancel = cancel,
    .take_ended = take_ended,
    .meet = meet,
    .take_met = take_met,
    .progress = progress,
    .wait = wait,
    .wake = wake,
    .take_failure = take_failure,
};

struct orr_transport *orr_loopback_open(struct orr_loopback *net, int rank)
{
    struct endpoint *at = calloc(1, sizeof(*at));

    if (!at)
        return NULL;
    at->base.ops = &loopback_ops;
    at->base.caps = (struct orr_transport_caps){
        .inside_bytes = net->conf.inside_bytes,
        .eager_bytes = net->conf.eager_bytes,
        .ordered = true,
        .threads = ORR_TRANSPORT_EVERY_THREAD,
        .virtual_time = true,
    };
    at->net = net;
    at->world = rank;
    pthread_cond_init(&at->something, NULL);
    orr_list_init(&at->arrived);
    orr_list_init(&at->ended);
    orr_list_init(&at->met);
    orr_list_init(&at->failures);
    pthread_mutex_lock(&net->mutex);
    net->ranks[rank] = at;
    pthread_mutex_unlock(&net->mutex);
    return &at->base;
}

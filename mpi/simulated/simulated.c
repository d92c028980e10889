/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/simulated.c - the table of operations of a rank. What the network calls,
 * `..._arrived`, runs on the engine's own stack: it moves packets on and wakes their ranks.
 */
#include "mpi/simulated/simulated.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/wait.h"
#include "mpi/patience.h"
#include "mpi/simulated/simulated_private.h"

static struct endpoint *endpoint_of(struct orr_transport *t)
{
    return orr_container(t, struct endpoint, base);
}

/* --- what happens to a rank --- */

/* What the owner does itself it sees by itself. */
void simulated_rouse(struct endpoint *at)
{
    if (!at->naps && at->owner != orr_self)
        orr_context_wake(at->owner);
}

static struct endpoint *receiver_of(const struct pair *pair)
{
    return pair->comm->members[pair->to].at;
}

static void end_packet(struct endpoint *at, struct orr_packet *message, int error,
                       size_t moved)
{
    message->error = error;
    message->moved = moved;
    at->nactive--;
    orr_list_append(&at->ended, &message->link);
    simulated_rouse(at);
}

/* NULL without memory. */
static struct packet *make_packet(struct pair *pair)
{
    struct orr_list *spare = orr_list_pop(&pair->comm->net->spares);
    struct packet *packet =
        spare ? orr_container(spare, struct packet, link) : malloc(sizeof(*packet));

    if (packet)
        *packet = (struct packet){.pair = pair};
    return packet;
}

void simulated_packet_free(struct packet *packet)
{
    free(packet->copy);
    orr_list_prepend(&packet->pair->comm->net->spares, &packet->link);
}

void simulated_post(const struct orr_simulated_comm *comm, int from, int to,
                    struct orr_cluster_post *post, size_t bytes,
                    void (*arrived)(struct orr_cluster_post *post))
{
    simulated_post_by(comm, from, to, post, bytes, arrived, &(struct simulated_way){0, 0, 0});
}

void simulated_post_by(const struct orr_simulated_comm *comm, int from, int to,
                       struct orr_cluster_post *post, size_t bytes,
                       void (*arrived)(struct orr_cluster_post *post),
                       const struct simulated_way *way)
{
    struct orr_simulated *net = comm->net;

    *post = (struct orr_cluster_post){
        .from = net->nodes[comm->members[from].world],
        .to = net->nodes[comm->members[to].world],
        .bytes = bytes,
        .memory = way->memory,
        .to_memory = way->to_memory,
        .delay_us = way->us,
        .light = bytes <= SIMULATED_HEADER,
        .arrived = arrived,
    };
    net->ops->send(net->cluster, post);
}

/* --- what messages take of the processor of a rank --- */

static const struct orr_cluster_costs *costs_of(const struct pair *pair)
{
    return simulated_costs(pair->comm, pair->from, pair->to);
}

/* One header more has come. */
static void note_header(struct endpoint *at, const struct pair *pair)
{
    at->ncame++;
    at->match_us += costs_of(pair)->match;
    if (at->match_us > 0)
        return;
    at->nmatched += at->ncame;
    at->ncame = 0;
}

static void spend(double *us)
{
    static const struct orr_awaited awaited = {.noun = "the processor's part of messages"};
    double spent = *us;

    *us = 0;
    if (spent > 0)
        orr_context_work(&awaited, spent);
}

/* What its messages take of the owner. What comes meanwhile is matched later. */
static void work(struct endpoint *at)
{
    unsigned n = at->ncame;

    at->ncame = 0;
    spend(&at->send_us);
    spend(&at->match_us);
    at->nmatched += n;
}

/* --- sending --- */

static struct pair *make_pair(struct orr_simulated_comm *comm, int from, int to)
{
    struct pair *pair = calloc(1, sizeof(*pair));

    if (!pair)
        return NULL;
    pair->comm = comm;
    pair->from = from;
    pair->to = to;
    orr_list_init(&pair->on_way);
    orr_list_init(&pair->behind);
    return pair;
}

/* Where the pair is. NULL: there is no such communicator or rank. */
static struct pair **pair_between(struct endpoint *at, unsigned comm, int peer, bool sends)
{
    struct endpoint_comm *in;
    int size;

    if (comm >= at->ncomms)
        return NULL;
    in = &at->comms[comm];
    size = in->comm->size;
    if (peer < 0 || peer >= size)
        return NULL;
    return &in->comm->pairs[sends ? in->rank * size + peer : peer * size + in->rank];
}

/* Headers that have come, in the order in which they were sent, whatever their sizes. */
static void hand_over(struct pair *pair)
{
    struct endpoint *at = receiver_of(pair);

    while (at && !orr_list_empty(&pair->on_way)) {
        struct orr_list *first = pair->on_way.next;

        if (!orr_container(first, struct packet, link)->head_there)
            break;
        orr_list_remove(first);
        orr_list_append(&at->arrived, first);
        note_header(at, pair);
        simulated_rouse(at);
    }
}

static void header_arrived(struct orr_cluster_post *post)
{
    struct packet *packet = orr_container(post, struct packet, head);

    packet->head_there = true;
    hand_over(packet->pair);
}

static void data_arrived(struct orr_cluster_post *post);

/* With so many bytes in front. */
static void send_data(struct packet *packet, size_t header, double us)
{
    struct pair *pair = packet->pair;

    simulated_post_by(pair->comm, pair->from, pair->to, &packet->body,
                      header + packet->header.bytes, data_arrived,
                      &(struct simulated_way){us, packet->node, packet->to_node});
}

static bool is_eager(const struct pair *pair, size_t bytes)
{
    return bytes <= pair->comm->net->inside_bytes || bytes <= costs_of(pair)->eager;
}

/* -ENOMEM. */
static int copy_eager(struct endpoint *at, struct packet *packet,
                      const struct orr_packet *message)
{
    size_t bytes = message->header.bytes;

    if (bytes > at->net->inside_bytes)
        bytes = packet->real;
    if (bytes == 0 || !is_eager(packet->pair, message->header.bytes))
        return 0;
    packet->copy = calloc(1, bytes);
    if (!packet->copy)
        return -ENOMEM;
    orr_parts_pack(message->parts, message->nparts, packet->copy, packet->real);
    return 0;
}

static void number(struct packet *packet, struct orr_packet *message)
{
    struct pair *pair = packet->pair;

    message->header.sequence = ++pair->headers;
    message->header.unreal = message->unreal;
    message->header.data =
        message->header.bytes > pair->comm->net->inside_bytes ? ++pair->data : 0;
    packet->header = message->header;
    packet->header.peer = pair->from;
}

static int send(struct orr_transport *t, struct orr_packet *message)
{
    struct endpoint *at = endpoint_of(t);
    struct pair **pair = pair_between(at, message->header.comm, message->header.peer, true);
    const struct endpoint_comm *in;
    struct packet *packet;

    if (!pair)
        return -EINVAL;
    in = &at->comms[message->header.comm];
    if (!*pair && !(*pair = make_pair(in->comm, in->rank, message->header.peer)))
        return -ENOMEM;
    packet = make_packet(*pair);
    if (!packet)
        return -ENOMEM;
    message->header.bytes = orr_parts_bytes(message->parts, message->nparts);
    message->receives = false;
    packet->node = message->node;
    packet->real = message->header.bytes - message->unreal;
    if (copy_eager(at, packet, message)) {
        simulated_packet_free(packet);
        return -ENOMEM;
    }
    number(packet, message);
    orr_list_append(&packet->pair->on_way, &packet->link);
    at->nactive++;
    at->send_us += costs_of(packet->pair)->send;
    simulated_post_by(in->comm, in->rank, message->header.peer, &packet->head,
                      SIMULATED_HEADER + (message->header.data ? 0 : message->header.bytes),
                      header_arrived,
                      &(struct simulated_way){at->send_us,
                                              message->header.data ? 0 : packet->node, 0});
    if (is_eager(packet->pair, message->header.bytes)) {
        if (message->header.data)
            send_data(packet, SIMULATED_HEADER, at->send_us);
        end_packet(at, message, 0, message->header.bytes);
    } else {
        packet->sender = message;
    }
    return 0;
}

static bool passes(const struct endpoint *at, unsigned node, bool leaves)
{
    const struct orr_simulated *net = at->net;

    return net->ops->passes(net->cluster, net->nodes[at->world], node, leaves);
}

static bool sends_from(struct orr_transport *t, unsigned node)
{
    return passes(endpoint_of(t), node, true);
}

/* What comes before it was asked for MPI has put aside, in main memory; what comes from a rank
 * of the same node passes no NIC. */
static bool receives_into(struct orr_transport *t, const struct orr_header *header,
                          size_t bytes, unsigned node)
{
    struct endpoint *at = endpoint_of(t);
    struct pair **pair;
    const struct orr_simulated_comm *comm;

    if (!header)
        return passes(at, node, false);
    pair = pair_between(at, header->comm, header->peer, false);
    if (!pair || !*pair || is_eager(*pair, bytes))
        return false;
    comm = (*pair)->comm;
    return at->net->nodes[comm->members[(*pair)->from].world] != at->net->nodes[at->world] &&
           passes(at, node, false);
}

/* --- receiving --- */

/* Puts the bytes where they are to go; returns the error of the receive. */
static int move(const struct packet *packet, struct orr_packet *receive, size_t *moved)
{
    const struct orr_packet *sender = packet->sender;
    size_t room = orr_parts_bytes(receive->parts, receive->nparts);
    size_t bytes = packet->header.bytes;

    *moved = 0;
    if (receive->nparts == 0)
        return 0;
    if (packet->copy)
        orr_parts_unpack(receive->parts, receive->nparts, packet->copy, packet->real);
    else if (sender)
        orr_parts_move(receive->parts, receive->nparts, sender->parts, sender->nparts,
                       packet->real);
    else if (packet->real > 0)
        return -ECONNRESET;
    *moved = room < bytes ? room : bytes;
    return room < bytes ? -EMSGSIZE : 0;
}

/* If the data are there, and wanted, both sides end. */
static void deliver(struct packet *packet)
{
    struct pair *pair = packet->pair;
    struct orr_packet *receive = packet->receive;
    size_t moved;
    int error;

    if (!packet->wanted || !packet->body_there)
        return;
    orr_list_remove(&packet->link);
    if (receive) {
        error = move(packet, receive, &moved);
        end_packet(receiver_of(pair), receive, error, moved);
    }
    if (packet->sender)
        end_packet(pair->comm->members[pair->from].at, packet->sender, 0,
                   packet->header.bytes);
    simulated_packet_free(packet);
}

static void data_arrived(struct orr_cluster_post *post)
{
    struct packet *packet = orr_container(post, struct packet, body);

    packet->body_there = true;
    deliver(packet);
}

/* At the sender: the data may come, when it has seen that. */
static void answer_arrived(struct orr_cluster_post *post)
{
    struct packet *packet = orr_container(post, struct packet, head);
    struct endpoint *sender = packet->pair->comm->members[packet->pair->from].at;

    if (sender && sender->look_us > 0)
        orr_list_append(&sender->answered, &packet->answered);
    else
        send_data(packet, 0, 0);
}

static void send_answered(struct endpoint *at)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&at->answered)))
        send_data(orr_container(link, struct packet, answered), 0, 0);
}

static void forget_shown(struct endpoint *at)
{
    if (at->shown)
        simulated_packet_free(at->shown);
    at->shown = NULL;
}

static bool take_header(struct orr_transport *t, struct orr_header *ret,
                        const void **inside)
{
    struct endpoint *at = endpoint_of(t);
    struct packet *packet;
    struct orr_list *link;

    forget_shown(at);
    if (at->nmatched == 0)
        return false;
    at->nmatched--;
    link = orr_list_pop(&at->arrived);
    packet = orr_container(link, struct packet, link);
    *ret = packet->header;
    ret->comm = packet->pair->comm->members[packet->pair->to].number;
    *inside = NULL;
    if (ret->data) {
        orr_list_append(&packet->pair->behind, &packet->link);
    } else {
        *inside = packet->copy;
        at->shown = packet;
    }
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
    struct pair **pair = pair_between(at, header->comm, header->peer, false);
    struct packet *packet = pair && *pair ? find_behind(*pair, header->data) : NULL;

    if (!packet || packet->wanted)
        return -EINVAL;
    message->receives = true;
    message->inner[0] = packet;
    at->nactive++;
    packet->wanted = true;
    packet->receive = message;
    if (packet->body_there) /* MPI has put it aside */
        at->match_us += (double)packet->header.bytes * costs_of(packet->pair)->copy;
    packet->to_node = message->node;
    if (!is_eager(packet->pair, packet->header.bytes))
        simulated_post((*pair)->comm, (*pair)->to, (*pair)->from, &packet->head,
                       SIMULATED_HEADER, answer_arrived);
    deliver(packet);
    return 0;
}

/* Its data come all the same, to nowhere. */
static int cancel(struct orr_transport *t, struct orr_packet *message)
{
    struct packet *packet = message->inner[0];

    if (!message->receives || !orr_link_free(&message->link))
        return -EBUSY;
    packet->receive = NULL;
    end_packet(endpoint_of(t), message, -ECANCELED, 0);
    return 0;
}

/* --- taking --- */

static struct orr_packet *take_ended(struct orr_transport *t)
{
    struct orr_list *link = orr_list_pop(&endpoint_of(t)->ended);

    return link ? orr_container(link, struct orr_packet, link) : NULL;
}

static struct orr_meeting *take_met(struct orr_transport *t)
{
    struct orr_list *link = orr_list_pop(&endpoint_of(t)->met);

    return link ? orr_container(link, struct orr_meeting, link) : NULL;
}

/* Nobody dies here. */
static bool take_failure(struct orr_transport *t, struct orr_failure *ret)
{
    (void)t;
    (void)ret;
    return false;
}

static int meet(struct orr_transport *t, struct orr_meeting *meeting)
{
    struct endpoint *at = endpoint_of(t);

    if (meeting->comm >= at->ncomms ||
        (meeting->kind == ORR_MEETING_GATHER && meeting->bytes > ORR_MEETING_BYTES))
        return -EINVAL;
    return simulated_meet(at, meeting);
}

/* --- progress --- */

static bool something(const struct endpoint *at)
{
    return at->nmatched > 0 || !orr_list_empty(&at->ended) || !orr_list_empty(&at->met);
}

/* The network moves by itself, in virtual time. */
static bool progress(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);

    forget_shown(at);
    send_answered(at);
    work(at);
    return something(at);
}

static const struct orr_awaited awaited_messages = {.noun = "messages"};

/* Waits between two looks, in vain for so long. A wake ends it, for whatever the owner does
 * beside messages. */
static void nap(struct endpoint *at, double idle_us, uint64_t least_ns)
{
    double until =
        orr_exec_now(at->owner->exec) +
        1e-3 * (double)orr_nap_after((uint64_t)(1e3 * idle_us), least_ns);

    at->naps = true;
    orr_context_park(&awaited_messages, until);
    at->naps = false;
    if (orr_exec_now(at->owner->exec) < until)
        at->looks_since = NAN;
}

/* Who looks for ever would hide a deadlock. */
#define MOST_LOOKING_US 1e6

/* A rank that shares its processor looks as it does for real, which takes of that: once, or
 * without a pause for a while. */
static void look(struct endpoint *at, bool expecting,
                 struct orr_patience patience, double until)
{
    struct orr_exec *exec = at->owner->exec;
    double idle, spin_us = 1e-3 * (double)patience.spin_ns;

    if (isnan(at->looks_since))
        at->looks_since = orr_exec_now(exec);
    do {
        send_answered(at);
        work(at);
        idle = orr_exec_now(exec) - at->looks_since;
        if (something(at) || at->woken)
            break;
        if ((!expecting && at->nactive == 0) || idle > MOST_LOOKING_US) {
            orr_context_park(&awaited_messages, until);
            at->looks_since = NAN;
            return;
        }
        orr_context_work(&awaited_messages, at->look_us);
    } while (idle < spin_us);
    if (something(at) || at->woken || at->ncame || !orr_list_empty(&at->answered))
        at->looks_since = NAN;
    else if (orr_exec_now(exec) < until)
        nap(at, idle, patience.nap_ns);
}

static bool wait(struct orr_transport *t, bool expecting,
                 struct orr_patience patience, uint64_t most_ns)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_exec *exec = at->owner->exec;
    double until = most_ns ? orr_exec_now(exec) + 1e-3 * (double)most_ns : ORR_FOREVER;

    forget_shown(at);
    if (at->look_us > 0) {
        look(at, expecting, patience, until);
        at->woken = false;
        return something(at);
    }
    for (work(at); !something(at) && !at->woken && orr_exec_now(exec) < until; work(at))
        orr_context_park(&awaited_messages, until);
    at->woken = false;
    return something(at);
}

static void wake(struct orr_transport *t)
{
    endpoint_of(t)->woken = true;
    simulated_rouse(endpoint_of(t));
}

/* --- opening and closing --- */

/* What has come before the communicator was known. */
static void hand_over_all(const struct endpoint_comm *in)
{
    for (int from = 0; from < in->comm->size; from++) {
        struct pair *pair = in->comm->pairs[from * in->comm->size + in->rank];

        if (pair)
            hand_over(pair);
    }
}

static int comm_add(struct orr_transport *t, const void *native, struct orr_comm *ret,
                    struct orr_error *err)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_simulated_comm *comm = (struct orr_simulated_comm *)(uintptr_t)native;
    struct member *member;
    int rank = 0;

    if (!comm)
        return orr_fail(err, -EINVAL, "there is no communicator NULL");
    while (rank < comm->size && comm->members[rank].world != at->world)
        rank++;
    if (rank == comm->size)
        return orr_fail(err, -EINVAL, "rank %d of all is no member of the communicator",
                        at->world);
    member = &comm->members[rank];
    if (member->at != at) {
        if (orr_grow(&at->comms, &at->room, at->ncomms + 1, sizeof(*at->comms)))
            return -ENOMEM;
        member->at = at;
        member->number = (unsigned)at->ncomms;
        at->comms[at->ncomms++] = (struct endpoint_comm){comm, rank};
        hand_over_all(&at->comms[member->number]);
    }
    *ret = (struct orr_comm){member->number, rank, comm->size};
    return 0;
}

/* Who closes has waited for all of its own that can end; what could still be asked for of
 * its memory is lost. */
static void give_up_sends(struct orr_list *packets, const struct pair *pair)
{
    orr_list_foreach(link, packets)
    {
        struct packet *packet = orr_container(link, struct packet, link);

        if (packet->pair == pair)
            packet->sender = NULL;
    }
}

static void give_up_receives(struct pair *pair)
{
    orr_list_foreach(link, &pair->behind)
        orr_container(link, struct packet, link)->receive = NULL;
}

static void leave_comm(struct endpoint_comm *in)
{
    struct orr_simulated_comm *comm = in->comm;

    simulated_leave_meetings(comm, in->rank);
    comm->members[in->rank].at = NULL;
    for (int peer = 0; peer < comm->size; peer++) {
        struct pair *to = comm->pairs[in->rank * comm->size + peer];
        struct pair *from = comm->pairs[peer * comm->size + in->rank];

        if (to) {
            give_up_sends(&to->on_way, to);
            give_up_sends(&to->behind, to);
            if (receiver_of(to))
                give_up_sends(&receiver_of(to)->arrived, to);
        }
        if (from)
            give_up_receives(from);
    }
}

static void close_endpoint(struct orr_transport *t)
{
    struct endpoint *at = endpoint_of(t);
    struct orr_list *link;

    forget_shown(at);
    /* Their data may still be on their way: they go with the network. */
    while ((link = orr_list_pop(&at->arrived)))
        orr_list_append(&orr_container(link, struct packet, link)->pair->behind, link);
    for (size_t i = 0; i < at->ncomms; i++)
        leave_comm(&at->comms[i]);
    free(at->comms);
    free(at);
}

static const struct orr_transport_ops simulated_ops = {
    .name = "simulated",
    .close = close_endpoint,
    .comm_add = comm_add,
    .sends_from = sends_from,
    .receives_into = receives_into,
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

struct orr_transport *orr_simulated_open(struct orr_simulated *net, int rank)
{
    struct endpoint *at = calloc(1, sizeof(*at));

    if (!at)
        return NULL;
    at->base.ops = &simulated_ops;
    at->base.caps = (struct orr_transport_caps){
        .inside_bytes = net->inside_bytes,
        .eager_bytes = net->far.eager > net->near.eager ? net->far.eager : net->near.eager,
        .ordered = true,
        .threads = ORR_TRANSPORT_EVERY_THREAD,
        .virtual_time = true,
        .wakes = true,
    };
    at->net = net;
    at->world = rank;
    at->owner = orr_self;
    at->look_us = orr_self->processors ? net->near.look : 0;
    at->base.caps.looks = at->look_us > 0;
    at->looks_since = NAN;
    orr_list_init(&at->answered);
    orr_list_init(&at->arrived);
    orr_list_init(&at->ended);
    orr_list_init(&at->met);
    return &at->base;
}

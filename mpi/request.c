/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/request.c - see request.h: on the carrier, and its end. */
#include "mpi/request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "mpi/check.h"
#include "mpi/control.h"
#include "mpi/stats.h"

static const char *way_of(const struct orr_request *request)
{
    return request->call.way == ORR_SENDS ? "to" : "from";
}

/* --- the caller's side --- */

/* It is done. */
static void take_result(struct orr_request *request, size_t *moved)
{
    struct orr_rank *rank = request->rank;

    if (moved)
        *moved = request->moved;
    /* The carrier, which has written `done` under the lock, has left it then. */
    orr_lock(&rank->lock);
    orr_unlock(&rank->lock);
    free(request);
}

static void describe_request(const struct orr_awaited *awaited, char *text, size_t size)
{
    const struct orr_request *request = awaited->object;

    snprintf(text, size, "message %s rank %d, tag %lld", way_of(request),
             request->call.peer, (long long)request->call.tag);
}

int orr_request_wait(struct orr_request *request, const char *call, size_t *moved)
{
    struct orr_rank *rank = request->rank;
    struct orr_awaited awaited = {.noun = "message",
                                  .describe = describe_request,
                                  .object = request};
    struct orr_waiter waiter;
    bool done;
    ORR_REMOTE_SCOPE(rank->rt);

    if (!atomic_load(&request->done) && !orr_may_block(call))
        return -EDEADLK;
    ORR_REMOTE_RECORD(rank->rt, WAIT_MESSAGE, .id = request->recorded,
                      .called = strcmp(call, "starpu_mpi_wait") ? call : NULL);
    if (!atomic_load(&request->done)) {
        orr_check_wait(rank);
        orr_lock(&rank->lock);
        done = atomic_load(&request->done);
        if (!done)
            orr_waiters_add(&request->waiters, &waiter);
        orr_unlock(&rank->lock);
        atomic_store(&request->is_awaited, orr_self == rank->rt->main);
        if (!done)
            orr_rank_await(rank, &waiter, &awaited);
    }
    take_result(request, moved);
    return 0;
}
bool orr_request_test(struct orr_request *request, size_t *moved)
{
    struct orr_rank *rank = request->rank;
    ORR_REMOTE_SCOPE(rank->rt);

    if (!atomic_load(&request->done))
        return false;
    ORR_REMOTE_RECORD(rank->rt, NOTE,
                      .text = "questions whether a message has ended, which it had: a "
                              "replay waits for it");
    ORR_REMOTE_RECORD(rank->rt, WAIT_MESSAGE, .id = request->recorded);
    take_result(request, moved);
    return true;
}

/* --- the carrier's side: the end --- */

void orr_request_end(struct orr_request *request, int error, size_t moved)
{
    struct orr_rank *rank = request->rank;
    struct orr_request_call call = request->call;
    struct orr_waiters waiters;

    rank->nmoved++;
    rank->nended++;
    orr_layout_done(&request->layout);
    if (request->needs_room)
        orr_room_leave(&rank->room, &request->in_room);
    if (request->let_go)
        request->let_go(request);
    else if (request->is_granted)
        orr_message_end_here(&request->turn, error != 0 && call.way == ORR_RECEIVES);
    request->error = error;
    request->moved = moved;
    orr_lock(&rank->lock);
    waiters = orr_waiters_take_all(&request->waiters);
    atomic_store(&request->done, true);
    orr_unlock(&rank->lock);
    orr_waiters_release(waiters);
    if (call.detached && call.callback)
        orr_rank_call_back(rank, call.callback, call.arg);
    if (call.detached)
        free(request);
    orr_outside_end(rank->rt);
}

/* Its message has gone, or come. */
static void tell_message(struct orr_request *request, size_t moved)
{
    struct orr_rank *rank = request->rank;
    struct orr_message_told told = {
        .received = request->call.way == ORR_RECEIVES,
        .tag = request->call.tag,
        .number = request->number,
        .bytes = moved,
        .handle = orr_handle_of(request->call.handle),
        .job = request->turn.job,
        .called = request->called,
        .start = request->since,
    };

    if (!orr_is_told(rank->rt, ORR_TOLD_MESSAGE) || isnan(request->since))
        return;
    told.peer = orr_rank_of_world(rank, request->call.comm, request->call.peer);
    /* Who has granted the datum may owe time, by which it is later for them. */
    told.end = orr_exec_now(rank->rt->exec);
    told.end = told.end > told.start ? told.end : told.start;
    orr_remote_tell_message(rank->rt, &told);
}

/* A message that cannot be received ends the program: what follows would compute with a
 * value that is none. */
_Noreturn void orr_request_refuse(const struct orr_request *request, const char *what)
{
    orr_rank_fail(request->rank, "%s: tag %lld, %s rank %d: %s", request->call.call,
                  (long long)request->call.tag, way_of(request), request->call.peer,
                  what);
}

/* --- sends --- */

static void insert_ready(struct orr_rank *rank, struct orr_request *request)
{
    struct orr_list *link = rank->ready.prev;

    while (link != &rank->ready &&
           orr_container(link, struct orr_request, link)->call.priority <
               request->call.priority)
        link = link->prev;
    orr_list_prepend(link, &request->link);
}

/* The first send of a channel may go once it has its datum. */
void orr_requests_look(struct orr_rank *rank, struct orr_channel *channel)
{
    struct orr_request *first;

    if (orr_list_empty(&channel->calls)) {
        orr_channel_leave(&rank->channels, channel);
        return;
    }
    first = orr_container(channel->calls.next, struct orr_request, place);
    if (first->is_granted && !first->in_tree && orr_link_free(&first->link))
        insert_ready(rank, first);
}

bool orr_request_is_first(const struct orr_request *request)
{
    return request->channel->calls.next == &request->place;
}

void orr_request_passed(struct orr_request *request, size_t moved)
{
    struct orr_rank *rank = request->rank;
    struct orr_channel *channel = request->channel;

    orr_list_remove(&request->place);
    tell_message(request, moved);
    orr_request_end(request, 0, moved);
    orr_requests_look(rank, channel);
}

static void send_ended(struct orr_rank *rank, struct orr_flight *flight)
{
    struct orr_request *request = orr_container(flight, struct orr_request, flight);
    int error = flight->packet.error;

    rank->nsending--;
    orr_list_remove(&request->place);
    if (error == -ECONNRESET)
        orr_request_refuse(request, "that rank has ended");
    if (error)
        orr_request_refuse(request, "the message could not be sent");
    tell_message(request, flight->packet.moved);
    orr_request_end(request, 0, flight->packet.moved);
}

static void send_packet(struct orr_request *request, enum orr_packet_kind kind,
                        uint64_t answers)
{
    struct orr_rank *rank = request->rank;
    struct orr_packet *packet = &request->flight.packet;
    bool has_data = kind == ORR_PACKET_DATA;
    int rc;

    *packet = (struct orr_packet){
        .header = {.tag = request->call.tag,
                   .announced = request->layout.bytes,
                   .id = answers ? answers : request->id,
                   .kind = kind,
                   .flags = answers ? ORR_ANSWERS : 0,
                   .comm = request->call.comm->number,
                   .peer = request->call.peer},
        .parts = has_data ? request->layout.parts : NULL,
        .nparts = has_data ? request->layout.nparts : 0,
        .node = request->node,
        .unreal = has_data && orr_layout_is_unreal(rank, &request->layout)
                      ? request->layout.bytes
                      : 0,
    };
    request->flight.ended = send_ended;
    packet->owner = &request->flight;
    rank->nsending++;
    rc = rank->transport->ops->send(rank->transport, packet);
    if (rc == -ECONNRESET)
        orr_request_refuse(request, "that rank has ended");
    if (rc)
        orr_request_refuse(request, "the message could not be sent");
    if (packet->header.comm == 0)
        rank->sent_upto[packet->header.peer] = packet->header.sequence;
}

/* The header of a synchronous send has gone; its data follow when the receiver says so. */
static void announced(struct orr_rank *rank, struct orr_flight *flight)
{
    struct orr_request *request = orr_container(flight, struct orr_request, flight);

    rank->nsending--;
    if (flight->packet.error)
        orr_request_refuse(request, "that rank has ended");
    request->is_announced = true;
    if (request->answers)
        send_packet(request, ORR_PACKET_DATA, request->answers);
}

static void start_send(struct orr_request *request)
{
    struct orr_rank *rank = request->rank;
    struct orr_channel *channel = request->channel;

    if (orr_layout_send(&request->layout, request->call.handle, request->node,
                        request->call.call))
        orr_request_refuse(request, "the datum cannot be sent");
    request->id = request->number = ++rank->last_id;
    orr_list_remove(&request->place);
    orr_stats_sent(rank, request->call.comm, request->call.peer, request->node,
                   request->layout.bytes);
    if (request->call.synchronous) {
        orr_list_append(&rank->agreed, &request->place);
        rank->nexpected++;
        send_packet(request, ORR_PACKET_SYNCHRONOUS, 0);
        request->flight.ended = announced;
    } else {
        orr_list_append(&rank->sending, &request->place);
        send_packet(request, ORR_PACKET_DATA, 0);
    }
    orr_requests_look(rank, channel);
}

bool orr_requests_start_ready(struct orr_rank *rank)
{
    struct orr_list *link;
    bool any = false;

    while ((link = orr_list_pop(&rank->ready))) {
        start_send(orr_container(link, struct orr_request, link));
        any = true;
    }
    return any;
}

/* The one that waits for the peer's word, by its number. */
static struct orr_request *find_agreed(struct orr_rank *rank, uint64_t id,
                                       enum orr_request_way way)
{
    orr_list_foreach (link, &rank->agreed) {
        struct orr_request *request = orr_container(link, struct orr_request, place);

        if (request->id == id && request->call.way == way)
            return request;
    }
    return NULL;
}

/* The receiver of a synchronous send waits for the data now. */
void orr_requests_take_ready(struct orr_rank *rank, const struct orr_header *header)
{
    struct orr_request *request = find_agreed(rank, header->id, ORR_SENDS);

    if (!request)
        orr_rank_fail(rank, "rank %d waits for a message that was not announced to it: "
                            "tag %lld",
                      header->peer, (long long)header->tag);
    orr_list_remove(&request->place);
    rank->nexpected--;
    orr_list_append(&rank->sending, &request->place);
    request->answers = header->announced;
    if (request->is_announced)
        send_packet(request, ORR_PACKET_DATA, request->answers);
}

/* --- receives --- */

static void receive_ended(struct orr_rank *rank, struct orr_flight *flight)
{
    struct orr_request *request = orr_container(flight, struct orr_request, flight);

    rank->nreceiving--;
    if (flight->packet.error == -ECONNRESET)
        orr_request_refuse(request, "that rank has ended");
    if (flight->packet.error)
        orr_request_refuse(request, "fewer bytes came than were sent");
    orr_request_received(request, flight->packet.moved);
}

void orr_request_received(struct orr_request *request, size_t moved)
{
    if (orr_layout_received(&request->layout, request->call.handle, moved,
                            request->call.call))
        orr_request_refuse(request, "the message could not be unpacked");
    if (request->message)
        request->drop(request->message);
    tell_message(request, moved);
    orr_request_end(request, 0, moved);
}

void orr_request_lay_out(struct orr_request *request, size_t bytes)
{
    char text[160];

    if (orr_layout_receive(&request->layout, request->call.handle, request->node, bytes,
                           request->call.call))
        orr_request_refuse(request, "the datum cannot be received");
    if (bytes <= request->layout.bytes)
        return;
    snprintf(text, sizeof(text),
             "the message has %zu bytes, the datum only %zu: register data of equal "
             "size on both ranks",
             bytes, request->layout.bytes);
    orr_request_refuse(request, text);
}

void orr_request_receive_behind(struct orr_request *request,
                                const struct orr_header *header)
{
    struct orr_rank *rank = request->rank;
    int rc;

    request->flight.packet = (struct orr_packet){
        .header = *header,
        .parts = request->layout.parts,
        .nparts = request->layout.nparts,
        .node = request->node,
        .owner = &request->flight,
    };
    request->flight.ended = receive_ended;
    rank->nreceiving++;
    rc = rank->transport->ops->recv(rank->transport, &request->flight.packet);
    if (rc)
        orr_request_refuse(request, "the message could not be received");
}

/* Waits for the data of a synchronous send, and says so. */
void orr_request_ask(struct orr_request *request, const struct orr_header *header)
{
    struct orr_rank *rank = request->rank;

    request->id = ++rank->last_id;
    orr_list_append(&rank->agreed, &request->place);
    rank->nexpected++;
    orr_control_tell(rank, &(struct orr_header){.tag = header->tag,
                                                 .announced = request->id,
                                                 .id = header->id,
                                                 .kind = ORR_PACKET_READY,
                                                 .comm = header->comm,
                                                 .peer = header->peer});
}

struct orr_request *orr_request_answered(struct orr_rank *rank, uint64_t id)
{
    struct orr_request *request = find_agreed(rank, id, ORR_RECEIVES);

    if (request) {
        orr_list_remove(&request->place);
        rank->nexpected--;
    }
    return request;
}

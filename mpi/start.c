/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/start.c - see start.h. */
#include "mpi/start.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/bits.h"
#include "core/base/fresh.h"
#include "core/base/log.h"
#include "mpi/datum.h"
#include "mpi/incoming.h"
#include "mpi/layout.h"
#include "mpi/rank.h"

static int check_call(const struct orr_request_call *call)
{
    const char *trouble = orr_handle_trouble(
        call->handle ? orr_handle_of(call->handle) : NULL);

    if (trouble)
        orr_log_error("%s: the handle is %s", call->call, trouble);
    else if (call->peer < 0 || call->peer >= call->comm->size)
        orr_log_error("%s: rank %d is none of the communicator, which has ranks 0 to %d "
                      "(tag %lld)",
                      call->call, call->peer, call->comm->size - 1,
                      (long long)call->tag);
    else
        return 0;
    return -EINVAL;
}

static void request_granted(void *arg, unsigned node, void *interface)
{
    struct orr_request *request = arg;

    request->node = node;
    request->interface = interface;
    request->since = orr_tell_since(request->rank->rt, ORR_TOLD_MESSAGE);
    if (atomic_fetch_or(&request->stages, ORR_GRANTED) & ORR_POSTED)
        orr_rank_hand(request->rank, &request->granted);
}

static void request_has_turn(void *arg)
{
    struct orr_request *request = arg;

    orr_rank_hand(request->rank, &request->turned);
}

static void take_place(struct orr_rank *rank, struct orr_errand *errand);
static void use_turn(struct orr_rank *rank, struct orr_errand *errand);
static void use_grant(struct orr_rank *rank, struct orr_errand *errand);

/* What the middle has decided is what a replay of the record does, without insertions. */
static void record_call(struct orr_request *request)
{
    const struct orr_request_call *call = &request->call;
    struct orr_rank *rank = request->rank;
    struct orr_call line;

    if (!orr_is_told(rank->rt, ORR_TOLD_CALL))
        return;
    line = (struct orr_call){
        .verb = call->way == ORR_SENDS ? ORR_CALL_SEND : ORR_CALL_RECEIVE,
        .how = call->detached && call->callback ? ORR_HOW_CALLBACK : ORR_HOW_PLAIN,
        .id = orr_handle_of(call->handle)->id,
        .peer = call->peer,
        .tag = (uint64_t)call->tag,
        .comm = call->comm->number,
        .priority = call->priority,
        .synchronous = call->synchronous,
        .unordered = call->unordered,
        .alone = call->way == ORR_SENDS && !call->gathers,
    };
    if (!call->detached)
        line.request = request->recorded = atomic_fetch_add(&rank->last_recorded, 1) + 1;
    orr_rank_record_skipped(rank);
    orr_remote_record(rank->rt, &line);
}

/* A device has the only value, and the transport sends from there: it is not brought to main
 * memory. */
static unsigned choose_source(void *arg, const struct orr_message_places *places)
{
    const struct orr_request *request = arg;
    struct orr_transport *t = request->rank->transport;
    uint64_t left = places->valid;

    if (left & (orr_bit(places->nram) - 1))
        return orr_message_usual_node(places);
    for (; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        if (t->ops->sends_from(t, node))
            return node;
    }
    return orr_message_usual_node(places);
}

/* The next task uses the value on a device, and the transport may receive it there: on the
 * only one, or one that has memory for it. Where memory is short it is not taken: what has
 * come is the only copy, which is written back when it has to leave. */
static unsigned choose_destination(void *arg, const struct orr_message_places *places)
{
    const struct orr_request *request = arg;
    struct orr_transport *t = request->rank->transport;
    uint64_t wanted = orr_message_wanted(&request->turn), left = wanted;
    const struct orr_header *header;
    size_t bytes;

    header = request->message ? orr_incoming_left(request->message, &bytes) : NULL;
    if (!header || (wanted & (orr_bit(places->nram) - 1)))
        return orr_message_usual_node(places);
    if (wanted & (wanted - 1))
        left &= places->allocated;
    for (; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        if (t->ops->receives_into(t, header, bytes, node) &&
            orr_memory_reserve_for(request->turn.handle, node) == 0)
            return node;
    }
    return orr_message_usual_node(places);
}

/* What is packed is packed in main memory. */
static bool may_leave_devices(const struct orr_rank *rank,
                              const struct orr_request_call *call)
{
    return call->way == ORR_SENDS && rank->transport->ops->sends_from &&
           !orr_layout_packs(call->handle);
}

/* Likewise. Where it comes to is decided when its header has come. */
static bool may_come_to_devices(const struct orr_rank *rank,
                                const struct orr_request_call *call)
{
    return call->way == ORR_RECEIVES && rank->fills_devices && !rank->conf.pretended_size &&
           !orr_layout_packs(call->handle);
}

/* What has its home in main memory takes none. */
static bool send_needs_room(const struct orr_rank *rank, const struct orr_request_call *call)
{
    return call->way == ORR_SENDS && rank->spares_memory && !rank->conf.pretended_size &&
           orr_handle_of(call->handle)->home_node != STARPU_MAIN_RAM;
}

static bool receive_is_held_back(const struct orr_rank *rank,
                                 const struct orr_request_call *call)
{
    return call->way == ORR_RECEIVES && rank->spares_memory && !rank->conf.pretended_size;
}

int orr_request_prepare(struct orr_rank *rank, const struct orr_request_call *call,
                        struct orr_request **ret)
{
    /* For debuggers of simulations, where all is in one thread: only the carrier may ask MPI
     * for ranks. */
    bool is_known = rank->rt->exec->virtual_time && rank->conf.translate;
    struct orr_request *request;
    int rc = check_call(call);
    bool may_come;

    if (rc)
        return rc;
    may_come = may_come_to_devices(rank, call);
    request = orr_fresh(sizeof(*request));
    if (!request) {
        orr_log_error("%s: out of memory", call->call);
        return -ENOMEM;
    }
    request->call = *call;
    request->rank = rank;
    record_call(request);
    if (rank->ignores_priorities)
        request->call.priority = 0;
    request->called = orr_tell_since(rank->rt, ORR_TOLD_MESSAGE);
    request->posted.run = take_place;
    request->granted.run = use_grant;
    request->turned.run = use_turn;
    request->needs_room = send_needs_room(rank, call);
    request->in_room.turn = &request->turn;
    request->turn = (struct orr_message){
        .handle = orr_handle_of(call->handle),
        .mode = call->way == ORR_SENDS ? STARPU_R : STARPU_W,
        .sequential = !call->unordered,
        .priority = request->call.priority,
        .arg = request,
        .is_known = is_known,
        .peer = is_known ? orr_rank_of_world(rank, call->comm, call->peer) : -1,
        .tag = call->tag,
        .granted = request_granted,
        .choose = may_leave_devices(rank, call) ? choose_source
                  : may_come                    ? choose_destination
                                                : NULL,
        .held_back =
            may_come || request->needs_room || receive_is_held_back(rank, call),
        .has_turn = request->needs_room ? request_has_turn : NULL,
    };
    if (call->way == ORR_RECEIVES && request->turn.handle->remote)
        orr_datum_of(request->turn.handle)->leftover = true;
    orr_outside_begin(rank->rt);
    *ret = request;
    return 0;
}

int orr_request_start(struct orr_rank *rank, const struct orr_request_call *call,
                      struct orr_request **ret)
{
    struct orr_request *request;
    ORR_REMOTE_SCOPE(rank->rt);
    int rc = orr_request_prepare(rank, call, &request);

    if (rc)
        return rc;
    rc = orr_message_start(&request->turn, call->call);
    if (rc) {
        orr_outside_end(rank->rt);
        free(request);
        return rc;
    }
    if (ret)
        *ret = call->detached ? NULL : request;
    /* Most have the datum by now: one errand then. */
    if (atomic_fetch_or(&request->stages, ORR_POSTED) & ORR_GRANTED)
        request->is_granted = true;
    orr_rank_hand(rank, &request->posted);
    return 0;
}

/* --- errands --- */

static void go_on(struct orr_request *request)
{
    struct orr_rank *rank = request->rank;

    if (!request->is_granted || !request->is_placed)
        return;
    if (rank->conf.pretended_size) {
        request->turn.unreal = request->call.way == ORR_RECEIVES;
        orr_request_end(request, 0, 0);
    } else if (request->call.way == ORR_SENDS) {
        orr_requests_look(rank, request->channel);
    } else if (request->message) {
        orr_incoming_deliver(rank, request->message);
    }
}

static void enter_channel(struct orr_rank *rank, struct orr_request *request)
{
    struct orr_channel_key key = {.tag = request->call.tag,
                                  .comm = request->call.comm->number,
                                  .peer = request->call.peer,
                                  .receives = request->call.way == ORR_RECEIVES};

    request->channel = orr_channel_get(&rank->channels, &key);
    if (!request->channel)
        orr_request_refuse(request, "out of memory");
    orr_list_append(&request->channel->calls, &request->place);
}

static void take_place(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_request *request = orr_container(errand, struct orr_request, posted);

    request->is_placed = true;
    if (!rank->conf.pretended_size)
        enter_channel(rank, request);
    if (request->needs_room) {
        orr_room_enter(&rank->room, &request->in_room);
        if (request->has_turn)
            orr_room_ask(&rank->room, &request->in_room);
    }
    if (request->call.way == ORR_SENDS || rank->conf.pretended_size) {
        go_on(request);
    } else {
        rank->nexpected++;
        orr_incoming_pair(rank, request->channel);
    }
}

/* It may come before the first one: another thread has handed it in. */
static void use_turn(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_request *request = orr_container(errand, struct orr_request, turned);

    request->has_turn = true;
    if (request->is_placed)
        orr_room_ask(&rank->room, &request->in_room);
}

/* Likewise. */
static void use_grant(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_request *request = orr_container(errand, struct orr_request, granted);

    (void)rank;
    request->is_granted = true;
    go_on(request);
}

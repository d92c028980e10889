/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/real/messages.c - headers, data and meetings as requests of MPI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "mpi/real/real_private.h"

/* --- errors --- */

int real_errno(int code)
{
    int class = MPI_ERR_OTHER;

    MPI_Error_class(code, &class);
    switch (class) {
    case MPI_SUCCESS:
        return 0;
    case MPI_ERR_NO_MEM:
        return -ENOMEM;
    case MPI_ERR_TRUNCATE:
        return -EMSGSIZE;
    case MPI_ERR_ARG:
    case MPI_ERR_BUFFER:
    case MPI_ERR_COMM:
    case MPI_ERR_COUNT:
    case MPI_ERR_RANK:
    case MPI_ERR_REQUEST:
    case MPI_ERR_TAG:
    case MPI_ERR_TYPE:
        return -EIO;
    default:
        /* What the network or the peer has done; MPI 3 has no class for that. */
        return -ECONNRESET;
    }
}

static void end_message(struct real *real, struct orr_packet *message, int error,
                        size_t moved)
{
    message->error = error;
    message->moved = moved;
    orr_list_append(&real->ended, &message->link);
}

void real_free_incoming(struct incoming *incoming)
{
    free(incoming->scratch);
    free(incoming->parts);
    free(incoming);
}

/* Nothing will come from there any more: receives that MPI has not seen end. */
static void bury_peer(struct real *real, struct peer *peer)
{
    struct orr_list *next;

    peer->dead = true;
    for (struct orr_list *link = peer->incoming.next; link != &peer->incoming;
         link = next) {
        struct incoming *incoming = orr_container(link, struct incoming, link);

        next = link->next;
        if (!incoming->asked)
            continue;
        orr_list_remove(link);
        if (incoming->receive)
            end_message(real, incoming->receive, -ECONNRESET, 0);
        real_free_incoming(incoming);
    }
    if (!orr_link_free(&peer->probing))
        orr_list_remove(&peer->probing);
}

void real_fail(struct real *real, struct comm *comm, struct peer *peer, int code,
               const char *doing)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    struct failed *failed;
    int length = 0, error = real_errno(code);

    if (peer && error == -ECONNRESET) {
        if (peer->dead)
            return;
        bury_peer(real, peer);
    }
    failed = calloc(1, sizeof(*failed));
    if (!failed)
        return;
    MPI_Error_string(code, text, &length);
    failed->failure.error = error;
    failed->failure.comm = comm->number;
    if (peer) {
        failed->failure.of_a_peer = true;
        failed->failure.peer = peer->rank;
        orr_fail(&failed->failure.why, 0, "%s rank %d failed: %s", doing, peer->rank,
                 text);
    } else {
        orr_fail(&failed->failure.why, 0, "%s failed at rank %d: %s", doing, comm->rank,
                 text);
    }
    orr_list_append(&real->failures, &failed->link);
}

/* --- requests --- */

int real_room(struct real *real, unsigned more)
{
    size_t n = real->n + more;

    if (orr_grow(&real->requests, &real->requests_room, n, sizeof(MPI_Request)) ||
        orr_grow(&real->pending, &real->pending_room, n, sizeof(*real->pending)) ||
        orr_grow(&real->indices, &real->indices_room, n, sizeof(*real->indices)) ||
        orr_grow(&real->statuses, &real->statuses_room, n, sizeof(*real->statuses)))
        return -ENOMEM;
    return 0;
}

void real_add(struct real *real, MPI_Request request, enum what what, void *of)
{
    real->requests[real->n] = request;
    real->pending[real->n++] = (struct pending){what, of};
    real->active += what != HEADER_IN;
}

void real_post_slot(struct real *real, struct slot *slot)
{
    struct comm *comm = slot->comm;
    MPI_Request request;
    int code;

    slot->arrived = slot->posted = false;
    if (comm->faults > NSLOTS || real_room(real, 1))
        return;
    code = MPI_Irecv(slot->bytes, HEADERS_BYTES, MPI_BYTE, MPI_ANY_SOURCE, real->tag,
                     comm->native, &request);
    if (code) {
        comm->faults++;
        real_fail(real, comm, NULL, code, "receiving headers");
        return;
    }
    slot->posted = true;
    real_add(real, request, HEADER_IN, slot);
}

/* The memory that take_header has shown is used again. */
static void repost_shown(struct real *real)
{
    struct slot *slot = real->shown;

    real->shown = NULL;
    if (slot)
        real_post_slot(real, slot);
}

/* --- sending --- */

static struct peer *peer_of(struct real *real, const struct orr_header *header)
{
    struct comm *comm;

    if (header->comm >= real->ncomms)
        return NULL;
    comm = real->comms[header->comm];
    if (header->peer < 0 || header->peer >= comm->size)
        return NULL;
    return &comm->peers[header->peer];
}

static struct out *get_out(struct real *real)
{
    struct orr_list *link = orr_list_pop(&real->free_outs);

    return link ? orr_container(link, struct out, link) : malloc(sizeof(struct out));
}

static void put_out(struct real *real, struct out *out)
{
    orr_list_prepend(&real->free_outs, &out->link);
}

/* Headers of several packets travel together: what a carrier sends in one go costs one
 * message of MPI. */
static void send_headers(struct real *real, struct peer *peer)
{
    struct out *out = peer->filling;
    MPI_Request request;
    int code = MPI_ERR_NO_MEM, done = 0;

    peer->filling = NULL;
    orr_list_remove(&peer->has_filling);
    if (peer->dead) {
        put_out(real, out);
        return;
    }
    if (real_room(real, 1) == 0)
        code = MPI_Isend(out->bytes, (int)out->size, MPI_BYTE, peer->rank, real->tag,
                         peer->comm->native, &request);
    /* Most are on their way then. */
    if (!code)
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code || done)
        put_out(real, out);
    if (code)
        real_fail(real, peer->comm, peer, code, "sending to");
    else if (!done)
        real_add(real, request, HEADER_OUT, out);
}

static void send_all_headers(struct real *real)
{
    struct orr_list *link;

    while ((link = real->filling.next) != &real->filling)
        send_headers(real, orr_container(link, struct peer, has_filling));
}

static size_t bytes_inside(uint64_t bytes)
{
    return bytes <= INSIDE ? (size_t)bytes : 0;
}

/* Of a header with that many bytes of data, as it travels. */
static size_t wire_size(uint64_t bytes)
{
    return sizeof(struct wire) + (bytes_inside(bytes) + 7) / 8 * 8;
}

/* Where there is room for so many bytes more. NULL: no memory. */
static struct out *find_room(struct real *real, struct peer *peer, size_t more)
{
    if (peer->filling && peer->filling->size + more > HEADERS_BYTES)
        send_headers(real, peer);
    if (!peer->filling && (peer->filling = get_out(real))) {
        peer->filling->link = (struct orr_list){NULL, NULL};
        peer->filling->peer = peer;
        peer->filling->size = 0;
        orr_list_append(&real->filling, &peer->has_filling);
    }
    return peer->filling;
}

static int add_header(struct real *real, struct peer *peer, struct orr_packet *message)
{
    struct orr_header *header = &message->header;
    size_t size = wire_size(header->bytes);
    struct out *out = find_room(real, peer, size);
    struct wire *wire;

    if (!out)
        return -ENOMEM;
    if (peer->dead) /* as sending those before it has shown */
        return -ECONNRESET;
    header->sequence = ++peer->headers_out;
    wire = (struct wire *)(void *)(out->bytes + out->size);
    *wire = (struct wire){
        .tag = header->tag,
        .announced = header->announced,
        .id = header->id,
        .bytes = header->bytes,
        .sequence = header->sequence,
        .kind = header->kind,
        .flags = header->flags,
    };
    orr_parts_pack(message->parts, message->nparts, (char *)(wire + 1),
                   bytes_inside(header->bytes));
    out->size += size;
    return 0;
}

/* Its header goes before it, at once. */
static int send_data(struct real *real, struct peer *peer, struct orr_packet *message)
{
    MPI_Request request;
    MPI_Datatype type;
    void *address;
    int count, code;
    int result = types_find(&real->types, message->parts, message->nparts, &address,
                            &count, &type);

    if (!result)
        result = real_room(real, 2); /* for headers and for the data */
    if (!result)
        result = add_header(real, peer, message);
    if (result)
        return result;
    message->header.data = ++peer->data_out;
    send_headers(real, peer);
    if (peer->dead)
        return -ECONNRESET;
    code = MPI_Isend(address, count, type, peer->rank, real->tag + 1, peer->comm->native,
                     &request);
    if (code) {
        end_message(real, message, real_errno(code), 0);
        real_fail(real, peer->comm, peer, code, "sending to");
        return 0;
    }
    real_add(real, request, DATA_OUT, message);
    return 0;
}

int real_send(struct orr_transport *t, struct orr_packet *message)
{
    struct real *real = real_of(t);
    struct peer *peer = peer_of(real, &message->header);
    int result;

    if (!peer)
        return -EINVAL;
    if (peer->dead)
        return -ECONNRESET;
    message->receives = false;
    message->header.data = 0;
    message->header.bytes = orr_parts_bytes(message->parts, message->nparts);
    if (message->header.bytes > INSIDE)
        return send_data(real, peer, message);
    result = add_header(real, peer, message);
    if (result == 0)
        end_message(real, message, 0, message->header.bytes);
    return result;
}

/* --- headers that come --- */

static bool header_arrived(const struct comm *comm)
{
    return comm->slots[comm->first].arrived;
}

bool real_something(const struct real *real)
{
    if (!orr_list_empty(&real->ended) || !orr_list_empty(&real->met) ||
        !orr_list_empty(&real->failures))
        return true;
    for (size_t i = 0; i < real->ncomms; i++)
        if (header_arrived(real->comms[i]))
            return true;
    return false;
}

/* Data that will come behind a header. */
static void announce(struct real *real, struct peer *peer, struct orr_header *header)
{
    struct incoming *incoming = calloc(1, sizeof(*incoming));

    header->data = ++peer->known;
    if (!incoming) {
        /* recv says that there is no such: nobody can take what MPI matches then. */
        real_fail(real, peer->comm, peer, MPI_ERR_NO_MEM, "receiving from");
        return;
    }
    incoming->peer = peer;
    incoming->number = header->data;
    incoming->bytes = header->bytes;
    orr_list_append(&peer->incoming, &incoming->link);
}

/* The slot's next header was taken, the last one maybe. */
static void pass_header(struct real *real, struct slot *slot, size_t size)
{
    struct comm *comm = slot->comm;

    slot->at += size;
    if (slot->at < slot->size)
        return;
    comm->first = (comm->first + 1) % NSLOTS;
    slot->arrived = false;
    real->shown = slot;
}

bool real_take_header(struct orr_transport *t, struct orr_header *ret,
                      const void **inside)
{
    struct real *real = real_of(t);
    struct comm *comm = NULL;
    const struct wire *wire;
    struct peer *peer;
    struct slot *slot;

    repost_shown(real);
    for (size_t i = 0; i < real->ncomms && !comm; i++) {
        comm = real->comms[(real->turn + i) % real->ncomms];
        if (!header_arrived(comm))
            comm = NULL;
    }
    if (!comm)
        return false;
    real->turn = comm->number + 1;
    slot = &comm->slots[comm->first];
    peer = &comm->peers[slot->from];
    wire = (const struct wire *)(const void *)(slot->bytes + slot->at);
    *ret = (struct orr_header){
        .tag = wire->tag,
        .announced = wire->announced,
        .id = wire->id,
        .kind = wire->kind,
        .flags = wire->flags,
        .comm = comm->number,
        .peer = slot->from,
        .bytes = wire->bytes,
        .sequence = wire->sequence,
    };
    pass_header(real, slot, wire_size(ret->bytes));
    if (ret->sequence != peer->headers_in + 1)
        real_fail(real, comm, peer, MPI_ERR_TAG,
                  "something else has the tag of headers from");
    peer->headers_in = ret->sequence;
    *inside = NULL;
    if (ret->bytes > INSIDE)
        announce(real, peer, ret);
    else if (ret->bytes > 0)
        *inside = wire + 1;
    return true;
}

/* --- data that come --- */

/* The parts to receive into, those of the message and of scratch for what is more. */
static int place(struct incoming *incoming, const struct orr_part **parts, unsigned *n)
{
    struct orr_packet *receive = incoming->receive;
    size_t room = receive ? orr_parts_bytes(receive->parts, receive->nparts) : 0;
    unsigned nparts = receive ? receive->nparts : 0;

    if (incoming->bytes <= room) {
        *parts = receive->parts;
        *n = nparts;
        return 0;
    }
    incoming->scratch = malloc(incoming->bytes - room);
    incoming->parts = calloc(nparts + 1, sizeof(*incoming->parts));
    if (!incoming->scratch || !incoming->parts)
        return -ENOMEM;
    if (nparts > 0)
        memcpy(incoming->parts, receive->parts, nparts * sizeof(*incoming->parts));
    incoming->parts[nparts] =
        (struct orr_part){.address = incoming->scratch, .size = incoming->bytes - room};
    *parts = incoming->parts;
    *n = nparts + 1;
    return 0;
}

/* It is no longer in the peer's list. */
static void post_data(struct real *real, struct incoming *incoming)
{
    struct peer *peer = incoming->peer;
    const struct orr_part *parts;
    MPI_Request request;
    MPI_Datatype type;
    void *address;
    unsigned n;
    int count, code = 0, result = place(incoming, &parts, &n);

    if (!result)
        result = types_find(&real->types, parts, n, &address, &count, &type);
    if (!result)
        result = real_room(real, 1);
    if (!result) {
        code = incoming->parked
                   ? MPI_Imrecv(address, count, type, &incoming->matched, &request)
                   : MPI_Irecv(address, count, type, peer->rank, real->tag + 1,
                               peer->comm->native, &request);
        result = real_errno(code);
    }
    if (!result) {
        real_add(real, request, DATA_IN, incoming);
        return;
    }
    if (incoming->receive)
        end_message(real, incoming->receive, result, 0);
    real_fail(real, peer->comm, peer, code ? code : MPI_ERR_NO_MEM, "receiving from");
    real_free_incoming(incoming);
}

/* Receives what is asked for and next from there; whether something else that is asked
 * for comes behind what is not. */
static bool pump(struct real *real, struct peer *peer)
{
    struct orr_list *next;

    for (struct orr_list *link = peer->incoming.next; link != &peer->incoming;
         link = next) {
        struct incoming *incoming = orr_container(link, struct incoming, link);

        next = link->next;
        if (!incoming->asked)
            continue;
        if (!incoming->parked) {
            if (incoming->number != peer->next)
                return true;
            peer->next++;
        }
        orr_list_remove(link);
        post_data(real, incoming);
        if (peer->dead) /* as that has shown: there is no list any more */
            return false;
    }
    return false;
}

static void pump_or_probe(struct real *real, struct peer *peer)
{
    bool behind = pump(real, peer);

    if (behind && orr_link_free(&peer->probing))
        orr_list_append(&real->probing, &peer->probing);
    else if (!behind && !orr_link_free(&peer->probing))
        orr_list_remove(&peer->probing);
}

static struct incoming *find_incoming(struct peer *peer, uint64_t number)
{
    orr_list_foreach(link, &peer->incoming)
    {
        struct incoming *incoming = orr_container(link, struct incoming, link);

        if (incoming->number == number)
            return incoming;
    }
    return NULL;
}

/* Matches what is next from there, if it is. */
static void probe(struct real *real, struct peer *peer)
{
    struct incoming *incoming = find_incoming(peer, peer->next);
    int found = 0, code;

    if (!incoming) /* there was no memory for it */
        return;
    code = MPI_Improbe(peer->rank, real->tag + 1, peer->comm->native, &found,
                       &incoming->matched, MPI_STATUS_IGNORE);
    if (code) {
        real_fail(real, peer->comm, peer, code, "receiving from");
        return;
    }
    if (!found)
        return;
    incoming->parked = true;
    peer->next++;
    pump_or_probe(real, peer);
}

int real_recv(struct orr_transport *t, struct orr_packet *message)
{
    struct real *real = real_of(t);
    struct peer *peer = peer_of(real, &message->header);
    struct incoming *incoming = peer ? find_incoming(peer, message->header.data) : NULL;

    if (!incoming || incoming->asked)
        return -EINVAL;
    message->receives = true;
    if (peer->dead && !incoming->parked) {
        orr_list_remove(&incoming->link);
        real_free_incoming(incoming);
        end_message(real, message, -ECONNRESET, 0);
        return 0;
    }
    incoming->asked = true;
    incoming->receive = message;
    message->inner[0] = incoming;
    pump_or_probe(real, peer);
    return 0;
}

int real_cancel(struct orr_transport *t, struct orr_packet *message)
{
    struct real *real = real_of(t);
    struct incoming *incoming = message->inner[0];

    /* One that has ended is in a list; one that MPI has, not in the peer's. */
    if (!message->receives || !orr_link_free(&message->link) ||
        orr_link_free(&incoming->link))
        return -EBUSY;
    incoming->receive = NULL;
    end_message(real, message, -ECANCELED, 0);
    return 0;
}

/* --- together --- */

int real_meet(struct orr_transport *t, struct orr_meeting *meeting)
{
    struct real *real = real_of(t);
    struct comm *comm;
    MPI_Request request;
    int code;

    if (meeting->comm >= real->ncomms ||
        (meeting->kind == ORR_MEETING_GATHER && meeting->bytes > ORR_MEETING_BYTES))
        return -EINVAL;
    if (real_room(real, 1))
        return -ENOMEM;
    comm = real->comms[meeting->comm];
    code = meeting->kind == ORR_MEETING_BARRIER
               ? MPI_Ibarrier(comm->native, &request)
               : MPI_Iallgather(meeting->mine, (int)meeting->bytes, MPI_BYTE,
                                meeting->all, (int)meeting->bytes, MPI_BYTE,
                                comm->native, &request);
    if (code) {
        meeting->error = real_errno(code);
        orr_list_append(&real->met, &meeting->link);
        return 0;
    }
    real_add(real, request, MEETING, meeting);
    return 0;
}

/* --- what has ended --- */

static void end_header_in(struct real *real, struct slot *slot, const MPI_Status *status,
                          int code)
{
    struct comm *comm = slot->comm;
    int size = 0;

    slot->posted = false;
    if (code) {
        comm->faults++;
        real_fail(real, comm, NULL, code, "receiving headers");
        /* What it had matched is lost, and MPI takes it behind the others now: should
         * headers come in another order by that, their numbers tell. */
        real_post_slot(real, slot);
        return;
    }
    MPI_Get_count(status, MPI_BYTE, &size);
    slot->from = status->MPI_SOURCE;
    slot->size = (size_t)size;
    slot->at = 0;
    slot->arrived = true;
}

static void end_data_in(struct real *real, struct incoming *incoming,
                        const MPI_Status *status, int code)
{
    struct orr_packet *receive = incoming->receive;
    MPI_Count got = 0;
    size_t room, moved;
    int error;

    if (!code)
        MPI_Get_elements_x(status, MPI_BYTE, &got);
    error = real_errno(code);
    if (receive) {
        room = orr_parts_bytes(receive->parts, receive->nparts);
        moved = (size_t)got < room ? (size_t)got : room;
        if (!error && receive->nparts > 0 && incoming->bytes > room)
            error = -EMSGSIZE;
        else if (!error && (size_t)got < incoming->bytes)
            error = -EBADMSG;
        end_message(real, receive, error, moved);
    }
    if (code)
        real_fail(real, incoming->peer->comm, incoming->peer, code, "receiving from");
    real_free_incoming(incoming);
}

static void end_data_out(struct real *real, struct orr_packet *message, int code)
{
    end_message(real, message, real_errno(code), code ? 0 : message->header.bytes);
    if (code)
        real_fail(real, real->comms[message->header.comm],
                  peer_of(real, &message->header), code, "sending to");
}

static void end_one(struct real *real, struct pending ended, const MPI_Status *status,
                    int code)
{
    real->active -= ended.what != HEADER_IN;
    switch (ended.what) {
    case HEADER_IN:
        end_header_in(real, ended.of, status, code);
        break;
    case HEADER_OUT:
        if (code)
            real_fail(real, ((struct out *)ended.of)->peer->comm,
                      ((struct out *)ended.of)->peer, code, "sending to");
        put_out(real, ended.of);
        break;
    case DATA_OUT:
        end_data_out(real, ended.of, code);
        break;
    case DATA_IN:
        end_data_in(real, ended.of, status, code);
        break;
    case MEETING:
        ((struct orr_meeting *)ended.of)->error = real_errno(code);
        orr_list_append(&real->met, &((struct orr_meeting *)ended.of)->link);
        break;
    case NOTHING:
        break;
    }
}

void real_look(struct real *real)
{
    size_t kept = 0;
    int nended = 0, code;

    repost_shown(real);
    send_all_headers(real);
    for (struct orr_list *link = real->probing.next, *next; link != &real->probing;
         link = next) {
        next = link->next;
        probe(real, orr_container(link, struct peer, probing));
    }
    if (real->n == 0)
        return;
    code = MPI_Testsome((int)real->n, real->requests, &nended, real->indices,
                        real->statuses);
    if (nended <= 0) /* MPI_UNDEFINED among them */
        return;
    for (int i = 0; i < nended; i++) {
        struct pending *pending = &real->pending[real->indices[i]];
        struct pending ended = *pending;

        pending->what = NOTHING;
        end_one(real, ended, &real->statuses[i],
                code == MPI_ERR_IN_STATUS ? real->statuses[i].MPI_ERROR : code);
    }
    for (size_t i = 0; i < real->n; i++) {
        if (real->pending[i].what == NOTHING)
            continue;
        real->requests[kept] = real->requests[i];
        real->pending[kept++] = real->pending[i];
    }
    real->n = kept;
}

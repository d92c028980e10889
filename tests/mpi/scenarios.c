/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/scenarios.c - what every transport must do; each rank runs the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "mpi/loopback/loopback.h"
#include "rank.h"

/* Sends an area's bytes as message `id`, which is its tag as well. */
static void send_area(struct rank *rank, struct orr_packet *message, unsigned comm,
                      int peer, struct area *area, uint64_t id)
{
    memset(message, 0, sizeof(*message));
    message->header.comm = comm;
    message->header.peer = peer;
    message->header.tag = (int64_t)id;
    message->header.id = id;
    message->header.announced = ~id;
    message->header.kind = ORR_PACKET_DATA;
    message->header.flags = (uint16_t)(id * 3);
    if (area) {
        message->parts = area->parts;
        message->nparts = area->nparts;
    }
    EXPECT(rank, rank->t->ops->send(rank->t, message) == 0);
}

static void recv_area(struct rank *rank, struct orr_packet *message,
                      const struct orr_header *header, struct area *area)
{
    memset(message, 0, sizeof(*message));
    message->header = *header;
    if (area) {
        message->parts = area->parts;
        message->nparts = area->nparts;
    }
    EXPECT(rank, rank->t->ops->recv(rank->t, message) == 0);
}

static void check_header(struct rank *rank, const struct orr_header *header, int peer,
                         uint64_t id, size_t bytes)
{
    EXPECT(rank, header->peer == peer);
    EXPECT(rank, header->tag == (int64_t)id);
    EXPECT(rank, header->id == id);
    EXPECT(rank, header->announced == ~id);
    EXPECT(rank, header->kind == ORR_PACKET_DATA);
    EXPECT(rank, header->flags == (uint16_t)(id * 3));
    EXPECT(rank, header->bytes == bytes);
}

static void barrier(struct rank *rank)
{
    struct orr_meeting meeting = {.kind = ORR_MEETING_BARRIER,
                                  .comm = rank->world.number};

    EXPECT(rank, rank->t->ops->meet(rank->t, &meeting) == 0);
    await_meeting(rank, &meeting);
    EXPECT(rank, meeting.error == 0);
}

static int next_of(struct rank *rank)
{
    return (rank->world.rank + 1) % rank->world.size;
}

static int last_of(struct rank *rank)
{
    return (rank->world.rank + rank->world.size - 1) % rank->world.size;
}

/* --- order --- */

enum { NORDERED = 40 };

/* Short and long ones by turns go to all; they come as they were sent. */
static void order(struct rank *rank)
{
    struct orr_packet *sent = calloc((size_t)rank->world.size * NORDERED,
                                      sizeof(*sent));
    size_t inside = rank->t->caps.inside_bytes;
    struct area small, large;
    unsigned nsent = 0;

    area_make(&small, 16, true, &rank->random);
    area_make(&large, inside + 1, true, &rank->random);
    area_fill(&small, 1);
    area_fill(&large, 2);
    for (uint64_t i = 0; i < NORDERED; i++)
        for (int peer = 0; peer < rank->world.size; peer++)
            send_area(rank, &sent[nsent++], rank->world.number, peer,
                      i % 4 == 1 ? NULL : i % 4 == 3 ? &large : &small, i);
    for (uint64_t i = 0; i < NORDERED; i++)
        for (int peer = 0; peer < rank->world.size; peer++) {
            struct taken *taken = await_header(rank, rank->world.number, peer);
            size_t bytes = i % 4 == 1 ? 0 : i % 4 == 3 ? inside + 1 : 16;

            check_header(rank, &taken->header, peer, i, bytes);
            EXPECT(rank, taken->header.sequence == sent[0].header.sequence + i);
            if (taken->header.data) {
                struct orr_packet message;

                recv_area(rank, &message, &taken->header, NULL);
                await_message(rank, &message);
                EXPECT(rank, message.error == 0 && message.moved == 0);
            }
            free_taken(taken);
        }
    for (unsigned i = 0; i < nsent; i++) {
        await_message(rank, &sent[i]);
        EXPECT(rank, sent[i].error == 0);
    }
    area_free(&small);
    area_free(&large);
    free(sent);
}

/* --- sizes and layouts --- */

/* One message to the next rank, one from the last, of equal or different sizes. */
static void exchange(struct rank *rank, size_t bytes, size_t room, bool plain)
{
    struct area from, to;
    struct orr_packet sent, received;
    struct taken *taken;
    size_t least = bytes < room ? bytes : room;

    area_make(&from, bytes, plain, &rank->random);
    area_make(&to, room, plain, &rank->random);
    area_fill(&from, bytes + 5);
    send_area(rank, &sent, rank->world.number, next_of(rank), &from, bytes + 5);
    taken = await_header(rank, rank->world.number, last_of(rank));
    check_header(rank, &taken->header, last_of(rank), bytes + 5, bytes);
    if (taken->header.data) {
        recv_area(rank, &received, &taken->header, &to);
        await_message(rank, &received);
        EXPECT(rank, received.error == (bytes > room && room > 0 ? -EMSGSIZE : 0));
        EXPECT(rank, received.moved == least);
    } else {
        size_t moved = orr_parts_unpack(to.parts, to.nparts, taken->inside, bytes);

        EXPECT(rank, moved == least);
    }
    EXPECT(rank, area_is(&to, bytes + 5, least));
    await_message(rank, &sent);
    EXPECT(rank, sent.error == 0 && sent.moved == bytes);
    free_taken(taken);
    area_free(&from);
    area_free(&to);
}

static void sizes(struct rank *rank)
{
    size_t inside = rank->t->caps.inside_bytes;
    size_t all[] = {0, 1, 7, 8, 1000, inside - 1, inside, inside + 1, 2 * inside + 3,
                    100 * 1000};

    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
        exchange(rank, all[i], all[i], true);
}

static void layouts(struct rank *rank)
{
    size_t inside = rank->t->caps.inside_bytes;

    for (unsigned i = 0; i < 4; i++) {
        exchange(rank, 5 + i * 100, 5 + i * 100, false);
        exchange(rank, inside + 1 + i * 777, inside + 1 + i * 777, false);
    }
}

static void different(struct rank *rank)
{
    size_t inside = rank->t->caps.inside_bytes;

    for (int plain = 0; plain < 2; plain++) {
        exchange(rank, 10, 20, plain);
        exchange(rank, 20, 10, plain);
        exchange(rank, inside + 100, 3 * inside, plain);
        exchange(rank, 3 * inside, inside + 100, plain);
        exchange(rank, 2 * inside, 0, plain);
        exchange(rank, 2 * inside, 2 * inside, plain);
    }
}

/* --- received in another order than sent --- */

enum { NSHUFFLED = 12 };

static void shuffled(struct rank *rank)
{
    struct orr_packet sent[NSHUFFLED], received[NSHUFFLED];
    struct area from[NSHUFFLED], to[NSHUFFLED];
    struct taken *taken[NSHUFFLED];
    unsigned places[NSHUFFLED];
    size_t inside = rank->t->caps.inside_bytes;

    for (unsigned i = 0; i < NSHUFFLED; i++) {
        size_t bytes = inside + 1 + i * (i % 3 ? 10 : 5000);

        area_make(&from[i], bytes, i % 2, &rank->random);
        area_make(&to[i], bytes, i % 2, &rank->random);
        area_fill(&from[i], i);
        send_area(rank, &sent[i], rank->world.number, next_of(rank), &from[i], i);
        places[i] = i;
    }
    for (unsigned i = 0; i < NSHUFFLED; i++)
        taken[i] = await_header(rank, rank->world.number, last_of(rank));
    for (unsigned i = NSHUFFLED - 1; i > 0; i--) {
        unsigned j = (unsigned)(orr_splitmix(&rank->random) % (i + 1)), at = places[i];

        places[i] = places[j];
        places[j] = at;
    }
    /* One at a time, so that none but the one that is wanted can end. */
    for (unsigned i = 0; i < NSHUFFLED; i++) {
        unsigned at = places[i];

        recv_area(rank, &received[at], &taken[at]->header, &to[at]);
        if (i % 2)
            continue;
        await_message(rank, &received[at]);
        EXPECT(rank, received[at].error == 0);
    }
    for (unsigned i = 0; i < NSHUFFLED; i++) {
        if (i % 2) {
            await_message(rank, &received[places[i]]);
            EXPECT(rank, received[places[i]].error == 0);
        }
        await_message(rank, &sent[i]);
        EXPECT(rank, area_is(&to[places[i]], places[i],
                             taken[places[i]]->header.bytes));
    }
    for (unsigned i = 0; i < NSHUFFLED; i++) {
        area_free(&from[i]);
        area_free(&to[i]);
        free_taken(taken[i]);
    }
}

/* --- cancel --- */

/* Some receives are taken back; what was sent ends anyway, and the others are right. */
static void cancels(struct rank *rank)
{
    struct orr_packet sent[NSHUFFLED], received[NSHUFFLED];
    struct area from[NSHUFFLED], to[NSHUFFLED];
    struct taken *taken[NSHUFFLED];
    size_t bytes = rank->t->caps.inside_bytes + 100;

    for (unsigned i = 0; i < NSHUFFLED; i++) {
        area_make(&from[i], bytes, true, &rank->random);
        area_make(&to[i], bytes, true, &rank->random);
        area_fill(&from[i], i);
        send_area(rank, &sent[i], rank->world.number, next_of(rank), &from[i], i);
        EXPECT(rank, rank->t->ops->cancel(rank->t, &sent[i]) == -EBUSY);
    }
    for (unsigned i = 0; i < NSHUFFLED; i++)
        taken[i] = await_header(rank, rank->world.number, last_of(rank));
    for (unsigned i = NSHUFFLED; i-- > 0;) {
        int result = -EBUSY;

        recv_area(rank, &received[i], &taken[i]->header, &to[i]);
        if (orr_splitmix(&rank->random) % 2)
            result = rank->t->ops->cancel(rank->t, &received[i]);
        EXPECT(rank, result == 0 || result == -EBUSY);
        if (result == 0) {
            await_message(rank, &received[i]);
            EXPECT(rank, received[i].error == -ECANCELED);
            EXPECT(rank, rank->t->ops->recv(rank->t, &received[i]) == -EINVAL);
            received[i].header.data = 0; /* not to be looked at again */
        }
    }
    for (unsigned i = 0; i < NSHUFFLED; i++) {
        if (received[i].header.data) {
            await_message(rank, &received[i]);
            EXPECT(rank, received[i].error == 0);
            EXPECT(rank, area_is(&to[i], i, bytes));
        } else {
            EXPECT(rank, area_is(&to[i], i, 0));
        }
        await_message(rank, &sent[i]);
        EXPECT(rank, sent[i].error == 0);
        free_taken(taken[i]);
        area_free(&from[i]);
        area_free(&to[i]);
    }
    /* What was taken back here, others still wait for. */
    barrier(rank);
}

/* --- what is refused --- */

static void refusals(struct rank *rank)
{
    const struct orr_transport_ops *ops = rank->t->ops;
    struct orr_packet message = {.header = {.comm = 1000}};
    struct orr_meeting meeting = {.comm = 1000};
    struct orr_error err = {""};
    struct orr_comm comm;

    EXPECT(rank, ops->send(rank->t, &message) == -EINVAL);
    message.header.comm = rank->world.number;
    message.header.peer = rank->world.size;
    EXPECT(rank, ops->send(rank->t, &message) == -EINVAL);
    message.header.peer = -1;
    EXPECT(rank, ops->send(rank->t, &message) == -EINVAL);
    message.header.peer = 0;
    EXPECT(rank, ops->recv(rank->t, &message) == -EINVAL);
    message.header.data = 1000;
    EXPECT(rank, ops->recv(rank->t, &message) == -EINVAL);
    EXPECT(rank, ops->meet(rank->t, &meeting) == -EINVAL);
    meeting.comm = rank->world.number;
    meeting.kind = ORR_MEETING_GATHER;
    meeting.bytes = ORR_MEETING_BYTES + 1;
    EXPECT(rank, ops->meet(rank->t, &meeting) == -EINVAL);
    EXPECT(rank, ops->comm_add(rank->t, NULL, &comm, &err) == -EINVAL);
    EXPECT(rank, err.text[0] != '\0');
}

/* --- together --- */

static void meetings(struct rank *rank)
{
    struct { int64_t a, b; } mine, *all = calloc((size_t)rank->world.size, sizeof(*all));
    struct orr_meeting gather = {.kind = ORR_MEETING_GATHER,
                                 .comm = rank->world.number,
                                 .mine = &mine,
                                 .all = all,
                                 .bytes = sizeof(mine)};
    struct orr_meeting first = {.comm = rank->world.number};
    struct orr_meeting second = {.comm = rank->world.number};

    for (int round = 0; round < 3; round++) {
        mine.a = rank->world.rank * 10 + round;
        mine.b = -mine.a;
        EXPECT(rank, rank->t->ops->meet(rank->t, &first) == 0);
        EXPECT(rank, rank->t->ops->meet(rank->t, &gather) == 0);
        EXPECT(rank, rank->t->ops->meet(rank->t, &second) == 0);
        await_meeting(rank, &second);
        await_meeting(rank, &gather);
        await_meeting(rank, &first);
        EXPECT(rank, first.error == 0 && second.error == 0 && gather.error == 0);
        for (int i = 0; i < rank->world.size; i++)
            EXPECT(rank, all[i].a == i * 10 + round && all[i].b == -all[i].a);
    }
    free(all);
}

/* Nobody is through a barrier before the last one has come, while messages pass. */
static void barrier_and_message(struct rank *rank)
{
    struct orr_meeting meeting = {.comm = rank->world.number};
    struct orr_packet sent;
    struct taken *taken;

    /* Rank 0 comes when it has had a message of each that waits in the barrier. */
    if (rank->world.rank > 0) {
        EXPECT(rank, rank->t->ops->meet(rank->t, &meeting) == 0);
        send_area(rank, &sent, rank->world.number, 0, NULL, 3);
        await_message(rank, &sent);
    } else {
        for (int i = 1; i < rank->world.size; i++) {
            taken = await_header(rank, rank->world.number, i);
            check_header(rank, &taken->header, i, 3, 0);
            free_taken(taken);
        }
        EXPECT(rank, rank->t->ops->meet(rank->t, &meeting) == 0);
    }
    await_meeting(rank, &meeting);
}

/* --- communicators --- */

static void communicators(struct rank *rank)
{
    const void *native = rank->half(rank);
    struct orr_error err = {""};
    struct orr_comm half, again;
    struct orr_packet in_half, in_all;
    struct taken *taken;

    EXPECT(rank, rank->t->ops->comm_add(rank->t, native, &half, &err) == 0);
    EXPECT(rank, rank->t->ops->comm_add(rank->t, native, &again, &err) == 0);
    EXPECT(rank, again.number == half.number);
    EXPECT(rank, half.number != rank->world.number);
    EXPECT(rank, half.rank == rank->world.rank / 2);
    EXPECT(rank, half.size == (rank->world.size + 1 - rank->world.rank % 2) / 2);
    send_area(rank, &in_half, half.number, (half.rank + 1) % half.size, NULL, 1);
    send_area(rank, &in_all, rank->world.number, next_of(rank), NULL, 2);
    taken = await_header(rank, rank->world.number, last_of(rank));
    check_header(rank, &taken->header, last_of(rank), 2, 0);
    free_taken(taken);
    taken = await_header(rank, half.number, -1);
    check_header(rank, &taken->header, (half.rank + half.size - 1) % half.size, 1, 0);
    free_taken(taken);
    await_message(rank, &in_half);
    await_message(rank, &in_all);
}

/* --- traffic by chance, beside what everybody knows should come --- */

enum { NTRAFFIC = 300 };

struct planned {
    int from, to;
    size_t bytes;
};

/* The same on all ranks. */
static void plan_traffic(struct rank *rank, struct planned *plan)
{
    uint64_t random = rank->seed + 77;
    size_t inside = rank->t->caps.inside_bytes;

    for (unsigned i = 0; i < NTRAFFIC; i++) {
        uint64_t kind = orr_splitmix(&random) % 4;

        plan[i].from = (int)(orr_splitmix(&random) % (uint64_t)rank->world.size);
        plan[i].to = (int)(orr_splitmix(&random) % (uint64_t)rank->world.size);
        plan[i].bytes = kind == 0   ? 0
                        : kind == 1 ? orr_splitmix(&random) % 64
                        : kind == 2 ? orr_splitmix(&random) % (inside + 1)
                                    : inside + 1 + orr_splitmix(&random) % 3000;
    }
}

/* One that is under way, or a header of which nobody has asked the data yet. */
struct flight {
    struct orr_packet message;
    struct area area;
    struct taken *taken;
    unsigned i; /* of the plan */
    bool begun, cancelled;
};

struct traffic {
    struct planned plan[NTRAFFIC];
    struct flight sends[NTRAFFIC], receives[NTRAFFIC];
    unsigned expected[8]; /* by peer: where in the plan to look for the next one */
};

/* The next message in the plan from `from` to this rank, not before `i`. */
static unsigned next_planned(struct rank *rank, const struct traffic *all, int from,
                             unsigned i)
{
    while (i < NTRAFFIC &&
           (all->plan[i].from != from || all->plan[i].to != rank->world.rank))
        i++;
    return i;
}

static void take_traffic(struct rank *rank, struct traffic *all)
{
    struct orr_list *link;

    take_all(rank);
    while ((link = orr_list_pop(&rank->headers))) {
        struct taken *taken = orr_container(link, struct taken, link);
        int from = taken->header.peer;
        unsigned i = next_planned(rank, all, from, all->expected[from]);
        struct flight *flight;

        if (!EXPECT(rank, i < NTRAFFIC))
            exit(1);
        all->expected[from] = i + 1;
        check_header(rank, &taken->header, from, i, all->plan[i].bytes);
        flight = &all->receives[i];
        flight->taken = taken;
        area_make(&flight->area, all->plan[i].bytes, i % 2, &rank->random);
        if (taken->header.data)
            continue;
        orr_parts_unpack(flight->area.parts, flight->area.nparts, taken->inside,
                         taken->header.bytes);
    }
}

/* Asks for data, some of which are taken back. */
static void begin_receive(struct rank *rank, struct flight *flight)
{
    recv_area(rank, &flight->message, &flight->taken->header, &flight->area);
    flight->begun = true;
    if (orr_splitmix(&rank->random) % 8 == 0)
        flight->cancelled = rank->t->ops->cancel(rank->t, &flight->message) == 0;
}

/* Returns whether it is over, and right. */
static bool end_receive(struct rank *rank, struct flight *flight, unsigned i,
                        size_t bytes)
{
    if (!flight->taken)
        return false;
    if (flight->taken->header.data) {
        if (!flight->begun || !has_ended(rank, &flight->message))
            return false;
        EXPECT(rank, flight->message.error == (flight->cancelled ? -ECANCELED : 0));
    }
    EXPECT(rank, area_is(&flight->area, i, flight->cancelled ? 0 : bytes));
    area_free(&flight->area);
    free_taken(flight->taken);
    flight->taken = NULL;
    return true;
}

static void traffic(struct rank *rank)
{
    struct traffic *all = calloc(1, sizeof(*all));
    unsigned to_send = 0, to_end = 0, to_receive = 0;

    plan_traffic(rank, all->plan);
    for (unsigned i = 0; i < NTRAFFIC; i++) {
        to_end += all->plan[i].from == rank->world.rank;
        to_receive += all->plan[i].to == rank->world.rank;
    }
    while (to_send < NTRAFFIC || to_end > 0 || to_receive > 0) {
        for (uint64_t n = orr_splitmix(&rank->random) % 8; n > 0 && to_send < NTRAFFIC;
             to_send++) {
            struct flight *flight = &all->sends[to_send];
            struct planned *plan = &all->plan[to_send];

            if (plan->from != rank->world.rank)
                continue;
            area_make(&flight->area, plan->bytes, to_send % 3, &rank->random);
            area_fill(&flight->area, to_send);
            send_area(rank, &flight->message, rank->world.number, plan->to,
                      &flight->area, to_send);
            flight->begun = true;
            n--;
        }
        take_traffic(rank, all);
        for (unsigned i = 0; i < NTRAFFIC; i++) {
            struct flight *flight = &all->receives[i], *sent = &all->sends[i];

            if (flight->taken && flight->taken->header.data && !flight->begun &&
                orr_splitmix(&rank->random) % 2)
                begin_receive(rank, flight);
            to_receive -= end_receive(rank, flight, i, all->plan[i].bytes);
            if (sent->begun && has_ended(rank, &sent->message)) {
                EXPECT(rank, sent->message.error == 0);
                sent->begun = false;
                area_free(&sent->area);
                to_end--;
            }
        }
        /* A moment passes, by whatever clock there is. */
        if (!rank->t->ops->progress(rank->t))
            rank->t->ops->wait(rank->t, true, (struct orr_patience){0}, 1000);
    }
    barrier(rank);
    free(all);
}

/* --- faults --- */

/* The last rank dies with messages of all sorts under way; everything ends. */
static void peer_dies(struct rank *rank)
{
    enum { N = 8 };
    const struct orr_transport_ops *ops = rank->t->ops;
    int last = rank->world.size - 1;
    struct orr_packet sent[N], received, more = {.header = {.peer = last}};
    struct orr_meeting meeting = {.comm = rank->world.number};
    struct orr_failure failure = {0};
    struct area area, to;
    struct taken *taken;
    size_t bytes = rank->t->caps.eager_bytes + rank->t->caps.inside_bytes + 1;

    area_make(&area, bytes, true, &rank->random);
    area_make(&to, bytes, true, &rank->random);
    area_fill(&area, 1);
    if (rank->world.rank == last) {
        for (int peer = 0; peer < last; peer++)
            send_area(rank, &sent[peer], rank->world.number, peer, &area, 1);
        for (int peer = 0; peer < last; peer++)
            if (ops->send(rank->t, &more) == 0)
                await_message(rank, &more);
        orr_loopback_kill(rank->net, last);
        ops->wait(rank->t, true, (struct orr_patience){0}, 0);
        EXPECT(rank, ops->send(rank->t, &more) == -ECONNRESET);
    } else {
        for (unsigned i = 0; i < N; i++) {
            memset(&sent[i], 0, sizeof(sent[i]));
            sent[i].header.comm = rank->world.number;
            sent[i].header.peer = last;
            sent[i].parts = area.parts;
            sent[i].nparts = area.nparts;
            sent[i].owner = ops->send(rank->t, &sent[i]) == 0 ? &sent[i] : NULL;
        }
        EXPECT(rank, ops->meet(rank->t, &meeting) == 0);
        for (unsigned i = 0; i < N; i++)
            if (sent[i].owner) {
                await_message(rank, &sent[i]);
                EXPECT(rank, sent[i].error == -ECONNRESET);
            }
        await_meeting(rank, &meeting);
        EXPECT(rank, meeting.error == -ECONNRESET);
        EXPECT(rank, ops->take_failure(rank->t, &failure));
        EXPECT(rank, failure.error == -ECONNRESET && failure.of_a_peer);
        EXPECT(rank, failure.peer == last && failure.comm == rank->world.number);
        EXPECT(rank, strstr(failure.why.text, "rank") != NULL);
        EXPECT(rank, ops->send(rank->t, &more) == -ECONNRESET);
        /* Some have had its headers: their data are lost. */
        take_all(rank);
        while (!orr_list_empty(&rank->headers)) {
            taken = await_header(rank, rank->world.number, last);
            if (taken->header.data) {
                recv_area(rank, &received, &taken->header, &to);
                await_message(rank, &received);
                EXPECT(rank, received.error == -ECONNRESET);
            }
            free_taken(taken);
        }
    }
    take_all(rank);
    while (orr_list_pop(&rank->ended) || orr_list_pop(&rank->met))
        ;
    while (!orr_list_empty(&rank->headers))
        free_taken(await_header(rank, rank->world.number, -1));
    area_free(&area);
    area_free(&to);
}

static void truncated(struct rank *rank)
{
    size_t bytes = 2 * rank->t->caps.inside_bytes;
    struct area from, to;
    struct orr_packet sent[2], received;

    if (rank->world.rank == 0)
        orr_loopback_truncate(rank->net, 0, 1 % rank->world.size);
    area_make(&from, bytes, true, &rank->random);
    area_fill(&from, 4);
    for (unsigned i = 0; i < 2; i++)
        send_area(rank, &sent[i], rank->world.number, next_of(rank), &from, 4);
    for (unsigned i = 0; i < 2; i++) {
        struct taken *taken = await_header(rank, rank->world.number, last_of(rank));
        bool lost = rank->world.rank == 1 % rank->world.size && i == 0;

        area_make(&to, bytes, i == 0, &rank->random);
        recv_area(rank, &received, &taken->header, &to);
        await_message(rank, &received);
        EXPECT(rank, received.error == (lost ? -EBADMSG : 0));
        EXPECT(rank, received.moved == (lost ? bytes / 2 : bytes));
        EXPECT(rank, area_is(&to, 4, received.moved));
        area_free(&to);
        free_taken(taken);
    }
    for (unsigned i = 0; i < 2; i++)
        await_message(rank, &sent[i]);
    area_free(&from);
}

const struct scenario scenarios[] = {
    {"headers come in the order in which they were sent", order, false, 0},
    {"inside of headers and behind them, of all sizes", sizes, false, 0},
    {"layouts of several levels and parts", layouts, false, 0},
    {"shorter and longer than what it is received into", different, false, 0},
    {"data are received in any order", shuffled, false, 0},
    {"receives are taken back", cancels, false, 0},
    {"what is wrong is refused", refusals, false, 0},
    {"barriers and gathers, several at once", meetings, false, 0},
    {"messages pass while a barrier waits", barrier_and_message, false, 0},
    {"two communicators", communicators, false, 0},
    {"traffic by chance", traffic, false, 0},
    {"a rank dies", peer_dies, true, 0},
    {"data are cut short", truncated, true, 0},
    {NULL, NULL, false, 0},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/stall.c - see stall.h. */
#include "mpi/stall.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/log.h"
#include "mpi/control.h"
#include "mpi/datum.h"
#include "mpi/request.h"

/* Requests that are told of, ranks that are asked, and ranks of a cycle. */
enum { MOST_TOLD = 8, MOST_ASKED = 64, MOST_HOPS = 100 };

/* A look in so many parts of the time: a stall is noticed late by one of them. */
enum { LOOKS = 4 };

enum word { QUESTION, REPLY, PROBE };

/* The header's tag is that of the data. */
struct question {
    int64_t word;
    int64_t what; /* enum about */
};

enum about { A_SEND_TO_ME, A_RECEIVE_FROM_ME, ANYTHING };

struct reply {
    int64_t word;
    char text[1000];
};

struct hop {
    int64_t tag;
    int32_t rank;  /* in the communicator of all */
    int32_t sends; /* it waits for the next one to take what it sends */
};

struct probe {
    int64_t word;
    uint64_t number; /* of those of the first rank */
    uint64_t n;
    struct hop hops[MOST_HOPS];
};

struct orr_stall {
    uint64_t timeout; /* ns, 0: nothing is said */
    uint64_t since;   /* last progress that was seen */
    uint64_t moved;
    unsigned long ended;
    bool said, told_cycle;
    uint64_t nprobes;
    uint64_t *passed; /* by rank: the number of its probe that was passed on last */
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- what this rank waits for --- */

static const char *call_of_main(const struct orr_rank *rank)
{
    return rank->rt->main->call ? rank->rt->main->call : "a call";
}

static bool main_waits(const struct orr_rank *rank, char *text, size_t size)
{
    bool seen;

    return orr_context_tell(rank->rt->main, text, size, &seen);
}

/* Calls visit for each request that waits for its peer: receives without message, sends
 * that are not taken. Those that main itself waits for alone, if there are any that have
 * their datum. */
struct visiting {
    void (*visit)(struct orr_rank *rank, const struct orr_request *request, void *arg);
    struct orr_rank *rank;
    void *arg;
    bool only_awaited;
    bool found;
};

static void visit_request(struct visiting *v, const struct orr_request *request)
{
    bool could_go = request->is_granted || orr_message_has_turn(&request->turn);

    if (v->only_awaited && !(could_go && atomic_load(&request->is_awaited)))
        return;
    v->found = true;
    v->visit(v->rank, request, v->arg);
}

static void visit_channel(const struct orr_channel *channel, void *arg)
{
    if (channel->key.receives)
        orr_list_foreach (link, &channel->calls)
            visit_request(arg, orr_container(link, struct orr_request, place));
}

static void visit_all(struct visiting *v)
{
    orr_channels_each(&v->rank->channels, visit_channel, v);
    orr_list_foreach (link, &v->rank->agreed)
        visit_request(v, orr_container(link, struct orr_request, place));
    orr_list_foreach (link, &v->rank->sending)
        visit_request(v, orr_container(link, struct orr_request, place));
}

static void each_waiting(struct orr_rank *rank,
                         void (*visit)(struct orr_rank *rank,
                                       const struct orr_request *request, void *arg),
                         void *arg)
{
    struct visiting v = {
        .visit = visit, .rank = rank, .arg = arg, .only_awaited = true};

    visit_all(&v);
    v.only_awaited = false;
    if (!v.found)
        visit_all(&v);
}

/* Of receives that have their datum: how many, and the first one by rank and tag. */
struct expected {
    const struct orr_request *first;
    unsigned n;
};

static void look_at_expected(struct orr_rank *rank, const struct orr_request *request,
                             void *arg)
{
    const struct orr_request_call *call = &request->call, *first;
    struct expected *expected = arg;

    (void)rank;
    if (call->way != ORR_RECEIVES || !request->is_granted)
        return;
    expected->n++;
    first = expected->first ? &expected->first->call : NULL;
    if (!first || call->peer < first->peer ||
        (call->peer == first->peer && call->tag < first->tag))
        expected->first = request;
}

void orr_stall_describe(const struct orr_awaited *awaited, char *text, size_t size)
{
    const struct orr_rank *rank = awaited->object;
    struct expected expected = {NULL, 0};
    struct visiting v = {
        .visit = look_at_expected, .rank = (struct orr_rank *)(uintptr_t)rank, .arg = &expected};

    /* Another thread could meet requests that are just being made. */
    if (orr_self && orr_self->exec == rank->rt->exec)
        visit_all(&v);
    if (!expected.first)
        snprintf(text, size, "%s", awaited->noun);
    else if (expected.n == 1)
        snprintf(text, size, "message from rank %d, tag %lld", expected.first->call.peer,
                 (long long)expected.first->call.tag);
    else
        snprintf(text, size, "message from rank %d, tag %lld, and %u more",
                 expected.first->call.peer, (long long)expected.first->call.tag,
                 expected.n - 1);
}

/* --- telling --- */

static void tell_request(struct orr_rank *rank, const struct orr_request *request,
                         void *arg)
{
    const struct orr_request_call *call = &request->call;
    unsigned *n = arg;

    (void)rank;
    if (++*n > MOST_TOLD)
        return;
    if (call->way == ORR_RECEIVES)
        orr_log_error("  it receives tag %lld from rank %d (%s): no such message has come",
                      (long long)call->tag, call->peer, call->call);
    else
        orr_log_error("  it sends tag %lld to rank %d (%s): it is not received yet",
                      (long long)call->tag, call->peer, call->call);
}

static void send_question(struct orr_rank *rank, unsigned comm, int peer, int64_t tag,
                          enum about what)
{
    struct question question = {.word = QUESTION, .what = what};

    orr_control_send(rank, comm, peer, ORR_CONTROL_STALL, tag, &question,
                     sizeof(question));
}

static void ask_peer(struct orr_rank *rank, const struct orr_request *request, void *arg)
{
    const struct orr_request_call *call = &request->call;
    unsigned *n = arg;

    if (++*n <= MOST_TOLD)
        send_question(rank, call->comm->number, call->peer, call->tag,
                      call->way == ORR_RECEIVES ? A_SEND_TO_ME : A_RECEIVE_FROM_ME);
}

static void pass_on(struct orr_rank *rank, const struct orr_request *request, void *arg)
{
    const struct orr_request_call *call = &request->call;
    int to = orr_rank_of_world(rank, call->comm, call->peer);
    struct probe *probe = arg;

    if (to < 0)
        return;
    probe->hops[probe->n - 1].tag = call->tag;
    probe->hops[probe->n - 1].sends = call->way == ORR_SENDS;
    orr_control_send(rank, 0, to, ORR_CONTROL_STALL, 0, probe,
                     offsetof(struct probe, hops) + probe->n * sizeof(struct hop));
}

static void look_for_cycle(struct orr_rank *rank)
{
    struct probe probe = {.word = PROBE, .number = ++rank->stall->nprobes, .n = 1};

    probe.hops[0].rank = rank->number;
    each_waiting(rank, pass_on, &probe);
}

static void report(struct orr_rank *rank, const char *what)
{
    const struct orr_stall *stall = rank->stall;
    unsigned ntold = 0, nasked = 0;

    orr_log_error("no message has moved and no task has ended for %llu s "
                  "(ORRERY_MPI_TIMEOUT): %s waits for %s; it goes on waiting, since a "
                  "slow task may change that",
                  (unsigned long long)(stall->timeout / 1000000000), call_of_main(rank),
                  what);
    each_waiting(rank, tell_request, &ntold);
    if (ntold > MOST_TOLD)
        orr_log_error("  and %u more", ntold - MOST_TOLD);
    each_waiting(rank, ask_peer, &nasked);
    if (rank->nmeeting)
        for (int i = 0; i < rank->size && i < MOST_ASKED; i++)
            if (i != rank->number)
                send_question(rank, 0, i, 0, ANYTHING);
    look_for_cycle(rank);
}

uint64_t orr_stall_look(struct orr_rank *rank)
{
    struct orr_stall *stall = rank->stall;
    unsigned long ended;
    char what[ORR_AWAITED_TEXT];
    uint64_t now;
    bool waits;

    if (!stall->timeout)
        return 0;
    now = now_ns();
    ended = orr_outside_ended_tasks(rank->rt);
    waits = main_waits(rank, what, sizeof(what));
    if (ended != stall->ended || rank->nmoved != stall->moved || !waits) {
        stall->ended = ended;
        stall->moved = rank->nmoved;
        stall->since = now;
        stall->said = stall->told_cycle = false;
    } else if (!stall->said && now - stall->since >= stall->timeout) {
        stall->said = true;
        report(rank, what);
    } else if (stall->said && !stall->told_cycle) {
        look_for_cycle(rank); /* others may have come to wait since */
    }
    return stall->timeout / LOOKS;
}

/* --- answering --- */

static void write_where(const struct orr_rank *rank, char *text, size_t size)
{
    char what[ORR_AWAITED_TEXT];

    if (rank->nmeeting)
        snprintf(text, size, "is in %s, to which not all ranks have come",
                 call_of_main(rank));
    else if (main_waits(rank, what, sizeof(what)))
        snprintf(text, size, "is in %s and waits for %s", call_of_main(rank), what);
    else
        snprintf(text, size, "does not wait in a call of StarPU's: it computes, or waits "
                             "for something else");
}

static const char *say_of_send(const struct orr_channel *channel)
{
    const struct orr_request *first;

    if (orr_list_empty(&channel->calls))
        return "has no send";
    first = orr_container(channel->calls.next, struct orr_request, place);
    return first->is_granted ? "is about to send" : "has a send whose datum is still "
                                                    "used, or waited for";
}

static const char *say_of_receive(const struct orr_channel *channel)
{
    return orr_list_empty(&channel->messages)
               ? "has a receive, whose datum is still used, or waited for,"
               : "has no receive";
}

static void answer(struct orr_rank *rank, const struct orr_header *header,
                   const struct question *question)
{
    struct orr_channel_key key = {.tag = header->tag,
                                  .comm = header->comm,
                                  .peer = header->peer,
                                  .receives = question->what == A_RECEIVE_FROM_ME};
    struct reply reply = {.word = REPLY};
    struct orr_channel *channel;
    size_t n;

    write_where(rank, reply.text, sizeof(reply.text));
    n = strlen(reply.text);
    if (question->what != ANYTHING &&
        (channel = orr_channel_get(&rank->channels, &key))) {
        snprintf(reply.text + n, sizeof(reply.text) - n, ", and %s %s rank %d with tag %lld",
                 key.receives ? say_of_receive(channel) : say_of_send(channel),
                 key.receives ? "from" : "to", header->peer, (long long)header->tag);
        orr_channel_leave(&rank->channels, channel);
    }
    orr_control_send(rank, header->comm, header->peer, ORR_CONTROL_STALL, header->tag,
                     &reply, offsetof(struct reply, text) + strlen(reply.text) + 1);
}

static void tell_cycle(const struct probe *probe)
{
    char text[2000];
    size_t at = 0;

    text[0] = '\0';
    for (uint64_t i = 0; i < probe->n && at < sizeof(text); i++) {
        const struct hop *hop = &probe->hops[i];
        int to = probe->hops[(i + 1) % probe->n].rank;
        char who[40] = "which";

        if (i == 0)
            snprintf(who, sizeof(who), "rank %d", hop->rank);
        at += (size_t)snprintf(
            text + at, sizeof(text) - at,
            hop->sends ? "%s%s waits until rank %d receives tag %lld"
                       : "%s%s waits for a message of rank %d with tag %lld",
            i ? ", " : "", who, to, (long long)hop->tag);
    }
    orr_log_error("  ranks wait for each other: %s", text);
}

static void take_probe(struct orr_rank *rank, const struct probe *from)
{
    struct probe probe;
    int lowest = rank->number;

    if (from->n == 0 || from->n >= MOST_HOPS)
        return;
    memcpy(&probe, from, offsetof(struct probe, hops) + from->n * sizeof(struct hop));
    for (uint64_t i = 0; i < probe.n; i++)
        if (probe.hops[i].rank < lowest)
            lowest = probe.hops[i].rank;
    if (probe.hops[0].rank == rank->number) {
        if (lowest == rank->number && rank->stall->said && !rank->stall->told_cycle) {
            rank->stall->told_cycle = true;
            tell_cycle(&probe);
        }
        return;
    }
    if (rank->stall->passed[probe.hops[0].rank] >= probe.number ||
        !main_waits(rank, NULL, 0))
        return;
    rank->stall->passed[probe.hops[0].rank] = probe.number;
    probe.hops[probe.n++] = (struct hop){.rank = rank->number};
    each_waiting(rank, pass_on, &probe);
}

static void take(struct orr_rank *rank, const struct orr_header *header, const void *bytes)
{
    const struct question *question = bytes;

    switch ((enum word)question->word) {
    case QUESTION:
        answer(rank, header, question);
        break;
    case REPLY:
        orr_log_error("  rank %d %s", header->peer, ((const struct reply *)bytes)->text);
        break;
    case PROBE:
        take_probe(rank, bytes);
        break;
    }
}

/* --- begin and end --- */

int orr_stall_open(struct orr_rank *rank)
{
    int seconds = orr_config_int(&rank->rt->config, ORR_CFG_MPI_TIMEOUT);
    struct orr_stall *stall = calloc(1, sizeof(*stall));

    rank->stall = stall;
    if (!stall || !(stall->passed = calloc((size_t)rank->comms[0]->comm.size,
                                           sizeof(*stall->passed))))
        return -ENOMEM;
    rank->controls[ORR_CONTROL_STALL] = take;
    stall->since = now_ns();
    if (!rank->rt->exec->one_thread && !rank->conf.pretended_size)
        stall->timeout = (uint64_t)seconds * 1000000000;
    return 0;
}

void orr_stall_close(struct orr_rank *rank)
{
    if (rank->stall)
        free(rank->stall->passed);
    free(rank->stall);
    rank->stall = NULL;
}

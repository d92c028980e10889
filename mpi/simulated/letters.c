/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/letters.c - see letters.h. A letter goes in an envelope, which is in one list
 * at a time: with those on their way from its sender to its receiver, until all that were
 * sent before are there; with those that have come, until there is a receive for it.
 */
#include "mpi/simulated/letters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/wait.h"
#include "core/remote.h"
#include "mpi/simulated/simulated_private.h"

struct orr_envelope {
    struct orr_list link;
    struct orr_simulated_comm *comm;
    enum orr_letter_realm realm;
    int from, to; /* ranks there */
    int64_t tag;
    size_t size;
    struct orr_cluster_post head, body;
    bool head_there, body_there;
    bool has_body;              /* behind the head, which has the bytes otherwise */
    bool asks;                  /* its body is sent when there is a receive */
    struct orr_letter *send;    /* it ends with the receive; NULL: it has */
    struct orr_letter *receive; /* NULL: none yet */
    void *copy;                 /* of the bytes; NULL: they are the sender's */
};

static const double pass_us = 1;
enum { READINGS_IN_A_ROW = 1000, READINGS_PER_STEP = 16 }; /* of the clock */

/* --- who waits --- */

static void end_letter(struct orr_letter *letter, int error)
{
    letter->error = error;
    letter->ended = true;
    letter->envelope = NULL;
    if (letter->waiting)
        orr_context_wake(letter->waiting);
}

void orr_letter_end(struct orr_letter *letter)
{
    end_letter(letter, 0);
}

static void describe(const struct orr_awaited *awaited, char *text, size_t size)
{
    const struct orr_letter *letter = awaited->object;
    bool receives = letter->envelope == NULL;

    if (letter->peer == ORR_ANY)
        snprintf(text, size, "a message of MPI from any rank");
    else
        snprintf(text, size, "a message of MPI %s rank %d, tag %lld",
                 receives ? "from" : "to", letter->peer, (long long)letter->tag);
}

/* What MPI has done for it with the processor of the caller. */
static void pay_for(struct orr_letter *letter)
{
    orr_self->debt += letter->owed_us;
    letter->owed_us = 0;
    orr_pay();
}

int orr_letters_wait_any(struct orr_letter *const *letters, int n)
{
    struct orr_awaited awaited = {.noun = "a message of MPI", .describe = describe};

    orr_pay();
    for (int i = 0; i < n; i++) {
        if (!letters[i])
            continue;
        letters[i]->waiting = orr_self;
        awaited.object = letters[i];
    }
    if (!awaited.object)
        return -1;
    for (;;) {
        for (int i = 0; i < n; i++)
            if (letters[i] && letters[i]->ended) {
                pay_for(letters[i]);
                return i;
            }
        orr_context_park(&awaited, ORR_FOREVER);
    }
}

void orr_letter_wait(struct orr_letter *letter)
{
    (void)orr_letters_wait_any(&letter, 1);
}

void orr_letters_pass_time(void)
{
    orr_self->debt += pass_us;
    orr_pay();
}

void orr_letters_read_clock(void)
{
    if (++orr_self->polls < READINGS_IN_A_ROW)
        return;
    orr_letters_pass_time();
    orr_self->polls = READINGS_IN_A_ROW - READINGS_PER_STEP;
}

/* --- envelopes --- */

static struct mailbox *mailbox_of(const struct orr_envelope *e)
{
    return &e->comm->net->boxes[e->comm->members[e->to].world];
}

static bool fits(const struct orr_envelope *e, const struct orr_letter *receive)
{
    return e->comm == receive->comm && e->realm == receive->realm &&
           (receive->peer == ORR_ANY || receive->peer == e->from) &&
           (receive->tag == ORR_ANY || receive->tag == e->tag);
}

static void post(struct orr_envelope *e, bool forth, struct orr_cluster_post *what,
                 size_t bytes, void (*arrived)(struct orr_cluster_post *post))
{
    simulated_post(e->comm, forth ? e->from : e->to, forth ? e->to : e->from, what, bytes,
                   arrived);
}

static void tell_found(struct orr_letter *receive, const struct orr_envelope *e)
{
    receive->source = e->from;
    receive->found = e->tag;
    receive->moved = e->size;
}

/* If the bytes are there, and wanted, both sides end. */
static void deliver(struct orr_envelope *e)
{
    struct orr_letter *receive = e->receive;
    const void *bytes = e->copy ? e->copy : e->send ? e->send->bytes : NULL;

    if (!receive || (e->has_body && !e->body_there))
        return;
    tell_found(receive, e);
    if (bytes && e->size <= e->comm->net->most_values)
        memcpy(receive->bytes, bytes, e->size < receive->size ? e->size : receive->size);
    end_letter(receive, e->size > receive->size ? -EMSGSIZE : 0);
    if (e->send)
        end_letter(e->send, 0);
    free(e->copy);
    free(e);
}

static void body_arrived(struct orr_cluster_post *what)
{
    struct orr_envelope *e = orr_container(what, struct orr_envelope, body);

    e->body_there = true;
    deliver(e);
}

static void send_body(struct orr_envelope *e)
{
    post(e, true, &e->body, e->size ? e->size : 1, body_arrived);
}

static void answer_arrived(struct orr_cluster_post *what)
{
    send_body(orr_container(what, struct orr_envelope, head));
}

static void pair(struct orr_envelope *e, struct orr_letter *receive, bool expected)
{
    const struct orr_cluster_costs *costs = simulated_costs(e->comm, e->from, e->to);

    e->receive = receive;
    receive->owed_us = costs->match;
    if (!expected && !e->asks)
        receive->owed_us += (double)e->size * costs->copy;
    if (e->asks)
        post(e, false, &e->head, SIMULATED_HEADER, answer_arrived);
    deliver(e);
}

static void come(struct orr_envelope *e)
{
    struct mailbox *box = mailbox_of(e);

    orr_list_foreach(link, &box->expected)
    {
        struct orr_letter *receive = orr_container(link, struct orr_letter, link);

        if (fits(e, receive)) {
            orr_list_remove(link);
            pair(e, receive, true);
            return;
        }
    }
    orr_list_append(&box->come, &e->link);
    orr_waiters_release(orr_waiters_take_all(&box->probing));
}

/* Shorter ones may be there before those that were sent first. */
static void head_arrived(struct orr_cluster_post *what)
{
    struct orr_envelope *e = orr_container(what, struct orr_envelope, head);
    struct orr_list *way = &mailbox_of(e)->on_way[e->comm->members[e->from].world];

    e->head_there = true;
    while (!orr_list_empty(way)) {
        struct orr_envelope *first = orr_container(way->next, struct orr_envelope, link);

        if (!first->head_there)
            break;
        orr_list_remove(&first->link);
        come(first);
    }
}

/* --- beginning --- */

static bool make_ways(struct mailbox *box, unsigned n)
{
    if (box->on_way)
        return true;
    box->on_way = malloc(n * sizeof(*box->on_way));
    for (unsigned i = 0; box->on_way && i < n; i++)
        orr_list_init(&box->on_way[i]);
    return box->on_way != NULL;
}

int orr_letter_send(struct orr_letter *letter)
{
    struct orr_simulated_comm *comm = letter->comm;
    struct orr_simulated *net = comm->net;
    const struct orr_cluster_costs *costs = simulated_costs(comm, letter->self, letter->peer);
    struct orr_envelope *e = calloc(1, sizeof(*e));
    bool eager = !letter->synchronous &&
                 (letter->size <= net->inside_bytes || letter->size <= costs->eager);
    bool copies = eager && letter->size > 0 && letter->size <= net->most_values;

    if (!e)
        return -ENOMEM;
    orr_self->debt += costs->send;
    orr_pay();
    *e = (struct orr_envelope){
        .comm = comm,
        .realm = letter->realm,
        .from = letter->self,
        .to = letter->peer,
        .tag = letter->tag,
        .size = letter->size,
        .has_body = letter->size > net->inside_bytes || letter->synchronous,
        .asks = !eager,
    };
    if (copies)
        e->copy = malloc(letter->size);
    if (!make_ways(mailbox_of(e), net->nranks) || (copies && !e->copy)) {
        free(e->copy);
        free(e);
        return -ENOMEM;
    }
    if (e->copy)
        memcpy(e->copy, letter->bytes, letter->size);
    orr_list_append(&mailbox_of(e)->on_way[comm->members[e->from].world], &e->link);
    post(e, true, &e->head, SIMULATED_HEADER + (e->has_body ? 0 : e->size), head_arrived);
    if (eager) {
        if (e->has_body)
            send_body(e);
        end_letter(letter, 0);
    } else {
        e->send = letter;
        letter->envelope = e;
    }
    return 0;
}

static struct mailbox *own_mailbox(void)
{
    const struct orr_simulated_place *place = orr_simulated_place();

    return &place->net->boxes[place->rank];
}

static struct orr_envelope *find_come(const struct orr_letter *receive)
{
    orr_list_foreach(link, &own_mailbox()->come)
    {
        struct orr_envelope *e = orr_container(link, struct orr_envelope, link);

        if (fits(e, receive))
            return e;
    }
    return NULL;
}

void orr_letter_receive(struct orr_letter *letter)
{
    struct orr_envelope *e;

    orr_pay();
    e = find_come(letter);
    if (e) {
        orr_list_remove(&e->link);
        pair(e, letter, false);
    } else {
        orr_list_append(&own_mailbox()->expected, &letter->link);
    }
}

bool orr_letter_cancel(struct orr_letter *letter)
{
    if (letter->ended || orr_link_free(&letter->link))
        return false;
    orr_list_remove(&letter->link);
    end_letter(letter, -ECANCELED);
    return true;
}

bool orr_letter_probe(struct orr_letter *like, bool waits)
{
    static const struct orr_awaited awaited = {.noun = "a message of MPI (MPI_Probe)"};
    struct orr_envelope *e;

    orr_pay();
    while (!(e = find_come(like)) && waits) {
        struct orr_waiter waiter;

        orr_waiters_add(&own_mailbox()->probing, &waiter);
        orr_wait(&waiter, &awaited);
    }
    if (e)
        tell_found(like, e);
    return e != NULL;
}

/* --- the network's --- */

static void free_envelopes(struct orr_list *envelopes)
{
    struct orr_list *link;

    while ((link = orr_list_pop(envelopes))) {
        struct orr_envelope *e = orr_container(link, struct orr_envelope, link);

        free(e->copy);
        free(e);
    }
}

void simulated_mailbox_init(struct mailbox *box)
{
    orr_list_init(&box->expected);
    orr_list_init(&box->come);
}

void simulated_mailbox_done(struct mailbox *box, unsigned nranks)
{
    free_envelopes(&box->come);
    for (unsigned i = 0; box->on_way && i < nranks; i++)
        free_envelopes(&box->on_way[i]);
    free(box->on_way);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/rank.c - see rank.h: errands, meetings, communicators. */
#include "mpi/rank.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/number.h"

static_assert(offsetof(struct orr_rank, ops) == 0, "see orr_rank_of");

/* --- which rank --- */

/* The table that core has is the head of the rank. */
struct orr_rank *orr_rank_of(const struct orr_runtime *rt)
{
    return (struct orr_rank *)(uintptr_t)rt->remote;
}

struct orr_rank *orr_rank_current(void)
{
    const struct orr_runtime *rt = orr_runtime_current("starpu_mpi");

    return rt ? orr_rank_of(rt) : NULL;
}

struct orr_rank *orr_rank_need(const char *call)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (!rt->remote) {
        orr_log_error("%s: called before starpu_mpi_init or after starpu_mpi_shutdown",
                      call);
        orr_runtime_fail(rt);
    }
    return orr_rank_of(rt);
}

_Noreturn void orr_rank_fail(struct orr_rank *rank, const char *format, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, format);
    orr_vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    orr_log_error("%s", text);
    orr_runtime_fail(rank->rt);
}

/* --- errands --- */

void orr_rank_rouse_locked(struct orr_rank *rank)
{
    if (orr_rank_is_carrier(rank))
        return;
    if (rank->rt->exec->one_thread)
        orr_context_wake(rank->carrier);
    else
        rank->transport->ops->wake(rank->transport);
}

void orr_rank_hand_locked(struct orr_rank *rank, struct orr_errand *errand)
{
    orr_list_append(&rank->errands, &errand->link);
    rank->is_handed |= !orr_rank_is_carrier(rank);
    orr_rank_rouse_locked(rank);
}

void orr_rank_hand(struct orr_rank *rank, struct orr_errand *errand)
{
    orr_lock(&rank->lock);
    orr_rank_hand_locked(rank, errand);
    orr_unlock(&rank->lock);
}

bool orr_rank_run_errands(struct orr_rank *rank)
{
    struct orr_list errands, *link;
    bool any, is_handed;

    orr_list_init(&errands);
    orr_lock(&rank->lock);
    orr_list_move_all(&errands, &rank->errands);
    is_handed = rank->is_handed;
    rank->is_handed = false;
    orr_unlock(&rank->lock);
    /* Another context needs a processor, maybe this one, until it waits: meanwhile its
     * errands gather. */
    if (is_handed)
        rank->is_hurried =
            atomic_load_explicit(&rank->nawaiting, memory_order_relaxed) > 0;
    any = !orr_list_empty(&errands);
    while ((link = orr_list_pop(&errands))) {
        struct orr_errand *errand = orr_container(link, struct orr_errand, link);

        errand->run(rank, errand);
        rank->nmoved++;
    }
    return any;
}

void orr_rank_await(struct orr_rank *rank, struct orr_waiter *waiter,
                    const struct orr_awaited *awaited)
{
    atomic_fetch_add_explicit(&rank->nawaiting, 1, memory_order_relaxed);
    orr_await(rank->rt, waiter, awaited);
    atomic_fetch_sub_explicit(&rank->nawaiting, 1, memory_order_relaxed);
}

struct question {
    struct orr_errand errand;
    struct orr_errand *asked;
    struct orr_waiter waiter;
};

static void answer(struct orr_rank *rank, struct orr_errand *errand)
{
    struct question *question = orr_container(errand, struct question, errand);

    question->asked->run(rank, question->asked);
    orr_waiter_release(&question->waiter);
}

int orr_rank_ask(struct orr_rank *rank, struct orr_errand *errand, const char *call)
{
    static const struct orr_awaited awaited = {.noun = "the thread of MPI"};
    struct question question = {.errand = {.run = answer}, .asked = errand};

    if (orr_rank_is_carrier(rank)) {
        errand->run(rank, errand);
        return 0;
    }
    if (!orr_may_block(call))
        return -EDEADLK;
    orr_waiter_init(&question.waiter);
    orr_rank_hand(rank, &question.errand);
    orr_rank_await(rank, &question.waiter, &awaited);
    return 0;
}

/* --- meetings --- */

struct visit {
    struct orr_errand errand;
    struct orr_meeting *meeting;
    struct orr_waiter waiter;
};

static void begin_meeting(struct orr_rank *rank, struct orr_errand *errand)
{
    struct visit *visit = orr_container(errand, struct visit, errand);

    visit->meeting->owner = visit;
    visit->meeting->error = rank->transport->ops->meet(rank->transport, visit->meeting);
    if (visit->meeting->error)
        orr_waiter_release(&visit->waiter);
    else
        rank->nmeeting++;
}

void orr_rank_met(struct orr_rank *rank, struct orr_meeting *meeting)
{
    struct visit *visit = meeting->owner;

    rank->nmeeting--;
    rank->nmoved++;
    orr_waiter_release(&visit->waiter);
}

int orr_rank_meet(struct orr_rank *rank, struct orr_meeting *meeting, const char *call)
{
    static const struct orr_awaited awaited = {.noun = "the other ranks"};
    struct visit visit = {.errand = {.run = begin_meeting}, .meeting = meeting};

    if (!orr_may_block(call))
        return -EDEADLK;
    if (rank->conf.pretended_size)
        return 0;
    orr_waiter_init(&visit.waiter);
    orr_outside_begin(rank->rt);
    orr_rank_hand(rank, &visit.errand);
    orr_rank_await(rank, &visit.waiter, &awaited);
    orr_outside_end(rank->rt);
    if (meeting->error)
        orr_log_error("%s: not all ranks could take part: one has ended, or the "
                      "communicator is none",
                      call);
    return meeting->error;
}

/* --- the record --- */

void orr_rank_record_skipped(struct orr_rank *rank)
{
    uint64_t n = atomic_exchange_explicit(&rank->nskipped, 0, memory_order_relaxed);

    if (n > 0)
        ORR_REMOTE_RECORD(rank->rt, SKIP, .value = n);
}

/* --- on the carrier --- */

void orr_rank_call_back(struct orr_rank *rank, void (*function)(void *), void *arg)
{
    (void)rank;
    orr_self->frozen++;
    function(arg);
    orr_self->frozen--;
}

/* --- communicators --- */

int orr_rank_add_comm(struct orr_rank *rank, const void *native, struct orr_error *err)
{
    struct orr_transport *t = rank->transport;
    unsigned n = atomic_load(&rank->ncomms);
    struct orr_rank_comm *comm = calloc(1, sizeof(*comm));
    int rc = -ENOMEM;

    if (comm && (comm->native = rank->conf.keep(native)))
        rc = t->ops->comm_add(t, comm->native, &comm->comm, err);
    if (rc == 0 && rank->conf.pretended_size) {
        comm->comm.size = rank->conf.pretended_size;
        comm->comm.rank = rank->conf.pretended_rank;
    }
    if (rc == 0 && n >= ORR_MOST_COMMS)
        rc = orr_fail(err, -ENOMEM, "more than %d communicators", ORR_MOST_COMMS);
    if (rc) {
        if (comm && comm->native)
            rank->conf.drop(comm->native);
        free(comm);
        return rc;
    }
    rank->comms[n] = comm;
    atomic_store(&rank->ncomms, n + 1);
    return 0;
}

struct comm_errand {
    struct orr_errand errand;
    const void *native;
    struct orr_error err;
    int rc;
    uint64_t *members; /* owned: of a new one, if the run is recorded; NULL: all ranks, in
                        * their order */
};

static const struct orr_comm *find_comm(struct orr_rank *rank, const void *native)
{
    unsigned n = atomic_load_explicit(&rank->ncomms, memory_order_acquire);

    for (unsigned i = 0; i < n; i++)
        if (rank->conf.is_same(rank->comms[i]->native, native))
            return &rank->comms[i]->comm;
    return NULL;
}

/* On the carrier, whose communicators they are. */
static void list_members(struct orr_rank *rank, const struct orr_comm *comm,
                         struct comm_errand *e)
{
    bool differ = comm->size != rank->size;

    e->members = rank->conf.pretended_size
                     ? NULL
                     : malloc((size_t)comm->size * sizeof(*e->members));
    for (int i = 0; e->members && i < comm->size; i++) {
        e->members[i] = (uint64_t)orr_rank_of_world(rank, comm, i);
        differ |= e->members[i] != (uint64_t)i;
    }
    if (differ)
        return;
    free(e->members);
    e->members = NULL;
}

static void record_comm(struct orr_rank *rank, const struct orr_comm *comm,
                        struct comm_errand *e)
{
    ORR_REMOTE_RECORD(rank->rt, COMM, .id = comm->number, .size = (uint64_t)comm->size,
                      .parts = {e->members, e->members ? (size_t)comm->size : 0});
    free(e->members);
}

static void add_comm_errand(struct orr_rank *rank, struct orr_errand *errand)
{
    struct comm_errand *e = orr_container(errand, struct comm_errand, errand);

    if (find_comm(rank, e->native))
        return;
    e->rc = orr_rank_add_comm(rank, e->native, &e->err);
    if (e->rc == 0 && orr_is_told(rank->rt, ORR_TOLD_CALL))
        list_members(rank, find_comm(rank, e->native), e);
}

const struct orr_comm *orr_rank_comm(struct orr_rank *rank, const void *native,
                                     const char *call)
{
    const struct orr_comm *comm = find_comm(rank, native);
    struct comm_errand e = {.errand = {.run = add_comm_errand}, .native = native};
    ORR_REMOTE_SCOPE(rank->rt);

    if (comm)
        return comm;
    if (orr_rank_ask(rank, &e.errand, call) < 0)
        return NULL;
    if (e.rc)
        orr_log_error("%s: %s", call, e.err.text);
    comm = e.rc ? NULL : find_comm(rank, native);
    if (comm)
        record_comm(rank, comm, &e);
    return comm;
}

int orr_rank_of_world(struct orr_rank *rank, const struct orr_comm *comm, int peer)
{
    return comm->number == 0
               ? peer
               : rank->conf.translate(rank->comms[comm->number]->native, peer);
}

const struct orr_comm *orr_rank_comm_at(struct orr_rank *rank, unsigned number)
{
    return &rank->comms[number]->comm;
}

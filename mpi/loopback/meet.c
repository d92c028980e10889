/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/loopback/meet.c - what all members of a communicator do together. */
#include "mpi/loopback/loopback_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_round(struct round *round)
{
    if (!round)
        return;
    free(round->of);
    free(round->due);
    free(round->given);
    free(round);
}

static struct round *new_round(struct orr_loopback_comm *comm, uint64_t n,
                               const struct orr_meeting *meeting)
{
    struct round *round = calloc(1, sizeof(*round));
    size_t size = (size_t)comm->size;

    if (!round)
        return NULL;
    round->n = n;
    round->kind = meeting->kind;
    round->bytes = meeting->kind == ORR_MEETING_GATHER ? meeting->bytes : 0;
    round->of = calloc(size, sizeof(struct orr_meeting *));
    round->due = calloc(size, sizeof(*round->due));
    round->given = calloc(size, round->bytes + 1);
    if (!round->of || !round->due || !round->given) {
        free_round(round);
        return NULL;
    }
    for (int rank = 0; rank < comm->size; rank++)
        if (loopback_is_dead(comm, rank))
            round->error = -ECONNRESET;
    orr_list_append(&comm->rounds, &round->link);
    return round;
}

static struct round *find_round(struct orr_loopback_comm *comm, uint64_t n)
{
    orr_list_foreach(link, &comm->rounds)
    {
        struct round *round = orr_container(link, struct round, link);

        if (round->n == n)
            return round;
    }
    return NULL;
}

/* All have begun it, or never will. */
static void close_round(struct orr_loopback_comm *comm, struct round *round)
{
    for (int rank = 0; rank < comm->size; rank++)
        if (round->of[rank] && !round->due[rank]) {
            round->due[rank] = loopback_due(comm->net, &comm->random);
            loopback_rouse(comm->net, comm->world[rank]);
        }
}

int loopback_meet(struct endpoint *at, struct orr_meeting *meeting)
{
    struct orr_loopback_comm *comm = at->comms[meeting->comm].comm;
    int rank = at->comms[meeting->comm].rank;
    uint64_t n = comm->meetings[rank] + 1;
    struct round *round = find_round(comm, n);

    if (!round && !(round = new_round(comm, n, meeting)))
        return -ENOMEM;
    comm->meetings[rank] = n;
    round->of[rank] = meeting;
    round->begun++;
    if (round->kind != meeting->kind ||
        (round->kind == ORR_MEETING_GATHER && round->bytes != meeting->bytes))
        round->error = -EIO; /* as MPI may say, which does not define that */
    else if (round->bytes > 0)
        memcpy(round->given + (size_t)rank * round->bytes, meeting->mine, round->bytes);
    if (round->begun == comm->size || round->error)
        close_round(comm, round);
    return 0;
}

/* Whether all that can have left it have. */
static bool is_over(const struct orr_loopback_comm *comm, const struct round *round)
{
    return round->taken == comm->size;
}

bool loopback_hold_meetings(struct endpoint *at)
{
    bool waits = false;

    for (size_t i = 0; i < at->ncomms; i++) {
        struct orr_loopback_comm *comm = at->comms[i].comm;
        int rank = at->comms[i].rank;
        struct orr_list *next;

        for (struct orr_list *link = comm->rounds.next; link != &comm->rounds;
             link = next) {
            struct round *round = orr_container(link, struct round, link);
            struct orr_meeting *meeting = round->of[rank];

            next = link->next;
            if (!meeting || !round->due[rank])
                continue;
            if (round->due[rank] > at->net->turn) {
                waits = true;
                continue;
            }
            meeting->error = round->error;
            if (!round->error && round->bytes > 0)
                memcpy(meeting->all, round->given, (size_t)comm->size * round->bytes);
            round->of[rank] = NULL;
            round->taken++;
            orr_list_append(&at->met, &meeting->link);
            if (is_over(comm, round)) {
                orr_list_remove(&round->link);
                free_round(round);
            }
        }
    }
    return waits;
}

void loopback_break_meetings(struct orr_loopback_comm *comm)
{
    orr_list_foreach(link, &comm->rounds)
    {
        struct round *round = orr_container(link, struct round, link);

        if (round->begun < comm->size) {
            round->error = -ECONNRESET;
            close_round(comm, round);
        }
    }
}

void loopback_leave_meetings(struct orr_loopback_comm *comm, int rank)
{
    orr_list_foreach(link, &comm->rounds)
        orr_container(link, struct round, link)->of[rank] = NULL;
}

void loopback_free_meetings(struct orr_loopback_comm *comm)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&comm->rounds)))
        free_round(orr_container(link, struct round, link));
}

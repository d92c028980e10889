/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/meet.c - what all members of a communicator do together, by dissemination
 * (Hensgen, Finkel & Manber, "Two algorithms for barrier synchronization", 1988): in step k
 * = 0, 1 … each sends to the member 2^k behind it, and goes on when it has heard from the
 * one 2^k before it. After ceil(log2 size) steps each has heard of all. A gather sends along
 * what is known by then: 2^k members' bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/simulated/simulated_private.h"

/* Of a member in a round. */
struct visit {
    struct orr_meeting *meeting; /* NULL: not begun, or ended */
    bool begun;
    unsigned step;
    unsigned heard; /* a bit for each step */
    struct word *words; /* that it sends, one for each step */
};

struct word {
    struct orr_cluster_post post;
    struct round *round;
    int to;
    unsigned step;
};

/* The n-th meeting of a communicator. */
struct round {
    struct orr_list link;
    struct orr_simulated_comm *comm;
    uint64_t n;
    enum orr_meeting_kind kind;
    size_t bytes;
    int error;
    unsigned nsteps;
    int nended;           /* members */
    struct visit *visits; /* by rank */
    char *given;          /* by rank, `bytes` each */
};

static void free_round(struct round *round)
{
    for (int rank = 0; round->visits && rank < round->comm->size; rank++)
        free(round->visits[rank].words);
    free(round->visits);
    free(round->given);
    free(round);
}

static struct round *new_round(struct orr_simulated_comm *comm, uint64_t n,
                               const struct orr_meeting *meeting)
{
    struct round *round = calloc(1, sizeof(*round));
    size_t size = (size_t)comm->size;

    if (!round)
        return NULL;
    round->comm = comm;
    round->n = n;
    round->kind = meeting->kind;
    round->bytes = meeting->kind == ORR_MEETING_GATHER ? meeting->bytes : 0;
    while ((size_t)1 << round->nsteps < size)
        round->nsteps++;
    round->visits = calloc(size, sizeof(*round->visits));
    round->given = calloc(size, round->bytes + 1);
    if (!round->visits || !round->given) {
        free_round(round);
        return NULL;
    }
    orr_list_append(&comm->rounds, &round->link);
    return round;
}

static struct round *find_round(struct orr_simulated_comm *comm, uint64_t n)
{
    orr_list_foreach(link, &comm->rounds)
    {
        struct round *round = orr_container(link, struct round, link);

        if (round->n == n)
            return round;
    }
    return NULL;
}

static void heard(struct orr_cluster_post *post);

static void say(struct round *round, int rank, unsigned step)
{
    int size = round->comm->size, distance = 1 << step;
    int known = distance < size - distance ? distance : size - distance;
    struct word *word = &round->visits[rank].words[step];

    word->round = round;
    word->to = (int)(((unsigned)rank + (unsigned)distance) % (unsigned)size);
    word->step = step;
    simulated_post(round->comm, rank, word->to, &word->post,
                   SIMULATED_HEADER + (size_t)known * round->bytes, heard);
}

/* All of them have begun it then. */
static void end_visit(struct round *round, int rank)
{
    struct orr_simulated_comm *comm = round->comm;
    struct orr_meeting *meeting = round->visits[rank].meeting;

    round->visits[rank].meeting = NULL;
    round->nended++;
    if (meeting) {
        meeting->error = round->error;
        if (!round->error && round->bytes > 0)
            memcpy(meeting->all, round->given, (size_t)comm->size * round->bytes);
        comm->members[rank].at->nactive--;
        orr_list_append(&comm->members[rank].at->met, &meeting->link);
        simulated_rouse(comm->members[rank].at);
    }
    if (round->nended == comm->size) {
        orr_list_remove(&round->link);
        free_round(round);
    }
}

/* As far as it has heard from others. */
static void go_on(struct round *round, int rank)
{
    struct visit *visit = &round->visits[rank];

    while (visit->step < round->nsteps && visit->heard >> visit->step & 1)
        if (++visit->step < round->nsteps)
            say(round, rank, visit->step);
    if (visit->step == round->nsteps)
        end_visit(round, rank);
}

static void heard(struct orr_cluster_post *post)
{
    struct word *word = orr_container(post, struct word, post);
    struct round *round = word->round;
    struct visit *visit = &round->visits[word->to];

    visit->heard |= 1U << word->step;
    if (visit->begun)
        go_on(round, word->to);
}

int simulated_meet(struct endpoint *at, struct orr_meeting *meeting)
{
    struct orr_simulated_comm *comm = at->comms[meeting->comm].comm;
    int rank = at->comms[meeting->comm].rank;
    uint64_t n = comm->members[rank].meetings + 1;
    struct round *round = find_round(comm, n);
    struct visit *visit;

    if (!round && !(round = new_round(comm, n, meeting)))
        return -ENOMEM;
    visit = &round->visits[rank];
    visit->words = calloc(round->nsteps + 1, sizeof(*visit->words));
    if (!visit->words)
        return -ENOMEM;
    comm->members[rank].meetings = n;
    visit->meeting = meeting;
    at->nactive++;
    visit->begun = true;
    if (round->kind != meeting->kind ||
        (round->kind == ORR_MEETING_GATHER && round->bytes != meeting->bytes))
        round->error = -EIO; /* as MPI may say, which does not define that */
    else if (round->bytes > 0)
        memcpy(round->given + (size_t)rank * round->bytes, meeting->mine, round->bytes);
    if (round->nsteps > 0)
        say(round, rank, 0);
    go_on(round, rank);
    return 0;
}

void simulated_leave_meetings(struct orr_simulated_comm *comm, int rank)
{
    orr_list_foreach(link, &comm->rounds)
        orr_container(link, struct round, link)->visits[rank].meeting = NULL;
}

void simulated_free_meetings(struct orr_simulated_comm *comm)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&comm->rounds)))
        free_round(orr_container(link, struct round, link));
}

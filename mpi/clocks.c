/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/clocks.c - see clocks.h. Each rank asks rank 0 for its time, some times over. Of the
 * answer that came back soonest least is unknown: rank 0 looked at its clock somewhere
 * between question and answer, and the middle is taken for when. A barrier behind keeps
 * rank 0 there until all have their answers, and the application from calls of MPI.
 */
#include "mpi/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/exec.h"
#include "mpi/control.h"
#include "mpi/rank.h"

enum { QUESTIONS = 10 };

/* What a message's tag says. */
enum { QUESTION, ANSWER };

struct comparison {
    struct orr_errand errand;
    struct orr_waiter waiter;
};

static double now_us(const struct orr_rank *rank)
{
    return orr_exec_now(rank->rt->exec);
}

static void ask_time(struct orr_rank *rank)
{
    struct orr_clocks *clocks = &rank->clocks;

    clocks->left--;
    rank->nexpected++;
    clocks->sent = now_us(rank);
    orr_control_send(rank, 0, 0, ORR_CONTROL_CLOCK, QUESTION, NULL, 0);
}

static void take_answer(struct orr_rank *rank, double theirs)
{
    struct orr_clocks *clocks = &rank->clocks;
    double end = now_us(rank);

    rank->nexpected--;
    if (clocks->end < clocks->start || end - clocks->sent < clocks->end - clocks->start) {
        clocks->start = clocks->sent;
        clocks->end = end;
        clocks->offset = theirs - (clocks->sent + end) / 2;
    }
    if (clocks->left)
        ask_time(rank);
    else
        orr_waiter_release(clocks->waiter);
}

void orr_clocks_take(struct orr_rank *rank, const struct orr_header *header,
                     const void *bytes)
{
    double time = now_us(rank);

    if (header->tag == ANSWER) {
        memcpy(&time, bytes, sizeof(time));
        take_answer(rank, time);
        return;
    }
    rank->nexpected--;
    orr_control_send(rank, header->comm, header->peer, ORR_CONTROL_CLOCK, ANSWER, &time,
                     sizeof(time));
}

static void begin_comparison(struct orr_rank *rank, struct orr_errand *errand)
{
    struct comparison *comparison = orr_container(errand, struct comparison, errand);
    struct orr_clocks *clocks = &rank->clocks;

    /* Questions that have come before have counted down already. */
    if (rank->number == 0) {
        rank->nexpected += ((unsigned)rank->size - 1) * QUESTIONS;
        orr_waiter_release(&comparison->waiter);
        return;
    }
    clocks->left = QUESTIONS;
    clocks->start = 1;
    clocks->end = 0;
    clocks->waiter = &comparison->waiter;
    ask_time(rank);
}

static void compare(struct orr_rank *rank, const char *call)
{
    static const struct orr_awaited awaited = {.noun = "the clock of rank 0"};
    struct comparison comparison = {.errand = {.run = begin_comparison}};
    struct orr_meeting barrier = {.kind = ORR_MEETING_BARRIER};
    struct orr_clocks_told told = {0};

    orr_waiter_init(&comparison.waiter);
    orr_rank_hand(rank, &comparison.errand);
    orr_rank_await(rank, &comparison.waiter, &awaited);
    if (rank->number == 0)
        told.start = told.end = now_us(rank);
    else
        told = (struct orr_clocks_told){.start = rank->clocks.start,
                                        .end = rank->clocks.end,
                                        .offset = rank->clocks.offset};
    orr_remote_tell_clocks(rank->rt, &told);
    (void)orr_rank_meet(rank, &barrier, call);
}

static bool has_clock(const struct orr_rank *rank)
{
    return rank->size > 1 && !rank->conf.pretended_size && !rank->rt->exec->virtual_time;
}

void orr_clocks_open(struct orr_rank *rank, const char *call)
{
    char mine = orr_remote_leaves_files(rank->rt), *all;
    struct orr_meeting asked = {.kind = ORR_MEETING_GATHER, .mine = &mine, .bytes = 1};

    if (!has_clock(rank))
        return;
    asked.all = all = calloc((size_t)rank->size, 1);
    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    if (orr_rank_meet(rank, &asked, call) == 0)
        rank->clocks.compared = memchr(all, 1, (size_t)rank->size) != NULL;
    free(all);
    if (rank->clocks.compared)
        compare(rank, call);
}

void orr_clocks_close(struct orr_rank *rank, const char *call)
{
    if (rank->clocks.compared)
        compare(rank, call);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/share.h - what the threads of a team know together of one worksharing
 * construct. Each thread counts the constructs that it meets: equal numbers are the
 * same construct, whose share the first of them makes, and the last one that leaves
 * gives back. So threads may be in different constructs, after some without barrier.
 */
#pragma once

#include "core/omp/omp.h"

struct orr_omp_share {
    struct orr_omp_share *next; /* [team's lock] */
    uint64_t number;            /* [team's lock] */
    atomic_uint nleft;          /* threads that have not left */
    atomic_bool taken;          /* a thread executes the single */
    atomic_ullong first;        /* of a loop: the first iteration that no thread has */
    /* [team's lock] of an ordered loop: all iterations before it are over … */
    unsigned long long ordered;
    void *copy;     /* of a single copyprivate, from the thread that executed it … */
    bool published; /* [team's lock] … which has */
    struct orr_waiters waiters; /* [team's lock] for that, or their turn */
    void *memory; /* [team's lock] owned: what entries of compilers have asked for */
};

/* That of the next construct of the thread. */
struct orr_omp_share *orr_omp_share_enter(struct orr_omp_task *thread);

/* The thread does not use it any more. */
void orr_omp_share_leave(struct orr_omp_task *thread,
                         struct orr_omp_share *share);

/* Whether the thread is the first one that asks. */
bool orr_omp_share_take(struct orr_omp_share *share);

/* Frees those that a team has kept. The team is not used any more. */
void orr_omp_shares_free(struct orr_omp_team *team);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/share.c - see share.h. */
#include "core/omp/share.h"

#include <stdlib.h>

static struct orr_omp_share *share_find_locked(struct orr_omp_team *team,
                                               uint64_t number)
{
    struct orr_omp_share *share = team->shares;

    while (share && share->number != number)
        share = share->next;
    return share;
}

/* Makes a spare share that of construct `number`; NULL: there is no spare one. */
static struct orr_omp_share *share_begin_locked(struct orr_omp_team *team,
                                                uint64_t number)
{
    struct orr_omp_share *share = team->spares;

    if (!share)
        return NULL;
    team->spares = share->next;
    *share = (struct orr_omp_share){.next = team->shares, .number = number};
    atomic_init(&share->nleft, team->nthreads);
    team->shares = share;
    return share;
}

static void add_spare(struct orr_omp_team *team)
{
    struct orr_omp_share *spare = calloc(1, sizeof(*spare));

    if (!spare)
        orr_omp_no_memory("a worksharing construct");
    orr_lock(&team->lock);
    spare->next = team->spares;
    team->spares = spare;
    orr_unlock(&team->lock);
}

struct orr_omp_share *orr_omp_share_enter(struct orr_omp_task *thread)
{
    struct orr_omp_team *team = thread->team;
    uint64_t number = thread->nshares++;

    for (;;) {
        struct orr_omp_share *share;

        orr_lock(&team->lock);
        share = share_find_locked(team, number);
        if (!share)
            share = share_begin_locked(team, number);
        orr_unlock(&team->lock);
        if (share)
            return share;
        add_spare(team);
    }
}

void orr_omp_share_leave(struct orr_omp_task *thread,
                         struct orr_omp_share *share)
{
    struct orr_omp_team *team = thread->team;
    struct orr_omp_share **link = &team->shares;

    if (atomic_fetch_sub_explicit(&share->nleft, 1, memory_order_acq_rel) != 1)
        return;
    free(share->memory);
    share->memory = NULL;
    orr_lock(&team->lock);
    while (*link != share)
        link = &(*link)->next;
    *link = share->next;
    share->next = team->spares;
    team->spares = share;
    orr_unlock(&team->lock);
}

bool orr_omp_share_take(struct orr_omp_share *share)
{
    return !atomic_exchange_explicit(&share->taken, true, memory_order_relaxed);
}

static void free_list(struct orr_omp_share *share)
{
    while (share) {
        struct orr_omp_share *next = share->next;

        free(share->memory);
        free(share);
        share = next;
    }
}

void orr_omp_shares_free(struct orr_omp_team *team)
{
    free_list(team->shares);
    free_list(team->spares);
    team->shares = team->spares = NULL;
}

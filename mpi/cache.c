/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/cache.c - see cache.h. */
#include "mpi/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "mpi/datum.h"
#include "mpi/rank.h"

static bool is_on(const struct orr_rank *rank)
{
    return atomic_load_explicit(&rank->caches, memory_order_relaxed);
}

/* For STARPU_MPI_CACHE_STATS. */
static void tell(const struct orr_datum *datum, const char *what)
{
    if (datum->rank->tells_cache)
        fprintf(stderr, "[starpu_mpi_cache_stats][%d] tag %lld: the value of rank %d %s\n",
                datum->rank->number, (long long)datum->tag, datum->owner, what);
}

static void enter_list(struct orr_datum *datum)
{
    struct orr_rank *rank = datum->rank;

    if (!orr_link_free(&datum->cached))
        return;
    orr_lock(&rank->lock);
    orr_list_append(&rank->data.cached, &datum->cached);
    orr_unlock(&rank->lock);
}

/* --- received --- */

bool orr_cache_is_received(const struct orr_datum *datum)
{
    return datum->received && is_on(datum->rank);
}

bool orr_cache_set_received(struct orr_datum *datum)
{
    bool before = datum->received;

    if (!is_on(datum->rank))
        return false;
    datum->received = true;
    if (!before) {
        tell(datum, "is kept here");
        enter_list(datum);
    }
    return before;
}

void orr_cache_clear_received(struct orr_datum *datum)
{
    if (!datum->received)
        return;
    datum->received = false;
    tell(datum, "goes from here");
    orr_datum_unlist(datum);
    datum->leftover = true;
    orr_cache_drop_leftover(datum);
}

void orr_cache_drop_leftover(struct orr_datum *datum)
{
    if (!datum->leftover || datum->owner < 0 || datum->owner == datum->comm->rank)
        return;
    datum->leftover = false;
    starpu_data_invalidate_submit(orr_handle_public(datum->handle));
}

/* --- sent --- */

bool orr_cache_is_sent(const struct orr_datum *datum, int to)
{
    unsigned word = (unsigned)to / 64;

    return word < datum->sent_words && is_on(datum->rank) &&
           datum->sent[word] >> (to % 64) & 1;
}

bool orr_cache_set_sent(struct orr_datum *datum, int to)
{
    unsigned word = (unsigned)to / 64;
    unsigned words = ((unsigned)datum->comm->size + 63) / 64;
    bool before;

    if (!is_on(datum->rank))
        return false;
    if (!datum->sent && !(datum->sent = calloc(words, sizeof(*datum->sent))))
        orr_rank_fail(datum->rank, "out of memory");
    if (word >= datum->sent_words) {
        memset(&datum->sent[datum->sent_words], 0,
               (word + 1 - datum->sent_words) * sizeof(*datum->sent));
        datum->sent_words = word + 1;
    }
    before = datum->sent[word] >> (to % 64) & 1;
    datum->sent[word] |= UINT64_C(1) << (to % 64);
    enter_list(datum);
    return before;
}

void orr_cache_clear_sent(struct orr_datum *datum)
{
    if (!datum->sent_words)
        return;
    datum->sent_words = 0;
    orr_datum_unlist(datum);
}

/* --- both --- */

void orr_cache_written(struct orr_datum *datum)
{
    orr_cache_clear_sent(datum);
    orr_cache_clear_received(datum);
}

void orr_cache_flush(struct orr_datum *datum)
{
    orr_cache_written(datum);
    orr_cache_drop_leftover(datum);
}

void orr_cache_flush_all(struct orr_rank *rank, const struct orr_comm *comm)
{
    struct orr_list mine, *link;

    /* Flags are the submitting thread's, as the list then is. */
    orr_list_init(&mine);
    orr_lock(&rank->lock);
    while ((link = orr_list_pop(&rank->data.cached)))
        orr_list_append(&mine, link);
    orr_unlock(&rank->lock);
    while ((link = orr_list_pop(&mine))) {
        struct orr_datum *datum = orr_container(link, struct orr_datum, cached);

        if (!comm || datum->comm == comm)
            orr_cache_written(datum);
        else
            enter_list(datum);
    }
}

void orr_cache_turn(struct orr_rank *rank, bool on)
{
    if (!on)
        orr_cache_flush_all(rank, NULL);
    atomic_store(&rank->caches, on);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chain.h - a list that one thread at a time adds to and another one may
 * read meanwhile: links of many items, which never move, and counts that are published
 * with a release store. Items of a chain are of one size, which its callers name.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { ORR_CHAIN_LINK = 1024 }; /* items */

struct orr_chain_link {
    _Atomic(struct orr_chain_link *) next; /* [atomic] set once */
    atomic_uint n;                         /* [atomic] items filled in */
    alignas(max_align_t) char items[];
};

struct orr_chain {
    struct orr_chain_link *first; /* [const] owned, with all behind it */
    struct orr_chain_link *last;  /* [owner] */
};

/* Errors: -ENOMEM. */
int orr_chain_init(struct orr_chain *chain, size_t size);

/* Frees the links. A chain that is all zero may be given, too. */
void orr_chain_done(struct orr_chain *chain);

/* Adds a link; false without memory. */
bool orr_chain_grow(struct orr_chain *chain, size_t size);

/* Memory for the next item, not zeroed, which orr_chain_publish then shows; NULL
 * without memory. */
static inline void *orr_chain_add(struct orr_chain *chain, size_t size)
{
    unsigned n = atomic_load_explicit(&chain->last->n, memory_order_relaxed);

    if (n == ORR_CHAIN_LINK) {
        if (!orr_chain_grow(chain, size))
            return NULL;
        n = 0;
    }
    return chain->last->items + n * size;
}

static inline void orr_chain_publish(struct orr_chain *chain)
{
    atomic_uint *n = &chain->last->n;

    /* Pairs with orr_chain_next. */
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* How far a reader has come; begins as {chain->first, 0}. */
struct orr_chain_place {
    struct orr_chain_link *link;
    unsigned at;
};

/* The next item that was published, NULL: none. */
const void *orr_chain_next(struct orr_chain_place *place, size_t size);

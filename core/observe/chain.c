/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/chain.c - see chain.h. */
#include "core/observe/chain.h"

#include <errno.h>
#include <stdlib.h>

static struct orr_chain_link *new_link(size_t size)
{
    struct orr_chain_link *link = malloc(sizeof(*link) + ORR_CHAIN_LINK * size);

    if (link) {
        atomic_init(&link->next, NULL);
        atomic_init(&link->n, 0);
    }
    return link;
}

int orr_chain_init(struct orr_chain *chain, size_t size)
{
    chain->first = chain->last = new_link(size);
    return chain->first ? 0 : -ENOMEM;
}

void orr_chain_done(struct orr_chain *chain)
{
    while (chain->first) {
        struct orr_chain_link *next = atomic_load(&chain->first->next);

        free(chain->first);
        chain->first = next;
    }
}

bool orr_chain_grow(struct orr_chain *chain, size_t size)
{
    struct orr_chain_link *link = new_link(size);

    if (!link)
        return false;
    /* Pairs with orr_chain_next. */
    atomic_store_explicit(&chain->last->next, link, memory_order_release);
    chain->last = link;
    return true;
}

const void *orr_chain_next(struct orr_chain_place *place, size_t size)
{
    struct orr_chain_link *next;

    if (place->at == ORR_CHAIN_LINK) {
        /* Pairs with orr_chain_grow. */
        next = atomic_load_explicit(&place->link->next, memory_order_acquire);
        if (!next)
            return NULL;
        *place = (struct orr_chain_place){next, 0};
    }
    /* Pairs with orr_chain_publish. */
    return place->at <
                   atomic_load_explicit(&place->link->n, memory_order_acquire)
               ? place->link->items + place->at++ * size
               : NULL;
}

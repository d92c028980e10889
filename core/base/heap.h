/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/heap.h - a priority queue whose links live in the elements: a
 * pairing heap (Fredman, Sedgewick, Sleator & Tarjan 1986). Insertion, and bringing
 * one forward, take constant time, taking the first one or any other O(log n) amortised. No
 * allocation, no locking: the owner of the heap does that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zero, or removed: in no heap. */
struct orr_heap_link {
    struct orr_heap_link *child; /* the first of those behind this one */
    struct orr_heap_link *next;  /* its next sibling */
    struct orr_heap_link *prev;  /* its previous sibling, or the parent of the
                                  * first; NULL for the root */
};

/* Whether a comes before b; of equals either may come first. */
typedef bool (*orr_heap_before)(struct orr_heap_link *a,
                                struct orr_heap_link *b);

/* NULL is empty. */
struct orr_heap {
    struct orr_heap_link *first;
};

void orr_heap_insert_among(struct orr_heap *heap, struct orr_heap_link *link,
                           orr_heap_before before);
static inline void orr_heap_insert(struct orr_heap *heap,
                                   struct orr_heap_link *link,
                                   orr_heap_before before)
{
    *link = (struct orr_heap_link){NULL, NULL, NULL};
    if (heap->first)
        orr_heap_insert_among(heap, link, before);
    else
        heap->first = link;
}

/* Removes a link that is in the heap; its place among the others is not looked
 * at, which may have changed. */
void orr_heap_remove_from(struct orr_heap *heap, struct orr_heap_link *link,
                          orr_heap_before before);
static inline void orr_heap_remove(struct orr_heap *heap,
                                   struct orr_heap_link *link,
                                   orr_heap_before before)
{
    if (heap->first == link && !link->child)
        heap->first = NULL; /* the only one */
    else
        orr_heap_remove_from(heap, link, before);
}

/* It comes earlier than it did, or at the same place; those behind it stay there. */
void orr_heap_bring_forward(struct orr_heap *heap, struct orr_heap_link *link,
                            orr_heap_before before);

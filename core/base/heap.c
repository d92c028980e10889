/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/heap.c - see heap.h. */
#include "core/base/heap.h"

/* Joins two trees; the root of each has no sibling. */
static struct orr_heap_link *heap_join(struct orr_heap_link *a,
                                       struct orr_heap_link *b,
                                       orr_heap_before before)
{
    if (!a || !b)
        return a ? a : b;
    if (before(b, a)) {
        struct orr_heap_link *swap = a;

        a = b;
        b = swap;
    }
    b->prev = a;
    b->next = a->child;
    if (a->child)
        a->child->prev = b;
    a->child = b;
    return a;
}

/* Joins siblings to one tree: in pairs from left to right, then the pairs from
 * right to left. */
static struct orr_heap_link *join_siblings(struct orr_heap_link *first,
                                           orr_heap_before before)
{
    struct orr_heap_link *pairs = NULL, *tree = NULL;

    while (first) {
        struct orr_heap_link *a = first, *b = a->next;

        first = b ? b->next : NULL;
        a->next = a->prev = NULL;
        if (b)
            b->next = b->prev = NULL;
        a = heap_join(a, b, before);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct orr_heap_link *next = pairs->next;

        pairs->next = NULL;
        tree = heap_join(tree, pairs, before);
        pairs = next;
    }
    return tree;
}

void orr_heap_insert_among(struct orr_heap *heap, struct orr_heap_link *link,
                           orr_heap_before before)
{
    heap->first = heap_join(heap->first, link, before);
}

/* Takes a tree, which is not the whole, from among its siblings. */
static void cut_off(struct orr_heap_link *link)
{
    if (link->prev->child == link)
        link->prev->child = link->next;
    else
        link->prev->next = link->next;
    if (link->next)
        link->next->prev = link->prev;
    link->next = link->prev = NULL;
}

void orr_heap_remove_from(struct orr_heap *heap, struct orr_heap_link *link,
                          orr_heap_before before)
{
    struct orr_heap_link *children = join_siblings(link->child, before);

    if (link == heap->first) {
        heap->first = children;
    } else {
        cut_off(link);
        heap->first = heap_join(heap->first, children, before);
    }
    *link = (struct orr_heap_link){NULL, NULL, NULL};
}

void orr_heap_bring_forward(struct orr_heap *heap, struct orr_heap_link *link,
                            orr_heap_before before)
{
    if (link == heap->first)
        return;
    cut_off(link);
    heap->first = heap_join(heap->first, link, before);
}

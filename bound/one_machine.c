/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bound/one_machine.c - see one_machine.h. */
#include "bound/one_machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_heads(const void *a, const void *b)
{
    const struct orr_bound_piece *x = a, *y = b;

    return (x->head > y->head) - (x->head < y->head);
}

/* The pieces that could be worked on, the one with the longest tail at the top. */
struct heap {
    struct orr_bound_piece *at;
    unsigned n;
};

static void heap_swap(struct heap *heap, unsigned i, unsigned j)
{
    struct orr_bound_piece piece = heap->at[i];

    heap->at[i] = heap->at[j];
    heap->at[j] = piece;
}

static void heap_push(struct heap *heap, struct orr_bound_piece piece)
{
    unsigned i = heap->n++;

    heap->at[i] = piece;
    for (; i > 0 && heap->at[(i - 1) / 2].tail < heap->at[i].tail; i = (i - 1) / 2)
        heap_swap(heap, i, (i - 1) / 2);
}

static void heap_drop(struct heap *heap)
{
    unsigned i = 0, child;

    heap->at[0] = heap->at[--heap->n];
    while ((child = 2 * i + 1) < heap->n) {
        child += child + 1 < heap->n && heap->at[child + 1].tail > heap->at[child].tail;
        if (heap->at[child].tail <= heap->at[i].tail)
            return;
        heap_swap(heap, i, child);
        i = child;
    }
}

/* Works until the date, or until nothing is left. */
static void work_until(struct heap *heap, double *now, double until, double *end)
{
    while (heap->n > 0 && *now < until) {
        struct orr_bound_piece *first = &heap->at[0];
        double step = fmin(first->work, until - *now);

        *now += step;
        if (step < first->work) {
            first->work -= step;
            return;
        }
        *end = fmax(*end, *now + first->tail);
        heap_drop(heap);
    }
}

int orr_bound_one_machine(struct orr_bound_piece *pieces, unsigned n, double *ret)
{
    struct heap heap = {.at = calloc((size_t)n + 1, sizeof(*heap.at))};
    double now = 0, end = 0;

    if (!heap.at)
        return -ENOMEM;
    if (n)
        qsort(pieces, n, sizeof(*pieces), compare_heads);
    for (unsigned i = 0; i < n; i++) {
        work_until(&heap, &now, pieces[i].head, &end);
        now = fmax(now, pieces[i].head);
        heap_push(&heap, pieces[i]);
    }
    work_until(&heap, &now, INFINITY, &end);
    free(heap.at);
    *ret = end;
    return 0;
}

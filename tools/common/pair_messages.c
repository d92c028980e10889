/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/pair_messages.c - see pair_messages.h. */
#include "tools/common/pair_messages.h"

#include <stdlib.h>

/* Those that may be ends of one message lie side by side. */
static int compare_messages(const struct message_end *x, const struct message_end *y)
{
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_ends(const void *a, const void *b)
{
    const struct message_end *x = a, *y = b;
    int order = compare_messages(x, y);

    if (order)
        return order;
    if (x->received != y->received)
        return x->received ? 1 : -1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void pair_messages(struct message_end *ends, size_t n,
                   void (*pair)(void *arg, const struct message_end *sent,
                                const struct message_end *received),
                   void *arg)
{
    if (n)
        qsort(ends, n, sizeof(*ends), compare_ends);
    for (size_t first = 0, next; first < n; first = next) {
        size_t middle = first;

        next = first;
        while (next < n && compare_messages(&ends[first], &ends[next]) == 0)
            middle += !ends[next++].received;
        for (size_t i = 0; first + i < middle && middle + i < next; i++)
            pair(arg, &ends[first + i], &ends[middle + i]);
    }
}

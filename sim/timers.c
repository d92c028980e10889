/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/timers.c - see timers.h. */
#include "sim/timers.h"

#include "core/base/grow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 4 };

int orr_timers_reserve(struct orr_timers *timers)
{
    if (orr_grow(&timers->heap, &timers->room, timers->reserved + 1,
                 sizeof(*timers->heap)) < 0)
        return -ENOMEM;
    timers->reserved++;
    return 0;
}

void orr_timers_release(struct orr_timers *timers)
{
    assert(timers->reserved > timers->n);
    timers->reserved--;
}

/* Dates are not negative: their bits are in the same order. */
static inline bool timer_precedes(const struct orr_timer_entry *a,
                                  const struct orr_timer_entry *b)
{
    uint64_t x, y;

    memcpy(&x, &a->date, sizeof(x));
    memcpy(&y, &b->date, sizeof(y));
    return x < y || (x == y && a->order < b->order);
}

static void timers_put(struct orr_timers *timers, size_t i,
                       struct orr_timer_entry entry)
{
    timers->heap[i] = entry;
    entry.timer->place = i + 1;
}

/* Finds the place of `entry` from the hole `i` upwards. */
static void timers_sift_up(struct orr_timers *timers, size_t i,
                           struct orr_timer_entry entry)
{
    while (i > 0) {
        size_t parent = (i - 1) / CHILDREN;

        if (!timer_precedes(&entry, &timers->heap[parent]))
            break;
        timers_put(timers, i, timers->heap[parent]);
        i = parent;
    }
    timers_put(timers, i, entry);
}

/* The same downwards. */
static void timers_sift_down(struct orr_timers *timers, size_t i,
                             struct orr_timer_entry entry)
{
    const struct orr_timer_entry *end = timers->heap + timers->n;

    for (;;) {
        struct orr_timer_entry *first = &timers->heap[CHILDREN * i + 1];
        struct orr_timer_entry *last = first + CHILDREN, *least = first;

        if (first >= end)
            break;
        if (last > end)
            last = timers->heap + timers->n;
        for (struct orr_timer_entry *child = first + 1; child < last; child++)
            if (timer_precedes(child, least))
                least = child;
        if (!timer_precedes(least, &entry))
            break;
        timers_put(timers, i, *least);
        i = (size_t)(least - timers->heap);
    }
    timers_put(timers, i, entry);
}

void orr_timers_set(struct orr_timers *timers, struct orr_timer *timer,
                    double date)
{
    assert(!timer->place && timers->n < timers->reserved && !(date < 0));
    timers->n++;
    timers_sift_up(timers, timers->n - 1,
                   (struct orr_timer_entry){date, timers->order++, timer});
}

static void timers_remove(struct orr_timers *timers, size_t i)
{
    struct orr_timer_entry last = timers->heap[--timers->n];

    timers->heap[i].timer->place = 0;
    if (i == timers->n)
        return;
    if (i > 0 && timer_precedes(&last, &timers->heap[(i - 1) / CHILDREN]))
        timers_sift_up(timers, i, last);
    else
        timers_sift_down(timers, i, last);
}

void orr_timers_cancel(struct orr_timers *timers, struct orr_timer *timer)
{
    if (timer->place)
        timers_remove(timers, timer->place - 1);
}

struct orr_timer *orr_timers_pop(struct orr_timers *timers)
{
    struct orr_timer *first = timers->heap[0].timer;

    assert(timers->n > 0);
    timers_remove(timers, 0);
    return first;
}

struct orr_timer *orr_timers_exchange(struct orr_timers *timers,
                                      struct orr_timer *timer, double date)
{
    struct orr_timer *first = timers->heap[0].timer;

    assert(!timer->place && timers->n > 0 && date >= timers->heap[0].date);
    first->place = 0;
    timers_sift_down(timers, 0,
                     (struct orr_timer_entry){date, timers->order++, timer});
    return first;
}

void orr_timers_done(struct orr_timers *timers)
{
    free(timers->heap);
    timers->heap = NULL;
    timers->n = timers->room = timers->reserved = 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/timers.c - see timers.h. */
#include "sim/timers.h"

#include "core/base/grow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

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

static bool timer_precedes(const struct orr_timer_entry *a,
                           const struct orr_timer_entry *b)
{
    return a->date < b->date || (a->date == b->date && a->order < b->order);
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

static size_t least_child(const struct orr_timers *timers, size_t i)
{
    size_t first = CHILDREN * i + 1;
    size_t last = first + CHILDREN;
    size_t least = first;

    if (last > timers->n)
        last = timers->n;
    for (size_t k = first + 1; k < last; k++)
        if (timer_precedes(&timers->heap[k], &timers->heap[least]))
            least = k;
    return least;
}

static void timers_sift_down(struct orr_timers *timers, size_t i,
                             struct orr_timer_entry entry)
{
    while (CHILDREN * i + 1 < timers->n) {
        size_t child = least_child(timers, i);

        if (!timer_precedes(&timers->heap[child], &entry))
            break;
        timers_put(timers, i, timers->heap[child]);
        i = child;
    }
    timers_put(timers, i, entry);
}

void orr_timers_set(struct orr_timers *timers, struct orr_timer *timer,
                    double date)
{
    assert(!timer->place && timers->n < timers->reserved);
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

void orr_timers_done(struct orr_timers *timers)
{
    free(timers->heap);
    timers->heap = NULL;
    timers->n = timers->room = timers->reserved = 0;
}

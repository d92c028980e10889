/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/timers.h - dates at which something happens, earliest first; timers of
 * one date in the order in which they were set. One OS thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in what waits. `fire` is for the machine's own timers; NULL marks
 * the timer of a context. */
struct orr_timer {
    size_t place; /* 1 + index in the heap, 0: not set */
    void (*fire)(struct orr_timer *timer);
};

struct orr_timer_entry {
    double date;
    uint64_t order;
    struct orr_timer *timer;
};

/* A heap of four children per node: half the levels of a binary one, and the
 * children share cache lines. */
struct orr_timers {
    struct orr_timer_entry *heap;
    size_t n, room, reserved;
    uint64_t order; /* of the next timer set */
};

/* Makes room for one more timer, so that setting it never fails; -ENOMEM. */
int orr_timers_reserve(struct orr_timers *timers);

/* Gives that room back; the timer must not be set. */
void orr_timers_release(struct orr_timers *timers);

/* Sets a timer that is not set; the date is not negative. */
void orr_timers_set(struct orr_timers *timers, struct orr_timer *timer,
                    double date);

/* Takes a timer out; nothing happens when it is not set. */
void orr_timers_cancel(struct orr_timers *timers, struct orr_timer *timer);

/* Takes out and returns the first timer; there must be one. */
struct orr_timer *orr_timers_pop(struct orr_timers *timers);

/* Takes out and returns the first timer, and sets another one, whose date is not
 * earlier: less than both by themselves. */
struct orr_timer *orr_timers_exchange(struct orr_timers *timers,
                                      struct orr_timer *timer, double date);

void orr_timers_done(struct orr_timers *timers);

/* The date of the first timer, infinity without. */
static inline double orr_timers_next(const struct orr_timers *timers)
{
    return timers->n ? timers->heap[0].date : __builtin_inf();
}

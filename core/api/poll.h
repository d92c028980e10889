/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/poll.h - programs that ask the same question until the answer changes.
 * Simulated, time stands still between two calls that wait, so that the answer never
 * would: from the 10000th question in a row on, some time passes with them. Runs with
 * equal calls have equal times. Where none can pass, in callbacks, the clock goes on
 * for the context that reads it, and the time passes afterwards.
 */
#pragma once

#include "core/base/exec.h"

enum { ORR_POLLS_IN_A_ROW = 10000 };

/* Called when the caller has asked ORR_POLLS_IN_A_ROW times in a row: some time
 * passes. */
void orr_poll_spins(struct orr_context *self, bool clock);

static inline void orr_poll_of(bool clock)
{
    struct orr_context *self = orr_self;

    if (self && self->exec->virtual_time && ++self->polls >= ORR_POLLS_IN_A_ROW)
        orr_poll_spins(self, clock);
}

/* To be called by functions that read the clock: a loop around these always ends. */
static inline void orr_poll_clock(void)
{
    orr_poll_of(true);
}

/* By how many µs the clock is beyond virtual time for a caller in a callback, or in a
 * kernel of a device, where no time can pass: that comes from reading the clock. */
static inline double orr_poll_ahead(void)
{
    const struct orr_context *self = orr_self;

    return self && self->spins && self->frozen ? self->debt : 0;
}

/* To be called by a public function that does not wait, if its answer is one that
 * programs ask for repeatedly until it changes. */
static inline void orr_poll(void)
{
    orr_poll_of(false);
}

/* The same, with the result of a function that tries something. */
static inline int orr_poll_result(int result)
{
    if (result != 0)
        orr_poll();
    return result;
}

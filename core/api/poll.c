/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/poll.c - see poll.h. */
#include "core/api/poll.h"

#include "core/api/thread.h"
#include "core/base/log.h"

/* Questions per step of time, once the caller is known to spin. */
enum { POLLS_PER_STEP = 16 };

/* In a callback, where no time can pass: less than a second of real time. */
enum { HOPELESS_POLLS = 1 << 24 };

/* Steps grow with the time already spent, so that long waits take few steps. Not for
 * readings of the clock, which programs also make without waiting for anything. After
 * 30 years, more than any program takes, the answer will not change: that is a
 * deadlock, and reported as such. */
static double step_us(double spent_us)
{
    if (spent_us > 1e15)
        return ORR_FOREVER;
    return spent_us > 64 ? spent_us / 64 : 1;
}

/* A deadlock is found in this call, and its report is to say which context asks, and
 * since when. */
static bool pass_time_to_ask_again(struct orr_context *self, double us)
{
    static const struct orr_awaited awaited = {
        .noun = "an answer that it asks for again and again"};
    bool passed;

    self->asks = true;
    passed = orr_pass_time(us, &awaited);
    self->asks = false;
    return passed;
}

void orr_poll_spins(struct orr_context *self, bool clock)
{
    double now = orr_exec_now(self->exec), us;

    if (self->polls == ORR_POLLS_IN_A_ROW && !self->spins) {
        self->spins = true;
        self->spins_since = now;
    }
    us = clock ? 1 : step_us(now - self->spins_since);
    if (pass_time_to_ask_again(self, us)) {
        self->polls = ORR_POLLS_IN_A_ROW - POLLS_PER_STEP;
    } else if (clock) {
        self->debt += us; /* paid when the code of the application has ended */
        self->polls = ORR_POLLS_IN_A_ROW - POLLS_PER_STEP;
    } else if (self->polls == HOPELESS_POLLS) {
        orr_log_warning("\"%s\" asks again and again whether something has "
                        "ended, in a callback or in a kernel that runs on a "
                        "device, where no virtual time passes: the answer will "
                        "not change; wait in a kernel of a processor or in the "
                        "main program",
                        self->name ? self->name : "a context");
    }
}

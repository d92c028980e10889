/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/work.h - work of processors in virtual time. A context has a processor for itself, or
 * some that it shares with others (`processors` of struct orr_context): of those who work at
 * one time each has an equal part, at most one processor, as an operating system shares them
 * over some slices of time. A context that waits or sleeps takes nothing. One OS thread.
 */
#pragma once

#include "core/base/list.h"
#include "sim/timers.h"

/* Processors that contexts share. */
struct orr_processors {
    unsigned n;
    struct orr_list working; /* those that work now, in the order of their begins */
    unsigned nworking;
    double speed; /* of each of these, 1: it has a processor */
};

/* Of a context. */
struct orr_sim_work {
    struct orr_list link; /* among those that work on the same processors */
    struct orr_timer *timer; /* [const] its end */
    struct orr_processors *processors; /* those it works on; NULL: one of its own */
    double rate;          /* by what else it is slowed down, 1: nothing */
    double speed;         /* that, times its part of a processor */
    double left, since;   /* µs that it would take alone, at that date */
};

/* So many, at least one, which nobody uses yet. */
void orr_processors_init(struct orr_processors *processors, unsigned n);

/* The work that takes `us` alone begins at date `now`: returns the date at which its timer is to
 * end it, at first. What begins or ends meanwhile sets the timer anew. Ended by
 * orr_sim_work_end, at that date. */
double orr_sim_work_begin(struct orr_timers *timers, double now, struct orr_sim_work *work,
                          struct orr_processors *processors, double us);
void orr_sim_work_end(struct orr_timers *timers, double now, struct orr_sim_work *work);

/* What is done, or will be next, goes at this rate from now on: 1, it is not slowed down. */
void orr_sim_work_set_rate(struct orr_timers *timers, double now, struct orr_sim_work *work,
                           double rate);

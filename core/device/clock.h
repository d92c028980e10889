/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/clock.h - clocks of the real machine, for what is measured. */
#pragma once

/* µs of processor time that the calling OS thread has used. */
double orr_thread_time_us(void);

/* s of real time since some fixed moment. */
double orr_wall_time_s(void);

/* How often the calling thread has lost its processor to another: a time
 * measured while that happened is not its own. */
unsigned long orr_thread_preemptions(void);

/* What the calling thread has had of its processor so far. */
struct orr_thread_usage {
    double us;                /* processor time */
    unsigned long preempted;  /* times that it lost it to another … */
    unsigned long gave_it_up; /* … and times that it waited for something */
};

void orr_thread_usage(struct orr_thread_usage *ret);

/* µs of the `us` since then in which other threads had the processor of the calling one;
 * 0 if it was not preempted, or has waited as well: then nobody knows. */
double orr_thread_lost_us(const struct orr_thread_usage *since, double us);

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

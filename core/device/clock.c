/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/clock.c - see clock.h. Any thread. */
#include "core/device/clock.h"

#include <sys/resource.h>
#include <time.h>

double orr_thread_time_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

double orr_wall_time_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

unsigned long orr_thread_preemptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0
               ? (unsigned long)usage.ru_nivcsw
               : 0;
}

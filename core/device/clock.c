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

void orr_thread_usage(struct orr_thread_usage *ret)
{
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_THREAD, &usage); /* fails for no thread of ours */
    ret->preempted = (unsigned long)usage.ru_nivcsw;
    ret->gave_it_up = (unsigned long)usage.ru_nvcsw;
    ret->us = orr_thread_time_us();
}

double orr_thread_lost_us(const struct orr_thread_usage *since, double us)
{
    struct orr_thread_usage now;
    double lost;

    orr_thread_usage(&now);
    if (now.preempted == since->preempted ||
        now.gave_it_up != since->gave_it_up)
        return 0;
    lost = us - (now.us - since->us);
    return lost > 0 && lost < us ? lost : 0;
}

unsigned long orr_thread_preemptions(void)
{
    struct orr_thread_usage usage;

    orr_thread_usage(&usage);
    return usage.preempted;
}

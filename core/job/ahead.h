/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/ahead.h - tasks that are pending were written by another processor, or so
 * long ago that they are in no cache. Who knows which ones he comes to next has them
 * fetched meanwhile. Addresses are all that is looked at: what is there may be gone.
 *
 * (gcc drops calls of functions that do nothing else: they must be inlined.)
 */
#pragma once

#include <stdbool.h>

/* How many lines of the cache, from the first one, the worker reads that executes it;
 * of a task without those that have its handles, which its accesses have, too. */
enum {
    ORR_AHEAD_LINE = 64,
    ORR_AHEAD_JOB = 4,
    ORR_AHEAD_JOB_AND_ACCESSES = 7,
    ORR_AHEAD_TASK_REST = 2,
    ORR_AHEAD_TASK_PLAIN = 4,
    ORR_AHEAD_TASK = 8,
};

__attribute__((always_inline)) static inline void orr_ahead_job(const void *job)
{
    for (unsigned line = 0; line < ORR_AHEAD_JOB; line++)
        __builtin_prefetch((const char *)job + line * ORR_AHEAD_LINE, 1);
}

/* With the accesses behind it, three of them. */
__attribute__((always_inline)) static inline void
orr_ahead_job_and_accesses(const void *job)
{
    for (unsigned line = 0; line < ORR_AHEAD_JOB_AND_ACCESSES; line++)
        __builtin_prefetch((const char *)job + line * ORR_AHEAD_LINE, 1);
}

__attribute__((always_inline)) static inline void
orr_ahead_access(const void *access)
{
    __builtin_prefetch(access, 1);
}

/* `plain`: only its codelet, interfaces and argument are read (orr_job_is_plain). */
__attribute__((always_inline)) static inline void
orr_ahead_task(const void *task, bool plain)
{
    unsigned end = plain ? ORR_AHEAD_TASK_PLAIN : ORR_AHEAD_TASK;

    __builtin_prefetch(task, 1);
    for (unsigned line = ORR_AHEAD_TASK_REST; line < end; line++)
        __builtin_prefetch((const char *)task + line * ORR_AHEAD_LINE, 1);
}

/* What changes with every task that uses it: core/data/handle.h, block.h. */
__attribute__((always_inline)) static inline void
orr_ahead_block(const void *block)
{
    __builtin_prefetch(block, 1);
}

/* Likewise. */
__attribute__((always_inline)) static inline void
orr_ahead_handle(const void *handle)
{
    __builtin_prefetch(handle, 1);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/threads.h - time and contexts of the real machine: POSIX
 * threads and the monotonic clock.
 */
#pragma once

#include "core/base/exec.h"

struct orr_threads_options {
    /* Binds the calling thread to a logical processor, 0 or a negative errno.
     * NULL: numbers are the kernel's (sched_setaffinity). Called in each new
     * context whose cpu is not -1. */
    int (*bind)(int cpu, void *arg);
    void *arg;
    /* Pauses of the processor between the looks of a context that lingers
     * (core/base/exec.h): at first, and the most, to which each look doubles them.
     * With a most of 0 none lingers. */
    unsigned first_pauses, most_pauses;
};

/* What usual programs want. */
#define ORR_THREADS_OPTIONS                                                    \
    {                                                                          \
        .first_pauses = 32, .most_pauses = 32                                  \
    }

/* Makes the calling thread the main context (orr_self). `options` NULL is
 * ORR_THREADS_OPTIONS. *ret is owned by the caller, which ends it with
 * orr_threads_free(). Errors: -ENOMEM, -EAGAIN. */
int orr_threads_new(const struct orr_threads_options *options,
                    struct orr_exec **ret);

/* Binds main to a logical processor until orr_threads_free, which gives it its
 * former affinity. Called by main. 0 or a negative errno. */
int orr_threads_bind_main(struct orr_exec *exec, int cpu);

/* Moves main to that logical processor, -1: nowhere, without binding it there: what
 * else wants to run finds the others free. Called by main. */
void orr_threads_settle(struct orr_exec *exec, int cpu);

/* Called by main when all spawned contexts have been joined. Threads that were
 * adopted must be in no call of the library any more, but may end meanwhile; they
 * are unknown again afterwards. Accepts NULL. */
void orr_threads_free(struct orr_exec *exec);

/* A thread of the library's own, which is no context and wakes none, is about
 * to begin, or (-1) has ended: no context need wait for what it might do. Of
 * the process. */
void orr_threads_count_helper(int change);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/asleep.h - which workers sleep for want of a task, or are about
 * to: a bit for each, in few lines of the cache, which change only when one
 * falls asleep or is woken. A push that finds no bit set has looked at all
 * workers, and has made none of them reload what it works on.
 */
#pragma once

#include "core/exec/runtime.h"
#include "core/worker/workers.h"

static inline _Atomic uint64_t *orr_asleep_word(const struct orr_worker *worker)
{
    return &worker->runtime->workers->asleep[worker->id / 64];
}

static inline uint64_t orr_asleep_bit(const struct orr_worker *worker)
{
    return UINT64_C(1) << worker->id % 64;
}

static inline bool orr_worker_is_asleep(const struct orr_worker *worker)
{
    return (atomic_load_explicit(orr_asleep_word(worker),
                                 memory_order_relaxed) &
            orr_asleep_bit(worker)) != 0;
}

/* The worker says that it sleeps. */
static inline void orr_worker_fall_asleep(const struct orr_worker *worker)
{
    atomic_fetch_or(orr_asleep_word(worker), orr_asleep_bit(worker));
}

/* It does not sleep any more. Returns whether the caller has changed that: of
 * several ones one has. */
static inline bool orr_worker_rouse(const struct orr_worker *worker)
{
    return orr_worker_is_asleep(worker) &&
           (atomic_fetch_and(orr_asleep_word(worker), ~orr_asleep_bit(worker)) &
            orr_asleep_bit(worker)) != 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/members.h - which workers take new tasks of a scheduling context: its
 * members, but those that are blocked. All zero: every worker does. Written
 * when a context changes (core/sched/ctx.c), read with every task.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu_config.h>

/* Words of 64 bits, one bit per worker. */
#define ORR_WORKER_WORDS ((STARPU_NMAXWORKERS + 63) / 64)

struct orr_members {
    _Atomic uint64_t lacking; /* worker classes of which some take none … */
    _Atomic uint64_t without; /* … and of which all take none */
    _Atomic uint64_t out[ORR_WORKER_WORDS]; /* workers that take none */
};

static inline uint64_t orr_members_out(const struct orr_members *members,
                                       unsigned word)
{
    return atomic_load_explicit(&members->out[word], memory_order_relaxed);
}

static inline bool orr_members_all(const struct orr_members *members)
{
    return atomic_load_explicit(&members->lacking, memory_order_relaxed) == 0;
}

static inline bool orr_members_has(const struct orr_members *members,
                                   unsigned worker)
{
    return orr_members_all(members) ||
           !(orr_members_out(members, worker / 64) >> worker % 64 & 1);
}

/* Whether all workers of a class do, or some: of a class of which some do the
 * workers are asked one by one. */
static inline bool orr_members_whole(const struct orr_members *members,
                                     unsigned class_id)
{
    return !(atomic_load_explicit(&members->lacking, memory_order_relaxed) >>
                 class_id &
             1);
}

static inline bool orr_members_some(const struct orr_members *members,
                                    unsigned class_id)
{
    return !(atomic_load_explicit(&members->without, memory_order_relaxed) >>
                 class_id &
             1);
}

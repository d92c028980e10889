/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/ctxs.h - the scheduling contexts of a run. They are changed by
 * core/sched/ctx.c.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include <starpu_config.h>

#include "core/base/wait.h"

struct orr_direct;
struct orr_sched;
struct orr_sched_change;
struct orr_sched_worker;

struct orr_sched_ctxs {
    /* By number, NULL: there is none; number 0 is there from the beginning to the
     * end. */
    _Atomic(struct orr_sched *) at[STARPU_NMAX_SCHED_CTXS];
    /* What each context has of each worker; it stays when the context is deleted, for
     * workers that look meanwhile. NULL: there never was such a context. */
    _Atomic(struct orr_sched_worker *) places[STARPU_NMAX_SCHED_CTXS];
    atomic_bool changing;               /* they are being changed: it is its own lock */
    struct orr_sched_change *postponed; /* [runtime's lock] changes to be made … */
    atomic_uint npostponed;             /* … and how many */
    struct orr_waiters rest_waiters; /* [runtime's lock] for workers that are to be
                                      * blocked */
    _Atomic(struct orr_direct *) direct; /* owned, NULL: no job goes past the policy:
                                          * core/sched/direct.h */
    atomic_bool recommended; /* a better policy than that of some context */
};

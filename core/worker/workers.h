/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/workers.h - the workers of a run, their classes, the combined workers, and
 * what holds for all of them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu_config.h>

#include "core/base/slab.h"
#include "core/exec/runtime.h"
#include "core/worker/hooks.h"
#include "core/worker/members.h"
#include "core/worker/worker.h"

struct orr_combined;

/* starpu_perf_knob_* */
struct orr_knobs {
    atomic_uint ndisabled;   /* workers that get no more tasks, and nodes that jobs
                              * avoid */
    atomic_uint begun, over; /* changes of that, and of contexts' workers */
    atomic_bool capped;      /* priorities are within … */
    atomic_int least, most;
};

struct orr_workers {
    unsigned n;            /* [const] */
    struct orr_worker *at; /* owned, n of them, by their numbers */
    unsigned nclasses;     /* [const] */
    struct orr_worker_class *classes; /* owned */
    unsigned *class_members;          /* [const] owned: what classes' members point
                                       * into */
    atomic_uint nactive; /* workers whose loops have not ended, copies whose ends may
                          * wake some … */
    _Atomic(struct orr_context *) stopper; /* … and the context that waits for that,
                                            * or NULL */
    struct orr_members members[STARPU_NMAX_SCHED_CTXS];
    /* core/worker/combined.h; they stay. */
    _Atomic(struct orr_combined *) combined[STARPU_NMAXWORKERS];
    atomic_uint ncombined;          /* [runtime's lock] for writing */
    atomic_bool combinations_found; /* orr_combinations_find was called */
    bool single_combined;   /* [const] one at a time: all have the first processor */
    struct orr_hooks hooks; /* that workers call */
    atomic_int paused;      /* starpu_pause calls minus resumes */
    atomic_bool drivers_end; /* who drives workers is to stop */
    bool disables_kernels;   /* [const] codelets' functions are not called */
    bool counts_codelets;    /* [const] tasks per codelet and worker */
    double joules;           /* [runtime's lock] used so far, core/loop/energy.h */
    struct orr_knobs knobs;
    /* What is written with every task is in lines of the cache where nothing is
     * that others read. */
    char pad_asleep[64];
    /* A bit per worker that is parked, or about to be, for want of a task:
     * core/worker/asleep.h. */
    _Atomic uint64_t asleep[ORR_WORKER_WORDS];
    char pad_rest[64];
};

/* Whether some worker gets no more tasks, or none of some. */
static inline bool orr_some_disabled(const struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->workers->knobs.ndisabled,
                                memory_order_relaxed) > 0;
}

/* Which cache of slabs a context has that is the worker: that of all contexts where they take
 * turns in one thread. */
static inline unsigned orr_worker_cache(const struct orr_worker *worker)
{
    return worker->runtime->exec->one_thread ? ORR_CACHE_OF_TURNS : worker->id + 1;
}

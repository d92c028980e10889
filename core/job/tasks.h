/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/tasks.h - the tasks of a run: their counts, tags, gangs and nests, the
 * limits of submission, and the functions that are told of them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/wait.h"
#include "core/device/machine.h"

struct orr_agains;
struct orr_counter;
struct orr_runtime;
struct orr_tags;

/* Where a debugger may want to look at a task. */
enum orr_break {
    ORR_BREAK_PUSH,
    ORR_BREAK_SCHED,
    ORR_BREAK_POP,
    ORR_BREAK_EXEC,
    ORR_NBREAKS
};

typedef void (*orr_ready_soon_func_t)(void *data, struct starpu_task *task,
                                      double delay);

/* The tasks of one scheduling context. */
struct orr_counts {
    _Atomic(struct orr_counter *) counters; /* NULL: there was none yet */
    struct orr_waiters waiters; /* [runtime's lock] core/job/count.c */
    unsigned long nwaiting; /* [runtime's lock] those of its tasks that are such
                             * waiters, of any context */
};

/* Work that is neither a task nor a wait of a context, such as messages under way:
 * core/job/outside.h. */
struct orr_outside {
    atomic_ulong n;     /* under way; a beginning counts here first … */
    atomic_ulong begun; /* … and then here, so far */
    atomic_bool awaited;
    atomic_bool posted;         /* the post is on its way */
    struct orr_runtime *runtime; /* [who posts] for the post */
    struct orr_post post;       /* the last one has ended, and is awaited */
    struct orr_waiters waiters; /* [runtime's lock] until there is none */
};

struct orr_tasks {
    struct orr_tags *tags;     /* owned */
    struct orr_agains *agains; /* owned */
    /* Of each scheduling context: core/job/count.h. */
    struct orr_counts counts[STARPU_NMAX_SCHED_CTXS];
    unsigned ncounters;          /* [const] for each of them */
    struct orr_lock gangs_lock;  /* rank ORR_RANK_SCHED: core/sched/gang.c */
    uint64_t last_gang;          /* [gangs_lock] */
    struct orr_list recruiting; /* [gangs_lock] gangs that wait for members … */
    atomic_uint nrecruiting;    /* … how many: core/sched/recruit.h */
    size_t taken
        [STARPU_MAXNODES]; /* [gangs_lock] memory of nodes that tasks have taken */
    struct orr_lock nests_lock;  /* rank ORR_RANK_NESTS */
    bool follow_placed; /* [const] tasks that name no worker may follow others */
    atomic_bool has_nests;       /* tasks have submitted others */
    atomic_bool suspends;        /* tasks have waited */
    atomic_bool profiling;       /* starpu_profiling_status_set */
    atomic_int limit_max, limit_min; /* of submitted tasks, < 0: none */
    bool breaks;               /* [const] some task_break_on is set */
    int break_on[ORR_NBREAKS]; /* [const] jobs that raise SIGTRAP, or -1 */
    /* f(data, task, µs) when a task starts that is all that `task` waits for. */
    _Atomic(orr_ready_soon_func_t) ready_soon;
    _Atomic(void *) ready_soon_data; /* published by it */
    struct orr_outside outside;
    atomic_bool drops; /* orr_wait_at_end need not wait for what is left */
    char pad_job[64];
    atomic_ullong last_job; /* by the thread that submits */
    char pad_push[64];
    atomic_ullong last_push; /* by the context that makes tasks ready */
    char pad_rest[64];
};

/* Raises SIGTRAP if that was asked for of this job. */
void orr_runtime_break(struct orr_runtime *rt, enum orr_break where,
                       unsigned long long job);

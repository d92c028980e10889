/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/worker.h - a worker: the context that moves jobs through their
 * stages on one processor or device. Its main loop is in loop.c.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/wait.h"
#include "core/cost/row.h"
#include "core/device/machine.h"

struct orr_gang;
struct orr_job;
struct orr_runtime;
struct orr_suspend_limit;

/* What a worker is doing, for policies (which may steal from it) and traces. */
enum orr_worker_state {
    ORR_WORKER_IDLE, /* parked or about to be */
    ORR_WORKER_SCHEDULING,
    ORR_WORKER_FETCHING,
    ORR_WORKER_EXECUTING,
    ORR_WORKER_CALLBACK,
    ORR_WORKER_NSTATES
};

/* Who has the place of a worker: core/loop/borrow.h. */
enum orr_seat {
    ORR_SEAT_TAKEN, /* by the worker's own loop */
    ORR_SEAT_FREE,  /* that waits */
    ORR_SEAT_LENT,
};

/* What it did since the last reset, while profiling is on; µs. */
struct orr_worker_profile {
    double in_state[ORR_WORKER_NSTATES]; /* but the present one … */
    enum orr_worker_state state;         /* … in which it is … */
    double since;                        /* … for so long */
    double start;                        /* the last reset */
    double executing, callback, scheduling, flops, joules;
    unsigned long ntasks; /* completed before the reset */
};

struct orr_worker {
    unsigned id;                        /* [const] */
    unsigned class_id;                  /* [const] index in runtime->workers->classes */
    const struct orr_worker_desc *desc; /* [const] */
    struct orr_runtime *runtime;        /* [const] */
    /* The context that runs now, of the worker's stacks (suspend.h); always the same
     * one if no kernel has waited. Of a worker that threads of the application drive:
     * the thread that drives it now, NULL: none */
    _Atomic(struct orr_context *) context;
    bool driven;                        /* [const] it is such a one */
    struct orr_worker *mate; /* [const] of one that is driven: the next worker
                              * of its device, which the same thread drives, in
                              * a circle; of others NULL */
    /* Who may be the worker, its own loop or a context that has borrowed it: enum
     * orr_seat. */
    atomic_uint seat;
    struct orr_awaited awaited; /* [const] what its loop waits for */
    atomic_bool lendable; /* its loop offers the seat when it has nothing to do */
    atomic_bool called;   /* it was woken while it was lent */
    bool leaving; /* [owner] the context that has borrowed it is about to give it back:
                   * it takes no jobs */
    struct orr_lock lock;               /* rank ORR_RANK_WORKER */
    struct orr_list local; /* [lock] tasks for this worker alone, best first */
    struct orr_list ordered;  /* [lock] those with a workerorder whose turn has
                              * not come, the smallest first */
    unsigned next_order;      /* [lock] whose turn it is … */
    bool order_out;           /* [lock] … which is in `local` already */
    struct orr_list ended;    /* [lock] jobs whose kernel has ended */
    struct orr_list behind;   /* [lock] jobs that are to follow others in its queue */
    atomic_uint nbehind;      /* length of `behind`: changed under the lock */
    atomic_uint nfollowing;   /* jobs that follow others: core/job/follow.h */
    _Atomic uint64_t last_led; /* number of the job that was started last */
    struct orr_list resumed;  /* [lock] jobs that were put aside, whose data
                              * have come */
    struct orr_job *fetching; /* [owner] popped, data not yet there */
    unsigned naside;          /* [owner] others, put aside until they have
                               * memory, and not started yet */
    unsigned running;         /* [owner] kernels started, not ended */
    struct orr_kernel *kernels; /* [owner] those that are in no use: kernel.h */
    unsigned nbeginning;      /* [owner] of these, those that begin a partial */
    struct orr_gang *gang;    /* [owner] of which it is a member now, NULL; it
                               * takes no jobs meanwhile */
    bool again;               /* [owner] it has made work for itself: it looks
                               * once more before it sleeps */
    bool may_suspend;         /* [const] its kernels may wait: suspend.h */
    unsigned nsuspended;      /* [owner] kernels that wait */
    unsigned ndirect; /* [owner] jobs executed that went past the policy */
    struct orr_context
        *yielded;    /* [owner] a kernel that lets others go first … */
    unsigned yields; /* [owner] … and how many of them, before it goes on */
    _Atomic(struct orr_context *) woken; /* those of them that may go on … */
    struct orr_context *resumable; /* [owner] … and those that it knows of */
    struct orr_suspend_limit *limits; /* [owner] those that wait for a time */
    struct orr_context *spares;  /* [owner] stacks on which nothing runs now */
    struct orr_context *retired; /* [owner] … or ever again */
    struct orr_context *first;   /* [owner] its own; NULL: there is no other */
    atomic_uint state;        /* enum orr_worker_state */
    atomic_uint nlocal;       /* length of `local`: changed under the lock */
    atomic_bool stop;         /* runtime shuts down */
    /* Which scheduling contexts it asks for tasks, a bit each, and whether it is
     * blocked; core/sched/pop.c says how, and what `asks` is. */
    atomic_uint sched_ctxs;
    atomic_bool asks;         /* it asks one of several now */
    unsigned last_sched_ctx;  /* [owner] which one had a task */
    unsigned nblocks;         /* [core/sched/ctx.c] reasons to be blocked */
    atomic_bool rests;        /* it is blocked and has ended what it had */
    double busy_us;           /* [owner] time kernels took */
    atomic_ulong ntasks;      /* [owner] for writing: tasks completed */
    double flops;             /* [owner] of the tasks completed */
    struct orr_figures figures; /* [owner] of simulated kernels */
    double last_end;            /* [owner] µs, end of its last kernel */
    atomic_bool disabled;       /* it gets no more tasks */
    atomic_int bound; /* processor that a knob has chosen, by its position, -1: none … */
    atomic_int bound_cpu; /* … and by the kernel's number */
    _Atomic double exp_end;     /* [owner] for writing: µs, when its kernel is expected
                                 * to end, 0: not known */
    atomic_bool up;           /* its context has begun */
    struct orr_worker_profile profile; /* [lock] */
    char pad[64];
};

/* Cost rows and policies keep a bit for each class. */
#define ORR_MAX_CLASSES 64u

/* A worker class: workers that differ by their queues only. Policies decide
 * once per class. Workers of a class have consecutive places in `members`. */
struct orr_worker_class {
    enum starpu_worker_archtype type;
    int devid;     /* device number, 0 for CPU workers of one model */
    unsigned ncores; /* 1, but in copies that stand for several workers at once:
                      * core/cost/wide.c */
    unsigned comb; /* perfmodel's number of the architecture */
    unsigned node; /* memory node */
    double speed;  /* durations are divided by it */
    struct orr_kernel_speeds *kernels; /* and by those that fit; NULL: none */
    const struct orr_worker_powers *powers; /* NULL: none are stated */
    double relative_speedup; /* StarPU's factor of its kind of device, times cores: a
                              * common model's time is divided by it */
    unsigned nworkers;
    const unsigned *members; /* worker ids, ascending */
};

/* In sched_ctxs: it is to take no tasks, core/sched/block.c. */
#define ORR_WORKER_BLOCKED (1U << 31)

static inline bool orr_worker_is_blocked(const struct orr_worker *worker)
{
    return atomic_load_explicit(&worker->sched_ctxs, memory_order_relaxed) &
           ORR_WORKER_BLOCKED;
}

/* A context that counted in rt->workers->nactive has ended: the last one lets
 * orr_workers_stop go on. The caller touches no worker any more. */
void orr_active_end(struct orr_runtime *rt);

/* On a crowded machine: the time that the calling context, which is no worker, owes now
 * was spent on the processor of a CPU worker that executes a kernel, so that this
 * worker owes it, too. Not if a CPU worker is idle: then its processor was free. */
void orr_workers_give_way(struct orr_runtime *rt);

/* Lets a parked worker look again. Never switches. */
void orr_worker_wake(struct orr_worker *worker);

/* The kernel of a job of the worker's, by its link, has ended: the worker ends the job.
 * Any context, no lock held. */
void orr_worker_end_job(struct orr_worker *worker, struct orr_list *job);

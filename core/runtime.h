/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/runtime.h - one run from starpu_init to starpu_shutdown. All writable
 * state hangs off it. Contexts lead here; a thread that the application made
 * itself is adopted by the one real runtime of the process.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include <starpu.h>

#include "core/base/config.h"
#include "core/base/lock.h"
#include "core/base/slab.h"
#include "core/base/wait.h"
#include "core/cost/noise.h"
#include "core/device/machine.h"
#include "core/members.h"
#include "core/observe/iterations.h"
#include "core/observe/tell.h"
#include "core/observe/trace_types.h"
#include "core/worker/hooks.h"
#include "core/worker/worker.h"

struct orr_agains;
struct orr_bus;
struct orr_calls;
struct orr_combined;
struct orr_costs_table;
struct orr_counter;
struct orr_eviction;
struct orr_graph_record;
struct orr_models;
struct orr_recording;
struct orr_returned_list;
struct orr_sampling;
struct orr_sim_ops;
struct orr_node;
struct orr_perf;
struct orr_sched;
struct orr_sched_change;
struct orr_sched_worker;
struct orr_tags;
struct orr_tally;
struct orr_tool;
struct orr_trace;
struct orr_progress;
struct orr_watchdog_tasks;

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
    struct orr_waiters waiters; /* [runtime's lock] core/task/count.c */
    unsigned long nwaiting; /* [runtime's lock] those of its tasks that are such
                             * waiters, of any context */
};

enum { ORR_HANDLE_SLABS = 24 };

struct orr_runtime {
    struct orr_config config;    /* [const] */
    struct orr_machine *machine; /* [const] */
    struct orr_pinned *pinned;   /* [const] lent; core/device/pinned.h */
    struct orr_exec *exec;       /* [const] the machine's */
    struct orr_context *main;    /* [const] */
    atomic_uint nnodes; /* memory nodes; disks may come: starpu_disk_register */
    bool expects_disks; /* [const] main memory is limited by request: data are
                         * registered with replicates for disks that may come */
    unsigned nworkers;  /* [const] */
    unsigned nclasses;           /* [const] worker classes */
    unsigned nram; /* [const] nodes 0 to nram - 1 are main memory */
    /* [const] what leaves a memory node that is full */
    const struct orr_eviction *eviction;
    struct orr_noise noise; /* [const] of simulated kernels */
    _Atomic uint64_t pressed; /* nodes of which the order of victims is kept:
                               * core/data/nextuse.c */
    bool sync_copies;         /* [const] who starts a copy waits for it, on all
                               * devices … */
    uint32_t sync_kinds;      /* [const] … or those with such memory, a bit per
                               * enum starpu_node_kind */
    _Atomic uint64_t lost;    /* nodes whose device is gone: core/data/lost.h */
    bool pops_by_priority;    /* [const] queued jobs leave by priority */
    bool follows_memory;      /* [const] the policy does, core/sched/sched.h */
    struct orr_node *nodes;
    struct orr_bus *buses;   /* nbuses links between them, core/data/bus.h */
    struct orr_bus **bus_at; /* [const] of a pair of nodes, NULL without */
    unsigned nbuses;
    struct orr_worker *workers;
    atomic_uint nactive; /* workers whose loops have not ended, copies
                                  * whose ends may wake some … */
    _Atomic(struct orr_context *) stopper; /* … and who waits for that, or
                                            * NULL */
    struct orr_worker_class *classes;
    unsigned *class_members; /* [const] what classes' members point into */
    /* The scheduling contexts by number, NULL: there is none; number 0 is there
     * from the beginning to the end. Who changes them: core/sched/contexts.h. */
    _Atomic(struct orr_sched *) scheds[STARPU_NMAX_SCHED_CTXS];
    /* The workers' places in each; they stay, for who looks while it is deleted.
     * NULL: there never was such a context. */
    _Atomic(struct orr_sched_worker *) places[STARPU_NMAX_SCHED_CTXS];
    struct orr_members members[STARPU_NMAX_SCHED_CTXS];
    atomic_bool sched_ctxs_change; /* somebody changes them: it is its own lock */
    struct orr_sched_change *postponed;    /* [lock] changes to be made … */
    atomic_uint npostponed;                /* … and how many */
    struct orr_waiters rest_waiters; /* [lock] for workers that are to be blocked */
    /* Combined workers: core/combined.h; they stay. */
    _Atomic(struct orr_combined *) combined[STARPU_NMAXWORKERS];
    atomic_uint ncombined;       /* [lock] for writing */
    atomic_bool combinations_found; /* orr_combinations_find was called */
    bool single_combined;           /* [const] one at a time: all have the first
                                     * processor */
    struct orr_lock gangs_lock;  /* rank ORR_RANK_SCHED: core/task/gang.c */
    uint64_t last_gang;          /* [gangs_lock] */
    struct orr_sampling *sampling; /* [const] where models are looked for */
    struct orr_models *models;
    unsigned homogeneous; /* [const] bit per type whose devices share models */
    const struct orr_sim_ops *sim; /* [const] NULL on the real machine */
    struct orr_costs_table *costs;
    struct orr_tags *tags;
    struct orr_agains *agains;
    struct orr_observers observers; /* who is told what happens */
    struct orr_trace *trace;               /* NULL: off */
    struct orr_application application;    /* what `follows` needs */
    /* [const] The trace shows what the application does, and how long workers allocate. */
    bool follows;
    bool listens; /* [const] its calls are recorded, or, real, timed for that */
    struct orr_iterations iterations;      /* that the program is in */
    struct orr_tally *tally;               /* NULL: no report was asked for */
    struct orr_tool *tool;                 /* [const] a profiler's, or NULL */
    _Atomic(struct orr_recording *) bound; /* owned; NULL: none asked for */
    _Atomic(struct orr_graph_record *) graph; /* likewise */
    struct orr_calls *calls; /* [const] the application's, or NULL: calls.h */
    struct orr_slab *jobs[4]; /* for 1, 2, 3, 4 accesses; more: malloc */
    struct orr_slab *edges, *tasks, *requests;
    /* Of handles, by their size in steps: core/data/handle.c. NULL: there was none of
     * that size. */
    bool pools_handles; /* [const] they come from there */
    _Atomic(struct orr_slab *) handle_slabs[ORR_HANDLE_SLABS];
    /* [const] saves what there is and ends the process, core/ends.h */
    void (*fail)(struct orr_runtime *rt);
    struct orr_lock lock;                   /* rank ORR_RANK_RUNTIME */
    struct orr_list handles;                /* [lock] */
    struct orr_list dead;                   /* [lock] handles to be freed */
    atomic_uint ndead;                      /* length of that list */
    struct orr_lock plans_lock;             /* rank ORR_RANK_PLANS */
    atomic_uint nplans;                     /* planned partitions there are */
    struct orr_lock nests_lock; /* rank ORR_RANK_NESTS */
    atomic_bool has_nests;      /* tasks have submitted others */
    atomic_bool suspends;       /* tasks have waited */
    atomic_bool requires_claims; /* some handle does, or did */
    /* Tasks of each scheduling context: core/task/count.h. */
    struct orr_counts counts[STARPU_NMAX_SCHED_CTXS];
    unsigned ncounters; /* [const] for each of them */
    atomic_int paused; /* starpu_pause calls minus resumes */
    atomic_int nheld_back; /* scheduling contexts that keep their tasks … */
    void (*let_go)(struct orr_runtime *rt); /* … until this is called */
    atomic_bool drivers_end; /* who drives workers is to stop */
    /* Figures for the report (core/observe/report.c). */
    _Atomic double first_submit; /* µs, < 0: none yet */
    atomic_ullong nevictions;
    bool break_awaited; /* simulated: the date of ORRERY_BREAK_AT is to come */
    unsigned long livelock_at; /* simulated: tasks that had ended, + 1, when a
                                * livelock was told last, or 0 */
    atomic_ullong nreturns, returned_bytes; /* of what had left and came back:
                                             * core/data/traffic.h */
    struct orr_returned_list *returned; /* [lock] of data that ended; owned,
                                         * NULL: none */
    atomic_uint nreduced;               /* handles with partials: reduction.h */
    bool said_large;                    /* [main] of a hint that has no effect */
    unsigned nhandles, most_handles;    /* [lock] registered, and at most */
    bool counts_hits;                   /* [const] data that tasks find there */
    double joules;          /* [lock] used so far, core/worker/energy.h */
    double opened_at;       /* [const] µs, when workers began */
    double wall_start;      /* s, real time */
    struct orr_hooks hooks; /* that workers call */
    atomic_bool profiling;  /* starpu_profiling_status_set */
    atomic_int limit_max, limit_min; /* of submitted tasks, < 0: none */
    bool counts_codelets;            /* [const] tasks per codelet and worker */
    bool breaks;                     /* [const] some task_break_on is set */
    bool disables_kernels;           /* [const] codelets' functions are not called */
    int break_on[ORR_NBREAKS];       /* [const] jobs that raise SIGTRAP, or -1 */
    struct orr_watchdog_tasks *watchdog; /* [main] or NULL */
    struct orr_progress *progress;       /* likewise */
    struct orr_perf *perf;               /* [const] counters */
    struct orr_omp *omp; /* [main] of core/omp, NULL: not started */
    _Atomic(struct orr_direct *) direct; /* owned, NULL: no job goes past the
                                          * policy: core/sched/direct.h */
    struct orr_knobs {
        atomic_uint ndisabled; /* workers that get no more tasks, and nodes that
                                * jobs avoid */
        atomic_uint begun, over; /* changes of that, and of contexts' workers */
        atomic_bool capped;    /* priorities are within … */
        atomic_int least, most;
    } knobs; /* starpu_perf_knob_* */
    /* f(data, task, µs) when a task starts that is all that `task` waits for. */
    _Atomic(orr_ready_soon_func_t) ready_soon;
    _Atomic(void *) ready_soon_data; /* published by it */
    bool count_write_back;   /* [const] transfer estimates include it */
    int minimum_available, target_available; /* [const] per cent: data/tidy.c, */
    int minimum_clean, target_clean;         /* [const] likewise */
    bool tidies;             /* [const] one of the minima is set */
    bool skips_kernels;      /* [const] simulated, kernels only take time */
    bool warned_unreal;      /* [main] */
    atomic_bool recommended; /* a better policy than that of some context */
    atomic_bool writes_through; /* starpu_data_set_wt_mask was called */
    atomic_bool drops; /* orr_wait_at_end need not wait for what is left */
    bool said_full;             /* [last context awake] who holds memory … */
    bool said_stall; /* … what tasks wait for, of which none goes on */
    struct {
        atomic_ulong left;  /* tasks, when one was moved last */
        unsigned nmoves;    /* since one has ended */
        unsigned long long job; /* which was helped last, and where: … */
        unsigned node;          /* … a memory node */
        bool said;
        atomic_bool holds;  /* one was moved, and none was seen to have ended since */
    } relief; /* [last context awake] core/data/relieve.c */
    bool default_sequential;    /* [main] new handles keep sequential order */
    /* What is written with every task is in lines of the cache where nothing is
     * that others read. */
    char pad_asleep[64];
    /* A bit per worker that is parked, or about to be, for want of a task:
     * core/asleep.h. */
    _Atomic uint64_t asleep[ORR_WORKER_WORDS];
    char pad_job[64];
    atomic_ullong last_job; /* by who submits */
    char pad_push[64];
    atomic_ullong last_push; /* by who makes tasks ready */
    char pad_rest[64];
    atomic_ullong last_copy, last_handle, last_claim;
};

/* One scheduling context more (or less, -1) keeps tasks until `let_go` is called,
 * which whoever is going to wait does. */
void orr_runtime_hold_back(struct orr_runtime *rt, int change,
                           void (*let_go)(struct orr_runtime *rt));

/* The caller is going to wait. No lock held. */
static inline void orr_runtime_let_go(struct orr_runtime *rt)
{
    if (atomic_load_explicit(&rt->nheld_back, memory_order_acquire) > 0)
        rt->let_go(rt);
}

/* The runtime of the calling context, NULL outside init … shutdown. A foreign
 * thread is adopted; if it cannot be (simulation), prints an error that names
 * `call` and returns NULL. */
struct orr_runtime *orr_runtime_current(const char *call);

/* As above, but a call without runtime prints an error and aborts. */
struct orr_runtime *orr_runtime_need(const char *call)
    __attribute__((returns_nonnull));

/* Threads that the application made itself belong to this run from now on;
 * NULL: to none. */
void orr_runtime_adopt_threads(struct orr_runtime *rt);

/* That run, NULL: none. */
struct orr_runtime *orr_runtime_adopted(void);

/* Ends the process with status 1 after what the run has recorded was saved.
 * The caller has said why. Any context. */
_Noreturn void orr_runtime_fail(struct orr_runtime *rt);

/* Whether the calling context may block, as a kernel may whose worker goes on
 * with others meanwhile; if not, prints an error that names `call`, and the caller
 * returns -EDEADLK. It waits by orr_await, or orr_wait. */
bool orr_may_block(const char *call);

/* The same of calls that no task may make, since they end what it runs in. */
bool orr_is_outside(const char *call);

/* Raises SIGTRAP if that was asked for of this job. */
void orr_runtime_break(struct orr_runtime *rt, enum orr_break where,
                       unsigned long long job);

/* Whether some worker gets no more tasks, or none of some. */
static inline bool orr_some_disabled(const struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->knobs.ndisabled, memory_order_relaxed) > 0;
}

/* Calls a function of the application that must not block, on behalf of the
 * job: starpu_task_get_current() is its task there. */
static inline void orr_call_user(struct orr_job *job, void (*callback)(void *),
                                 void *arg)
{
    struct orr_context *self = orr_self;
    struct orr_job *outer = self->job;

    self->job = job;
    self->frozen++;
    callback(arg);
    self->frozen--;
    self->job = outer;
}

/* Virtual time that the calling context owes for what it just did. */
static inline void orr_charge(double us)
{
    orr_self->debt += us;
}

/* Pays the calling context's debts in virtual time, unless user code is on
 * its stack. Blocks. */
static inline void orr_pay(void)
{
    struct orr_context *self = orr_self;
    double debt = self->debt;

    if (debt <= 0 || self->frozen)
        return;
    self->debt = 0;
    self->exec->ops->sleep(self->exec, debt);
}

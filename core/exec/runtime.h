/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/runtime.h - one run from starpu_init to starpu_shutdown. All writable
 * state hangs off it. Contexts lead here; a thread that the application made
 * itself is adopted by the one real runtime of the process.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/config.h"
#include "core/base/exec.h"
#include "core/base/lock.h"
#include "core/device/machine.h"
#include "core/exec/tell.h"

struct orr_data;
struct orr_estimates;
struct orr_job;
struct orr_nodes;
struct orr_omp;
struct orr_remote_ops;
struct orr_sched_ctxs;
struct orr_sim_ops;
struct orr_slabs;
struct orr_tasks;
struct orr_views;
struct orr_workers;

/* The members are there from before the machine is opened until the run is closed
 * (runtime_members.h). Their headers say what is in them. */
struct orr_runtime {
    struct orr_config config;          /* [const] */
    struct orr_machine *machine;       /* [const] */
    struct orr_exec *exec;             /* [const] the machine's */
    const struct orr_sim_ops *sim;     /* [const] NULL on the real machine */
    struct orr_context *main;          /* [const] */
    _Atomic(struct orr_runtime *) also; /* core/ends.c: another run that ends with it, or
                                         * NULL */
    struct orr_workers *workers;       /* core/worker/workers.h */
    struct orr_nodes *nodes;           /* core/data/nodes.h */
    struct orr_data *data;             /* core/data/registry.h */
    struct orr_sched_ctxs *sched_ctxs; /* core/sched/ctxs.h */
    struct orr_tasks *tasks;           /* core/job/tasks.h */
    struct orr_slabs *slabs;           /* core/slab_set.h */
    struct orr_estimates *estimates;   /* core/cost/estimates.h */
    struct orr_views *views;           /* core/observe/views.h */
    struct orr_observers observers;    /* who is told what happens */
    struct orr_omp *omp;               /* [main] of core/omp, NULL: not started */
    /* [const] saves what there is and ends the process, core/ends.h; `how` that is in
     * the report, NULL: as for any mistake */
    void (*fail)(struct orr_runtime *rt, const char *how);
    struct orr_lock lock;              /* rank ORR_RANK_RUNTIME */
    atomic_int nheld_back; /* scheduling contexts that keep their tasks … */
    void (*let_go)(struct orr_runtime *rt); /* … until this is called */
    const struct orr_remote_ops *remote; /* of the layer above that has registered:
                                          * core/remote.h; NULL: none */
    atomic_int rank; /* of the run among others that are one program together, -1: it is
                      * alone; orr_runtime_set_rank */
    unsigned nranks; /* how many these are, 0: it is alone */
    atomic_bool one_of_several; /* the ranks are processes, which have one environment:
                                 * files that it names get the rank in their names */
};

/* The run is number `rank` of `nranks` from now on; messages say so. Once, before there
 * is anything to tell of it to others: observers and other contexts may look. Errors:
 * -EINVAL, no such rank; -EALREADY, it has another one. */
int orr_runtime_set_rank(struct orr_runtime *rt, int rank, unsigned nranks);

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
struct orr_runtime *orr_runtime_adopt_or_end(const char *call)
    __attribute__((returns_nonnull));
static inline struct orr_runtime *orr_runtime_need(const char *call)
{
    return orr_self && orr_self->runtime ? orr_self->runtime
                                         : orr_runtime_adopt_or_end(call);
}

/* The run that threads belong to which the application made itself; NULL: none. */
struct orr_runtime *orr_runtime_adopted(void);

/* As orr_runtime_need, but NULL where no run is open. */
static inline struct orr_runtime *orr_runtime_if_open(const char *call)
{
    if (orr_self && orr_self->runtime)
        return orr_self->runtime;
    return orr_runtime_adopted() ? orr_runtime_adopt_or_end(call) : NULL;
}

/* Threads that the application made itself belong to this run from now on, unless they
 * do to another one; they belong to it no more. */
void orr_runtime_adopt_threads(struct orr_runtime *rt);
void orr_runtime_forget_threads(struct orr_runtime *rt);

/* Ends the process with status 1 after what the run has recorded was saved.
 * The caller has said why. Any context. */
_Noreturn void orr_runtime_fail(struct orr_runtime *rt);

/* The same of a simulation that lacks something; the report has the word for that. In a
 * context of the run. */
_Noreturn void orr_runtime_fail_for(struct orr_runtime *rt, const char *how);

/* Whether the calling context may block, as a kernel may whose worker goes on
 * with others meanwhile; if not, prints an error that names `call`, and the caller
 * returns -EDEADLK. It waits by orr_await, or orr_wait. */
bool orr_may_block(const char *call);

/* The same of calls that no task may make, since they end what it runs in. */
bool orr_is_outside(const char *call);

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
    self->exec->ops->work(self->exec, debt);
}

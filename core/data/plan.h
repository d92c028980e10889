/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan.h - planned partitions: data that are used as a whole and in parts, in
 * turns, without a wait in between. A thread that submits a use of the whole, while the
 * parts are used, or the other way round, submits a switch before it: a job that has a
 * turn in the orders of both (plan.c).
 *
 *            partition              upgrade, another's write
 *   whole ------------> parts read <------------------------> parts written
 *     ^                     |            downgrade                  |
 *     +---------------------+---------------------------------------+
 *                            unpartition
 *
 * While parts are only read, the whole can be read, too, and several plans may be
 * in that state. All that is said here is about what has been submitted, not about
 * what has run. Tasks that write the whole have sequences of their own for what they
 * submit: plan_inner.c.
 */
#pragma once

#include "core/base/list.h"
#include "core/data/handle.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"

struct orr_nest;
struct orr_scope;

enum orr_plan_state {
    ORR_PLAN_IDLE,  /* the whole is used */
    ORR_PLAN_READ,  /* it and the parts are read */
    ORR_PLAN_WRITE, /* the parts are used */
};

/* One way to cut a handle. Its children lie in the memory that the whole has in
 * its base. */
struct orr_plan {
    struct orr_list link;         /* [plans lock] in the family of the whole */
    struct orr_handle *whole;     /* [const] */
    struct orr_handle **children; /* [const] owned array */
    unsigned n;                   /* [const] */
    enum orr_plan_state state; /* [plans lock] outside of tasks that write the
                                   * whole: plan_inner.c */
    struct orr_list inner;     /* [plans lock] how it is used inside of them */
};

/* Cuts the handle without waiting for tasks. children[] gets the parts, as many as the
 * filter says; they are the plan's. Errors, with a message: -EINVAL, -ENOMEM. */
int orr_plan_new(struct orr_runtime *rt, struct orr_handle *handle,
                 struct starpu_data_filter *filter,
                 starpu_data_handle_t *children);

/* Frees the plan that the children are of: they are unregistered when the tasks
 * that use them are done. Does not block. */
void orr_plan_clean(struct orr_runtime *rt, struct orr_plan *plan);

/* What the application asks for explicitly. */
enum orr_switch {
    ORR_SWITCH_TO_PARTS,    /* from the whole to parts that are written */
    ORR_SWITCH_TO_READERS,  /* … that are read, beside the whole */
    ORR_SWITCH_TO_WHOLE,    /* back from parts that are written */
    ORR_SWITCH_END_READERS, /* … that are read */
    ORR_SWITCH_UPGRADE,     /* parts that are read will be written */
    ORR_SWITCH_DOWNGRADE,   /* parts that are written will be read */
    ORR_NSWITCHES,
};

struct orr_switch_options {
    bool unordered;           /* takes no place in the order of the whole, which
                               * keeps its value */
    void (*callback)(void *); /* when the switch is done; NULL: none */
    void *arg;
};

/* Submits a switch of a plan that is in the state for it; parts of parts are
 * joined before. Does not block. */
void orr_plan_switch(struct orr_runtime *rt, struct orr_plan *plan,
                     enum orr_switch what,
                     const struct orr_switch_options *options);

/* The state of a plan, and whether another one of the same whole is used, for what
 * the caller submits next. */
enum orr_plan_state orr_plan_state(struct orr_runtime *rt,
                                   struct orr_plan *plan,
                                   bool *ret_other_is_used);

/* Gives the advice to all parts that are used now. Returns whether parts are used
 * instead of the handle, to which the advice does not apply then. Without memory
 * nothing is done: it is only advice. */
bool orr_plans_advise(struct orr_runtime *rt, struct orr_handle *handle,
                      void (*advise)(struct orr_runtime *rt,
                                     struct orr_handle *part));

/* Whether plans cut the handle. */
bool orr_handle_has_plans(const struct orr_handle *handle);

/* Whether a copy of the handle's value to the node, where it is pinned, writes to
 * memory that is read meanwhile as the handle's whole or as parts of it, which have the
 * same value. That happens while parts are only read. For sanitizers. */
bool orr_plans_repeat(struct orr_handle *handle, unsigned node);

/* --- for submissions --- */

/* Whether some access of the job may need a switch. */
bool orr_job_concerns_plans(const struct orr_job *job);

/* Like orr_job_enter_orders, with all switches that the job needs before it. */
void orr_plans_order(struct orr_runtime *rt, struct orr_job *job,
                     struct orr_access *chain);

/* The same, where some may be needed. */
static inline void orr_job_order(struct orr_runtime *rt, struct orr_job *job,
                                 struct orr_access *chain)
{
    if (atomic_load_explicit(&rt->data->nplans, memory_order_relaxed) &&
        orr_job_concerns_plans(job))
        orr_plans_order(rt, job, chain);
    else
        orr_job_enter_orders(rt, job, chain);
}

/* Submits the switches that a use of the handle would need now, if any; returns
 * whether it did. */
bool orr_plans_prepare(struct orr_runtime *rt, struct orr_handle *handle,
                       uint32_t mode);

/* --- the first value of parts (reduction.h) --- */

/* Whether what is submitted now finds a value in the whole of which the handle is
 * a part. */
bool orr_whole_has_begun(const struct orr_handle *handle);

/* Whether parts have a value follows from the handle from now on. */
void orr_parts_inherit_beginning(struct orr_handle *handle);

/* --- inside of tasks: plan_inner.c, for lend.c --- */

/* Whether parts of what the task has are used inside, or are going to be. Takes no
 * lock but the nests'. */
bool orr_inner_plans_used(struct orr_runtime *rt,
                          const struct orr_scope *scope);

/* The nest's kernel has ended: the parts that it has asked for are not used any more,
 * nor are parts of data that it reads. */
void orr_inner_plans_end(struct orr_runtime *rt, struct orr_nest *nest);

/* After that: what is submitted in the nest from now on is part of the sequence around
 * the task. Returns false if parts are still used. */
bool orr_inner_plans_close(struct orr_runtime *rt, struct orr_nest *nest);

/* Whether the job is a switch; then orr_job_own(job)->scope says in whose sequence. */
bool orr_job_is_switch(const struct orr_job *job);

/* Frees what is left of plans with a handle. */
void orr_family_free(struct orr_handle *handle);

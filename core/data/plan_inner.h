/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_inner.h - planned partitions inside of tasks. A task that writes
 * data may submit others that use parts of them: these come before all that was
 * submitted outside after the task, which may be switches of the same plans. So
 * there is a sequence of turns for each task that has the whole, or something of
 * which that is a part; it begins and ends with the whole. Its switches and uses of
 * parts are ordered in scopes of the task (core/task/nest.h), which lends its data to
 * them while it waits, and it does not end before they have.
 *
 * What a task only reads is used in the sequence around it, parts as well.
 */
#pragma once

#include "core/data/plan.h"
#include "core/task/nest.h"

/* The innermost task around what is submitted in the nest that writes the handle, or
 * something of which it is a part: what it has; NULL: none does. Plans lock. */
struct orr_scope *orr_inner_find(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle)
    ORR_REQUIRES(rt->plans_lock);

/* The state of the plan in that sequence; scope NULL: in the outermost. */
enum orr_plan_state orr_inner_state(const struct orr_scope *scope,
                                    const struct orr_plan *plan);

/* The plan is about to be switched there: its parts have scopes from now on. */
void orr_inner_begin(struct orr_runtime *rt, struct orr_scope *scope,
                     struct orr_plan *plan) ORR_REQUIRES(rt->plans_lock);

/* The switch, and all before it, are in their orders. */
void orr_inner_set(struct orr_runtime *rt, struct orr_scope *scope,
                   struct orr_plan *plan, enum orr_plan_state state)
    ORR_REQUIRES(rt->plans_lock);

/* The task whose scope it is has asked for parts: the whole is not taken back for it
 * until it asks for that, uses the whole or ends. */
void orr_inner_ask(struct orr_scope *scope, struct orr_plan *plan);

/* The plan ends. */
void orr_inner_forget(struct orr_plan *plan);

/* The nest's kernel has ended: what it has asked for is over. */
void orr_inner_plans_finish(struct orr_runtime *rt, struct orr_nest *nest);

/* After that: what is submitted there from now on is part of the
 * sequence around it. Returns false if parts are still used. */
bool orr_inner_plans_close(struct orr_runtime *rt, struct orr_nest *nest);

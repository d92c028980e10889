/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_private.h - shared by plan.c, which submits switches, plan_inner.c,
 * those of tasks that have the whole, and plan_switch.c, what they do when their turn
 * has come.
 */
#pragma once

#include "core/data/plan.h"
#include "core/job/job.h"

/* What becomes of a value that a switch has found. */
enum orr_switch_outcome {
    ORR_STAYS, /* where it is */
    ORR_GOES,  /* is elsewhere from now on */
    ORR_COMES, /* is where the other one was, if there was any */
};

/* How a switch uses the whole, its first access, and the parts, and which state
 * the plan has then. */
struct orr_switch_effect {
    enum starpu_data_access_mode whole, part;
    enum orr_switch_outcome of_whole, of_part;
    enum orr_plan_state then;
};

extern const struct orr_switch_effect orr_switch_effects[ORR_NSWITCHES];

/* The switch, whose accesses are filled in, takes the value back from the parts. Those
 * that nobody has written, where others were, get their first value before it. With
 * the plans lock. */
void orr_parts_hand_back_beginning(const struct orr_plan *plan,
                                   struct orr_job *job);

/* What is written is a value of all wholes and parts of the handle. Plans lock. */
void orr_plans_note_beginning(struct orr_handle *handle);

/* --- memory of wholes that comes and goes: plan_float.c --- */

/* Whether the memory of a whole with that first part, in its base, is not pinned by
 * the plan. */
static inline bool orr_plan_floats(const struct orr_handle *first)
{
    return first->family->floats;
}

/* Finds out where the parts of a new plan are in memory that the whole will have on
 * other nodes, or has on `nodes`, where it is pinned; and whether the whole's memory in
 * its base floats. Parts that do not cover the whole, as far as sizes tell, meet in the
 * base alone. */
void orr_plan_find_places(struct orr_runtime *rt, struct orr_plan *plan,
                          struct starpu_data_filter *filter, uint64_t nodes);

/* Whether a whole with that first part keeps its value, for the bytes that no part has,
 * while parts are written. */
static inline bool orr_plan_has_rests(const struct orr_handle *first)
{
    return first->family->has_rests;
}

/* The part moves into the whole's memory on a node where that is pinned, if it
 * can. Returns what it had there, to be freed. */
struct orr_block *orr_part_place(struct orr_handle *part,
                                 const struct orr_handle *whole, unsigned node);

/* The whole's memory is pinned in its base. The parts of the switch get their places
 * there, or keep memory of their own there, which stays. Returns whether all have
 * memory there; if not, nothing is pinned. */
bool orr_parts_settle(struct orr_runtime *rt, struct orr_job *job);

/* The values of such parts as have memory of their own in the base come from the
 * whole, or go there. Calls `then` when they have: at once if there are none. */
void orr_parts_copy(struct orr_runtime *rt, struct orr_job *job, bool to_whole,
                    void (*then)(struct orr_runtime *, void *job));

/* After orr_parts_settle: asks for their values there, as orr_job_ask. */
void orr_parts_ask(struct orr_runtime *rt, struct orr_job *job);

/* … or lets go of their memory, where nothing was asked for. */
void orr_parts_let_go(struct orr_runtime *rt, struct orr_job *job);

/* --- sequences inside of tasks: plan_inner.c. All with the plans lock. --- */

/* Of the innermost task around the nest that writes the handle, or data of which it is
 * a part: the scope of that; NULL: none does. Plans lock. */
struct orr_scope *orr_inner_find(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle, bool writes);

/* The state of the plan in that sequence; scope NULL: in the outermost. */
enum orr_plan_state orr_inner_state(const struct orr_scope *scope,
                                    const struct orr_plan *plan);

/* The plan is about to be switched there: its parts have scopes from now on. */
void orr_inner_begin(struct orr_runtime *rt, struct orr_scope *scope,
                     struct orr_plan *plan);

/* The switch, and all before it, are in their orders. */
void orr_inner_set(struct orr_runtime *rt, struct orr_scope *scope,
                   struct orr_plan *plan, enum orr_plan_state state);

/* The task of the scope has asked for parts: the whole is not taken back for it until
 * it asks for that, uses the whole or ends. */
void orr_inner_ask(struct orr_scope *scope, struct orr_plan *plan);

/* The plan ends. */
void orr_inner_forget(struct orr_plan *plan);

/* What was asked for in the nest is over. */
void orr_inner_end_asking(struct orr_nest *nest);

/* --- switches --- */

/* Jobs that are such switches; `acquire.node` is the base of the whole. */
extern const struct orr_job_type orr_switch_types[ORR_NSWITCHES];

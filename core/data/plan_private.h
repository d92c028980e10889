/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_private.h - shared by plan.c, which submits switches, and
 * plan_switch.c, what they do when their turn has come.
 */
#pragma once

#include "core/data/plan.h"
#include "core/task/job.h"

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

/* Jobs that are such switches; `acquire.node` is the base of the whole. */
extern const struct orr_job_type orr_switch_types[ORR_NSWITCHES];

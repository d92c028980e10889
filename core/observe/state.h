/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/state.h - what a simulated run does at a date (ORRERY_BREAK_AT): a list on
 * standard error, then a debugger, if there is one. Changes nothing.
 */
#pragma once

#include "core/base/error.h"

struct orr_runtime;

/* Arms the break that the variable asks for. After the machine was opened. Errors, with
 * a message: -EINVAL. */
int orr_state_arm(struct orr_runtime *rt, struct orr_error *err);

/* The run ends: says so if the date did not come. */
void orr_state_end(struct orr_runtime *rt);

/* Prints what each worker does and what each task that has not started waits for; long
 * lists are cut. No context may go on meanwhile. */
void orr_state_print(struct orr_runtime *rt);

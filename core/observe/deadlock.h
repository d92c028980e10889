/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/deadlock.h - which context or task waits for which when a
 * run stands still. */
#pragma once

#include "core/base/exec.h"

struct orr_runtime;

/* Prints, as errors, what each context waits for and which tasks wait for
 * which; the roots (a task never submitted, data never released) come first,
 * and long lists are cut. Changes nothing. */
void orr_deadlock_explain(struct orr_runtime *rt);

/* The same for tasks that are left when the run is stopped, as warnings: they will
 * never run. */
void orr_deadlock_explain_left(struct orr_runtime *rt);

/* On the real machine, of a runtime whose contexts all wait (orr_exec.all_parked): lets
 * a task that waits for memory go elsewhere if one can; else says at once if a job
 * waits for memory, a task inside of its kernel, or main for data that are acquired: no
 * context is left to change that, but perhaps threads of the application that have
 * called nothing yet; if there are none, the run fails. Otherwise, and where the
 * program itself holds the end of a task back that has run, when that has been so for
 * ORRERY_STALL_TIMEOUT, or at once if nobody can change it, it says what the tasks and
 * main wait for, once; the run goes on.
 */
double orr_deadlock_all_parked(void *arg, enum orr_parked who, double since);

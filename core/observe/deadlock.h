/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/deadlock.h - which context or task waits for which when a
 * run stands still. */
#pragma once

#include <stdbool.h>

struct orr_runtime;

/* Prints, as errors, what each context waits for and which tasks wait for
 * which; the roots (a task never submitted, data never released) come first,
 * and long lists are cut. Changes nothing. */
void orr_deadlock_explain(struct orr_runtime *rt);

/* On the real machine, of a runtime whose contexts all wait (orr_exec.all_parked): if
 * a job waits for memory, a task inside of its kernel, or main for data that are
 * acquired, that is printed: nobody is left to change that, but maybe threads of the
 * application that have called nothing yet; if there are none, `certain`, the run
 * fails. */
void orr_deadlock_all_parked(void *arg, bool certain);

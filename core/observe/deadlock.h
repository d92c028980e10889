/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/deadlock.h - which context or task waits for which when a
 * run stands still. */
#pragma once

struct orr_runtime;

/* Prints, as errors, what each context waits for and which tasks wait for
 * which; the roots (a task never submitted, data never released) come first,
 * and long lists are cut. Changes nothing. */
void orr_deadlock_explain(struct orr_runtime *rt);

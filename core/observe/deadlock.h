/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/deadlock.h - who waits for whom when a simulation stands still. */
#pragma once

struct orr_runtime;

/* Prints, as errors, what each context waits for and which tasks wait for
 * which; what nobody keeps waiting (a task never submitted, data never
 * released) comes first, and long lists are cut. Changes nothing. */
void orr_deadlock_explain(struct orr_runtime *rt);

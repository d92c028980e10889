/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/state.h - what a page asks for, as JSON (docs/WATCH.md): how far the runs
 * are, lists of tasks, the graph around one. Texts are owned by the caller; NULL without
 * memory. One thread.
 */
#pragma once

#include "tools/watch/source.h"

/* `exit` is the program's exit code, -1: it has not ended. `phase`: "waiting" (no run yet), "running", "ended" (a report
 * is made), "reported", "over" (without one). */
char *state_text(struct source *source, const char *phase, const char *program, int exit);

/* The tasks in a state: "run=0&state=ready&find=gemm&max=100"; `find` is in the name of the
 * kernel or in the line, or the number. How many there are, and the oldest of them, or of those
 * that have ended the newest. */
char *state_tasks(struct source *source, const char *query);

/* The graph: "run=0&task=12&depth=3&max=300"; all of it if it is no larger, else what is
 * within so many steps of the task, or, without one, of the last that runs. */
char *state_graph(struct source *source, const char *query);

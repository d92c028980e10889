/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_ranks.h - a program of several ranks, run once. One thread. */
#pragma once

#include "tools/common/launch.h"

/* How many ranks there are to be, by the text of option -n (NULL: 1), in *ret; 1: no
 * launcher is needed. Refuses several on a simulated machine. `command` is for messages.
 * Returns an exit code, TOOL_OK or TOOL_USAGE. */
int run_ranks_choose(const char *command, const char *machine, const char *text,
                     unsigned *ret);

/* Runs n ranks of the program, which is the launch's, and prints a table of what each did
 * and a matrix of what they sent, or their reports as JSON. Returns the exit code: the
 * launcher's, which is the program's own; the launch is for launch_done. */
int run_ranks(struct launch *launch, const char *command, unsigned n, bool json);

/* The same of a record of n ranks, which one process plays. */
int run_recorded_ranks(struct launch *launch, const char *command, unsigned n, bool json);

/* run_ranks, printing nothing of what they did; TOOL_OK only if all have left a report. */
int run_ranks_silently(struct launch *launch, const char *command, unsigned n);

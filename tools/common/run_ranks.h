/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_ranks.h - a program of several ranks, run once. One thread. */
#pragma once

#include "tools/common/launch.h"

/* How many ranks there are to be, in launch->nranks; 0: one process that is none. By the text
 * of option -n (NULL: not given) as processes, for real; else as many as the cluster has that
 * is the launch's machine, or as the record has ranks that is its program. `command` is for
 * messages. Returns an exit code. */
int run_ranks_choose(struct launch *launch, const char *command, const char *text);

/* Runs the ranks of the launch, by its MPI's launcher or in one process, and prints what they
 * did together, a table of what each did and a matrix of what they sent, or their reports as
 * JSON. Returns the exit code: the launcher's, which is the program's own; the launch is for
 * launch_done. */
int run_ranks(struct launch *launch, const char *command, bool json);

/* run_ranks, printing nothing of what they did; TOOL_OK only if all have left a report. */
int run_ranks_silently(struct launch *launch, const char *command);

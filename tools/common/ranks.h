/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/ranks.h - a program of several processes, ranks of MPI, on this machine: by
 * which launcher it starts, and which of the processors each rank gets. One thread.
 */
#pragma once

#include <stddef.h>

struct ranks {
    unsigned n;
    char **argv;         /* owned: the launcher, its options, the program */
    const char *more[4]; /* for struct launch: settings of the ranks, or NULL at once */
};

/* The command line for n ranks of the program, whose MPI is the one that it is linked to.
 * Each has as many cores, as its own; where there are more ranks than cores, one worker
 * each that is bound to none. `command` is for messages. To be ended with ranks_done.
 * Errors, after a message: -1. */
int ranks_init(struct ranks *ranks, const char *command, char *const *argv, unsigned n);

/* The settings of a launch (NULL-terminated, or NULL) and behind them those of the ranks, in
 * ret, which has room for LAUNCH_MORE of them and a NULL; all stay their owners'. */
void ranks_settings(const char *const *more, const struct ranks *ranks, const char **ret);

void ranks_done(struct ranks *ranks);

struct launch;

/* Runs the program on this machine as n ranks, 0: as one process. Returns as launch_all, of that
 * launch alone. */
int ranks_launch(struct launch *launch, const char *command, unsigned n);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/record/record.h - what the files of `orrery record` share. One thread. */
#pragma once

#include <stdbool.h>

#include "tools/common/launch.h"

/* Prints what is in a record, as JSON if wanted, and what it lacks; false with a
 * message if it cannot be read. */
bool record_tell(const char *path, bool json);

/* What `orrery record --ranks` is asked for. */
struct ranks_asked {
    const char *path; /* a folder, or the file that each rank's is named by */
    unsigned n;
    int one;       /* this rank alone; -1: all */
    unsigned jobs; /* at a time */
    bool json;
};

/* Records them by `launch`, which has program, machine and the like; returns the exit code. */
int record_ranks(struct launch *launch, const struct ranks_asked *asked);

/* `orrery record import`; returns the exit code. */
int record_import(int argc, char **argv);

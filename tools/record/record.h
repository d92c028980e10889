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
    bool lines;    /* with where tasks are submitted */
    bool json;
};

/* Records them by `launch`, which has program, machine and the like; returns the exit code. */
int record_ranks(struct launch *launch, const struct ranks_asked *asked);

/* Where an OpenMP program that is recorded leaves what it does: beside the record. To be freed;
 * NULL, with a message, without memory. */
char *record_openmp_log(const char *path);

/* Makes the record of what processes have left there, by that grain (import/options.h; below
 * 0: any, 0: the usual one), and removes that. Returns 1; 0: there is nothing; -1 with a
 * message. Without `record` it is only removed. */
int record_openmp(const char *log, const char *record, double grain_us, bool times);

/* `orrery record import`; returns the exit code. */
int record_import(int argc, char **argv);

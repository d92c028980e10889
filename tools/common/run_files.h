/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/run_files.h - a temporary folder in which a run leaves its trace in
 * CSV and the graph of its tasks for a command. One thread.
 */
#pragma once

#include <stdbool.h>

struct run_files {
    char *folder, *trace, *graph; /* owned */
    char *setting;                /* owned: ORRERY_GRAPH=… */
    const char *more[3];          /* for struct launch: that setting, and lines of the source */
    char **traces; /* owned: of each of several ranks, its graph beside it; else NULL */
    unsigned nranks;
};

/* Makes the folder. A message and false; in both cases the caller ends it with run_files_done. */
bool run_files_init(struct run_files *files);

/* The run is one of n ranks, each of which leaves both. A message and false: no memory. */
bool run_files_of_ranks(struct run_files *files, unsigned n);

/* Removes folder and files. */
void run_files_done(struct run_files *files);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/rank_traces.h - the traces in CSV of all ranks of one run, read on one
 * clock, that of rank 0. One thread.
 */
#pragma once

#include <stdbool.h>

#include "tools/common/trace_csv.h"

struct rank_traces {
    struct trace *of; /* owned: by rank; times are ms since rank 0's runtime was started */
    const char **paths; /* owned, the paths are borrowed: by rank */
    unsigned n;
    const char *const *labels; /* of their workers, borrowed; NULL: "rank 0:" and so on */
};

/* Whether there are several files, which are traces of different ranks of as many: then
 * rank_traces_read says what else is wrong with them. */
bool rank_traces_are(char *const *paths, unsigned npaths);

/* Reads them, in any order; the paths stay. The caller ends *ret with rank_traces_done, also after an
 * error. Errors, with a message: as trace_csv_read; -EINVAL, one is missing. */
int rank_traces_read(char *const *paths, unsigned npaths, struct rank_traces *ret,
                     struct orr_error *err);

/* What numbers of jobs of that rank get more where all are the trace of one process. */
uint64_t rank_traces_jobs_before(const struct rank_traces *traces, unsigned rank);

/* All as the trace of one process: workers have the labels, or the names of their ranks, before
 * their own; memory nodes, jobs and data get numbers of their own. Messages are
 * left out. Errors: -ENOMEM. The caller ends *ret with trace_csv_done. */
int rank_traces_join(const struct rank_traces *traces, struct trace *ret);

void rank_traces_done(struct rank_traces *traces);

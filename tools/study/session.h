/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/session.h - the results of a study: those that are kept, and runs of what is
 * missing. One thread, several children.
 */
#pragma once

#include "tools/common/energy.h"
#include "tools/study/key.h"
#include "tools/study/store.h"
#include "tools/study/study.h"

/* The command line. Borrowed; NULL: not given. */
struct study_options {
    const char *store;                /* the folder that keeps results */
    const char *csv, *json, *parquet; /* files for the table, "-" standard output */
    const char *plot;
    unsigned jobs;
    unsigned part, parts; /* from 1; 0: all */
    bool no_run;          /* what is missing stays so */
    bool by_workload;     /* print the tests of each */
};

struct study_session {
    const struct study *study;           /* borrowed */
    const struct study_options *options; /* borrowed */
    struct study_keys keys;
    struct costs costs;
    struct powers **powers;       /* owned: by machine and edit; NULL: none are known of it */
    struct study_store *store;    /* owned */
    struct study_result *results; /* owned: of each run */
    size_t nkept, nrun;           /* that were there; that this command has run */
};

/* Takes what is kept. Says what is wrong; returns an exit code. *ret is for session_done in any
 * case. */
int session_init(struct study_session *ret, const struct study *study,
                 const struct study_options *options);
void session_done(struct study_session *session);

/* Runs what is missing, of this part. Returns as launch_all. */
int session_run(struct study_session *session);

/* Runs without a result, and those that failed. */
size_t session_nmissing(const struct study_session *session);
size_t session_nfailed(const struct study_session *session);

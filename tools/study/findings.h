/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/findings.h - what the results of a study allow to conclude about its policies, and
 * what they do not. docs/STUDY.md says which statistics these are. No state.
 */
#pragma once

#include <jansson.h>

#include "tools/common/inference.h"
#include "tools/common/statistics.h"
#include "tools/study/session.h"

/* Workloads with fewer have no ranks: the distribution of the statistic is that of many. */
#define FINDINGS_LEAST_WORKLOADS 5

#define FINDINGS_NFACTORS 6
extern const double findings_factors[FINDINGS_NFACTORS]; /* of profiles: 1, 1.01, 1.05 … */

struct policy_finding {
    size_t nwhole;   /* workloads of which all repetitions went well */
    double to_best;  /* geometric mean of its medians over those of the best; NaN: not all whole */
    double worst;    /* the greatest of these */
    double energy;   /* the same geometric mean of joules; NaN: not all are known */
    double rank;     /* mean; NaN: it has none */
    size_t nfirst;   /* workloads in which it has the least median */
    double within[FINDINGS_NFACTORS];
    size_t nslower, nfaster; /* workloads in which it is so than the reference, by the tests */
};

struct study_findings {
    const struct study_session *session; /* borrowed */
    size_t *workloads; /* owned: those that any policy went through, by their numbers in the study … */
    size_t n;          /* … and how many these are: what is counted below is of them alone */
    struct spread *spreads; /* owned: of workload by workload, policy by policy */
    double *medians;        /* owned: the same; NaN: not all repetitions went well */
    double *energies;       /* owned: medians of joules */
    struct policy_finding *policies; /* owned */
    size_t *order;       /* owned: policies, the best geometric mean first */
    size_t reference;    /* the policy that others are tested against */
    struct paired *pairs; /* owned, as medians: each against the reference, chances corrected */
    size_t ntests;       /* for which they are corrected */
    char *no_tests;      /* owned: why there are none; NULL: there are */
    struct friedman friedman;
    double difference; /* by which mean ranks have to differ */
    size_t nranked;    /* policies with ranks */
    char *no_ranks;    /* owned: why there are none; NULL: there are */
};

/* Errors: a message and an exit code. *ret is for findings_done in any case. */
int findings_make(struct study_findings *ret, const struct study_session *session);
void findings_done(struct study_findings *findings);

/* Whether a pair is told apart from the reference: 1 slower, -1 faster, 0 not. */
int findings_verdict(const struct study_findings *findings, const struct paired *pair);

/* Prints tables and sentences; an exit code. */
int findings_print(const struct study_findings *findings);

/* A new reference. */
json_t *findings_json(const struct study_findings *findings);

/* Draws performance profiles; an exit code. */
int findings_draw(const struct study_findings *findings, const char *path);

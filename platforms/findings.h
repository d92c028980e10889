/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/findings.h - the findings of a check of a machine's bus parameters
 * or models: severity, place, text and remedy. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum orr_severity {
    ORR_SEVERITY_NOTE,    /* good to know; nothing need be done */
    ORR_SEVERITY_WARNING, /* predictions are less exact than they could be */
    ORR_SEVERITY_ERROR,   /* predictions cannot be trusted */
};

/* Where it was found, if it is about a model. All borrowed; NULL: does not
 * apply. */
struct orr_finding_place {
    const char *kernel;   /* symbol of the model, or name of a file */
    const char *arch;     /* "cuda0_impl0" */
    const uint32_t *hash; /* footprint of the row */
};

struct orr_finding {
    enum orr_severity severity;
    const char *fault; /* a code for programs: "spikes"; static */
    char *kernel;      /* these as in the place; owned */
    char *arch;
    bool has_hash;
    uint32_t hash;
    char *text;   /* what is wrong, no final full stop; owned */
    char *remedy; /* what to do or to measure next; owned */
};

/* A list that remembers that memory ran out, so that a check need not test
 * after each finding. */
struct orr_findings {
    struct orr_finding *items; /* owned */
    size_t n;
    bool failed; /* a finding was lost: the list is incomplete */
};

/* Adds a finding; its text is made from `format`, the others are copied.
 * `fault` is a literal; `place` may be NULL. */
void orr_findings_add(struct orr_findings *findings, enum orr_severity severity,
                      const char *fault, const struct orr_finding_place *place,
                      const char *remedy, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The worst first, then in the order of kernels and architectures; or else as
 * they were added. */
void orr_findings_sort(struct orr_findings *findings);
void orr_findings_worst_first(struct orr_findings *findings);

size_t orr_findings_count(const struct orr_findings *findings,
                          enum orr_severity severity);

/* Frees all, also of a list that failed; it is empty then. */
void orr_findings_done(struct orr_findings *findings);

/* "error", "warning", "note". */
const char *orr_severity_name(enum orr_severity severity);

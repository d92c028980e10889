/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/findings.h - what a judge found wrong: how bad it is, where, what it is
 * in words and what to do about it. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum severity {
    SEVERITY_NOTE,    /* worth knowing */
    SEVERITY_WARNING, /* a simulation is less exact than it could be */
    SEVERITY_ERROR,   /* a simulation cannot be trusted */
};

/* Where it was found. All borrowed; NULL: does not apply. */
struct finding_place {
    const char *kernel;   /* symbol of the model, or name of a file */
    const char *arch;     /* "cuda0_impl0" */
    const uint32_t *hash; /* footprint of the row */
};

struct finding {
    enum severity severity;
    const char *fault; /* one word for programs: "spikes"; static */
    char *kernel;      /* these as in the place; owned */
    char *arch;
    bool has_hash;
    uint32_t hash;
    char *text;   /* what is wrong, no final full stop; owned */
    char *remedy; /* what to do or to measure next; owned */
};

/* A list that remembers that memory ran out, so that a judge need not look
 * after each finding. */
struct findings {
    struct finding *items; /* owned */
    size_t n, slots;
    bool failed; /* a finding was lost: the list must not be believed */
};

/* Adds a finding; its text is made from `format`. `fault` is a literal. */
void findings_add(struct findings *findings, enum severity severity,
                  const char *fault, const struct finding_place *place,
                  const char *remedy, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The worst first, then in the order of kernels and architectures. */
void findings_sort(struct findings *findings);

size_t findings_count(const struct findings *findings, enum severity severity);

/* Frees all, also of a list that failed. */
void findings_done(struct findings *findings);

/* "error", "warning", "note". */
const char *severity_name(enum severity severity);

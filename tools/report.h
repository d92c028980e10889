/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report.h - what the library says about a run at its end: the JSON file
 * that ORRERY_REPORT names. One thread.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "core/base/error.h"

struct report {
    json_t *json; /* owned; NULL: there is none */
    bool simulated;
    const char *machine, *scheduler, *exit; /* borrowed from json, never NULL */
    const char *provenance, *assumed;       /* the same, or NULL */
    double makespan_us, flops, wall_s;
    json_int_t tasks, transfers, transferred_bytes, evictions;
};

/* Reads the file; *ret is ended with report_done. Errors: -ENOENT there is no
 * such file; -EINVAL with words. */
int report_read(const char *path, struct report *ret, struct orr_error *err);
void report_done(struct report *report);

/* 10^9 flop per second, 0 when the program did not say its flops. */
double report_gflops(const struct report *report);

/* Workers of one kind: those whose names differ in their numbers only. */
struct report_kind {
    char name[32]; /* "CPU", "CUDA" */
    unsigned workers;
    double busy_us;
    json_int_t tasks;
};

/* Fills at most `max` kinds, in order of appearance; returns how many. */
unsigned report_kinds(const struct report *report, struct report_kind *kinds,
                      unsigned max);

/* Prints makespan, speed, tasks, transfers and the use of each kind. */
void report_print(const struct report *report);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/perf_names.h - names and kinds of the performance counters and
 * knobs, for their implementation and for docs/ENVIRONMENT.md. Numbers are
 * those of the public enumerations.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Types, the same for both. */
enum { ORR_PERF_INT32 = 1, ORR_PERF_INT64, ORR_PERF_FLOAT, ORR_PERF_DOUBLE };

struct orr_perf_entry {
    int scope, type;
    int place; /* in its scope, from 0 */
    const char *name, *help;
};

/* All counters, or all knobs: sorted by scope, then by place. */
struct orr_perf_table {
    const char *what;   /* "counter" */
    const char *prefix; /* of functions' names, for messages */
    const struct orr_perf_entry *entries;
    unsigned n;
    struct orr_perf_scope {
        int id;
        const char *name;
    } scopes[3];
};

extern const struct orr_perf_table orr_perf_counters, orr_perf_knobs;

/* -1 or NULL when it is unknown. */
int orr_perf_scope_of(const struct orr_perf_table *table, const char *name);
const char *orr_perf_scope_name(const struct orr_perf_table *table, int scope);
int orr_perf_type_of(const char *name);
const char *orr_perf_type_name(int type);

/* How many entries a scope has. */
int orr_perf_count(const struct orr_perf_table *table, int scope);

/* The public number of an entry, and the entry of a number, NULL without. */
static inline int orr_perf_id(int scope, int place)
{
    return place << 4 | scope;
}
const struct orr_perf_entry *orr_perf_at(const struct orr_perf_table *table,
                                         int id);

/* The number of the scope's entry with that name, -1 without. */
int orr_perf_find(const struct orr_perf_table *table, int scope,
                  const char *name);

/* A line for each entry of the scope: number, name, type, help. */
void orr_perf_list(const struct orr_perf_table *table, int scope, FILE *out);

/* Both tables as Markdown. */
void orr_perf_print(FILE *out);

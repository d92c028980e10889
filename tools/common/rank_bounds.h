/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/rank_bounds.h - what `orrery bound --json` says of a program on a cluster, for
 * other commands. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Milliseconds; NaN: not known. */
struct rank_bounds {
    json_t *json;      /* owned: all of it; NULL: there is none */
    double ms;         /* no run with the program's distribution takes less */
    bool proved;
    double path_ms;    /* of that the longest chain of tasks and messages; … */
    double tasks_ms;   /* … the rank whose tasks take its workers longest; */
    double nics_ms;    /* the node whose NICs have most to carry; */
    double links_ms;   /* the links between parts of the network that have; 0: it has none */
    double anywhere_ms;   /* with each task on any node */
    const char *limit; /* in words; borrowed */
};

/* Takes what the command printed, of several ranks or of one, which sends nothing. False: no
 * bound is known. The caller ends *ret with rank_bounds_done in any case. */
bool rank_bounds_take(const char *text, struct rank_bounds *ret);

/* Starts the command on the graphs that lie beside the traces of n ranks, on that cluster
 * (edits may be NULL), with the bounds that take no time. Errors: -1, after a message where
 * `orrery bound` alone gives none. */
int rank_bounds_of_files(char *const *traces, unsigned n, const char *cluster,
                         const char *edits, struct rank_bounds *ret);

/* What the NICs, or the links between parts of the network, have to carry at least. */
double rank_bounds_carried(const struct rank_bounds *bounds);

/* In plain words, beside the makespan (NaN: not known). */
void rank_bounds_put(const struct rank_bounds *bounds, double makespan_ms, FILE *out);

void rank_bounds_done(struct rank_bounds *bounds);

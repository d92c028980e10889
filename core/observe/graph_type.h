/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_type.h - task types in a recorded graph: tasks of one cost
 * row that the same workers can run, and their times there. Times are copied:
 * codelets and models may be gone when graphs are made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct orr_cost_row;
struct orr_job;
struct orr_runtime;

struct orr_graph_type_record {
    const struct orr_cost_row *row; /* the runtime's */
    char *symbol;                   /* owned */
    double flops;
    uint64_t hash;
    uint32_t footprint, version;
    bool per_task; /* times distinguish tasks of one row */
    uint8_t *able; /* owned, per worker: implementations */
    /* Owned, per worker, µs: INFINITY where it cannot run, NaN unknown. */
    double *best;      /* of the fastest implementation */
    double *deviation; /* of that one's measures */
    double *floor;     /* mean − deviation of implementation 0 */
    uint8_t *origin;   /* enum orr_origin of the best */
};

/* The caller serialises. */
struct orr_graph_types {
    struct orr_graph_type_record **all; /* owned */
    uint32_t *slots;                    /* owned hash table: number + 1 */
    uint32_t n, room;                   /* slots: twice the room */
};

/* Makes the type of a job that is about to be released; the caller's. Calls
 * user functions; no lock held. NULL without memory. */
struct orr_graph_type_record *orr_graph_type_new(struct orr_runtime *rt,
                                                 struct orr_job *job);
void orr_graph_type_free(struct orr_graph_type_record *type);

/* Takes `type`, and returns the number of the equal one that is there, with
 * times as new as those of `type`. ORR_NONE without memory. */
uint32_t orr_graph_types_put(struct orr_graph_types *types, unsigned nworkers,
                             struct orr_graph_type_record *type);
void orr_graph_types_done(struct orr_graph_types *types);

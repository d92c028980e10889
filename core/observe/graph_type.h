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
    const struct orr_cost_row *row; /* the runtime's; NULL: a name is all */
    char *symbol;                   /* owned; NULL: without times yet */
    double flops;
    uint64_t hash;
    uint32_t footprint, version;
    bool per_task;   /* times distinguish tasks of one row */
    bool unmodelled; /* the symbol is not a model's */
    bool awaits;     /* some worker of a device waits for the kernel's end */
    uint8_t *able; /* per worker: implementations; in one block with the record,
                    * as all below */
    uint8_t *awaited; /* per worker: it waits there, whichever implementation it is */
    /* Per worker, µs: INFINITY where it cannot run, NaN unknown. */
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

/* The row of a job's costs if its type is that of all jobs with that row and as many flops;
 * NULL: the task itself, or its codelet, says more. As orr_graph_type_new. */
const struct orr_cost_row *orr_graph_type_row(struct orr_runtime *rt,
                                              struct orr_job *job);

/* Makes the type of a job that is about to be released; owned by the caller. It has no
 * times yet if it may turn out to be equal to a known one. Calls user functions; no
 * lock held. NULL without memory. */
struct orr_graph_type_record *orr_graph_type_new(struct orr_runtime *rt,
                                                 struct orr_job *job);

/* One of which nothing is known but its name, which is copied; the caller's. NULL
 * without memory. */
struct orr_graph_type_record *orr_graph_type_named(unsigned nworkers,
                                                   const char *symbol);

/* Finds the times of a type that has none: false without memory. As above. */
bool orr_graph_type_fill(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_graph_type_record *type);
void orr_graph_type_free(struct orr_graph_type_record *type);

/* The number of the known type that is equal to `type`, which has no times, and whose
 * times are of the same version; UINT32_MAX: there is none. */
uint32_t orr_graph_types_find(const struct orr_graph_types *types,
                              unsigned nworkers,
                              const struct orr_graph_type_record *type);

/* Takes `type`, which has times, and returns the number of an equal type, known or new,
 * with times as new as those of `type`. UINT32_MAX without memory. */
uint32_t orr_graph_types_put(struct orr_graph_types *types, unsigned nworkers,
                             struct orr_graph_type_record *type);
void orr_graph_types_done(struct orr_graph_types *types);

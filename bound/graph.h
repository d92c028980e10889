/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/graph.h - the record of a run, task by task: the machine's workers,
 * memory nodes and links, the task types and how long they take, the tasks,
 * their dependencies and data. Bounds are computed from it, files keep it. A
 * graph is constant once made; its maker serialises.
 *
 * Times are milliseconds, sizes bytes, as everywhere in this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct orr_graph_worker {
    char *name;    /* owned */
    unsigned node; /* memory node it computes in */
    bool blocking; /* it does nothing else while it executes a kernel */
};

struct orr_graph_node {
    char *name;      /* owned */
    double capacity; /* bytes that the run could use; INFINITY: no limit */
};

/* A resource that copies share. A link with separate directions is two
 * links. */
struct orr_graph_link {
    char *name;       /* owned */
    double bandwidth; /* bytes per ms that all copies together get */
};

/* A direct copy from src to dst; it passes links route_links[first_link …
 * first_link + nlinks). */
struct orr_graph_route {
    unsigned src, dst; /* memory nodes */
    unsigned first_link, nlinks;
    double latency_ms;
};

/* Tasks of one codelet and footprint that may run on the same workers. */
struct orr_graph_task_type {
    char *symbol; /* owned: the model's name, else the codelet's */
    uint32_t footprint;
    bool unmodelled; /* it is the codelet's: there is no model */
    double flops;    /* of one task, 0: unknown */
    /* Owned, per worker: the fastest implementation's. INFINITY: the worker
     * cannot run it; NaN: it could, in an unknown time. */
    double *mean_ms;
    double *deviation_ms; /* owned, per worker: of the same one's measures; 0
                           * where there are none */
    uint8_t
        *origin; /* owned, per worker: of the mean, as a number of the graph's
                      * origins, 0 where it is not known; NULL: nowhere */
    uint8_t *awaited; /* owned, per worker that is not blocking: it does nothing else
                       * while it executes this kernel; NULL: of none */
};

struct orr_graph_datum {
    char *name;    /* owned, or NULL */
    double bytes;  /* when it was first used */
    unsigned home; /* node that had the first value */
    bool valued;   /* there was a first value, which no other node had: not made
                    * by the first writer */
};

enum { ORR_GRAPH_READ = 1, ORR_GRAPH_WRITE = 2 };

struct orr_graph_access {
    unsigned datum;
    unsigned mode; /* READ, WRITE or both */
};

/* An edge to a task from one that must end before it starts. */
struct orr_graph_dep {
    unsigned task;  /* the earlier one, as index */
    uint64_t bytes; /* of the data that cause it, summed; 0: none */
    bool tag;       /* declared by tags */
};

#define ORR_GRAPH_NOT_RUN UINT32_MAX

/* Types of nodes among the tasks that are none, and take no time: what only joins others, and
 * a datum's turn for messages. */
#define ORR_GRAPH_JOIN "(join)"
#define ORR_GRAPH_MESSAGE "(message)"

/* What submits a task. */
enum orr_graph_by {
    ORR_GRAPH_BY_THREAD, /* of the application: tasks in the order of the graph */
    ORR_GRAPH_BY_TASK,   /* an earlier task, when it is executed or later */
    ORR_GRAPH_BY_OTHER,  /* anything, at any time */
};

struct orr_graph_task {
    unsigned type;
    uint64_t id;  /* of the job: unique, in order of submission */
    uint64_t tag; /* if has_tag */
    bool has_tag;
    int priority;
    unsigned colour; /* 0xrrggbb that the program gave it, 0: none; not in files */
    unsigned first_dep, ndeps;        /* in deps */
    unsigned first_access, naccesses; /* in accesses */
    enum orr_graph_by by;
    unsigned submitter; /* number of the thread, main is 0; or index of the task */
    /* Where and when it ran: ORR_GRAPH_NOT_RUN and NaN if it did not. */
    unsigned worker;
    double start_ms, end_ms; /* of the kernel, since the run began */
};

/* What the runtime itself takes; all 0: nothing, or it is not known that each run of
 * the program has it. */
struct orr_graph_costs {
    double submit_ms;        /* of a thread that submits, for each task … */
    double submit_access_ms; /* … and each of its accesses … */
    double submit_ready_ms;  /* … and where the task has no predecessors, before the
                              * next one */
    double push_ms;     /* between when the last predecessor has ended, or a thread has
                         * submitted the task, and when a worker may take it */
    double progress_ms; /* of a worker, between two tasks */
    double fetch_ms;    /* of a worker, before a task, for each of its accesses */
    double queue_ms;    /* of a worker that is not blocking, after the start of each
                         * kernel; of kernels that it awaits, the least time */
};

/* What a rank has sent to another one, or received from it, in a turn of a datum. */
struct orr_graph_message {
    unsigned task; /* of type ORR_GRAPH_MESSAGE; it may have sent to several */
    unsigned peer; /* the other rank */
    bool received; /* else sent */
    bool early;    /* the call was made before the rank had submitted any task */
    int64_t tag;
    uint64_t number; /* the same at both ends; 0: it is the k-th such one of its tag there */
    uint64_t bytes;
};

/* Under what the run was made: "scheduler", "what if", "assumed", "times". */
struct orr_graph_about {
    char *what, *text; /* owned */
};

struct orr_graph {
    char *machine; /* owned, or NULL */
    char *figures; /* owned: where its figures come from, "measured", "derived";
                    * NULL: not known */
    char **origins; /* owned: where times come from, "derived"; [0] is not used.
                     * NULL where norigins is 0 */
    unsigned norigins;
    struct orr_graph_about *about; /* owned */
    unsigned nabout;
    bool simulated;
    double makespan_ms; /* of the run; NaN: not known */
    struct orr_graph_costs costs;
    unsigned nworkers, nnodes, nlinks, nroutes, nroute_links, ntypes, ndata,
        ntasks, ndeps, naccesses, nmessages;
    /* All owned. Tasks are in order of submission; a dependency may point to a
     * later one. */
    struct orr_graph_worker *workers;
    struct orr_graph_node *nodes; /* node 0 is main memory */
    struct orr_graph_link *links;
    struct orr_graph_route *routes;
    unsigned *route_links;
    struct orr_graph_task_type *types;
    struct orr_graph_datum *data;
    struct orr_graph_task *tasks;
    struct orr_graph_dep *deps;
    struct orr_graph_access *accesses;
    struct orr_graph_message *messages; /* in order of their tasks */
};

/* Whether it is one, or its tasks are, and no nodes that stand for something else. */
bool orr_graph_is_task(const struct orr_graph *graph, unsigned task);
bool orr_graph_type_is_task(const struct orr_graph_task_type *type);

/* NULL is allowed. */
void orr_graph_free(struct orr_graph *graph);

/* Adds a line about the run; copies both. Errors: -ENOMEM. */
int orr_graph_add_about(struct orr_graph *graph, const char *what,
                        const char *text);

/* The text of the first line about that, NULL without. */
const char *orr_graph_about(const struct orr_graph *graph, const char *what);

/* The number of the origin of that name, which is added if it is new; "" and NULL
 * are 0. Negative: -ENOMEM, -E2BIG. */
int orr_graph_origin(struct orr_graph *graph, const char *name);

/* Its name, "" where it is not known. */
const char *orr_graph_origin_of(const struct orr_graph *graph,
                                const struct orr_graph_task_type *type,
                                unsigned worker);

/* Whether all indices are in range, all values are valid (no negative or NaN
 * ones except where a NaN is allowed above) and dependencies form no cycle.
 * Errors: -EINVAL, with a message that names the first error; -ENOMEM. */
int orr_graph_check(const struct orr_graph *graph, struct orr_error *err);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/instance.h - the scheduling problem that bounds are computed for: a
 * graph's tasks and classes of its workers. Constant once made.
 *
 * A class is a set of workers in one memory node with identical durations for
 * every type. A variant of a task type is one way to execute
 * its tasks: `width` workers of a class, for `ms`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "bound/graph.h"

struct orr_bound_class {
    unsigned size;   /* workers */
    unsigned worker; /* the first of them */
    unsigned node;   /* memory node that all compute in */
    unsigned nodes;  /* how many nodes: > 1 after merging devices */
    char *name;      /* owned: "9 CPU cores", "3 CUDA devices" */
};

struct orr_bound_variant {
    unsigned class;
    unsigned width; /* workers that do it together; 1 but for parallel tasks */
    double ms;      /* finite, >= 0 */
};

struct orr_bound_task_type {
    const char *symbol; /* the graph's */
    /* The variants of a type have different classes, or different widths. */
    unsigned first_variant, nvariants;
    double best_ms; /* of its fastest variant */
    unsigned ntasks;
};

/* Edges are numbered twice: by the later task (preds) and by the earlier one
 * (succs). */
struct orr_bound_instance {
    const struct orr_graph *graph; /* lent; must outlive the instance */
    unsigned nclasses, ntypes, nvariants, ntasks, nedges;
    /* All owned. */
    struct orr_bound_class *classes;
    /* As the graph's; those without task stay. */
    struct orr_bound_task_type *types;
    struct orr_bound_variant *variants;
    unsigned *type;               /* per task */
    unsigned *order;              /* tasks, each after all it depends on */
    unsigned *first_pred, *preds; /* CSR, ntasks + 1 and nedges */
    unsigned *first_succ, *succs;
    unsigned *class_of; /* per worker of the graph */
    bool merged; /* a class has workers that differ: of each value the least
                  * counts, so that bounds remain bounds */
};

struct orr_bound_instance_options {
    /* Durations are mean − this many standard deviations, at least 0: 0 means
     * and 1 as StarPU does. */
    double optimism;
    /* Devices whose times differ by at most this share are one class, with the
     * least of each time; 0: only identical ones. */
    double merge;
    /* Workers of one class may lie in different memory nodes, as for bounds
     * without transfers. */
    bool across_nodes;
};

/* Makes the instance of a graph that orr_graph_check accepts. Errors, with a
 * message: -ENODATA when the graph has no task, or types with tasks have no
 * time on any worker (all of them are named); -ENODEV when a task can run on no
 * worker; -ENOMEM. A worker that could run a type in an unknown time might take
 * no time: the bound is not proved without it. Such pairs are left out and
 * `*ret_unknown` (may be NULL) counts them. */
int orr_bound_instance_new(const struct orr_graph *graph,
                           const struct orr_bound_instance_options *options,
                           struct orr_bound_instance **ret,
                           unsigned *ret_unknown, struct orr_error *err);
void orr_bound_instance_free(struct orr_bound_instance *instance);

/* A zeroed array of n elements, for the caller to free(). NULL only without
 * memory, also for n = 0. */
static inline void *orr_bound_array(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/check_bounds.c - see check_bounds.h. Main context, at the end of
 * a run.
 */
#include "core/observe/check_bounds.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/solver.h"
#include "core/base/log.h"
#include "core/base/module.h"
#include "core/cost/estimates.h"
#include "core/exec/runtime.h"
#include "core/observe/graph_record.h"

#define TOLERANCE 1e-9 /* of the makespan: dates are sums of durations */
#define MAX_TASKS 2000 /* for bounds that solve a program */
#define MAX_WHOLE 8    /* for bounds that search */
#define SECONDS   0.5  /* for each; what is proved by then is used */

bool orr_check_bounds_needs_graph(const struct orr_runtime *rt)
{
    return orr_config_string(&rt->config, ORR_CFG_GRAPH) ||
           (rt->machine->kernels_take_their_length &&
            orr_config_bool(&rt->config, ORR_CFG_CHECK_BOUNDS));
}

static void compare_with_bound(const struct orr_graph *graph, const char *bound,
                               double ms)
{
    if (isnan(ms) || ms <= graph->makespan_ms * (1 + TOLERANCE))
        return;
    orr_log_error("ORRERY_CHECK_BOUNDS: the run took %.17g ms, less than the "
                  "bound \"%s\" of %.17g ms from its own durations: the "
                  "simulation or the bound is wrong. ORRERY_GRAPH=FILE keeps "
                  "the graph of tasks.",
                  graph->makespan_ms, bound, ms);
    fflush(NULL);
    abort();
}

/* The longest chain of tasks, each at its fastest; NaN without memory. */
static double longest_chain(const struct orr_bound_instance *instance)
{
    double *end = calloc((size_t)instance->ntasks + 1, sizeof(*end));
    double longest = 0;

    if (!end)
        return (double)NAN;
    for (unsigned i = 0; i < instance->ntasks; i++) {
        unsigned t = instance->order[i];

        for (unsigned e = instance->first_pred[t];
             e < instance->first_pred[t + 1]; e++)
            end[t] = fmax(end[t], end[instance->preds[e]]);
        end[t] += instance->types[instance->type[t]].best_ms;
        longest = fmax(longest, end[t]);
    }
    free(end);
    return longest;
}

static bool is_for(const struct orr_bound_instance *instance, unsigned method)
{
    if (method >= ORR_BOUND_INTEGER_AREA)
        return instance->ntasks <= MAX_WHOLE;
    return method == ORR_BOUND_CRITICAL_PATH || method == ORR_BOUND_AREA ||
           instance->ntasks <= MAX_TASKS;
}

/* Returns 0 too where there is no solver. */
static int compare_all(const struct orr_graph *graph,
                       const struct orr_bound_instance *instance,
                       struct orr_error *err)
{
    const struct orr_bound_solver *solver;
    const void *table;
    int rc;

    compare_with_bound(graph, "longest chain", longest_chain(instance));
    rc = orr_module_open("bound", &table, err);
    if (rc)
        return rc == -ENOENT ? 0 : rc;
    solver = table;
    for (unsigned i = 0; i < ORR_BOUND_NMETHODS; i++) {
        struct orr_bound_options options = {.seconds = SECONDS};
        struct orr_bound_result result;

        if (!is_for(instance, i) ||
            solver->compute(instance, i, &options, &result) != 0)
            continue;
        compare_with_bound(graph, orr_bound_method_name(i), result.ms);
        orr_bound_result_done(&result);
    }
    return 0;
}

/* Whether there are tasks, and all of them did; a rank may have messages alone. */
static bool all_ran(const struct orr_graph *graph)
{
    bool any = false;

    for (unsigned t = 0; t < graph->ntasks; t++)
        if (orr_graph_is_task(graph, t)) {
            any = true;
            if (graph->tasks[t].worker == ORR_GRAPH_NOT_RUN)
                return false;
        }
    return any;
}

void orr_check_bounds(struct orr_runtime *rt)
{
    struct orr_bound_instance_options options = {.across_nodes = true};
    struct orr_bound_instance *instance = NULL;
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};
    int rc;

    /* Bounds know one length per kernel and class. */
    if (!rt->machine->kernels_take_their_length || rt->estimates->noise.on ||
        !orr_config_bool(&rt->config, ORR_CFG_CHECK_BOUNDS))
        return;
    rc = orr_graph_record_make(rt, ORR_GRAPH_ALL, &graph, &err);
    if (rc == -ENODATA)
        return;
    if (!rc && all_ran(graph))
        rc = orr_bound_instance_new(graph, &options, &instance, NULL, &err);
    if (!rc && instance)
        rc = compare_all(graph, instance, &err);
    orr_bound_instance_free(instance);
    orr_graph_free(graph);
    if (rc && rc != -ENOMEM) {
        orr_log_error("ORRERY_CHECK_BOUNDS: %s", err.text);
        abort();
    }
}

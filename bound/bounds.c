/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/bounds.c - names of bounds, what each ignores, ends of results. No
 * state; any thread.
 */
#include "bound/bounds.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name, *ignores;
} methods[ORR_BOUND_NMETHODS] = {
    [ORR_BOUND_CRITICAL_PATH] = {"critical path",
                                 "how many workers there are, transfers, "
                                 "memory, what the runtime takes"},
    [ORR_BOUND_AREA] = {"area", "dependencies, transfers, memory, that tasks "
                                "are whole, what the runtime takes"},
    [ORR_BOUND_PATHS] = {"area and paths",
                         "transfers, memory, that tasks are whole, when each "
                         "worker is free, what the runtime takes"},
    [ORR_BOUND_PRECEDENCE] = {"precedence",
                              "transfers, memory, that tasks are whole, when "
                              "each worker is free, what the runtime takes"},
    [ORR_BOUND_TRANSFERS] = {"precedence and transfers",
                             "memory, that tasks are whole, when each worker "
                             "and link is free, what the runtime takes"},
    [ORR_BOUND_RUNTIME] = {"precedence and runtime",
                           "transfers, memory, that tasks are whole, when each "
                           "worker is free, allocations, that threads share "
                           "processors"},
    [ORR_BOUND_MEMORY] = {"memory", "dependencies, that tasks are whole, when "
                                    "each worker and link is free, what the "
                                    "runtime takes"},
    [ORR_BOUND_INTEGER_AREA] = {"integer area",
                                "dependencies, transfers, memory, what the "
                                "runtime takes"},
    [ORR_BOUND_INTEGER] = {"integer precedence",
                           "transfers, memory, when each worker is free, what "
                           "the runtime takes"},
    [ORR_BOUND_EXACT] = {"exact", "transfers, memory, what the runtime takes"},
};

const char *orr_bound_method_name(enum orr_bound_method method)
{
    assert(method < ORR_BOUND_NMETHODS);
    return methods[method].name;
}

const char *orr_bound_method_ignores(enum orr_bound_method method)
{
    assert(method < ORR_BOUND_NMETHODS);
    return methods[method].ignores;
}

const char *orr_bound_all_ignore(void)
{
    return "what the application waits for between submissions, that tasks exclude "
           "each other at data, that kernels share the bandwidth of a memory, and how long "
           "threads take to wake";
}

void orr_bound_result_done(struct orr_bound_result *result)
{
    free(result->why);
    free(result->limit);
    result->why = NULL;
    result->limit = NULL;
}

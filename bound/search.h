/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/search.h - inside the module: the best schedule of a few tasks, by
 * branch and bound. Any thread.
 */
#pragma once

#include <stddef.h>

#include "bound/instance.h"

enum { ORR_SEARCH_MOST = 24 /* tasks */ };

struct orr_search_options {
    bool no_edges; /* as if no task depended on another */
    double seconds;
    unsigned long nodes; /* at most so many are examined; 0: no limit */
    size_t bytes;        /* that states seen may take; 0: 64 MiB */
};

struct orr_search_result {
    double lower_ms; /* no schedule is shorter; proved at any time */
    double upper_ms; /* the best schedule found; INFINITY: none */
    bool finished;   /* they are equal: the optimum */
    unsigned long nodes;
    unsigned busiest; /* class; of that schedule */
    double busy;      /* its share of time at work, 0 … 1 */
};

/* There are at most ORR_SEARCH_MOST tasks, each with a variant for which its
 * class has enough workers. Ends after `seconds` or `nodes`, with what is
 * proved then. Errors: -ENOMEM. */
int orr_search(const struct orr_bound_instance *instance,
               const struct orr_search_options *options,
               struct orr_search_result *ret);

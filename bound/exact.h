/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/exact.h - inside the module: bounds from searches of all schedules;
 * methods as in methods.h.
 */
#pragma once

#include "bound/bounds.h"

/* The method. */
int orr_bound_exact(const struct orr_bound_instance *in,
                    const struct orr_bound_options *options,
                    struct orr_bound_result *ret);

/* Gives up where a task has no variant that its class has workers enough for;
 * `ret->outcome` is then no longer OPTIMAL. 0 or -ENOMEM. */
int orr_bound_check_able(const struct orr_bound_instance *in,
                         struct orr_bound_result *ret);

/* Computes a quicker bound in a quarter of the time. If it is proved and above
 * *lower, it replaces that, and its text `ret->limit`. 0 or -ENOMEM. */
int orr_bound_begin_with(const struct orr_bound_instance *in,
                         enum orr_bound_method method,
                         const struct orr_bound_options *options, double *lower,
                         struct orr_bound_result *ret);

/* Searches the schedules of at most ORR_SEARCH_MOST tasks that are able, with
 * edges or without. Where time is out, a quicker bound counts if it is higher.
 * 0 or -ENOMEM. */
int orr_bound_search(const struct orr_bound_instance *in,
                     const struct orr_bound_options *options, bool no_edges,
                     struct orr_bound_result *ret);

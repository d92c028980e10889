/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/flow.h - the time-cost tradeoff on a task graph: each use of a class's
 * workers has a price, the length of the longest path has one; finds the
 * cheapest choice of variants. One thread at a time per object.
 *
 *   min  Σ_c price[c]·area_c(a) + path_price·(longest path of Σ_w ms[w]·a[i][w])
 *   over fractions a[i][w] ≥ 0 of task i's variants, Σ_w a[i][w] = 1.
 *
 * Its dual is a flow of value path_price from the start to the end of the graph
 * that maximises Σ_i min_w (price[class]·width + φ_i)·ms[w], where φ_i flows
 * through task i (J. E. Kelley, Operations Research 9 (1961) 296-320;
 * D. R. Fulkerson, Management Science 7 (1961) 167-178). Any flow and any
 * prices are a proof: no schedule is shorter than that sum over
 * Σ size·price + path_price, since areas and paths of a schedule of length T
 * are at most size·T and T.
 */
#pragma once

#include "bound/instance.h"

struct orr_flow;

/* The cheapest choice, and its proof. Arrays are the caller's. */
struct orr_flow_answer {
    double *done;   /* per variant of the instance: tasks that it does */
    double *area;   /* per class: width·ms, summed */
    double *ms;     /* per task: how long it takes */
    double path_ms; /* longest path of the choice */
    double bound;   /* on every schedule; proved from the flow, after checking
                     * and repairing it, however it was found */
};

/* `instance` is lent. Errors: -ENOMEM. */
int orr_flow_new(const struct orr_bound_instance *instance,
                 struct orr_flow **ret);
void orr_flow_free(struct orr_flow *flow); /* NULL is allowed */

/* Prices >= 0, path_price > 0. Continues from the last solution, which makes it
 * fast where prices have changed little. Errors: -ETIME when the deadline
 * (orr_bound_clock) has passed: `ret->bound` is valid all the same, the rest is
 * not; -EDOM when the method does not end (a fault). */
int orr_flow_solve(struct orr_flow *flow, const double *price,
                   double path_price, double deadline,
                   struct orr_flow_answer *ret);

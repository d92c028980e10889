/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/solver.h - the table that the module "bound" exports.
 */
#pragma once

#include "bound/bounds.h"
#include "bound/ranks.h"
#include "bound/record.h"

struct orr_bound_solver {
    /* Solves the area problem. *ret_relaxed_ms is a proved lower bound: the
     * value of a dual solution, which is checked to be within 1e-6 of a primal
     * one. *ret_integer_ms, unless NULL, is the optimum with whole tasks (much
     * slower). counts, unless NULL, gets npools × nworkers numbers of tasks,
     * pool first: of the whole-task solution when one was requested, else of
     * the relaxed one. Blocks while it computes. Any thread. Errors, with a
     * message, and nothing is written: -ENODATA when nothing was recorded or a
     * pool has no duration on any worker; -ETIME when the whole-task problem
     * takes longer than a minute; -EDOM when the solver fails; -ENOMEM. */
    int (*area)(const struct orr_bound_problem *problem, double *ret_relaxed_ms,
                double *ret_integer_ms, double *counts, struct orr_error *err);
    /* Computes one bound; `ret` has the outcome, whatever it is, and is to be
     * ended with orr_bound_result_done. Blocks. Any thread. Errors: -ENOMEM,
     * then `ret` holds nothing. */
    int (*compute)(const struct orr_bound_instance *instance,
                   enum orr_bound_method method,
                   const struct orr_bound_options *options,
                   struct orr_bound_result *ret);
    /* orr_bound_ranks_compute; what it gives is ended with `ranks_done`. */
    int (*ranks)(const struct orr_bound_ranks *problem,
                 struct orr_bound_ranks_result *ret, struct orr_error *err);
    void (*ranks_done)(struct orr_bound_ranks_result *result);
};

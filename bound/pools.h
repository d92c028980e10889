/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/pools.h - inside the module: the area bound of pools and workers.
 */
#pragma once

#include "bound/record.h"

/* As struct orr_bound_solver's `area` for fractions of tasks; every pool has a
 * worker. Errors, with a message: -ENOMEM, -EDOM. */
int orr_bound_pools_relaxed(const struct orr_bound_problem *problem,
                            double *ret_ms, double *counts,
                            struct orr_error *err);

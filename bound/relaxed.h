/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/relaxed.h - inside the module: bounds from fractions of tasks. Methods
 * as in methods.h.
 */
#pragma once

#include "bound/area.h"
#include "bound/methods.h"

int orr_bound_critical_path(const struct orr_bound_instance *in,
                            const struct orr_bound_options *options,
                            struct orr_bound_result *ret);
int orr_bound_area(const struct orr_bound_instance *in,
                   const struct orr_bound_options *options,
                   struct orr_bound_result *ret);
int orr_bound_paths(const struct orr_bound_instance *in,
                    const struct orr_bound_options *options,
                    struct orr_bound_result *ret);
int orr_bound_precedence(const struct orr_bound_instance *in,
                         const struct orr_bound_options *options,
                         struct orr_bound_result *ret);

int orr_bound_runtime(const struct orr_bound_instance *in,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret);

/* The area problem of an instance: resources are classes, variants are
 * variants. `ret` as orr_area_solve's, whose errors these are. */
int orr_bound_area_solve(const struct orr_bound_instance *in, double tolerance,
                         double deadline, struct orr_area_solution *ret);

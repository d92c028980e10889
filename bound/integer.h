/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/integer.h - inside the module: bounds of whole tasks, as methods are
 * (methods.h).
 */
#pragma once

#include "bound/bounds.h"

/* No dependencies. Up to ORR_SEARCH_MOST tasks each worker's time counts, then
 * that of classes. */
int orr_bound_integer_area(const struct orr_bound_instance *in,
                           const struct orr_bound_options *options,
                           struct orr_bound_result *ret);

/* Dependencies, and the time of classes. */
int orr_bound_integer(const struct orr_bound_instance *in,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret);

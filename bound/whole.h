/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bound/whole.h - a bound of whole tasks without a search for them. No state. */
#pragma once

#include "bound/methods.h"

/* Raises *lower, a proved bound in ms, and the texts of `ret` with it, where tasks that are
 * whole allow it, in at most options->seconds. 0 or -ENOMEM. */
int orr_bound_raise_whole(const struct orr_bound_instance *in,
                          const struct orr_bound_options *options, double *lower,
                          struct orr_bound_result *ret);

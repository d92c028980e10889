/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/limits.h - the text of what limits a bound, for struct
 * orr_bound_result. No state.
 */
#pragma once

#include "bound/methods.h"

/* "path of 38 tasks: potrf → trsm → syrk → …, gemm is 40 % of it": the longest
 * path where task i takes ms[i]. *ret_ms, unless NULL, is its length. Errors:
 * -ENOMEM. */
int orr_bound_limit_path(const struct orr_bound_instance *in, const double *ms,
                         double *ret_ms, struct orr_bound_result *ret);

/* "3 CUDA devices: gemm is 92 % of their time": what class c does when variant
 * w does done[w] tasks. Errors: -ENOMEM. */
int orr_bound_limit_class(const struct orr_bound_instance *in, unsigned c,
                          const double *done, struct orr_bound_result *ret);

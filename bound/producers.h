/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/producers.h - which task has made the value that an access finds. No state; any thread.
 */
#pragma once

#include "bound/graph.h"

#define ORR_BOUND_NOBODY UINT32_MAX

/* The graph's tasks, each after all that it depends on, in *ret_order; by access, in *ret, the
 * task that wrote the datum last before, or NOBODY: it finds the first value. Both are the
 * caller's.
 *
 * It follows dependencies alone: of the tasks that an access's task waits for directly, those
 * that use the datum have written the value, or found it. Where several are told the last
 * of them in the order counts, as writers of a datum are in one order. Errors: -ENOMEM. */
int orr_bound_producers(const struct orr_graph *graph, unsigned **ret_order, unsigned **ret);

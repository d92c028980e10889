/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_conditions.h - the conditions of a run: its policy, edits of the
 * machine, assumptions, and where its times come from, as text for a graph of it.
 */
#pragma once

struct orr_graph;
struct orr_runtime;

/* Adds the lines to the graph. No kernel runs. Errors: -ENOMEM. */
int orr_graph_add_conditions(struct orr_graph *graph, struct orr_runtime *rt);

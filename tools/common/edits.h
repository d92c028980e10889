/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/edits.h - the option --set of commands with machines: what-if
 * edits, docs/WHAT_IF.md. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "platforms/cluster.h"
#include "platforms/machine_desc.h"

/* Lines of the help of such commands. */
#define EDITS_HELP                                                                 \
    "      --set 'cuda.count = 8'   what if the machine were different; several\n" \
    "                             are separated by ; (docs/WHAT_IF.md)\n"

/* Applies edits (NULL: none) to a description and reports on stderr what each
 * has changed. -1 with a message when that cannot be done. */
int edits_apply(struct orr_machine_desc *desc, const char *edits);

/* The same for a cluster, but for the edits of its nodes; and for the machine of some of
 * these, "nodes 0-3", with what edits the cluster has for them. */
int edits_apply_cluster(struct orr_cluster_desc *cluster, const char *edits);
int edits_apply_nodes(struct orr_machine_desc *desc, const char *edits,
                      const char *nodes);

/* Whether the run of that report used nothing that one of its edits has changed:
 * no task ran there, nothing was copied there. Decisions may differ all the
 * same. */
bool edits_any_unused(const json_t *report);

/* Prints what the edits of a run's report have changed, one line each behind
 * `indent`; nothing without. */
void edits_print(const json_t *report, const char *indent);

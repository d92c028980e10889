/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_events.h - the network between nodes as events of the engine. */
#pragma once

#include "core/base/cluster.h"

/* These two entries of the table; cluster_read.c. */
int orr_sim_cluster_read(const char *name, const char *edits,
                         const char *const *sampling_dirs, struct orr_cluster_ranks **ret,
                         struct orr_error *err);
void orr_sim_cluster_forget(struct orr_cluster_ranks *ranks);

extern const struct orr_cluster_ops orr_sim_cluster_ops;

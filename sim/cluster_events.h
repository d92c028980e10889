/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_events.h - the network between nodes as events of the engine. */
#pragma once

#include "core/base/cluster.h"

extern const struct orr_cluster_ops orr_sim_cluster_ops;

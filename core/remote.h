/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/remote.h - all that a layer above the runtime, on which tasks and data of several
 * processes stand, includes of core beside the public headers and core/api/insertion.h
 * (the arguments of starpu_task_insert, decoded). Core knows nothing of the layer but the
 * table that it registers.
 *
 * - core/data/message.h: a datum in its turn, held for something outside
 * - core/data/reservation.h: memory for values that come before somebody has asked
 * - core/job/outside.h: waits that end when what is outside has ended, too
 * - core/data/reduction.h: the codelets by which a datum is reduced
 * - core/exec/await.h: how a call of the application waits
 * - core/base/cluster.h: the network between simulated machines
 * - core/message_told.h: what observers are told of messages and of clocks
 * - core/exec/runtime.h: the run, orr_runtime_need(call), and its rank
 * - struct orr_handle's `remote`: a pointer of the layer's for each datum, NULL at first;
 *   orr_handle_of() makes one of the other
 */
#pragma once

#include "core/base/cluster.h"
#include "core/data/handle.h"
#include "core/data/message.h"
#include "core/data/reduction.h"
#include "core/data/reservation.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/outside.h"
#include "core/message_told.h"
#include "core/remote_ops.h"

/* Registers the layer, before any handle has a `remote`; the table stays until the layer
 * is forgotten, or the run closed. Errors: -EBUSY, another one has. Main. */
int orr_remote_register(struct orr_runtime *rt,
                        const struct orr_remote_ops *ops);

/* Observers of the run are told of a message, or of clocks. Any context, no lock held. */
void orr_remote_tell_message(struct orr_runtime *rt, const struct orr_message_told *told);
void orr_remote_tell_clocks(struct orr_runtime *rt, const struct orr_clocks_told *told);

/* Whether the run leaves a trace, a report, a graph or a record, for which the clocks of
 * ranks are compared. */
bool orr_remote_leaves_files(const struct orr_runtime *rt);

/* What the workers of a run have done. */
struct orr_remote_work {
    unsigned long tasks;
    double busy_us; /* that kernels took */
};

/* Main, when no task is left. */
void orr_remote_count_work(const struct orr_runtime *rt, struct orr_remote_work *ret);

/* The network between simulated machines, NULL: the run is on a real one. */
const struct orr_cluster_ops *orr_remote_cluster(const struct orr_runtime *rt);

/* The layer has ended: no handle has a `remote` any more, and nothing is outside. Main. */
void orr_remote_forget(struct orr_runtime *rt);

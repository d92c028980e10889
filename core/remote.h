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
 * - core/observe/calls.h: the record of what the application calls
 * - core/exec/runtime.h: the run, orr_runtime_need(call), and its rank
 * - struct orr_handle's `remote`: a pointer of the layer's for each datum, NULL at first;
 *   orr_handle_of() makes one of the other
 */
#pragma once

#include "core/base/cluster.h"
#include "core/base/config.h"
#include "core/data/handle.h"
#include "core/data/message.h"
#include "core/data/reduction.h"
#include "core/data/reservation.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/outside.h"
#include "core/message_told.h"
#include "core/observe/calls.h"
#include "core/remote_ops.h"

/* Registers the layer, before any handle has a `remote`; the table stays until the layer
 * is forgotten, or the run closed. Errors: -EBUSY, another one has. Main. */
int orr_remote_register(struct orr_runtime *rt,
                        const struct orr_remote_ops *ops);

/* Observers of the run are told of a message, or of clocks. Any context, no lock held. */
void orr_remote_tell_message(struct orr_runtime *rt, const struct orr_message_told *told);
void orr_remote_tell_clocks(struct orr_runtime *rt, const struct orr_clocks_told *told);

/* The application is in a call of the layer's until the block is left, as in one of core's:
 * what passes until then is not its own time. */
#define ORR_REMOTE_SCOPE(rt)                                                           \
    struct orr_runtime *const remote_scope                                             \
        __attribute__((cleanup(orr_remote_leave_scope), unused)) =                     \
            orr_remote_enter(rt) ? (rt) : NULL

/* ORR_REMOTE_RECORD(rt, BARRIER, .id = 1): the run's record, if it has one, gets a line for
 * that call of the layer's, in its scope and before it takes effect. */
#define ORR_REMOTE_RECORD(rt, VERB, ...)                                               \
    do {                                                                               \
        if (orr_is_told(rt, ORR_TOLD_CALL))                                            \
            orr_remote_record(rt, &(struct orr_call){.verb = ORR_CALL_##VERB,          \
                                                     __VA_ARGS__});                    \
    } while (0)

/* Of the two above. True: the call is the outermost one. */
bool orr_remote_enter(struct orr_runtime *rt);
void orr_remote_leave_scope(struct orr_runtime *const *rt);
void orr_remote_record(struct orr_runtime *rt, struct orr_call *call);

/* Whether the run leaves a trace, a report, a graph or a record, for which the clocks of
 * ranks are compared. */
bool orr_remote_leaves_files(const struct orr_runtime *rt);

/* Numbers of data up to `last` are as if they had been given; the datum that main registers
 * next gets `next`, one that was not given to another, if that is not 0. */
void orr_remote_number_data(struct orr_runtime *rt, uint64_t last, uint64_t next);

/* What the workers of a run have done. */
struct orr_remote_work {
    unsigned long tasks;
    double busy_us; /* that kernels took */
};

/* Main, when no task is left. */
void orr_remote_count_work(const struct orr_runtime *rt, struct orr_remote_work *ret);

/* Whether all workers execute something. Any context. */
bool orr_remote_all_execute(const struct orr_runtime *rt);

/* From now on each worker that has become idle calls idle(arg), which does not block and
 * returns 1, before it sleeps. Returns the number for orr_remote_leave_idle, which returns
 * when no worker is in the call; -1: there is no room for one more. Main. */
int orr_remote_tell_idle(struct orr_runtime *rt, unsigned (*idle)(void *arg),
                         void *arg);
void orr_remote_leave_idle(struct orr_runtime *rt, int number);

/* What simulates the network between machines. NULL, after a message, where it cannot be
 * loaded. */
const struct orr_cluster_ops *orr_remote_cluster(void);

/* The ranks on the cluster of that name: see orr_cluster_ops.read; with the environment's
 * edits and directories. The caller ends it. */
int orr_remote_read_cluster(const char *name, struct orr_cluster_ranks **ret,
                            struct orr_error *err);
void orr_remote_forget_cluster(struct orr_cluster_ranks *ranks);

/* From now on what the calling context calls, and those that it will start, is of a program
 * of its own, with runs of its own: one of several ranks in a simulation, of that number.
 * Its settings go before the environment's; they and `place`, the layer's own, are lent. No
 * run of it is open when it leaves, nor when it enters. Errors: -ENOMEM. */
int orr_remote_enter_program(int rank, const struct orr_setting *settings, void *place);
void orr_remote_leave_program(void);

/* The `place` of the program that the caller belongs to, NULL: it has entered none. */
void *orr_remote_place(void);

/* What the layer keeps for the caller's program beside its runs: made at the first call,
 * freed when it leaves; that of the process stays. NULL without memory. Any thread. */
void *orr_remote_kept(void *(*make)(void), void (*free_kept)(void *kept));

/* The layer has ended: no handle has a `remote` any more, and nothing is outside. Main. */
void orr_remote_forget(struct orr_runtime *rt);

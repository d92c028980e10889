/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/kernel.h - from a job to the kernel that a machine runs, and its
 * measured time.
 */
#pragma once

#include <starpu.h>
#include <stdbool.h>

#include "core/device/machine.h"
#include "core/exec/runtime.h"
#include "core/worker/worker.h"
#include "core/worker/workers.h"

struct orr_job;

/* The data of a job that is about to start are on the worker's node: where it
 * is the worker's first contribution to a reduction, the partial begins with
 * what the init codelet makes. That takes no time where time is simulated, and
 * is called where the codelet's kernels are executed. In the worker's context. */
void orr_kernel_begin_partials(struct orr_runtime *rt,
                               struct orr_worker *worker, struct orr_job *job);

/* Gives the job, or its alias, a kernel of the worker's (job->kernel), in which every
 * field is filled in anew. The worker keeps kernels that are not in use, so that a task
 * that waits needs none. In the worker's context. */
struct orr_kernel *orr_kernel_take(struct orr_worker *worker,
                                   struct orr_job *job);

/* Gives a kernel back that has ended and that no code looks at any more. In the same
 * worker's context. */
static inline void orr_kernel_give(struct orr_worker *worker,
                                   struct orr_kernel *kernel)
{
    kernel->machine_link[0] = worker->kernels;
    worker->kernels = kernel;
}

/* A task of the codelet has run on the worker: counted for starpu_codelet_display_stats
 * where the run asks for that. Runs of one process may share the codelet. */
static inline void orr_kernel_count_codelet(const struct orr_worker *worker,
                                            struct starpu_codelet *cl)
{
    if (worker->runtime->workers->counts_codelets)
        __atomic_fetch_add(&cl->per_worker_stats[worker->id], 1, __ATOMIC_RELAXED);
}

/* Frees the kernels that the worker keeps; it has ended. */
void orr_kernels_free(struct orr_worker *worker);

/* Fills job->kernel. Simulated, a job without an estimate ends the program with
 * the list of all that are missing (core/loop/missing.c). */
void orr_kernel_prepare(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job, bool async,
                        void (*done)(struct orr_kernel *));

/* The job, which is prepared, is a gang's, whose members are about to run it: does
 * what comes before once for all. In the first member's context. */
void orr_kernel_begin_shared(struct orr_worker *worker, struct orr_job *job);

/* Takes alias->kernel and fills it with what another member runs: it takes as long. */
void orr_kernel_prepare_share(struct orr_runtime *rt, struct orr_worker *worker,
                              struct orr_job *alias);

/* Starts the job's kernel. Returns 1 when it has ended, 0 when `done` will be
 * called. In the worker's context; may block as kernel_start does. */
int orr_kernel_start(struct orr_runtime *rt, struct orr_kernel *kernel);

/* Whether a kernel has ended with an error: what its driver says counts before what the
 * library has found itself. */
static inline bool orr_kernel_has_failed(struct orr_kernel *kernel)
{
    if (!kernel->error)
        kernel->error = kernel->found;
    return kernel->error != 0;
}

/* The kernel has ended with an error: a message names the device and the task. A kernel
 * that the device refused without starting it is started anew, twice at most, and true
 * is returned; else the caller is to end the job, which leads to orr_kernel_failed. In
 * a worker's context. */
bool orr_kernel_again(struct orr_kernel *kernel);

/* Feeds the job's performance model with the time its kernel took, on the
 * real machine while calibrating. */
void orr_kernel_measure(struct orr_runtime *rt, struct orr_worker *worker,
                        struct orr_job *job);

/* The simulation cannot go on without an estimate for `job`: lists every
 * (codelet, footprint, architecture) of the tasks submitted so far that has
 * none, names the remedy, and ends the program with status 1. */
_Noreturn void orr_kernel_missing(struct orr_runtime *rt, struct orr_job *job);

/* The kernel that the calling context runs, of a job without data, goes on as that of
 * another task: what it has submitted does not belong to it any more, and it does not
 * belong to the task that has submitted it. */
void orr_kernel_leave_nest(struct orr_runtime *rt, struct orr_job *job);

/* Executes a job that went past the policy (core/sched/direct.h), from its data to its
 * end. In the worker's context; may block as kernels do. */
void orr_kernel_run_direct(struct orr_runtime *rt, struct orr_worker *worker,
                           struct orr_job *job);

/* The worker's context enters a state, for the trace and whatever looks at the worker. */
void orr_worker_set_state(struct orr_worker *worker,
                          enum orr_worker_state state);

/* Lets the worker work until it is to end. */
void orr_worker_loop(void *worker);

/* The body of such a loop, for loops over several workers (driven.c), in which the
 * calling context is one worker after the other. Looks once whether there is something
 * to do, and does it; `announced`: the worker has announced that it sleeps. */
bool orr_worker_step(struct orr_worker *worker, bool announced);

/* Whether the worker has nothing left to do and is to end. */
bool orr_worker_may_stop(const struct orr_worker *worker);

/* Whether the worker would take a job, so that it has to announce that it sleeps. */
bool orr_worker_wants_job(const struct orr_worker *worker);

/* Sets the state of a worker that has found nothing to do. */
void orr_worker_rest(struct orr_worker *worker);

/* Whether the worker has nothing under way. */
bool orr_worker_is_idle(const struct orr_worker *worker);

/* Describes what a worker waits for: the `describe` of its `awaited`. */
void orr_worker_describe(const struct orr_awaited *awaited, char *text,
                         size_t size);

/* Until when a worker that is not woken sleeps; hooks_again: its idle hooks are to be
 * called then. */
double orr_worker_wakes_at(struct orr_worker *worker, bool hooks_again);

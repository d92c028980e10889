/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/kernel.h - from a job to the kernel that a machine runs, and its
 * measured time.
 */
#pragma once

#include <stdbool.h>

#include "core/device/machine.h"
#include "core/worker/worker.h"

struct orr_job;

/* Whether the implementation is flagged asynchronous for that device. */
bool orr_kernel_async(const struct orr_worker *worker,
                      const struct orr_job *job);

/* The data of a job that is about to start are on the worker's node: where it
 * is the worker's first contribution to a reduction, the partial begins with
 * what the init codelet makes. That takes no time where time is simulated, and
 * is called where the codelet's kernels are executed. In the worker's context. */
void orr_kernel_begin_partials(struct orr_runtime *rt,
                               struct orr_worker *worker, struct orr_job *job);

/* A kernel of the worker's for the job, or its alias, job->kernel, which has nothing
 * of an earlier one that is not filled in anew. The worker keeps those that are not
 * in use: a task that waits needs none. In the worker's context. */
struct orr_kernel *orr_kernel_take(struct orr_worker *worker,
                                   struct orr_job *job);

/* It has ended, and nobody looks at it any more. In the same worker's context. */
static inline void orr_kernel_give(struct orr_worker *worker,
                                   struct orr_kernel *kernel)
{
    kernel->machine_link[0] = worker->kernels;
    worker->kernels = kernel;
}

/* The worker has ended. */
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

/* Whether a kernel that has ended has done so with an error: what its driver says
 * comes before what it has found itself. */
static inline bool orr_kernel_has_failed(struct orr_kernel *kernel)
{
    if (!kernel->error)
        kernel->error = kernel->found;
    return kernel->error != 0;
}

/* The kernel has ended with an error, of which there is a message with the
 * device and the task. One that the device refused without beginning it is
 * started again, twice at most, then true is returned; else the job is to be
 * ended, which leads to orr_kernel_failed. In a worker's context. */
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
 * another task: what it has submitted does not belong to it any more, nor it to the task
 * that has submitted it. */
void orr_kernel_leave_nest(struct orr_runtime *rt, struct orr_job *job);

/* Executes a job that went past the policy (core/sched/direct.h), from its data to its
 * end. In the worker's context; may block as kernels do. */
void orr_kernel_run_direct(struct orr_runtime *rt, struct orr_worker *worker,
                           struct orr_job *job);

/* The worker's context enters a state, for those who look at it and the trace. */
void orr_worker_set_state(struct orr_worker *worker,
                          enum orr_worker_state state);

/* Lets the worker work until it is to end. */
void orr_worker_loop(void *worker);

/* What such a loop consists of, for those of several workers (driven.c), whose context
 * is the worker in each of them. Looks once whether there is something to do, and does
 * it; with `announced` the worker has said that it sleeps. */
bool orr_worker_step(struct orr_worker *worker, bool announced);

/* Whether it has nothing left to do and is to end. */
bool orr_worker_may_stop(const struct orr_worker *worker);

/* Whether it would take a job, and therefore is to say that it sleeps. */
bool orr_worker_wants_job(const struct orr_worker *worker);

/* It has found nothing to do: its state. */
void orr_worker_rest(struct orr_worker *worker);

/* Whether nothing is under way there. */
bool orr_worker_is_idle(const struct orr_worker *worker);

/* Of `awaited` of a worker. */
void orr_worker_describe(const struct orr_awaited *awaited, char *text,
                         size_t size);

/* Until when it sleeps unless it is woken; hooks are called again or are not. */
double orr_worker_wakes_at(struct orr_worker *worker, bool hooks_again);

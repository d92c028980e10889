/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/failed.h - jobs that a device does not execute: they go elsewhere.
 * In the context of the worker that has the job, no lock held.
 */
#pragma once

#include <stdbool.h>

struct orr_job;
struct orr_runtime;
struct orr_worker;

/* The job, which was to be started, is broken (enum orr_broken): some datum of it
 * cannot be had on the worker's node. It goes back to the scheduler, or waits for memory
 * again while the worker takes others; the caller touches it no more. Without another
 * worker the run ends. */
void orr_job_send_away(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job);

/* The job's kernel has failed for good, kernel.error says how. Returns true when the
 * job, whose data are as they were before, is back with the scheduler; the caller
 * touches it no more. False: it is a try of starpu_task_ft_create_retry, and ends with
 * task->failed. Where what the kernel changed had no other copy, or no worker can
 * execute the job, the run ends. */
bool orr_kernel_failed(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job);

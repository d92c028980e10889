/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/follow.h - which jobs follow others in the queue of a device, and when
 * (core/job/follow.h says what becomes of them).
 *
 * A job that names its worker, whose kernel is asynchronous, and that waits for nothing
 * but its turn of data, and tasks that it was declared to depend on, is put into the
 * worker's queue when all jobs that have these data before it, and these tasks, are there,
 * or in the queue of another worker of the driver, for which the queue then waits; each with
 * what it writes, and what it reads, in the memory of its own device. It is looked for when
 * it is submitted, and when such a job has been started. Its data are fetched and pinned as
 * those of any job; those which a kernel in a queue uses are there. So memory, values
 * elsewhere and other jobs' turns are what they would be if the queues had got that far:
 * only kernels of these can tell the difference, and they are in order.
 *
 * If ORRERY_FOLLOW_PLACED says so, what is on another device is fetched by a copy whose queue waits for the kernels there
 * (core/data/progress.c, `behind`). When the copy is in its queue the job is told as if the
 * value had come (`ahead` of a request), and has the worker's queue wait for the copy's
 * before its kernel. The value counts as valid there when the copy has ended; jobs that
 * follow others need not know that: what they follow is behind the copy. A copy of that kind
 * whose value is overwritten before its end is known leaves its place to the next one
 * (`passed`).
 *
 * Likewise a job that names no worker is for the one in whose queue
 * all are that it waits for, by data, when the last one that was put there is among them and
 * the policy has nothing else that is ready.
 *
 * Of declared tasks only numbers are known (struct orr_led). They are read one after the
 * other, and an end in between makes the job wait for the host, never go too early.
 *
 * Nobody follows a job with an epilogue, or whose end waits for others: these come before
 * the jobs behind it begin, on the host.
 *
 * The worker starts it, and not the context that submits: a kernel's function finds its
 * worker's device, stream, handles of libraries and number where it runs.
 */
#pragma once

#include "core/job/follow.h"

struct orr_runtime;
struct orr_worker;

/* The job of a task with a kernel is being submitted, and waits for its data;
 * `declared`: and for others. Any context; the job may be started, but not end,
 * meanwhile. */
void orr_follow_submitted(struct orr_runtime *rt, struct orr_job *job,
                          bool declared);

/* The worker has put the job's kernel into its queue: jobs that can follow it do. In the
 * worker's context. */
void orr_follow_lead(struct orr_runtime *rt, struct orr_worker *worker,
                     struct orr_job *job);

/* The worker is about to start the kernel of a job that follows others: it waits, in its
 * queue, for those that are in queues of other workers, and for copies; ends the program if
 * some are in none any more. In the worker's context. */
void orr_follow_start(struct orr_runtime *rt, struct orr_worker *worker,
                      struct orr_job *job);

/* The job's kernel has failed on the worker, which is to undo it: ends the program, with a
 * message, if others follow, whose kernels have used what it has left. In the worker's
 * context. */
void orr_follow_failed(struct orr_runtime *rt, struct orr_worker *worker,
                       struct orr_job *job);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/cost.h - a job's cost row: which worker classes can run it, and
 * how long it takes there. Looked up once per (codelet, footprint).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/error.h"
#include "core/cost/row.h"

struct orr_assumptions;
struct orr_job;
struct orr_runtime;
struct orr_costs_table;
struct orr_worker;

/* Finds or makes the job's row, at its submission: orr_job_costs, which others
 * call, needs no memory for it then. Errors: -ENOMEM. */
int orr_job_make_costs(struct orr_runtime *rt, struct orr_job *job);

/* The job's row, found or made, with lengths as new as the model's. Policies
 * call it once per push. Never NULL: when memory is out the program ends with
 * a message. Any context, no lock held. */
const struct orr_cost_row *orr_job_costs(struct orr_runtime *rt,
                                         struct orr_job *job);

/* Implementations of the job that may run on a worker, as bits: those of its
 * class which can_execute accepts, 0 if the task's `where`, workerids or
 * explicit worker exclude it, or if it takes no tasks of the job's scheduling
 * context (core/members.h). `row` is the job's. */
unsigned orr_job_able(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row, unsigned worker);

/* As above, for all workers of a class at once when nothing about the task
 * distinguishes them. *uniform: whether that is so; if not, the result is 0:
 * call it for each. */
unsigned orr_job_able_class(struct orr_runtime *rt, struct orr_job *job,
                            const struct orr_cost_row *row, unsigned class_id,
                            bool *uniform);

/* Whether some worker of the machine may run it, now or when it has joined the
 * job's scheduling context; can_execute is called for those who are there. */
bool orr_job_possible(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row);

/* As orr_job_able, but can_execute is not called: *ask: whether it has yet to
 * be. For callers that hold a lock. */
unsigned orr_job_maybe_able(const struct orr_runtime *rt,
                            const struct orr_job *job,
                            const struct orr_cost_row *row, unsigned worker,
                            bool *ask);

/* µs that implementation 0 takes on a worker of the class at best: the mean
 * less the standard deviation of what was measured, but not less than 0;
 * without measures its length or what is assumed; NaN when neither is known or no worker of
 * the class can run it. `row` is one of a model in files. */
double orr_cost_at_best(const struct orr_runtime *rt,
                        const struct orr_cost_row *row, unsigned class_id);

/* µs, standard deviation of what was measured of implementation `impl` on the
 * class, with its speed; 0 without measures. */
double orr_cost_deviation(const struct orr_runtime *rt,
                          const struct orr_cost_row *row, unsigned class_id,
                          unsigned impl);

/* The runtime's classes and models are there. Errors: -ENOMEM; -EINVAL, with a
 * message, for assumptions that cannot be read. */
int orr_costs_table_new(struct orr_runtime *rt, struct orr_costs_table **ret,
                        struct orr_error *err);
void orr_costs_table_free(struct orr_costs_table *table);

/* What the user assumes. Lent. */
const struct orr_assumptions *
orr_costs_assumptions(const struct orr_costs_table *table);

/* Calls visit for each row in the order they were made: for messages. */
void orr_costs_each(struct orr_costs_table *table,
                    void (*visit)(const struct orr_cost_row *, void *),
                    void *arg);

/* Whether the two functions below have anything to do for a task that ran on
 * the worker: mostly not, once calibration has ended. */
bool orr_cost_is_wanted(const struct orr_worker *worker,
                        const struct orr_job *job);

/* A task of the row has run for `us` on the worker, or failed (NaN): updates
 * the row's recalibration. To be called before orr_cost_measure, for tasks with
 * a model. */
void orr_cost_ran(struct orr_runtime *rt, const struct orr_worker *worker,
                  struct orr_job *job, double us);

/* Feeds the model of the job's codelet with a time that was measured on the
 * worker, if the model is being calibrated. */
void orr_cost_measure(struct orr_runtime *rt, const struct orr_worker *worker,
                      struct orr_job *job, double us);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/cost.h - a job's cost row: which worker classes can run it, and
 * how long it takes there. Looked up once per (codelet, footprint).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/error.h"
#include "core/cost/row.h"
#include "core/job/job.h"

struct orr_assumptions;
struct orr_combined;
struct orr_job;
struct orr_model_row;
struct orr_runtime;
struct orr_costs_table;
struct orr_worker;
struct orr_worker_class;

/* Finds or makes the job's row, job->costs, at its submission: what others call needs
 * no memory for it then. Errors: -ENOMEM. */
int orr_job_make_costs(struct orr_runtime *rt, struct orr_job *job);

/* Whether the model has other lengths than the row. */
static inline bool orr_cost_is_old(const struct orr_cost_row *row)
{
    return atomic_load_explicit(row->news, memory_order_acquire) !=
           __atomic_load_n(&row->version, __ATOMIC_RELAXED);
}

/* The job's row, found or made, with new lengths; cost functions are asked for the
 * job's task. Never NULL: when memory is out the program ends with a message. */
const struct orr_cost_row *orr_job_renew_costs(struct orr_runtime *rt,
                                               struct orr_job *job);

/* The same, with lengths as new as the model's, for who reads lengths. Policies call it
 * once per push. Any context, no lock held. */
static inline const struct orr_cost_row *orr_job_costs(struct orr_runtime *rt,
                                                       struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;

    return row && !row->per_task && !orr_cost_is_old(row)
               ? row
               : orr_job_renew_costs(rt, job);
}

/* The same, where cost functions are not asked, for who reads which workers can run the
 * job. */
static inline const struct orr_cost_row *orr_job_row(struct orr_runtime *rt,
                                                     struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;

    return row && !orr_cost_is_old(row) ? row : orr_job_renew_costs(rt, job);
}

/* The row of a task that has no job, of a codelet, which is asked about or
 * executed as a part of another one. NULL without memory. Any context, no lock
 * held. */
const struct orr_cost_row *orr_task_costs(struct orr_runtime *rt,
                                          struct starpu_task *task);

/* Implementations of the job that may run on a worker, as bits: those of its
 * class which can_execute accepts, 0 if the task's `where`, workerids or
 * explicit worker exclude it, or if it takes no tasks of the job's scheduling
 * context (core/worker/members.h). `row` is the job's. */
unsigned orr_job_able(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row, unsigned worker);

/* As above, for all workers of a class at once when nothing about the task
 * distinguishes them. *uniform: whether that is so; if not, the result is 0:
 * call it for each. */
unsigned orr_job_able_class(struct orr_runtime *rt, struct orr_job *job,
                            const struct orr_cost_row *row, unsigned class_id,
                            bool *uniform);

/* Whether each worker can run it with all implementations that the row has for its class:
 * nothing about the task, its context or the workers distinguishes them. The usual
 * case. */
bool orr_job_able_as_row(const struct orr_runtime *rt,
                         const struct orr_job *job,
                         const struct orr_cost_row *row);

/* Whether some worker of the machine may run it, now or when it has joined the
 * job's scheduling context; can_execute is called for those who are there. */
bool orr_job_possible(struct orr_runtime *rt, struct orr_job *job);

/* The same for a combined worker: of its first member, 0 if a member takes none of
 * these tasks, or the codelet is not parallel or not for so many (max_parallelism).
 * The task names it, if it does, by the combined worker's number. `where` does not
 * matter. Any context, no lock held. */
unsigned orr_job_able_combined(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_cost_row *row,
                               const struct orr_combined *combined);

/* Flags of codelets that are executed although the machine is simulated. */
#define ORR_EXECUTES                                                           \
    (STARPU_CODELET_SIMGRID_EXECUTE | STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT)

/* Whether the job's kernel runs beside the worker there: its implementation is flagged
 * asynchronous, and nothing has it executed by the worker. */
bool orr_job_is_async(const struct orr_job *job, const struct orr_worker *worker,
                      unsigned implementation);

/* As orr_job_able, but can_execute is not called: *ask: whether it has yet to
 * be. For callers that hold a lock. */
unsigned orr_job_maybe_able(const struct orr_runtime *rt,
                            const struct orr_job *job,
                            const struct orr_cost_row *row, unsigned worker,
                            bool *ask);

/* The same of a worker as if it were enabled and the job avoided no node. */
unsigned orr_job_able_if_enabled(const struct orr_runtime *rt,
                                 const struct orr_job *job,
                                 const struct orr_cost_row *row,
                                 unsigned worker);

/* Whether the job has a worker but for those of the nodes that it avoids, and of
 * `nodes`, bits; can_execute is not called. No policy has the job, which has its
 * costs. */
bool orr_job_may_avoid(struct orr_runtime *rt, struct orr_job *job,
                       uint64_t nodes);

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

/* µs that implementation `impl` exceeds in 1 - q of its runs: the q-quantile,
 * as if what was measured were normally distributed. NaN and 0 as its length. */
double orr_cost_quantile(const struct orr_runtime *rt,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double q);

/* --- noise_source.c: how lengths vary --- */

/* What noise knows of implementation `impl` on the class; lent until the runtime
 * ends, to be changed by orr_noise_length. NULL without memory. For simulated
 * machines: one thread. */
struct orr_noise_source *orr_cost_noise(const struct orr_runtime *rt,
                                        const struct orr_cost_row *row,
                                        unsigned class_id, unsigned impl);

/* --- wide.c: several processors of a class at once --- */

/* What implementation `impl` of the job takes on `ncores` of them. Models have a
 * row of their own for each number; a time that is assumed holds for any. Not
 * cached: for parallel tasks alone. Any context, no lock held. */
struct orr_length orr_cost_wide(struct orr_runtime *rt, struct orr_job *job,
                                  unsigned class_id, unsigned ncores,
                                  unsigned impl);

/* What the job's implementation takes on a worker of the class and as many others
 * as execute it (job->ncores); where that is not known, on one alone. */
struct orr_length orr_job_length(struct orr_runtime *rt, struct orr_job *job,
                                 unsigned class_id);

/* Whether the task's own `where' allows the class: -1 (and 0, of a task that was not
 * initialised by us) is no restriction, nor is any where the machine lifts it and the
 * kernel has a time there. */
bool orr_job_where_allows(const struct orr_runtime *rt, const struct orr_job *job,
                          const struct orr_cost_row *row, unsigned class_id);

/* Whether that says how long the kernel takes. */
bool orr_length_is_known(const struct orr_length *length);

/* As orr_cost_at_best, of implementation `impl`; of a single worker's row. */
double orr_cost_wide_at_best(struct orr_runtime *rt, struct orr_job *job,
                             unsigned class_id, unsigned ncores, unsigned impl);

/* The class with so many cores, as cost functions and models see it. False without
 * memory. */
bool orr_cost_widen(const struct orr_runtime *rt, unsigned class_id,
                    unsigned ncores, struct orr_worker_class *ret);

/* The number of the architecture: perfmodel/arch.h. Errors: -ENOMEM. */
int orr_cost_wide_comb(const struct orr_runtime *rt, unsigned class_id,
                       unsigned ncores, unsigned *ret);

/* A task has run for `us` on job->ncores processors, the worker's and others:
 * feeds the model of its codelet if that is being measured. */
void orr_cost_measure_wide(struct orr_runtime *rt,
                           const struct orr_worker *worker, struct orr_job *job,
                           double us);

/* The runtime's classes and models are there. Errors: -ENOMEM; -EINVAL, with a
 * message, for assumptions that cannot be read. */
int orr_costs_table_new(struct orr_runtime *rt, struct orr_costs_table **ret,
                        struct orr_error *err);
void orr_costs_table_free(struct orr_costs_table *table);

/* The symbol of the model in files that has the row's times, NULL without; lent. */
const char *orr_cost_model_symbol(const struct orr_cost_row *row);

/* Whether the job's codelet has a model of any sort, the default one of its name among
 * them. */
static inline bool orr_job_is_modelled(const struct orr_job *job)
{
    return job->task->cl->model || (job->costs && job->costs->defaulted);
}

/* Where a machine has times for a kernel from. */
enum orr_known {
    ORR_KNOWN_NOT,
    ORR_KNOWN_MODEL,   /* its history model has a file */
    ORR_KNOWN_ASSUMED, /* a time is assumed on all workers */
};

/* Either name may be NULL. */
enum orr_known orr_cost_knows(const struct orr_runtime *rt, const char *name,
                              const char *symbol);

/* --- teach.c: what a replay brings with it --- */

/* Whether times of kernels on that host are those of this machine, or the user takes them
 * for it. */
bool orr_cost_takes_times_of(const struct orr_runtime *rt, const char *host);

/* A row joins the model `symbol`, or the default one of codelets called `name`, for all
 * workers of the type, or those of the class of `worker` unless it is NULL; unless there is one of that footprint. Before the first task of
 * such a codelet is submitted. Errors: -ENODEV, the machine is real or has no such
 * workers; -EINVAL, no name, or a broken model, with a message; -ENOMEM. */
int orr_cost_teach(const struct orr_runtime *rt, const char *symbol,
                   const char *name, enum starpu_worker_archtype type,
                   const struct orr_worker *worker, unsigned impl,
                   const struct orr_model_row *row);

/* What the user assumes. Lent. */
const struct orr_assumptions *
orr_costs_assumptions(const struct orr_costs_table *table);

/* Whether a task so far has a kernel whose time the i-th assumption gives. */
bool orr_costs_assumes_kernel(struct orr_costs_table *table, unsigned i);

/* Why no task took the time of the i-th assumption, in words; false: some did. */
bool orr_costs_assumption_unused(struct orr_costs_table *table, unsigned i,
                                 char *text, size_t size);

/* Calls visit for each row in the order they were made: for messages. */
void orr_costs_each(struct orr_costs_table *table,
                    void (*visit)(const struct orr_cost_row *, void *),
                    void *arg);

/* Whether the two functions below have anything to do for a task that ran on
 * the worker: mostly not, once calibration has ended. */
bool orr_cost_is_wanted(const struct orr_worker *worker,
                        const struct orr_job *job);

/* Such a task has run for `us` on the worker, by implementation 0: feeds the
 * model, as orr_cost_measure does. */
void orr_cost_measure_task(struct orr_runtime *rt,
                           const struct orr_worker *worker,
                           struct starpu_task *task, double us);

/* A task of the row has run for `us` on the worker, or failed (NaN): updates
 * the row's recalibration. To be called before orr_cost_measure, for tasks with
 * a model. */
void orr_cost_ran(struct orr_runtime *rt, const struct orr_worker *worker,
                  struct orr_job *job, double us);

/* Feeds the model of the job's codelet with a time that was measured on the
 * worker, if the model is being calibrated. `preempted`: others had its processor
 * meanwhile, and `us` is without that. */
void orr_cost_measure(struct orr_runtime *rt, const struct orr_worker *worker,
                      struct orr_job *job, double us, bool preempted);

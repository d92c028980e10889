/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_scheduler_toolbox.h - queues of tasks for application-defined policies.
 * Tasks are borrowed and linked by their prev and next fields, as in a
 * starpu_task_list: a task is in one queue at a time. No locking.
 */
#pragma once

#include <starpu_scheduler.h>
#include <starpu_task.h>
#include <starpu_task_list.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- a queue of one worker, and what is expected of it --- */

struct starpu_st_fifo_taskq;
typedef struct starpu_st_fifo_taskq *starpu_st_fifo_taskq_t;

/* An empty queue, for starpu_st_fifo_taskq_destroy. */
starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void);
/* Frees the queue; tasks that are in it are not touched. */
void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo);
/* Empties it without looking at its tasks: all numbers are 0, its work starts and
 * ends now. */
void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo);
/* Whether no task is queued. */
int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo);

/* How many tasks are queued. Pushes and pops count them; `inc` adds n, which may be
 * negative. */
unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n);
/* How many tasks were ever pushed; `inc` adds n. */
unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n);

/* The policy's own numbers, all 0 or now at first: when the queued work starts, in
 * µs as starpu_timing_now counts. */
double starpu_st_fifo_exp_start_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_start_set(starpu_st_fifo_taskq_t fifo,
                                  double exp_start);
/* When it ends, in µs as starpu_timing_now counts. */
double starpu_st_fifo_exp_end_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_end_set(starpu_st_fifo_taskq_t fifo, double exp_end);
/* How many µs it takes. */
double starpu_st_fifo_exp_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_len_set(starpu_st_fifo_taskq_t fifo, double exp_len);
void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len);
/* How many µs the tasks take that were popped and have not ended. */
double starpu_st_fifo_pipeline_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_pipeline_len_set(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len);
void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len);

/* The policy's own numbers as well, of tasks: an entry for each priority of the
 * calling thread's context from the least on, zeroed by the first call, freed with
 * the queue. NULL if the context was not given both limits of priorities. */
unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo);
/* The same, of µs. */
double *starpu_st_fifo_exp_len_per_priority_get(starpu_st_fifo_taskq_t fifo);

/* By decreasing priority, behind equals. Returns 0. */
int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo_queue,
                                          struct starpu_task *task);
/* At the end; one of positive priority as above. Returns 0. */
int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo,
                                   struct starpu_task *task);
/* Puts a task back: at the front, one of positive priority as above. It does not
 * count as processed once more. Returns 0. */
int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo_queue,
                                        struct starpu_task *task);

/* Takes out a task of the queue; returns 1, or 0 and leaves it there if the worker
 * cannot run it (workerid < 0: any can). */
int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo_queue,
                                       int workerid, struct starpu_task *task);
/* The first one that the worker can run, its implementation chosen; or NULL. */
struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo,
                                                  int workerid);
/* The first one, whoever can run it, or NULL. */
struct starpu_task *
starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo);
/* Of those whose priority is not less than the first one's, the one that lacks
 * the fewest bytes on the worker's memory node, or NULL. With num_priorities
 * other than -1 it leaves ntasks_per_priority. */
struct starpu_task *
starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo_queue,
                                          unsigned workerid,
                                          int num_priorities);

/* Microseconds of work that the task would wait for if it were pushed sorted, and
 * in *fifo_ntasks how many tasks that is. */
double starpu_st_fifo_taskq_get_exp_len_prev_task_list(
    starpu_st_fifo_taskq_t fifo_queue, struct starpu_task *task, int workerid,
    int nimpl, int *fifo_ntasks);

/* --- a queue by priority with two ends --- */

/* In StarPU its members are hidden and only StarPU can have one. */
struct starpu_st_prio_deque {
    struct starpu_task_list list; /* best priority first */
    unsigned ntasks;
};
typedef struct starpu_st_prio_deque *starpu_st_prio_deque_t;

/* Makes a deque of the caller's empty, whatever it held. */
void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque);
/* The same: there is nothing to free. */
void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque);
/* Whether it has no task. */
int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque);

/* Links the task behind those of its priority. Returns 0. */
int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque,
                                        struct starpu_task *task);
/* Links it before those of its priority. Returns 0. */
int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque,
                                         struct starpu_task *task);

/* The oldest task of the best priority, which stays there; NULL when empty. */
struct starpu_task *
starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque);
/* Takes out the oldest task of the best priority; NULL when empty. */
struct starpu_task *
starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque);
/* Takes out the newest task of the worst priority; NULL when empty. */
struct starpu_task *
starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque);

/* Takes out the first task, best and oldest first, that the worker can run, its
 * implementation chosen; NULL: there is none. `skipped`, unless NULL, gets the last
 * one before it that the worker could not run, or NULL. */
struct starpu_task *
starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque,
                                         int workerid,
                                         struct starpu_task **skipped);
/* The same, from the newest one of the best priority towards older ones of it. */
struct starpu_task *
starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque,
                                           int workerid,
                                           struct starpu_task **skipped);
/* Takes out, of the best priority, the task that lacks the fewest bytes on the
 * worker's memory node, whether or not the worker can run it; NULL when empty. */
struct starpu_task *
starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
                                            unsigned workerid);
/* As starpu_st_fifo_taskq_pop_this_task. */
int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque,
                                       int workerid, struct starpu_task *task);
/* Takes out a task of the queue. */
void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque,
                                struct starpu_task *task);

/* --- what policies decide by --- */

/* A priority as a number from 0 on, of num_priorities that spread over the range
 * of the context; 0 if there is no range. */
int starpu_st_normalize_prio(int priority, int num_priorities,
                             unsigned sched_ctx_id);
/* How many data the submitted task reads that the worker's memory node lacks. */
int starpu_st_non_ready_buffers_count(struct starpu_task *task,
                                      unsigned worker);
/* The same in bytes: in *non_readyp all that it lacks, in *non_loadingp what is not
 * on its way there either, in *non_allocatedp what has no memory there, read or
 * not. */
void starpu_st_non_ready_buffers_size(struct starpu_task *task,
                                      unsigned worker, size_t *non_readyp,
                                      size_t *non_loadingp,
                                      size_t *non_allocatedp);

#ifdef __cplusplus
}
#endif

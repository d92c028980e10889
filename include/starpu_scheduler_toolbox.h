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

/* Owned by the caller. */
starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void);
void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo);
/* Empties it: all figures are 0, its work starts and ends now. */
void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo);
int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo);

/* Queued tasks, and all that were ever queued. Pushes and pops count them; the
 * policy may add what it knows better. */
unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n);
unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n);

/* Microseconds, the policy's own bookkeeping: when the queued work starts, ends,
 * how long it takes, and how long what was taken and is not finished takes. */
double starpu_st_fifo_exp_start_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_start_set(starpu_st_fifo_taskq_t fifo,
                                  double exp_start);
double starpu_st_fifo_exp_end_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_end_set(starpu_st_fifo_taskq_t fifo, double exp_end);
double starpu_st_fifo_exp_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_len_set(starpu_st_fifo_taskq_t fifo, double exp_len);
void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len);
double starpu_st_fifo_pipeline_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_pipeline_len_set(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len);
void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len);

/* The policy's own as well: an entry for each normalised priority of the calling
 * thread's context, zeroed by the first call, freed with the queue. NULL if the
 * user has not given both limits of priorities. */
unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo);
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

void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque);
/* Frees nothing of the caller's. */
void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque);
int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque);

/* Behind, or before, those of its priority. Return 0. */
int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque,
                                        struct starpu_task *task);
int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque,
                                         struct starpu_task *task);

/* The oldest task of the best priority: looked at, taken out; the newest of the
 * worst one, taken out. NULL when empty. */
struct starpu_task *
starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *
starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *
starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque);

/* The first task that the worker can run, its implementation chosen, or NULL: of
 * all, best first; of the best priority, newest first. `skipped`, unless NULL,
 * gets the last one that the worker could not run, or NULL. */
struct starpu_task *
starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque,
                                         int workerid,
                                         struct starpu_task **skipped);
struct starpu_task *
starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque,
                                           int workerid,
                                           struct starpu_task **skipped);
/* Of the best priority, the one that lacks the fewest bytes on the worker's
 * memory node. */
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
/* What the submitted task reads and the worker's memory node lacks: the number of
 * data; in bytes, of these those that are not on their way there either, and
 * what has no memory there, read or not. */
int starpu_st_non_ready_buffers_count(struct starpu_task *task,
                                      unsigned worker);
void starpu_st_non_ready_buffers_size(struct starpu_task *task,
                                      unsigned worker, size_t *non_readyp,
                                      size_t *non_loadingp,
                                      size_t *non_allocatedp);

#ifdef __cplusplus
}
#endif

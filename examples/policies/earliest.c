/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * earliest.c - a task goes to the worker that is expected to end it first, as in
 * dmda: transfers and kernels are predicted, and each worker has a queue that knows
 * until when it is busy. From its queue a worker takes the task whose data are
 * there. One mutex for all.
 */
#include <math.h>
#include <stdlib.h>

#include "policies.h"

struct queues {
    starpu_pthread_mutex_t mutex;
    starpu_st_fifo_taskq_t of[STARPU_NMAXWORKERS]; /* with the mutex */
};

/* Where a task would run, in microseconds. */
struct place {
    int worker; /* -1: none yet */
    unsigned impl;
    double length, end;
};

static void init(unsigned ctx)
{
    struct queues *queues = calloc(1, sizeof(*queues));

    if (!queues)
        abort();
    starpu_pthread_mutex_init(&queues->mutex, NULL);
    starpu_sched_ctx_set_policy_data(ctx, queues);
}

static void deinit(unsigned ctx)
{
    struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

    for (int w = 0; w < STARPU_NMAXWORKERS; w++)
        if (queues->of[w])
            starpu_st_fifo_taskq_destroy(queues->of[w]);
    starpu_pthread_mutex_destroy(&queues->mutex);
    free(queues);
}

/* A worker that comes back has its queue still. */
static void add_workers(unsigned ctx, int *ids, unsigned n)
{
    struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

    for (unsigned i = 0; i < n; i++)
        if (!queues->of[ids[i]])
            queues->of[ids[i]] = starpu_st_fifo_taskq_create();
}

/* --- deciding --- */

static double free_at(starpu_st_fifo_taskq_t fifo)
{
    double now = starpu_timing_now();

    return fmax(starpu_st_fifo_exp_start_get(fifo), now) +
           starpu_st_fifo_exp_len_get(fifo);
}

/* What is not calibrated yet, or has no model, goes where the fewest tasks are. */
static double end_of(starpu_st_fifo_taskq_t fifo, struct starpu_task *task,
                     int worker, double length)
{
    double transfer =
        starpu_task_expected_data_transfer_time_for(task, (unsigned)worker);

    if (isnan(length) || length <= 0)
        return starpu_st_fifo_ntasks_get(fifo);
    return fmax(free_at(fifo), starpu_timing_now() + transfer) + length;
}

static void try_worker(struct queues *queues, struct starpu_task *task,
                       int worker, struct place *best)
{
    unsigned impls;

    if (!starpu_worker_can_execute_task_impl((unsigned)worker, task, &impls))
        return;
    for (unsigned impl = 0; impls >> impl; impl++) {
        double length, end;

        if (!(impls >> impl & 1))
            continue;
        length = starpu_task_worker_expected_length(task, (unsigned)worker,
                                                    task->sched_ctx, impl);
        end = end_of(queues->of[worker], task, worker, length);
        if (best->worker < 0 || end < best->end)
            *best = (struct place){worker, impl, length, end};
    }
}

static struct place decide(struct queues *queues, struct starpu_task *task)
{
    struct starpu_worker_collection *workers =
        starpu_sched_ctx_get_worker_collection(task->sched_ctx);
    struct starpu_sched_ctx_iterator it;
    struct place best = {.worker = -1};

    workers->init_iterator(workers, &it);
    while (workers->has_next(workers, &it))
        try_worker(queues, task, workers->get_next(workers, &it), &best);
    return best;
}

static int push(struct starpu_task *task)
{
    struct queues *queues = starpu_sched_ctx_get_policy_data(task->sched_ctx);
    struct place place;
    starpu_st_fifo_taskq_t fifo;

    starpu_pthread_mutex_lock(&queues->mutex);
    place = decide(queues, task);
    if (place.worker < 0) {
        starpu_pthread_mutex_unlock(&queues->mutex);
        return -1;
    }
    fifo = queues->of[place.worker];
    task->predicted = isnan(place.length) ? 0 : place.length;
    starpu_task_set_implementation(task, place.impl);
    starpu_st_fifo_exp_len_inc(fifo, task->predicted);
    if (starpu_get_prefetch_flag())
        starpu_prefetch_task_input_for(task, (unsigned)place.worker);
    starpu_st_fifo_taskq_push_task(fifo, task);
    starpu_push_task_end(task);
    starpu_pthread_mutex_unlock(&queues->mutex);
    return 0;
}

/* --- running --- */

static struct starpu_task *pop(unsigned ctx)
{
    struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);
    int worker = starpu_worker_get_id_check();
    starpu_st_fifo_taskq_t fifo = queues->of[worker];
    struct starpu_task *task;

    starpu_pthread_mutex_lock(&queues->mutex);
    task = starpu_st_fifo_taskq_pop_first_ready_task(fifo, (unsigned)worker, -1);
    if (task) {
        double start =
            fmax(starpu_st_fifo_exp_start_get(fifo), starpu_timing_now());

        starpu_st_fifo_exp_len_inc(fifo, -task->predicted);
        starpu_st_fifo_exp_start_set(fifo, start + task->predicted);
    }
    starpu_pthread_mutex_unlock(&queues->mutex);
    return task;
}

/* Predictions are wrong: the queue starts anew with what is known. */
static void ended(struct starpu_task *task, unsigned ctx)
{
    struct queues *queues = starpu_sched_ctx_get_policy_data(ctx);

    (void)task;
    starpu_pthread_mutex_lock(&queues->mutex);
    starpu_st_fifo_exp_start_set(queues->of[starpu_worker_get_id_check()],
                                 starpu_timing_now());
    starpu_pthread_mutex_unlock(&queues->mutex);
}

struct starpu_sched_policy earliest = {
    .init_sched = init,
    .deinit_sched = deinit,
    .add_workers = add_workers,
    .push_task = push,
    .pop_task = pop,
    .post_exec_hook = ended,
    .prefetches = 1,
    .policy_name = "earliest",
    .policy_description = "to the worker that ends it first",
    .worker_type = STARPU_WORKER_LIST,
};

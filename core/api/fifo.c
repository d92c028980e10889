/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/fifo.c - starpu_st_fifo_*: a worker's queue and what a policy expects
 * of it. The caller locks.
 */
#include <stdlib.h>

#include <starpu.h>

#include "core/api/api.h"
#include "core/api/task_queue.h"

struct starpu_st_fifo_taskq {
    struct starpu_task_list list;
    unsigned ntasks, nprocessed;
    double exp_start, exp_end, exp_len, pipeline_len; /* µs */
    unsigned npriorities; /* entries of the next two */
    unsigned *ntasks_per_priority;  /* owned, NULL: not asked for */
    double *exp_len_per_priority;   /* owned, NULL: not asked for */
};

static void *need(const char *call, void *memory)
{
    if (memory)
        return memory;
    orr_log_error("%s: out of memory", call);
    abort();
}

static void free_priorities(starpu_st_fifo_taskq_t fifo)
{
    free(fifo->ntasks_per_priority);
    free(fifo->exp_len_per_priority);
}

starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void)
{
    starpu_st_fifo_taskq_t fifo = need(__func__, calloc(1, sizeof(*fifo)));

    starpu_st_fifo_taskq_init(fifo);
    return fifo;
}

void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo)
{
    double now = starpu_timing_now();

    free_priorities(fifo);
    *fifo = (struct starpu_st_fifo_taskq){.exp_start = now, .exp_end = now};
}

void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo)
{
    free_priorities(fifo);
    free(fifo);
}

int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo)
{
    return starpu_task_list_empty(&fifo->list);
}

/* --- figures --- */

unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->ntasks;
}

void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n)
{
    fifo->ntasks += (unsigned)n;
}

unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->nprocessed;
}

void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n)
{
    fifo->nprocessed += (unsigned)n;
}

double starpu_st_fifo_exp_start_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->exp_start;
}

void starpu_st_fifo_exp_start_set(starpu_st_fifo_taskq_t fifo, double exp_start)
{
    fifo->exp_start = exp_start;
}

double starpu_st_fifo_exp_end_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->exp_end;
}

void starpu_st_fifo_exp_end_set(starpu_st_fifo_taskq_t fifo, double exp_end)
{
    fifo->exp_end = exp_end;
}

double starpu_st_fifo_exp_len_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->exp_len;
}

void starpu_st_fifo_exp_len_set(starpu_st_fifo_taskq_t fifo, double exp_len)
{
    fifo->exp_len = exp_len;
}

void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len)
{
    fifo->exp_len += exp_len;
}

double starpu_st_fifo_pipeline_len_get(starpu_st_fifo_taskq_t fifo)
{
    return fifo->pipeline_len;
}

void starpu_st_fifo_pipeline_len_set(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len)
{
    fifo->pipeline_len = pipeline_len;
}

void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo,
                                     double pipeline_len)
{
    fifo->pipeline_len += pipeline_len;
}

/* The scheduling context of the calling thread; 0 if it has chosen none. */
static unsigned present_context(void)
{
    unsigned ctx = starpu_sched_ctx_get_context();

    return ctx < STARPU_NMAX_SCHED_CTXS ? ctx : 0;
}

/* How many priorities there are; 0 if the user has not bounded them. */
static unsigned count_priorities(void)
{
    unsigned ctx = present_context();
    long long n;

    if (!starpu_sched_ctx_min_priority_is_set(ctx) ||
        !starpu_sched_ctx_max_priority_is_set(ctx))
        return 0;
    n = 1LL + starpu_sched_ctx_get_max_priority(ctx) -
        starpu_sched_ctx_get_min_priority(ctx);
    return n > 0 ? (unsigned)n : 0;
}

/* Whether there are priorities, and the arrays for them. */
static bool make_priorities(const char *call, starpu_st_fifo_taskq_t fifo)
{
    unsigned n = fifo->npriorities ? 0 : count_priorities();

    if (n == 0)
        return fifo->npriorities != 0;
    fifo->ntasks_per_priority =
        need(call, calloc(n, sizeof(*fifo->ntasks_per_priority)));
    fifo->exp_len_per_priority =
        need(call, calloc(n, sizeof(*fifo->exp_len_per_priority)));
    fifo->npriorities = n;
    return true;
}

unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo)
{
    return make_priorities(__func__, fifo) ? fifo->ntasks_per_priority : NULL;
}

double *starpu_st_fifo_exp_len_per_priority_get(starpu_st_fifo_taskq_t fifo)
{
    return make_priorities(__func__, fifo) ? fifo->exp_len_per_priority : NULL;
}

/* --- pushing --- */

static int fifo_count_push(starpu_st_fifo_taskq_t fifo)
{
    fifo->ntasks++;
    fifo->nprocessed++;
    return 0;
}

int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo,
                                          struct starpu_task *task)
{
    orr_task_list_insert_behind(&fifo->list, task);
    return fifo_count_push(fifo);
}

int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo,
                                   struct starpu_task *task)
{
    if (task->priority > 0)
        return starpu_st_fifo_taskq_push_sorted_task(fifo, task);
    starpu_task_list_push_back(&fifo->list, task);
    return fifo_count_push(fifo);
}

int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo,
                                        struct starpu_task *task)
{
    if (task->priority > 0)
        orr_task_list_insert_behind(&fifo->list, task);
    else
        starpu_task_list_push_front(&fifo->list, task);
    fifo->ntasks++;
    return 0;
}

/* --- popping --- */

static struct starpu_task *fifo_take(starpu_st_fifo_taskq_t fifo,
                                     struct starpu_task *task)
{
    if (!task)
        return NULL;
    starpu_task_list_erase(&fifo->list, task);
    fifo->ntasks--;
    return task;
}

int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo,
                                       int workerid, struct starpu_task *task)
{
    orr_task_list_check(&fifo->list, task, __func__);
    if (workerid >= 0 && !orr_task_suits(task, workerid))
        return 0;
    (void)fifo_take(fifo, task);
    return 1;
}

struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo,
                                                  int workerid)
{
    struct starpu_task *skipped;

    return fifo_take(fifo,
                     orr_task_list_first(&fifo->list, workerid, &skipped));
}

struct starpu_task *
starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo)
{
    return fifo_take(fifo, starpu_task_list_front(&fifo->list));
}

static void leave_priorities(starpu_st_fifo_taskq_t fifo,
                             const struct starpu_task *task, int npriorities)
{
    int last = starpu_st_normalize_prio(task->priority, npriorities,
                                        present_context());

    for (int i = 0; i <= last && i < (int)fifo->npriorities; i++)
        fifo->ntasks_per_priority[i]--;
}

struct starpu_task *
starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo,
                                          unsigned workerid, int num_priorities)
{
    struct starpu_task *task =
        fifo_take(fifo, orr_task_list_most_ready(&fifo->list, workerid));

    if (task && num_priorities > 0)
        leave_priorities(fifo, task, num_priorities);
    return task;
}

/* --- what is ahead --- */

/* The expected length of the tasks that would come before a new one of that priority,
 * and their number. */
static double length_ahead(starpu_st_fifo_taskq_t fifo, int priority,
                           int workerid, unsigned nimpl, int *ret_ntasks)
{
    double length = 0;
    struct starpu_task *task = fifo->list.head;

    *ret_ntasks = 0;
    for (; task && task->priority >= priority; task = task->next) {
        length += starpu_task_worker_expected_length(
            task, (unsigned)workerid, present_context(), nimpl);
        ++*ret_ntasks;
    }
    return length;
}

double starpu_st_fifo_taskq_get_exp_len_prev_task_list(
    starpu_st_fifo_taskq_t fifo, struct starpu_task *task, int workerid,
    int nimpl, int *fifo_ntasks)
{
    const struct starpu_task *last = fifo->list.tail;
    int n;
    double length;

    if (last && last->priority >= task->priority) {
        *fifo_ntasks = (int)fifo->ntasks;
        return fifo->exp_len;
    }
    length = length_ahead(fifo, task->priority, workerid, (unsigned)nimpl, &n);
    *fifo_ntasks = n;
    return fifo->pipeline_len + length;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls_times.c - what kernels of a real run took, in the record: each
 * task's own time, and a row for each codelet and footprint, as a model has it, see
 * calls.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/job/job.h"
#include "core/observe/calls_private.h"
#include "core/worker/workers.h"
#include "perfmodel/window.h"

/* Kernels of a codelet and footprint on a kind of worker. */
struct orr_calls_row {
    uint64_t codelet; /* its number */
    enum starpu_worker_archtype type;
    const char *kind; /* a constant; NULL: processors */
    unsigned implementation;
    uint32_t footprint;
    uint64_t size;
    double flops;
    double n, mean, squares; /* Welford's sums */
    struct orr_window *window; /* owned; from the second measure on */
};

/* How records call the workers of the type: NULL for processors, of which most tasks
 * are. */
static const char *kind_of(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    for (int i = ORR_KIND_CPU + 1; kind && i < ORR_NKINDS; i++)
        if (!strcmp(kind->variable, orr_kind_variables[i]))
            return orr_kind_variables[i];
    return NULL;
}

/* Where the place is of the row of the job's costs for what executed it. NULL without
 * memory. */
static struct orr_number *get_number(struct orr_calls *calls,
                                     const struct orr_job *job,
                                     enum starpu_worker_archtype type)
    ORR_REQUIRES(calls->lock)
{
    /* Costs live as long as the run: bytes of theirs are addresses of no other. */
    return orr_numbers_get(&calls->kernels,
                           (const char *)job->costs +
                               (unsigned)type * STARPU_MAXIMPLEMENTATIONS +
                               job->implementation);
}

/* The row, made of `like` if there is none. NULL without memory. */
static struct orr_calls_row *get_row(struct orr_calls *calls,
                                     const struct orr_job *job,
                                     const struct orr_calls_row *like)
    ORR_REQUIRES(calls->lock)
{
    struct orr_number *number = get_number(calls, job, like->type);
    struct orr_calls_row *row;

    if (number && number->number)
        return &calls->rows[number->number - 1];
    row = number ? orr_array_add(calls->rows, calls->nrows) : NULL;
    if (!row)
        return NULL;
    number->number = calls->nrows;
    *row = *like;
    return row;
}

_Static_assert(STARPU_NARCH * STARPU_MAXIMPLEMENTATIONS <=
                   sizeof(struct orr_cost_row),
               "each has a byte of the costs");

/* Returns whether there was memory for it. */
static bool row_add(struct orr_calls_row *row, double us)
{
    double off = us - row->mean;

    if (row->n == 1) {
        row->window = malloc(sizeof(*row->window));
        if (!row->window)
            return false;
        orr_window_init(row->window, 100 * (ORR_WINDOW_RATIO - 1));
        (void)orr_window_add(row->window, row->mean, 1);
    }
    if (row->window)
        (void)orr_window_add(row->window, us, 1);
    row->n++;
    row->mean += off / row->n;
    row->squares += off * (us - row->mean);
    return true;
}

/* The real clock counts these. */
static double to_nanoseconds(double us)
{
    return round(us * 1e3) / 1e3;
}

/* The first time of its kind: the row, with all that does not change. */
static struct orr_calls_row *make_times_row(struct orr_calls *calls,
                                      const struct orr_worker *worker,
                                      struct orr_job *job)
{
    struct starpu_task *task = job->task;
    struct orr_calls_row like = {
        .type = worker->desc->type,
        .kind = kind_of(worker->desc->type),
        .implementation = job->implementation,
        .footprint = job->costs->footprint,
        .size =
            orr_model_size(calls->rt, task->cl->model, task,
                           &calls->rt->workers->classes[worker->class_id], 0),
        .flops = task->flops,
    };
    struct orr_calls_row *row;

    orr_lock(&calls->lock);
    like.codelet =
        orr_calls_codelet(calls, task->cl, STARPU_TASK_GET_NBUFFERS(task),
                          task->cl->name ? NULL : job->costs->called);
    row = get_row(calls, job, &like);
    orr_unlock(&calls->lock);
    return row;
}

void orr_calls_took(struct orr_calls *calls, const struct orr_worker *worker,
                    struct orr_job *job, double us)
{
    struct starpu_task *task = job->task;
    struct orr_call call = orr_call_none;
    const struct orr_number *number;
    bool made = true;

    if (!calls->timed || !task->cl || !job->costs || !(us >= 0))
        return;
    orr_lock(&calls->lock);
    number = get_number(calls, job, worker->desc->type);
    if (!number || !number->number) {
        orr_unlock(&calls->lock);
        made = make_times_row(calls, worker, job) != NULL;
        orr_lock(&calls->lock);
        number = get_number(calls, job, worker->desc->type);
    }
    made = made && number && number->number;
    call.id = orr_calls_ended_task(calls, task);
    if (call.id) {
        call.verb = ORR_CALL_TOOK;
        call.us = to_nanoseconds(us);
        call.kind = made ? calls->rows[number->number - 1].kind
                         : kind_of(worker->desc->type);
        call.implementation = job->implementation;
        orr_record_write(&calls->writer, &call);
    }
    if (!made || !row_add(&calls->rows[number->number - 1], us))
        calls->failed = true;
    orr_unlock(&calls->lock);
}

void orr_calls_put_rows(struct orr_calls *calls)
{
    for (size_t i = 0; i < calls->nrows; i++) {
        const struct orr_calls_row *row = &calls->rows[i];
        struct orr_call call = orr_call_none;

        call.verb = ORR_CALL_ROW;
        call.codelet = row->codelet;
        call.kind = row->kind;
        call.implementation = row->implementation;
        call.footprint = row->footprint;
        call.size = row->size;
        call.flops = row->flops;
        call.value = (uint64_t)row->n;
        call.us = to_nanoseconds(row->window ? orr_window_estimate(row->window)
                                             : row->mean);
        call.deviation = to_nanoseconds(sqrt(row->squares / row->n));
        orr_record_write(&calls->writer, &call);
    }
}

void orr_calls_free_rows(struct orr_calls *calls)
{
    for (size_t i = 0; i < calls->nrows; i++)
        free(calls->rows[i].window);
    orr_numbers_free(&calls->kernels);
    free(calls->rows);
}

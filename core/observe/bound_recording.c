/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/bound_recording.c - see bound_recording.h. One lock guards the record.
 * Tasks that share a cost row are not distinguished, which stays for as long as the
 * runtime: the codelet itself may be gone when the bound is computed.
 */
#include "core/observe/bound_recording.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/graph_record.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

struct orr_recording {
    struct orr_lock lock;            /* rank ORR_RANK_RUNTIME */
    struct orr_bound_record *record; /* [lock] owned */
    bool active;                     /* [lock] */
    bool deps, prio;                 /* [lock] requested at the last start */
    bool said;                       /* [lock] that a task was not counted */
};

void orr_recording_free(struct orr_recording *recording)
{
    if (!recording)
        return;
    orr_bound_record_free(recording->record);
    free(recording);
}

static const struct orr_observer recording_observer;

/* The runtime's, made at the first call; NULL without memory. */
static struct orr_recording *recording_get(struct orr_runtime *rt)
{
    struct orr_recording *recording = atomic_load(&rt->views->bound), *fresh;

    if (recording)
        return recording;
    fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    orr_lock_init(&fresh->lock, ORR_RANK_RUNTIME);
    if (atomic_compare_exchange_strong(&rt->views->bound, &recording, fresh)) {
        orr_observers_want(&rt->observers, &recording_observer, ORR_TOLD_ALL,
                           true);
        return fresh;
    }
    free(fresh); /* another thread was faster */
    return recording;
}

int orr_recording_start(struct orr_runtime *rt, bool deps, bool prio)
{
    struct orr_recording *recording = recording_get(rt);
    struct orr_bound_record *record, *old;
    int err;

    if (!recording)
        return -ENOMEM;
    err = orr_bound_record_new(&record);
    if (err)
        return err;
    if (deps)
        err = orr_graph_record_open_window(rt);
    else
        orr_graph_record_close_window(rt);
    if (err) {
        orr_bound_record_free(record);
        return err;
    }
    orr_lock(&recording->lock);
    old = recording->record;
    recording->record = record;
    recording->active = true;
    recording->deps = deps;
    recording->prio = prio;
    recording->said = false;
    orr_unlock(&recording->lock);
    orr_bound_record_free(old);
    return 0;
}

void orr_recording_stop(struct orr_runtime *rt)
{
    struct orr_recording *recording = atomic_load(&rt->views->bound);

    if (!recording)
        return;
    orr_lock(&recording->lock);
    recording->active = false;
    orr_unlock(&recording->lock);
    orr_graph_record_close_window(rt);
}

struct orr_recording_kind orr_recording_kind(struct orr_runtime *rt)
{
    struct orr_recording *recording = atomic_load(&rt->views->bound);
    struct orr_recording_kind kind = {false, false, false};

    if (!recording)
        return kind;
    orr_lock(&recording->lock);
    kind = (struct orr_recording_kind){recording->record != NULL,
                                       recording->deps, recording->prio};
    orr_unlock(&recording->lock);
    return kind;
}

static void recording_task_waits(struct orr_runtime *rt,
                                 const struct orr_told *told)
{
    struct orr_recording *recording =
        atomic_load_explicit(&rt->views->bound, memory_order_acquire);
    struct orr_job *job = told->job;
    bool lost = false;

    if (!orr_graph_counts_bound(job))
        return;
    orr_lock(&recording->lock);
    if (recording->active &&
        orr_bound_record_task(recording->record, job->costs,
                              job->costs->footprint,
                              job->task->cl->model->symbol) != 0) {
        lost = !recording->said;
        recording->said = true;
    }
    orr_unlock(&recording->lock);
    if (lost)
        orr_log_warning("no memory to count task `%s' and perhaps others for "
                        "the bound, which will be lower than it could be",
                        orr_job_name(job));
}

static const struct orr_observer recording_observer = {{
    [ORR_TOLD_TASK_WAITS] = recording_task_waits,
}};

void orr_recording_observe(struct orr_runtime *rt)
{
    orr_observers_add(&rt->observers, &recording_observer);
}

/* --- the problem --- */

static const char *worker_name(unsigned worker, void *arg)
{
    const struct orr_runtime *rt = arg;

    return rt->workers->at[worker].desc->name;
}

static double duration_ms(const void *row, uint32_t footprint, unsigned worker,
                          void *arg)
{
    const struct orr_runtime *rt = arg;

    (void)footprint; /* the row's */
    return orr_cost_at_best(rt, row, rt->workers->at[worker].class_id) / 1e3;
}

int orr_recording_problem(struct orr_runtime *rt,
                          struct orr_bound_problem **ret)
{
    struct orr_recording *recording = atomic_load(&rt->views->bound);
    struct orr_bound_source source = {
        .nworkers = rt->workers->n,
        .worker_name = worker_name,
        .duration_ms = duration_ms,
        .arg = rt,
    };
    struct orr_bound_problem *problem;
    int err;

    if (!recording)
        return -ENODATA;
    /* Only contexts that submit tasks in the meantime wait for this. */
    orr_lock(&recording->lock);
    err = recording->record
              ? orr_bound_record_problem(recording->record, &source, &problem)
              : -ENODATA;
    orr_unlock(&recording->lock);
    if (!err && problem->npools == 0) {
        orr_bound_problem_free(problem);
        err = -ENODATA;
    }
    if (!err)
        *ret = problem;
    return err;
}

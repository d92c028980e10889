/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/submit.c - see submit.h. */
#include "core/observe/submit.h"

#include <string.h>

#include <starpu.h>

#include "core/data/handle.h"
#include "core/observe/submissions.h"
#include "core/task/job.h"

/* What is known of a datum when it is first used. */
static void describe(struct orr_submissions *s, const struct orr_handle *handle)
    ORR_REQUIRES(s->lock)
{
    struct orr_submitted_datum datum = {
        .handle = handle->id,
        .name = handle->name,
        .home = handle->home_node,
        .bytes = handle->size,
        .ncoordinates = handle->ncoordinates,
    };

    memcpy(datum.coordinates, handle->coordinates, sizeof(datum.coordinates));
    orr_submissions_describe(s, &datum);
}

static void set_use(struct orr_submissions *s, struct orr_submitted_use *use,
                    const struct orr_handle *handle, uint32_t mode)
    ORR_REQUIRES(s->lock)
{
    if (!orr_submissions_know(s, handle->id))
        describe(s, handle);
    *use = (struct orr_submitted_use){handle->id, mode, handle->size};
}

void orr_submit_task(struct orr_submissions *s, const struct orr_job *job,
                     double time)
{
    struct starpu_task *task = job->task;
    const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
    unsigned n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
    struct orr_submitted *entry = orr_submissions_begin(
        s, time, job->id, model ? model->symbol : NULL, n);

    for (unsigned i = 0; entry && i < n; i++)
        set_use(s, &entry->uses[i],
                orr_handle_of(STARPU_TASK_GET_HANDLE(task, i)),
                (uint32_t)STARPU_TASK_GET_MODE(task, i));
    orr_submissions_end(s, entry);
}

void orr_submit_wont_use(struct orr_submissions *s,
                         const struct orr_handle *handle, double time)
{
    struct orr_submitted *entry = orr_submissions_begin(s, time, 0, NULL, 1);

    if (entry)
        set_use(s, entry->uses, handle, STARPU_R);
    orr_submissions_end(s, entry);
}

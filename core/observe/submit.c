/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/submit.c - see submit.h. */
#include "core/observe/submit.h"

#include <string.h>

#include <starpu.h>

#include "core/data/handle.h"
#include "core/observe/submissions.h"
#include "core/task/job.h"

static void add_use(struct orr_submissions *s, struct orr_submitted *entry,
                    const struct orr_handle *handle, uint32_t mode)
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
    orr_submissions_use(s, entry, &datum, mode);
}

void orr_submit_task(struct orr_submissions *s, const struct orr_job *job,
                     double time)
{
    struct starpu_task *task = job->task;
    const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
    size_t n = task->cl ? STARPU_TASK_GET_NBUFFERS(task) : 0;
    struct orr_submitted *entry = orr_submissions_begin(s, time);

    if (entry) {
        entry->job = job->id;
        entry->model = orr_submissions_text(s, model ? model->symbol : NULL);
    }
    for (unsigned i = 0; i < n; i++)
        add_use(s, entry, orr_handle_of(STARPU_TASK_GET_HANDLE(task, i)),
                (uint32_t)STARPU_TASK_GET_MODE(task, i));
    orr_submissions_end(s);
}

void orr_submit_wont_use(struct orr_submissions *s,
                         const struct orr_handle *handle, double time)
{
    add_use(s, orr_submissions_begin(s, time), handle, STARPU_R);
    orr_submissions_end(s);
}

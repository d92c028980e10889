/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/executing.c - see executing.h. */
#include "core/observe/executing.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>

struct orr_executed {
    uint64_t job;
    /* NULL: its start is still to come, at the same time as its suspension. */
    const struct orr_trace_task *task;
    bool suspended;
};

void orr_executing_done(struct orr_executing *executing)
{
    free(executing->tasks);
    *executing = (struct orr_executing){0};
}

/* Its place, or n. */
static unsigned executing_find(const struct orr_executing *executing,
                               uint64_t job)
{
    unsigned i = executing->n;

    while (i > 0 && executing->tasks[i - 1].job != job)
        i--;
    return i > 0 ? i - 1 : executing->n;
}

static void executing_remove(struct orr_executing *executing, unsigned place)
{
    executing->n--;
    for (unsigned i = place; i < executing->n; i++)
        executing->tasks[i] = executing->tasks[i + 1];
}

/* Errors: -ENOMEM. */
static int executing_add(struct orr_executing *executing,
                         struct orr_executed task)
{
    struct orr_executed *added = orr_array_add(executing->tasks, executing->n);

    if (!added)
        return -ENOMEM;
    *added = task;
    return 0;
}

/* The task begins, ends, is suspended or goes on. */
static int executing_step(struct orr_executing *executing,
                          const struct orr_moment *moment, uint64_t job,
                          const struct orr_trace_task *task)
{
    unsigned place = executing_find(executing, job);
    struct orr_executed now = {.job = job};
    bool ends = task && moment->end;

    if (place < executing->n) {
        now = executing->tasks[place];
        executing->nsuspended -= now.suspended;
        executing_remove(executing, place);
    }
    if (ends)
        return 0;
    if (task)
        now.task = task;
    else
        now.suspended = !moment->end;
    executing->nsuspended += now.suspended;
    return now.task || now.suspended ? executing_add(executing, now) : 0;
}

const struct orr_trace_task *
orr_executing_current(const struct orr_executing *executing)
{
    for (unsigned i = executing->n; i > 0; i--)
        if (executing->tasks[i - 1].task && !executing->tasks[i - 1].suspended)
            return executing->tasks[i - 1].task;
    return NULL;
}

int orr_executing_step(struct orr_executing *executing,
                       const struct orr_moment *moment, bool *ret_changed)
{
    const struct orr_event *event = moment->event;
    const struct orr_trace_task *before = orr_executing_current(executing);
    bool is_task = event->type == ORR_EVENT_TASK;
    int rc =
        executing_step(executing, moment,
                       is_task ? event->u.task.job : event->u.suspension.job,
                       is_task ? &event->u.task : NULL);

    *ret_changed = orr_executing_current(executing) != before;
    return rc;
}

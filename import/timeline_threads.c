/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/timeline_threads.c - tasks of what threads did, see timeline.h, in a file that has no
 * device's kernels. Where the file says which slices are tasks, as ours do, these are; else
 * those that are in no other one. Where arrows lead from task to task, a task waits for
 * those that point to it; else, and in rows that no arrow touches, for the one before in
 * its row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "import/kinds.h"
#include "import/means.h"
#include "import/timeline.h"

struct thread_tasks {
    struct timeline *timeline;
    struct flow *flow;
    size_t *task;  /* by slice: its task, or FLOW_NONE */
    bool *touched; /* by row: arrows lead to its tasks, or from them */
    size_t **of_row, *nof_row; /* by row: its slices that are tasks, by start */
};

static bool has_kind(const struct timeline *timeline, enum slice_kind kind)
{
    for (size_t s = 0; s < timeline->nslices; s++)
        if (timeline->slices[s].kind == kind)
            return true;
    return false;
}

/* In nothing else that works. */
static bool is_outermost(const struct timeline *timeline, const struct timeline_slice *slice)
{
    for (size_t p = slice->parent; p != FLOW_NONE; p = timeline->slices[p].parent)
        if (timeline->slices[p].kind != SLICE_SPAN)
            return false;
    return true;
}

static int add_task(struct thread_tasks *t, size_t s)
{
    const struct timeline_slice *slice = &t->timeline->slices[s];
    const struct timeline_row *row = &t->timeline->rows[slice->row];
    struct flow_task *task = flow_add_task(t->flow);
    size_t *place = task ? orr_array_add(t->of_row[slice->row], t->nof_row[slice->row]) : NULL;

    if (!place)
        return flow_no_memory(t->flow);
    *place = s;
    t->task[s] = t->flow->ntasks - 1;
    task->us = slice->end - slice->start;
    task->iteration = timeline_iteration(t->timeline, slice->start);
    task->kind_of_worker = means_kind(row->thread_name);
    task->has_footprint = slice->has_shape;
    task->footprint = slice->shape;
    if (flow_set_kind(t->flow, task, slice->name, slice->field))
        return -ENOMEM; /* with a message */
    if (!task->chosen) {
        free(task->kernel);
        task->kernel = timeline_short_name(slice->name);
    }
    return task->kernel ? 0 : flow_no_memory(t->flow);
}

/* --- arrows --- */

/* The slice of the row at that time that is a task: around it, or the next one. */
static size_t slice_at(const struct thread_tasks *t, const struct timeline_arrow *arrow)
{
    const struct timeline_slice *slices = t->timeline->slices;
    const size_t *list = t->of_row[arrow->row];
    size_t low = 0, high = t->nof_row[arrow->row];

    while (low < high) { /* the first that starts later */
        size_t middle = low + (high - low) / 2;

        if (slices[list[middle]].start <= arrow->time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && slices[list[low - 1]].end >= arrow->time)
        return list[low - 1];
    return !arrow->inside && low < t->nof_row[arrow->row] ? list[low] : FLOW_NONE;
}

static int arrows_compare(const void *a, const void *b)
{
    const struct timeline_arrow *x = a, *y = b;
    int category = strcmp(x->category, y->category);

    if (category)
        return category;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* What is before in time waits for nothing that comes later. */
static int connect(struct thread_tasks *t, size_t from, size_t to)
{
    const struct timeline_slice *slices = t->timeline->slices;

    if (from == FLOW_NONE || to == FLOW_NONE || from == to ||
        slices[to].start < slices[from].start)
        return 0;
    t->touched[slices[from].row] = t->touched[slices[to].row] = true;
    return flow_wait(&t->flow->tasks[t->task[to]], t->task[from]) ? flow_no_memory(t->flow) : 0;
}

static int follow_arrows(struct thread_tasks *t)
{
    struct timeline_arrow *arrows = t->timeline->arrows;
    size_t from = FLOW_NONE;
    int rc = 0;

    if (t->timeline->narrows)
        qsort(arrows, t->timeline->narrows, sizeof(*arrows), arrows_compare);
    for (size_t a = 0; !rc && a < t->timeline->narrows; a++) {
        size_t here = slice_at(t, &arrows[a]);

        if (arrows[a].begins) {
            from = here;
            continue;
        }
        if (a > 0 && arrows[a - 1].id == arrows[a].id &&
            !strcmp(arrows[a - 1].category, arrows[a].category))
            rc = connect(t, from, here);
    }
    return rc;
}

/* Rows without arrows are programs. */
static int follow_rows(struct thread_tasks *t)
{
    for (size_t r = 0; r < t->timeline->nrows; r++)
        for (size_t i = 1; !t->touched[r] && i < t->nof_row[r]; i++)
            if (flow_wait(&t->flow->tasks[t->task[t->of_row[r][i]]],
                          t->task[t->of_row[r][i - 1]]))
                return flow_no_memory(t->flow);
    return 0;
}

/* --- all of it --- */

static int fill_thread_tasks(struct thread_tasks *t)
{
    const struct timeline *timeline = t->timeline;
    bool marked = has_kind(timeline, SLICE_TASK), worked = has_kind(timeline, SLICE_WORK);
    int rc = 0;

    for (size_t s = 0; !rc && s < timeline->nslices; s++) {
        const struct timeline_slice *slice = &timeline->slices[s];

        t->task[s] = FLOW_NONE;
        if (marked ? slice->kind == SLICE_TASK
                   : (slice->kind != SLICE_SPAN || !worked) && is_outermost(timeline, slice))
            rc = add_task(t, s);
    }
    if (!rc)
        rc = follow_arrows(t);
    if (!rc)
        rc = follow_rows(t);
    if (!rc && flow_note(t->flow, "the file does not say which data tasks use: nothing is "
                                  "transferred"))
        rc = flow_no_memory(t->flow);
    if (!rc)
        rc = flow_give_order(t->flow);
    return rc ? rc : means_take(t->flow);
}

int timeline_thread_tasks(struct timeline *timeline)
{
    struct thread_tasks t = {.timeline = timeline, .flow = timeline->flow};
    int rc;

    t.task = calloc(timeline->nslices + 1, sizeof(*t.task));
    t.touched = calloc(timeline->nrows + 1, sizeof(*t.touched));
    t.of_row = calloc(timeline->nrows + 1, sizeof(*t.of_row));
    t.nof_row = calloc(timeline->nrows + 1, sizeof(*t.nof_row));
    rc = t.task && t.touched && t.of_row && t.nof_row ? fill_thread_tasks(&t)
                                                      : flow_no_memory(t.flow);
    for (size_t r = 0; t.of_row && r < timeline->nrows; r++)
        free(t.of_row[r]);
    free(t.of_row);
    free(t.nof_row);
    free(t.touched);
    free(t.task);
    return rc;
}

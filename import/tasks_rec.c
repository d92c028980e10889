/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/tasks_rec.c - tasks.rec, which StarPU's trace tools write, with the
 * data.rec beside it. Tasks are submitted in the order of SubmitOrder; which
 * task waits for which is resolved when all are read.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/grow.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/rec_lines.h"
#include "import/sched_rec.h"

/* Ids that stand in the file, until all tasks are known. */
struct waits {
    char *before, *end_before; /* owned, or NULL */
};

/* Fields of the record that is being read; texts are owned. */
struct entry {
    char *control, *name, *model, *id, *before, *end_before;
    char *kind; /* the field that kinds.h asks for */
    char *handles, *modes, *sizes;
    uint64_t order, tag, footprint;
    int64_t worker, priority, iteration, rank;
    double submit, start, end, gflop;
    bool any, has_footprint;
};

struct reader {
    struct flow *flow;
    struct rec_file file;
    struct entry entry;
    struct waits *waits; /* per task; owned */
    size_t room;
    int64_t rank; /* of the tasks so far, -1: none has one */
    uint64_t first;  /* the lowest SubmitOrder so far, 0: none … */
    double began_ms; /* … and the SubmitTime of that one */
    bool unknown; /* some task waits for one that is not in the file */
};

static void task_entry_clear(struct entry *e)
{
    free(e->control);
    free(e->name);
    free(e->model);
    free(e->kind);
    free(e->id);
    free(e->before);
    free(e->end_before);
    free(e->handles);
    free(e->modes);
    free(e->sizes);
    *e = (struct entry){.worker = -1,
                        .iteration = -1,
                        .rank = -1,
                        .start = (double)NAN,
                        .end = (double)NAN};
}

/* --- data --- */

struct letter {
    const char *text;
    uint32_t mode;
};

/* The mode "RWC"; 0: it is none. */
static uint32_t rec_access_mode(struct flow *flow, const char *text, int *rc)
{
    static const struct letter letters[] = {
        {"X-mpi", STARPU_REDUX}, {"R", STARPU_R},     {"W", STARPU_W},
        {"S", STARPU_SCRATCH},   {"X", STARPU_REDUX}, {"C", STARPU_COMMUTE},
    };
    uint32_t mode = 0;

    while (*text) {
        size_t i = 0, n = sizeof(letters) / sizeof(*letters);

        while (i < n &&
               strncmp(text, letters[i].text, strlen(letters[i].text)) != 0)
            i++;
        if (i == n)
            return 0;
        mode |= letters[i].mode;
        text += strlen(letters[i].text);
    }
    if (!(mode & STARPU_REDUX))
        return mode & (STARPU_RW | STARPU_SCRATCH) ? mode : 0;
    *rc = flow_note(flow, "tasks contribute to reductions, whose codelets the "
                          "file has not: they change the data in turns");
    return STARPU_RW | STARPU_COMMUTE;
}

static int rec_get_datum(struct flow *flow, const char *handle, uint64_t bytes,
                         size_t *ret)
{
    size_t d = flow_find(&flow->datum_names, handle);
    int rc = 0;

    if (d == FLOW_NONE) {
        d = flow_add_datum(flow, NULL, bytes);
        if (d == FLOW_NONE)
            return -ENOMEM;
        rc = flow_set(&flow->datum_names, handle, d);
    } else if (flow->data[d].bytes != bytes) {
        rc = flow_note(flow, "data have several sizes: each keeps the first");
    }
    *ret = d;
    return rc;
}

/* A use, of which advice has the handle alone. `size` may be NULL. */
static int add_use(struct flow *flow, struct flow_task *task,
                   const char *handle, uint32_t mode, char *size)
{
    struct rec_field field = {"Sizes", size};
    size_t d = flow_find(&flow->datum_names, handle);
    uint64_t bytes = 0;
    int rc = 0;

    if (!size && d == FLOW_NONE)
        return 0; /* nobody has used it */
    if (size)
        rc = rec_number(flow, &field, 10, &bytes);
    if (!rc && size)
        rc = rec_get_datum(flow, handle, bytes, &d);
    return rc ? rc : flow_use(task, d, mode);
}

static int task_entry_add_uses(struct reader *r, struct flow_task *task)
{
    struct entry *e = &r->entry;
    char *handles = e->handles, *modes = e->modes, *sizes = e->sizes;
    char *handle, *text, *size;
    uint32_t mode = STARPU_R;
    int rc = 0;

    while (!rc && handles && (handle = rec_word(&handles))) {
        text = modes ? rec_word(&modes) : NULL;
        size = sizes ? rec_word(&sizes) : NULL;
        if ((!text || !size) && task->kind == FLOW_TASK)
            return flow_wrong(
                r->flow, "job %s has more Handles than Modes or Sizes", e->id);
        if (text)
            mode = rec_access_mode(r->flow, text, &rc);
        if (!mode)
            return flow_wrong(r->flow, "\"%.20s\" is no access mode", text);
        if (!rc)
            rc = add_use(r->flow, task, handle, mode, size);
    }
    return rc;
}

/* --- tasks --- */

static int check_rank(struct reader *r)
{
    if (r->entry.rank < 0 || r->entry.rank == r->rank)
        return 0;
    if (r->rank >= 0)
        return flow_wrong(r->flow,
                          "tasks of several MPI processes: a run has one "
                          "machine. Make the file of one process's trace");
    r->rank = r->entry.rank;
    return 0;
}

/* Takes the entry's texts. */
static int task_entry_fill_task(struct reader *r, struct flow_task *task)
{
    struct entry *e = &r->entry;
    int rc = 0;

    if (e->control && strcmp(e->control, "WontUse"))
        return flow_wrong(r->flow,
                          "Control: \"%.40s\", which this version "
                          "does not know",
                          e->control);
    task->kind = e->control       ? FLOW_WONT_USE
                 : e->worker >= 0 ? FLOW_TASK
                                  : FLOW_CONTROL;
    task->order = e->order;
    task->priority = e->priority;
    task->ran = e->worker;
    task->iteration = e->iteration;
    task->flops = e->gflop * 1e9;
    task->tag = e->tag;
    task->footprint = (uint32_t)e->footprint;
    task->has_footprint = e->has_footprint;
    if (e->end >= e->start)
        task->us = (e->end - e->start) * 1000;
    if (task->kind == FLOW_TASK)
        rc = flow_set_kind(r->flow, task,
                           e->name    ? e->name
                           : e->model ? e->model
                                      : "unnamed",
                           e->kind);
    /* A model of another kind than the file has is found by the kind's name. */
    task->model = task->chosen ? NULL : e->model;
    task->name = e->name;
    if (task->chosen)
        free(e->model);
    e->model = e->name = NULL;
    if (!rc && task->kind != FLOW_CONTROL)
        rc = task_entry_add_uses(r, task);
    return rc;
}

static int keep_waits(struct reader *r)
{
    struct entry *e = &r->entry;

    if (orr_grow(&r->waits, &r->room, r->flow->ntasks, sizeof(*r->waits)) < 0)
        return -ENOMEM;
    r->waits[r->flow->ntasks - 1] = (struct waits){e->before, e->end_before};
    e->before = e->end_before = NULL;
    return 0;
}

/* The record ends here. */
static int task_entry_end(struct reader *r)
{
    struct entry *e = &r->entry;
    struct flow_task *task;
    int rc;

    if (!e->any)
        return 0;
    if (!e->id)
        return flow_wrong(r->flow, "the record that ends here has no JobId");
    rc = check_rank(r);
    if (rc)
        return rc;
    task = flow_add_task(r->flow);
    if (!task || keep_waits(r))
        return -ENOMEM;
    rc = flow_set(&r->flow->task_names, e->id, r->flow->ntasks - 1);
    if (rc == -EEXIST)
        return flow_wrong(r->flow, "a second job %s", e->id);
    if (e->order && (!r->first || e->order < r->first)) {
        r->first = e->order;
        r->began_ms = e->submit;
    }
    if (!rc)
        rc = task_entry_fill_task(r, task);
    if (!rc && task->kind == FLOW_WONT_USE && task->nuses != 1)
        task->kind = FLOW_CONTROL; /* about what nobody has used */
    task_entry_clear(e);
    return rc;
}

/* --- fields --- */

enum value { TEXT, DECIMAL, HEX, INTEGER, REAL, FIRST };

struct known {
    const char *name;
    enum value value;
    size_t offset;
};

#define KNOWN(name, value, member)                                             \
    {                                                                          \
        name, value, offsetof(struct entry, member)                            \
    }

static const struct known known[] = {
    KNOWN("Control", TEXT, control),
    KNOWN("Name", TEXT, name),
    KNOWN("Model", TEXT, model),
    KNOWN("JobId", TEXT, id),
    KNOWN("SubmitOrder", DECIMAL, order),
    KNOWN("DependsOn", TEXT, before),
    KNOWN("EndDependencies", TEXT, end_before),
    KNOWN("Tag", HEX, tag),
    KNOWN("WorkerId", INTEGER, worker),
    KNOWN("Footprint", HEX, footprint),
    KNOWN("Handles", TEXT, handles),
    KNOWN("Modes", TEXT, modes),
    KNOWN("Sizes", TEXT, sizes),
    KNOWN("SubmitTime", REAL, submit),
    KNOWN("StartTime", REAL, start),
    KNOWN("EndTime", REAL, end),
    KNOWN("GFlop", REAL, gflop),
    KNOWN("Iteration", FIRST, iteration),
    KNOWN("Priority", INTEGER, priority),
    KNOWN("MPIRank", INTEGER, rank),
};

static int task_entry_set_field(struct reader *r, struct rec_field *field)
{
    const char *wanted = flow_kinds_field(r->flow);
    char *value = field->value;
    void *to;
    size_t i = 0;

    while (i < sizeof(known) / sizeof(*known) &&
           strcmp(known[i].name, field->name))
        i++;
    r->entry.any = true;
    if (wanted && !strcmp(wanted, field->name) && flow_text(&r->entry.kind, value))
        return -ENOMEM;
    if (i == sizeof(known) / sizeof(*known))
        return 0; /* what replays do not need */
    to = (char *)&r->entry + known[i].offset;
    r->entry.has_footprint |= to == &r->entry.footprint;
    switch (known[i].value) {
    case TEXT:
        return flow_text(to, value);
    case DECIMAL:
        return rec_number(r->flow, field, 10, to);
    case HEX:
        return rec_number(r->flow, field, 16, to);
    case INTEGER:
        return rec_integer(r->flow, field, to);
    case REAL:
        return rec_real(r->flow, field, to);
    case FIRST:
        field->value = rec_word(&value);
        return field->value ? rec_integer(r->flow, field, to) : 0;
    }
    return 0;
}

static int tasks_rec_read(struct reader *r, const char *path)
{
    struct rec_field field;
    int rc = rec_open(r->flow, path, &r->file);

    while (!rc && (rc = rec_next(&r->file, &field)) > 0) {
        if (!field.name)
            rc = task_entry_end(r);
        else
            rc = task_entry_set_field(r, &field);
        /* StarPU writes no empty line behind this one. */
        if (!rc && field.name && !strcmp(field.name, "EndDependencies"))
            rc = task_entry_end(r);
    }
    if (!rc)
        rc = task_entry_end(r);
    rec_close(&r->file);
    return rc;
}

/* --- dependencies --- */

static int tasks_rec_resolve_ids(struct reader *r, size_t t, char *ids,
                                 int (*wait)(struct flow_task *, size_t))
{
    char *id;
    int rc = 0;

    while (!rc && ids && (id = rec_word(&ids))) {
        size_t before = flow_find(&r->flow->task_names, id);

        if (before == FLOW_NONE || before == t)
            r->unknown = true;
        else if (r->flow->tasks[before].kind != FLOW_WONT_USE)
            rc = wait(&r->flow->tasks[t], before);
    }
    return rc;
}

/* A tag that several tasks have had says nothing of the order in which. */
static int keep_single_tags(struct flow *flow)
{
    struct flow_index tags = {0};
    char text[24];
    int rc = 0;

    for (size_t t = 0; !rc && t < flow->ntasks; t++) {
        size_t other;

        if (!flow->tasks[t].tag)
            continue;
        snprintf(text, sizeof(text), "%llx",
                 (unsigned long long)flow->tasks[t].tag);
        other = flow_find(&tags, text);
        flow->tasks[t].tagged = other == FLOW_NONE;
        if (other != FLOW_NONE)
            flow->tasks[other].tagged = false;
        else
            rc = flow_set(&tags, text, t);
    }
    flow_index_done(&tags);
    return rc;
}

static int tasks_rec_resolve_all(struct reader *r)
{
    struct flow *flow = r->flow;
    int rc = 0;

    flow->line = 0;
    if (!flow->ntasks)
        return flow_wrong(flow, "there is no task in it");
    for (size_t t = 0; !rc && t < flow->ntasks; t++) {
        rc = tasks_rec_resolve_ids(r, t, r->waits[t].before, flow_wait);
        if (!rc)
            rc = tasks_rec_resolve_ids(r, t, r->waits[t].end_before,
                                       flow_end_wait);
    }
    if (!rc && r->unknown)
        rc = flow_note(flow, "tasks wait for others that are not in the file");
    return rc ? rc : keep_single_tags(flow);
}

int import_tasks_rec(struct flow *flow, const char *path,
                     const struct orr_import_options *options)
{
    struct reader r = {.flow = flow, .rank = -1};
    int rc;

    flow->pinned = true;
    task_entry_clear(&r.entry);
    rc = import_data_rec(flow, path);
    if (!rc)
        rc = tasks_rec_read(&r, path);
    if (!rc)
        rc = tasks_rec_resolve_all(&r);
    if (r.began_ms > 0 && r.began_ms < 1e12)
        flow->pause_us = r.began_ms * 1000;
    for (size_t t = 0; !rc && options->recorded_workers && t < flow->ntasks;
         t++)
        flow->tasks[t].worker = flow->tasks[t].ran;
    if (!rc && options->schedule)
        rc = import_sched_rec(flow, options->schedule);
    task_entry_clear(&r.entry);
    for (size_t t = 0; t < r.room; t++) {
        free(r.waits[t].before);
        free(r.waits[t].end_before);
    }
    free(r.waits);
    return rc;
}

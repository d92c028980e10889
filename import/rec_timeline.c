/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/rec_timeline.c - tasks.rec and trace.rec of StarPU's trace tools as timelines: what
 * worker executed which task when. Workers are known by number alone; a tasks.rec says on
 * which memory node each task was.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "import/rec_lines.h"
#include "import/timeline.h"

#define MOST_WORKERS 65535

/* Fields of the record that is being read; NAN and below 0: not there. */
struct entry {
    const char *name, *category, *event; /* the timeline's */
    int64_t worker, node;
    double start, end; /* ms */
    uint64_t footprint;
    bool has_footprint, any;
};

struct reader {
    struct timeline *timeline;
    struct flow *flow;
    struct rec_file file;
    struct entry entry;
    bool states;  /* of a trace.rec: slices end with the worker's next state */
    size_t *open; /* by worker: the slice that is open + 1; owned */
    size_t nopen;
    double last; /* µs */
};

static const struct entry no_entry = {
    .worker = -1, .start = (double)NAN, .end = (double)NAN};

/* --- fields --- */

static int keep_text(struct reader *r, const char **to, const char *value)
{
    char *text = strdup(value);
    size_t n = text ? strlen(text) : 0;

    while (n > 0 && strchr(" \t", text[n - 1]))
        text[--n] = '\0';
    *to = text ? timeline_text(r->timeline, text) : NULL;
    free(text);
    return *to ? 0 : flow_no_memory(r->flow);
}

static int set_task_field(struct reader *r, struct rec_field *field)
{
    struct entry *e = &r->entry;
    const char *name = field->name;

    if (!strcmp(name, "Name") || (!strcmp(name, "Model") && !e->name))
        return keep_text(r, &e->name, field->value);
    if (!strcmp(name, "WorkerId"))
        return rec_integer(r->flow, field, &e->worker);
    if (!strcmp(name, "MemoryNode"))
        return rec_integer(r->flow, field, &e->node);
    if (!strcmp(name, "StartTime"))
        return rec_real(r->flow, field, &e->start);
    if (!strcmp(name, "EndTime"))
        return rec_real(r->flow, field, &e->end);
    if (strcmp(name, "Footprint") != 0)
        return 0;
    e->has_footprint = true;
    return rec_number(r->flow, field, 16, &e->footprint);
}

/* E: event, N: name, C: category, W: worker, T: thread, S: time. */
static int set_state_field(struct reader *r, struct rec_field *field)
{
    struct entry *e = &r->entry;

    if (field->name[0] == '\0' || field->name[1] != '\0')
        return 0;
    switch (field->name[0]) {
    case 'E':
        return keep_text(r, &e->event, field->value);
    case 'N':
        return keep_text(r, &e->name, field->value);
    case 'C':
        return keep_text(r, &e->category, field->value);
    case 'W':
        return rec_integer(r->flow, field, &e->worker);
    case 'S':
        return rec_real(r->flow, field, &e->start);
    default:
        return 0;
    }
}

/* --- records --- */

/* The slice begins, and ends at once. */
static struct timeline_slice *add_slice(struct reader *r)
{
    const struct entry *e = &r->entry;
    struct timeline_slice *slice;
    struct timeline_row *row;
    char number[24], name[40];
    size_t at;

    snprintf(number, sizeof(number), "%lld", (long long)e->worker);
    snprintf(name, sizeof(name), "worker %s", number);
    at = timeline_thread(r->timeline, "StarPU", number);
    if (at == FLOW_NONE)
        return NULL;
    row = &r->timeline->rows[at];
    row->thread_name = timeline_text(r->timeline, name);
    row->queue = e->node > 0;
    row->device = e->node - 1;
    slice = row->thread_name ? timeline_add(r->timeline, SLICE_TASK, at,
                                            e->name ? e->name : "unnamed")
                             : NULL;
    if (slice)
        slice->start = slice->end = e->start * 1000;
    return slice;
}

static int end_task(struct reader *r)
{
    const struct entry *e = &r->entry;
    struct timeline_slice *slice;

    if (e->worker < 0 || !(e->end >= e->start))
        return 0;
    slice = add_slice(r);
    if (!slice)
        return -ENOMEM;
    slice->end = e->end * 1000;
    slice->has_shape = e->has_footprint;
    slice->shape = (uint32_t)e->footprint;
    return 0;
}

/* What the worker was in before ends. */
static int end_state(struct reader *r)
{
    const struct entry *e = &r->entry;
    size_t worker = (size_t)e->worker;
    bool sets = e->event && (!strcmp(e->event, "SetState") ||
                             !strcmp(e->event, "PushState") ||
                             !strcmp(e->event, "PopState"));

    if (!sets || e->worker < 0)
        return 0;
    if (isnan(e->start) || e->worker > MOST_WORKERS)
        return flow_wrong(r->flow,
                          "the state that ends here has no time, or a worker "
                          "that there is not");
    if (orr_grow(&r->open, &r->nopen, worker + 1, sizeof(*r->open)))
        return flow_no_memory(r->flow);
    r->last = fmax(r->last, e->start * 1000);
    if (r->open[worker])
        r->timeline->slices[r->open[worker] - 1].end = e->start * 1000;
    r->open[worker] = 0;
    if (!strcmp(e->event, "PopState") || !e->category ||
        strcmp(e->category, "Task") != 0)
        return 0;
    if (!add_slice(r))
        return -ENOMEM;
    r->open[worker] = r->timeline->nslices;
    return 0;
}

static int end_entry(struct reader *r)
{
    int rc = !r->entry.any ? 0 : r->states ? end_state(r) : end_task(r);

    r->entry = no_entry;
    return rc;
}

static int read_all(struct reader *r)
{
    struct rec_field field;
    int rc = 0;

    while (!rc && (rc = rec_next(&r->file, &field)) > 0) {
        if (!field.name) {
            rc = end_entry(r);
            continue;
        }
        /* StarPU writes no empty line behind this one. */
        if (!strcmp(field.name, "EndDependencies")) {
            rc = end_entry(r);
            continue;
        }
        if (!r->entry.any)
            r->states = !strcmp(field.name, "E");
        r->entry.any = true;
        rc = r->states ? set_state_field(r, &field) : set_task_field(r, &field);
    }
    return rc ? rc : end_entry(r);
}

int timeline_read_rec(struct timeline *timeline, const char *path)
{
    struct reader r = {
        .timeline = timeline, .flow = timeline->flow, .entry = no_entry};
    int rc = rec_open(timeline->flow, path, &r.file);

    if (!rc)
        rc = read_all(&r);
    rec_close(&r.file);
    for (size_t w = 0; w < r.nopen; w++)
        if (r.open[w])
            timeline->slices[r.open[w] - 1].end = r.last;
    free(r.open);
    timeline->flow->line = 0;
    if (!rc && !timeline->nslices)
        rc = flow_wrong(timeline->flow,
                        "no task in it says which worker executed it, and "
                        "when");
    return rc;
}

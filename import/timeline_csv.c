/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/timeline_csv.c - a timeline as a trace in CSV (docs/TRACES.md): a worker for each
 * row that worked, tasks for its outermost slices, copies between the memories of host and
 * devices.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "import/timeline.h"

struct csv {
    const struct timeline *timeline;
    FILE *out;
    unsigned *worker; /* by row: its number + 1; 0: it did nothing */
    bool marked;      /* the file says which slices are tasks */
    double end;
};

/* RFC 4180. */
static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
    putc('"', out);
}

/* 0 is the host's. */
static unsigned node_of_row(const struct csv *c, size_t row)
{
    const struct timeline_row *r = &c->timeline->rows[row];

    return r->queue && r->device >= 0 && r->device < 1000 ? (unsigned)r->device + 1 : 0;
}

static bool is_copy(const struct timeline_slice *slice)
{
    return slice->kind == SLICE_COPY && slice->way != COPY_INSIDE;
}

/* What the row shows: of a thread what is in nothing else that works. */
static bool is_shown(const struct csv *c, const struct timeline_slice *slice)
{
    if (is_copy(slice) || slice->kind == SLICE_SPAN)
        return false;
    if (slice->kind >= SLICE_KERNEL)
        return true;
    if (c->marked)
        return slice->kind == SLICE_TASK;
    for (size_t p = slice->parent; p != FLOW_NONE; p = c->timeline->slices[p].parent)
        if (c->timeline->slices[p].kind != SLICE_SPAN)
            return false;
    return true;
}

static int put_workers(struct csv *c)
{
    unsigned n = 0;

    for (size_t s = 0; s < c->timeline->nslices; s++) {
        const struct timeline_slice *slice = &c->timeline->slices[s];

        if (slice->end > c->end)
            c->end = slice->end;
        c->worker[slice->row] |= is_shown(c, slice);
    }
    for (size_t r = 0; r < c->timeline->nrows; r++) {
        char *name = c->worker[r] ? timeline_row_name(c->timeline, r) : NULL;

        if (!c->worker[r])
            continue;
        if (!name)
            return -ENOMEM;
        orr_fprintf(c->out, "worker,%.6f,%.6f,%u,,", c->end / 1e3, c->end / 1e3, n);
        put_text(c->out, name);
        fprintf(c->out, ",,%u,,,,,,,,,,,\n", node_of_row(c, r));
        c->worker[r] = ++n;
        free(name);
    }
    return 0;
}

static int put_slice(const struct csv *c, const struct timeline_slice *slice, size_t job)
{
    char *name = timeline_short_name(slice->name);
    int64_t iteration = timeline_iteration(c->timeline, slice->start);

    if (!name)
        return -ENOMEM;
    orr_fprintf(c->out, "task,%.6f,%.6f,%u,%zu,", slice->start / 1e3, slice->end / 1e3,
                c->worker[slice->row] - 1, job);
    put_text(c->out, name);
    fprintf(c->out, ",0,%u,,0,,,,%08x,,,", node_of_row(c, slice->row), slice->shape);
    if (iteration >= 0)
        fprintf(c->out, "%" PRId64, iteration);
    fputs(",,\n", c->out);
    free(name);
    return 0;
}

static void put_copy(const struct csv *c, const struct timeline_slice *slice)
{
    unsigned node = node_of_row(c, slice->row);
    bool arrives = slice->way == COPY_TO_DEVICE;

    orr_fprintf(c->out, "copy,%.6f,%.6f,,,", slice->start / 1e3, slice->end / 1e3);
    put_text(c->out, slice->name);
    orr_fprintf(c->out, ",,%u,%u,%.0f,%s,0,,,,,,,\n", arrives ? node : 0,
                arrives ? (unsigned)slice->peer : node, slice->bytes,
                arrives ? "fetch" : "write-back");
}

int timeline_write_csv(const struct timeline *timeline, FILE *out)
{
    struct csv c = {.timeline = timeline, .out = out};
    size_t job = 0;
    int rc;

    for (size_t s = 0; s < timeline->nslices; s++)
        c.marked |= timeline->slices[s].kind == SLICE_TASK;
    c.worker = calloc(timeline->nrows + 1, sizeof(*c.worker));
    if (!c.worker)
        return flow_no_memory(timeline->flow);
    fputs("record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,handle,change,"
          "footprint,gflop,tag,iteration,subiteration,color\n",
          out);
    rc = put_workers(&c);
    for (size_t s = 0; !rc && s < timeline->nslices; s++) {
        const struct timeline_slice *slice = &timeline->slices[s];

        if (is_shown(&c, slice))
            rc = put_slice(&c, slice, ++job);
        else if (is_copy(slice))
            put_copy(&c, slice);
    }
    free(c.worker);
    return rc ? flow_no_memory(timeline->flow) : 0;
}

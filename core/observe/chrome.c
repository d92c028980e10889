/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chrome.c - the record in the Trace Event Format, which Perfetto
 * and chrome://tracing read: a track per worker and per pair of memory nodes,
 * counters, arrows from what a task waited for to the task. What overlaps on a
 * track goes to further lanes, since slices of one may only nest. Times are µs.
 * One thread.
 */
#include "core/observe/trace_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/graph.h"
#include "core/observe/decimal.h"
#include "core/observe/executing.h"
#include "core/observe/json_text.h"

enum { WORKERS = 1, LINKS, MEMORY, SCHEDULER };

/* Slices that do not overlap share a lane. */
struct track {
    double *ends; /* per lane, of its last slice; owned */
    unsigned nlanes;
};

/* A task in the file. */
struct slice {
    uint64_t job;
    unsigned tid;
    double start, end;
};

struct chrome {
    FILE *file;
    const struct orr_trace_source *source;
    bool any; /* an event was written */
    struct track *workers, *links;
    struct slice *tasks; /* that were written */
    size_t ntasks;
    struct orr_executing *executing; /* tasks of each worker */
    struct orr_moment *states; /* what each worker has entered; .event NULL */
    int64_t counters[ORR_TRACE_NCOUNTERS];
    int64_t *memory; /* bytes per node */
    unsigned long long narrows;
    struct orr_general gflop, memory_used;
    char text[ORR_DECIMAL_SIZE];
};

/* The time as µs, until the next call. */
static const char *us(struct chrome *c, double time)
{
    return orr_decimal(time - c->source->trace->start, 3, c->text);
}

/* Begins an event; the caller ends it with a brace. */
static void begin(struct chrome *c, const char *phase, unsigned pid,
                  unsigned tid)
{
    orr_print(c->file, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u",
              c->any ? ",\n" : "\n", phase, pid, tid);
    c->any = true;
}

static void name_thread(struct chrome *c, unsigned pid, unsigned tid,
                        unsigned order, const char *name, unsigned lane)
{
    char text[256];

    if (lane)
        snprintf(text, sizeof(text), "%s (%u)", name, lane + 1);
    else
        snprintf(text, sizeof(text), "%s", name);
    begin(c, "M", pid, tid);
    fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", c->file);
    orr_json_text(c->file, text);
    fputs("}}", c->file);
    begin(c, "M", pid, tid);
    fprintf(c->file,
            ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
            order);
}

/* The lane that is free from `start` on, kept until `end`. *ret_new: it has no
 * name yet. Errors: -ENOMEM. */
static int take_lane(struct track *track, double start, double end,
                     bool *ret_new)
{
    unsigned lane = 0;
    double *ends;

    while (lane < track->nlanes && track->ends[lane] > start)
        lane++;
    *ret_new = lane == track->nlanes;
    if (*ret_new) {
        ends = realloc(track->ends, (lane + 1) * sizeof(*ends));
        if (!ends)
            return -ENOMEM;
        track->ends = ends;
        track->nlanes++;
    }
    track->ends[lane] = end;
    return (int)lane;
}

/* The thread of a worker's, or a pair's, slice; negative without memory. */
static int worker_tid(struct chrome *c, unsigned worker, double start,
                      double end)
{
    const struct orr_trace *trace = c->source->trace;
    bool fresh;
    int lane = take_lane(&c->workers[worker], start, end, &fresh);
    int tid = lane * (int)trace->nworkers + (int)worker + 1;

    if (lane > 0 && fresh)
        name_thread(c, WORKERS, (unsigned)tid, worker * 8 + (unsigned)lane,
                    trace->workers[worker].name, (unsigned)lane);
    return lane < 0 ? lane : tid;
}

static int link_tid(struct chrome *c, const struct orr_trace_copy *copy)
{
    unsigned nnodes = c->source->trace->nnodes;
    unsigned pair = copy->src * nnodes + copy->dst;
    bool fresh;
    int lane = take_lane(&c->links[pair], copy->start, copy->end, &fresh);
    int tid = lane * (int)(nnodes * nnodes) + (int)pair + 1;
    char name[160], from[32], to[32];

    if (lane < 0 || !fresh)
        return lane < 0 ? lane : tid;
    snprintf(name, sizeof(name), "%s to %s",
             orr_trace_node_name(c->source, copy->src, from, sizeof(from)),
             orr_trace_node_name(c->source, copy->dst, to, sizeof(to)));
    name_thread(c, LINKS, (unsigned)tid, pair * 8 + (unsigned)lane, name,
                (unsigned)lane);
    return tid;
}

static void write_slice(struct chrome *c, unsigned pid, int tid,
                        const char *category, const char *name, double start,
                        double end)
{
    char length[ORR_DECIMAL_SIZE];

    begin(c, "X", pid, (unsigned)tid);
    orr_print(c->file,
              ",\"ts\":%s,\"dur\":%s,\"cat\":\"%s\",\"name\":", us(c, start),
              orr_decimal(end - start, 3, length), category);
    orr_json_text(c->file, name);
}

/* The rest of one end of an arrow, with what is particular to it. */
static void end_arrow(struct chrome *c, const char *time, const char *more,
                      const char *category, unsigned long long id)
{
    orr_print(c->file,
              ",\"ts\":%s,%s\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu}", time,
              more, category, category, id);
}

static void write_arrow(struct chrome *c, const char *category, unsigned pid,
                        unsigned tid, double from, const struct slice *to)
{
    unsigned long long id = ++c->narrows;

    begin(c, "s", pid, tid);
    end_arrow(c, us(c, from), "", category, id);
    begin(c, "f", WORKERS, to->tid);
    end_arrow(c, us(c, to->start), "\"bp\":\"e\",", category, id);
}

/* Inside the slice, close to its end: arrows bind to what is there. */
static double just_before(double start, double end)
{
    return fmax(start, end - fmin((end - start) / 2, 0.002));
}

/* --- the parts of the record --- */

static int write_task(struct chrome *c, unsigned worker,
                      const struct orr_trace_task *task)
{
    int tid = worker_tid(c, worker, task->start, task->end);
    const int64_t *levels =
        orr_trace_iteration_levels(c->source->trace, task->iteration);

    if (tid < 0)
        return tid;
    write_slice(c, WORKERS, tid, "task", task->name, task->start, task->end);
    orr_print(c->file,
              ",\"args\":{\"job\":%llu,\"priority\":%d,\"bytes\":%zu,"
              "\"footprint\":\"%08x\",\"gflop\":%s",
              (unsigned long long)task->job, task->priority, task->size,
              task->footprint, orr_general(&c->gflop, task->gflop));
    if (levels)
        orr_print(c->file, ",\"iteration\":%lld", (long long)levels[0]);
    if (levels && levels[1] >= 0)
        orr_print(c->file, ",\"subiteration\":%lld", (long long)levels[1]);
    fputs_unlocked("}}", c->file);
    c->tasks[c->ntasks++] =
        (struct slice){task->job, (unsigned)tid, task->start, task->end};
    return 0;
}

static int write_copy(struct chrome *c, const struct orr_trace_copy *copy)
{
    int tid = link_tid(c, copy);

    if (tid < 0)
        return tid;
    write_slice(c, LINKS, tid, orr_trace_copy_name(copy->kind),
                copy->name && *copy->name ? copy->name
                                          : orr_trace_copy_name(copy->kind),
                copy->start, copy->end);
    orr_print(c->file, ",\"args\":{\"bytes\":%zu,\"handle\":%llu", copy->size,
              (unsigned long long)copy->handle);
    if (copy->job)
        orr_print(c->file, ",\"job\":%llu", (unsigned long long)copy->job);
    fputs_unlocked("}}", c->file);
    return 0;
}

/* What the worker did since it entered its state, if that is worth a slice. */
static void end_state(struct chrome *c, unsigned worker, double time)
{
    struct orr_moment *entered = &c->states[worker];
    enum orr_trace_state id;

    if (!entered->event)
        return;
    id = entered->event->u.state.id;
    if (time > entered->time && id != ORR_TRACE_IDLE &&
        id != ORR_TRACE_SLEEPING) {
        write_slice(c, WORKERS, (int)worker + 1, "state",
                    orr_trace_state_name(id), entered->time, time);
        fputc('}', c->file);
    }
    entered->time = time;
}

static void write_counter(struct chrome *c, unsigned pid, const char *name,
                          const char *unit, double time, double value)
{
    begin(c, "C", pid, 0);
    orr_print(c->file, ",\"ts\":%s,\"name\":", us(c, time));
    orr_json_text(c->file, name);
    if (value >= 0 && value < 1e9 && value == floor(value))
        orr_print(c->file, ",\"args\":{\"%s\":%llu}}", unit,
                  (unsigned long long)value);
    else
        orr_print(c->file, ",\"args\":{\"%s\":%s}}", unit,
                  orr_general(&c->memory_used, value));
}

static void write_count(struct chrome *c, const struct orr_event *event)
{
    static const char *const names[ORR_TRACE_NCOUNTERS] = {
        [ORR_TRACE_NSUBMITTED] = "submitted tasks",
        [ORR_TRACE_NREADY] = "ready tasks",
    };
    int id = (int)event->u.count.id;

    c->counters[id] += event->u.count.change;
    write_counter(c, SCHEDULER, names[id], "tasks", event->u.count.time,
                  (double)c->counters[id]);
}

static void write_memory(struct chrome *c, const struct orr_event *event)
{
    unsigned node = event->u.memory.node;
    char name[96], of[32];

    if (node >= c->source->trace->nnodes)
        return;
    c->memory[node] += event->u.memory.change;
    snprintf(name, sizeof(name), "%s used",
             orr_trace_node_name(c->source, node, of, sizeof(of)));
    write_counter(c, MEMORY, name, "MB", event->u.memory.time,
                  (double)c->memory[node] / 1e6);
}

static void write_mark(struct chrome *c, const struct orr_moment *moment)
{
    begin(c, "i", SCHEDULER, 0);
    fprintf(c->file, ",\"ts\":%s,\"s\":\"g\",\"cat\":\"mark\",\"name\":",
            us(c, moment->time));
    orr_json_text(c->file, moment->event->u.mark.text);
    fputc('}', c->file);
}

/* A task begins or ends, is suspended or goes on: what its worker did otherwise
 * ends, or begins. */
static int step_task(struct chrome *c, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;
    unsigned worker = event->worker;
    const struct orr_trace_task *before;
    bool changed;
    int rc;

    if (worker >= c->source->trace->nworkers)
        return 0;
    before = orr_executing_current(&c->executing[worker]);
    rc = orr_executing_step(&c->executing[worker], moment, &changed);
    if (rc < 0)
        return rc;
    if (!before && changed)
        end_state(c, worker, moment->time);
    else if (changed && !orr_executing_current(&c->executing[worker]))
        c->states[worker].time = moment->time;
    return event->type == ORR_EVENT_TASK && !moment->end
               ? write_task(c, worker, &event->u.task)
               : 0;
}

static void step_state(struct chrome *c, const struct orr_moment *moment)
{
    unsigned worker = moment->event->worker;

    if (worker >= c->source->trace->nworkers)
        return;
    if (!orr_executing_current(&c->executing[worker]))
        end_state(c, worker, moment->time);
    c->states[worker] = *moment;
}

static int write_moment(struct chrome *c, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    switch (event->type) {
    case ORR_EVENT_TASK:
    case ORR_EVENT_SUSPENSION:
        return step_task(c, moment);
    case ORR_EVENT_COPY:
        return moment->end ? 0 : write_copy(c, &event->u.copy);
    case ORR_EVENT_STATE:
        step_state(c, moment);
        break;
    case ORR_EVENT_COUNT:
        write_count(c, event);
        break;
    case ORR_EVENT_MEMORY:
        write_memory(c, event);
        break;
    case ORR_EVENT_MARK:
        write_mark(c, moment);
        break;
    }
    return 0;
}

/* --- arrows --- */

static int compare_slices(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    return (x->job > y->job) - (x->job < y->job);
}

static const struct slice *find(const struct chrome *c, uint64_t job)
{
    struct slice key = {.job = job};

    return bsearch(&key, c->tasks, c->ntasks, sizeof(key), compare_slices);
}

static void write_dependencies(struct chrome *c)
{
    const struct orr_graph *graph = c->source->graph;

    for (unsigned t = 0; graph && t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        const struct slice *to = find(c, task->id), *from;

        for (unsigned d = 0; to && d < task->ndeps; d++) {
            from =
                find(c, graph->tasks[graph->deps[task->first_dep + d].task].id);
            if (from && from->end <= to->start)
                write_arrow(c, "dependency", WORKERS, from->tid,
                            just_before(from->start, from->end), to);
        }
    }
}

/* From copies to the tasks that waited for them. The lanes are chosen as they
 * were for the slices: in the same order. */
static int write_transfers(struct chrome *c)
{
    unsigned nnodes = c->source->trace->nnodes;

    for (unsigned l = 0; l < nnodes * nnodes; l++)
        for (unsigned lane = 0; lane < c->links[l].nlanes; lane++)
            c->links[l].ends[lane] = -(double)INFINITY;
    for (size_t i = 0; i < c->source->line->n; i++) {
        const struct orr_moment *moment = &c->source->line->moments[i];
        const struct orr_trace_copy *copy = &moment->event->u.copy;
        const struct slice *to;
        int tid;

        if (moment->event->type != ORR_EVENT_COPY || moment->end)
            continue;
        tid = link_tid(c, copy);
        to = copy->job ? find(c, copy->job) : NULL;
        if (tid < 0)
            return tid;
        if (to && copy->end <= to->start)
            write_arrow(c, "transfer", LINKS, (unsigned)tid,
                        just_before(copy->start, copy->end), to);
    }
    return 0;
}

/* --- the file --- */

static void name_process(struct chrome *c, unsigned pid, const char *name)
{
    begin(c, "M", pid, 0);
    fprintf(c->file, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
            name);
    begin(c, "M", pid, 0);
    fprintf(c->file,
            ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}",
            pid);
}

static void write_head(struct chrome *c)
{
    const struct orr_trace *trace = c->source->trace;
    const struct orr_graph *graph = c->source->graph;

    fputs("{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"machine\":", c->file);
    orr_json_text(c->file, graph ? graph->machine : NULL);
    fprintf(c->file, ",\"lost_events\":%llu},\n\"traceEvents\":[",
            (unsigned long long)orr_trace_dropped(trace));
    name_process(c, WORKERS, "workers");
    name_process(c, LINKS, "links");
    name_process(c, MEMORY, "memory");
    name_process(c, SCHEDULER, "scheduler");
    for (unsigned w = 0; w < trace->nworkers; w++)
        name_thread(c, WORKERS, w + 1, w * 8, trace->workers[w].name, 0);
}

static int write_all(struct chrome *c)
{
    const struct orr_trace *trace = c->source->trace;
    const struct orr_timeline *line = c->source->line;
    int result = 0;

    write_head(c);
    for (size_t i = 0; i < line->n && result == 0; i++)
        result = write_moment(c, &line->moments[i]);
    for (unsigned w = 0; w < trace->nworkers && result == 0; w++)
        if (!orr_executing_current(&c->executing[w]))
            end_state(c, w, line->end);
    qsort(c->tasks, c->ntasks, sizeof(*c->tasks), compare_slices);
    if (result == 0)
        write_dependencies(c);
    if (result == 0)
        result = write_transfers(c);
    fputs("\n]}\n", c->file);
    return result;
}

static void tracks_free(struct track *tracks, size_t n)
{
    for (size_t i = 0; tracks && i < n; i++)
        free(tracks[i].ends);
    free(tracks);
}

int orr_chrome_write(const struct orr_trace_source *source, FILE *file)
{
    size_t nworkers = source->trace->nworkers, nnodes = source->trace->nnodes;
    struct chrome c = {
        .file = file,
        .source = source,
        .workers = calloc(nworkers + 1, sizeof(*c.workers)),
        .links = calloc(nnodes * nnodes + 1, sizeof(*c.links)),
        .tasks = calloc(source->line->ntasks + 1, sizeof(*c.tasks)),
        .executing = calloc(nworkers + 1, sizeof(*c.executing)),
        .states = calloc(nworkers + 1, sizeof(*c.states)),
        .memory = calloc(nnodes + 1, sizeof(*c.memory)),
    };
    int result = -ENOMEM;

    if (c.workers && c.links && c.tasks && c.executing && c.states && c.memory)
        result = write_all(&c);
    free(c.memory);
    free(c.states);
    for (size_t w = 0; c.executing && w < nworkers; w++)
        orr_executing_done(&c.executing[w]);
    free(c.executing);
    free(c.tasks);
    tracks_free(c.links, nnodes * nnodes);
    tracks_free(c.workers, nworkers);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chrome.c - the record in the Trace Event Format, which Perfetto
 * and chrome://tracing read: a track per worker and per pair of memory nodes,
 * counters, arrows from what a task waited for to the task. What overlaps on a
 * track goes to further lanes, since slices of one may only nest. Times are µs.
 * One thread.
 */
#include "core/observe/formats.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph.h"
#include "core/base/grow.h"
#include "core/base/spool.h"
#include "core/device/machine.h"
#include "core/observe/executing.h"
#include "core/observe/json_text.h"
#include "core/observe/lanes.h"
#include "core/observe/out.h"
#include "core/observe/waits.h"

enum { WORKERS = 1, LINKS, MEMORY, SCHEDULER };

/* A task in the file. */
struct slice {
    uint64_t job;
    unsigned tid;
    uint8_t nleave; /* length of `leave`; 0: not made */
    char leave[19]; /* when arrows leave it, as text: most tasks have some */
    double start, end;
};

/* A copy in the file that a task waited for. */
struct arrival {
    uint64_t job;
    unsigned tid;
    double start, end;
};

/* Names as they are in the file: each lies at one place, and most are the same few. */
enum { NNAMES = 256, NAME_ROOM = ORR_OUT_LEAST };
struct name {
    const char *text; /* NULL: none */
    size_t n;
    char json[NAME_ROOM];
};

/* A value that changes over time. */
struct count {
    int64_t value;
    bool changed; /* since it was written */
};

struct chrome {
    struct orr_out *out; /* where it writes now */
    const struct orr_trace *trace;
    bool first;   /* the next event is that of the file */
    bool begun;   /* moments were written */
    char **nodes; /* owned: names of memory nodes */
    struct orr_lanes *workers, *links;
    struct slice *tasks; /* that were written */
    size_t ntasks, room_tasks;
    struct arrival *arrivals;
    size_t narrivals, room_arrivals;
    uint32_t *of_job; /* by the job's number: its place among the tasks + 1 */
    size_t njobs;     /* for so many there is room there */
    bool repeats;     /* a job is there twice */
    uint32_t nwaits;  /* tasks whose arrows were written */
    struct orr_executing *executing; /* tasks of each worker */
    struct orr_moment *states; /* what each worker has entered; .event NULL */
    struct count counters[ORR_TRACE_NCOUNTERS];
    struct count *memory; /* bytes per node */
    bool changed;         /* some count has, … */
    bool memory_changed;  /* … one of these, … */
    double changed_at;    /* … at this time */
    char **memory_heads;  /* owned: how an event of a node's memory goes on */
    unsigned long long narrows;
    /* What the line of an arrow's head begins with. */
    char target[ORR_DECIMAL_SIZE + 4 * ORR_OUT_LEAST];
    size_t ntarget;
    struct orr_same time; /* µs */
    struct name names[NNAMES];
    struct orr_general gflop;
};

/* Begins an event; the caller ends it with a brace. */
static void begin_event(struct chrome *c, char phase, unsigned pid,
                        unsigned tid)
{
    static const char head[] = ",\n{\"ph\":\"P\",\"pid\":N,\"tid\":";
    struct orr_out *out = c->out;

    if (c->first) /* no comma */
        orr_put(out, head + 1, sizeof(head) - 2);
    else
        orr_put(out, head, sizeof(head) - 1);
    c->first = false;
    out->at[-17] = phase; /* in the place of P */
    out->at[-8] = (char)('0' + pid); /* of N */
    orr_put_unsigned(out, tid);
}

/* Each byte may become two, between quotes; nothing is flushed. */
static void keep_name(struct name *name, const char *text)
{
    char buffer[3 * NAME_ROOM];
    struct orr_out out = {NULL, buffer, buffer, buffer + sizeof(buffer)};

    assert(2 * strlen(text) + 2 <= NAME_ROOM);
    orr_put_json(&out, text);
    name->text = text;
    name->n = (size_t)(out.at - buffer);
    memcpy(name->json, buffer, NAME_ROOM);
}

/* A text that stays where it is. */
static void put_name(struct chrome *c, const char *text)
{
    struct name *name = &c->names[(uintptr_t)text / 16 % NNAMES];
    struct orr_out *out = c->out;

    if (name->text != text) {
        if (2 * strlen(text) + 2 > NAME_ROOM) {
            orr_put_json(out, text);
            return;
        }
        keep_name(name, text);
    }
    orr_out_room(out);
    memcpy(out->at, name->json, NAME_ROOM);
    out->at += name->n;
}

/* The time in µs. */
static void put_time(struct chrome *c, double time)
{
    ORR_PUT(c->out, ",\"ts\":");
    orr_put_same(c->out, &c->time, time - c->trace->start, 3);
}

static void name_thread(struct chrome *c, unsigned pid, unsigned tid,
                        unsigned order, const char *name, unsigned lane)
{
    struct orr_out *out = c->out;
    char text[256];

    if (lane)
        snprintf(text, sizeof(text), "%s (%u)", name, lane + 1);
    else
        snprintf(text, sizeof(text), "%s", name);
    begin_event(c, 'M', pid, tid);
    ORR_PUT(out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    orr_put_json(out, text);
    ORR_PUT(out, "}}");
    begin_event(c, 'M', pid, tid);
    orr_print(out,
              ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
              order);
}

/* The thread of a worker's, or a pair's, slice; negative without memory. */
static int worker_tid(struct chrome *c, unsigned worker, double start,
                      double end)
{
    const struct orr_trace *trace = c->trace;
    bool fresh;
    int lane = orr_lanes_take(&c->workers[worker], start, end, &fresh);
    int tid = lane * (int)trace->nworkers + (int)worker + 1;

    if (lane > 0 && fresh)
        name_thread(c, WORKERS, (unsigned)tid, worker * 8 + (unsigned)lane,
                    trace->workers[worker].name, (unsigned)lane);
    return lane < 0 ? lane : tid;
}

static int link_tid(struct chrome *c, const struct orr_trace_copy *copy)
{
    unsigned nnodes = c->trace->nnodes;
    unsigned pair = copy->src * nnodes + copy->dst;
    bool fresh;
    int lane = orr_lanes_take(&c->links[pair], copy->start, copy->end, &fresh);
    int tid = lane * (int)(nnodes * nnodes) + (int)pair + 1;
    char name[160];

    if (lane < 0 || !fresh)
        return lane < 0 ? lane : tid;
    snprintf(name, sizeof(name), "%s to %s", c->nodes[copy->src],
             c->nodes[copy->dst]);
    name_thread(c, LINKS, (unsigned)tid, pair * 8 + (unsigned)lane, name,
                (unsigned)lane);
    return tid;
}

/* `name` stays where it is. */
static void write_slice(struct chrome *c, unsigned pid, int tid,
                        const char *category, const char *name, double start,
                        double end)
{
    struct orr_out *out = c->out;

    begin_event(c, 'X', pid, (unsigned)tid);
    put_time(c, start);
    ORR_PUT(out, ",\"dur\":");
    orr_put_decimal(out, end - start, 3);
    ORR_PUT(out, ",\"cat\":\"");
    orr_put_text(out, category);
    ORR_PUT(out, "\",\"name\":");
    put_name(c, name);
}

/* What an arrow's end has behind its time, and its head; their category is their name. */
#define DEPENDENCY ",\"cat\":\"dependency\",\"name\":\"dependency\",\"id\":"
#define TRANSFER   ",\"cat\":\"transfer\",\"name\":\"transfer\",\"id\":"

/* Where arrows end: the begin of a task. Most tasks have several. */
static void aim(struct chrome *c, const struct slice *to, const char *category)
{
    struct orr_out out = {NULL, c->target, c->target,
                          c->target + sizeof(c->target)};
    struct orr_out *file = c->out;

    c->out = &out;
    begin_event(c, 'f', WORKERS, to->tid);
    put_time(c, to->start);
    ORR_PUT(&out, ",\"bp\":\"e\"");
    orr_put_text(&out, category);
    c->ntarget = (size_t)(out.at - out.begin);
    c->out = file;
}

/* An arrow from there, at the time of that text, to where it was aimed. */
static void put_arrow(struct chrome *c, const char *category, unsigned pid,
                      unsigned tid, const char *time, size_t n)
{
    char digits[ORR_OUT_LEAST],
        *end = orr_write_digits(digits, ++c->narrows, 1);
    size_t ndigits = (size_t)(end + 1 - digits);
    struct orr_out *out = c->out;

    *end = '}';
    begin_event(c, 's', pid, tid);
    ORR_PUT(out, ",\"ts\":");
    orr_put(out, time, n);
    orr_put_text(out, category);
    orr_out_room(out);
    memcpy(out->at, digits, sizeof(digits));
    out->at += ndigits;
    orr_put_long(out, c->target, c->ntarget);
    orr_out_room(out);
    memcpy(out->at, digits, sizeof(digits));
    out->at += ndigits;
}

/* Inside the slice, close to its end: arrows bind to what is there. */
static double just_before(double start, double end)
{
    return fmax(start, end - fmin((end - start) / 2, 0.002));
}

/* When an arrow leaves what lasted so long. */
static const char *leave_time(const struct chrome *c, double start, double end,
                              char buffer[static ORR_DECIMAL_SIZE])
{
    return orr_decimal(just_before(start, end) - c->trace->start, 3, buffer);
}

static void write_dependency(struct chrome *c, struct slice *from)
{
    char buffer[ORR_DECIMAL_SIZE];
    const char *text = from->leave;
    size_t n = from->nleave;

    if (n == 0) {
        text = leave_time(c, from->start, from->end, buffer);
        n = strlen(text);
        if (n <= sizeof(from->leave)) {
            memcpy(from->leave, text, n);
            from->nleave = (uint8_t)n;
        }
    }
    put_arrow(c, DEPENDENCY, WORKERS, from->tid, text, n);
}

/* --- the parts of the record --- */

/* Where the job's task is among the others. Errors: -ENOMEM. */
static int add_slice(struct chrome *c, struct slice slice)
{
    if (orr_grow(&c->tasks, &c->room_tasks, c->ntasks + 1, sizeof(slice)) < 0 ||
        orr_grow(&c->of_job, &c->njobs, slice.job + 1, sizeof(*c->of_job)) < 0)
        return -ENOMEM;
    c->tasks[c->ntasks++] = slice;
    c->repeats |= c->of_job[slice.job] != 0;
    c->of_job[slice.job] = (uint32_t)c->ntasks;
    return 0;
}

static int write_task(struct chrome *c, unsigned worker,
                      const struct orr_trace_task *task)
{
    int tid = worker_tid(c, worker, task->start, task->end);
    const int64_t *levels =
        orr_trace_iteration_levels(c->trace, task->iteration);
    struct orr_out *out = c->out;

    if (tid < 0)
        return tid;
    write_slice(c, WORKERS, tid, "task", task->name, task->start, task->end);
    ORR_PUT(out, ",\"args\":{\"job\":");
    orr_put_unsigned(out, task->job);
    ORR_PUT(out, ",\"priority\":");
    orr_put_signed(out, task->priority);
    ORR_PUT(out, ",\"bytes\":");
    orr_put_unsigned(out, task->size);
    ORR_PUT(out, ",\"footprint\":\"");
    orr_put_hex(out, task->footprint, 8);
    ORR_PUT(out, "\",\"gflop\":");
    orr_put_text(out, orr_general(&c->gflop, task->gflop));
    if (levels)
        orr_print(out, ",\"iteration\":%lld", (long long)levels[0]);
    if (levels && levels[1] >= 0)
        orr_print(out, ",\"subiteration\":%lld", (long long)levels[1]);
    ORR_PUT(out, "}}");
    return add_slice(c, (struct slice){.job = task->job,
                                       .tid = (unsigned)tid,
                                       .start = task->start,
                                       .end = task->end});
}

static int write_copy(struct chrome *c, const struct orr_trace_copy *copy)
{
    int tid = link_tid(c, copy);
    struct orr_out *out = c->out;

    if (tid < 0)
        return tid;
    write_slice(c, LINKS, tid, orr_trace_copy_name(copy->kind),
                copy->name && *copy->name ? copy->name
                                          : orr_trace_copy_name(copy->kind),
                copy->start, copy->end);
    ORR_PUT(out, ",\"args\":{\"bytes\":");
    orr_put_unsigned(out, copy->size);
    ORR_PUT(out, ",\"handle\":");
    orr_put_unsigned(out, copy->handle);
    if (copy->job) {
        ORR_PUT(out, ",\"job\":");
        orr_put_unsigned(out, copy->job);
    }
    ORR_PUT(out, "}}");
    if (!copy->job)
        return 0;
    if (orr_grow(&c->arrivals, &c->room_arrivals, c->narrivals + 1,
                 sizeof(*c->arrivals)) < 0)
        return -ENOMEM;
    c->arrivals[c->narrivals++] =
        (struct arrival){copy->job, (unsigned)tid, copy->start, copy->end};
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
        orr_put_byte(c->out, '}');
    }
    entered->time = time;
}

/* --- counters --- */

/* Up to its value; `head` is what stands between time and value. */
static void begin_counter(struct chrome *c, unsigned pid, const char *head)
{
    begin_event(c, 'C', pid, 0);
    put_time(c, c->changed_at);
    orr_put_text(c->out, head);
}

/* Errors: -ENOMEM. */
static int make_memory_heads(struct chrome *c)
{
    for (unsigned n = 0; n < c->trace->nnodes; n++) {
        char name[96];
        size_t size;
        FILE *file = open_memstream(&c->memory_heads[n], &size);

        if (!file)
            return -ENOMEM;
        snprintf(name, sizeof(name), "%s used", c->nodes[n]);
        fputs(",\"name\":", file);
        orr_json_text(file, name);
        fputs(",\"args\":{\"MB\":", file);
        if (fclose(file) != 0)
            return -ENOMEM;
    }
    return 0;
}

static void write_memory(struct chrome *c, unsigned node)
{
    begin_counter(c, MEMORY, c->memory_heads[node]);
    orr_put_decimal(c->out, (double)c->memory[node].value / 1e6, 6);
    ORR_PUT(c->out, "}}");
}

/* What has changed at one time is written once, when that is over: the values
 * in between lasted no time. */
static void write_counters(struct chrome *c)
{
    static const char *const heads[ORR_TRACE_NCOUNTERS] = {
        [ORR_TRACE_NSUBMITTED] =
            ",\"name\":\"submitted tasks\",\"args\":{\"tasks\":",
        [ORR_TRACE_NREADY] = ",\"name\":\"ready tasks\",\"args\":{\"tasks\":",
    };

    if (!c->changed)
        return;
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++) {
        if (!c->counters[i].changed)
            continue;
        begin_counter(c, SCHEDULER, heads[i]);
        orr_put_signed(c->out, c->counters[i].value);
        ORR_PUT(c->out, "}}");
        c->counters[i].changed = false;
    }
    for (unsigned n = 0; c->memory_changed && n < c->trace->nnodes; n++) {
        if (c->memory[n].changed)
            write_memory(c, n);
        c->memory[n].changed = false;
    }
    c->changed = c->memory_changed = false;
}

static void change(struct chrome *c, struct count *count, int64_t change,
                   double time)
{
    count->value += change;
    count->changed = true;
    c->changed = true;
    c->changed_at = time;
}

/* --- the rest of the record --- */

static void write_mark(struct chrome *c, const struct orr_moment *moment)
{
    struct orr_out *out = c->out;

    begin_event(c, 'i', SCHEDULER, 0);
    put_time(c, moment->time);
    ORR_PUT(out, ",\"s\":\"g\",\"cat\":\"mark\",\"name\":");
    orr_put_json(out, moment->event->u.mark.text);
    orr_put_byte(out, '}');
}

static void write_steal(struct chrome *c, const struct orr_event *event)
{
    const struct orr_trace *trace = c->trace;
    struct orr_out *out = c->out;

    if (event->worker >= trace->nworkers ||
        event->u.steal.victim >= trace->nworkers)
        return;
    begin_event(c, 'i', WORKERS, event->worker + 1);
    put_time(c, event->u.steal.time);
    ORR_PUT(out, ",\"s\":\"t\",\"cat\":\"steal\",\"name\":\"steal\","
                 "\"args\":{\"job\":");
    orr_put_unsigned(out, event->u.steal.job);
    ORR_PUT(out, ",\"from\":");
    orr_put_json(out, trace->workers[event->u.steal.victim].name);
    ORR_PUT(out, "}}");
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

    if (worker >= c->trace->nworkers)
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

    if (worker >= c->trace->nworkers)
        return;
    if (!orr_executing_current(&c->executing[worker]))
        end_state(c, worker, moment->time);
    c->states[worker] = *moment;
}

static int write_moment(struct chrome *c, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    if (moment->time > c->changed_at)
        write_counters(c);
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
        change(c, &c->counters[event->u.count.id], event->u.count.change,
               moment->time);
        break;
    case ORR_EVENT_MEMORY:
        if (event->u.memory.node >= c->trace->nnodes)
            break;
        change(c, &c->memory[event->u.memory.node], event->u.memory.change,
               moment->time);
        c->memory_changed = true;
        break;
    case ORR_EVENT_STEAL:
        write_steal(c, event);
        break;
    case ORR_EVENT_MARK:
        write_mark(c, moment);
        break;
    }
    return 0;
}

/* --- arrows --- */

static struct slice *find(const struct chrome *c, uint64_t job)
{
    uint32_t place = job < c->njobs ? c->of_job[job] : 0;

    return place ? &c->tasks[place - 1] : NULL;
}

static void write_dependencies(struct chrome *c, const struct orr_graph *graph)
{
    for (unsigned t = 0; graph && t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        const struct slice *to = find(c, task->id);
        struct slice *from;

        if (to)
            aim(c, to, DEPENDENCY);
        for (unsigned d = 0; to && d < task->ndeps; d++) {
            from =
                find(c, graph->tasks[graph->deps[task->first_dep + d].task].id);
            if (from && from->end <= to->start)
                write_dependency(c, from);
        }
    }
}

static void write_waits_of(struct chrome *c, const struct orr_waits *waits,
                           const struct orr_waits_task *task,
                           const struct slice *to)
{
    if (task->n > 0)
        aim(c, to, DEPENDENCY);
    for (uint32_t i = task->first; i < task->first + task->n; i++) {
        struct slice *from = find(c, waits->tasks[waits->lists[i]].id);

        if (from && from->end <= to->start)
            write_dependency(c, from);
    }
}

/* In the order of the tasks, as write_dependencies: up to the first one that has not
 * begun, or all. What a task waits for has ended before it begins, and is there. */
static int write_waits(void *writer, const struct orr_waits *waits, bool is_all,
                       struct orr_out *out, struct orr_out *behind)
{
    struct chrome *c = writer;

    (void)out;
    c->out = behind;
    for (; c->nwaits < waits->ntasks && !c->repeats; c->nwaits++) {
        const struct orr_waits_task *task = &waits->tasks[c->nwaits];
        const struct slice *to = find(c, task->id);

        if (to)
            write_waits_of(c, waits, task, to);
        else if (!is_all)
            break;
    }
    return c->repeats ? -ESTALE : 0;
}

/* From copies to the tasks that waited for them. */
static void write_transfers(struct chrome *c)
{
    for (size_t i = 0; i < c->narrivals; i++) {
        const struct arrival *copy = &c->arrivals[i];
        const struct slice *to = find(c, copy->job);
        char buffer[ORR_DECIMAL_SIZE];
        const char *text;

        if (!to || copy->end > to->start)
            continue;
        text = leave_time(c, copy->start, copy->end, buffer);
        aim(c, to, TRANSFER);
        put_arrow(c, TRANSFER, LINKS, copy->tid, text, strlen(text));
    }
}

/* --- the file --- */

static void name_process(struct chrome *c, unsigned pid, const char *name)
{
    begin_event(c, 'M', pid, 0);
    orr_print(c->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
              name);
    begin_event(c, 'M', pid, 0);
    orr_print(c->out,
              ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}",
              pid);
}

/* The name of a memory node: the machine's where there is a graph. */
static const char *node_name(const struct orr_trace_whole *whole, unsigned node,
                             char *buffer, size_t size)
{
    if (whole->machine && node < whole->machine->nnodes)
        return whole->machine->nodes[node].name;
    if (whole->graph && node < whole->graph->nnodes)
        return whole->graph->nodes[node].name;
    snprintf(buffer, size, "node %u", node);
    return buffer;
}

/* Sets the names that tracks have, which a file that has begun keeps. */
static int take_names(struct chrome *c, const struct orr_trace_whole *whole)
{
    char buffer[32];

    for (unsigned n = 0; n < c->trace->nnodes; n++) {
        const char *name = node_name(whole, n, buffer, sizeof(buffer));

        if (c->nodes[n] && !strcmp(c->nodes[n], name))
            continue;
        if (c->begun)
            return -ESTALE;
        free(c->nodes[n]);
        c->nodes[n] = strdup(name);
        if (!c->nodes[n])
            return -ENOMEM;
    }
    return 0;
}

static void texts_free(char **texts, size_t n)
{
    for (size_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void done(void *writer)
{
    struct chrome *c = writer;
    size_t nworkers = c->trace->nworkers, nnodes = c->trace->nnodes;

    texts_free(c->memory_heads, nnodes);
    texts_free(c->nodes, nnodes);
    free(c->memory);
    free(c->states);
    for (size_t w = 0; c->executing && w < nworkers; w++)
        orr_executing_done(&c->executing[w]);
    free(c->executing);
    free(c->of_job);
    free(c->tasks);
    free(c->arrivals);
    orr_lanes_free(c->links, nnodes * nnodes);
    orr_lanes_free(c->workers, nworkers);
    free(c);
}

static int make(struct chrome *c)
{
    size_t nworkers = c->trace->nworkers, nnodes = c->trace->nnodes;

    c->workers = calloc(nworkers + 1, sizeof(*c->workers));
    c->links = calloc(nnodes * nnodes + 1, sizeof(*c->links));
    c->executing = calloc(nworkers + 1, sizeof(*c->executing));
    c->states = calloc(nworkers + 1, sizeof(*c->states));
    c->memory = calloc(nnodes + 1, sizeof(*c->memory));
    c->memory_heads = calloc(nnodes + 1, sizeof(*c->memory_heads));
    c->nodes = calloc(nnodes + 1, sizeof(*c->nodes));
    if (!c->workers || !c->links || !c->executing || !c->states || !c->memory ||
        !c->memory_heads || !c->nodes)
        return -ENOMEM;
    for (unsigned n = 0; n < nnodes; n++) {
        char buffer[32];

        snprintf(buffer, sizeof(buffer), "node %u", n);
        c->nodes[n] = strdup(c->trace->nodes[n] ? c->trace->nodes[n] : buffer);
        if (!c->nodes[n])
            return -ENOMEM;
    }
    return 0;
}

static int begin(const struct orr_trace *trace, void **ret)
{
    struct chrome *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    c->trace = trace;
    orr_same_init(&c->time);
    if (make(c) < 0) {
        done(c);
        return -ENOMEM;
    }
    *ret = c;
    return 0;
}

static int write_moments(void *writer, const struct orr_timeline *part,
                         struct orr_out *out)
{
    struct chrome *c = writer;
    int rc = 0;

    c->out = out;
    if (!c->begun)
        rc = make_memory_heads(c);
    c->begun = true;
    for (size_t i = 0; i < part->n && rc == 0; i++)
        rc = write_moment(c, &part->moments[i]);
    return rc;
}

static const char *machine_name(const struct orr_trace_whole *whole)
{
    if (whole->machine)
        return whole->machine->name;
    return whole->graph ? whole->graph->machine : NULL;
}

static int write_head(void *writer, const struct orr_trace_whole *whole,
                      struct orr_out *out)
{
    struct chrome *c = writer;
    const struct orr_trace *trace = c->trace;
    int rc = take_names(c, whole);

    if (rc)
        return rc;
    c->out = out;
    c->first = true;
    ORR_PUT(out, "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"machine\":");
    orr_put_json(out, machine_name(whole));
    orr_print(out, ",\"lost_events\":%llu},\n\"traceEvents\":[",
              (unsigned long long)orr_trace_dropped(trace));
    name_process(c, WORKERS, "workers");
    name_process(c, LINKS, "links");
    name_process(c, MEMORY, "memory");
    name_process(c, SCHEDULER, "scheduler");
    for (unsigned w = 0; w < trace->nworkers; w++)
        name_thread(c, WORKERS, w + 1, w * 8, trace->workers[w].name, 0);
    return 0;
}

static int write_tail(void *writer, const struct orr_trace_whole *whole,
                      struct orr_out *out)
{
    struct chrome *c = writer;
    int rc = 0;

    c->out = out;
    write_counters(c);
    for (unsigned w = 0; w < c->trace->nworkers; w++)
        if (!orr_executing_current(&c->executing[w]))
            end_state(c, w, whole->end);
    if (whole->behind) {
        orr_out_flush(out);
        rc = orr_spool_append(whole->behind, 0, out->file);
    } else {
        c->narrows = 0; /* some may have been written in vain */
        write_dependencies(c, whole->graph);
    }
    write_transfers(c);
    ORR_PUT(out, "\n]}\n");
    return rc;
}

const struct orr_trace_parts orr_chrome_parts = {
    .begin = begin,
    .moments = write_moments,
    .waits = write_waits,
    .head = write_head,
    .tail = write_tail,
    .has_early_head = true,
    .free = done,
};

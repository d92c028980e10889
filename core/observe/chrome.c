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
#include <stdlib.h>
#include <string.h>

#include "bound/graph.h"
#include "core/base/out.h"
#include "core/device/machine.h"
#include "core/observe/chrome_arrows.h"
#include "core/observe/chrome_events.h"
#include "core/observe/executing.h"
#include "core/observe/json_text.h"
#include "core/observe/lanes.h"
#include "core/observe/sources.h"

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
    struct orr_chrome_events events;
    struct orr_chrome_arrows arrows;
    const struct orr_trace *trace;
    bool begun;   /* moments were written */
    char **nodes; /* owned: names of memory nodes */
    struct orr_lanes *workers, *links;
    struct orr_lanes messages[2]; /* sent, received */
    struct orr_executing *executing; /* tasks of each worker */
    struct orr_moment *states; /* what each worker has entered; .event NULL */
    struct count counters[ORR_TRACE_NCOUNTERS];
    struct count *memory; /* bytes per node */
    bool changed;         /* some count has, … */
    bool memory_changed;  /* … one of these, … */
    double changed_at;    /* … at this time */
    char **memory_heads;  /* owned: how an event of a node's memory goes on */
    struct name names[NNAMES];
    struct orr_general gflop;
};

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
    struct orr_out *out = c->events.out;

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

static void name_thread(struct chrome *c, enum orr_chrome_group group,
                        unsigned tid, unsigned order, const char *name,
                        unsigned lane)
{
    struct orr_out *out = c->events.out;
    char text[256];

    if (lane)
        snprintf(text, sizeof(text), "%s (%u)", name, lane + 1);
    else
        snprintf(text, sizeof(text), "%s", name);
    orr_chrome_begin(&c->events, 'M', group, tid);
    ORR_PUT(out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    orr_put_json(out, text);
    ORR_PUT(out, "}}");
    orr_chrome_begin(&c->events, 'M', group, tid);
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
        name_thread(c, ORR_CHROME_WORKERS, (unsigned)tid,
                    worker * 8 + (unsigned)lane, trace->workers[worker].name,
                    (unsigned)lane);
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
    name_thread(c, ORR_CHROME_LINKS, (unsigned)tid, pair * 8 + (unsigned)lane,
                name, (unsigned)lane);
    return tid;
}

/* `name` stays where it is. */
static void write_slice(struct chrome *c, enum orr_chrome_group group, int tid,
                        const char *category, const char *name, double start,
                        double end)
{
    struct orr_out *out = c->events.out;

    orr_chrome_begin(&c->events, 'X', group, (unsigned)tid);
    orr_chrome_put_time(&c->events, start);
    ORR_PUT(out, ",\"dur\":");
    orr_put_decimal(out, end - start, 3);
    ORR_PUT(out, ",\"cat\":\"");
    orr_put_text(out, category);
    ORR_PUT(out, "\",\"name\":");
    put_name(c, name);
}

/* --- the parts of the record --- */

static int chrome_write_task(struct chrome *c, unsigned worker,
                             const struct orr_trace_task *task)
{
    int tid = worker_tid(c, worker, task->start, task->end);
    const int64_t *levels =
        orr_trace_iteration_levels(c->trace, task->iteration);
    const char *source = orr_sources_text(c->trace->sources, task->job);
    struct orr_out *out = c->events.out;

    if (tid < 0)
        return tid;
    write_slice(c, ORR_CHROME_WORKERS, tid, "task", task->name, task->start,
                task->end);
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
    if (task->colour) {
        ORR_PUT(out, ",\"color\":\"#");
        orr_put_hex(out, task->colour, 6);
        orr_put_byte(out, '"');
    }
    if (levels)
        orr_print(out, ",\"iteration\":%lld", (long long)levels[0]);
    if (levels && levels[1] >= 0)
        orr_print(out, ",\"subiteration\":%lld", (long long)levels[1]);
    if (source) {
        ORR_PUT(out, ",\"source\":");
        put_name(c, source);
    }
    ORR_PUT(out, "}}");
    return orr_chrome_arrows_add_task(
        &c->arrows, task->job,
        (struct orr_chrome_task){
            .tid = (unsigned)tid, .start = task->start, .end = task->end});
}

static int chrome_write_copy(struct chrome *c,
                             const struct orr_trace_copy *copy)
{
    int tid = link_tid(c, copy);
    struct orr_out *out = c->events.out;

    if (tid < 0)
        return tid;
    write_slice(c, ORR_CHROME_LINKS, tid, orr_trace_copy_name(copy->kind),
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
    return orr_chrome_arrows_add_copy(
        &c->arrows, (struct orr_chrome_copy){.job = copy->job,
                                             .tid = (unsigned)tid,
                                             .start = copy->start,
                                             .end = copy->end});
}

static int chrome_write_message(struct chrome *c,
                                const struct orr_trace_message *message)
{
    static const char *const tracks[] = {"sent", "received"};
    unsigned way = message->received;
    bool fresh;
    int lane =
        orr_lanes_take(&c->messages[way], message->start, message->end, &fresh);
    int tid = lane * 2 + (int)way + 1;
    struct orr_out *out = c->events.out;

    if (lane < 0)
        return lane;
    if (fresh)
        name_thread(c, ORR_CHROME_MESSAGES, (unsigned)tid, way * 1000 + (unsigned)lane,
                    tracks[way], (unsigned)lane);
    write_slice(c, ORR_CHROME_MESSAGES, tid, "message",
                message->name && *message->name ? message->name : tracks[way],
                message->start, message->end);
    ORR_PUT(out, ",\"args\":{\"way\":\"");
    orr_put_text(out, tracks[way]);
    ORR_PUT(out, "\",\"rank\":");
    orr_put_signed(out, message->peer);
    ORR_PUT(out, ",\"tag\":");
    orr_put_signed(out, message->tag);
    ORR_PUT(out, ",\"number\":");
    orr_put_unsigned(out, message->number);
    ORR_PUT(out, ",\"bytes\":");
    orr_put_unsigned(out, message->size);
    ORR_PUT(out, ",\"handle\":");
    orr_put_unsigned(out, message->handle);
    ORR_PUT(out, "}}");
    return 0;
}

/* For those who put the files of ranks together: viewers leave it out. */
static void chrome_write_clocks(struct chrome *c,
                                const struct orr_clocks_told *clocks)
{
    struct orr_out *out = c->events.out;

    orr_chrome_begin(&c->events, 'M', ORR_CHROME_MESSAGES, 0);
    ORR_PUT(out, ",\"name\":\"clocks\",\"args\":{\"at\":");
    orr_put_decimal(out, (clocks->start + clocks->end) / 2 - c->trace->start, 3);
    ORR_PUT(out, ",\"round_trip\":");
    orr_put_decimal(out, clocks->end - clocks->start, 3);
    ORR_PUT(out, ",\"offset\":");
    orr_put_decimal(out, clocks->offset, 3);
    ORR_PUT(out, "}}");
}

/* What the worker did since it entered its state, if that is worth a slice. */
static void end_state(struct chrome *c, unsigned worker, double time)
{
    struct orr_moment *entered = &c->states[worker];
    enum orr_trace_state id;

    if (!entered->event)
        return;
    id = entered->event->which;
    if (time > entered->time && id != ORR_TRACE_IDLE &&
        id != ORR_TRACE_SLEEPING) {
        write_slice(c, ORR_CHROME_WORKERS, (int)worker + 1, "state",
                    orr_trace_state_name(id), entered->time, time);
        orr_put_byte(c->events.out, '}');
    }
    entered->time = time;
}

/* --- counters --- */

/* Up to its value; `head` is what stands between time and value. */
static void begin_counter(struct chrome *c, enum orr_chrome_group group,
                          const char *head)
{
    orr_chrome_begin(&c->events, 'C', group, 0);
    orr_chrome_put_time(&c->events, c->changed_at);
    orr_put_text(c->events.out, head);
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
    begin_counter(c, ORR_CHROME_MEMORY, c->memory_heads[node]);
    orr_put_decimal(c->events.out, (double)c->memory[node].value / 1e6, 6);
    ORR_PUT(c->events.out, "}}");
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
        begin_counter(c, ORR_CHROME_SCHEDULER, heads[i]);
        orr_put_signed(c->events.out, c->counters[i].value);
        ORR_PUT(c->events.out, "}}");
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

static void chrome_write_mark(struct chrome *c, const struct orr_moment *moment)
{
    struct orr_out *out = c->events.out;

    orr_chrome_begin(&c->events, 'i', ORR_CHROME_SCHEDULER, 0);
    orr_chrome_put_time(&c->events, moment->time);
    ORR_PUT(out, ",\"s\":\"g\",\"cat\":\"mark\",\"name\":");
    orr_put_json(out, moment->event->u.mark.text);
    orr_put_byte(out, '}');
}

static void chrome_write_steal(struct chrome *c, const struct orr_event *event)
{
    const struct orr_trace *trace = c->trace;
    struct orr_out *out = c->events.out;

    if (event->worker >= trace->nworkers ||
        event->u.steal.victim >= trace->nworkers)
        return;
    orr_chrome_begin(&c->events, 'i', ORR_CHROME_WORKERS, event->worker + 1);
    orr_chrome_put_time(&c->events, event->u.steal.time);
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
               ? chrome_write_task(c, worker, &event->u.task)
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

static int chrome_write_moment(struct chrome *c,
                               const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    if (moment->time > c->changed_at)
        write_counters(c);
    switch (event->type) {
    case ORR_EVENT_TASK:
    case ORR_EVENT_SUSPENSION:
        return step_task(c, moment);
    case ORR_EVENT_COPY:
        return moment->end ? 0 : chrome_write_copy(c, &event->u.copy);
    case ORR_EVENT_STATE:
        step_state(c, moment);
        break;
    case ORR_EVENT_COUNT:
        change(c, &c->counters[event->which], event->step, moment->time);
        break;
    case ORR_EVENT_MEMORY:
        if (event->u.memory.node >= c->trace->nnodes)
            break;
        change(c, &c->memory[event->u.memory.node], event->u.memory.change,
               moment->time);
        c->memory_changed = true;
        break;
    case ORR_EVENT_STEAL:
        chrome_write_steal(c, event);
        break;
    case ORR_EVENT_MESSAGE:
        return moment->end ? 0 : chrome_write_message(c, &event->u.message);
    case ORR_EVENT_CLOCKS:
        if (!moment->end)
            chrome_write_clocks(c, &event->u.clocks);
        break;
    case ORR_EVENT_APPLICATION:
    case ORR_EVENT_ALLOCATION:
        break; /* not recorded: orr_trace_shows_application */
    case ORR_EVENT_MARK:
        chrome_write_mark(c, moment);
        break;
    }
    return 0;
}

/* --- the file --- */

static void name_process(struct chrome *c, enum orr_chrome_group group,
                         const char *name)
{
    orr_chrome_begin(&c->events, 'M', group, 0);
    orr_print(c->events.out,
              ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", name);
    orr_chrome_begin(&c->events, 'M', group, 0);
    orr_print(c->events.out,
              ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}",
              group);
}

/* The name of a memory node: the machine's where there is a graph. */
static const char *chrome_node_name(const struct orr_trace_whole *whole,
                                    unsigned node, char *buffer, size_t size)
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
        const char *name = chrome_node_name(whole, n, buffer, sizeof(buffer));

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

static void chrome_done(void *writer)
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
    orr_chrome_arrows_done(&c->arrows);
    orr_lanes_free(c->links, nnodes * nnodes);
    orr_lanes_free(c->workers, nworkers);
    free(c->messages[0].ends);
    free(c->messages[1].ends);
    free(c);
}

static int chrome_make(struct chrome *c)
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

static int chrome_begin(const struct orr_trace *trace, void **ret)
{
    struct chrome *c = calloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    c->trace = trace;
    c->events.start = trace->start;
    c->arrows.events = &c->events;
    orr_same_init(&c->events.time);
    if (chrome_make(c) < 0) {
        chrome_done(c);
        return -ENOMEM;
    }
    *ret = c;
    return 0;
}

/* So many moments ahead what a task waited for is fetched, step by step. */
enum { FAR = 96, NEAR = 64, NEXT = 32 };

static void chrome_prefetch(const struct chrome *c,
                            const struct orr_timeline *part, size_t at)
{
    const struct orr_moment *moments = part->moments + at;
    uint64_t job;

    if (at + FAR >= part->n)
        return;
    if (!moments[FAR].end && (job = orr_moment_job(&moments[FAR])))
        orr_edges_fetch_task(&c->arrows.edges, job);
    if (!moments[NEAR].end && (job = orr_moment_job(&moments[NEAR])))
        orr_edges_fetch_list(&c->arrows.edges, job);
    if (!moments[NEXT].end && (job = orr_moment_job(&moments[NEXT])))
        orr_chrome_arrows_fetch_ends(&c->arrows, job);
}

static int chrome_write_moments(void *writer, const struct orr_timeline *part,
                                struct orr_out *out)
{
    struct chrome *c = writer;
    int rc = 0;

    c->events.out = out;
    if (!c->begun)
        rc = make_memory_heads(c);
    c->begun = true;
    for (size_t i = 0; i < part->n && rc == 0; i++) {
        chrome_prefetch(c, part, i);
        rc = chrome_write_moment(c, &part->moments[i]);
    }
    return rc;
}

static int chrome_take_waits(void *writer, const struct orr_waits *waits,
                             bool is_all, struct orr_out *out,
                             struct orr_out *behind)
{
    struct chrome *c = writer;

    (void)is_all;
    (void)out;
    (void)behind;
    c->arrows.edges = orr_edges_of(NULL, waits);
    return 0;
}

static const char *machine_name(const struct orr_trace_whole *whole)
{
    if (whole->machine)
        return whole->machine->name;
    return whole->graph ? whole->graph->machine : NULL;
}

static int chrome_write_head(void *writer, const struct orr_trace_whole *whole,
                             struct orr_out *out)
{
    struct chrome *c = writer;
    const struct orr_trace *trace = c->trace;
    int rc = take_names(c, whole);

    if (rc)
        return rc;
    c->arrows.edges = orr_edges_of(whole->graph, NULL);
    c->events.out = out;
    c->events.first = true;
    ORR_PUT(out, "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"machine\":");
    orr_put_json(out, machine_name(whole));
    orr_print(out, ",\"lost_events\":%llu",
              (unsigned long long)orr_trace_dropped(trace));
    if (trace->nranks) {
        orr_print(out, ",\"rank\":%d,\"ranks\":%u,\"zero_us\":", trace->rank,
                  trace->nranks);
        orr_put_decimal(out, trace->start, 3);
    }
    ORR_PUT(out, "},\n\"traceEvents\":[");
    name_process(c, ORR_CHROME_WORKERS, "workers");
    name_process(c, ORR_CHROME_LINKS, "links");
    name_process(c, ORR_CHROME_MEMORY, "memory");
    name_process(c, ORR_CHROME_SCHEDULER, "scheduler");
    if (trace->nranks)
        name_process(c, ORR_CHROME_MESSAGES, "messages");
    for (unsigned w = 0; w < trace->nworkers; w++)
        name_thread(c, ORR_CHROME_WORKERS, w + 1, w * 8, trace->workers[w].name,
                    0);
    return 0;
}

static int chrome_write_tail(void *writer, const struct orr_trace_whole *whole,
                             struct orr_out *out)
{
    struct chrome *c = writer;

    c->events.out = out;
    write_counters(c);
    for (unsigned w = 0; w < c->trace->nworkers; w++)
        if (!orr_executing_current(&c->executing[w]))
            end_state(c, w, whole->end);
    orr_chrome_arrows_write_rest(&c->arrows);
    ORR_PUT(out, "\n]}\n");
    return 0;
}

const struct orr_trace_parts orr_chrome_parts = {
    .begin = chrome_begin,
    .moments = chrome_write_moments,
    .waits = chrome_take_waits,
    .head = chrome_write_head,
    .tail = chrome_write_tail,
    .has_early_head = true,
    .free = chrome_done,
};

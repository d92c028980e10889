/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/watch/state.c - see state.h. */
#include "tools/watch/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/observe/source_line.h"
#include "tools/common/json.h"

#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)

enum { MOST_TASKS = 1000, MOST_NODES = 2000, NEIGHBOURS = 256, WORD = 64 };

static const char *const state_words[] = {"join", "waiting", "ready", "running", "ended"};

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static char *text_of(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;

    json_decref(json);
    return text;
}

/* --- how far it is --- */

static json_t *worker_json(const struct source_run *run, unsigned i)
{
    const struct watch_lane *lane = &run->part.lanes[i];
    uint64_t task = GET(lane->task);
    unsigned kernel = GET(lane->kernel);
    json_t *json = json_pack("{s:o, s:s, s:o, s:f}", "name", tool_json_text(lane->name),
                             "state", source_state(run, i), "tasks",
                             number(GET(lane->executed)), "busy_us", GET(lane->busy_us));

    if (task && kernel < WATCH_KERNELS && GET(run->part.run->state) != WATCH_ENDED) {
        json_object_set_new(json, "task", number(task));
        json_object_set_new(json, "kernel", tool_json_text(run->part.run->kernels[kernel]));
        json_object_set_new(json, "since_us", json_real(GET(lane->since)));
    }
    return json;
}

static json_t *kernels_json(const struct source_run *run)
{
    unsigned n = atomic_load_explicit(&run->part.run->nkernels, memory_order_acquire);
    json_t *list = json_array();

    for (unsigned i = 0; i < n; i++) {
        unsigned long count;
        double us;

        source_kernel(run, i, &count, &us);
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:f}", "name",
                                        tool_json_text(run->part.run->kernels[i]), "tasks",
                                        number(count), "us", us));
    }
    return list;
}

static json_t *nodes_json(const struct source_run *run)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < run->part.run->nnodes; i++) {
        const struct watch_node *node = &run->part.nodes[i];

        if (*node->name)
            json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name",
                                                  tool_json_text(node->name), "used",
                                                  json_integer(GET(node->used)), "capacity",
                                                  number(node->capacity)));
    }
    return list;
}

/* Those on which something has gone. */
static json_t *links_json(const struct source_run *run)
{
    uint32_t n = run->part.run->nnodes;
    json_t *list = json_array();

    for (uint32_t i = 0; i < n * n; i++) {
        const struct watch_link *link = &run->part.links[i];
        unsigned long ended = GET(link->ended), begun = GET(link->begun);

        if (begun)
            json_array_append_new(
                list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "from",
                                tool_json_text(run->part.nodes[i / n].name), "to",
                                tool_json_text(run->part.nodes[i % n].name), "under_way",
                                number(begun > ended ? begun - ended : 0), "copies",
                                number(ended), "bytes", number(GET(link->bytes))));
    }
    return list;
}

/* "source", and "link" where a scheme was named. */
static void put_source(struct source *source, struct source_run *run,
                       unsigned place, json_t *to)
{
    const char *line = source_line(run, place);
    char *link = line ? orr_source_link(source->links, line) : NULL;

    if (line)
        json_object_set_new(to, "source", tool_json_text(line));
    if (link)
        json_object_set_new(to, "link", tool_json_text(link));
    free(link);
}

/* Lines of the program that have submitted tasks: those of one line may be several places. */
static json_t *lines_json(struct source *source, struct source_run *run)
{
    unsigned n =
        atomic_load_explicit(&run->part.run->nplaces, memory_order_acquire);
    json_t *list = json_array(), *by_line = json_object();

    for (unsigned i = 1; i < n; i++) {
        const char *line = source_line(run, i);
        json_t *json = line ? json_object_get(by_line, line) : NULL;
        uint64_t before =
            (uint64_t)json_integer_value(json_object_get(json, "tasks"));

        if (!line)
            continue;
        if (!json) {
            json = json_object();
            put_source(source, run, i, json);
            json_object_set(by_line, line, json);
            json_array_append_new(list, json);
        }
        json_object_set_new(json, "tasks",
                            number(before + GET(run->part.places[i].tasks)));
    }
    json_decref(by_line);
    return list;
}

static json_t *counts_json(const struct source_totals *totals)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "submitted", number(totals->submitted),
                     "waiting", number(totals->waiting), "ready", number(totals->ready),
                     "running", number(totals->running), "ended", number(totals->ended));
}

static json_t *run_json(struct source *source, struct source_run *run)
{
    const struct watch_run *shown = run->part.run;
    struct source_totals totals = {0};
    json_t *workers = json_array();

    source_count_run(run, &totals);
    for (uint32_t i = 0; i < shown->nworkers; i++)
        json_array_append_new(workers, worker_json(run, i));
    return json_pack(
        "{s:o, s:b, s:b, s:b, s:i, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}, "
        "s:{s:o, s:o, s:o}}",
        "machine", tool_json_text(shown->machine), "virtual", shown->is_virtual,
        "open", GET(shown->state) == WATCH_OPEN, "deadlock",
        GET(shown->stands) != 0, "rank", GET(shown->rank), "earlier_tasks",
        number(GET(shown->tasks_before)), "date_us", source_date(run), "tasks",
        counts_json(&totals), "workers", workers, "kernels", kernels_json(run),
        "nodes", nodes_json(run), "links", links_json(run), "lines",
        lines_json(source, run), "messages", "sent", number(GET(shown->sent)),
        "sent_bytes", number(GET(shown->sent_bytes)), "received",
        number(GET(shown->received)), "received_bytes",
        number(GET(shown->received_bytes)), "graph", "tasks",
        number(graph_size(run->graph)), "last", number(graph_last(run->graph)),
        "left_out", number(graph_left_out(run->graph)));
}

char *state_text(struct source *source, const char *phase, const char *program, int exit)
{
    struct source_totals totals;
    json_t *runs = json_array(), *json;

    source_count(source, &totals);
    for (unsigned i = 0; i < WATCH_RUNS; i++) {
        struct source_run *run = source_at(source, i);

        if (run) {
            json_t *one = run_json(source, run);

            json_object_set_new(one, "number", number(i));
            json_array_append_new(runs, one);
        }
    }
    json = json_pack("{s:s, s:o, s:o, s:f, s:b, s:o, s:o, s:o, s:o}", "phase", phase, "program",
                     tool_json_text(program), "exit",
                     exit < 0 ? json_null() : json_integer(exit), "date_us", totals.date_us, "virtual",
                     totals.is_virtual, "tasks", counts_json(&totals), "missed",
                     number(totals.missed), "nruns", number(totals.nruns), "runs", runs);
    return text_of(json);
}

/* --- words of a query --- */

/* Copies the value of the word, as it was before it was written into an address. */
static bool word_of(const char *query, const char *name, char to[WORD])
{
    size_t length = strlen(name), n = 0;

    while (query && (strncmp(query, name, length) != 0 || query[length] != '=')) {
        query = strchr(query, '&');
        query += query != NULL;
    }
    *to = '\0';
    if (!query)
        return false;
    for (query += length + 1; *query && *query != '&' && n + 1 < WORD; query++) {
        char hex[3] = {query[0] == '%' ? query[1] : '\0', 0, 0};

        if (*hex)
            hex[1] = query[2];
        to[n++] = hex[0] && hex[1] ? (char)strtoul(hex, NULL, 16) : *query == '+' ? ' ' : *query;
        query += hex[0] && hex[1] ? 2 : 0;
    }
    to[n] = '\0';
    return true;
}

static uint64_t number_of(const char *query, const char *name, uint64_t without, uint64_t most)
{
    char text[WORD];
    uint64_t value = word_of(query, name, text) && *text ? strtoull(text, NULL, 10) : without;

    return value < most ? value : most;
}

/* --- tasks --- */

static const char *kernel_name(const struct source_run *run, const struct graph_task *task)
{
    return task->kernel < WATCH_KERNELS ? run->part.run->kernels[task->kernel]
           : task->state == GRAPH_JOIN  ? "(data)"
                                        : "(no kernel)";
}

static json_t *task_json(struct source *source, struct source_run *run,
                         const struct graph_task *task)
{
    json_t *json = json_pack("{s:o, s:o, s:s}", "task", number(task->id), "kernel",
                             tool_json_text(kernel_name(run, task)), "state",
                             state_words[task->state]);

    if (task->state >= GRAPH_RUNS && task->start > 0) {
        json_object_set_new(json, "start_us", json_real(task->start));
        if (task->worker < run->part.run->nworkers)
            json_object_set_new(json, "worker",
                                tool_json_text(run->part.lanes[task->worker].name));
    }
    if (task->state == GRAPH_ENDED)
        json_object_set_new(json, "end_us", json_real(task->end));
    put_source(source, run, task->place, json);
    return json;
}

static bool matches(struct source_run *run, const struct graph_task *task,
                    int state, const char *find)
{
    const char *line;
    char id[24];

    if (!task || task->state == GRAPH_JOIN || (state >= 0 && task->state != state))
        return false;
    snprintf(id, sizeof(id), "%llu", (unsigned long long)task->id);
    if (!*find || !strcmp(id, find) || strcasestr(kernel_name(run, task), find))
        return true;
    line = source_line(run, task->place);
    return line && strcasestr(line, find);
}

static int state_named(const char *word)
{
    for (int i = GRAPH_WAITS; i <= GRAPH_ENDED; i++)
        if (!strcmp(word, state_words[i]))
            return i;
    return -1;
}

char *state_tasks(struct source *source, const char *query)
{
    struct source_run *run =
        source_at(source, (unsigned)number_of(query, "run", 0, WATCH_RUNS));
    uint64_t max = number_of(query, "max", 100, MOST_TASKS), n = 0, last, first;
    char word[WORD], find[WORD];
    json_t *list = json_array();
    int state;

    word_of(query, "state", word);
    word_of(query, "find", find);
    state = state_named(word);
    last = run ? graph_last(run->graph) : 0;
    first = last > GRAPH_TASKS ? last - GRAPH_TASKS + 1 : 1;
    for (uint64_t i = first; i <= last; i++) {
        const struct graph_task *task =
            graph_find(run->graph, state == GRAPH_ENDED ? last - (i - first) : i);

        if (matches(run, task, state, find) && n++ < max)
            json_array_append_new(list, task_json(source, run, task));
    }
    return text_of(json_pack("{s:o, s:o}", "count", number(n), "tasks", list));
}

/* --- the graph --- */

struct walk {
    struct source *source;
    struct source_run *run;
    uint64_t *ids; /* owned, `max`: those that were reached, in that order */
    unsigned *depths; /* owned */
    unsigned n, max;
    bool cut; /* there would be more */
};

static bool walk_has(const struct walk *walk, uint64_t id)
{
    for (unsigned i = 0; i < walk->n; i++)
        if (walk->ids[i] == id)
            return true;
    return false;
}

static void walk_reach(struct walk *walk, uint64_t id, unsigned depth)
{
    if (!graph_find(walk->run->graph, id) || walk_has(walk, id))
        return;
    if (walk->n == walk->max) {
        walk->cut = true;
        return;
    }
    walk->ids[walk->n] = id;
    walk->depths[walk->n++] = depth;
}

static void walk_around(struct walk *walk, uint64_t task, unsigned depth)
{
    uint64_t ids[NEIGHBOURS];

    walk_reach(walk, task, 0);
    for (unsigned i = 0; i < walk->n; i++) {
        const struct graph_task *at = graph_find(walk->run->graph, walk->ids[i]);

        for (int before = 0; before < 2; before++) {
            unsigned n = graph_neighbours(walk->run->graph, at, before, ids, NEIGHBOURS);

            if (walk->depths[i] == depth) {
                for (unsigned k = 0; k < n; k++)
                    walk->cut |= !walk_has(walk, ids[k]);
                continue;
            }
            for (unsigned k = 0; k < n; k++)
                walk_reach(walk, ids[k], walk->depths[i] + 1);
        }
    }
}

/* The last that runs, else the last that there is. */
static uint64_t default_task(const struct source_run *run)
{
    uint64_t task = 0;

    for (uint32_t i = 0; i < run->part.run->nworkers; i++)
        if (GET(run->part.lanes[i].task) > task)
            task = GET(run->part.lanes[i].task);
    return graph_find(run->graph, task) ? task : graph_last(run->graph);
}

static json_t *walk_json(const struct walk *walk)
{
    json_t *list = json_array();
    uint64_t ids[NEIGHBOURS];

    for (unsigned i = 0; i < walk->n; i++) {
        const struct graph_task *task = graph_find(walk->run->graph, walk->ids[i]);
        unsigned n = graph_neighbours(walk->run->graph, task, true, ids, NEIGHBOURS);
        json_t *json = task_json(walk->source, walk->run, task),
               *before = json_array();

        for (unsigned k = 0; k < n; k++)
            if (walk_has(walk, ids[k]))
                json_array_append_new(before, number(ids[k]));
        json_object_set_new(json, "before", before);
        json_array_append_new(list, json);
    }
    return list;
}

char *state_graph(struct source *source, const char *query)
{
    struct source_run *run =
        source_at(source, (unsigned)number_of(query, "run", 0, WATCH_RUNS));
    uint64_t task = number_of(query, "task", 0, UINT64_MAX), last;
    struct walk walk = {.source = source,
                        .run = run,
                        .max =
                            (unsigned)number_of(query, "max", 300, MOST_NODES)};
    char *text = NULL;
    bool whole;

    if (!run)
        return strdup("{\"tasks\":[]}");
    walk.ids = calloc(walk.max + 1, sizeof(*walk.ids));
    walk.depths = calloc(walk.max + 1, sizeof(*walk.depths));
    last = graph_last(run->graph);
    whole = !task && last <= walk.max;
    if (!task)
        task = default_task(run);
    if (walk.ids && walk.depths && whole)
        for (uint64_t id = 1; id <= last; id++)
            walk_reach(&walk, id, 0);
    else if (walk.ids && walk.depths)
        walk_around(&walk, task, (unsigned)number_of(query, "depth", 3, 64));
    if (walk.ids && walk.depths)
        text = text_of(json_pack("{s:b, s:b, s:o, s:b, s:o}", "whole", whole, "cut", walk.cut,
                                 "task", number(task), "found",
                                 graph_find(run->graph, task) != NULL, "tasks",
                                 walk_json(&walk)));
    free(walk.ids);
    free(walk.depths);
    return text;
}

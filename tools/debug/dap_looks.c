/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/dap_looks.c - threads, their stacks, variables: what is asked while the run stands. */
#include "tools/debug/dap_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/common/tool.h"

/* --- references --- */

void dap_forget_references(struct dap *dap)
{
    for (unsigned i = 0; i < dap->nreferences; i++)
        free(dap->references[i].name);
    dap->nreferences = 0;
}

static json_int_t refer(struct dap *dap, int rank, int of, const char *name)
{
    struct reference *reference = &dap->references[dap->nreferences];

    if (dap->nreferences == REFERENCES)
        return 0;
    reference->of = of;
    reference->rank = rank;
    reference->name = name ? tool_format("%s", name) : NULL;
    return ++dap->nreferences;
}

const struct reference *dap_referred(const struct dap *dap,
                                     const json_t *number)
{
    json_int_t n = json_integer_value(number);

    return n > 0 && n <= dap->nreferences ? &dap->references[n - 1] : NULL;
}

/* An answer of that rank's run, -1: of the one that has come to the event; a new reference. */
json_t *dap_ask(struct dap *dap, int rank, const char *question,
                const char *key, const char *value)
{
    char *words = key ? tool_format("%s\t%s=%s", question, key, value)
                      : tool_format("%s", question);
    int present = dap->session.rank;
    json_t *answer;

    dap->session.rank = rank;
    answer = words ? session_ask(&dap->session, words) : json_object();
    dap->session.rank = present;
    free(words);
    return answer;
}

int dap_rank_in(const json_t *json, int without)
{
    const json_t *rank = json_object_get(json, "rank");

    return rank ? (int)json_number_value(rank) : without;
}

json_int_t dap_thread_number(struct thread thread)
{
    return thread.within +
           (thread.rank > 0 ? (json_int_t)RANKS * thread.rank : 0);
}

/* That of a request's arguments. */
struct thread dap_thread_asked(const struct dap *dap, const json_t *arguments)
{
    json_int_t number =
        json_integer_value(json_object_get(arguments, "threadId"));

    if (dap_rank_in(dap->session.now, -1) < 0)
        return (struct thread){-1, number};
    return (struct thread){(int)(number / RANKS), number % RANKS};
}

struct thread dap_present_thread(const struct dap *dap)
{
    const json_t *now = dap->session.now;
    json_int_t lane = json_integer_value(json_object_get(now, "lane"));
    json_int_t task = json_integer_value(json_object_get(now, "task"));
    struct thread thread = {dap_rank_in(now, -1), APPLICATION};

    if (lane >= 0)
        thread.within = WORKERS + lane;
    else if (lane != -1 && task && TASKS + task < RANKS)
        thread.within = TASKS + task;
    return thread;
}

static bool is_present(const struct dap *dap, struct thread thread)
{
    return dap_thread_number(thread) ==
           dap_thread_number(dap_present_thread(dap));
}

/* --- threads and stacks --- */

/* `name`: of a rank's threads begins with that of the rank. */
static void put_thread(json_t *list, struct thread thread, const char *name)
{
    char *text = thread.rank >= 0
                     ? tool_format("rank %d: %s", thread.rank, name)
                     : tool_format("%s", name);

    json_array_append_new(list,
                          json_pack("{sIso}", "id", dap_thread_number(thread),
                                    "name", tool_json_text(text)));
    free(text);
}

static void put_threads(struct dap *dap, json_t *list, int rank)
{
    json_t *answer = dap_ask(dap, rank, "workers", NULL, NULL), *item;
    struct thread thread = {rank, APPLICATION};
    size_t i;

    put_thread(list, thread, "the application");
    json_array_foreach(json_object_get(answer, "answer"), i, item)
    {
        thread.within =
            WORKERS + json_integer_value(json_object_get(item, "worker"));
        put_thread(list, thread, dap_text_of(item, "text", ""));
    }
    json_decref(answer);
}

/* Those of all ranks that have a run. */
void dap_threads(struct dap *dap, const json_t *request,
                 const json_t *arguments)
{
    struct thread thread = dap_present_thread(dap);
    json_t *list = json_array(), *ranks = NULL, *item;
    size_t i;

    (void)arguments;
    if (thread.rank >= 0)
        ranks = dap_ask(dap, -1, "ranks", NULL, NULL);
    else
        put_threads(dap, list, -1);
    json_array_foreach(json_object_get(ranks, "answer"), i, item)
        put_threads(dap, list, dap_rank_in(item, -1));
    if (thread.within >= TASKS) /* its text names the rank */
        json_array_append_new(
            list, json_pack("{sIsO}", "id", dap_thread_number(thread), "name",
                            json_object_get(dap->session.now, "text")));
    json_decref(ranks);
    dap_respond(dap, request, json_pack("{so}", "threads", list));
}

static void put_source(const struct dap *dap, json_t *frame, const char *source)
{
    const char *colon = source ? strrchr(source, ':') : NULL;
    char *path =
        colon ? tool_format("%.*s", (int)(colon - source), source) : NULL;

    if (path) {
        json_object_set_new(
            frame, "line",
            json_integer(strtol(colon + 1, NULL, 10) - 1 + dap->first_line));
        json_object_set_new(frame, "column", json_integer(dap->first_column));
        json_object_set_new(
            frame, "source",
            json_pack("{ssss}", "name",
                      strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
                      "path", path));
    }
    free(path);
}

/* A frame for each item; its number refers to the task that it is about, of that rank, or of
 * the one that the item names: chains go on through other ranks. */
static void put_frames(struct dap *dap, json_t *list, int rank,
                       const json_t *answer)
{
    const json_t *item;
    size_t i;

    json_array_foreach(json_object_get(answer, "answer"), i, item)
    {
        char number[40] = "0";
        json_t *frame;

        if (json_object_get(item, "task"))
            snprintf(number, sizeof(number), "%.0f",
                     json_number_value(json_object_get(item, "task")));
        frame = json_pack("{sIsOsisi}", "id",
                          refer(dap, dap_rank_in(item, rank), OF_TASK, number),
                          "name", json_object_get(item, "text"), "line", 0,
                          "column", 0);
        put_source(dap, frame,
                   json_string_value(json_object_get(item, "source")));
        json_array_append_new(list, frame);
    }
}

/* The first frame where the run stands. */
static void put_event_frame(struct dap *dap, json_t *list)
{
    json_t *answer = json_pack("{s[O]}", "answer", dap->session.now);

    put_frames(dap, list, dap_rank_in(dap->session.now, -1), answer);
    json_decref(answer);
}

/* The task that the worker has, 0: none. */
static json_int_t task_on(struct dap *dap, int rank, json_int_t worker)
{
    static const char *const states[] = {"running", "fetching", "waiting"};
    json_int_t found = 0;

    for (size_t i = 0; !found && i < sizeof(states) / sizeof(*states); i++) {
        json_t *answer =
            dap_ask(dap, rank, "tasks\tmax=100000", "state", states[i]);
        const json_t *item;
        size_t k;

        json_array_foreach(
            json_object_get(answer, "answer"), k,
            item) if (!found && json_object_get(item, "on") &&
                      json_integer_value(json_object_get(item, "on")) == worker)
            found = json_integer_value(json_object_get(item, "task"));
        json_decref(answer);
    }
    return found;
}

/* The task of a thread, 0: it has none. */
json_int_t dap_thread_task(struct dap *dap, struct thread thread)
{
    return thread.within >= TASKS ? thread.within - TASKS
           : thread.within >= WORKERS
               ? task_on(dap, thread.rank, thread.within - WORKERS)
               : 0;
}

void dap_stack(struct dap *dap, const json_t *request, const json_t *arguments)
{
    struct thread thread = dap_thread_asked(dap, arguments);
    json_t *list = json_array(), *answer;
    json_int_t task = dap_thread_task(dap, thread);
    bool is_application = thread.within < WORKERS;
    char number[40];

    if (is_present(dap, thread))
        put_event_frame(dap, list);
    snprintf(
        number, sizeof(number), "%lld",
        (long long)(task || is_application ? task : thread.within - WORKERS));
    answer = is_application
                 ? dap_ask(dap, thread.rank, "application", NULL, NULL)
             : task ? dap_ask(dap, thread.rank, "why", "task", number)
                    : dap_ask(dap, thread.rank, "idle", "worker", number);
    put_frames(dap, list, thread.rank, answer);
    json_decref(answer);
    dap_respond(dap, request,
                json_pack("{sosi}", "stackFrames", list, "totalFrames",
                          (int)json_array_size(list)));
}

/* --- variables --- */

static void put_scope(struct dap *dap, json_t *list, int rank, const char *name,
                      int of, const char *which, bool costly)
{
    json_array_append_new(
        list, json_pack("{sssIsb}", "name", name, "variablesReference",
                        refer(dap, rank, of, which), "expensive", costly));
}

void dap_scopes(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const struct reference *frame =
        dap_referred(dap, json_object_get(arguments, "frameId"));
    int rank = frame ? frame->rank : dap->session.rank;
    json_t *list = json_array();

    if (frame && frame->of == OF_TASK && frame->name &&
        strcmp(frame->name, "0") != 0)
        put_scope(dap, list, rank, "Task", OF_TASK, frame->name, false);
    put_scope(dap, list, rank, "Data", ALL_DATA, NULL, true);
    put_scope(dap, list, rank, "Workers", ALL_WORKERS, NULL, true);
    put_scope(dap, list, rank, "Memory nodes", ALL_NODES, NULL, true);
    put_scope(dap, list, rank, "Ready tasks", ALL_READY, NULL, true);
    if (rank >= 0)
        put_scope(dap, list, rank, "Ranks", ALL_RANKS, NULL, true);
    dap_respond(dap, request, json_pack("{so}", "scopes", list));
}

static json_t *ask_reference(struct dap *dap, const struct reference *of)
{
    const char *name = of->name ? of->name : "";

    switch (of->of) {
    case OF_TASK:
        return dap_ask(dap, of->rank, "task", "task", *name ? name : "0");
    case OF_DATUM:
        return dap_ask(dap, of->rank, "data", "data", name);
    case OF_NODE:
        return dap_ask(dap, of->rank, "nodes", "node", name);
    case ALL_DATA:
        return dap_ask(dap, of->rank, "data", NULL, NULL);
    case ALL_WORKERS:
        return dap_ask(dap, of->rank, "workers", NULL, NULL);
    case ALL_NODES:
        return dap_ask(dap, of->rank, "nodes", NULL, NULL);
    case ALL_RANKS:
        return dap_ask(dap, of->rank, "ranks", NULL, NULL);
    default:
        return dap_ask(dap, of->rank, "ready", NULL, NULL);
    }
}

/* What an item is called as a variable, and what is inside of it. */
static json_t *variable_of(struct dap *dap, const struct reference *reference,
                           const json_t *item)
{
    const char *data = json_string_value(json_object_get(item, "data"));
    const char *node = json_string_value(json_object_get(item, "node"));
    const char *name = json_string_value(json_object_get(item, "name"));
    bool is_list = reference->of == ALL_DATA || reference->of == OF_TASK;
    json_int_t inside = data && is_list
                            ? refer(dap, reference->rank, OF_DATUM, data)
                        : node && reference->of == ALL_NODES
                            ? refer(dap, reference->rank, OF_NODE, node)
                            : 0;
    char number[60];

    if (reference->of == ALL_RANKS)
        snprintf(number, sizeof(number), "rank %d", dap_rank_in(item, -1));
    else
        snprintf(number, sizeof(number), "#%.0f",
                 json_number_value(json_object_get(item, "task")));
    return json_pack(
        "{sssOsI}", "name",
        data                                                          ? data
        : node                                                        ? node
        : json_object_get(item, "task") || reference->of == ALL_RANKS ? number
        : name                                                        ? name
                                                                      : "",
        "value", json_object_get(item, "text"), "variablesReference", inside);
}

void dap_variables(struct dap *dap, const json_t *request,
                   const json_t *arguments)
{
    const struct reference *reference =
        dap_referred(dap, json_object_get(arguments, "variablesReference"));
    json_t *list = json_array(), *answer;
    const json_t *item;
    size_t i;

    if (reference) {
        struct reference copy = *reference;

        answer = ask_reference(dap, &copy);
        json_array_foreach(json_object_get(answer, "answer"), i, item)
            json_array_append_new(list, variable_of(dap, &copy, item));
        json_decref(answer);
    }
    dap_respond(dap, request, json_pack("{so}", "variables", list));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/dap.c - see dap.h. A message is a header with its length, an empty line, and
 * JSON. While the run goes on, what comes is kept until it stands; what asks it to stop
 * does so at once.
 *
 * Threads are 1, the application; 2 + w, worker w; TASK + n, task n, if the run stands at
 * it and no worker has it. Frames, and what variables refer to, are numbers in lists that
 * hold until the run goes on.
 */
#include "tools/debug/dap.h"

#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include "tools/debug/commands.h"
#include "tools/debug/session.h"
#include "tools/debug/source.h"
#include "tools/debug/words.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { APPLICATION = 1, WORKERS = 2, TASKS = 1000000, REFERENCES = 4096, MOST_BYTES = 1 << 24 };

/* What variables refer to. */
struct reference {
    enum { OF_TASK, OF_DATUM, OF_NODE, ALL_DATA, ALL_WORKERS, ALL_NODES, ALL_READY } of;
    char *name; /* owned, NULL: none: a task's number, a datum's name */
};

struct dap {
    struct session session;
    struct launch *launch;
    const char *folder;
    json_t *arguments; /* owned: of launch, which the launch borrows from */
    char **argv;       /* owned, likewise */
    char *input;       /* bytes that were read and not taken, owned */
    size_t n;
    json_t *kept; /* owned: messages that came while the run went on */
    json_int_t sequence;
    bool begun, stops_on_entry, over;
    struct reference references[REFERENCES]; /* by number, from 1 */
    unsigned nreferences;
    unsigned *functions, *watches; /* owned: numbers of breakpoints */
    size_t nfunctions, nwatches;
};

/* --- messages --- */

static void send_message(struct dap *dap, json_t *message)
{
    char *text;

    json_object_set_new(message, "seq", json_integer(++dap->sequence));
    text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (!text)
        return;
    printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    fflush(stdout);
    free(text);
}

/* Takes the body. */
static void send_event(struct dap *dap, const char *event, json_t *body)
{
    send_message(dap, json_pack("{ssssso}", "type", "event", "event", event, "body", body));
}

/* Takes the body, NULL: none. */
static void respond(struct dap *dap, const json_t *request, json_t *body)
{
    send_message(dap, json_pack("{sssOsbsOso*}", "type", "response", "request_seq",
                                json_object_get(request, "seq"), "success", 1, "command",
                                json_object_get(request, "command"), "body", body));
}

static void refuse(struct dap *dap, const json_t *request, const char *why)
{
    send_message(dap, json_pack("{sssOsbsOsss{s{siss}}}", "type", "response", "request_seq",
                                json_object_get(request, "seq"), "success", 0, "command",
                                json_object_get(request, "command"), "message", why, "body",
                                "error", "id", 1, "format", why));
}

static void on_output(void *arg, const char *stream, const char *text, size_t size)
{
    char *copy = strndup(text, size);

    send_event(arg, "output",
               json_pack("{ssso}", "category", stream, "output", tool_json_text(copy)));
    free(copy);
}

/* A whole message among the bytes that were read; NULL: there is none yet. */
static json_t *take_message(struct dap *dap)
{
    char *end = dap->input ? memmem(dap->input, dap->n, "\r\n\r\n", 4) : NULL;
    const char *length;
    unsigned long size;
    json_t *message;
    size_t head;

    if (!end)
        return NULL;
    *end = '\0';
    length = strcasestr(dap->input, "content-length:");
    size = length ? strtoul(length + strlen("content-length:"), NULL, 10) : 0;
    head = (size_t)(end + 4 - dap->input);
    *end = '\r';
    if (size > MOST_BYTES || dap->n - head < size)
        return NULL;
    message = json_loadb(dap->input + head, size, 0, NULL);
    dap->n -= head + size;
    memmove(dap->input, dap->input + head + size, dap->n);
    return message ? message : json_object();
}

/* Reads what is there; false: the editor is gone. */
static bool read_more(struct dap *dap)
{
    char *room = realloc(dap->input, dap->n + 4096);
    ssize_t n;

    if (!room)
        return false;
    dap->input = room;
    n = read(STDIN_FILENO, dap->input + dap->n, 4096);
    if (n < 0 && errno == EINTR)
        return true;
    dap->n += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool asks_to_stop(const json_t *message)
{
    const char *command = json_string_value(json_object_get(message, "command"));

    return command && (!strcmp(command, "pause") || !strcmp(command, "disconnect") ||
                       !strcmp(command, "terminate"));
}

/* While the run goes on: something has come. */
static bool on_input(void *arg)
{
    struct dap *dap = arg;
    json_t *message;
    bool there = read_more(dap);

    while ((message = take_message(dap))) {
        if (asks_to_stop(message))
            program_halt(&dap->session.program);
        json_array_append_new(dap->kept, message);
    }
    if (!there) {
        dap->over = true;
        program_halt(&dap->session.program);
    }
    return there;
}

/* The next request, a new reference; NULL: the editor is gone. */
static json_t *next_request(struct dap *dap)
{
    json_t *message = NULL;

    if (json_array_size(dap->kept)) {
        message = json_incref(json_array_get(dap->kept, 0));
        json_array_remove(dap->kept, 0);
        return message;
    }
    while (!dap->over && !(message = take_message(dap)))
        dap->over = !read_more(dap);
    return message;
}

/* --- references --- */

static void forget_references(struct dap *dap)
{
    for (unsigned i = 0; i < dap->nreferences; i++)
        free(dap->references[i].name);
    dap->nreferences = 0;
}

static json_int_t refer(struct dap *dap, int of, const char *name)
{
    struct reference *reference = &dap->references[dap->nreferences];

    if (dap->nreferences == REFERENCES)
        return 0;
    reference->of = of;
    reference->name = name ? tool_format("%s", name) : NULL;
    return ++dap->nreferences;
}

static const struct reference *referred(const struct dap *dap, const json_t *number)
{
    json_int_t n = json_integer_value(number);

    return n > 0 && n <= dap->nreferences ? &dap->references[n - 1] : NULL;
}

/* An answer of the run; a new reference. */
static json_t *ask_run(struct dap *dap, const char *question, const char *key, const char *value)
{
    char *words = key ? tool_format("%s\t%s=%s", question, key, value)
                      : tool_format("%s", question);
    json_t *answer = words ? session_ask(&dap->session, words) : json_object();

    free(words);
    return answer;
}

/* --- where it stands --- */

static json_int_t present_thread(const struct dap *dap)
{
    const json_t *now = dap->session.now;
    json_int_t lane = json_integer_value(json_object_get(now, "lane"));
    json_int_t task = json_integer_value(json_object_get(now, "task"));

    if (lane >= 0)
        return WORKERS + lane;
    return lane == -1 || !task ? APPLICATION : TASKS + task;
}

static const char *reason_of(const json_t *result)
{
    static const char *const words[] = {"breakpoint", "step", "goto"};
    const char *reason = json_string_value(json_object_get(result, "reason"));

    for (size_t i = 0; reason && i < sizeof(words) / sizeof(*words); i++)
        if (!strcmp(words[i], reason))
            return reason;
    return reason && !strcmp(reason, "begin") ? "entry" : "pause";
}

/* What came of a way: the run stands, or has ended. Takes the result. */
static void tell(struct dap *dap, json_t *result)
{
    json_int_t stop = json_integer_value(json_object_get(result, "stop"));
    json_t *body;

    forget_references(dap);
    program_flush(&dap->session.program);
    if (json_object_get(result, "event")) {
        body = json_pack("{sssOsIsb}", "reason", reason_of(result), "description",
                         json_object_get(result, "text"), "threadId", present_thread(dap),
                         "allThreadsStopped", 1);
        if (stop)
            json_object_set_new(body, "hitBreakpointIds", json_pack("[I]", stop));
        send_event(dap, "stopped", body);
    } else {
        send_event(dap, "exited",
                   json_pack("{sO*}", "exitCode", json_object_get(result, "exited")));
        send_event(dap, "terminated", json_object());
    }
    json_decref(result);
}

/* --- the beginning --- */

static void do_initialize(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request,
            json_pack("{sbsbsbsbsbsb}", "supportsConfigurationDoneRequest", 1,
                      "supportsFunctionBreakpoints", 1, "supportsConditionalBreakpoints", 1,
                      "supportsDataBreakpoints", 1, "supportsStepBack", 1,
                      "supportsTerminateRequest", 1));
}

/* A text of the request's arguments, else what the command line has. */
static const char *text_of(const json_t *arguments, const char *key, const char *otherwise)
{
    const char *value = json_string_value(json_object_get(arguments, key));

    return value ? value : otherwise;
}

static int take_program(struct dap *dap, const json_t *arguments)
{
    const char *program = text_of(arguments, "program", NULL);
    const json_t *args = json_object_get(arguments, "args");
    size_t n = json_array_size(args);

    if (!program)
        return dap->launch->argv && dap->launch->argv[0] ? 0 : -1;
    dap->argv = calloc(n + 2, sizeof(*dap->argv));
    if (!dap->argv)
        return -1;
    dap->argv[0] = (char *)(uintptr_t)program;
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(args, i));

        dap->argv[i + 1] = (char *)(uintptr_t)(word ? word : "");
    }
    dap->launch->argv = dap->argv;
    return 0;
}

static void do_launch(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const char *folder = text_of(arguments, "cwd", NULL);
    struct launch *launch = dap->launch;
    json_t *first;

    if (dap->arguments) {
        refuse(dap, request, "`launch' was asked for before");
        return;
    }
    dap->arguments = arguments ? json_deep_copy(arguments) : json_object();
    launch->machine = text_of(dap->arguments, "machine", launch->machine);
    launch->scheduler = text_of(dap->arguments, "scheduler", launch->scheduler);
    launch->edits = text_of(dap->arguments, "set", launch->edits);
    dap->session.program.input = text_of(dap->arguments, "input", dap->session.program.input);
    dap->stops_on_entry = json_is_true(json_object_get(arguments, "stopOnEntry"));
    if (take_program(dap, dap->arguments) < 0) {
        refuse(dap, request, "the request `launch' names no `program'");
        return;
    }
    if (!launch->machine && !getenv("ORRERY_MACHINE")) {
        refuse(dap, request, "the request `launch' names no `machine': only a simulated run can "
                             "be stopped and go back (orrery machine list)");
        return;
    }
    if (folder && chdir(folder) != 0) {
        refuse(dap, request, "the folder `cwd' cannot be entered");
        return;
    }
    first = launch_ready(launch, dap->folder) < 0 ? NULL : session_open(&dap->session);
    if (!first) {
        program_flush(&dap->session.program);
        refuse(dap, request, "the program cannot be run on that machine: see the adapter's "
                             "standard error");
        return;
    }
    json_decref(first);
    dap->begun = true;
    respond(dap, request, NULL);
    send_event(dap, "initialized", json_object());
}

static void do_configuration_done(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request, NULL);
    if (dap->stops_on_entry)
        tell(dap, session_goto(&dap->session, 1, "begin"));
    else
        tell(dap, session_go(&dap->session, "x=", true, "pause"));
}

/* --- breakpoints --- */

static void drop(struct dap *dap, unsigned **ids, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        session_delete(&dap->session, (*ids)[i]);
    free(*ids);
    *ids = NULL;
    *n = 0;
}

/* Takes the text and the request, NULL with what is wrong; adds to the list what the
 * protocol says of it. */
static unsigned put_stop(struct dap *dap, const char *text, char *request, const char *wrong,
                         json_t *list)
{
    json_t *made = request ? session_break(&dap->session, text, request) : NULL;
    unsigned id = (unsigned)json_integer_value(json_object_get(made, "breakpoint"));

    if (id)
        json_array_append_new(list, json_pack("{sisb}", "id", (int)id, "verified", 1));
    else
        json_array_append_new(list, json_pack("{sbss}", "verified", 0, "message", wrong));
    json_decref(made);
    return id;
}

/* The names of functions are breakpoints as `break' takes them. */
static void do_function_breakpoints(struct dap *dap, const json_t *request,
                                    const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    json_t *list = json_array();
    size_t i;

    drop(dap, &dap->functions, &dap->nfunctions);
    dap->functions = calloc(json_array_size(all) + 1, sizeof(*dap->functions));
    json_array_foreach (all, i, one) {
        const char *name = text_of(one, "name", ""), *condition = text_of(one, "condition", "");
        struct orr_error err = {"out of memory"};
        char *text = tool_format("%s%s%s", name, *condition ? " if " : "", condition);
        size_t n;
        char **words = text ? words_split(text, &n) : NULL;
        char *stop = words ? words_stop(words, n, &err) : NULL;
        unsigned id = put_stop(dap, text ? text : "", stop, err.text, list);

        if (id && dap->functions)
            dap->functions[dap->nfunctions++] = id;
        free(words);
        free(text);
    }
    respond(dap, request, json_pack("{so}", "breakpoints", list));
}

/* A line is come to where a task is submitted there. Those of other files stay. */
static void do_breakpoints(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    const char *path = text_of(json_object_get(arguments, "source"), "path", "");
    json_t *list = json_array();
    size_t i;

    for (unsigned k = 0; k < dap->session.nstops; k++) {
        const struct session_stop *stop = &dap->session.stops[k];

        if (stop->id && stop->line && !strncmp(stop->line, path, strlen(path)) &&
            stop->line[strlen(path)] == ':')
            session_delete(&dap->session, stop->id);
    }
    json_array_foreach (all, i, one) {
        char *text = tool_format("%s:%lld", path,
                                 (long long)json_integer_value(json_object_get(one, "line")));
        char *stop = text ? tool_format("stop\tkind=submit\tline=%s", text) : NULL;

        put_stop(dap, text ? text : "", stop, "out of memory", list);
        free(text);
    }
    respond(dap, request, json_pack("{so}", "breakpoints", list));
}

static void do_data_info(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const char *name = text_of(arguments, "name", "");
    json_t *answer = ask_run(dap, "data", "data", name);

    if (json_object_get(answer, "answer"))
        respond(dap, request,
                json_pack("{ssss}", "dataId", name, "description", name));
    else
        respond(dap, request, json_pack("{snss}", "dataId", "description",
                                        "this is none of the run's data"));
    json_decref(answer);
}

static void do_data_breakpoints(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const json_t *all = json_object_get(arguments, "breakpoints"), *one;
    json_t *list = json_array();
    size_t i;

    drop(dap, &dap->watches, &dap->nwatches);
    dap->watches = calloc(json_array_size(all) + 1, sizeof(*dap->watches));
    json_array_foreach (all, i, one) {
        const char *name = text_of(one, "dataId", "");
        unsigned id = put_stop(dap, name,
                               *name ? tool_format("stop\twatch=1\tdata=%s", name) : NULL,
                               "there is no `dataId'", list);

        if (id && dap->watches)
            dap->watches[dap->nwatches++] = id;
    }
    respond(dap, request, json_pack("{so}", "breakpoints", list));
}

/* --- threads and stacks --- */

static void do_threads(struct dap *dap, const json_t *request, const json_t *arguments)
{
    json_t *list = json_array(), *answer = ask_run(dap, "workers", NULL, NULL), *item;
    const json_t *now = dap->session.now;
    json_int_t thread = present_thread(dap);
    size_t i;

    (void)arguments;
    json_array_append_new(list, json_pack("{siss}", "id", APPLICATION, "name", "the application"));
    json_array_foreach (json_object_get(answer, "answer"), i, item)
        json_array_append_new(
            list, json_pack("{sIsO}", "id",
                            WORKERS + json_integer_value(json_object_get(item, "worker")), "name",
                            json_object_get(item, "text")));
    if (thread >= TASKS)
        json_array_append_new(list, json_pack("{sIsO}", "id", thread, "name",
                                              json_object_get(now, "text")));
    json_decref(answer);
    respond(dap, request, json_pack("{so}", "threads", list));
}

static void put_source(json_t *frame, const char *source)
{
    const char *colon = source ? strrchr(source, ':') : NULL;
    char *path = colon ? tool_format("%.*s", (int)(colon - source), source) : NULL;

    if (path) {
        json_object_set_new(frame, "line", json_integer(strtol(colon + 1, NULL, 10)));
        json_object_set_new(frame, "source", json_pack("{ssss}", "name",
                                                       strrchr(path, '/') ? strrchr(path, '/') + 1
                                                                          : path,
                                                       "path", path));
    }
    free(path);
}

/* A frame for each item; its number refers to the task that it is about. */
static void put_frames(struct dap *dap, json_t *list, const json_t *answer)
{
    const json_t *item;
    size_t i;

    json_array_foreach (json_object_get(answer, "answer"), i, item) {
        char number[40] = "0";
        json_t *frame;

        if (json_object_get(item, "task"))
            snprintf(number, sizeof(number), "%.0f",
                     json_number_value(json_object_get(item, "task")));
        frame = json_pack("{sIsOsisi}", "id", refer(dap, OF_TASK, number), "name",
                          json_object_get(item, "text"), "line", 0, "column", 0);
        put_source(frame, json_string_value(json_object_get(item, "source")));
        json_array_append_new(list, frame);
    }
}

/* The first frame where the run stands. */
static void put_event_frame(struct dap *dap, json_t *list)
{
    json_t *answer = json_pack("{s[O]}", "answer", dap->session.now);

    put_frames(dap, list, answer);
    json_decref(answer);
}

/* The task that the worker has, 0: none. */
static json_int_t task_on(struct dap *dap, json_int_t worker)
{
    static const char *const states[] = {"running", "fetching", "waiting"};
    json_int_t found = 0;

    for (size_t i = 0; !found && i < sizeof(states) / sizeof(*states); i++) {
        json_t *answer = ask_run(dap, "tasks\tmax=100000", "state", states[i]);
        const json_t *item;
        size_t k;

        json_array_foreach (json_object_get(answer, "answer"), k, item)
            if (!found && json_object_get(item, "on") &&
                json_integer_value(json_object_get(item, "on")) == worker)
                found = json_integer_value(json_object_get(item, "task"));
        json_decref(answer);
    }
    return found;
}

static void do_stack(struct dap *dap, const json_t *request, const json_t *arguments)
{
    json_int_t thread = json_integer_value(json_object_get(arguments, "threadId"));
    json_t *list = json_array(), *answer;
    json_int_t task = thread >= TASKS ? thread - TASKS
                      : thread >= WORKERS ? task_on(dap, thread - WORKERS)
                                          : 0;
    char number[40];

    if (thread == present_thread(dap))
        put_event_frame(dap, list);
    snprintf(number, sizeof(number), "%lld",
             (long long)(task || thread < WORKERS ? task : thread - WORKERS));
    answer = thread < WORKERS ? ask_run(dap, "application", NULL, NULL)
             : task           ? ask_run(dap, "why", "task", number)
                              : ask_run(dap, "idle", "worker", number);
    put_frames(dap, list, answer);
    json_decref(answer);
    respond(dap, request,
            json_pack("{sosi}", "stackFrames", list, "totalFrames", (int)json_array_size(list)));
}

/* --- variables --- */

static void put_scope(struct dap *dap, json_t *list, const char *name, int of, const char *which,
                      bool costly)
{
    json_array_append_new(list, json_pack("{sssIsb}", "name", name, "variablesReference",
                                          refer(dap, of, which), "expensive", costly));
}

static void do_scopes(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const struct reference *frame = referred(dap, json_object_get(arguments, "frameId"));
    json_t *list = json_array();

    if (frame && frame->of == OF_TASK && frame->name && strcmp(frame->name, "0") != 0)
        put_scope(dap, list, "Task", OF_TASK, frame->name, false);
    put_scope(dap, list, "Data", ALL_DATA, NULL, true);
    put_scope(dap, list, "Workers", ALL_WORKERS, NULL, true);
    put_scope(dap, list, "Memory nodes", ALL_NODES, NULL, true);
    put_scope(dap, list, "Ready tasks", ALL_READY, NULL, true);
    respond(dap, request, json_pack("{so}", "scopes", list));
}

static json_t *ask_reference(struct dap *dap, const struct reference *reference)
{
    switch (reference->of) {
    case OF_TASK:
        return ask_run(dap, "task", "task", reference->name ? reference->name : "0");
    case OF_DATUM:
        return ask_run(dap, "data", "data", reference->name ? reference->name : "");
    case OF_NODE:
        return ask_run(dap, "nodes", "node", reference->name ? reference->name : "");
    case ALL_DATA:
        return ask_run(dap, "data", NULL, NULL);
    case ALL_WORKERS:
        return ask_run(dap, "workers", NULL, NULL);
    case ALL_NODES:
        return ask_run(dap, "nodes", NULL, NULL);
    default:
        return ask_run(dap, "ready", NULL, NULL);
    }
}

/* What an item is called as a variable, and what is inside of it. */
static json_t *variable_of(struct dap *dap, const struct reference *reference, const json_t *item)
{
    const char *data = json_string_value(json_object_get(item, "data"));
    const char *node = json_string_value(json_object_get(item, "node"));
    const char *name = json_string_value(json_object_get(item, "name"));
    bool is_list = reference->of == ALL_DATA || reference->of == OF_TASK;
    json_int_t inside = data && is_list                       ? refer(dap, OF_DATUM, data)
                        : node && reference->of == ALL_NODES ? refer(dap, OF_NODE, node)
                                                              : 0;
    char number[60];

    snprintf(number, sizeof(number), "#%.0f", json_number_value(json_object_get(item, "task")));
    return json_pack("{sssOsI}", "name",
                     data   ? data
                     : node ? node
                     : json_object_get(item, "task") ? number
                     : name                          ? name
                                                     : "",
                     "value", json_object_get(item, "text"), "variablesReference", inside);
}

static void do_variables(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const struct reference *reference =
        referred(dap, json_object_get(arguments, "variablesReference"));
    json_t *list = json_array(), *answer;
    const json_t *item;
    size_t i;

    if (reference) {
        struct reference copy = *reference;

        answer = ask_reference(dap, &copy);
        json_array_foreach (json_object_get(answer, "answer"), i, item)
            json_array_append_new(list, variable_of(dap, &copy, item));
        json_decref(answer);
    }
    respond(dap, request, json_pack("{so}", "variables", list));
}

/* A command, as a person writes it. */
static void do_evaluate(struct dap *dap, const json_t *request, const json_t *arguments)
{
    json_t *result = commands_do(&dap->session, text_of(arguments, "expression", ""));
    char *text = commands_text(result);

    respond(dap, request,
            json_pack("{sosi}", "result", tool_json_text(text), "variablesReference", 0));
    free(text);
    if (json_object_get(result, "event") || json_object_get(result, "exited"))
        tell(dap, json_incref(result));
    json_decref(result);
}

/* --- ways --- */

static void do_continue(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request, json_pack("{sb}", "allThreadsContinued", 1));
    tell(dap, session_go(&dap->session, "x=", true, "pause"));
}

static void do_reverse_continue(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request, NULL);
    tell(dap, session_search_back(&dap->session, "x=", true, "breakpoint"));
}

/* The next event of the thread. */
static void do_next(struct dap *dap, const json_t *request, const json_t *arguments)
{
    json_int_t thread = json_integer_value(json_object_get(arguments, "threadId"));
    char goal[40];

    respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "lane=%lld",
             (long long)(thread >= WORKERS && thread < TASKS ? thread - WORKERS : -1));
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

/* The next event. */
static void do_step_in(struct dap *dap, const json_t *request, const json_t *arguments)
{
    char goal[40];

    (void)arguments;
    respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "limit=%llu", (unsigned long long)dap->session.number + 1);
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

/* The end of the task. */
static void do_step_out(struct dap *dap, const json_t *request, const json_t *arguments)
{
    json_int_t thread = json_integer_value(json_object_get(arguments, "threadId"));
    json_int_t task = thread >= TASKS    ? thread - TASKS
                      : thread >= WORKERS ? task_on(dap, thread - WORKERS)
                                          : 0;
    char goal[40];

    if (!task)
        task = json_integer_value(json_object_get(dap->session.now, "task"));
    if (!task) {
        refuse(dap, request, "this thread has no task");
        return;
    }
    respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "end=%lld", (long long)task);
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

static void do_step_back(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request, NULL);
    tell(dap, session_goto(&dap->session, dap->session.number - 1, "step"));
}

/* It was halted when that came. */
static void do_pause(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    respond(dap, request, NULL);
}

static void do_disconnect(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap->over = true;
    respond(dap, request, NULL);
}

/* --- requests --- */

static const struct {
    const char *command;
    void (*run)(struct dap *dap, const json_t *request, const json_t *arguments);
    bool begun; /* only once the program is started */
} table[] = {
    {"initialize", do_initialize, false},
    {"launch", do_launch, false},
    {"configurationDone", do_configuration_done, true},
    {"setBreakpoints", do_breakpoints, true},
    {"setFunctionBreakpoints", do_function_breakpoints, true},
    {"dataBreakpointInfo", do_data_info, true},
    {"setDataBreakpoints", do_data_breakpoints, true},
    {"threads", do_threads, true},
    {"stackTrace", do_stack, true},
    {"scopes", do_scopes, true},
    {"variables", do_variables, true},
    {"evaluate", do_evaluate, true},
    {"continue", do_continue, true},
    {"reverseContinue", do_reverse_continue, true},
    {"next", do_next, true},
    {"stepIn", do_step_in, true},
    {"stepOut", do_step_out, true},
    {"stepBack", do_step_back, true},
    {"pause", do_pause, true},
    {"terminate", do_disconnect, false},
    {"disconnect", do_disconnect, false},
};

static void serve(struct dap *dap, const json_t *request)
{
    const char *command = text_of(request, "command", "");

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(table[i].command, command) != 0)
            continue;
        if (table[i].begun && !dap->begun)
            refuse(dap, request, "the program is not started yet");
        else
            table[i].run(dap, request, json_object_get(request, "arguments"));
        return;
    }
    refuse(dap, request, "this adapter does not know that request");
}

int dap_serve(struct launch *launch, const char *folder)
{
    struct dap *dap = calloc(1, sizeof(*dap));
    json_t *request;

    if (!dap)
        return tool_fail(TOOL_FAILED, "out of memory");
    dap->launch = launch;
    dap->folder = folder;
    dap->kept = json_array();
    dap->session.program = (struct program){.launch = launch,
                                            .print = on_output,
                                            .print_arg = dap,
                                            .also = STDIN_FILENO,
                                            .watches_also = true,
                                            .on_also = on_input,
                                            .on_also_arg = dap};
    while (!dap->over && (request = next_request(dap))) {
        serve(dap, request);
        json_decref(request);
    }
    if (dap->begun)
        session_close(&dap->session);
    forget_references(dap);
    json_decref(dap->kept);
    json_decref(dap->arguments);
    free(dap->argv);
    free(dap->input);
    free(dap->functions);
    free(dap->watches);
    free(dap);
    return TOOL_OK;
}

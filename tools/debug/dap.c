/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/dap.c - see dap.h: an editor's session, from its launch to its end, and the ways
 * that it goes.
 */
#include "tools/debug/dap.h"

#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include "tools/debug/commands.h"
#include "tools/debug/dap_private.h"
#include "tools/debug/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- where it stands --- */

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

    dap_forget_references(dap);
    program_flush(&dap->session.program);
    if (json_object_get(result, "event")) {
        body = json_pack("{sssOsIsb}", "reason", reason_of(result),
                         "description", json_object_get(result, "text"),
                         "threadId", dap_thread_number(dap_present_thread(dap)),
                         "allThreadsStopped", 1);
        if (stop)
            json_object_set_new(body, "hitBreakpointIds", json_pack("[I]", stop));
        dap_send_event(dap, "stopped", body);
    } else {
        dap_send_event(
            dap, "exited",
            json_pack("{sO*}", "exitCode", json_object_get(result, "exited")));
        dap_send_event(dap, "terminated", json_object());
    }
    json_decref(result);
}

/* --- the beginning --- */

static void do_initialize(struct dap *dap, const json_t *request, const json_t *arguments)
{
    dap->first_line =
        !json_is_false(json_object_get(arguments, "linesStartAt1"));
    dap->first_column =
        !json_is_false(json_object_get(arguments, "columnsStartAt1"));
    dap_respond(dap, request,
                json_pack("{sbsbsbsbsbsb}", "supportsConfigurationDoneRequest",
                          1, "supportsFunctionBreakpoints", 1,
                          "supportsConditionalBreakpoints", 1,
                          "supportsDataBreakpoints", 1, "supportsStepBack", 1,
                          "supportsTerminateRequest", 1));
}

static int take_program(struct dap *dap, const json_t *arguments)
{
    const char *program = dap_text_of(arguments, "program", NULL);
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

/* How many ranks there are, of the machine that was named, or of a folder of records. */
static int take_ranks(struct dap *dap, const json_t *arguments)
{
    struct launch *launch = dap->launch;
    const json_t *ranks = json_object_get(arguments, "ranks");
    char number[24];

    dap->record = launch_rank_record(launch->argv[0]);
    if (dap->record) {
        free(dap->argv);
        dap->argv = calloc(2, sizeof(*dap->argv));
        if (!dap->argv)
            return -1;
        dap->argv[0] = dap->record;
        launch->argv = dap->argv;
    }
    snprintf(number, sizeof(number), "%lld",
             (long long)json_integer_value(ranks));
    return debug_choose_ranks(launch, ranks ? number : dap->ranks) == TOOL_OK
               ? 0
               : -1;
}

static void do_launch(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const char *folder = dap_text_of(arguments, "cwd", NULL);
    struct launch *launch = dap->launch;
    json_t *first = NULL;

    if (dap->arguments) {
        dap_refuse(dap, request, "`launch' was asked for before");
        return;
    }
    dap->arguments = arguments ? json_deep_copy(arguments) : json_object();
    launch->machine = dap_text_of(dap->arguments, "machine", launch->machine);
    launch->scheduler =
        dap_text_of(dap->arguments, "scheduler", launch->scheduler);
    launch->edits = dap_text_of(dap->arguments, "set", launch->edits);
    dap->session.program.input =
        dap_text_of(dap->arguments, "input", dap->session.program.input);
    dap->stops_on_entry = json_is_true(json_object_get(arguments, "stopOnEntry"));
    if (take_program(dap, dap->arguments) < 0) {
        dap_refuse(dap, request, "the request `launch' names no `program'");
        return;
    }
    if (!launch->machine && !getenv("ORRERY_MACHINE")) {
        dap_refuse(
            dap, request,
            "the request `launch' names no `machine': only a simulated run can "
            "be stopped and go back (orrery machine list)");
        return;
    }
    if (folder && chdir(folder) != 0) {
        dap_refuse(dap, request, "the folder `cwd' cannot be entered");
        return;
    }
    if (take_ranks(dap, dap->arguments) == 0 &&
        launch_ready(launch, dap->folder) >= 0)
        first = session_open(&dap->session);
    if (!first) {
        program_flush(&dap->session.program);
        dap_refuse(
            dap, request,
            "the program cannot be run on that machine: see the adapter's "
            "standard error");
        return;
    }
    json_decref(first);
    dap->begun = true;
    dap_respond(dap, request, NULL);
    dap_send_event(dap, "initialized", json_object());
}

static void do_configuration_done(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap_respond(dap, request, NULL);
    if (dap->stops_on_entry)
        tell(dap, session_goto(&dap->session, 1, "begin"));
    else
        tell(dap, session_go(&dap->session, "x=", true, "pause"));
}

/* A command, as a person writes it; where a frame of another rank is chosen, about that one. */
static void do_evaluate(struct dap *dap, const json_t *request, const json_t *arguments)
{
    const struct reference *frame =
        dap_referred(dap, json_object_get(arguments, "frameId"));
    json_t *result;
    char *text;

    if (frame && frame->rank != dap_rank_in(dap->session.now, -1))
        dap->session.rank = frame->rank;
    result =
        commands_do(&dap->session, dap_text_of(arguments, "expression", ""));
    text = commands_text(result);
    dap_respond(dap, request,
                json_pack("{sosi}", "result", tool_json_text(text),
                          "variablesReference", 0));
    free(text);
    if (json_object_get(result, "event") || json_object_get(result, "exited"))
        tell(dap, json_incref(result));
    json_decref(result);
}

/* --- ways --- */

static void do_continue(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap_respond(dap, request, json_pack("{sb}", "allThreadsContinued", 1));
    tell(dap, session_go(&dap->session, "x=", true, "pause"));
}

static void do_reverse_continue(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap_respond(dap, request, NULL);
    tell(dap, session_search_back(&dap->session, "x=", true, "breakpoint"));
}

/* The next event of the thread. */
static void do_next(struct dap *dap, const json_t *request, const json_t *arguments)
{
    struct thread thread = dap_thread_asked(dap, arguments);
    bool is_worker = thread.within >= WORKERS && thread.within < TASKS;
    char goal[60];

    dap_respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "lane=%lld\trank=%d",
             (long long)(is_worker ? thread.within - WORKERS : -1),
             thread.rank);
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

/* The next event. */
static void do_step_in(struct dap *dap, const json_t *request, const json_t *arguments)
{
    char goal[40];

    (void)arguments;
    dap_respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "limit=%llu", (unsigned long long)dap->session.number + 1);
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

/* The end of the task. */
static void do_step_out(struct dap *dap, const json_t *request, const json_t *arguments)
{
    struct thread thread = dap_thread_asked(dap, arguments);
    json_int_t task = dap_thread_task(dap, thread);
    char goal[60];

    if (!task && thread.rank == dap_rank_in(dap->session.now, -1))
        task = json_integer_value(json_object_get(dap->session.now, "task"));
    if (!task) {
        dap_refuse(dap, request, "this thread has no task");
        return;
    }
    dap_respond(dap, request, NULL);
    snprintf(goal, sizeof(goal), "end=%lld\trank=%d", (long long)task,
             thread.rank);
    tell(dap, session_go(&dap->session, goal, true, "step"));
}

static void do_step_back(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap_respond(dap, request, NULL);
    tell(dap, session_goto(&dap->session, dap->session.number - 1, "step"));
}

/* It was halted when that came. */
static void do_pause(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap_respond(dap, request, NULL);
}

static void do_disconnect(struct dap *dap, const json_t *request, const json_t *arguments)
{
    (void)arguments;
    dap->over = true;
    dap_respond(dap, request, NULL);
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
    {"setBreakpoints", dap_set_lines, true},
    {"setFunctionBreakpoints", dap_set_functions, true},
    {"dataBreakpointInfo", dap_data_info, true},
    {"setDataBreakpoints", dap_set_data, true},
    {"threads", dap_threads, true},
    {"stackTrace", dap_stack, true},
    {"scopes", dap_scopes, true},
    {"variables", dap_variables, true},
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
    const char *command = dap_text_of(request, "command", "");

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(table[i].command, command) != 0)
            continue;
        if (table[i].begun && !dap->begun)
            dap_refuse(dap, request, "the program is not started yet");
        else
            table[i].run(dap, request, json_object_get(request, "arguments"));
        return;
    }
    dap_refuse(dap, request, "this adapter does not know that request");
}

int dap_serve(struct launch *launch, const char *folder, const char *ranks)
{
    struct dap *dap = calloc(1, sizeof(*dap));
    json_t *request;

    if (!dap)
        return tool_fail(TOOL_FAILED, "out of memory");
    dap->launch = launch;
    dap->folder = folder;
    dap->ranks = ranks;
    dap->kept = json_array();
    dap->session.program = (struct program){.launch = launch,
                                            .print = dap_on_output,
                                            .print_arg = dap,
                                            .also = STDIN_FILENO,
                                            .watches_also = true,
                                            .on_also = dap_on_input,
                                            .on_also_arg = dap};
    while (!dap->over && (request = dap_next_request(dap))) {
        serve(dap, request);
        json_decref(request);
    }
    if (dap->begun)
        session_close(&dap->session);
    dap_forget_references(dap);
    json_decref(dap->kept);
    json_decref(dap->arguments);
    free(dap->argv);
    free(dap->record);
    free(dap->input);
    free(dap->functions);
    free(dap->watches);
    free(dap);
    return TOOL_OK;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/command.c - `orrery watch`: a view of a run while it goes on, as a page or on
 * the terminal; at its end the page of `orrery report`. One thread.
 */
#include "core/observe/source_line.h"
#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/modules.h"
#include "tools/common/program.h"
#include "tools/common/run_files.h"
#include "tools/common/tool.h"
#include "tools/watch/http.h"
#include "tools/watch/source.h"
#include "tools/watch/state.h"
#include "tools/watch/terminal.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery watch [-m MACHINE|CLUSTER] [--set EDIT] [-s SCHEDULER]\n"
    "                    [--assume TIMES] [--tty | --port PORT --browser --wait]\n"
    "                    [--links SCHEME] [-o FILE.html | --no-report] [--plain]\n"
    "                    [--json]\n"
    "                    -- PROGRAM [ARGUMENTS]\n"
    "       orrery watch [OPTIONS] RECORD\n"
    "Runs the program, for real or on a simulated machine, and serves a page that\n"
    "shows it while it goes on: what each worker does, ready tasks, memory, copies,\n"
    "kernels, messages, and the graph of the tasks with their states (docs/WATCH.md).\n"
    "Its address, which is printed, works on this machine alone, and for those alone\n"
    "who know it. At the end the page becomes that of orrery report. What the program\n"
    "prints passes through. A record (orrery record) may stand in its place.\n"
    "  -m, --machine MACHINE      simulate that machine, else run for real\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP
    "      --tty                  on the terminal instead; a line each second if\n"
    "                             standard error is none. On a terminal the program's\n"
    "                             output comes at the end\n"
    "      --port PORT            of the page, else any that is free\n"
    "      --browser              open the page, by xdg-open\n"
    "      --wait                 begin when the page has been opened\n"
    "      --links SCHEME         links to lines of the program, here and in the\n"
    "                             report: vscode, vscodium, zed, idea, textmate,\n"
    "                             file, or an address with {file} and {line}\n"
    "                             (ORRERY_LINKS; none)\n"
    "  -o, --output FILE.html     the report (report.html)\n"
    "      --no-report            no report: neither trace nor graph are recorded\n"
    "      --plain                a report with neither explanation nor bounds\n"
    "      --json                 print what was shown last as JSON, and not what the\n"
    "                             program prints\n"
    "Exit codes: the program's own; 1 when something failed; 2 for a wrong command\n"
    "line.\n"
    "example: orrery watch -m MACHINE -s dmdas -- ./cholesky -size 9600\n";

struct options {
    const char *port, *output, *links;
    bool tty, browser, wait, no_report, plain, json;
};

struct view {
    const struct options *options;
    struct source source;
    struct http *http; /* NULL: on the terminal */
    struct terminal terminal;
    const char *phase; /* as in state.h … */
    int exit;          /* … too */
    char *program; /* owned */
    char *page;    /* owned: what is served */
    double last_s; /* when the state was sent last */
    bool reported; /* there is a report to be served */
};

static const double send_s = 0.25, linger_s = 10;

/* --- what is served --- */

/* The whole of a file; owned. NULL: errno says why. */
static char *read_whole(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "re"), *to = NULL;
    char bytes[8192], *text = NULL;
    size_t n;

    if (file)
        to = open_memstream(&text, ret_size);
    while (to && (n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        fwrite(bytes, 1, n, to);
    if (file)
        fclose(file);
    if (to)
        fclose(to);
    return text;
}

static struct http_answer json_answer(char *text)
{
    return (struct http_answer){"application/json", text, text ? strlen(text) : 0, false};
}

static char *present_state(struct view *view)
{
    return state_text(&view->source, view->phase, view->program, view->exit);
}

/* A stream begins with how far it is. */
static struct http_answer begin_stream(struct view *view)
{
    char *state = present_state(view);
    char *text = state ? tool_format("retry: 1000\nevent: state\ndata: %s\n\n", state) : NULL;

    free(state);
    return (struct http_answer){"text/event-stream", text, text ? strlen(text) : 0, true};
}

static struct http_answer answer(void *arg, const char *path, const char *query)
{
    struct view *view = arg;
    struct http_answer none = {0}, page = {"text/html", NULL, 0, false};

    if (!*path) {
        page.body = strdup(view->page);
        page.size = strlen(view->page);
        return page;
    }
    if (!strcmp(path, "events"))
        return begin_stream(view);
    if (!strcmp(path, "state"))
        return json_answer(present_state(view));
    if (!strcmp(path, "tasks"))
        return json_answer(state_tasks(&view->source, query));
    if (!strcmp(path, "graph"))
        return json_answer(state_graph(&view->source, query));
    if (!strcmp(path, "report") && view->reported) {
        page.body = read_whole(view->options->output, &page.size);
        return page;
    }
    return none;
}

static void send_state(struct view *view, bool important)
{
    char *state = view->http && http_streams(view->http) ? present_state(view) : NULL;

    if (state)
        http_send(view->http, "state", state, important);
    free(state);
    view->last_s = tool_now_s();
}

/* Beside the program. */
static void look(void *arg)
{
    struct view *view = arg;

    source_read(&view->source);
    if (!strcmp(view->phase, "waiting") && view->source.nruns)
        view->phase = "running";
    if (!view->http) {
        if (strcmp(view->phase, "ended") != 0)
            terminal_show(&view->terminal, &view->source, view->program, false);
        return;
    }
    http_serve(view->http);
    if (tool_now_s() - view->last_s >= send_s)
        send_state(view, false);
}

static void serve_for(struct view *view, int ms)
{
    struct pollfd fd = {.fd = http_fd(view->http), .events = POLLIN};

    poll(&fd, 1, ms);
    http_serve(view->http);
}

/* Until those who look have what they are to be left with. */
static void linger(struct view *view)
{
    double begin_s = tool_now_s();

    while ((http_streams(view->http) || http_is_busy(view->http)) &&
           tool_now_s() - begin_s < linger_s)
        serve_for(view, 100);
}

/* --- the view --- */

static int read_page(struct view *view)
{
    char *path = tool_find_data("watch", "watch.html");
    size_t size;

    if (path)
        view->page = read_whole(path, &size);
    if (!view->page)
        tool_error("watch: the page watch.html is neither beside this command nor in " ORR_SHAREDIR
                   ": install Orrery anew; --tty needs none");
    free(path);
    return view->page ? 0 : -1;
}

static void open_browser(const char *address)
{
    const char *words[] = {"xdg-open", address, NULL};
    pid_t pid;
    int rc = posix_spawnp(&pid, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ);

    if (rc)
        tool_error("watch: --browser: xdg-open cannot be started: %s; open %s yourself",
                   strerror(rc), address);
}

static int view_open(struct view *view, unsigned port)
{
    view->phase = "waiting";
    view->exit = -1;
    if (source_open(&view->source) < 0)
        return -1;
    if (view->options->tty) {
        terminal_begin(&view->terminal);
        return 0;
    }
    if (read_page(view) < 0)
        return -1;
    view->http = http_open(port, answer, view);
    if (!view->http)
        return -1;
    fprintf(stderr, "orrery: watch: %s\n", http_address(view->http));
    if (view->options->browser)
        open_browser(http_address(view->http));
    while (view->options->wait && !http_streams_ever(view->http))
        serve_for(view, 1000);
    return 0;
}

static void view_close(struct view *view)
{
    terminal_end(&view->terminal);
    http_close(view->http);
    source_close(&view->source);
    free(view->page);
    free(view->program);
}

/* --- the report --- */

/* The command that makes it; owned, its words are borrowed. */
static char **report_words(const struct view *view, const struct run_files *files,
                           const char *title)
{
    char **words = calloc(files->nranks + 14, sizeof(*words));
    size_t n = 0;

    if (!words)
        return NULL;
    words[n++] = (char *)(uintptr_t) "/proc/self/exe";
    words[n++] = (char *)(uintptr_t) "report";
    words[n++] = (char *)(uintptr_t) "-o";
    words[n++] = (char *)(uintptr_t)view->options->output;
    if (view->options->plain)
        words[n++] = (char *)(uintptr_t) "--plain";
    if (view->options->links) {
        words[n++] = (char *)(uintptr_t) "--links";
        words[n++] = (char *)(uintptr_t)view->options->links;
    }
    words[n++] = (char *)(uintptr_t) "--title";
    words[n++] = (char *)(uintptr_t)title;
    words[n++] = (char *)(uintptr_t) "--json";
    for (unsigned r = 0; r < files->nranks; r++)
        words[n++] = files->traces[r];
    if (!files->nranks)
        words[n++] = files->trace;
    return words;
}

/* Makes it, and serves meanwhile. Returns whether it is there; the signal that interrupted
 * it. */
static bool make_report(struct view *view, const struct run_files *files,
                        const struct process_meanwhile *meanwhile, int *ret_stopped)
{
    const struct source_run *run = source_at(&view->source, 0);
    char *title = tool_format("%s on %s", view->program, run ? run->part.run->machine : "?");
    char **words = title ? report_words(view, files, title) : NULL;
    struct process process = {.argv = words, .quiet = true, .meanwhile = meanwhile};
    int code;

    if (!words) {
        tool_error("out of memory");
        free(title);
        return false;
    }
    *ret_stopped = process_run(&process, 1, 1, NULL, NULL);
    code = process_exit_code(&process);
    if (!*ret_stopped && code != 0) {
        tool_error("watch: orrery report failed:");
        fwrite(process.text ? process.text : "", 1, process.length, stderr);
    }
    process_done(&process);
    free(words);
    free(title);
    return !*ret_stopped && code == 0;
}

static void print_last(struct view *view)
{
    char *text = view->options->json ? present_state(view) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;

    if (view->options->json) {
        if (json && view->reported)
            json_object_set_new(json, "page", tool_json_text(view->options->output));
        if (tool_json_print(json) < 0)
            tool_error("out of memory");
    } else {
        if (view->reported)
            fprintf(stderr, "orrery: watch: the report is %s\n", view->options->output);
    }
    free(text);
}

/* After the program: what is left to be said, shown, written. Returns an exit code. */
static int view_end(struct view *view, struct launch *launch, const struct run_files *files,
                    const struct process_meanwhile *meanwhile)
{
    int code = process_exit_code(&launch->process), stopped = 0;
    struct source_totals totals;

    source_read(&view->source);
    source_count(&view->source, &totals);
    view->phase = "ended";
    view->exit = code;
    terminal_end(&view->terminal);
    if (launch->process.text && (code != 0 || !view->options->json))
        fwrite(launch->process.text, 1, launch->process.length,
               view->options->json ? stderr : stdout);
    fflush(stdout);
    launch_warn_policy(launch, "watch");
    if (*launch->problem)
        tool_error("%s", launch->problem);
    if (view->options->tty)
        terminal_show(&view->terminal, &view->source, view->program, true);
    send_state(view, true);
    if (totals.missed)
        tool_error("watch: note: %llu events came faster than they were read: the graph lacks "
                   "some; no count does",
                   (unsigned long long)totals.missed);
    if (!totals.ended && totals.nruns)
        tool_error("watch: no task ran: there is no report");
    else if (totals.nruns && !view->options->no_report)
        view->reported = make_report(view, files, meanwhile, &stopped);
    view->phase = view->reported ? "reported" : "over";
    send_state(view, true);
    print_last(view);
    if (view->http && !stopped)
        linger(view);
    return code    ? code
           : stopped ? 128 + stopped
           : (!view->reported && totals.ended && !view->options->no_report) ||
                   (*launch->problem && !launch->no_run)
               ? TOOL_FAILED
               : TOOL_OK;
}

/* --- the program --- */

static int watch_program(struct launch *launch, const struct options *options, unsigned port)
{
    struct view view = {.options = options, .source.fd = -1};
    struct run_files files = {0};
    struct process_meanwhile meanwhile = {-1, 50, look, &view};
    char *setting = NULL;
    const char *more[4] = {0};
    int result = TOOL_FAILED;

    view.program = program_text(launch->argv);
    if (!view.program || view_open(&view, port) < 0 || !run_files_init(&files) ||
        (launch->nranks && !run_files_of_ranks(&files, launch->nranks)))
        goto close;
    setting = tool_format("ORRERY_WATCH=%d", view.source.fd);
    view.source.links = options->links;
    more[0] = setting;
    more[1] = "ORRERY_SOURCE_LINES=1";
    if (!options->no_report) {
        more[2] = files.setting;
        launch->trace = files.trace;
    }
    launch->more = more;
    launch->quiet = options->json || (view.terminal.is_screen && isatty(STDOUT_FILENO));
    launch->meanwhile = &meanwhile;
    meanwhile.fd = view.http ? http_fd(view.http) : -1;
    result = launch_all(launch, 1, 1, NULL, NULL);
    if (result < 0) {
        result = TOOL_FAILED;
    } else if (result > 0) {
        terminal_end(&view.terminal);
        result = tool_fail(128 + result, "interrupted: %s was ended%s", launch->argv[0],
                           options->no_report ? "" : "; there is no report");
    } else {
        result = view_end(&view, launch, &files, &meanwhile);
    }
close:
    view_close(&view);
    run_files_done(&files);
    launch_done(launch);
    free(setting);
    return result;
}

/* What is wrong with the command line, before anything runs. */
static int check_options(const struct options *options, bool program, unsigned *ret_port)
{
    if (!program)
        return tool_fail(TOOL_USAGE, "watch: which program? See orrery watch --help");
    if (options->tty && (options->port || options->browser || options->wait))
        return tool_fail(TOOL_USAGE, "watch: --tty shows no page: leave --%s out",
                         options->port      ? "port"
                         : options->browser ? "browser"
                                            : "wait");
    if (options->port && (program_number(options->port, 1, ret_port) < 0 || *ret_port > 65535))
        return tool_fail(TOOL_USAGE, "watch: --port %s: a number from 1 to 65535",
                         options->port);
    if (options->no_report && options->plain)
        return tool_fail(TOOL_USAGE, "watch: --plain is of the report, which --no-report leaves "
                                     "out");
    if (options->links && *options->links &&
        !orr_source_scheme_is_known(options->links))
        return tool_fail(
            TOOL_USAGE,
            "watch: --links %s: no scheme: there are %s, or an address with {file} "
            "and {line}",
            options->links, orr_source_scheme_names);
    if (!strcmp(options->output, "-"))
        return tool_fail(TOOL_USAGE, "watch: -o -: the report is served and kept: name a file");
    return options->no_report ? TOOL_OK : tool_check_output("watch: -o", options->output);
}

int cmd_watch(int argc, char **argv)
{
    struct launch launch = {0};
    struct options options = {.output = "report.html",
                              .links = getenv("ORRERY_LINKS")};
    const char *devices = NULL;
    const struct tool_option list[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "tty", NULL, &options.tty},
        {0, "port", &options.port, NULL},
        {0, "browser", NULL, &options.browser},
        {0, "wait", NULL, &options.wait},
        {0, "links", &options.links, NULL},
        {'o', "output", &options.output, NULL},
        {0, "no-report", NULL, &options.no_report},
        {0, "plain", NULL, &options.plain},
        {0, "json", NULL, &options.json},
        {0}};
    int first = tool_parse_program(argc, argv, list, &launch_words, help);
    unsigned port = 0;
    bool cluster;
    int code;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    code = check_options(&options, first < argc, &port);
    launch.argv = argv + first;
    if (code == TOOL_OK)
        code = launch_place(&launch, "watch", &cluster);
    if (code == TOOL_OK)
        code = watch_program(&launch, &options, port);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return code;
}

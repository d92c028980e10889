/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/parts.c - what other commands say of the run: each is started, and
 * prints what it prints for anyone.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/json.h"
#include "tools/common/tool.h"

enum part { EXPLAIN, BOUND, PICTURE, NPARTS };

enum { AT_ONCE = 2, OWN_WORDS = 16 };

static const char *const missing[NPARTS] = {
    [EXPLAIN] = "explanation: orrery explain",
    [BOUND] = "bounds: orrery bound",
    [PICTURE] = "picture of the machine: orrery machine show --svg -",
};

/* What each does, on a terminal. */
static const char *const running[NPARTS] = {
    [EXPLAIN] = "simulating what would help",
    [BOUND] = "computing bounds",
    [PICTURE] = "drawing the machine",
};

struct words {
    char **items; /* owned; the words are borrowed */
    size_t n;
};

static void words_add_option(struct words *words, const char *option,
                             const char *value)
{
    if (!value)
        return;
    if (option)
        words->items[words->n++] = (char *)(uintptr_t)option;
    words->items[words->n++] = (char *)(uintptr_t)value;
}

/* The command, and room for the words of the program. */
static bool words_start_command(struct words *words,
                                const struct report_parts *parts)
{
    const struct launch *launch = parts->launch;
    size_t n = parts->ntraces;

    for (size_t i = 0; launch && launch->argv[i]; i++)
        n++;
    words->items = calloc(n + OWN_WORDS, sizeof(*words->items));
    words->n = 0;
    if (words->items)
        words_add_option(words, NULL, "/proc/self/exe");
    return words->items != NULL;
}

static const char *launch_machine_name(const struct launch *launch)
{
    const char *machine =
        launch->machine ? launch->machine : getenv("ORRERY_MACHINE");

    return machine && *machine ? machine : NULL;
}

/* A simulation is made again, with changes; a real run is explained by what it
 * left. */
static void explain_words(const struct report_parts *parts, struct words *words)
{
    const struct launch *launch = parts->launch;

    words_add_option(words, "explain", "--json");
    for (unsigned i = 0; i < parts->ntraces; i++)
        words_add_option(words, NULL, parts->traces[i]);
    if (parts->ntraces)
        return;
    if (launch && launch->report.simulated) {
        words_add_option(words, "-m", launch->machine);
        words_add_option(words, "-s", launch->scheduler);
        words_add_option(words, "--set", launch->edits);
        words_add_option(words, "--assume", launch->assume);
        words_add_option(words, NULL, "--");
        for (char *const *word = launch->argv; *word; word++)
            words_add_option(words, NULL, *word);
        return;
    }
    words_add_option(words, "--graph", parts->graph);
    words_add_option(words, NULL, parts->trace);
}

/* Whether there is such a part of the run; then its command. */
static bool part_words(const struct report_parts *parts, enum part part,
                       struct words *words)
{
    const struct launch *launch = parts->launch;

    if (part == PICTURE) {
        if (!launch)
            return false;
        words_add_option(words, "machine", "show");
        words_add_option(words, "--svg", "-");
        words_add_option(words, "-m", launch_machine_name(launch));
        words_add_option(words, "--set",
                         launch_machine_name(launch) ? launch->edits : NULL);
        return true;
    }
    if (parts->plain || (!parts->graph && !parts->ntraces) ||
        (parts->ntraces && part == BOUND))
        return false;
    if (part == EXPLAIN) {
        explain_words(parts, words);
    } else {
        words_add_option(words, "bound", "--json");
        words_add_option(words, NULL, parts->graph);
    }
    return true;
}

/* Takes what a command printed. */
static void page_take_part(const struct process *process, enum part part,
                           struct report_page *page)
{
    int code = process_exit_code(process);
    json_t *json = NULL;

    if (code == 0 && process->text && part == PICTURE) {
        page->picture = tool_format("%s", process->text);
        return;
    }
    if (code == 0 && process->text)
        json = json_loadb(process->text, process->length, 0, NULL);
    if (!json)
        tool_error("report: warning: without %s failed (exit code %d); alone "
                   "it says why",
                   missing[part], code);
    else if (part == EXPLAIN)
        page->explanation = json;
    else
        page->bounds = json;
}

/* Those that run. */
struct running {
    const enum part *which; /* borrowed */
    bool ended[NPARTS];
    size_t n;
};

/* The program has ended, and its output: on a terminal, why nothing comes for a while. */
static void say_what_runs(const struct running *now)
{
    const char *before = "\r\033[Kthe page:";

    if (!isatty(STDERR_FILENO))
        return;
    for (size_t i = 0; i < now->n; i++) {
        if (now->ended[i])
            continue;
        fprintf(stderr, "%s %s", before, running[now->which[i]]);
        before = ",";
    }
    fputs(*before == ',' ? " (--plain leaves out what costs simulations)" : "\r\033[K", stderr);
}

static void part_ended(void *arg, size_t i)
{
    struct running *now = arg;

    now->ended[i] = true;
    say_what_runs(now);
}

int report_parts(const struct report_parts *parts, struct report_page *page)
{
    struct process processes[NPARTS] = {0};
    struct words words[NPARTS] = {0};
    enum part which[NPARTS];
    struct running now = {.which = which};
    size_t n = 0;
    int stopped = 0;

    for (enum part part = 0; part < NPARTS; part++) {
        if (!words_start_command(&words[n], parts)) {
            tool_error("out of memory");
            break;
        }
        if (!part_words(parts, part, &words[n])) {
            free(words[n].items);
            continue;
        }
        processes[n] = (struct process){
            .argv = words[n].items, .quiet = true, .apart = true, .output = -1};
        which[n++] = part;
    }
    now.n = n;
    say_what_runs(&now);
    if (n)
        stopped = process_run(processes, n, AT_ONCE, part_ended, &now);
    for (size_t i = 0; i < n; i++) {
        if (!stopped)
            page_take_part(&processes[i], which[i], page);
        process_done(&processes[i]);
        free(words[i].items);
    }
    return stopped;
}

int report_comparison(const char *path, struct report_page *page)
{
    json_error_t error;
    json_t *rows = json_load_file(path, 0, &error);

    if (!json_is_array(rows)) {
        tool_error("report: --compare %s: %s", path,
                   rows ? "not what orrery compare --json prints" : error.text);
        json_decref(rows);
        return -1;
    }
    if (!page->comparisons)
        page->comparisons = json_array();
    if (json_array_append_new(page->comparisons, json_pack("{s:o, s:o}", "file",
                                                           tool_json_text(path),
                                                           "rows", rows)) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}

void report_page_done(struct report_page *page)
{
    free(page->title);
    free(page->command);
    free(page->picture);
    json_decref(page->ranks);
    json_decref(page->run);
    json_decref(page->explanation);
    json_decref(page->bounds);
    json_decref(page->comparisons);
    trace_csv_done(&page->trace);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/command.c - `orrery debug`: a simulated run, stopped, looked at, and gone
 * through forward and back. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/program.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"
#include "tools/debug/attach.h"
#include "tools/debug/commands.h"
#include "tools/debug/dap.h"
#include "tools/debug/ranks.h"
#include "tools/debug/session.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery debug -m MACHINE [--set EDIT] [-s SCHEDULER] [--assume TIMES]\n"
    "                    [--ranks N] [--input FILE] [--script FILE] [--json]\n"
    "                    -- PROGRAM [ARGUMENTS]\n"
    "       orrery debug -m MACHINE … RECORD\n"
    "       orrery debug --dap [OPTIONS]\n"
    "       orrery debug --attach PID [--json]\n"
    "Runs the program on a simulated machine and stops it: at breakpoints on events\n"
    "(a task is submitted, ready, starts, ends; a transfer, an eviction), kernels,\n"
    "data, workers, dates. It tells why a task waits and why a worker is idle, and\n"
    "goes back as well as forward. The commands are gdb's where gdb has them; `help'\n"
    "lists them (docs/DEBUG.md). They come from the terminal, or else from standard\n"
    "input. A record (orrery record) may stand in the place of the program.\n"
    "  -m, --machine MACHINE      the machine (orrery machine list); else that of\n"
    "                             ORRERY_MACHINE\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP
    "      --ranks N              of a program for StarPU-MPI: so many ranks, each on\n"
    "                             a node of the machine, '4*MACHINE + ib 200Gb/s';\n"
    "                             they stop together (as many as it has nodes)\n"
    "      --input FILE           what the program reads from standard input, else\n"
    "                             nothing\n"
    "      --script FILE          commands from a file; the first that fails ends it\n"
    "      --json                 for programs: what each command says is a line of\n"
    "                             JSON, and so is what the program prints\n"
    "      --dap                  the Debug Adapter Protocol on standard input and\n"
    "                             output, for editors, which name the program, too\n"
    "  -p, --attach PID           who waits for what in a program that runs already,\n"
    "                             real or simulated, and seems to stand still: gdb\n"
    "                             looks, and the program goes on\n"
    "Exit codes: 0, whatever the program's own; 1 when the program cannot be run, or\n"
    "a command of a script failed; 2 for a wrong command line.\n"
    "example: orrery debug -m MACHINE -s dmdas -- ./cholesky -size 9600\n";

struct choice {
    const char *script, *input, *attach, *ranks;
    bool json, dap;
};

/* What the program prints. */
static void print_text(void *arg, const char *stream, const char *text, size_t size)
{
    (void)arg;
    fflush(stdout);
    fwrite(text, 1, size, strcmp(stream, "stderr") ? stdout : stderr);
    fflush(stdout);
}

static void print_json(void *arg, const char *stream, const char *text, size_t size)
{
    char *copy = strndup(text, size);
    json_t *json = json_pack("{ssso}", "stream", stream, "output", tool_json_text(copy));

    (void)arg;
    json_dumpf(json, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(json);
    free(copy);
}

static int run_script(struct session *session, const struct choice *choice)
{
    FILE *file = choice->script ? fopen(choice->script, "re") : stdin;
    int code;

    if (!file)
        return tool_fail(TOOL_FAILED, "debug: --script %s: %s", choice->script, strerror(errno));
    code = commands_script(session, file, choice->json);
    if (file != stdin)
        fclose(file);
    return code;
}

static int debug_program(struct launch *launch, const char *folder, const struct choice *choice)
{
    struct session *session = calloc(1, sizeof(*session));
    json_t *first;
    int code = TOOL_FAILED;

    if (!session)
        return tool_fail(TOOL_FAILED, "out of memory");
    session->program = (struct program){.launch = launch,
                                        .input = choice->input,
                                        .print = choice->json ? print_json : print_text};
    if (launch_ready(launch, folder) < 0)
        goto free_session;
    first = session_open(session);
    if (first) {
        bool talks = !choice->script && !choice->json && isatty(STDIN_FILENO);

        commands_show(first, choice->json);
        code = talks ? commands_talk(session) : run_script(session, choice);
        json_decref(first);
    }
    session_close(session);
free_session:
    free(session);
    return code;
}

static int check_choice(const struct launch *launch, const struct choice *choice, bool program)
{
    const char *machine = getenv("ORRERY_MACHINE");

    if (choice->dap)
        return choice->script || choice->json
                   ? tool_fail(TOOL_USAGE, "debug: --dap is a protocol of its own: leave %s out",
                               choice->script ? "--script" : "--json")
                   : TOOL_OK;
    if (!program)
        return tool_fail(TOOL_USAGE, "debug: which program? See orrery debug --help");
    if (!launch->machine && !(machine && *machine))
        return tool_fail(TOOL_USAGE,
                         "debug: only a simulated run can be stopped and go back: name a machine "
                         "with -m. A real run is for gdb, with share/orrery/gdb/orrery.py "
                         "(orrery-break), or, if it stands still, for --attach");
    if (choice->input && access(choice->input, R_OK) != 0)
        return tool_fail(TOOL_FAILED, "debug: --input %s: %s", choice->input, strerror(errno));
    return TOOL_OK;
}

/* A program that runs already has its machine; nothing is asked of it but this. */
static bool check_attach(const struct launch *launch, const struct choice *choice, bool program)
{
    if (!program && !launch->machine && !launch->scheduler && !launch->edits &&
        !launch->assume && !choice->ranks && !choice->dap && !choice->script &&
        !choice->input)
        return true;
    tool_error("debug: --attach %s is of a program that runs: nothing but --json goes with it",
               choice->attach);
    return false;
}

int cmd_debug(int argc, char **argv)
{
    struct launch launch = {0};
    struct choice choice = {0};
    const char *devices = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "ranks", &choice.ranks, NULL},
        {0, "input", &choice.input, NULL},
        {0, "script", &choice.script, NULL},
        {'p', "attach", &choice.attach, NULL},
        {0, "json", NULL, &choice.json},
        {0, "dap", NULL, &choice.dap},
        {0}};
    int first = tool_parse_program(argc, argv, options, &launch_words, help);
    /* An editor may name others, which are its own. */
    char *edits = (char *)(uintptr_t)launch.edits,
         *assume = (char *)(uintptr_t)launch.assume;
    char *folder, *record = NULL;
    int code;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (choice.attach) {
        code = check_attach(&launch, &choice, first < argc)
                   ? attach_explain(choice.attach, choice.json)
                   : TOOL_USAGE;
        goto free_words;
    }
    code = check_choice(&launch, &choice, first < argc);
    launch.argv = argv + first;
    /* A folder of records stands for that of rank 0. */
    if (code == TOOL_OK && !choice.dap &&
        (record = launch_rank_record(launch.argv[0])))
        argv[first] = record;
    if (code == TOOL_OK && !choice.dap)
        code = debug_choose_ranks(&launch, choice.ranks);
    if (code == TOOL_OK) {
        folder = scratch_make();
        code = !folder      ? TOOL_FAILED
               : choice.dap ? dap_serve(&launch, folder, choice.ranks)
                            : debug_program(&launch, folder, &choice);
        launch_done(&launch);
        scratch_remove(folder);
    }
free_words:
    free(record);
    free(edits);
    free(assume);
    return code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/attach.c - see attach.h. */
#include "tools/debug/attach.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "tools/common/json.h"
#include "tools/common/modules.h"
#include "tools/common/process.h"
#include "tools/common/tool.h"

/* Between these lines of gdb's output is what the command says, if nothing goes wrong. */
#define BEGIN "<orrery>"
#define END   "</orrery>"

static int read_pid(const char *text, pid_t *ret)
{
    char *end;
    long pid = strtol(text, &end, 10);

    if (end == text || *end || pid <= 0 || pid > INT_MAX)
        return tool_fail(TOOL_USAGE, "debug: --attach %s: the number of a process is expected",
                         text);
    *ret = (pid_t)pid;
    if (kill(*ret, 0) == 0)
        return TOOL_OK;
    return errno == ESRCH
               ? tool_fail(TOOL_FAILED, "debug: --attach %s: there is no such process", text)
               : tool_fail(TOOL_FAILED,
                           "debug: --attach %s: the process is another user's: attach as that "
                           "user, or as root",
                           text);
}

static int print_lines(char *text, bool json)
{
    json_t *list = json_array();

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (json)
            json_array_append_new(list, json_pack("{so}", "text", tool_json_text(line)));
        else
            puts(line);
    if (!json)
        json_decref(list);
    return json && tool_json_print(json_pack("{so}", "answer", list)) < 0
               ? tool_fail(TOOL_FAILED, "out of memory")
               : TOOL_OK;
}

/* What our commands have complained of, else gdb last, beside what it says of processes and
 * threads. */
static const char *complaint(char *text)
{
    static const char again[] = "Error while executing Python";
    static const char ours[] = "Missing: "; /* the exception of our commands */
    char *last = text;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (*line != '[' && strncmp(line, again, sizeof(again) - 1) != 0)
            last = line;
    return last + (strncmp(last, ours, sizeof(ours) - 1) ? 0 : sizeof(ours) - 1);
}

static int fail_of(const char *pid, char *said)
{
    if (strstr(said, "Operation not permitted"))
        return tool_fail(TOOL_FAILED,
                         "debug: --attach %s: the system does not let gdb look at the process "
                         "(ptrace): attach as root, or set kernel.yama.ptrace_scope to 0; a "
                         "container needs the capability SYS_PTRACE; a process has one debugger "
                         "at a time",
                         pid);
    if (strstr(said, "Python scripting is not supported"))
        return tool_fail(TOOL_FAILED, "debug: --attach %s: this gdb has no Python", pid);
    return tool_fail(TOOL_FAILED, "debug: --attach %s: %s", pid,
                     *said ? complaint(said) : "gdb says nothing");
}

/* What gdb has printed. An exit code. */
static int print_answer(const char *pid, char *said, bool json)
{
    char *begin = strstr(said, BEGIN "\n");
    char *end = begin ? strstr(begin, END) : NULL;

    if (!end)
        return fail_of(pid, said);
    *end = '\0';
    return print_lines(begin + sizeof(BEGIN), json);
}

static int ask_gdb(const char *pid, const char *script, bool json)
{
    static const char *const set[] = {"DEBUGINFOD_URLS", NULL}; /* no network */
    char gdb[] = "gdb", plain[] = "-nx", batch[] = "-batch", of[] = "-p", run[] = "-ex";
    char ask[] = "python print('" BEGIN "'); why(''); print('" END "')";
    char *number = tool_format("%s", pid), *source = tool_format("source %s", script);
    char *argv[] = {gdb, plain, batch, of, number, run, source, run, ask, NULL};
    struct process process = {.argv = argv, .set = set, .quiet = true};
    int code = TOOL_FAILED, stopped = number && source ? process_run(&process, 1, 1, NULL, NULL)
                                                       : 0;

    if (!number || !source)
        tool_error("out of memory");
    else if (stopped)
        code = tool_fail(128 + stopped, "interrupted: gdb was ended");
    else if (process.error == ENOENT)
        tool_error("debug: --attach needs gdb, which is not installed (Debian's package gdb)");
    else if (process.error || !process.text)
        tool_error("debug: gdb cannot be started: %s", strerror(process.error));
    else
        code = print_answer(pid, process.text, json);
    process_done(&process);
    free(source);
    free(number);
    return code;
}

int attach_explain(const char *text, bool json)
{
    char *script;
    pid_t pid;
    int code = read_pid(text, &pid);

    if (code != TOOL_OK)
        return code;
    script = tool_find_data(".", "gdb/orrery.py");
    if (!script)
        return tool_fail(TOOL_FAILED,
                         "debug: --attach: gdb/orrery.py is neither beside this command nor in "
                         "the folder of its data: install Orrery as a whole");
    code = ask_gdb(text, script, json);
    free(script);
    return code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/sched/ask.c - see ask.h. One thread. */
#include "tools/sched/ask.h"

#include "tools/common/interrupt.h"
#include "tools/common/modules.h"
#include "tools/common/process.h"
#include "tools/common/tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Its line among what the library prints. */
static json_t *find_json_line(const char *text)
{
    json_t *json = NULL;

    while (text && !json) {
        if (*text == '{' || *text == '[')
            json = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return json;
}

static json_t *run_describing_program(char *program, const char *name,
                                      char *const *settings)
{
    char *argv[] = {program, (char *)(uintptr_t)name, NULL};
    struct process process = {.argv = argv,
                              .set = (const char *const *)settings,
                              .quiet = true,
                              .output = -1};
    int stopped = process_run(&process, 1, 1, NULL, NULL);
    json_t *json = NULL;
    char line[256];

    if (stopped)
        interrupt_end(stopped);
    if (process_exit_code(&process) == 0)
        json = find_json_line(process.text);
    if (!json) {
        process_error_line(&process, line, sizeof(line));
        tool_error("sched: %s%s", *line ? line : program,
                   *line ? "" : " failed");
    }
    process_done(&process);
    return json;
}

json_t *ask_library(const char *name, const char *machine, const char *edits)
{
    char *program = tool_find_program(".", "describe-policies");
    char *settings[4] = {NULL};
    unsigned n = 0;
    json_t *json = NULL;

    if (!program) {
        tool_error("the program describe-policies is neither beside this "
                   "command nor in " ORR_LIBEXEC
                   "/orrery: install Orrery anew");
        return NULL;
    }
    if (machine)
        settings[n++] = tool_format("ORRERY_MACHINE=%s", machine);
    if (edits)
        settings[n++] = tool_format("ORRERY_SET=%s", edits);
    json = run_describing_program(program, name, settings);
    for (unsigned i = 0; i < n; i++)
        free(settings[i]);
    free(program);
    return json;
}

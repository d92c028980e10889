/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_sched_display.c - the program of that name: the scheduling
 * policies, one a line. It uses the public interface only. One thread.
 */
#include "tools/starpu/program.h"

#include <starpu.h>

#include <stdio.h>

#define NAME "starpu_sched_display"

static const char help[] =
    "usage: " NAME "\n"
    "Prints the names of the scheduling policies, which STARPU_SCHED takes;\n"
    "docs/SCHEDULERS.md says what each does.\n"
    "  -h, --help     this text\n"
    "  -v, --version  the version\n"
    "Exit codes: 0; 1 when the list could not be written; 2 for a wrong command\n"
    "line.\n"
    "example: for sched in $(" NAME "); do STARPU_SCHED=$sched ./app; done\n";

int main(int argc, char **argv)
{
    bool version = false;
    const struct tool_option options[] = {{'v', "version", NULL, &version},
                                          {0}};
    int noperands, code;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &code);
    if (noperands < 0)
        return tool_close(code);
    if (noperands > 0)
        return tool_fail(TOOL_USAGE,
                         "%s is not understood; see " NAME " --help", argv[1]);
    for (struct starpu_sched_policy **policy =
             starpu_sched_get_predefined_policies();
         *policy; policy++)
        puts((*policy)->policy_name);
    return tool_close(TOOL_OK);
}

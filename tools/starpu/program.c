/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/starpu/program.c - see program.h. */
#include "tools/starpu/program.h"

#include <stdio.h>

#include "tools/common/printed.h"

int starpu_program_parse(const char *name, int argc, char **argv,
                         const struct tool_option *options, const bool *version,
                         const char *help, int *ret_code)
{
    static char no_command[] = "";
    int noperands = 0, rc;

    printed_begin();
    argv[0] = no_command;
    rc = tool_parse_operands(argc, argv, options, help, &noperands);
    *ret_code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (rc <= 0)
        return -1;
    if (!*version)
        return noperands;
    printf("%s (Orrery) %s\n", name, ORR_VERSION);
    return -1;
}

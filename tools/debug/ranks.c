/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/ranks.c - see ranks.h. */
#include "tools/debug/ranks.h"

#include <stdbool.h>

#include "tools/common/launch.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"

int debug_choose_ranks(struct launch *launch, const char *ranks)
{
    unsigned n = 0, there;
    bool cluster;
    int code = launch_place(launch, "debug", &cluster);

    there = launch->nranks ? launch->nranks : 1;
    if (code != TOOL_OK || !ranks)
        return code;
    if (program_number(ranks, 1, &n) < 0)
        return tool_fail(TOOL_USAGE,
                         "debug: --ranks %s: give a number from 1 on", ranks);
    if (n != there)
        return tool_fail(
            TOOL_USAGE,
            "debug: --ranks %u: the machine has a node for %u: name %u of them, such "
            "as -m '%u*MACHINE + ib 200Gb/s'",
            n, there, n, n);
    return TOOL_OK;
}

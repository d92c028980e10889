/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_files.c - see run_files.h. */
#include "tools/common/run_files.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common/scratch.h"
#include "tools/common/tool.h"

bool run_files_init(struct run_files *files)
{
    *files = (struct run_files){.folder = scratch_make()};
    if (!files->folder)
        return false;
    files->trace = tool_format("%s/trace.csv", files->folder);
    files->graph = tool_format("%s/trace.graph", files->folder);
    files->setting = tool_format("ORRERY_GRAPH=%s", files->graph ? files->graph : "");
    files->more[0] = files->setting;
    files->more[1] = "ORRERY_SOURCE_LINES=1";
    if (files->trace && files->graph && files->setting)
        return true;
    tool_error("out of memory");
    return false;
}

bool run_files_of_ranks(struct run_files *files, unsigned n)
{
    files->traces = calloc(n, sizeof(*files->traces));
    for (; files->traces && files->nranks < n; files->nranks++) {
        char **trace = &files->traces[files->nranks];

        *trace = tool_format("%s/trace.rank%u.csv", files->folder, files->nranks);
        if (!*trace)
            break;
    }
    if (files->traces && files->nranks == n)
        return true;
    tool_error("out of memory");
    return false;
}

void run_files_done(struct run_files *files)
{
    for (unsigned r = 0; r < files->nranks; r++)
        free(files->traces[r]);
    free(files->traces);
    free(files->trace);
    free(files->graph);
    free(files->setting);
    scratch_remove(files->folder);
}

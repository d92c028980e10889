/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_files.c - see run_files.h. */
#include "tools/common/run_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tool.h"

bool run_files_init(struct run_files *files, const char *command)
{
    const char *parent = getenv("TMPDIR");

    *files = (struct run_files){0};
    files->folder = tool_format("%s/orrery-%s-XXXXXX",
                                parent && *parent ? parent : "/tmp", command);
    if (!files->folder || !mkdtemp(files->folder)) {
        tool_error("no temporary folder: %s; TMPDIR names another place",
                   strerror(errno));
        free(files->folder);
        files->folder = NULL;
        return false;
    }
    files->trace = tool_format("%s/trace.csv", files->folder);
    files->graph = tool_format("%s/trace.graph", files->folder);
    files->setting = tool_format("ORRERY_GRAPH=%s", files->graph ? files->graph : "");
    files->more[0] = files->setting;
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

static void remove_ranks(struct run_files *files)
{
    for (unsigned r = 0; r < files->nranks; r++) {
        char *graph = tool_beside(files->traces[r], ".graph");

        unlink(files->traces[r]);
        if (graph)
            unlink(graph);
        free(graph);
        free(files->traces[r]);
    }
    free(files->traces);
}

void run_files_done(struct run_files *files)
{
    remove_ranks(files);
    if (files->trace)
        unlink(files->trace);
    if (files->graph)
        unlink(files->graph);
    if (files->folder)
        rmdir(files->folder);
    free(files->folder);
    free(files->trace);
    free(files->graph);
    free(files->setting);
}

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
    files->graph = tool_format("%s/graph", files->folder);
    files->setting = tool_format("ORRERY_GRAPH=%s/graph", files->folder);
    files->more[0] = files->setting;
    if (files->trace && files->graph && files->setting)
        return true;
    tool_error("out of memory");
    return false;
}

void run_files_done(struct run_files *files)
{
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

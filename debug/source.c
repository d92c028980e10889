/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/source.c - see source.h. */
#include "debug/source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/json_text.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Of two with the same name: whether they are not known to be different files. */
static bool is_same_file(const char *one, const char *other)
{
    const char *const lines[] = {one, other};
    char path[PATH_MAX], *real[2];
    bool same;

    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%.*s", (int)(strrchr(lines[i], ':') - lines[i]), lines[i]);
        real[i] = *path == '/' ? realpath(path, NULL) : NULL;
    }
    same = !real[0] || !real[1] || !strcmp(real[0], real[1]);
    free(real[0]);
    free(real[1]);
    return same;
}

bool debug_source_is_line(const struct orr_runtime *rt, const struct orr_job *job,
                          const char *line)
{
    const char *source = orr_sources_text(rt->views->sources, job->id);

    return source && !strcmp(base_of(source), base_of(line)) && strchr(line, ':') &&
           is_same_file(source, line);
}

void debug_source_write(const struct orr_runtime *rt, const struct orr_job *job, FILE *to)
{
    const char *source = job->task ? orr_sources_text(rt->views->sources, job->id) : NULL;

    if (!source)
        return;
    fputs(",\"source\":", to);
    orr_json_text(to, source);
}

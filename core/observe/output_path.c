/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/output_path.c - see output_path.h. */
#include "core/observe/output_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/place.h"
#include "core/exec/runtime.h"
#include "core/observe/formats.h"

/* How much of the path stands before the rank: all but what readers know files by. */
static size_t output_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t kept = strlen(path), known = orr_trace_suffix(path);

    if (known)
        return kept - known;
    return dot && dot > name ? (size_t)(dot - path) : kept;
}

char *orr_output_path(const struct orr_runtime *rt, enum orr_config_id variable)
{
    const char *path = orr_config_string(&rt->config, variable);
    size_t stem, size;
    char *ret;

    if (!path)
        return NULL;
    size = strlen(path) + 32;
    ret = malloc(size);
    stem = output_stem(path);
    if (!ret)
        orr_log_error("out of memory: %s is not written", path);
    else if (!atomic_load(&rt->one_of_several) || orr_place_is_fixed(path))
        snprintf(ret, size, "%s", path);
    else if (stem > 0 && path[stem - 1] != '.' && path[stem - 1] != '/')
        snprintf(ret, size, "%.*s.rank%d%s%s", (int)stem, path, atomic_load(&rt->rank),
                 path[stem] && path[stem] != '.' ? "." : "", path + stem);
    else
        snprintf(ret, size, "%.*srank%d%s%s", (int)stem, path, atomic_load(&rt->rank),
                 path[stem] && path[stem] != '.' ? "." : "", path + stem);
    return ret;
}

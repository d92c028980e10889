/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/modules.c - see modules.h. One thread.
 */
#include "tools/common/modules.h"

#include "tools/common/tool.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void tool_find_modules(const char *name)
{
    char own[PATH_MAX] = "", *places[3];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (getenv("ORRERY_MODULE_DIR"))
        return;
    own[n > 0 ? n : 0] = '\0';
    (void)dirname(own);
    places[0] = tool_format("%s/..", own);
    places[1] = tool_format("%s/../" ORR_LIBDIR "/orrery", own);
    places[2] = tool_format("%s", ORR_MODULEDIR);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char *file =
            places[i] ? tool_format("%s/%s.so", places[i], name) : NULL;

        if (file && access(file, R_OK) == 0)
            setenv("ORRERY_MODULE_DIR", places[i], 0);
        free(file);
        free(places[i]);
    }
}

/* `place`/name beside this command, else name in `installed`, which is seen from
 * the folder above, or from the root; as `mode` wants it. */
static char *find_module_file(const char *place, const char *installed,
                              const char *name, int mode)
{
    char own[PATH_MAX] = "", *places[3], *found = NULL;
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

    own[n > 0 ? n : 0] = '\0';
    (void)dirname(own);
    places[0] = tool_format("%s/%s/%s", own, place, name);
    places[1] = tool_format("%s/../%s/%s", own, installed, name);
    places[2] = tool_format("%s/%s", installed, name);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (!found && places[i] && access(places[i], mode) == 0)
            found = places[i];
        else
            free(places[i]);
    return found;
}

char *tool_find_program(const char *place, const char *name)
{
    return find_module_file(place, ORR_LIBEXEC "/orrery", name, X_OK);
}

char *tool_find_preload(const char *name)
{
    return find_module_file("..", ORR_LIBDIR "/orrery", name, R_OK);
}

char *tool_find_library(const char *name)
{
    return find_module_file("..", ORR_LIBDIR, name, R_OK);
}

char *tool_find_data(const char *place, const char *name)
{
    return find_module_file(place, ORR_SHAREDIR, name, R_OK);
}

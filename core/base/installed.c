/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/installed.c - see installed.h. */
#include "core/base/installed.h"

#include "core/base/module.h"

#include "build_paths.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef ORR_DATADIR
#    define ORR_DATADIR "/usr/share" /* from the build */
#endif

unsigned orr_installed_prefix(const char *own)
{
    static const char *const folders[] = {
        ORR_NAME_LIBDIR "/orrery", ORR_NAME_LIBDIR, ORR_NAME_BINDIR,
        ORR_NAME_LIBEXECDIR "/orrery"};
    size_t length = strlen(own);

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        size_t tail = strlen(folders[i]);

        /* An option that is an absolute path is below no prefix. */
        if (folders[i][0] != '/' && length > tail + 1 &&
            own[length - tail - 1] == '/' &&
            strcmp(own + length - tail, folders[i]) == 0)
            return (unsigned)(length - tail - 1);
    }
    return 0;
}

bool orr_installed_data(char *ret)
{
    char own[PATH_MAX], data[PATH_MAX + sizeof(ORR_NAME_DATADIR "//orrery")];
    unsigned length;

    if (orr_module_own_directory(own) < 0)
        return false;
    length = orr_installed_prefix(own);
    if (!length)
        return false;
    snprintf(data, sizeof(data), "%.*s/%s/orrery", (int)length, own,
             ORR_NAME_DATADIR);
    if (access(data, R_OK | X_OK) != 0)
        return false;
    if (strlen(data) - strlen("/orrery") >= PATH_MAX)
        return false;
    data[strlen(data) - strlen("/orrery")] = '\0';
    strcpy(ret, data);
    return true;
}

const char *orr_data_directory(char *ret)
{
    if (!orr_installed_data(ret))
        snprintf(ret, PATH_MAX, "%s", ORR_DATADIR);
    return ret;
}

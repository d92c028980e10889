/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/places.c - see places.h. No state. */
#include "platforms/places.h"

#include "platforms/packed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool orr_is_path(const char *name)
{
    size_t length = strlen(name);

    return strchr(name, '/') || orr_packed_is_name(name) ||
           (length > 4 && strcmp(name + length - 4, ".xml") == 0);
}

char *orr_platform_stem(const char *path)
{
    static const char *const suffixes[] = {".machine.xml", ".platform.v4.xml",
                                           ".platform.xml", ".cluster.xml", ".xml"};
    const char *slash = strrchr(path, '/');
    size_t length = strlen(path);
    size_t least = slash ? (size_t)(slash - path) + 1 : 0;

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t tail = strlen(suffixes[i]);

        if (length > least + tail &&
            strcmp(path + length - tail, suffixes[i]) == 0)
            return strndup(path, length - tail);
    }
    return strdup(path);
}

/* The folder of `path`, absolute if possible. */
static char *absolute_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder, *absolute;

    if (!slash)
        folder = strdup(".");
    else
        folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!folder)
        return NULL;
    absolute = realpath(folder, NULL);
    if (!absolute)
        return folder;
    free(folder);
    return absolute;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *orr_platform_name(const char *path)
{
    char *stem, *name;

    if (strcmp(last_part(path), "platform.xml") == 0)
        stem = absolute_folder(path);
    else
        stem = orr_platform_stem(path);
    if (!stem)
        return NULL;
    name = strdup(last_part(stem));
    free(stem);
    return name;
}

char *orr_path_join(const char *first, const char *second, const char *third)
{
    size_t room = strlen(first) + (second ? strlen(second) : 0) +
                  (third ? strlen(third) : 0) + 3;
    char *path = malloc(room);

    if (path)
        snprintf(path, room, "%s%s%s%s%s", first, second ? "/" : "",
                 second ? second : "", third ? "/" : "", third ? third : "");
    return path;
}

/* Returns `folder` in *ret if it has models, else frees it. */
static int keep_if_models(char *folder, char **ret)
{
    char *models = orr_path_join(folder, "codelets", "45");

    *ret = NULL;
    if (models && access(models, R_OK | X_OK) == 0)
        *ret = folder;
    else
        free(folder);
    free(models);
    return models ? 0 : -ENOMEM;
}

int orr_platform_sampling_dir(const char *path, char **ret)
{
    char *folder = absolute_folder(path), *above = NULL, *found = NULL;
    int rc;

    if (!folder)
        return -ENOMEM;
    if (strcmp(last_part(folder), "bus") == 0) {
        above = strndup(folder, (size_t)(last_part(folder) - folder));
        if (!above) {
            free(folder);
            return -ENOMEM;
        }
        /* "/bus/": what is above is the root itself */
        if (strlen(above) > 1)
            above[strlen(above) - 1] = '\0';
    }
    rc = keep_if_models(folder, &found);
    if (rc == 0 && !found && above)
        rc = keep_if_models(above, &found);
    else
        free(above);
    if (rc)
        return rc;
    *ret = found;
    return 0;
}

/* How closely the folder of `length` characters holds the path; 0: it does
 * not. */
static size_t folder_holds_path(const char *path, const char *folder,
                                size_t length)
{
    while (length && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 &&
                   (path[length] == '/' || path[length] == '\0')
               ? length + 1
               : 0;
}

bool orr_is_installed(const char *own, const char *datadir, const char *source)
{
    const char *slash = strrchr(datadir, '/');

    return slash && folder_holds_path(own, datadir, (size_t)(slash - datadir)) >
                        folder_holds_path(own, source, strlen(source));
}

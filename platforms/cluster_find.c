/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/cluster_find.c - from the name of a cluster to its file, and the list of names.
 * No state. */
#include "platforms/cluster.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platforms/places.h"
#include "platforms/whole_file.h"

#define MAX_FILE (1U << 20)

static const char ending[] = ".cluster.xml";

/* FOLDER/NAME.cluster.xml, if it is there, else NULL in *ret. */
static int find_in(const char *folder, const char *name, char **ret)
{
    char file[300];

    *ret = NULL;
    if ((size_t)snprintf(file, sizeof(file), "%s%s", name, ending) >=
        sizeof(file))
        return 0;
    *ret = orr_path_join(folder, file, NULL);
    if (!*ret)
        return -ENOMEM;
    if (access(*ret, F_OK) == 0)
        return 0;
    free(*ret);
    *ret = NULL;
    return 0;
}

static int find_in_bus(const char *sampling_dir, const char *name, char **ret)
{
    char *bus = orr_path_join(sampling_dir, "bus", NULL);
    int rc = bus ? find_in(bus, name, ret) : -ENOMEM;

    free(bus);
    return rc;
}

static int find_by_name(const char *name, const char *const *sampling_dirs,
                        char **ret)
{
    int rc = find_in(".", name, ret);

    for (size_t i = 0; rc == 0 && !*ret && sampling_dirs && sampling_dirs[i];
         i++)
        rc = find_in_bus(sampling_dirs[i], name, ret);
    return rc;
}

static int read_file(const char *path, struct orr_cluster_desc *ret,
                     struct orr_error *err)
{
    char *text;
    size_t size;
    int rc = orr_file_read(path, MAX_FILE, &text, &size, err);

    if (rc)
        return rc;
    rc = orr_cluster_parse(path, text, size, ret, err);
    free(text);
    return rc;
}

int orr_cluster_load(const char *name, const char *const *sampling_dirs,
                     struct orr_cluster_desc *ret, struct orr_error *err)
{
    size_t length = strlen(name), tail = strlen(ending);
    char *path;
    int rc;

    if (length > tail && strcmp(name + length - tail, ending) == 0)
        return read_file(name, ret, err);
    if (orr_cluster_is(name))
        return orr_cluster_read(name, ret, err);
    if (!*name || orr_is_path(name))
        return 1;
    rc = find_by_name(name, sampling_dirs, &path);
    if (rc)
        return orr_fail(err, rc, "%s: out of memory", name);
    if (!path)
        return 1;
    rc = read_file(path, ret, err);
    free(path);
    return rc;
}

/* ---- listing ---- */

static int is_cluster_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), tail = strlen(ending);

    return entry->d_name[0] != '.' && length > tail &&
           strcmp(entry->d_name + length - tail, ending) == 0;
}

struct visitor {
    const char *const *sampling_dirs;
    int (*visit)(const char *name, const char *path, void *arg);
    void *arg;
};

/* If it is the file that its name means. */
static int visit_file(const struct visitor *v, const char *bus,
                      const char *file)
{
    char *path = orr_path_join(bus, file, NULL), *found = NULL;
    char *name = strndup(file, strlen(file) - strlen(ending));
    int rc =
        path && name ? find_by_name(name, v->sampling_dirs, &found) : -ENOMEM;

    if (rc == 0 && found && strcmp(found, path) == 0)
        rc = v->visit(name, path, v->arg);
    free(found);
    free(name);
    free(path);
    return rc;
}

static int visit_bus(const struct visitor *v, const char *bus)
{
    struct dirent **entries;
    int n = scandir(bus, &entries, is_cluster_file, alphasort), rc = 0;

    if (n < 0)
        return errno == ENOMEM ? -ENOMEM : 0;
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = visit_file(v, bus, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int orr_cluster_list(const char *const *sampling_dirs,
                     int (*visit)(const char *name, const char *path,
                                  void *arg),
                     void *arg)
{
    const struct visitor v = {sampling_dirs, visit, arg};
    int rc = 0;

    for (size_t i = 0; rc == 0 && sampling_dirs && sampling_dirs[i]; i++) {
        char *bus = orr_path_join(sampling_dirs[i], "bus", NULL);

        rc = bus ? visit_bus(&v, bus) : -ENOMEM;
        free(bus);
    }
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/resolve.c - from the name of a machine to its file, and the list of
 * names. No state; the environment is read at each call.
 */
#include "core/base/grow.h"
#include "platforms/machine_desc.h"

#include "core/base/installed.h"
#include "core/base/module.h"
#include "core/base/words.h"
#include "platforms/cluster.h"
#include "platforms/packed.h"
#include "platforms/places.h"

#include "build_paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Ours first: it says more. */
static const char *const bus_suffixes[] = {".machine.xml", ".platform.v4.xml",
                                           ".platform.xml"};

#define NSUFFIXES (sizeof(bus_suffixes) / sizeof(bus_suffixes[0]))

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_installed(void)
{
    char own[PATH_MAX];

    return orr_module_own_directory(own) == 0 &&
           orr_is_installed(own, ORR_DATADIR, ORR_SOURCE_ROOT);
}

/* The catalogue of the installation that this code is in, wherever it lies. */
static bool own_catalogue(char *ret)
{
    char data[PATH_MAX];

    return orr_installed_data(data) &&
           snprintf(ret, PATH_MAX, "%s/orrery/platforms", data) < PATH_MAX &&
           is_folder(ret);
}

/* The first catalogue there is, NULL without: `room` has PATH_MAX bytes for its name. A
 * build tree reads its own, though another was installed. An ORRERY_PLATFORM_DIR that
 * does not exist hides the others, so that a wrong one is noticed. */
static const char *first_catalogue(char *room)
{
    static const char installed[] = ORR_DATADIR "/orrery/platforms";
    static const char built[] = ORR_BUILD_ROOT "/platforms/platforms";
    bool is_ours = !is_installed();
    const char *built_in[] = {is_ours ? built : installed,
                              is_ours ? installed : built};
    const char *set = getenv("ORRERY_PLATFORM_DIR");

    if (set && *set)
        return is_folder(set) ? set : NULL;
    if (own_catalogue(room))
        return room;
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
        if (is_folder(built_in[i]))
            return built_in[i];
    return NULL;
}

/* ---- listing ---- */

/* Names seen so far, so that hidden ones are left out. */
struct names {
    char **items; /* owned, each owned */
    unsigned n;
};

static int names_add(struct names *names, const char *name, size_t length)
{
    char **added = orr_array_add(names->items, names->n);

    if (!added)
        return -ENOMEM;
    *added = strndup(name, length);
    if (*added)
        return 0;
    names->n--;
    return -ENOMEM;
}

static bool names_has(const struct names *names, const char *name)
{
    for (unsigned i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static void names_done(struct names *names)
{
    for (unsigned i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static int compare_names(const void *a, const void *b)
{
    char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

/* The platform file of `name` in a folder of either kind: owned, NULL in *ret
 * when there is none. */
static int find_in(const char *folder, const char *name, bool is_catalogue,
                   char **ret)
{
    char file[300];
    char *path;

    *ret = NULL;
    if (is_catalogue) {
        path = orr_path_join(folder, name, "platform.xml");
        if (!path)
            return -ENOMEM;
        if (is_file(path))
            *ret = path;
        else
            free(path);
        return 0;
    }
    for (size_t i = 0; i < NSUFFIXES && !*ret && strlen(name) < 256; i++) {
        snprintf(file, sizeof(file), "%s%s", name, bus_suffixes[i]);
        path = orr_path_join(folder, "bus", file);
        if (!path)
            return -ENOMEM;
        if (is_file(path))
            *ret = path;
        else
            free(path);
    }
    return 0;
}

/* The length of the machine's name in a file name of a bus/, 0 for others. */
static size_t bus_name_length(const char *file)
{
    size_t length = strlen(file);

    for (size_t i = 0; i < NSUFFIXES; i++) {
        size_t tail = strlen(bus_suffixes[i]);

        if (length > tail && strcmp(file + length - tail, bus_suffixes[i]) == 0)
            return length - tail;
    }
    return 0;
}

/* Collects the names in `folder`; a folder that cannot be read has none. */
static int collect_machine_names(const char *folder, bool is_catalogue,
                                 struct names *found)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int rc = 0;

    while (dir && rc == 0 && (entry = readdir(dir)) != NULL) {
        size_t length = is_catalogue ? strlen(entry->d_name)
                                     : bus_name_length(entry->d_name);

        if (length > 0 && entry->d_name[0] != '.')
            rc = names_add(found, entry->d_name, length);
    }
    if (dir)
        closedir(dir);
    if (found->n)
        qsort(found->items, found->n, sizeof(*found->items), compare_names);
    return rc;
}

struct visitor {
    int (*visit)(const struct orr_machine_entry *entry, void *arg);
    void *arg;
    struct names seen;
};

static int visit_name(struct visitor *v, const char *folder, const char *name,
                      bool is_catalogue)
{
    struct orr_machine_entry entry = {.name = name, .catalogue = is_catalogue};
    char *path;
    int rc;

    if (names_has(&v->seen, name))
        return 0;
    rc = find_in(folder, name, is_catalogue, &path);
    if (rc || !path)
        return rc;
    rc = names_add(&v->seen, name, strlen(name));
    entry.path = path;
    if (rc == 0)
        rc = v->visit(&entry, v->arg);
    free(path);
    return rc;
}

/* `folder` is the catalogue or a sampling directory. */
static int visit_folder(struct visitor *v, const char *folder,
                        bool is_catalogue)
{
    struct names found = {0};
    char *bus = NULL;
    int rc;

    if (!is_catalogue) {
        bus = orr_path_join(folder, "bus", NULL);
        if (!bus)
            return -ENOMEM;
    }
    rc = collect_machine_names(bus ? bus : folder, is_catalogue, &found);
    for (unsigned i = 0; i < found.n && rc == 0; i++)
        rc = visit_name(v, folder, found.items[i], is_catalogue);
    names_done(&found);
    free(bus);
    return rc;
}

int orr_machine_desc_list(const char *const *sampling_dirs,
                          int (*visit)(const struct orr_machine_entry *entry,
                                       void *arg),
                          void *arg)
{
    struct visitor v = {.visit = visit, .arg = arg};
    char room[PATH_MAX];
    const char *machines = first_catalogue(room);
    int rc = 0;

    if (machines)
        rc = visit_folder(&v, machines, true);
    for (size_t i = 0; rc == 0 && sampling_dirs && sampling_dirs[i]; i++)
        rc = visit_folder(&v, sampling_dirs[i], false);
    names_done(&v.seen);
    return rc;
}

/* ---- loading ---- */

struct known {
    char text[640]; /* their names, in a sentence */
    size_t length;
    const char *typed;
    char near[128]; /* what may have been meant */
    size_t distance;
};

static void compare_name(struct known *known, const char *name)
{
    size_t distance = orr_words_distance(known->typed, name);

    if (distance >= known->distance ||
        distance > orr_words_tolerance(known->typed, name))
        return;
    known->distance = distance;
    snprintf(known->near, sizeof(known->near), "%s", name);
}

static int append_name(const struct orr_machine_entry *entry, void *arg)
{
    struct known *known = arg;
    int n;

    compare_name(known, entry->name);
    n = snprintf(known->text + known->length,
                 sizeof(known->text) - known->length, "%s%s",
                 known->length ? ", " : "", entry->name);
    if (n < 0 || (size_t)n >= sizeof(known->text) - known->length)
        known->text[known->length] = '\0'; /* full: it is left out */
    else
        known->length += (size_t)n;
    return 0;
}

/* What else may have been meant by the line of a cluster that is none. */
static const char *cluster_hint(const char *name)
{
    return strpbrk(name, "+*")
               ? "; nodes of a cluster have a number before them, 1*NAME"
               : "";
}

static int fail_unknown_machine(const char *name,
                                const char *const *sampling_dirs,
                                struct orr_error *err)
{
    struct known known = {.typed = name, .distance = SIZE_MAX};
    const char *set = getenv("ORRERY_PLATFORM_DIR");

    if (set && *set && !is_folder(set))
        return orr_fail(err, -ENOENT,
                        "unknown machine \"%.100s\", and ORRERY_PLATFORM_DIR="
                        "%.300s is not a folder: correct or unset it",
                        name, set);
    orr_machine_desc_list(sampling_dirs, append_name, &known);
    return orr_fail(err, -ENOENT,
                    "unknown machine \"%.100s\"%s%s%s: known are %s; or give "
                    "the path of a platform file%s",
                    name, *known.near ? " (is \"" : "", known.near,
                    *known.near ? "\" meant?)" : "",
                    known.length ? known.text : "none", cluster_hint(name));
}

static int load_folder(const char *path, struct orr_machine_desc **ret,
                       struct orr_error *err)
{
    char *inside = orr_path_join(path, "platform.xml", NULL);
    int rc;

    if (!inside)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = orr_machine_desc_read(inside, ret, err);
    free(inside);
    return rc;
}

/* Models are files that the runtime looks up, so a packed machine is unpacked
 * first, where models are saved. */
static int load_packed(const char *path, const char *const *sampling_dirs,
                       struct orr_machine_desc **ret, struct orr_error *err)
{
    char *folder;
    int rc;

    if (!sampling_dirs || !sampling_dirs[0])
        return orr_fail(err, -EINVAL,
                        "%s: a packed machine cannot be used here: unpack it "
                        "with `orrery machine import`",
                        path);
    rc = orr_packed_open(path, sampling_dirs[0], &folder, err);
    if (rc)
        return rc;
    rc = load_folder(folder, ret, err);
    free(folder);
    return rc;
}

/* A platform file, the folder of an exported machine, or such a folder in one
 * file. */
static int load_path(const char *path, const char *const *sampling_dirs,
                     struct orr_machine_desc **ret, struct orr_error *err)
{
    if (!is_folder(path) && !is_file(path))
        return orr_fail(err, -ENOENT,
                        "%s: no such platform file: correct the path, or give "
                        "the name of a machine that \"orrery machine list\" "
                        "shows%s",
                        path, cluster_hint(path));
    if (is_folder(path))
        return load_folder(path, ret, err);
    if (orr_packed_is_name(path))
        return load_packed(path, sampling_dirs, ret, err);
    return orr_machine_desc_read(path, ret, err);
}

/* The file that a bare name means. *ret_usual: its models are found along the
 * usual search path. */
static int find_by_name(const char *name, const char *const *sampling_dirs,
                        char **ret, bool *ret_usual)
{
    char room[PATH_MAX];
    const char *machines = first_catalogue(room);
    int rc = find_in(".", name, true, ret);

    *ret_usual = false;
    if (rc == 0 && !*ret && machines)
        rc = find_in(machines, name, true, ret);
    for (size_t i = 0; rc == 0 && !*ret && sampling_dirs && sampling_dirs[i];
         i++) {
        rc = find_in(sampling_dirs[i], name, false, ret);
        *ret_usual = true;
    }
    return rc;
}

int orr_machine_desc_load(const char *name, const char *const *sampling_dirs,
                          struct orr_machine_desc **ret, struct orr_error *err)
{
    struct orr_machine_desc *desc;
    char *path = NULL;
    bool usual;
    int rc;

    if (orr_cluster_is(name))
        return orr_fail(
            err, -EINVAL,
            "\"%.200s\" is a cluster, and one machine is wanted here: "
            "give that of a node",
            name);
    if (orr_is_path(name))
        return load_path(name, sampling_dirs, ret, err);
    rc = *name ? find_by_name(name, sampling_dirs, &path, &usual) : 0;
    if (rc)
        return orr_fail(err, rc, "%s: out of memory", name);
    if (!path)
        return fail_unknown_machine(name, sampling_dirs, err);
    rc = orr_machine_desc_read(path, &desc, err);
    free(path);
    if (rc)
        return rc;
    if (usual) {
        free(desc->sampling_dir);
        desc->sampling_dir = NULL;
    }
    *ret = desc;
    return 0;
}

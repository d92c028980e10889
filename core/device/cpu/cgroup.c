/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/cgroup.c - see cgroup.h. No state. The files are described in
 * Linux's Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
 */
#include "core/device/cpu/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version 1 has this or more, rounded to pages, for no limit. */
#define NO_BYTES (UINT64_C(1) << 60)

enum { LINE = 4096 + 256 }; /* bytes: a path and what is beside it */

/* A hierarchy of groups. */
struct mount {
    const char *root;         /* as of orr_cgroup_read */
    char point[PATH_MAX];     /* where it is mounted */
    char group[PATH_MAX];     /* ours in it, "/" for the top */
    bool unified;             /* version 2 */
    bool has_cpu, has_memory; /* what it limits; version 2: perhaps */
};

static FILE *open_under(const char *root, const char *path)
{
    char whole[2 * PATH_MAX];
    int n = snprintf(whole, sizeof(whole), "%s%s", root, path);

    return n > 0 && (size_t)n < sizeof(whole) ? fopen(whole, "re") : NULL;
}

/* Whether the word is in a list with commas. */
static bool list_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n]))
            return true;
    }
    return false;
}

/* ---- one group's limits ---- */

/* The file `name` of the group `group` of a mount. */
static FILE *cgroup_open_file(const struct mount *mount, const char *group,
                              const char *name)
{
    char path[3 * PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s%s/%s", mount->point,
                     strcmp(group, "/") == 0 ? "" : group, name);

    return n > 0 && (size_t)n < sizeof(path) ? open_under(mount->root, path)
                                             : NULL;
}

/* Up to two numbers of the file's first line, -1 for "max" and for none. */
static void cgroup_read_numbers(const struct mount *mount, const char *group,
                                const char *name, long long ret[2])
{
    FILE *in = cgroup_open_file(mount, group, name);
    char line[64], *at = line, *end;

    ret[0] = ret[1] = -1;
    if (!in)
        return;
    if (fgets(line, sizeof(line), in))
        for (int i = 0; i < 2; i++) {
            ret[i] = strtoll(at, &end, 10);
            if (end == at) {
                ret[i] = -1;
                end += strcspn(at, " \n");
            }
            at = end;
        }
    fclose(in);
}

static void add_cpus(const struct mount *mount, const char *group,
                     struct orr_cgroup *limits)
{
    long long pair[2], period[2];
    double cpus;

    if (mount->unified) {
        cgroup_read_numbers(mount, group, "cpu.max", pair);
    } else {
        cgroup_read_numbers(mount, group, "cpu.cfs_quota_us", pair);
        cgroup_read_numbers(mount, group, "cpu.cfs_period_us", period);
        pair[1] = period[0];
    }
    if (pair[0] <= 0 || pair[1] <= 0)
        return;
    cpus = (double)pair[0] / (double)pair[1];
    if (limits->cpus == 0 || cpus < limits->cpus)
        limits->cpus = cpus;
}

static void add_bytes(const struct mount *mount, const char *group,
                      struct orr_cgroup *limits)
{
    long long number[2];

    cgroup_read_numbers(mount, group,
                        mount->unified ? "memory.max" : "memory.limit_in_bytes",
                        number);
    if (number[0] <= 0 || (uint64_t)number[0] >= NO_BYTES)
        return;
    if (limits->bytes == 0 || (uint64_t)number[0] < limits->bytes)
        limits->bytes = (uint64_t)number[0];
}

/* The group and those above. In a container the mount often begins at our own
 * group, whose path is that outside: missing directories are skipped. */
static void add_limits(const struct mount *mount, struct orr_cgroup *limits)
{
    char group[PATH_MAX];

    snprintf(group, sizeof(group), "%s", mount->group);
    while (true) {
        char *slash = strrchr(group, '/');

        if (mount->has_cpu)
            add_cpus(mount, group, limits);
        if (mount->has_memory)
            add_bytes(mount, group, limits);
        if (!slash || strcmp(group, "/") == 0)
            return;
        slash[slash == group] = '\0';
    }
}

/* ---- where groups are ---- */

/* Fills mount->group from /proc/self/cgroup, whose lines are
 * "<number>:<controllers>:<path>"; false without a line. */
static bool cgroup_find_group(struct mount *mount)
{
    const char *controller = mount->unified   ? ""
                             : mount->has_cpu ? "cpu"
                                              : "memory";
    FILE *in = open_under(mount->root, "/proc/self/cgroup");
    bool found = false;
    char line[LINE];

    while (in && !found && fgets(line, sizeof(line), in)) {
        char *controllers = strchr(line, ':');
        char *colon = controllers ? strchr(controllers + 1, ':') : NULL;
        const char *path;

        if (!colon)
            continue;
        *colon = '\0';
        controllers++;
        colon[1 + strcspn(colon + 1, "\n")] = '\0';
        path = colon + 1;
        found = mount->unified ? !*controllers
                               : list_has_word(controllers, controller);
        /* The path is of another namespace: outside of what is mounted. */
        if (*path != '/' || strstr(path, "/.."))
            path = "/";
        if (found && (size_t)snprintf(mount->group, sizeof(mount->group), "%s",
                                      path) >= sizeof(mount->group))
            found = false;
    }
    if (in)
        fclose(in);
    return found;
}

/* A line of /proc/self/mounts: device, place, type, options. */
static bool parse_mount(char *line, struct mount *mount)
{
    char *save = NULL;
    const char *device = strtok_r(line, " ", &save);
    const char *point = device ? strtok_r(NULL, " ", &save) : NULL;
    const char *type = point ? strtok_r(NULL, " ", &save) : NULL;
    const char *options = type ? strtok_r(NULL, " ", &save) : NULL;

    if (!options || strlen(point) >= sizeof(mount->point))
        return false;
    mount->unified = strcmp(type, "cgroup2") == 0;
    if (!mount->unified && strcmp(type, "cgroup") != 0)
        return false;
    mount->has_cpu = mount->unified || list_has_word(options, "cpu");
    mount->has_memory = mount->unified || list_has_word(options, "memory");
    snprintf(mount->point, sizeof(mount->point), "%s", point);
    return mount->has_cpu || mount->has_memory;
}

struct orr_cgroup orr_cgroup_read(const char *root)
{
    FILE *in = open_under(root, "/proc/self/mounts");
    struct orr_cgroup limits = {0, 0};
    struct mount mount = {.root = root};
    char line[LINE];

    while (in && fgets(line, sizeof(line), in))
        if (parse_mount(line, &mount) && cgroup_find_group(&mount))
            add_limits(&mount, &limits);
    if (in)
        fclose(in);
    return limits;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/machines.c - see machines.h. */
#include "tools/common/machines.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/sampling.h"
#include "platforms/cluster.h"
#include "platforms/edit.h"
#include "platforms/machine_desc.h"

/* --- lists --- */

bool machines_comma_joins(const char *behind)
{
    size_t n = strspn(behind, "0123456789.");

    if (n > 0)
        n += strspn(behind + n, "kKMGiB");
    return n > 0 && behind[n] == ':' && isdigit((unsigned char)behind[n + 1]);
}

/* Where the name ends that begins there: at a comma, a line's end, the end. */
static const char *end_of_name(const char *at)
{
    bool quoted = false;

    for (; *at && *at != '\n'; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (*at == ',' && !quoted && !machines_comma_joins(at + 1))
            break;
    }
    return at;
}

/* "8" or "4..64", and what follows it. */
struct counts {
    unsigned first, last;
};

static const char *read_number(const char *at, unsigned *ret)
{
    unsigned long value = 0;

    if (!isdigit((unsigned char)*at))
        return NULL;
    for (; isdigit((unsigned char)*at); at++)
        if (value <= UINT_MAX)
            value = 10 * value + (unsigned long)(*at - '0');
    *ret = value > UINT_MAX ? UINT_MAX : (unsigned)value;
    return at;
}

static const char *read_counts(const char *at, struct counts *ret)
{
    at = read_number(at + strspn(at, " \t"), &ret->first);
    ret->last = ret->first;
    if (at && !strncmp(at, "..", 2))
        at = read_number(at + 2, &ret->last);
    return at ? at + strspn(at, " \t") : NULL;
}

/* Behind "4,8..64" of "4,8..64*A", at the "*"; NULL: there is no more than one count. */
static const char *end_of_counts(const char *at)
{
    struct counts counts;
    unsigned n = 0;

    while ((at = read_counts(at, &counts))) {
        n += counts.first < counts.last && counts.first > 0 ? 2 : 1;
        if (*at == '*')
            return n > 1 ? at : NULL;
        if (*at++ != ',')
            return NULL;
    }
    return NULL;
}

/* A name for each count, a line each. */
static void print_scaled(FILE *out, const char *at, const char *star, const char *end)
{
    struct counts counts;

    while (at < star && (at = read_counts(at, &counts))) {
        unsigned long n = counts.first;

        do
            fprintf(out, "%lu%.*s\n", n, (int)(end - star), star);
        while ((n *= 2) <= counts.last && n > 0);
        at++;
    }
}

/* The names, a line each. */
static void print_names(FILE *out, const char *list)
{
    while (*list) {
        const char *star = end_of_counts(list);
        const char *end = end_of_name(star ? star : list);

        list += strspn(list, " \t");
        if (star)
            print_scaled(out, list, star, end);
        else if (end > list)
            fprintf(out, "%.*s\n", (int)(end - list), list);
        list = *end ? end + 1 : end;
    }
}

/* Makes of the lines an array in one block. */
static char **array_of_lines(const char *text)
{
    size_t n = 1, size = strlen(text) + 1;
    char **list, *copy, *saved = NULL;

    for (const char *at = text; (at = strchr(at, '\n')); at++)
        n++;
    list = malloc(n * sizeof(*list) + size);
    if (!list)
        return NULL;
    copy = memcpy(list + n, text, size);
    n = 0;
    for (char *line = strtok_r(copy, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
        list[n++] = line;
    list[n] = NULL;
    return list;
}

char **machines_split(const char *list)
{
    char *text = NULL, **names = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    print_names(out, list);
    if (fclose(out) == 0)
        names = array_of_lines(text);
    free(text);
    return names;
}

bool machines_are_several(const char *list)
{
    char **names = machines_split(list);
    bool several = names && names[0] && names[1];

    free(names);
    return several;
}

/* --- one name --- */

bool machine_is_known(const char *name)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_cluster_desc cluster = {0};
    struct orr_sampling *sampling = NULL;
    bool found;

    if (orr_sampling_from_env(orr_getenv, NULL, &sampling) < 0)
        return false;
    found = orr_cluster_load(name, orr_sampling_dirs(sampling), &cluster, NULL) == 0 ||
            orr_machine_desc_load(name, orr_sampling_dirs(sampling), &desc, NULL) == 0;
    orr_cluster_free(&cluster);
    orr_machine_desc_free(desc);
    orr_sampling_free(sampling);
    return found;
}

static bool file_is_called(const char *machine, const char *called)
{
    const char *slash = strrchr(machine, '/'), *base = slash ? slash + 1 : machine;
    size_t n = strlen(called);

    return strncmp(base, called, n) == 0 && (!base[n] || base[n] == '.');
}

bool machine_is_called(const char *name, const char *called)
{
    struct orr_cluster_desc cluster = {0};
    struct orr_sampling *sampling = NULL;
    bool found = false;

    if (orr_sampling_from_env(orr_getenv, NULL, &sampling) < 0)
        return false;
    if (orr_cluster_load(name, orr_sampling_dirs(sampling), &cluster, NULL) != 0)
        found = file_is_called(name, called);
    for (unsigned g = 0; g < cluster.ngroups && !found; g++)
        found = file_is_called(cluster.groups[g].machine, called);
    orr_cluster_free(&cluster);
    orr_sampling_free(sampling);
    return found;
}

int machine_size(const char *name, const char *edits, struct machine_size *ret,
                 struct orr_error *err)
{
    struct orr_cluster_desc cluster = {0};
    struct orr_sampling *sampling = NULL;
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    if (rc < 0)
        return orr_fail(err, rc, "out of memory");
    rc = orr_cluster_load(name, orr_sampling_dirs(sampling), &cluster, err);
    if (rc == 0 && edits && *edits)
        rc = orr_cluster_edit(&cluster, edits, err);
    if (rc == 0)
        *ret = (struct machine_size){cluster.nnodes, cluster.nnodes * cluster.ranks_per_node};
    orr_cluster_free(&cluster);
    orr_sampling_free(sampling);
    return rc;
}

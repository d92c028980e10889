/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/formats.c - see formats.h. */
#include "core/observe/formats.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A format, by the extension of its files. */
struct format {
    const char *extension;
    const struct orr_trace_parts *parts;
    bool shows_graph, shows_submissions, shows_application;
    bool shows_symbols; /* of the graph's tasks */
    bool shows_tasks_alone;
};

static const struct format formats[] = {
    {.extension = ".json", .parts = &orr_chrome_parts, .shows_graph = true},
    {.extension = ".csv", .parts = &orr_csv_parts, .shows_application = true},
    {.extension = ".dot",
     .parts = &orr_dot_parts,
     .shows_graph = true,
     .shows_symbols = true,
     .shows_tasks_alone = true},
    {.extension = ".rec",
     .parts = &orr_tasks_rec_parts,
     .shows_graph = true,
     .shows_submissions = true,
     .shows_tasks_alone = true},
};

static const struct format paje = {.parts = &orr_paje_parts};

/* What goes with a file whose name ends so, beside it. */
static const char companions_of[] = "tasks.rec";
static const struct companion {
    const char *name;
    const struct orr_trace_parts *parts;
} companions[] = {
    {"data.rec", &orr_data_rec_parts},
    {"sched.rec", &orr_sched_rec_parts},
};

static_assert(sizeof(companions) / sizeof(*companions) < ORR_TRACE_FILES,
              "there is room for all companions");

static const struct format *format_of(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');

    for (size_t i = 0; dot && i < sizeof(formats) / sizeof(*formats); i++)
        if (!strcmp(formats[i].extension, dot))
            return &formats[i];
    return &paje;
}

bool orr_trace_shows_graph(const char *path)
{
    return path && format_of(path)->shows_graph;
}

bool orr_trace_shows_symbols(const char *path)
{
    return path && format_of(path)->shows_symbols;
}

bool orr_trace_shows_submissions(const char *path)
{
    return path && format_of(path)->shows_submissions;
}

bool orr_trace_shows_tasks_alone(const char *path)
{
    return path && format_of(path)->shows_tasks_alone;
}

bool orr_trace_shows_application(const char *path)
{
    return path && format_of(path)->shows_application;
}

/* The first n bytes of `path`, then `name`. Errors: -ENOMEM. */
static int add_file(struct orr_trace_files *files, const char *path, size_t n,
                    const char *name, const struct orr_trace_parts *parts)
{
    char *text = malloc(n + strlen(name) + 1);

    if (!text)
        return -ENOMEM;
    memcpy(text, path, n);
    strcpy(text + n, name);
    files->items[files->n++] = (struct orr_trace_file){text, parts};
    return 0;
}

size_t orr_trace_suffix(const char *path)
{
    size_t n = strlen(path), suffix = sizeof(companions_of) - 1;

    return n >= suffix && !strcmp(path + n - suffix, companions_of) ? suffix : 0;
}

int orr_trace_files_of(const char *path, struct orr_trace_files *ret)
{
    size_t n = strlen(path), suffix = orr_trace_suffix(path);
    int rc;

    *ret = (struct orr_trace_files){.n = 0};
    rc = add_file(ret, path, n, "", format_of(path)->parts);
    if (!suffix)
        return rc;
    for (size_t i = 0; !rc && i < sizeof(companions) / sizeof(*companions); i++)
        rc = add_file(ret, path, n - suffix, companions[i].name,
                      companions[i].parts);
    return rc;
}

void orr_trace_files_done(struct orr_trace_files *files)
{
    for (unsigned i = 0; i < files->n; i++)
        free(files->items[i].path);
    files->n = 0;
}

const char *orr_trace_state_name(enum orr_trace_state state)
{
    static const char *const names[ORR_TRACE_NSTATES] = {
        [ORR_TRACE_IDLE] = "idle",
        [ORR_TRACE_INITIALIZING] = "initializing",
        [ORR_TRACE_DEINITIALIZING] = "deinitializing",
        [ORR_TRACE_FETCHING] = "fetching",
        [ORR_TRACE_PUSHING] = "pushing",
        [ORR_TRACE_CALLBACK] = "callback",
        [ORR_TRACE_OVERHEAD] = "overhead",
        [ORR_TRACE_SCHEDULING] = "scheduling",
        [ORR_TRACE_SLEEPING] = "sleeping",
        [ORR_TRACE_PROGRESSING] = "progressing",
        [ORR_TRACE_SUSPENDED] = "suspended",
    };

    return names[state];
}

const char *orr_trace_copy_name(enum orr_trace_copy_kind kind)
{
    static const char *const names[ORR_TRACE_NCOPY_KINDS] = {
        [ORR_TRACE_FETCH] = "fetch",
        [ORR_TRACE_TASK_PREFETCH] = "task prefetch",
        [ORR_TRACE_PREFETCH] = "prefetch",
        [ORR_TRACE_IDLE_FETCH] = "idle fetch",
        [ORR_TRACE_WRITEBACK] = "write-back",
    };

    return names[kind];
}

void orr_trace_whole_add(struct orr_trace_whole *whole,
                         const struct orr_timeline *part)
{
    whole->end = part->end;
    whole->ntasks += part->ntasks;
    whole->nmarks += part->nmarks;
    whole->nsteals += part->nsteals;
    whole->suspends |= part->suspends;
}

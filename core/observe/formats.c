/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/formats.c - see formats.h. */
#include "core/observe/formats.h"

#include <string.h>

static const struct orr_trace_format formats[] = {
    {.extension = ".json", .parts = &orr_chrome_parts, .shows_graph = true},
    {.extension = ".csv", .parts = &orr_csv_parts},
    {.extension = ".dot",
     .parts = &orr_dot_parts,
     .shows_graph = true,
     .shows_symbols = true},
    {.extension = ".rec",
     .write = orr_tasks_rec_write,
     .shows_graph = true,
     .shows_submissions = true},
};

static const struct orr_trace_format paje = {.extension = "",
                                             .parts = &orr_paje_parts};

const struct orr_trace_format *orr_trace_format_of(const char *path)
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
    return path && orr_trace_format_of(path)->shows_graph;
}

bool orr_trace_shows_symbols(const char *path)
{
    return path && orr_trace_format_of(path)->shows_symbols;
}

bool orr_trace_shows_submissions(const char *path)
{
    return path && orr_trace_format_of(path)->shows_submissions;
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/trace_file.c - see trace_file.h. */
#include "core/observe/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bound/graph.h"
#include "core/base/result.h"

static const struct format {
    const char *extension;
    orr_trace_writer *write;
    bool shows_graph, shows_submissions;
} formats[] = {
    {".json", orr_chrome_write, true, false},
    {".csv", orr_csv_write, false, false},
    {".dot", orr_dot_write, true, false},
    {".rec", orr_tasks_rec_write, true, true},
};

static const struct format paje = {"", orr_paje_write, false, false};

/* What goes with a file whose name ends so, beside it. */
static const char companions_of[] = "tasks.rec";
static const struct companion {
    const char *name;
    orr_trace_writer *write;
} companions[] = {
    {"data.rec", orr_data_rec_write},
    {"sched.rec", orr_sched_rec_write},
};

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

bool orr_trace_shows_submissions(const char *path)
{
    return path && format_of(path)->shows_submissions;
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

const char *orr_trace_node_name(const struct orr_trace_source *source,
                                unsigned node, char *buffer, size_t size)
{
    if (source->graph && node < source->graph->nnodes)
        return source->graph->nodes[node].name;
    snprintf(buffer, size, "node %u", node);
    return buffer;
}

static int write_file(const struct orr_trace_source *source,
                      orr_trace_writer *write, const char *path)
{
    struct orr_result out;
    int result = orr_result_open(path, &out);

    if (result < 0)
        return result;
    result = write(source, out.file);
    if (result == 0 && fflush(out.file) != 0)
        result = -errno;
    /* A full disk may show here alone; devices cannot do that. */
    if (result == 0 && out.temporary && fsync(fileno(out.file)) < 0)
        result = -errno;
    return orr_result_close(&out, result);
}

/* The files that go with "x.tasks.rec": "x.data.rec" … */
static int write_companions(const struct orr_trace_source *source,
                            const char *path)
{
    size_t n = strlen(path), suffix = sizeof(companions_of) - 1;
    int result = 0;

    if (n < suffix || strcmp(path + n - suffix, companions_of) != 0)
        return 0;
    for (size_t i = 0;
         result == 0 && i < sizeof(companions) / sizeof(*companions); i++) {
        char *name = malloc(n + strlen(companions[i].name) + 1);

        if (!name)
            return -ENOMEM;
        memcpy(name, path, n - suffix);
        strcpy(name + n - suffix, companions[i].name);
        result = write_file(source, companions[i].write, name);
        free(name);
    }
    return result;
}

int orr_trace_write(const struct orr_trace *trace,
                    const struct orr_graph *graph, const char *path,
                    struct orr_error *err)
{
    struct orr_timeline line = {0};
    struct orr_trace_source source = {trace, &line, graph};
    int result = orr_timeline_init(trace, &line);

    if (result == 0)
        result = write_file(&source, format_of(path)->write, path);
    if (result == 0)
        result = write_companions(&source, path);
    orr_timeline_done(&line);
    if (result == -ENOMEM)
        return orr_fail(err, result, "trace %s: out of memory", path);
    if (result < 0)
        orr_fail(err, result, "trace %s cannot be written: %s", path,
                 strerror(-result));
    return result;
}

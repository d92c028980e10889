/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/trace_file.c - writes the record as a file, whole or not at all: see
 * orr_trace_write in record.h. */
#include "core/observe/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bound/graph.h"
#include "core/base/result.h"
#include "core/observe/ahead.h"
#include "core/observe/formats.h"
#include "core/observe/out.h"
#include "core/observe/waits_log.h"

/* What goes with a file whose name ends so, beside it. */
static const char companions_of[] = "tasks.rec";
static const struct companion {
    const char *name;
    orr_trace_writer *write;
} companions[] = {
    {"data.rec", orr_data_rec_write},
    {"sched.rec", orr_sched_rec_write},
};

/* A whole timeline in a format that has parts. */
static int write_in_order(const struct orr_trace_parts *parts, void *writer,
                          const struct orr_trace_source *source,
                          struct orr_out *out)
{
    struct orr_trace_whole whole = {.graph = source->graph};
    int rc = parts->learn ? parts->learn(writer, source->line, true) : 0;

    orr_trace_whole_add(&whole, source->line);
    if (rc == 0)
        rc = parts->head(writer, &whole, out);
    if (rc == 0 && parts->moments)
        rc = parts->moments(writer, source->line, out);
    if (rc == 0)
        rc = parts->tail(writer, &whole, out);
    return rc;
}

static int write_parts(const struct orr_trace_parts *parts,
                       const struct orr_trace_source *source, FILE *file)
{
    struct orr_out out;
    void *writer;
    int rc = orr_out_init(&out, file);

    if (rc < 0)
        return rc;
    rc = parts->begin(source->trace, &writer);
    if (rc == 0) {
        rc = write_in_order(parts, writer, source, &out);
        parts->free(writer);
    }
    orr_out_done(&out);
    return rc;
}

/* What writes a file. */
struct content {
    const struct orr_trace_source *source;
    const struct orr_trace_format *format;
    struct orr_ahead *ahead; /* NULL: nothing of it was written */
};

static int write_content(const struct content *content, FILE *file)
{
    if (content->ahead)
        return orr_ahead_write(content->ahead, file);
    return content->format->parts
               ? write_parts(content->format->parts, content->source, file)
               : content->format->write(content->source, file);
}

static int write_file(const struct content *content, const char *path)
{
    struct orr_result out;
    int result = orr_result_open(path, &out);

    if (result < 0)
        return result;
    result = write_content(content, out.file);
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
        const struct orr_trace_format format = {.write = companions[i].write};
        char *name = malloc(n + strlen(companions[i].name) + 1);

        if (!name)
            return -ENOMEM;
        memcpy(name, path, n - suffix);
        strcpy(name + n - suffix, companions[i].name);
        result = write_file(&(struct content){source, &format, NULL}, name);
        free(name);
    }
    return result;
}

/* From the record alone, in one go. */
static int write_record(const struct orr_trace *trace,
                        const struct orr_graph *graph, const char *path)
{
    struct orr_timeline line = {0};
    struct orr_trace_source source = {trace, &line, graph};
    const struct orr_trace_format *format = orr_trace_format_of(path);
    int result = 0;

    if (!format->parts || format->parts->moments)
        result = orr_timeline_init(trace, &line);
    if (result == 0)
        result = write_file(&(struct content){&source, format, NULL}, path);
    if (result == 0)
        result = write_companions(&source, path);
    orr_timeline_done(&line);
    return result;
}

/* The same, with the graph of the list of what waits for what. */
static int write_with_graph(const struct orr_trace *trace, const char *path)
{
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};
    int result;

    /* Without tasks, or memory, there is none. */
    (void)orr_waits_log_graph(trace->waits, &graph, &err);
    result = write_record(trace, graph, path);
    orr_graph_free(graph);
    return result;
}

int orr_trace_write(struct orr_trace *trace, const char *path,
                    struct orr_error *err)
{
    const struct orr_trace_source source = {.trace = trace};
    struct orr_ahead *ahead = orr_ahead_take(trace, path);
    int result = -ESTALE;

    if (ahead)
        result = write_file(&(struct content){&source, NULL, ahead}, path);
    orr_ahead_free(ahead);
    /* There may have been no room for what was written ahead beside the file. */
    if (result < 0)
        result = trace->waits ? write_with_graph(trace, path)
                              : write_record(trace, NULL, path);
    if (result == -ENOMEM)
        return orr_fail(err, result, "trace %s: out of memory", path);
    if (result < 0)
        orr_fail(err, result, "trace %s cannot be written: %s", path,
                 strerror(-result));
    return result;
}

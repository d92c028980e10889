/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/trace_file.c - writes the record as a file, whole or not at all: see
 * orr_trace_write in trace_record.h. */
#include "core/observe/trace_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bound/graph.h"
#include "core/base/out.h"
#include "core/base/result.h"
#include "core/observe/ahead.h"
#include "core/observe/formats.h"
#include "core/observe/waits_log.h"

/* What files are made of: the record alone, in one go. */
struct source {
    const struct orr_trace *trace;
    struct orr_timeline line;
    struct orr_graph *graph; /* owned; NULL: not recorded */
    bool is_made;
    int rc;
};

/* A whole timeline in a format. */
static int write_in_order(const struct orr_trace_parts *parts, void *writer,
                          const struct source *source, struct orr_out *out)
{
    struct orr_trace_whole whole = {.graph = source->graph};
    int rc = parts->learn ? parts->learn(writer, &source->line, true) : 0;

    orr_trace_whole_add(&whole, &source->line);
    if (rc == 0 && parts->head)
        rc = parts->head(writer, &whole, out);
    if (rc == 0 && parts->moments)
        rc = parts->moments(writer, &source->line, out);
    if (rc == 0 && parts->tail)
        rc = parts->tail(writer, &whole, out);
    return rc;
}

static int write_parts(const struct orr_trace_parts *parts,
                       const struct source *source, FILE *file)
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

static bool trace_files_need_moments(const struct orr_trace_files *files)
{
    for (unsigned i = 0; i < files->n; i++)
        if (files->items[i].parts->moments)
            return true;
    return false;
}

/* Once for all files. Errors: -ENOMEM. */
static int make_source(struct source *source,
                       const struct orr_trace_files *files)
{
    struct orr_error err = {""};

    if (source->is_made)
        return source->rc;
    source->is_made = true;
    if (trace_files_need_moments(files))
        source->rc = orr_timeline_init(source->trace, &source->line);
    /* Without tasks, or without memory, there is no graph. */
    if (source->rc == 0 && source->trace->waits)
        (void)orr_waits_log_graph(source->trace->waits, &source->graph, &err);
    return source->rc;
}

static void source_done(struct source *source)
{
    if (source->is_made && source->rc == 0)
        orr_timeline_done(&source->line);
    orr_graph_free(source->graph);
}

/* What writes a file. */
struct content {
    const struct source *source;
    struct orr_ahead *ahead; /* NULL: nothing of it was written */
    const struct orr_trace_files *files;
    unsigned which;
};

static int write_content(const struct content *content,
                         struct orr_result *result)
{
    return content->ahead
               ? orr_ahead_write(content->ahead, content->which, result)
               : write_parts(content->files->items[content->which].parts,
                             content->source, result->file);
}

static int write_file(const struct content *content)
{
    struct orr_result out;
    int result =
        orr_result_open(content->files->items[content->which].path, &out);

    if (result < 0)
        return result;
    out.durable = true; /* a full disk may show only then */
    return orr_result_close(&out, write_content(content, &out));
}

/* Writes one file after the other, until one cannot be written. */
static int write_files(const struct orr_trace *trace, struct content *content)
{
    struct source source = {.trace = trace};
    int result = 0;

    content->source = &source;
    for (unsigned i = 0; result == 0 && i < content->files->n; i++) {
        content->which = i;
        if (content->ahead && (result = write_file(content)) == 0)
            continue;
        /* There may have been no room for what was written ahead beside the file. */
        orr_ahead_free(content->ahead);
        content->ahead = NULL;
        result = make_source(&source, content->files);
        if (result == 0)
            result = write_file(content);
    }
    source_done(&source);
    return result;
}

int orr_trace_write(struct orr_trace *trace, const char *path,
                    struct orr_error *err)
{
    struct orr_trace_files files;
    struct content content = {.files = &files};
    int result = orr_trace_files_of(path, &files);

    if (result == 0) {
        content.ahead = orr_ahead_take(trace, path);
        result = write_files(trace, &content);
        orr_ahead_free(content.ahead);
    }
    if (result == -ENOMEM)
        orr_fail(err, result, "trace %s: out of memory", path);
    else if (result < 0)
        orr_fail(err, result, "trace %s cannot be written: %s",
                 files.items[content.which].path, strerror(-result));
    orr_trace_files_done(&files);
    return result;
}

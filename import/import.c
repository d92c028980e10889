/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/import.c - see import.h: which format a file has. */
#include "import/import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "import/formats.h"
#include "import/kernel_models.h"
#include "import/kinds.h"
#include "import/replicas.h"
#include "import/timeline.h"

/* The first field of a record of tasks; comments and %rec: may be before it. */
static bool begins_tasks_rec(const char *text)
{
    static const char *const first[] = {
        "Control:", "Name:", "Model:", "File:", "JobId:", "%rec: task"};

    while (*text) {
        for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
            if (!strncmp(text, first[i], strlen(first[i])))
                return true;
        if (*text != '#' && *text != '%' && *text != '\n')
            return false;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

static const char *skip_leading_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* Its first element, behind comments, is adag. */
static bool begins_dax(const char *text)
{
    const char *at = strstr(text, "<adag");

    return *skip_leading_blanks(text) == '<' && at && strchr(" \t\r\n>", at[5]);
}

static bool begins_json(const char *text)
{
    return *skip_leading_blanks(text) == '{';
}

/* Comments may be before it. */
static bool begins_dot(const char *text)
{
    for (text = skip_leading_blanks(text); *text == '/' || *text == '#';
         text = skip_leading_blanks(text)) {
        const char *end =
            strncmp(text, "/*", 2) ? strchr(text, '\n') : strstr(text, "*/");

        if (!end)
            return false;
        text = end + (*end == '\n' ? 1 : 2);
    }
    if (!strncmp(text, "strict", 6))
        text = skip_leading_blanks(text + 6);
    text += strncmp(text, "di", 2) ? 0 : 2;
    return !strncmp(text, "graph", 5) && strchr(" \t\r\n{\"", text[5]);
}

/* A table with these columns: the first line. */
static bool begins_starvz(const char *text)
{
    size_t n = strcspn(text, "\n");
    const char *job = strstr(text, "JobId"), *value = strstr(text, "Value");

    return job && value && job < text + n && value < text + n;
}

static bool begins_table(const char *text)
{
    return memchr(text, ',', strcspn(text, "\n")) != NULL;
}

/* A list of events, or an object with what such files begin with. */
static bool begins_events(const char *text)
{
    static const char *const members[] = {
        "\"traceEvents\"",     "\"deviceProperties\"",  "\"displayTimeUnit\"",
        "\"distributedInfo\"", "\"baseTimeNanoseconds\""};

    text = skip_leading_blanks(text);
    if (*text == '[')
        return strstr(text, "\"ph\"") != NULL;
    for (size_t i = 0; *text == '{' && i < sizeof(members) / sizeof(*members); i++)
        if (strstr(text, members[i]))
            return true;
    return false;
}

static bool begins_gzip(const char *text)
{
    return !strncmp(text, "\x1f\x8b", 2);
}

static bool begins_sqlite(const char *text)
{
    return !strcmp(text, "SQLite format 3");
}

static bool begins_openmp(const char *text)
{
    return !strncmp(text, "orrery-openmp ", 14);
}

static const struct format {
    const char *name;
    const char *extension; /* that the file must have, or NULL */
    bool (*begins)(const char *text);
    import_reader *read;
} formats[] = {
    {"tasks.rec", NULL, begins_tasks_rec, import_tasks_rec},
    {"OpenMP log", NULL, begins_openmp, import_openmp},
    {"trace of StarPU's tools", NULL, timeline_begins_paje, import_fxt},
    {"trace of StarPU's tools", NULL, timeline_begins_trace_rec, import_fxt},
    {"DAX", NULL, begins_dax, import_dax},
    {"trace events", NULL, begins_events, import_timeline},
    {"trace events", NULL, begins_gzip, import_timeline},
    {"Nsight Systems", NULL, begins_sqlite, import_timeline},
    {"WfCommons", ".json", begins_json, import_wfcommons},
    {"DOT", NULL, begins_dot, import_dot},
    {"StarVZ", ".csv", begins_starvz, import_starvz},
    {"CSV", ".csv", begins_table, import_csv},
};

static bool has_extension(const char *path, const char *extension)
{
    size_t n = strlen(path), m = extension ? strlen(extension) : 0;

    return !extension || (n > m && !strcmp(path + n - m, extension));
}

static const struct format *detect_format(const char *path)
{
    char begin[4096] = "";
    struct stat st;
    FILE *file =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    size_t n;

    if (!file)
        return NULL;
    n = fread(begin, 1, sizeof(begin) - 1, file);
    fclose(file);
    begin[n] = '\0';
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (has_extension(path, formats[i].extension) &&
            formats[i].begins(begin))
            return &formats[i];
    return NULL;
}

const char *orr_import_format(const char *path)
{
    const struct format *format = detect_format(path);

    return format ? format->name : NULL;
}

bool orr_import_is_timeline(const char *path)
{
    const struct format *format = detect_format(path);

    return format &&
           (format->read == import_timeline || format->read == import_fxt ||
            format->read == import_tasks_rec);
}

int orr_import_timeline(const char *path, FILE *out, struct orr_error *err)
{
    struct timeline timeline;
    struct flow flow;
    int rc;

    if (!orr_import_is_timeline(path))
        return orr_fail(
            err, -EINVAL,
            "%s is no timeline: trace events in JSON, an SQLite export of "
            "Nsight Systems, or paje.trace, trace.rec or tasks.rec of StarPU's "
            "trace tools",
            path);
    flow_init(&flow, path, err);
    timeline_init(&timeline, &flow);
    rc = timeline_read(&timeline, path);
    if (!rc)
        rc = timeline_write_csv(&timeline, out);
    timeline_done(&timeline);
    flow_done(&flow);
    return rc;
}

/* The flow that the file makes; the caller ends it in any case, by end_flow. */
static int read_flow(const char *path, const struct orr_import_options *options,
                     struct flow *flow, struct orr_error *err)
{
    const struct format *format = detect_format(path);
    int rc;

    flow_init(flow, path, err);
    if (!format)
        return orr_fail(err, -EINVAL,
                        "%s has no format that can be imported: docs/IMPORT.md "
                        "lists them",
                        path);
    flow->binary = options->binary;
    rc = flow_kinds_read(flow, options->kinds);
    if (!rc)
        rc = format->read(flow, path, options);
    if (rc == -ENOMEM)
        flow_no_memory(flow);
    return rc ? rc : flow_kinds_end(flow);
}

static void end_flow(struct flow *flow)
{
    flow_kinds_done(flow);
    flow_done(flow);
}

int orr_import_models(const char *path, const struct orr_import_options *options, FILE *out,
                      struct orr_error *err)
{
    struct flow flow;
    int rc = read_flow(path, options, &flow, err);
    const struct format *format = detect_format(path);

    if (!rc && format &&
        (format->read == import_tasks_rec || format->read == import_fxt))
        rc = import_fxt_kinds(&flow, path);
    if (!rc)
        rc = flow_write_models(&flow, options->replicas > 1 ? options->replicas : 1, out);
    end_flow(&flow);
    return rc;
}

int orr_import(const char *path, const struct orr_import_options *options,
               FILE *out, struct orr_error *err)
{
    struct flow flow;
    int rc = read_flow(path, options, &flow, err);

    if (!rc && options->scale > 1)
        rc = flow_scale(&flow, options->scale);
    if (!rc && (options->replicas > 1 || options->exchange_bytes > 0))
        rc = flow_replicate(&flow, options->replicas, options->exchange_bytes);
    if (!rc)
        rc = flow_write(&flow, out);
    end_flow(&flow);
    return rc;
}

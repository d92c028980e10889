/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/timelines.c - files with timelines: trace events in JSON, perhaps compressed by gzip,
 * and the SQLite files that Nsight Systems exports, which Python reads (nsys.py) and prints
 * as such events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/number.h"
#include "import/child.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/timeline.h"
#include "import/whole.h"

static const char nsys_program[] = {
#include "import/nsys.h"
    , '\0'};

/* The first line that is no comment; a script is none of these files. */
static const char *first_line(const char *text)
{
    if (!strncmp(text, "#!", 2))
        return "";
    while (*text == '#' || *text == '\n' || *text == '\r') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

bool timeline_begins_paje(const char *text)
{
    const char *line = first_line(text);

    return *line == '%' &&
           !strncmp(line + 1 + strspn(line + 1, " \t"), "EventDef", 8);
}

bool timeline_begins_trace_rec(const char *text)
{
    const char *line = first_line(text);

    return !strncmp(line, "E: ", 3) && strstr(line, "\nW: ") &&
           strstr(line, "\nS: ");
}

/* Prints events of what is not JSON itself. */
static int read_by_python(struct timeline *timeline, const char *path)
{
    char python[] = "python3", option[] = "-c";
    char *words[] = {python, option, (char *)(uintptr_t)nsys_program, (char *)(uintptr_t)path,
                     NULL};
    char *text = NULL;
    size_t size = 0;
    int status = 0;
    int rc = child_text(timeline->flow, words, "install Python 3 (Debian: python3)", &text, &size,
                        &status);

    if (!rc && status != 0)
        rc = flow_wrong(timeline->flow, "%s",
                        size && text[0] != '[' ? text : "Python cannot read it, see above");
    if (!rc)
        rc = timeline_read_events(timeline, text, size, false);
    free(text);
    return rc;
}

static int read_by_gzip(struct timeline *timeline, const char *path)
{
    char gzip[] = "gzip", options[] = "-dc", end_of_options[] = "--";
    char *words[] = {gzip, options, end_of_options, (char *)(uintptr_t)path, NULL};
    char *text = NULL;
    size_t size = 0;
    int status = 0;
    int rc = child_text(timeline->flow, words, "install gzip", &text, &size, &status);

    if (!rc && !size)
        rc = flow_wrong(timeline->flow, "gzip finds nothing in it, see above");
    if (!rc)
        rc = timeline_read_events(timeline, text, size, status != 0);
    free(text);
    return rc;
}

static int read_plain(struct timeline *timeline, int fd)
{
    char *text = NULL;
    size_t size = 0;
    int rc = whole_read(timeline->flow, fd, &text, &size);

    if (!rc)
        rc = timeline_read_events(timeline, text, size, false);
    free(text);
    return rc;
}

static int read_paje(struct timeline *timeline, int fd)
{
    int copy = dup(fd), rc;
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");

    if (!file) {
        if (copy >= 0)
            close(copy);
        return flow_no_memory(timeline->flow);
    }
    rc = timeline_read_paje(timeline, file);
    fclose(file);
    return rc;
}

int timeline_read(struct timeline *timeline, const char *path)
{
    char begin[4096] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0 || pread(fd, begin, sizeof(begin) - 1, 0) < 0) {
        rc = orr_fail(timeline->flow->err, -errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    if (!strncmp(begin, "SQLite format 3", 16))
        rc = read_by_python(timeline, path);
    else if (!memcmp(begin, "\x1f\x8b", 2))
        rc = read_by_gzip(timeline, path);
    else if (timeline_begins_paje(begin))
        rc = read_paje(timeline, fd);
    else if (strchr("[{", begin[strspn(begin, " \t\r\n")]))
        rc = read_plain(timeline, fd);
    else
        rc = timeline_read_rec(timeline, path);
    close(fd);
    return rc ? rc : timeline_end(timeline);
}

/* What StarPU's trace tools write beside tasks.rec has no dependencies: those are there. */
int import_fxt(struct flow *flow, const char *path,
               const struct orr_import_options *options)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0, rc;
    char *tasks = NULL;

    if (orr_asprintf(&tasks, "%.*stasks.rec", folder, path) < 0)
        return flow_no_memory(flow);
    if (access(tasks, R_OK) == 0) {
        rc = import_tasks_rec(flow, tasks, options);
        flow->line = 0;
        flow->path = path; /* the other one is freed */
    } else {
        rc = flow_wrong(
            flow,
            "it does not say what tasks wait for: keep the tasks.rec beside "
            "it that is written with it. As a timeline it can be opened: "
            "orrery report --beside");
    }
    free(tasks);
    return rc;
}

/* The kind of worker, by its name in StarPU's traces, and the number of the device; false:
 * it has none of those. */
static bool worker_kind(const char *name, unsigned *ret_kind,
                        int64_t *ret_device)
{
    static const struct {
        const char *begin;
        int kind;
    } kinds[] = {{"CPU", ORR_KIND_CPU},
                 {"CUDA", ORR_KIND_CUDA},
                 {"OpenCL", ORR_KIND_OPENCL},
                 {"HIP", ORR_KIND_HIP}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const char *number = name + strlen(kinds[i].begin);

        if (strncmp(name, kinds[i].begin, strlen(kinds[i].begin)) != 0)
            continue;
        number += strspn(number, " ");
        *ret_kind = (unsigned)kinds[i].kind + 1;
        *ret_device =
            kinds[i].kind == ORR_KIND_CPU ? 0 : strtol(number, NULL, 10);
        return *ret_device >= 0 && *ret_device < 1024;
    }
    return false;
}

/* The tasks that worker w<k> of the timeline has executed, are of its kind. */
static void set_kinds(struct flow *flow, const struct timeline *timeline)
{
    for (size_t r = 0; r < timeline->nrows; r++) {
        const struct timeline_row *row = &timeline->rows[r];
        int64_t worker = row->thread && row->thread[0] == 'w'
                             ? strtol(row->thread + 1, NULL, 10)
                             : -1;
        unsigned kind;
        int64_t device;

        if (worker < 0 || !row->thread_name ||
            !worker_kind(row->thread_name, &kind, &device))
            continue;
        for (size_t t = 0; t < flow->ntasks; t++)
            if (flow->tasks[t].ran == worker) {
                flow->tasks[t].kind_of_worker = kind;
                flow->tasks[t].device = device;
            }
    }
}

int import_fxt_kinds(struct flow *flow, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0, rc;
    struct timeline timeline;
    char *paje = NULL;

    if (orr_asprintf(&paje, "%.*spaje.trace", folder, path) < 0)
        return flow_no_memory(flow);
    timeline_init(&timeline, flow);
    rc =
        access(paje, R_OK) == 0
            ? timeline_read(&timeline, paje)
            : flow_wrong(
                  flow,
                  "which workers are processors, and which are devices, is not "
                  "in it: keep the paje.trace beside it that is written with it");
    if (!rc)
        set_kinds(flow, &timeline);
    timeline_done(&timeline);
    free(paje);
    return rc;
}

int import_timeline(struct flow *flow, const char *path, const struct orr_import_options *options)
{
    struct timeline timeline;
    int rc;

    timeline_init(&timeline, flow);
    timeline.field = flow_kinds_field(flow);
    rc = timeline_read(&timeline, path);
    if (!rc)
        rc = timeline_has_devices(&timeline) ? timeline_device_tasks(&timeline, options->any_device)
                                             : timeline_thread_tasks(&timeline);
    timeline_done(&timeline);
    return rc;
}

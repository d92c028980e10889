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

#include "import/child.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/timeline.h"
#include "import/whole.h"

static const char nsys_program[] = {
#include "import/nsys.h"
    , '\0'};

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

int timeline_read(struct timeline *timeline, const char *path)
{
    char begin[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0 || pread(fd, begin, sizeof(begin), 0) < 0) {
        rc = orr_fail(timeline->flow->err, -errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    if (!memcmp(begin, "SQLite format 3", sizeof(begin)))
        rc = read_by_python(timeline, path);
    else if (!memcmp(begin, "\x1f\x8b", 2))
        rc = read_by_gzip(timeline, path);
    else
        rc = read_plain(timeline, fd);
    close(fd);
    return rc ? rc : timeline_end(timeline);
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

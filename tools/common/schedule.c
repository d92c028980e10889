/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/schedule.c - see schedule.h. */
#include "tools/common/schedule.h"

#include "bound/graph_text.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    double when;
    unsigned task, worker;
};

/* Nodes that only join others have no id of a job but a type of their own. */
unsigned schedule_ntasks(const struct orr_graph *graph)
{
    unsigned n = graph->ntasks;

    while (n > 0 && !orr_graph_is_task(graph, n - 1))
        n--;
    return n;
}

static int by_date(const void *a, const void *b)
{
    const struct line *left = a, *right = b;

    if (left->when != right->when)
        return left->when < right->when ? -1 : 1;
    return left->task < right->task ? -1 : left->task > right->task;
}

static struct line *schedule_sorted_lines(const struct orr_graph *graph,
                                          const unsigned *worker,
                                          const double *when, unsigned *ret_n)
{
    unsigned n = schedule_ntasks(graph), nlines = 0;
    struct line *lines = malloc((n + 1) * sizeof(*lines));

    for (unsigned t = 0; lines && t < n; t++) {
        struct line line = {when ? when[t] : graph->tasks[t].start_ms, t,
                            worker ? worker[t] : graph->tasks[t].worker};

        if (line.worker != ORR_GRAPH_NOT_RUN)
            lines[nlines++] = line;
    }
    if (lines)
        qsort(lines, nlines, sizeof(*lines), by_date);
    *ret_n = nlines;
    return lines;
}

/* Takes the text. */
static int schedule_write_text(const char *path, FILE *f, char **text,
                               size_t *size)
{
    int rc = ferror(f) ? -ENOMEM : 0;

    if (fclose(f) != 0 || rc)
        tool_error("out of memory");
    else
        rc = tool_write_file(path, *text, *size);
    free(*text);
    return rc ? -1 : 0;
}

int schedule_write(const char *path, const struct orr_graph *graph,
                   const unsigned *worker, const double *when, const char *note)
{
    unsigned n;
    struct line *lines = schedule_sorted_lines(graph, worker, when, &n);
    char *text = NULL;
    size_t size = 0;
    FILE *f = lines ? open_memstream(&text, &size) : NULL;

    if (!f) {
        free(lines);
        tool_error("out of memory");
        return -1;
    }
    fprintf(f, "orrery schedule 1\n# %s\n# task worker kernel\n", note);
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "%u %u %s\n", lines[i].task + 1, lines[i].worker,
                graph->types[graph->tasks[lines[i].task].type].symbol);
    free(lines);
    return schedule_write_text(path, f, &text, &size);
}

int schedule_write_policy(const char *path, const char *policy,
                          const char *note)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f) {
        tool_error("out of memory");
        return -1;
    }
    fprintf(f, "orrery schedule 1\n# %s\npolicy %s\n", note, policy);
    return schedule_write_text(path, f, &text, &size);
}

struct orr_graph *schedule_graph(const char *path)
{
    struct orr_error err = {""};
    struct orr_graph *graph = NULL;
    FILE *f = fopen(path, "r");
    int rc;

    if (!f) {
        tool_error("the run has left no graph of its tasks: %s: %s", path,
                   strerror(errno));
        return NULL;
    }
    rc = orr_graph_read(f, path, &graph, &err);
    fclose(f);
    if (rc < 0)
        tool_report(&err, rc);
    return rc < 0 ? NULL : graph;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/other_run.c - another run in the same page, see report.h: one trace of both,
 * in which workers have the run's label before their names.
 */
#include "tools/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tools/common/foreign.h"
#include "tools/common/rank_traces.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"

/* What ran before the simulation: a timeline has been measured. */
static const char *label_of(const char *path, const char *first)
{
    return foreign_is_timeline(path) && strcmp(first, "measured") != 0 ? "measured" : "other";
}

/* Reads a timeline by way of a trace in a temporary folder. */
static int read_timeline(const char *path, struct trace *ret, struct orr_error *err)
{
    char *folder = scratch_make();
    char *trace = folder ? tool_format("%s/timeline.csv", folder) : NULL;
    int rc = trace ? foreign_timeline(path, trace) : -1;

    if (rc == 0)
        rc = trace_csv_read(trace, ret, err);
    free(trace);
    scratch_remove(folder);
    return rc;
}

static double moved(void *arg, double time)
{
    return time + *(const double *)arg;
}

int report_other_run(const char *path, const char *label, struct report_page *page)
{
    struct trace of[2] = {page->trace, {0}}, joined;
    const char *labels[] = {label, label_of(path, label)};
    const struct rank_traces both = {.of = of, .n = 2, .labels = labels};
    struct orr_error err = {""};
    unsigned nnodes = page->trace.nnodes;
    double shift;
    char *title;
    int rc;

    if (foreign_is_timeline(path))
        rc = read_timeline(path, &of[1], &err);
    else
        rc = trace_csv_read(path, &of[1], &err);
    if (rc == 0 && of[1].ntasks == 0)
        rc = orr_fail(&err, -1, "%s: no task ran in it", path);
    if (rc) {
        if (*err.text)
            tool_error("report: --beside: %s", err.text);
        trace_csv_done(&of[1]);
        return -1;
    }
    shift = of[0].begin - of[1].begin;
    trace_csv_map(&of[1], moved, &shift);
    if (rank_traces_join(&both, &joined) < 0) {
        tool_error("out of memory");
        trace_csv_done(&joined);
        trace_csv_done(&of[1]);
        return -1;
    }
    trace_csv_done(&of[0]);
    trace_csv_done(&of[1]);
    page->trace = joined;
    page->other = labels[1];
    page->other_node = nnodes;
    title = tool_format("%s, beside %s", page->title, path);
    free(page->title);
    page->title = title;
    return 0;
}

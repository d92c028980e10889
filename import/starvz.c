/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/starvz.c - the table of tasks that StarVZ makes of a StarPU trace,
 * application.csv, and its dag.csv beside it. A kernel takes on each kind of worker
 * what its tasks of equal footprint took there on average.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/formats.h"
#include "import/kinds.h"
#include "import/means.h"
#include "import/table.h"
#include "import/workflow.h"

struct columns {
    int job, value, duration, start, end, resource, footprint, flops, order,
        priority;
};

static int find_columns(const struct table *table, struct columns *ret)
{
    *ret = (struct columns){
        table_column(table, "JobId", NULL),
        table_column(table, "Value", NULL),
        table_column(table, "Duration", NULL),
        table_column(table, "Start", NULL),
        table_column(table, "End", NULL),
        table_column(table, "ResourceId", "Resource"),
        table_column(table, "Footprint", NULL),
        table_column(table, "GFlop", NULL),
        table_column(table, "SubmitOrder", NULL),
        table_column(table, "Priority", NULL),
    };
    if (ret->duration >= 0 || (ret->start >= 0 && ret->end >= 0))
        return 0;
    return flow_wrong(table->flow,
                      "the table has neither a column Duration nor "
                      "Start and End");
}

static int starvz_fill_task(const struct table *table, const struct columns *c,
                            struct flow_task *task)
{
    double ms = (double)NAN, start = (double)NAN, end = (double)NAN;
    double gflop = 0, order = 0, priority = 0;
    const char *footprint = table_field(table, c->footprint);
    int rc = table_number(table, c->duration, &ms);

    if (!rc)
        rc = table_number(table, c->start, &start);
    if (!rc)
        rc = table_number(table, c->end, &end);
    if (!rc)
        rc = table_number(table, c->flops, &gflop);
    if (!rc)
        rc = table_number(table, c->order, &order);
    if (!rc)
        rc = table_number(table, c->priority, &priority);
    if (rc)
        return rc;
    if (order < 0 || order > 1e15 || !(fabs(priority) < 1e9))
        return flow_wrong(table->flow, "a SubmitOrder or a Priority that there "
                                       "cannot be");
    task->us = (isnan(ms) ? end - start : ms) * 1000;
    task->flops = gflop * 1e9;
    task->order = (uint64_t)order;
    task->priority = (int64_t)priority;
    task->has_footprint = footprint != NULL;
    if (footprint)
        task->footprint = (uint32_t)strtoul(footprint, NULL, 16);
    task->kind_of_worker = means_kind(table_field(table, c->resource));
    return 0;
}

static int starvz_read_tasks(struct flow *flow, const char *path)
{
    struct table table;
    struct columns c = {0};
    const char *field = flow_kinds_field(flow);
    int rc = table_open(flow, path, &table), kind = -1;

    if (!rc)
        rc = find_columns(&table, &c);
    if (!rc && field)
        kind = table_column(&table, field, NULL);
    while (!rc && (rc = table_next(&table)) > 0) {
        const char *job = table_field(&table, c.job);
        const char *kernel = table_field(&table, c.value);
        struct flow_task *task;

        rc = 0;
        if (!job || !kernel)
            continue; /* a state of a worker is no task */
        if (flow_find(&flow->task_names, job) != FLOW_NONE)
            rc = flow_wrong(flow, "a second row of job %.40s", job);
        task = rc ? NULL : workflow_add_job(flow, job, kernel, NULL, kernel);
        if (!rc)
            rc = task ? starvz_fill_task(&table, &c, task) : -EINVAL;
        if (!rc)
            rc = flow_set_kind(flow, task, kernel, table_field(&table, kind));
    }
    table_close(&table);
    return rc;
}

static int read_dag(struct flow *flow, const char *path)
{
    struct table table;
    int job = -1, before = -1, rc = table_open(flow, path, &table);

    if (!rc) {
        job = table_column(&table, "JobId", NULL);
        before = table_column(&table, "Dependent", "DependsOn");
        if (job < 0 || before < 0)
            rc = flow_wrong(flow, "the table has no columns JobId and "
                                  "Dependent");
    }
    while (!rc && (rc = table_next(&table)) > 0) {
        const char *one = table_field(&table, job);
        const char *other = table_field(&table, before);
        size_t t = one ? flow_find(&flow->task_names, one) : FLOW_NONE;
        size_t b = other ? flow_find(&flow->task_names, other) : FLOW_NONE;

        rc = 0;
        if (t != FLOW_NONE && b != FLOW_NONE && t != b &&
            flow_wait(&flow->tasks[t], b))
            rc = flow_no_memory(flow);
    }
    table_close(&table);
    return rc;
}

/* "dir/application.csv" becomes "dir/dag.csv"; owned. */
static char *dag_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *dag = malloc(n + sizeof("dag.csv"));

    if (dag) {
        memcpy(dag, path, n);
        strcpy(dag + n, "dag.csv");
    }
    return dag;
}

int import_starvz(struct flow *flow, const char *path,
                  const struct orr_import_options *options)
{
    char *dag = dag_beside(path);
    int rc = dag ? starvz_read_tasks(flow, path) : flow_no_memory(flow);
    bool ordered = true;

    (void)options;
    if (!rc)
        rc = read_dag(flow, dag);
    free(dag);
    if (!rc && flow_note(flow, "StarVZ's tables do not say which data tasks "
                               "use: nothing is transferred"))
        rc = flow_no_memory(flow);
    for (size_t t = 0; t < flow->ntasks; t++)
        ordered &= flow->tasks[t].order > 0;
    if (!rc && !ordered)
        rc = workflow_end(flow);
    else if (!rc && !flow->ntasks)
        rc = flow_wrong(flow, "there is no task in it");
    return rc ? rc : means_take(flow);
}

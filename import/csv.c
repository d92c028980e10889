/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/csv.c - a list of edges as CSV: columns from, to and, if the one gives the
 * other data, bytes. x.nodes.csv beside x.csv says more of the tasks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

#include "import/edges.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/table.h"
#include "import/workflow.h"

/* "dir/x.csv" becomes "dir/x.nodes.csv"; owned, NULL: there is none, or no memory. */
static char *find_nodes(const char *path)
{
    static const char suffix[] = ".nodes.csv";
    size_t n = strlen(path) - strlen(".csv");
    char *nodes = malloc(n + sizeof(suffix));

    if (!nodes)
        return NULL;
    memcpy(nodes, path, n);
    memcpy(nodes + n, suffix, sizeof(suffix));
    if (access(nodes, R_OK) == 0)
        return nodes;
    free(nodes);
    return NULL;
}

/* --- tasks --- */

struct node_columns {
    int id, kernel, us, flops, priority, kind;
};

static int read_node(struct table *table, const struct node_columns *c)
{
    const char *id = table_field(table, c->id);
    const char *kernel = table_field(table, c->kernel);
    struct flow_task *task;
    double priority = 0;
    int rc;

    if (!id)
        return flow_wrong(table->flow, "a task without id");
    task = edges_task(table->flow, id, kernel ? kernel : "task");
    if (!task)
        return -EINVAL; /* with a message */
    rc = flow_set_kind(table->flow, task, kernel ? kernel : "task",
                       table_field(table, c->kind));
    if (!rc)
        rc = table_number(table, c->us, &task->us);
    if (!rc)
        rc = table_number(table, c->flops, &task->flops);
    if (!rc)
        rc = table_number(table, c->priority, &priority);
    if (!rc && (task->us < 0 || !(fabs(priority) < 1e9)))
        rc = flow_wrong(table->flow, "a negative time, or a priority of more "
                                     "than nine digits");
    task->priority = (int64_t)priority;
    return rc;
}

static int read_nodes(struct flow *flow, const char *path)
{
    struct table table;
    int rc = table_open(flow, path, &table);
    struct node_columns c = {0};

    if (!rc) {
        c = (struct node_columns){table_column(&table, "id", "task"),
                                  table_column(&table, "kernel", "name"),
                                  table_column(&table, "us", NULL),
                                  table_column(&table, "flops", NULL),
                                  table_column(&table, "priority", NULL),
                                  flow_kinds_field(flow)
                                      ? table_column(&table,
                                                     flow_kinds_field(flow), NULL)
                                      : -1};
        if (c.id < 0)
            rc = flow_wrong(flow, "the table has no column id");
    }
    while (!rc && (rc = table_next(&table)) > 0)
        rc = read_node(&table, &c);
    table_close(&table);
    return rc;
}

/* --- edges --- */

static int read_edges(struct flow *flow, const char *path)
{
    struct table table;
    int rc = table_open(flow, path, &table), from = -1, to = -1, bytes = -1;

    if (!rc) {
        from = table_column(&table, "from", "source");
        to = table_column(&table, "to", "target");
        bytes = table_column(&table, "bytes", NULL);
        if (from < 0 || to < 0)
            rc = flow_wrong(flow, "the first line does not name the columns "
                                  "from and to (or source and target)");
    }
    while (!rc && (rc = table_next(&table)) > 0) {
        const char *tail = table_field(&table, from);
        const char *head = table_field(&table, to);
        double size = 0;

        rc = table_number(&table, bytes, &size);
        if (!rc && (!tail || !head))
            rc = flow_wrong(flow, "an edge has two ends");
        if (!rc)
            rc = edges_connect(flow, tail, head, size);
    }
    table_close(&table);
    return rc;
}

int import_csv(struct flow *flow, const char *path,
               const struct orr_import_options *options)
{
    char *nodes = find_nodes(path);
    int rc = nodes ? read_nodes(flow, nodes) : 0;

    (void)options;
    if (!rc)
        rc = read_edges(flow, path);
    free(nodes);
    return rc ? rc : workflow_end(flow);
}

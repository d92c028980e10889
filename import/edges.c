/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/edges.c - see edges.h. Each edge with data is a datum of its own. */
#include "import/edges.h"

#include <errno.h>

#include <starpu.h>

struct flow_task *edges_task(struct flow *flow, const char *name,
                             const char *kernel)
{
    size_t t = flow_find(&flow->task_names, name);
    struct flow_task *task;

    if (t != FLOW_NONE)
        return &flow->tasks[t];
    task = flow_add_task(flow);
    if (task && !flow_text(&task->name, name) &&
        !flow_text(&task->kernel, kernel) &&
        !flow_set(&flow->task_names, name, flow->ntasks - 1))
        return task;
    flow_no_memory(flow);
    return NULL;
}

int edges_connect(struct flow *flow, const char *tail, const char *head,
                  double bytes)
{
    size_t first, second, d;

    if (!edges_task(flow, tail, "task") || !edges_task(flow, head, "task"))
        return -ENOMEM; /* with a message */
    first = flow_find(&flow->task_names, tail);
    second = flow_find(&flow->task_names, head);
    if (!(bytes >= 0) || bytes > 1e18)
        return flow_wrong(flow, "an edge of %g bytes", bytes);
    if (bytes < 1)
        return flow_wait(&flow->tasks[second], first) ? flow_no_memory(flow)
                                                      : 0;
    d = flow_add_datum(flow, NULL, (uint64_t)bytes);
    if (d == FLOW_NONE || flow_use(&flow->tasks[first], d, STARPU_W) ||
        flow_use(&flow->tasks[second], d, STARPU_R))
        return flow_no_memory(flow);
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/flow_order.c - see flow.h: which task waits for which, and the order
 * of submission. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "import/flow.h"

/* Edges from each task to those that wait for it: chains through `next`. */
struct edges {
    size_t *first, *next, *to, *left, *queue;
};

static void edges_done(struct edges *e)
{
    free(e->first);
    free(e->next);
    free(e->to);
    free(e->left);
    free(e->queue);
}

static int edges_new(const struct flow *flow, struct edges *e)
{
    size_t n = flow->ntasks, nedges = 0;

    for (size_t t = 0; t < n; t++)
        nedges += flow->tasks[t].nbefore;
    e->first = calloc(n + 1, sizeof(size_t));
    e->left = calloc(n + 1, sizeof(size_t));
    e->queue = calloc(n + 1, sizeof(size_t));
    e->next = calloc(nedges + 1, sizeof(size_t));
    e->to = calloc(nedges + 1, sizeof(size_t));
    if (!e->first || !e->left || !e->queue || !e->next || !e->to)
        return -ENOMEM;
    nedges = 0;
    for (size_t t = n; t-- > 0;)
        for (size_t b = 0; b < flow->tasks[t].nbefore; b++) {
            size_t *head = &e->first[flow->tasks[t].before[b]];

            e->to[++nedges] = t;
            e->next[nedges] = *head;
            *head = nedges;
        }
    return 0;
}

static int say_circle(struct flow *flow, const struct flow_task *task)
{
    flow->line = 0;
    return flow_wrong(flow,
                      "tasks wait for each other in a circle, of which %s is "
                      "one or waits for it",
                      task->name     ? task->name
                      : task->kernel ? task->kernel
                                     : "one without a name");
}

/* Kahn. */
int flow_sort(struct flow *flow, size_t *ret)
{
    struct edges e = {0};
    size_t n = flow->ntasks, filled = 0;
    int rc = edges_new(flow, &e);

    for (size_t t = 0; !rc && t < n; t++) {
        e.left[t] = flow->tasks[t].nbefore;
        if (!e.left[t])
            e.queue[filled++] = t;
    }
    for (size_t done = 0; !rc && done < filled; done++)
        for (size_t i = e.first[e.queue[done]]; i; i = e.next[i])
            if (--e.left[e.to[i]] == 0)
                e.queue[filled++] = e.to[i];
    for (size_t t = 0; !rc && filled < n && t < n; t++)
        if (e.left[t])
            rc = say_circle(flow, &flow->tasks[t]);
    if (!rc && ret)
        memcpy(ret, e.queue, n * sizeof(*ret));
    edges_done(&e);
    return rc;
}

int flow_give_order(struct flow *flow)
{
    size_t *order = calloc(flow->ntasks + 1, sizeof(*order));
    int rc = order ? flow_sort(flow, order) : -ENOMEM;

    for (size_t i = 0; !rc && i < flow->ntasks; i++)
        flow->tasks[order[i]].order = i + 1;
    free(order);
    return rc;
}

/* --- by data --- */

int flow_wait_for_writers(struct flow *flow)
{
    size_t *writer = malloc((flow->ndata + 1) * sizeof(*writer));
    bool *several = calloc(flow->ndata + 1, sizeof(*several)), any = false;
    int rc = writer && several ? 0 : -ENOMEM;

    for (size_t d = 0; !rc && d < flow->ndata; d++)
        writer[d] = FLOW_NONE;
    for (size_t t = 0; !rc && t < flow->ntasks; t++)
        for (size_t u = 0; u < flow->tasks[t].nuses; u++) {
            const struct flow_use *use = &flow->tasks[t].uses[u];

            if (!(use->mode & STARPU_W))
                continue;
            several[use->datum] |= writer[use->datum] != FLOW_NONE;
            writer[use->datum] = t;
        }
    for (size_t t = 0; !rc && t < flow->ntasks; t++)
        for (size_t u = 0; !rc && u < flow->tasks[t].nuses; u++) {
            const struct flow_use *use = &flow->tasks[t].uses[u];

            any |= several[use->datum];
            if (!several[use->datum] && writer[use->datum] != FLOW_NONE &&
                writer[use->datum] != t)
                rc = flow_wait(&flow->tasks[t], writer[use->datum]);
        }
    if (!rc && any)
        rc = flow_note(flow, "several tasks write the same file: who reads "
                             "which version follows the dependencies that "
                             "the file declares, then its order");
    free(writer);
    free(several);
    return rc;
}

int flow_compare_order(const void *a, const void *b, void *arg)
{
    const struct flow_task *tasks = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    if (tasks[x].order != tasks[y].order)
        return tasks[x].order < tasks[y].order ? -1 : 1;
    return (x > y) - (x < y);
}

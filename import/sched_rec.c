/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/sched_rec.c - see sched_rec.h. Tasks are named by their SubmitOrder. */
#include "import/sched_rec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "import/rec_lines.h"

/* Texts are owned. */
struct entry {
    uint64_t order, buffer, node, worker_order;
    int64_t priority, worker;
    char *workers, *before;
    bool any, prefetch, has_priority;
};

struct reader {
    struct flow *flow;
    size_t *task_of; /* by SubmitOrder; owned */
    size_t most;
    struct entry entry;
};

static void sched_entry_clear(struct entry *e)
{
    free(e->workers);
    free(e->before);
    *e = (struct entry){.worker = -1};
}

static int index_tasks(struct reader *r)
{
    for (size_t t = 0; t < r->flow->ntasks; t++)
        if (r->flow->tasks[t].order > r->most)
            r->most = r->flow->tasks[t].order;
    if (r->most > 64 * r->flow->ntasks + 1000000)
        return flow_wrong(r->flow, "SubmitOrder %zu, of so few tasks", r->most);
    r->task_of = malloc((r->most + 1) * sizeof(*r->task_of));
    if (!r->task_of)
        return -ENOMEM;
    for (size_t o = 0; o <= r->most; o++)
        r->task_of[o] = FLOW_NONE;
    for (size_t t = 0; t < r->flow->ntasks; t++)
        if (r->flow->tasks[t].order)
            r->task_of[r->flow->tasks[t].order] = t;
    return 0;
}

static int find_task(struct reader *r, uint64_t order, size_t *ret)
{
    *ret = order <= r->most ? r->task_of[order] : FLOW_NONE;
    if (*ret != FLOW_NONE)
        return 0;
    return flow_wrong(r->flow, "there is no task with SubmitOrder %llu",
                      (unsigned long long)order);
}

/* --- the fields of a task --- */

static int task_set_workers(struct flow *flow, struct flow_task *task,
                            char *text)
{
    struct rec_field field = {"Workers", NULL};
    uint64_t worker, *moved;
    int rc;

    while (text && (field.value = rec_word(&text))) {
        rc = rec_number(flow, &field, 10, &worker);
        if (rc)
            return rc;
        if (worker > 1 << 16)
            return flow_wrong(flow, "there is no worker %llu",
                              (unsigned long long)worker);
        if (worker / 32 >= task->nworkers) {
            size_t n = worker / 32 + 1;

            moved = reallocarray(task->workers, n, sizeof(*moved));
            if (!moved)
                return -ENOMEM;
            memset(moved + task->nworkers, 0,
                   (n - task->nworkers) * sizeof(*moved));
            task->workers = moved;
            task->nworkers = n;
        }
        task->workers[worker / 32] |= UINT64_C(1) << worker % 32;
    }
    return 0;
}

/* The greatest SubmitOrder of those that it waits for is in *ret_last. */
static int set_waits(struct reader *r, size_t t, char *text, uint64_t *ret_last)
{
    struct rec_field field = {"DependsOn", NULL};
    uint64_t order;
    size_t before;
    int rc = 0;

    *ret_last = 0;
    while (!rc && text && (field.value = rec_word(&text))) {
        rc = rec_number(r->flow, &field, 10, &order);
        if (!rc)
            rc = find_task(r, order, &before);
        if (!rc && before != t)
            rc = flow_wait(&r->flow->tasks[t], before);
        if (!rc && order > *ret_last)
            *ret_last = order;
    }
    return rc;
}

static int direct_task(struct reader *r)
{
    struct entry *e = &r->entry;
    struct flow_task *task;
    uint64_t last;
    size_t t;
    int rc = find_task(r, e->order, &t);

    if (rc)
        return rc;
    task = &r->flow->tasks[t];
    if (e->has_priority)
        task->priority = e->priority;
    if (e->worker >= 0)
        task->worker = e->worker;
    if (e->worker_order)
        task->worker_order = e->worker_order;
    rc = task_set_workers(r->flow, task, e->workers);
    return rc ? rc : set_waits(r, t, e->before, &last);
}

/* Behind those that it waits for: the datum has a value then. */
static int add_prefetch(struct reader *r)
{
    struct entry *e = &r->entry;
    struct flow_task *task;
    size_t of, datum;
    int rc = find_task(r, e->order, &of);

    if (rc)
        return rc;
    if (e->buffer >= r->flow->tasks[of].nuses)
        return flow_wrong(r->flow, "the task has %zu data, none is number %llu",
                          r->flow->tasks[of].nuses,
                          (unsigned long long)e->buffer);
    datum = r->flow->tasks[of].uses[e->buffer].datum;
    task = flow_add_task(r->flow);
    if (!task || flow_use(task, datum, STARPU_R))
        return -ENOMEM;
    task->kind = FLOW_PREFETCH;
    task->node = e->node;
    task->priority = e->priority;
    return set_waits(r, r->flow->ntasks - 1, e->before, &task->order);
}

/* --- the file --- */

static int sched_entry_set_field(struct flow *flow, struct entry *e,
                                 struct rec_field *field)
{
    e->any = true;
    if (!strcmp(field->name, "SubmitOrder"))
        return rec_number(flow, field, 10, &e->order);
    if (!strcmp(field->name, "Prefetch")) {
        e->prefetch = true;
        return rec_number(flow, field, 10, &e->order);
    }
    if (!strcmp(field->name, "Priority")) {
        e->has_priority = true;
        return rec_integer(flow, field, &e->priority);
    }
    if (!strcmp(field->name, "SpecificWorker"))
        return rec_integer(flow, field, &e->worker);
    if (!strcmp(field->name, "Workerorder"))
        return rec_number(flow, field, 10, &e->worker_order);
    if (!strcmp(field->name, "Workers"))
        return flow_text(&e->workers, field->value);
    if (!strcmp(field->name, "DependsOn"))
        return flow_text(&e->before, field->value);
    if (!strcmp(field->name, "MemoryNode"))
        return rec_number(flow, field, 10, &e->node);
    if (!strcmp(field->name, "Parameters"))
        return rec_number(flow, field, 10, &e->buffer);
    return flow_wrong(flow, "%.40s is no field of a schedule", field->name);
}

static int sched_entry_end(struct reader *r)
{
    int rc = 0;

    if (r->entry.any && !r->entry.order)
        return flow_wrong(r->flow, "the record that ends here has neither "
                                   "SubmitOrder nor Prefetch");
    if (r->entry.any)
        rc = r->entry.prefetch ? add_prefetch(r) : direct_task(r);
    sched_entry_clear(&r->entry);
    return rc;
}

int import_sched_rec(struct flow *flow, const char *path)
{
    const char *before = flow->path;
    struct reader r = {.flow = flow};
    struct rec_file file = {0};
    struct rec_field field;
    int rc;

    sched_entry_clear(&r.entry);
    rc = index_tasks(&r);
    if (!rc)
        rc = rec_open(flow, path, &file);
    while (!rc && (rc = rec_next(&file, &field)) > 0)
        rc = field.name ? sched_entry_set_field(flow, &r.entry, &field)
                        : sched_entry_end(&r);
    if (!rc)
        rc = sched_entry_end(&r);
    if (rc == -ENOMEM)
        flow_no_memory(flow);
    sched_entry_clear(&r.entry);
    rec_close(&file);
    free(r.task_of);
    flow->path = before;
    flow->line = 0;
    return rc;
}

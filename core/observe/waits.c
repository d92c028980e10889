/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/waits.c - see waits.h. Jobs that are not tasks only pass on what they
 * wait for: a task that waits for one waits for all in its list, which may not grow any
 * more from then on.
 */
#include "core/observe/waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/observe/graph_record_private.h"
#include "core/observe/graph_turns.h"

struct orr_waits_node {
    uint32_t first, n, room; /* its list */
    uint32_t task;           /* its place + 1, 0: it is none */
    uint32_t declared; /* the latest of what it was declared to wait for + 1,
                        * 0: none */
    bool closed;       /* others have seen its list */
};

/* Counts when the task is submitted: by then what it waits for may be as well. */
struct orr_waits_declared {
    uint32_t before; /* a job */
    uint32_t next;   /* of the same task + 1, 0: none */
};

int orr_waits_new(const struct orr_waits_log *log, struct orr_waits **ret)
{
    struct orr_waits *waits = calloc(1, sizeof(*waits));

    if (!waits)
        return -ENOMEM;
    waits->log = log;
    waits->place = orr_waits_first(log);
    waits->plain = true;
    *ret = waits;
    return 0;
}

void orr_waits_free(struct orr_waits *waits)
{
    if (!waits)
        return;
    for (size_t d = 0; d < waits->nturns; d++)
        orr_graph_turns_done(&waits->turns[d]);
    free(waits->turns);
    free(waits->tasks);
    free(waits->lists);
    free(waits->marks);
    free(waits->nodes);
    free(waits->declared);
    free(waits);
}

/* Places have 32 bits. Errors: -ENOMEM. */
static int waits_make_room(void *items, size_t *room, uint64_t n, size_t size)
{
    return n >= ORR_NONE ? -ENOMEM : orr_grow(items, room, n, size);
}

/* --- lists --- */

/* The list is to have one more; others may have been added behind it. */
static int extend(struct orr_waits *waits, struct orr_waits_node *node)
{
    uint32_t room = node->n ? 2 * node->n : 4;

    if (node->n < node->room)
        return 0;
    if (waits_make_room(&waits->lists, &waits->room_lists,
                        (uint64_t)waits->nlists + room,
                        sizeof(*waits->lists)) < 0)
        return -ENOMEM;
    if (node->first + node->room == waits->nlists && node->room) {
        node->room += room;
        waits->nlists += room;
        return 0;
    }
    memcpy(waits->lists + waits->nlists, waits->lists + node->first,
           node->n * sizeof(*waits->lists));
    for (uint32_t i = 0; i < node->n; i++)
        waits->marks[waits->lists[node->first + i]] = waits->nlists + i;
    node->first = waits->nlists;
    node->room = room;
    waits->nlists += room;
    return 0;
}

/* Notes that the node waits for that task, too. */
static int waits_node_add_task(struct orr_waits *waits,
                               struct orr_waits_node *node, uint32_t task)
{
    uint32_t mark = waits->marks[task];

    if (mark >= node->first && mark < node->first + node->n &&
        waits->lists[mark] == task)
        return 0;
    if (extend(waits, node) < 0)
        return -ENOMEM;
    waits->marks[task] = node->first + node->n;
    waits->lists[node->first + node->n++] = task;
    return 0;
}

/* Room for the job. */
static int waits_know_job(struct orr_waits *waits, uint32_t job)
{
    if (waits_make_room(&waits->nodes, &waits->room_nodes, (uint64_t)job + 1,
                        sizeof(*waits->nodes)) < 0)
        return -ENOMEM;
    if (job >= waits->nnodes)
        waits->nnodes = job + 1;
    return 0;
}

static int waits_add_edge(struct orr_waits *waits, uint32_t job,
                          uint32_t before)
{
    struct orr_waits_node *node, *other;
    int rc = waits_know_job(waits, job > before ? job : before);

    if (rc || job == before)
        return rc;
    node = &waits->nodes[job];
    other = &waits->nodes[before];
    if (other->task && !node->closed)
        return waits_node_add_task(waits, node, other->task - 1);
    other->closed = true;
    if (node->closed || other->n > ORR_GRAPH_JOIN_RATIO)
        return -ESTALE;
    for (uint32_t i = 0; rc == 0 && i < other->n; i++)
        rc = waits_node_add_task(waits, node, waits->lists[other->first + i]);
    return rc;
}

/* --- entries --- */

static int waits_enter(struct orr_waits *waits,
                       const struct orr_waits_entry *entry)
{
    struct orr_graph_turns *turns;
    int rc = 0;

    if (waits_make_room(&waits->turns, &waits->nturns,
                        entry->u.access.datum + 1, sizeof(*waits->turns)) < 0)
        return -ENOMEM;
    turns = &waits->turns[entry->u.access.datum];
    if (!orr_graph_turns_enter(turns, entry->u.access.turn, entry->job))
        return -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < turns->before.n; i++)
        rc = waits_add_edge(waits, entry->job, turns->before.jobs[i]);
    return rc;
}

static int task_number_compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Most lists are short. */
static void task_numbers_sort(uint32_t *list, uint32_t n)
{
    enum { SHORT = 16 };

    if (n > SHORT) {
        qsort(list, n, sizeof(*list), task_number_compare);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t item = list[i], at = i;

        for (; at > 0 && list[at - 1] > item; at--)
            list[at] = list[at - 1];
        list[at] = item;
    }
}

static int declare(struct orr_waits *waits, const struct orr_waits_entry *entry)
{
    struct orr_waits_node *node;

    if (waits_know_job(waits, entry->job) < 0 ||
        waits_make_room(&waits->declared, &waits->room_declared,
                        (uint64_t)waits->ndeclared + 1,
                        sizeof(*waits->declared)) < 0)
        return -ENOMEM;
    node = &waits->nodes[entry->job];
    waits->declared[waits->ndeclared++] =
        (struct orr_waits_declared){entry->u.before, node->declared};
    node->declared = waits->ndeclared;
    return node->closed ? -ESTALE : 0;
}

/* What the job was declared to wait for. */
static int take_declared(struct orr_waits *waits, uint32_t job)
{
    uint32_t place = waits->nodes[job].declared;
    int rc = 0;

    for (; rc == 0 && place; place = waits->declared[place - 1].next)
        rc = waits_add_edge(waits, job, waits->declared[place - 1].before);
    return rc;
}

static int add_to_tasks(struct orr_waits *waits,
                        const struct orr_waits_entry *entry)
{
    uint32_t n = waits->ntasks;
    size_t room = waits->room_tasks;
    struct orr_waits_node *node = &waits->nodes[entry->job];

    if (node->closed || node->task ||
        (n > 0 && waits->tasks[n - 1].id >= entry->u.submit.id))
        return -ESTALE;
    if (waits_make_room(&waits->marks, &room, (uint64_t)n + 1,
                        sizeof(*waits->marks)) < 0 ||
        waits_make_room(&waits->tasks, &waits->room_tasks, (uint64_t)n + 1,
                        sizeof(*waits->tasks)) < 0)
        return -ENOMEM;
    if (node->n > 1)
        task_numbers_sort(waits->lists + node->first, node->n);
    node->closed = true;
    waits->tasks[n] =
        (struct orr_waits_task){entry->u.submit.id, entry->u.submit.symbol,
                                node->first,        node->n,
                                UINT32_MAX,         (double)NAN,
                                (double)NAN,        entry->u.submit.colour};
    node->task = ++waits->ntasks;
    return 0;
}

static int waits_submit(struct orr_waits *waits,
                        const struct orr_waits_entry *entry)
{
    int rc = waits_know_job(waits, entry->job);

    if (rc)
        return rc;
    rc = take_declared(waits, entry->job);
    if (rc == 0 && entry->is_set)
        rc = -ESTALE;
    if (rc == 0 && entry->is_task)
        rc = add_to_tasks(waits, entry);
    waits->nodes[entry->job].closed = true;
    return rc;
}

static int waits_note_run(struct orr_waits *waits,
                          const struct orr_waits_entry *entry)
{
    uint32_t place =
        entry->job < waits->nnodes ? waits->nodes[entry->job].task : 0;
    struct orr_waits_task *task;

    if (!place)
        return 0;
    task = &waits->tasks[place - 1];
    if (task->worker != UINT32_MAX) /* what was written of it is not true */
        return -ESTALE;
    task->worker = entry->u.ran.worker;
    task->start = entry->u.ran.start;
    task->end = entry->u.ran.end;
    return 0;
}

static int read_entry(struct orr_waits *waits,
                      const struct orr_waits_entry *entry)
{
    switch ((enum orr_waits_kind)entry->kind) {
    case ORR_WAITS_ACCESS:
        return waits_enter(waits, entry);
    case ORR_WAITS_DEP:
        return declare(waits, entry);
    case ORR_WAITS_SUBMIT:
        return waits_submit(waits, entry);
    case ORR_WAITS_RAN:
        return waits_note_run(waits, entry);
    case ORR_WAITS_TAGS:
    case ORR_WAITS_VAGUE: /* count where tasks have tags */
        return 0;
    }
    return 0;
}

int orr_waits_read(struct orr_waits *waits)
{
    const struct orr_waits_entry *entry;
    int rc = 0;

    if (!waits->plain)
        return -ESTALE;
    while (rc == 0 && (entry = orr_waits_next(&waits->place)))
        rc = read_entry(waits, entry);
    if (atomic_load_explicit(&waits->log->lost, memory_order_relaxed))
        rc = -ESTALE;
    if (rc)
        waits->plain = false;
    return rc;
}

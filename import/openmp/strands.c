/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/strands.c - see tree.h: where strands begin and end, and for what each
 * waits. */
#include "import/openmp/tree.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/grow.h"

/* --- work --- */

void omp_work(struct omp_tree *tree, struct omp_task *task, double us)
{
    struct omp_task *host = task->host;
    struct omp_strand *strand = host->open;

    if (us <= 0 || tree->failed)
        return;
    if (!strand) /* an implicit task that has come to a barrier */
        return;
    strand->us += us;
    strand->span += us;
    strand->tail += us;
    host->total += us;
    if (host->loop.on && host->loop.nchunks)
        host->loop.chunks[host->loop.nchunks - 1].us += us;
}

/* The strand in which the task goes on behind that of its host. */
static struct omp_strand *go_on(struct omp_tree *tree, struct omp_task *task, enum omp_part part)
{
    struct omp_strand *before = task->host->open, *strand = omp_open(tree, task, part);

    if (strand && before)
        omp_wait(tree, strand, (struct omp_ref){.strand = before});
    return strand;
}

/* The one behind a wait, in which the thread might execute that. */
static struct omp_strand *wait_on(struct omp_tree *tree, struct omp_task *task,
                                  enum orr_how how)
{
    struct omp_strand *strand = go_on(tree, task, OMP_AFTER_WAIT);

    if (strand)
        strand->how = how;
    return strand;
}

void omp_cut(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_strand *before = task->host->open, *strand;

    if (!before || !before->created || before->span < tree->grain)
        return;
    before->us -= before->tail;
    strand = go_on(tree, task, before->part);
    if (strand)
        strand->us = before->tail;
}

/* --- creation and ends --- */

void omp_create(struct omp_tree *tree, struct omp_task *parent, struct omp_task *task)
{
    struct omp_task *host = parent->host;
    struct omp_strand *before;

    task->parent = parent;
    task->region = parent->region;
    parent->live++;
    host->loop.cut = true;
    if (task->undeferred) {
        task->host = host;
        omp_append(parent, &task->item);
        return;
    }
    omp_cut(tree, parent);
    before = host->open;
    omp_append(parent, &task->item);
    task->user = task;
    if (!omp_open(tree, task, OMP_WHOLE) || !before)
        return;
    if (!before->created)
        before->span = 0;
    before->created = before->needed = true;
    before->tail = 0;
    omp_wait(tree, task->open, (struct omp_ref){.strand = before});
}

/* One with dependences is a strand of its own, as its creator has waited for these. */
void omp_begin_undeferred(struct omp_tree *tree, struct omp_task *task)
{
    if (!task->nuses || tree->failed)
        return;
    omp_cut(tree, task->parent);
    task->user_before = task->host->user;
    task->host->user = task;
    go_on(tree, task, OMP_WHOLE);
}

void omp_end_undeferred(struct omp_tree *tree, struct omp_task *task)
{
    if (!task->nuses || tree->failed)
        return;
    task->host->user = task->user_before;
    go_on(tree, task->parent, OMP_AFTER_WAIT);
}

/* The first strand takes the place of all. */
static void collapse(struct omp_task *task, void (*forget)(void *arg, uint64_t id), void *arg)
{
    struct omp_strand *strand = (struct omp_strand *)task->first;

    if (!strand->item.next)
        return;
    task->first = strand->item.next;
    omp_free_items(task, forget, arg);
    strand->item.next = NULL;
    strand->us = task->total;
    strand->created = strand->dropped = false;
    task->first = task->last = &strand->item;
    task->end = strand;
}

/* Whether one strand can stand for both children of a task: what each waits for, who waits for
 * it, and what it is are the same. */
static bool are_alike(const struct omp_task *a, const struct omp_task *b)
{
    const struct omp_strand *x = a->end, *y = b->end;

    return a->code == b->code && a->priority == b->priority && !a->nuses && !b->nuses &&
           !a->waited && !b->waited && x->nbefore == 1 && y->nbefore == 1 &&
           x->before[0].strand == y->before[0].strand;
}

/* A child that is one strand: joined to the one before, or kept for the next ones. */
static void join_short(const struct omp_tree *tree, struct omp_task *task,
                       void (*forget)(void *arg, uint64_t id), void *arg)
{
    struct omp_task *parent = task->parent, *batch = parent->batch;

    if (!batch || !are_alike(batch, task) || batch->end->us + task->total > tree->grain) {
        parent->batch = task;
        return;
    }
    batch->end->us += task->total;
    omp_free_items(task, forget, arg);
    task->end = batch->end;
}

/* The task and all its descendants have ended; so may those that it was the last of. */
static void finish(struct omp_tree *tree, struct omp_task *task,
                   void (*forget)(void *arg, uint64_t id), void *arg)
{
    while (task && task->ended && !task->live && !task->finished) {
        struct omp_task *parent = task->parent;

        task->finished = true;
        if (task->host == task && !task->implicit && task->total <= tree->grain) {
            collapse(task, forget, arg);
            join_short(tree, task, forget, arg);
        }
        if (parent) {
            parent->live--;
            parent->total += task->total;
        }
        task = parent;
    }
}

void omp_end(struct omp_tree *tree, struct omp_task *task,
             void (*forget)(void *arg, uint64_t id), void *arg)
{
    if (task->ended || tree->failed)
        return;
    task->ended = true;
    if (task->host == task) {
        omp_cut(tree, task);
        task->end = task->open;
        task->open = NULL;
        if (task->end)
            task->end->needed = true;
    }
    finish(tree, task, forget, arg);
}

/* --- waits --- */

/* The item behind it in the order of a walk through all descendants of `top`, NULL behind the
 * last one. The lists of tasks are entered. */
static struct omp_item *walk_next(const struct omp_task *top, struct omp_task **in,
                                  struct omp_item *item)
{
    if (item->kind == OMP_TASK && ((struct omp_task *)item)->first) {
        *in = (struct omp_task *)item;
        return (*in)->first;
    }
    while (!item->next) {
        if (*in == top)
            return NULL;
        item = &(*in)->item;
        *in = (*in)->parent;
    }
    return item->next;
}

/* Lets `strand` wait for all descendants behind `since` for which nothing waits yet. */
static void wait_for_descendants(struct omp_tree *tree, struct omp_strand *strand,
                                 struct omp_task *top, struct omp_item *since,
                                 const struct omp_item *end)
{
    struct omp_task *in = top;
    struct omp_item *item = since ? since->next : top->first;

    for (; item && item != end; item = walk_next(top, &in, item)) {
        struct omp_task *task = (struct omp_task *)item;

        if (item->kind != OMP_TASK || task->waited || task->host != task)
            continue;
        task->waited = true;
        omp_wait(tree, strand, (struct omp_ref){.task = task});
    }
}

static bool has_unwaited(const struct omp_task *task)
{
    const struct omp_item *item = task->since ? task->since->next : task->first;

    for (; item; item = item->next) {
        const struct omp_task *child = (const struct omp_task *)item;

        if (item->kind == OMP_TASK && !child->waited && child->host == child)
            return true;
    }
    return false;
}

void omp_taskwait(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_item *item = task->since ? task->since->next : task->first, *last = task->last;
    struct omp_strand *strand;

    if (tree->failed)
        return;
    if (has_unwaited(task)) {
        task->host->loop.cut = true;
        omp_cut(tree, task);
        last = task->last;
        strand = wait_on(tree, task, ORR_HOW_CHILDREN);
        for (; item; item = item == last ? NULL : item->next) {
            struct omp_task *child = (struct omp_task *)item;

            if (item->kind != OMP_TASK || child->waited || child->host != child)
                continue;
            child->waited = true;
            omp_wait(tree, strand, (struct omp_ref){.task = child});
        }
    }
    task->since = last;
}

void omp_join(struct omp_tree *tree, struct omp_task *child)
{
    struct omp_task *parent = child->parent;

    if (tree->failed)
        return;
    parent->host->loop.cut = true;
    omp_cut(tree, parent);
    child->waited = true;
    omp_wait(tree, wait_on(tree, parent, ORR_HOW_CHILDREN),
             (struct omp_ref){.task = child});
}

void omp_group_begin(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_group *group = calloc(1, sizeof(*group));

    if (!group) {
        tree->failed = true;
        return;
    }
    group->outer = task->groups;
    group->since = task->last;
    task->groups = group;
}

static void wait_since(struct omp_tree *tree, struct omp_task *task, struct omp_item *since)
{
    struct omp_strand *strand;

    if (tree->failed || !(since ? since->next : task->first))
        return;
    task->host->loop.cut = true;
    omp_cut(tree, task);
    strand = wait_on(tree, task, ORR_HOW_BELOW);
    wait_for_descendants(tree, strand, task, since, strand ? &strand->item : NULL);
}

void omp_group_end(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_group *group = task->groups;

    if (!group)
        return;
    wait_since(tree, task, group->since);
    task->groups = group->outer;
    free(group);
}

/* --- barriers --- */

/* The join of the barrier to which the task comes as its `nth`. */
static struct omp_strand *region_join(struct omp_tree *tree, struct omp_region *region, size_t nth)
{
    while (region->njoins <= nth) {
        struct omp_strand **place = orr_array_add(region->joins, region->njoins);
        struct omp_strand *join = place ? calloc(1, sizeof(*join)) : NULL;

        if (!join) {
            if (place)
                region->njoins--;
            tree->failed = true;
            return NULL;
        }
        join->part = OMP_CONTROL;
        *place = join;
    }
    return region->joins[nth];
}

static size_t barriers_of(const struct omp_task *task)
{
    size_t n = 0;

    for (const struct omp_item *item = task->first; item; item = item->next)
        n += item->kind == OMP_JOIN;
    return n;
}

void omp_barrier_begin(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_strand *join;
    struct omp_item *mark;

    if (!task->implicit || task->host != task || !task->open || tree->failed)
        return;
    join = region_join(tree, task->region, barriers_of(task));
    mark = join ? calloc(1, sizeof(*mark)) : NULL;
    if (!mark) {
        tree->failed = true;
        return;
    }
    omp_cut(tree, task);
    omp_wait(tree, join, (struct omp_ref){.strand = task->open});
    task->open = NULL;
    mark->kind = OMP_JOIN;
    omp_append(task, mark);
    task->since = mark;
}

void omp_barrier_end(struct omp_tree *tree, struct omp_task *task)
{
    size_t n;

    if (tree->failed || !task->implicit)
        return;
    if (task->host != task) { /* a team of one: it waits for what it has created */
        wait_since(tree, task, NULL);
        return;
    }
    n = barriers_of(task);
    if (task->open || !n || !omp_open(tree, task, OMP_WHOLE))
        return;
    omp_wait(tree, task->open, (struct omp_ref){.strand = task->region->joins[n - 1]});
}

/* --- regions --- */

void omp_region_begin(struct omp_tree *tree, struct omp_task *task, struct omp_region *region)
{
    struct omp_task *host = task->host;

    region->parent = task;
    host->loop.cut = true;
    host->total = INFINITY; /* it is never one strand */
    task->total = INFINITY;
    omp_cut(tree, task);
    region->entry = host->open;
    if (region->entry)
        region->entry->needed = region->entry->created = true;
    region->item.kind = OMP_REGION;
    omp_append(task, &region->item);
}

void omp_region_settle(struct omp_tree *tree, struct omp_region *region)
{
    for (size_t t = 0; t < region->ntasks; t++) {
        struct omp_task *task = region->tasks[t];
        struct omp_item *since = NULL;
        size_t phase = 0;

        if (task->host == task)
            omp_cut(tree, task);
        for (struct omp_item *item = task->first; item; item = item->next)
            if (item->kind == OMP_JOIN) {
                wait_for_descendants(tree, region->joins[phase++], task, since, item);
                since = item;
            }
    }
}

void omp_region_end(struct omp_tree *tree, struct omp_region *region)
{
    struct omp_strand *strand;

    omp_region_settle(tree, region);
    if (tree->failed)
        return;
    strand = wait_on(tree, region->parent, ORR_HOW_BELOW);
    for (size_t t = 0; strand && t < region->ntasks; t++) {
        struct omp_task *task = region->tasks[t];

        if (task->host != task)
            continue;
        omp_wait(tree, strand, (struct omp_ref){.strand = task->open});
        wait_for_descendants(tree, strand, task, task->since, NULL);
        task->end = task->open;
        task->open = NULL;
    }
    if (strand && region->njoins)
        omp_wait(tree, strand, (struct omp_ref){.strand = region->joins[region->njoins - 1]});
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/tree.c - see tree.h: making, adding, freeing. */
#include "import/openmp/tree.h"

#include <stdlib.h>

#include "core/base/grow.h"

/* A strand shorter than that is none: what it waits for is waited for in its place. */
static const double negligible_us = 0.05;

void omp_append(struct omp_task *task, struct omp_item *item)
{
    if (task->last)
        task->last->next = item;
    else
        task->first = item;
    task->last = item;
}

struct omp_strand *omp_open(struct omp_tree *tree, struct omp_task *task, enum omp_part part)
{
    struct omp_task *host = task->host;
    struct omp_strand *strand = calloc(1, sizeof(*strand));

    if (!strand) {
        tree->failed = true;
        return NULL;
    }
    strand->item.kind = OMP_STRAND;
    strand->part = part;
    strand->user = host->user;
    strand->begun = ++tree->nbegun;
    omp_append(task, &strand->item);
    host->open = strand;
    return strand;
}

static void add_ref(struct omp_tree *tree, struct omp_strand *strand, struct omp_ref before)
{
    struct omp_ref *added = orr_array_add(strand->before, strand->nbefore);

    if (added)
        *added = before;
    else
        tree->failed = true;
}

bool omp_is_negligible(const struct omp_strand *strand)
{
    return strand->us < negligible_us && strand->part != OMP_CONTROL &&
           !(strand->user && strand->user->nuses);
}

void omp_wait(struct omp_tree *tree, struct omp_strand *strand, struct omp_ref before)
{
    struct omp_strand *other = before.strand;

    if (!strand || (!other && !before.task))
        return;
    if (other && !other->needed && omp_is_negligible(other)) {
        other->dropped = true;
        for (size_t i = 0; i < other->nbefore; i++)
            add_ref(tree, strand, other->before[i]);
        return;
    }
    if (other)
        other->needed = true;
    add_ref(tree, strand, before);
}

struct omp_task *omp_new_task(struct omp_tree *tree, uint64_t id, uint64_t code)
{
    struct omp_task *task = calloc(1, sizeof(*task));

    if (!task) {
        tree->failed = true;
        return NULL;
    }
    task->item.kind = OMP_TASK;
    task->id = id;
    task->code = code;
    task->host = task;
    return task;
}

/* --- freeing --- */

static void free_strand(struct omp_strand *strand)
{
    free(strand->before);
    free(strand);
}

void omp_free_task(struct omp_task *task)
{
    while (task->groups) {
        struct omp_group *outer = task->groups->outer;

        free(task->groups);
        task->groups = outer;
    }
    free(task->loop.chunks);
    free(task->loop.pieces);
    free(task->uses);
    free(task);
}

/* The task's list goes before its parent's, which goes on where it was: no recursion, as tasks
 * may be nested as deep as memory allows. Regions within are few deep. */
void omp_free_items(struct omp_task *top, void (*forget)(void *arg, uint64_t id), void *arg)
{
    struct omp_task *task = top;

    for (;;) {
        struct omp_item *item = task->first;

        if (!item && task == top)
            break;
        if (!item) {
            struct omp_task *parent = task->parent;

            parent->first = task->item.next;
            forget(arg, task->id);
            omp_free_task(task);
            task = parent;
            continue;
        }
        if (item->kind == OMP_TASK) {
            task = (struct omp_task *)item;
            continue;
        }
        task->first = item->next;
        if (item->kind == OMP_STRAND)
            free_strand((struct omp_strand *)item);
        else if (item->kind == OMP_REGION)
            omp_free_region((struct omp_region *)item, forget, arg);
        else
            free(item);
    }
    top->last = NULL;
}

void omp_free_region(struct omp_region *region, void (*forget)(void *arg, uint64_t id), void *arg)
{
    for (size_t i = 0; i < region->ntasks; i++) {
        omp_free_items(region->tasks[i], forget, arg);
        forget(arg, region->tasks[i]->id);
        omp_free_task(region->tasks[i]);
    }
    for (size_t i = 0; i < region->njoins; i++)
        free_strand(region->joins[i]);
    forget(arg, region->id);
    free(region->tasks);
    free(region->joins);
    omp_map_done(&region->sources);
    free(region);
}

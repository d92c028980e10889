/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/emit.c - see reader.h: the tasks of the record. Each strand is one, in the
 * order of the program's text; what it waits for is declared. The data of depend clauses are
 * named by their address: siblings alone share them, as OpenMP has it.
 */
#include "import/openmp/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

#include "core/base/grow.h"
#include "import/kinds.h"

/* What the clock can tell: 0 would be a time that is not known. */
static const double least_us = 0.001;

/* --- walks --- */

struct emission {
    struct omp_reader *reader;
    int (*strand)(struct omp_reader *reader, struct omp_task *task, struct omp_strand *strand);
};

static int walk_region(const struct emission *emission, struct omp_region *region);

/* All strands of the task and its descendants. Depth of tasks needs no stack, see
 * omp_free_items(). */
static int walk_task(const struct emission *emission, struct omp_task *top)
{
    struct omp_task *in = top;
    struct omp_item *item = top->first;
    int rc = 0;

    while (item && !rc) {
        if (item->kind == OMP_STRAND)
            rc = emission->strand(emission->reader, in, (struct omp_strand *)item);
        else if (item->kind == OMP_REGION)
            rc = walk_region(emission, (struct omp_region *)item);
        if (item->kind == OMP_TASK && ((struct omp_task *)item)->first) {
            in = (struct omp_task *)item;
            item = in->first;
            continue;
        }
        while (!item->next && in != top) {
            item = &in->item;
            in = in->parent;
        }
        item = item->next;
    }
    return rc;
}

static int walk_region(const struct emission *emission, struct omp_region *region)
{
    int rc = 0;

    for (size_t t = 0; !rc && t < region->ntasks; t++)
        rc = walk_task(emission, region->tasks[t]);
    for (size_t j = 0; !rc && j < region->njoins; j++)
        rc = emission->strand(emission->reader, NULL, region->joins[j]);
    return rc;
}

/* Who waits for one that is left out waits for the one that it waits for. */
static bool is_left_out(const struct omp_strand *strand)
{
    if (strand->part == OMP_CONTROL)
        return !strand->needed;
    return strand->dropped ||
           (omp_is_negligible(strand) && (!strand->needed || strand->nbefore < 2));
}

/* --- data --- */

/* Those of one address that siblings use. */
static size_t find_datum(struct omp_reader *r, const struct omp_task *user, uint64_t address)
{
    struct omp_task *parent = user->parent;
    struct omp_region *region = parent->region;
    char key[48], name[24];
    uint64_t scope = parent->id;
    size_t datum;

    if (parent->implicit && !region->parent) {
        if (!region->producer)
            region->producer = parent;
        if (region->producer == parent)
            scope = 0; /* the same data in all regions, which come one after the other */
    }
    snprintf(key, sizeof(key), "%llx %llx", (unsigned long long)scope,
             (unsigned long long)address);
    datum = flow_find(&r->flow->datum_names, key);
    if (datum != FLOW_NONE)
        return datum;
    snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
    datum = flow_add_datum(r->flow, name, 0);
    if (datum != FLOW_NONE && flow_set(&r->flow->datum_names, key, datum))
        return FLOW_NONE;
    return datum;
}

/* Those of an inoutset may go together, but not with readers. Data of ours have no such
 * accesses: they are readers, too, and who comes behind others declares that it waits. */
static const uint32_t access_modes[] = {
    [ORR_OMP_IN] = STARPU_R,
    [ORR_OMP_OUT] = STARPU_W,
    [ORR_OMP_INOUT] = STARPU_RW,
    [ORR_OMP_MUTEXINOUTSET] = STARPU_RW | STARPU_COMMUTE,
    [ORR_OMP_INOUTSET] = STARPU_R,
};

/* Enters task `number` among those that read, or have an inoutset of, the datum now, and lets
 * it wait for the group before, of the other sort. */
static int enter_set(struct omp_reader *r, size_t datum, enum orr_omp_mode mode, size_t number)
{
    struct omp_set *set;
    size_t *place;

    if (orr_grow(&r->sets, &r->roomsets, datum + 1, sizeof(*r->sets)))
        return -ENOMEM;
    set = &r->sets[datum];
    if (mode != set->mode) {
        struct omp_numbers before = set->before;

        set->before = set->now;
        set->now = before;
        set->now.n = 0;
        if (!set->mode)
            set->before.n = 0;
        set->mode = mode == ORR_OMP_IN || mode == ORR_OMP_INOUTSET ? mode : 0;
    }
    if (!set->mode)
        return 0;
    if (orr_grow(&set->now.at, &set->now.room, set->now.n + 1, sizeof(*set->now.at)))
        return -ENOMEM;
    place = &set->now.at[set->now.n++];
    *place = number;
    for (size_t i = 0; i < set->before.n; i++)
        if (flow_wait(&r->flow->tasks[number], set->before.at[i]))
            return -ENOMEM;
    return 0;
}

static int add_uses(struct omp_reader *r, const struct omp_task *user, size_t number)
{
    int rc = 0;

    for (size_t u = 0; user && !rc && u < user->nuses; u++) {
        size_t datum = find_datum(r, user, user->uses[u].address);

        rc = datum == FLOW_NONE ? -ENOMEM
                                : flow_use(&r->flow->tasks[number], datum,
                                           access_modes[user->uses[u].mode]);
        if (!rc && omp_log_header(r->log)->sizes)
            rc = omp_note_place(r, datum, &user->uses[u]);
        if (!rc && r->nsets)
            rc = enter_set(r, datum, user->uses[u].mode, number);
    }
    return rc;
}

/* --- tasks --- */

static int name_strand(struct omp_reader *r, const struct omp_task *task,
                       const struct omp_strand *strand, struct flow_task *to)
{
    static const char *const parts[] = {
        [OMP_WHOLE] = "", [OMP_AFTER_WAIT] = " after wait", [OMP_PIECE] = " loop"};
    const struct omp_task *of = strand->user ? strand->user : task;
    const char *name = omp_names_find(r->names, of->code);
    char *text;
    int rc;

    if (asprintf(&text, "%s%s", name ? name : of->code ? "task" : "taskwait",
                 parts[strand->part]) < 0)
        return -ENOMEM;
    rc = flow_set_kind(r->flow, to, text, NULL);
    free(text);
    return rc;
}

static bool is_behind(const struct omp_strand *strand, enum omp_part part)
{
    return strand->nbefore > 0 && strand->before[0].strand &&
           strand->before[0].strand->part == part;
}

/* Where it is executed: its thread goes on with a task that it has begun, but behind a
 * barrier, where others may have it, and with pieces of a loop, of which each may have some. */
static void place_strand(struct omp_task *task, struct omp_strand *strand,
                         struct flow_task *to)
{
    struct omp_task *host = task->host;
    const struct omp_task *creator =
        host->implicit ? host->region->parent : host->parent;
    const struct omp_strand *under = creator ? creator->host->numbered : NULL;

    if (strand->part == OMP_PIECE && host->numbered) {
        under = host->numbered;
    } else if (strand->part != OMP_PIECE && host->numbered &&
               !(strand->nbefore == 1 && is_behind(strand, OMP_CONTROL))) {
        to->resumes = host->numbered->number + 1;
        to->how = is_behind(strand, OMP_PIECE) ? ORR_HOW_BELOW : strand->how;
        under = NULL;
    }
    to->under = under ? under->number + 1 : 0;
    if (strand->part != OMP_PIECE)
        host->numbered = strand;
}

static int number_strand(struct omp_reader *r, struct omp_task *task, struct omp_strand *strand)
{
    struct flow_task *added;

    if (is_left_out(strand))
        return 0;
    strand->number = r->flow->ntasks;
    added = flow_add_task(r->flow);
    if (!added)
        return -ENOMEM;
    added->ran = added->worker = added->iteration = -1;
    added->kind = strand->part == OMP_CONTROL ? FLOW_CONTROL : FLOW_TASK;
    if (!task)
        return 0;
    added->us = strand->us > least_us ? strand->us : least_us;
    added->priority = task->priority;
    if (r->flow->threads)
        place_strand(task, strand, added);
    return name_strand(r, task, strand, added) ? -ENOMEM : add_uses(r, strand->user, strand->number);
}

/* The last strand of a task: of one that has not ended, the last that there is. */
static const struct omp_strand *end_of(const struct omp_task *task)
{
    const struct omp_strand *last = NULL;

    if (task->end || task->open)
        return task->end ? task->end : task->open;
    for (const struct omp_item *item = task->first; item; item = item->next)
        if (item->kind == OMP_STRAND)
            last = (const struct omp_strand *)item;
    return last;
}

static const struct omp_strand *strand_of(const struct omp_ref *ref)
{
    return ref->strand ? ref->strand : end_of(ref->task);
}

static int declare_waits(struct omp_reader *r, struct omp_task *task, struct omp_strand *strand)
{
    int rc = 0;

    (void)task;
    if (is_left_out(strand))
        return 0;
    for (size_t i = 0; !rc && i < strand->nbefore; i++) {
        const struct omp_strand *before = strand_of(&strand->before[i]);

        while (before && is_left_out(before))
            before = before->nbefore ? strand_of(&before->before[0]) : NULL;
        if (before)
            rc = flow_wait(&r->flow->tasks[strand->number], before->number);
    }
    return rc;
}

/* --- an outermost region --- */

static int add_wait(struct omp_reader *r)
{
    struct flow_task *added = flow_add_task(r->flow);

    if (!added)
        return -ENOMEM;
    added->kind = FLOW_WAIT_ALL;
    added->ran = added->worker = added->iteration = -1;
    return 0;
}

/* A run begins with its first task: one that does nothing, so that what the first region takes
 * to begin is part of it. */
static int add_beginning(struct omp_reader *r)
{
    struct flow_task *added = flow_add_task(r->flow);

    if (!added)
        return -ENOMEM;
    added->kind = FLOW_CONTROL;
    added->ran = added->worker = added->iteration = -1;
    return 0;
}

int omp_emit_region(struct omp_reader *r, struct omp_region *region)
{
    const struct emission numbers = {r, number_strand}, waits = {r, declare_waits};
    bool begins = r->flow->ntasks == 0 && region->after_us > 0;
    int rc = begins ? add_beginning(r) : 0;
    size_t first = r->flow->ntasks;

    if (!rc)
        rc = walk_region(&numbers, region);
    if (!rc)
        rc = walk_region(&waits, region);
    if (!rc)
        rc = add_wait(r);
    if (!rc)
        r->flow->tasks[first].after_us = region->after_us;
    return rc;
}

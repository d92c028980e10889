/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/ordered.c - see tree.h: loops whose iterations wait for others, by
 * ordered(n) with depend(sink) and depend(source), or by ordered. What a thread had of one
 * becomes pieces, which end where an iteration may be waited for, and where it has waited:
 *
 *     before -> first half of i -> second half of i, which waits for its sinks -> ...
 *
 * A first half waits for nothing of the loop. What is done between the source of one iteration and
 * the sinks of the next one of the same thread is the latter's first half: the log does not say
 * where one ends and the other begins. (Were it the former's last, a replay would be its mirror
 * image, as long as this one.)
 *
 * No circles: a strand waits for strands alone that were begun before it. So one that has come
 * to a sink is begun anew, by a cut if somebody may wait for it already.
 */
#include "import/openmp/tree.h"

#include <stdlib.h>

#include "core/base/grow.h"

/* A strand that is shorter is not worth a cut, whatever the grain. */
static const double least_us = 0.05;

/* Splitmix's finalizer: iterations of other loops have other keys. */
static uint64_t key_of(const struct omp_loop *loop, uint64_t iteration)
{
    uint64_t x = iteration + loop->nth * 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) | 1; /* maps have no 0 */
}

static bool is_long(const struct omp_tree *tree,
                    const struct omp_strand *strand)
{
    return strand->us >= tree->grain && strand->us >= least_us;
}

/* The open strand is one of the loop's, and the next one is open. */
static void next_piece(struct omp_tree *tree, struct omp_task *host)
{
    struct omp_loop *loop = &host->loop;
    struct omp_strand **place = orr_array_add(loop->pieces, loop->npieces);

    if (!place) {
        tree->failed = true;
        return;
    }
    *place = host->open;
    omp_open(tree, host, OMP_PIECE);
    loop->posted = false;
}

/* Whether the task has a loop whose order is kept; it is, from now on. What was done since the
 * loop's beginning is the beginning of its first piece. */
static bool is_ordered(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_task *host = task->host;
    struct omp_loop *loop = &host->loop;
    double us;

    if (!loop->on || host != task || !task->implicit || !host->open ||
        tree->failed)
        return false;
    if (loop->ordered)
        return true;
    us = loop->cut ? 0 : host->open->us - loop->before_us;
    omp_loop_take(host->open, us);
    loop->ordered = true;
    loop->posted = false;
    loop->npieces = 0;
    loop->before = host->open;
    loop->last = NULL;
    loop->row_us = 0;
    loop->first = omp_open(tree, host, OMP_PIECE);
    if (!loop->first)
        return false;
    loop->first->us = us;
    omp_wait(tree, loop->first, (struct omp_ref){.strand = loop->before});
    return true;
}

void omp_sink(struct omp_tree *tree, struct omp_task *task, uint64_t iteration)
{
    struct omp_loop *loop = &task->host->loop;
    struct omp_strand *open, *source;

    if (!is_ordered(tree, task))
        return;
    open = task->open;
    source = omp_map_find(&task->region->sources, key_of(loop, iteration));
    if (!source || source == open)
        return;
    if (is_long(tree, open) || (loop->posted && source->begun > open->begun)) {
        next_piece(tree, task);
        if (tree->failed)
            return;
        omp_wait(tree, task->open, (struct omp_ref){.strand = open});
    } else if (!loop->posted) {
        open->begun = ++tree->nbegun;
    }
    omp_wait(tree, task->open, (struct omp_ref){.strand = source});
}

/* What was done since the last source, with its waits, becomes a strand of its own, for which
 * nobody waits yet. */
static void split(struct omp_tree *tree, struct omp_task *host)
{
    struct omp_loop *loop = &host->loop;
    struct omp_strand *last = loop->last;

    next_piece(tree, host);
    if (tree->failed)
        return;
    loop->first = host->open;
    loop->first->us = last->us - loop->last_us;
    last->us = loop->last_us;
    omp_wait(tree, loop->first, (struct omp_ref){.strand = loop->before});
    for (size_t i = loop->last_nbefore; i < last->nbefore; i++)
        omp_wait(tree, loop->first, last->before[i]);
    last->nbefore = loop->last_nbefore;
}

/* One thread has all iterations of a row: they come one after the other. Those of two rows are no
 * strand if a row is worth one: each row would wait for the end of the one before. */
static void keep_rows(struct omp_tree *tree, struct omp_task *host,
                      uint64_t row)
{
    struct omp_loop *loop = &host->loop;

    if (!loop->last)
        return;
    if (loop->row != row && loop->last == host->open &&
        loop->row_us >= tree->grain)
        split(tree, host);
    if (loop->row == row && loop->first)
        omp_wait(tree, loop->first, (struct omp_ref){.strand = loop->last});
    if (loop->row != row)
        loop->row_us = 0;
}

void omp_source(struct omp_tree *tree, struct omp_task *task,
                uint64_t iteration, const uint64_t *row)
{
    struct omp_loop *loop = &task->host->loop;
    struct omp_strand *open;

    if (!is_ordered(tree, task))
        return;
    if (row)
        keep_rows(tree, task, *row);
    open = task->open;
    if (tree->failed)
        return;
    open->needed = true; /* it is not dropped while it is short yet */
    if (omp_map_set(&task->region->sources, key_of(loop, iteration), open))
        tree->failed = true;
    tree->nsources++;
    loop->posted = true;
    loop->row = row ? *row : 0;
    loop->row_us += open->us - (loop->last == open ? loop->last_us : 0);
    loop->last = open;
    loop->last_us = open->us;
    loop->last_nbefore = open->nbefore;
    loop->first = NULL;
    if (!is_long(tree, open) || tree->failed)
        return;
    next_piece(tree, task);
    loop->first = task->open;
    omp_wait(tree, loop->first, (struct omp_ref){.strand = loop->before});
}

/* The loop's last iteration that did something in order is its iteration 0. */
void omp_ordered_begin(struct omp_tree *tree, struct omp_task *task)
{
    omp_sink(tree, task, 0);
}

void omp_ordered_end(struct omp_tree *tree, struct omp_task *task)
{
    omp_source(tree, task, 0, NULL);
}

void omp_ordered_loop_end(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_loop *loop = &task->loop;
    struct omp_strand *last = task->open, *after;

    if (!last || tree->failed)
        return;
    after = omp_open(tree, task, OMP_WHOLE);
    for (size_t i = 0; i < loop->npieces; i++)
        omp_wait(tree, after, (struct omp_ref){.strand = loop->pieces[i]});
    omp_wait(tree, after, (struct omp_ref){.strand = last});
}

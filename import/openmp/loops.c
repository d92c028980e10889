/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/loops.c - see tree.h: what a thread had of a worksharing loop becomes pieces
 * side by side, so that more processors than the program had can be asked about. All threads
 * of a team together have up to 64 pieces, none shorter than the grain. Those whose iterations
 * wait for others: ordered.c.
 */
#include "import/openmp/tree.h"

#include <stdlib.h>

#include "core/base/grow.h"

enum { MOST_PIECES = 64 };

static void add_chunk(struct omp_tree *tree, struct omp_loop *loop, uint64_t iterations)
{
    struct omp_chunk *chunk = orr_array_add(loop->chunks, loop->nchunks);

    if (chunk)
        chunk->iterations = iterations ? iterations : 1;
    else
        tree->failed = true;
}

void omp_loop_begin(struct omp_tree *tree, struct omp_task *task, bool is_free,
                    uint64_t iterations)
{
    struct omp_task *host = task->host;
    struct omp_loop *loop = &host->loop;
    unsigned team = host->region->team ? host->region->team : 1;

    if (loop->on)
        return; /* one inside of another: a task's, of which it is part */
    loop->on = true;
    loop->nth++;
    loop->ordered = false;
    loop->before_us = host->open ? host->open->us : 0;
    loop->free = is_free && host == task && task->implicit;
    loop->cut = false;
    loop->nchunks = 0;
    free(loop->chunks);
    loop->chunks = NULL;
    /* Its share, where the threads' chunks are not told. */
    if (iterations)
        add_chunk(tree, loop, (iterations + team - 1) / team);
}

void omp_loop_chunk(struct omp_tree *tree, struct omp_task *task, uint64_t iterations)
{
    if (task->host->loop.on)
        add_chunk(tree, &task->host->loop, iterations);
}

/* --- pieces --- */

struct pieces {
    struct omp_tree *tree;
    struct omp_task *task;
    struct omp_strand *before; /* of the loop */
    struct omp_strand **all;   /* owned */
    size_t n;
};

static void put_piece(struct pieces *pieces, double us)
{
    struct omp_strand **place = orr_array_add(pieces->all, pieces->n);
    struct omp_strand *strand = place ? omp_open(pieces->tree, pieces->task, OMP_PIECE) : NULL;

    if (!strand) {
        pieces->tree->failed = true;
        if (place)
            pieces->n--;
        return;
    }
    strand->us = us;
    *place = strand;
    omp_wait(pieces->tree, strand, (struct omp_ref){.strand = pieces->before});
}

/* Chunks that are shorter than `least` go together, longer ones are cut, equally. */
static void put_pieces(struct pieces *pieces, const struct omp_loop *loop, double least)
{
    double us = 0;

    for (size_t c = 0; c < loop->nchunks && !pieces->tree->failed; c++) {
        const struct omp_chunk *chunk = &loop->chunks[c];
        double parts = chunk->us / least;
        uint64_t n = parts >= (double)chunk->iterations ? chunk->iterations : (uint64_t)parts;

        if (n < 2) {
            us += chunk->us;
            if (us >= least) {
                put_piece(pieces, us);
                us = 0;
            }
            continue;
        }
        for (uint64_t i = 0; i < n; i++)
            put_piece(pieces, chunk->us / (double)n + (i ? 0 : us));
        us = 0;
    }
    if (us > 0)
        put_piece(pieces, us);
}

void omp_loop_take(struct omp_strand *strand, double us)
{
    strand->us -= us;
    if (strand->us < 0)
        strand->us = 0;
    /* What was created before the loop does not wait for it. */
    strand->span -= strand->span < us ? strand->span : us;
    strand->tail -= strand->tail < us ? strand->tail : us;
}

void omp_loop_end(struct omp_tree *tree, struct omp_task *task)
{
    struct omp_task *host = task->host;
    struct omp_loop *loop = &host->loop;
    struct pieces pieces = {.tree = tree, .task = host, .before = host->open};
    double us = 0, least;
    unsigned team = host->region->team ? host->region->team : 1;
    struct omp_strand *after;

    loop->on = false;
    if (loop->ordered) {
        omp_ordered_loop_end(tree, host);
        return;
    }
    if (!loop->free || loop->cut || !host->open || tree->failed)
        return;
    for (size_t c = 0; c < loop->nchunks; c++)
        us += loop->chunks[c].us;
    least = us * (double)team / MOST_PIECES;
    if (least < tree->grain)
        least = tree->grain;
    if (us < 2 * least)
        return;
    omp_loop_take(host->open, us);
    put_pieces(&pieces, loop, least);
    after = omp_open(tree, host, OMP_WHOLE);
    for (size_t i = 0; i < pieces.n; i++)
        omp_wait(tree, after, (struct omp_ref){.strand = pieces.all[i]});
    free(pieces.all);
}

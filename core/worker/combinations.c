/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/combinations.c - which combined workers the shape of a machine
 * suggests. Processors that share a cache, a NUMA node, a package are one, and so
 * is the whole; where such a set has more than
 * STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER parts they are gathered to so many first,
 * as often as it takes. StarPU forgets the last part of each part so gathered; here
 * none is. Without a shape: aligned blocks of the least size, twice that, and so
 * on. Their sizes are within STARPU_MIN_WORKERSIZE and STARPU_MAX_WORKERSIZE.
 *
 * The shape is that of machine->distances: the parts of a set are those who are
 * nearer to each other than to the farthest in it.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

struct finder {
    struct orr_runtime *rt;
    unsigned least, most, arity;
    void (*made)(unsigned id, void *arg);
    void *arg;
};

/* Makes a combined worker of them, if they may be one. */
static void combine(const struct finder *f, const int *ids, unsigned n)
{
    int id;

    if (n < f->least || n > f->most)
        return;
    id = orr_combined_add(f->rt, ids, n);
    if (id >= 0 && f->made)
        f->made((unsigned)id, f->arg);
}

/* --- by the shape of the machine --- */

static unsigned finder_distance(const struct finder *f, int a, int b)
{
    const struct orr_machine *machine = f->rt->machine;

    return machine->distances[(size_t)a * machine->nworkers + (unsigned)b];
}

/* How far the farthest of the set is from one of them. */
static unsigned finder_farthest(const struct finder *f, int from,
                                const int *ids, unsigned n)
{
    unsigned most = 0;

    for (unsigned i = 0; i < n; i++)
        if (ids[i] != from && finder_distance(f, from, ids[i]) > most)
            most = finder_distance(f, from, ids[i]);
    return most;
}

/* Sorts the workers of a set by the parts in which they are, each of which stays
 * ascending, and writes the length of each; returns how many parts there are. */
static unsigned finder_split_set(const struct finder *f, int *ids, unsigned n,
                                 unsigned *lengths)
{
    unsigned nparts = 0, done = 0;

    while (done < n) {
        int first = ids[done];
        unsigned most = finder_farthest(f, first, ids, n), end = done + 1;

        for (unsigned i = end; i < n; i++) {
            int id = ids[i];

            if (finder_distance(f, first, id) >= most)
                continue;
            for (unsigned k = i; k > end; k--)
                ids[k] = ids[k - 1];
            ids[end++] = id;
        }
        lengths[nparts++] = end - done;
        done = end;
    }
    return nparts;
}

static void combine_tree(const struct finder *f, int *ids, unsigned n,
                         unsigned *room);

static unsigned sum_lengths(const unsigned *lengths, unsigned n)
{
    unsigned total = 0;

    while (n > 0)
        total += lengths[--n];
    return total;
}

/* Gathers parts that are too many. */
static void finder_gather_parts(const struct finder *f, const int *ids,
                                const unsigned *lengths, unsigned nparts)
{
    unsigned each = (nparts + f->arity - 1) / f->arity;

    for (unsigned i = 0; nparts > f->arity && i < nparts; i += each) {
        unsigned here = nparts - i < each ? nparts - i : each;
        unsigned n = sum_lengths(&lengths[i], here);

        if (here > 1)
            combine(f, ids, n);
        finder_gather_parts(f, ids, &lengths[i], here);
        ids += n;
    }
}

/* A set, what it is gathered to, and its parts. `room` is for as many lengths. */
static void combine_tree(const struct finder *f, int *ids, unsigned n,
                         unsigned *room)
{
    unsigned nparts;

    combine(f, ids, n);
    if (n < 2)
        return;
    nparts = finder_split_set(f, ids, n, room);
    finder_gather_parts(f, ids, room, nparts);
    for (unsigned i = 0; i < nparts; i++) {
        if (room[i] > 1 && room[i] < n)
            combine_tree(f, ids, room[i], room + nparts);
        ids += room[i];
    }
}

/* --- without a shape --- */

static void combine_blocks(const struct finder *f, const int *ids, unsigned n)
{
    for (unsigned size = f->least; size <= n && size <= f->most; size *= 2)
        for (unsigned i = 0; i + size <= n; i += size)
            combine(f, &ids[i], size);
}

/* --- all --- */

static unsigned list_processors(const struct orr_runtime *rt, int *ids)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (orr_device_kind(rt->workers->at[w].desc->type)->is_processor)
            ids[n++] = (int)w;
    return n;
}

/* One at a time: each has the first processor. */
static void combine_nested(const struct finder *f, const int *ids, unsigned n)
{
    for (unsigned size = f->least; size <= n && size <= f->most; size++)
        combine(f, ids, size);
}

static unsigned setting(const struct orr_runtime *rt, enum orr_config_id id,
                        unsigned least, unsigned otherwise)
{
    int value = orr_config_is_set(&rt->config, id)
                    ? orr_config_int(&rt->config, id)
                    : (int)otherwise;

    return value < (int)least ? least : (unsigned)value;
}

void orr_combinations_find(struct orr_runtime *rt,
                           void (*made)(unsigned id, void *arg), void *arg)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n = list_processors(rt, ids);
    /* No set is in more levels than it has workers. */
    unsigned *room;
    bool single = rt->workers->single_combined;
    struct finder f = {
        .rt = rt,
        .least = setting(rt, ORR_CFG_MIN_WORKERSIZE, single ? 1 : 2,
                         single ? 1 : 2),
        .most = setting(rt, ORR_CFG_MAX_WORKERSIZE, 1, INT_MAX),
        .arity = setting(rt, ORR_CFG_SYNTHESIZE_ARITY_COMBINED_WORKER, 2, 2),
        .made = made,
        .arg = arg,
    };

    if (atomic_exchange(&rt->workers->combinations_found, true) || n == 0)
        return;
    if (single) {
        combine_nested(&f, ids, n);
    } else if (!rt->machine->distances) {
        combine_blocks(&f, ids, n);
    } else if ((room = calloc((size_t)n * n + 1, sizeof(*room)))) {
        combine_tree(&f, ids, n, room);
        free(room);
    }
}

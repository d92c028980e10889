/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/ranks_traffic.c - what has to pass the NICs of nodes, and links between parts of the
 * network, in every run with a program's distribution.
 *
 * Why it holds. Let a value be made on node a (by the task that wrote it, or where the datum
 * had its first value), and let tasks outside of the part A that a belongs to need it. Each of them
 * has it from a copy that came into its part; the first copy that came into a part came over its
 * links, from outside, since the part had none before. So
 *
 * - into a part that needs the value all its bytes come once at least, before all of the part's
 *   tasks that need it: followed by the longest of their tails;
 * - out of A all its bytes leave once at least, before all tasks outside that need it: likewise;
 * - neither before the value was there, which is when the first of its messages could be sent, and
 *   the least delay of the network has passed: bytes are on links after it.
 *
 * Whoever sends them, and how often, does not matter: more bytes are not counted. With a
 * rate of all links together, pieces of work bytes / rate with these heads and tails are a problem
 * of one machine. Several NICs are one of their sum.
 *
 * A value is known by its datum and the task that wrote it. Where the graph does not tell that (data
 * whose writers are not ordered) its bytes are not counted at all; nor are those of a value that
 * may have passed before the program's first submission.
 */
#include "bound/ranks_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/instance.h"
#include "bound/producers.h"

#define NO_VALUE UINT64_MAX

/* A value that one node has and another one needs. */
struct need {
    uint64_t value;
    unsigned origin, node;
    double head, tail, bytes;
};

/* One that passes a part of a cut. */
struct pass {
    unsigned part;
    uint64_t value;
    double head, tail, bytes;
};

/* --- values --- */

static uint64_t value_of(unsigned writer, unsigned datum)
{
    return (uint64_t)writer << 32 | datum;
}

/* The value that a turn for messages has read, of a rank's graph. The first values of ranks are
 * numbered behind all tasks. */
static uint64_t value_read(const struct ranks_work *w, unsigned task, const uint64_t *came)
{
    unsigned rank = w->rank_of[task], n = w->first[w->problem->n];
    const struct orr_graph_task *turn = ranks_task(w, task);
    const struct orr_graph *graph = w->problem->graphs[rank];
    unsigned producer, datum;

    if (turn->naccesses != 1)
        return NO_VALUE;
    datum = graph->accesses[turn->first_access].datum;
    producer = w->producer[rank][turn->first_access];
    if (producer == ORR_BOUND_NOBODY)
        return graph->data[datum].valued ? value_of(n + rank, datum) : NO_VALUE;
    producer += w->first[rank];
    return w->is_task[producer] ? value_of(producer, datum) : came[producer];
}

/* Where it was made. */
static unsigned origin_of(const struct ranks_work *w, uint64_t value)
{
    unsigned writer = (unsigned)(value >> 32), n = w->first[w->problem->n];

    return writer < n ? ranks_node(w, writer) : w->problem->node[writer - n];
}

/* All values that nodes need from others; *ret_n of them, the caller's. NULL without memory. */
static struct need *find_needs(const struct ranks_work *w, unsigned *ret_n)
{
    unsigned n = w->first[w->problem->n];
    struct need *needs = orr_bound_array(w->problem->nmessages, sizeof(*needs));
    uint64_t *came = orr_bound_array(n, sizeof(*came)); /* by receiving task */

    *ret_n = 0;
    for (unsigned t = 0; came && t < n; t++)
        came[t] = NO_VALUE;
    for (unsigned at = 0; needs && came && at < n; at++) {
        unsigned t = w->order[at];

        for (unsigned e = w->first_out[t]; e < w->first_out[t + 1]; e++) {
            const struct ranks_edge *edge = &w->edges[w->out[e]];
            uint64_t value = value_read(w, t, came);

            came[edge->to] = value;
            if (value == NO_VALUE || (edge->counts && !w->needed[edge->to]))
                continue;
            needs[(*ret_n)++] = (struct need){
                value, origin_of(w, value), ranks_node(w, edge->to), w->head[t],
                w->tail[edge->to], edge->counts ? w->problem->messages[w->out[e]].bytes : 0};
        }
    }
    free(came);
    if (!came) {
        free(needs);
        needs = NULL;
    }
    return needs;
}

/* --- parts --- */

static int compare_passes(const void *a, const void *b)
{
    const struct pass *x = a, *y = b;

    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Each value once, in its part: from its first message on, before all that need it. */
static unsigned merge_passes(struct pass *passes, unsigned n)
{
    unsigned kept = 0;

    if (n)
        qsort(passes, n, sizeof(*passes), compare_passes);
    for (unsigned i = 0; i < n; i++) {
        struct pass *last = kept ? &passes[kept - 1] : NULL;

        if (!last || compare_passes(last, &passes[i]) != 0) {
            passes[kept++] = passes[i];
            continue;
        }
        last->head = fmin(last->head, passes[i].head);
        last->tail = fmax(last->tail, passes[i].tail);
        last->bytes = fmin(last->bytes, passes[i].bytes);
    }
    return kept;
}

struct direction {
    struct pass *passes; /* owned, by part */
    unsigned n, at;      /* at: the first that was not looked at */
};

static int find_passes(const struct ranks_work *w, const struct orr_bound_cut *cut,
                       const struct need *needs, unsigned n, bool leaves,
                       struct direction *ret)
{
    *ret = (struct direction){.passes = orr_bound_array(n, sizeof(*ret->passes))};
    if (!ret->passes)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        unsigned from = cut->part[needs[i].origin], to = cut->part[needs[i].node];

        if (from != to)
            ret->passes[ret->n++] = (struct pass){
                leaves ? from : to, needs[i].value,
                needs[i].head + w->problem->delay_ms(w->problem->arg, needs[i].bytes),
                needs[i].tail, needs[i].bytes};
    }
    ret->n = merge_passes(ret->passes, ret->n);
    return 0;
}

/* Those of a part as pieces of work; returns how many. */
static unsigned take_passes(struct direction *way, unsigned part, double rate,
                            struct orr_bound_piece *pieces, struct orr_bound_traffic *ret)
{
    unsigned n = 0;

    for (; way->at < way->n && way->passes[way->at].part == part; way->at++) {
        const struct pass *pass = &way->passes[way->at];

        if (!(pass->bytes > 0))
            continue;
        ret->bytes += pass->bytes;
        ret->nvalues++;
        pieces[n++] = (struct orr_bound_piece){pass->head, pass->bytes / rate, pass->tail};
    }
    return n;
}

static int bound_part(const struct orr_bound_cut *cut, unsigned part, struct direction ways[2],
                      struct orr_bound_piece *pieces, struct orr_bound_traffic *ret)
{
    unsigned n = take_passes(&ways[0], part, cut->rate[part], pieces, &ret[0]);
    int rc = 0;

    if (!cut->shared) {
        rc = orr_bound_one_machine(pieces, n, &ret[0].ms);
        n = 0;
    }
    n += take_passes(&ways[1], part, cut->rate[part], pieces + n, &ret[1]);
    if (!rc)
        rc = orr_bound_one_machine(pieces, n, &ret[1].ms);
    if (cut->shared)
        ret[0].ms = ret[1].ms;
    return rc;
}

static int bound_cut(const struct ranks_work *w, const struct orr_bound_cut *cut,
                     const struct need *needs, unsigned n, struct orr_bound_traffic *ret)
{
    struct direction ways[2] = {{0}};
    struct orr_bound_piece *pieces = orr_bound_array(2 * (size_t)n, sizeof(*pieces));
    int rc = pieces ? 0 : -ENOMEM;

    for (unsigned i = 0; i < 2 && !rc; i++)
        rc = find_passes(w, cut, needs, n, i == 1, &ways[i]);
    for (unsigned part = 0; part < cut->nparts && !rc; part++)
        rc = bound_part(cut, part, ways, pieces, &ret[2 * part]);
    free(ways[0].passes);
    free(ways[1].passes);
    free(pieces);
    return rc;
}

int orr_bound_ranks_traffic(struct ranks_work *w)
{
    const struct orr_bound_ranks *p = w->problem;
    struct orr_bound_ranks_result *ret = w->result;
    unsigned n = 0;
    struct need *needs = find_needs(w, &n);
    int rc = needs ? 0 : -ENOMEM;

    ret->traffic = orr_bound_array(p->ncuts, sizeof(*ret->traffic));
    if (!ret->traffic)
        rc = -ENOMEM;
    for (unsigned c = 0; c < p->ncuts && !rc; c++) {
        ret->traffic[c] =
            orr_bound_array(2 * (size_t)p->cuts[c].nparts, sizeof(**ret->traffic));
        if (!ret->traffic[c]) {
            rc = -ENOMEM;
            break;
        }
        ret->ncuts = c + 1;
        rc = bound_cut(w, &p->cuts[c], needs, n, ret->traffic[c]);
    }
    free(needs);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_ahead.c - see graph_ahead.h. The record keeps what each node
 * waits for; here nodes that have ended are dropped, and the others sorted (Kahn's
 * algorithm), ties in the order of their numbers.
 */
#include "core/observe/graph_ahead.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "core/exec/runtime.h"
#include "core/observe/graph_record_private.h"
#include "core/observe/views.h"

struct pair {
    uint32_t before, after; /* nodes of the record, from `low` on */
    uint64_t bytes;
};

struct tagged {
    uint64_t tag;
    uint32_t node;
};

struct view {
    const struct orr_graph_record *record;
    uint32_t low, n; /* nodes: number of the first one less record->first */
    struct pair *pairs;
    uint32_t npairs;
    uint32_t *first; /* per node: of its successors, in `succs` */
    uint32_t *succs;
    uint32_t *waiting; /* per node: predecessors that are not placed yet */
    uint32_t *place;   /* per node: in the result, ORR_NONE: not placed */
    uint32_t *order;   /* in reverse of `place` */
};

int orr_graph_look_ahead(struct orr_runtime *rt)
{
    return orr_graph_record_all(rt);
}

void orr_graph_ahead_done(struct orr_graph_ahead *ahead)
{
    free(ahead->nodes);
    free(ahead->edges);
    *ahead = (struct orr_graph_ahead){.nnodes = 0};
}

/* --- what waits for what --- */

static const struct orr_graph_node_record *node_at(const struct view *v,
                                                   uint32_t i)
{
    return &v->record->nodes[v->low + i];
}

static bool has_ended(const struct orr_graph_node_record *node)
{
    return node->type != ORR_NONE && !isnan(node->end);
}

static bool add_pair(struct view *v, uint32_t before, uint32_t after,
                     uint64_t bytes)
{
    struct pair *added = orr_array_add(v->pairs, v->npairs);

    if (added)
        *added = (struct pair){before, after, bytes};
    return added != NULL;
}

/* Adds the pairs of one node: the declared ones, and those by its data. */
static bool add_pairs_of(struct view *v, uint32_t i)
{
    const struct orr_graph_record *record = v->record;
    uint32_t base = record->first + v->low;
    uint32_t e = node_at(v, i)->edges;

    for (; e != ORR_NONE; e = record->edges[e].next) {
        const struct orr_graph_edge_record *edge = &record->edges[e];

        if (edge->before < base || has_ended(node_at(v, edge->before - base)))
            continue;
        if (!add_pair(v, edge->before - base, i, edge->bytes))
            return false;
    }
    return true;
}

static int by_tag(const void *a, const void *b)
{
    uint64_t left = ((const struct tagged *)a)->tag;
    uint64_t right = ((const struct tagged *)b)->tag;

    return left < right ? -1 : left > right;
}

/* Every task of the later tag waits for every task of the earlier one. */
static bool add_pairs_of_tags(struct view *v)
{
    struct tagged *all = NULL;
    uint32_t n = 0;
    bool good = true;

    if (v->record->ntags == 0)
        return true;
    all = malloc((size_t)v->n * sizeof(*all) + 1);
    for (uint32_t i = 0; all && i < v->n; i++)
        if (node_at(v, i)->has_tag && !has_ended(node_at(v, i)))
            all[n++] = (struct tagged){node_at(v, i)->tag, i};
    if (all)
        qsort(all, n, sizeof(*all), by_tag);
    for (uint32_t t = 0; all && n > 0 && t < v->record->ntags; t++) {
        const struct orr_graph_tags_record *tags = &v->record->tags[t];
        struct tagged later = {tags->dep.tag, 0},
                      earlier = {tags->dep.before, 0};
        const struct tagged *a = bsearch(&later, all, n, sizeof(*all), by_tag);
        const struct tagged *b =
            bsearch(&earlier, all, n, sizeof(*all), by_tag);

        if (a && b && a != b)
            good &= add_pair(v, b->node, a->node, 0);
    }
    good &= all != NULL;
    free(all);
    return good;
}

/* --- sorted --- */

static bool make_successors(struct view *v)
{
    v->first = calloc((size_t)v->n + 2, sizeof(*v->first));
    v->waiting = calloc((size_t)v->n + 1, sizeof(*v->waiting));
    v->place = malloc(((size_t)v->n + 1) * sizeof(*v->place));
    v->order = malloc(((size_t)v->n + 1) * sizeof(*v->order));
    v->succs = malloc(((size_t)v->npairs + 1) * sizeof(*v->succs));
    if (!v->first || !v->waiting || !v->place || !v->order || !v->succs)
        return false;
    for (uint32_t p = 0; p < v->npairs; p++) {
        v->first[v->pairs[p].before + 2]++;
        v->waiting[v->pairs[p].after]++;
    }
    for (uint32_t i = 2; i < v->n + 2; i++)
        v->first[i] += v->first[i - 1];
    for (uint32_t p = 0; p < v->npairs; p++)
        v->succs[v->first[v->pairs[p].before + 1]++] = v->pairs[p].after;
    return true;
}

/* Returns how many nodes were placed. */
static uint32_t view_sort_nodes(struct view *v)
{
    uint32_t placed = 0;

    for (uint32_t i = 0; i < v->n; i++) {
        v->place[i] = ORR_NONE;
        if (!has_ended(node_at(v, i)) && v->waiting[i] == 0)
            v->order[placed++] = i;
    }
    for (uint32_t at = 0; at < placed; at++) {
        uint32_t i = v->order[at];

        v->place[i] = at;
        for (uint32_t s = v->first[i]; s < v->first[i + 1]; s++)
            if (--v->waiting[v->succs[s]] == 0)
                v->order[placed++] = v->succs[s];
    }
    return placed;
}

static int write_result(const struct view *v, uint32_t placed,
                        struct orr_graph_ahead *ret)
{
    ret->nodes = calloc((size_t)placed + 1, sizeof(*ret->nodes));
    ret->edges = malloc(((size_t)v->npairs + 1) * sizeof(*ret->edges));
    if (!ret->nodes || !ret->edges) {
        orr_graph_ahead_done(ret);
        return -ENOMEM;
    }
    ret->nnodes = placed;
    for (uint32_t p = 0; p < v->npairs; p++)
        if (v->place[v->pairs[p].after] != ORR_NONE)
            ret->nodes[v->place[v->pairs[p].after]].n++;
    for (uint32_t at = 0; at < placed; at++) {
        const struct orr_graph_node_record *node = node_at(v, v->order[at]);

        ret->nodes[at].job = node->type == ORR_NONE ? 0 : node->id;
        ret->nodes[at].first = ret->nedges;
        ret->nedges += ret->nodes[at].n;
        ret->nodes[at].n = 0;
    }
    for (uint32_t p = 0; p < v->npairs; p++) {
        uint32_t at = v->place[v->pairs[p].after];
        struct orr_graph_ahead_node *node;

        if (at == ORR_NONE)
            continue;
        node = &ret->nodes[at];
        ret->edges[node->first + node->n++] = (struct orr_graph_ahead_edge){
            v->place[v->pairs[p].before], v->pairs[p].bytes};
    }
    return 0;
}

static void skip_ended(struct orr_graph_record *record)
{
    if (record->past < record->first)
        record->past = record->first;
    while (record->past < record->first + record->nnodes) {
        const struct orr_graph_node_record *node =
            &record->nodes[record->past - record->first];

        if (node->type != ORR_NONE && isnan(node->end))
            break;
        record->past++;
    }
}

static int view_make_locked(struct view *v, struct orr_graph_ahead *ret)
{
    bool good = true;

    for (uint32_t i = 0; good && i < v->n; i++)
        if (!has_ended(node_at(v, i)))
            good = add_pairs_of(v, i);
    if (!good || !add_pairs_of_tags(v) || !make_successors(v))
        return -ENOMEM;
    return write_result(v, view_sort_nodes(v), ret);
}

int orr_graph_ahead(struct orr_runtime *rt, struct orr_graph_ahead *ret)
{
    struct orr_graph_record *record = atomic_load(&rt->views->graph);
    struct view v = {.record = record};
    int err;

    *ret = (struct orr_graph_ahead){.nnodes = 0};
    if (!record)
        return 0;
    orr_lock(&record->lock);
    orr_graph_record_settle(record);
    skip_ended(record);
    v.low = record->past - record->first;
    v.n = record->nnodes - v.low;
    err = view_make_locked(&v, ret);
    orr_unlock(&record->lock);
    free(v.pairs);
    free(v.first);
    free(v.succs);
    free(v.waiting);
    free(v.place);
    free(v.order);
    return err;
}

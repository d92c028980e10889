/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/transfers.c - the bound with precedence and transfers: areas of workers
 * and links (copies.h), and paths of tasks with the copies between them. No
 * state; any thread.
 *
 * A value of b bytes that task j writes in group g and task i reads in group h
 * comes to i no sooner than D(g, h) after the end of j, D being the shortest
 * path of routes, each of latency + b/bandwidth, when nothing costs within a
 * group. Let a be shares in groups and π any weights of groups with π(h) − π(g)
 * ≤ D(g, h). Then, for whole tasks, the delay is at least
 *   Σ_g π(g)·(a_i(g) − a_j(g)),
 * which is linear in the shares, and so a path of tasks takes at least the sum
 * of durations and such delays; that must be at most T. The weights used are
 * distances from one group, D(g, ·), and to one, −D(·, g), which the triangle
 * inequality allows. Paths are added where the last solution violates them.
 *
 * Only relaxed: a copy waits for no other copy, memory is unlimited, copies
 * home after the last task are free, a value that is overwritten without being
 * read moves nowhere.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bound/copies.h"
#include "core/base/grow.h"

#define MOST_TASKS     20000
#define MOST_PATHS     24 /* added in one round */
#define NO_VERSION     UINT32_MAX
#define NO_PREDECESSOR UINT32_MAX

/* The best path to a task, found in a round. */
struct reach {
    double end;       /* when it ends at the earliest */
    double tail;      /* the longest path from its end to the end of all */
    unsigned before;  /* the task that it waits for longest */
    unsigned version; /* that it needs from there, or from home */
    unsigned weight;  /* of its delay: number of a pair π */
    unsigned next;    /* on the longest path to the end */
    unsigned next_version, next_weight;
    bool taken; /* on a path of this round */
};

/* A path that was added, for texts. */
struct path {
    unsigned first, last, ntasks;
};

struct transfers {
    struct orr_copies copies;
    double *distance;     /* per version, ngroups × ngroups, in units */
    unsigned *first_need; /* CSR: versions that a task reads */
    unsigned *needs;
    struct reach *reach; /* per task */
    double *weight;      /* scratch, ngroups */
    struct path *paths;
    unsigned npaths;
};

/* -- distances -- */

static double *version_distances(const struct transfers *t, unsigned version)
{
    size_t n = t->copies.ngroups;

    return &t->distance[version * n * n];
}

static void make_distances(struct transfers *t, unsigned version)
{
    const struct orr_copies *c = &t->copies;
    const struct orr_graph *graph = c->in->graph;
    double bytes = graph->data[c->versions.versions[version].datum].bytes;
    double *d = version_distances(t, version);
    unsigned n = c->ngroups;

    for (unsigned g = 0; g < n * n; g++)
        d[g] = g / n == g % n ? 0 : (double)INFINITY;
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];
        double *entry = &d[c->group[route->src] * n + c->group[route->dst]];
        double bandwidth = INFINITY;

        for (unsigned l = 0; l < route->nlinks; l++)
            bandwidth =
                fmin(bandwidth,
                     graph->links[graph->route_links[route->first_link + l]]
                         .bandwidth);
        *entry =
            fmin(*entry, (route->latency_ms + bytes / bandwidth) / c->unit_ms);
    }
    /* Floyd and Warshall. */
    for (unsigned k = 0; k < n; k++)
        for (unsigned g = 0; g < n; g++)
            for (unsigned h = 0; h < n; h++)
                d[g * n + h] = fmin(d[g * n + h], d[g * n + k] + d[k * n + h]);
    /* Where there is no route, nothing is known. */
    for (unsigned g = 0; g < n * n; g++)
        if (isinf(d[g]))
            d[g] = -1;
}

/* Weights number `which` of a version: distances from group which, or to group
 * which − n. Returns whether they are of use. */
static bool read_weight(const struct transfers *t, unsigned version,
                        unsigned which, double *weight)
{
    unsigned n = t->copies.ngroups;
    const double *d = version_distances(t, version);
    bool use = false;

    for (unsigned g = 0; g < n; g++) {
        double far = which < n ? d[which * n + g] : d[g * n + which - n];

        if (far < 0)
            return false;
        use = use || far > 0;
        weight[g] = which < n ? far : -far;
    }
    return use;
}

/* The delay of a version to a task in the last solution. */
static double version_delay(struct transfers *t, unsigned version,
                            unsigned task, unsigned *ret_which)
{
    struct orr_copies *c = &t->copies;
    const struct orr_bound_version *v = &c->versions.versions[version];
    double best = 0;

    *ret_which = 0;
    for (unsigned w = 0; w < 2 * c->ngroups; w++) {
        double own;

        if (!read_weight(t, version, w, t->weight))
            continue;
        own = orr_copies_place(c, task, t->weight) -
              orr_copies_origin(c, v, t->weight);
        if (own > best) {
            best = own;
            *ret_which = w;
        }
    }
    return best;
}

/* -- longest paths -- */

/* Offers a path to a task; of equal ones the first counts. */
static void reach_offer_path(struct transfers *t, unsigned from, unsigned to,
                             unsigned version, unsigned weight, double length)
{
    struct reach *r = &t->reach[to];
    double start = (from == NO_PREDECESSOR ? 0 : t->reach[from].end) + length;

    if (start > r->end) {
        r->end = start;
        r->before = from;
        r->version = version;
        r->weight = weight;
    }
}

static void transfers_forward_pass(struct transfers *t)
{
    const struct orr_bound_instance *in = t->copies.in;

    for (unsigned k = 0; k < in->ntasks; k++) {
        unsigned i = in->order[k];
        struct reach *r = &t->reach[i];

        *r = (struct reach){.before = NO_PREDECESSOR,
                            .version = NO_VERSION,
                            .next = NO_PREDECESSOR,
                            .next_version = NO_VERSION};
        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            reach_offer_path(t, in->preds[e], i, NO_VERSION, 0, 0);
        for (unsigned e = t->first_need[i]; e < t->first_need[i + 1]; e++) {
            unsigned v = t->needs[e], which;
            unsigned from = t->copies.versions.versions[v].producer;
            double length = version_delay(t, v, i, &which);

            if (length > 0)
                reach_offer_path(
                    t, from == ORR_BOUND_NO_TASK ? NO_PREDECESSOR : from, i, v,
                    which, length);
        }
        r->end += t->copies.ms[i] / t->copies.unit_ms;
    }
}

static void offer_back(struct transfers *t, unsigned from, unsigned to,
                       unsigned version, unsigned weight, double length)
{
    const struct reach *r = &t->reach[to];
    double tail = r->tail + t->copies.ms[to] / t->copies.unit_ms + length;

    if (tail > t->reach[from].tail) {
        t->reach[from].tail = tail;
        t->reach[from].next = to;
        t->reach[from].next_version = version;
        t->reach[from].next_weight = weight;
    }
}

static void transfers_backward_pass(struct transfers *t)
{
    const struct orr_bound_instance *in = t->copies.in;

    for (unsigned k = in->ntasks; k-- > 0;) {
        unsigned i = in->order[k];

        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            offer_back(t, in->preds[e], i, NO_VERSION, 0, 0);
        for (unsigned e = t->first_need[i]; e < t->first_need[i + 1]; e++) {
            unsigned v = t->needs[e], which;
            unsigned from = t->copies.versions.versions[v].producer;
            double length = version_delay(t, v, i, &which);

            if (length > 0 && from != ORR_BOUND_NO_TASK)
                offer_back(t, from, i, v, which, length);
        }
    }
}

/* -- paths as rows -- */

static void add_delay(struct transfers *t, unsigned version, unsigned which,
                      unsigned task)
{
    struct orr_copies *c = &t->copies;

    if (version == NO_VERSION)
        return;
    read_weight(t, version, which, t->weight);
    orr_copies_add_place(c, task, t->weight, 1);
    orr_copies_add_origin(c, &c->versions.versions[version], t->weight, -1);
}

static int add_path(struct transfers *t, unsigned middle)
{
    struct orr_copies *c = &t->copies;
    struct path path = {middle, middle, 0};
    struct path *added = orr_array_add(t->paths, t->npaths);

    if (!added)
        return -ENOMEM;
    orr_copies_add_column(c, 0, -1);
    for (unsigned i = middle; i != NO_PREDECESSOR; i = t->reach[i].before) {
        orr_copies_add_duration(c, i);
        add_delay(t, t->reach[i].version, t->reach[i].weight, i);
        t->reach[i].taken = true;
        path.first = i;
        path.ntasks++;
    }
    for (unsigned i = middle; t->reach[i].next != NO_PREDECESSOR;) {
        unsigned next = t->reach[i].next;

        orr_copies_add_duration(c, next);
        add_delay(t, t->reach[i].next_version, t->reach[i].next_weight, next);
        i = next;
        t->reach[i].taken = true;
        path.last = i;
        path.ntasks++;
    }
    orr_copies_end_row(c, false, ORR_COPIES_PATH, t->npaths - 1);
    *added = path;
    return 0;
}

/* Paths that take longer than T, the longest through tasks that are on none
 * yet. */
static int cut_paths(struct orr_copies *c, double time, double tolerance,
                     void *arg, double *ret_need)
{
    struct transfers *t = arg;
    int n = 0;

    transfers_forward_pass(t);
    transfers_backward_pass(t);
    *ret_need = 0;
    for (unsigned i = 0; i < c->in->ntasks; i++)
        *ret_need = fmax(*ret_need, t->reach[i].end + t->reach[i].tail);
    while (n < MOST_PATHS) {
        double longest = time * (1 + tolerance / 10);
        unsigned through = NO_PREDECESSOR;

        for (unsigned i = 0; i < c->in->ntasks; i++)
            if (!t->reach[i].taken &&
                t->reach[i].end + t->reach[i].tail > longest) {
                longest = t->reach[i].end + t->reach[i].tail;
                through = i;
            }
        if (through == NO_PREDECESSOR)
            break;
        if (add_path(t, through))
            return -ENOMEM;
        n++;
    }
    return n;
}

static void path_text(const struct orr_copies *c, unsigned index, void *arg,
                      char *text, size_t size)
{
    const struct transfers *t = arg;
    const struct path *path = &t->paths[index];
    const struct orr_bound_instance *in = c->in;

    snprintf(text, size, "paths, such as %u tasks from %s to %s, with copies",
             path->ntasks, in->types[in->type[path->first]].symbol,
             in->types[in->type[path->last]].symbol);
}

/* -- the method -- */

static int make_needs(struct transfers *t)
{
    const struct orr_bound_versions *v = &t->copies.versions;
    unsigned n = t->copies.in->ntasks;

    t->first_need = calloc(n + (size_t)2, sizeof(*t->first_need));
    t->needs = calloc(v->nreaders + (size_t)1, sizeof(*t->needs));
    if (!t->first_need || !t->needs)
        return -ENOMEM;
    /* Shifted by two, so that filling leaves it shifted by none. */
    for (unsigned r = 0; r < v->nreaders; r++)
        if (v->readers[r] + 2 <= n)
            t->first_need[v->readers[r] + 2]++;
    for (unsigned i = 2; i <= n; i++)
        t->first_need[i] += t->first_need[i - 1];
    for (unsigned k = 0; k < v->nversions; k++) {
        const struct orr_bound_version *version = &v->versions[k];

        for (unsigned r = 0; r < version->nreaders; r++) {
            unsigned task = v->readers[version->first_reader + r];

            t->needs[t->first_need[task + 1]++] = k;
        }
    }
    return 0;
}

static int transfers_init(struct transfers *t,
                          const struct orr_bound_instance *in)
{
    size_t n;
    int rc = orr_copies_init(&t->copies, in);

    if (!rc)
        rc = make_needs(t);
    if (rc)
        return rc;
    n = t->copies.ngroups;
    t->distance =
        calloc(t->copies.versions.nversions * n * n + 1, sizeof(*t->distance));
    t->reach = calloc(in->ntasks + (size_t)1, sizeof(*t->reach));
    t->weight = calloc(n + 1, sizeof(*t->weight));
    if (!t->distance || !t->reach || !t->weight)
        return -ENOMEM;
    for (unsigned v = 0; v < t->copies.versions.nversions; v++)
        make_distances(t, v);
    return 0;
}

int orr_bound_transfers(const struct orr_bound_instance *in,
                        const struct orr_bound_options *options,
                        struct orr_bound_result *ret)
{
    struct transfers t = {0};
    struct orr_copies_cutter cutter = {cut_paths, path_text, &t};
    int rc;

    if (in->ntasks > MOST_TASKS)
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "%u tasks; it takes too long for more than %u",
                                 in->ntasks, MOST_TASKS);
    rc = transfers_init(&t, in);
    if (!rc)
        rc = orr_copies_solve(&t.copies, options, &cutter, ret);
    if (!rc) /* better when time was out early */
        rc = orr_bound_at_least(in, ORR_BOUND_PATHS, options, ret);
    orr_copies_done(&t.copies);
    free(t.distance);
    free(t.first_need);
    free(t.needs);
    free(t.reach);
    free(t.weight);
    free(t.paths);
    return rc;
}

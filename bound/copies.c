/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/copies.c - makes the linear program with copies. See copies.h.
 */
#include "bound/copies.h"

#include "core/base/grow.h"
#include "core/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices whose durations differ by less share a group: they stay different
 * resources, but copies among them are not counted. */
#define NEARLY 0.1

/* -- groups of memory nodes -- */

static unsigned group_root(const unsigned *parent, unsigned n)
{
    while (parent[n] != n)
        n = parent[n];
    return n;
}

/* The variant of a type on a class that follows `after` (NULL: the first). */
static const struct orr_bound_variant *
next_variant(const struct orr_bound_instance *in, unsigned type, unsigned class,
             const struct orr_bound_variant *after)
{
    const struct orr_bound_variant *first =
        &in->variants[in->types[type].first_variant];
    const struct orr_bound_variant *end = first + in->types[type].nvariants;

    for (const struct orr_bound_variant *w = after ? after + 1 : first; w < end;
         w++)
        if (w->class == class)
            return w;
    return NULL;
}

/* Whether workers of two classes take equal times for all types, but for a
 * share. */
static bool classes_alike(const struct orr_bound_instance *in, unsigned a,
                          unsigned b, double but)
{
    for (unsigned k = 0; k < in->ntypes; k++) {
        const struct orr_bound_variant *v = NULL, *w = NULL;

        if (in->types[k].ntasks == 0)
            continue;
        do {
            v = next_variant(in, k, a, v);
            w = next_variant(in, k, b, w);
            if (!v != !w || (v && (fabs(v->ms - w->ms) > but * v->ms ||
                                   v->width != w->width)))
                return false;
        } while (v);
    }
    return true;
}

/* The fastest bandwidth and least latency of the routes that enter or leave. */
static void node_route_parameters(const struct orr_graph *graph, unsigned node,
                                  bool into, double ret[2])
{
    ret[0] = 0;
    ret[1] = INFINITY;
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];
        double bandwidth = INFINITY;

        if ((into ? route->dst : route->src) != node)
            continue;
        for (unsigned l = 0; l < route->nlinks; l++)
            bandwidth =
                fmin(bandwidth,
                     graph->links[graph->route_links[route->first_link + l]]
                         .bandwidth);
        ret[0] = fmax(ret[0], bandwidth);
        ret[1] = fmin(ret[1], route->latency_ms);
    }
}

/* Whether two nodes, each with one class of workers, may be one group. That is
 * allowed for any nodes; the bound is not weaker where they are equal. */
static bool nodes_alike(const struct orr_copies *c, const unsigned *class_in,
                        unsigned a, unsigned b)
{
    const struct orr_bound_instance *in = c->in;
    const struct orr_graph *graph = in->graph;
    unsigned p = class_in[a], q = class_in[b];

    if (p >= in->nclasses || q >= in->nclasses ||
        in->classes[p].size != in->classes[q].size ||
        graph->nodes[a].capacity != graph->nodes[b].capacity ||
        !classes_alike(in, p, q, NEARLY))
        return false;
    for (unsigned d = 0; d < graph->ndata; d++)
        if (graph->data[d].home == a || graph->data[d].home == b)
            return false;
    for (int into = 0; into < 2; into++) {
        double x[2], y[2];

        node_route_parameters(graph, a, into, x);
        node_route_parameters(graph, b, into, y);
        if (x[0] != y[0] || x[1] != y[1])
            return false;
    }
    return true;
}

static int make_groups(struct orr_copies *c)
{
    const struct orr_bound_instance *in = c->in;
    const struct orr_graph *graph = in->graph;
    unsigned *parent = orr_bound_array(graph->nnodes, sizeof(*parent));
    unsigned *class_in = orr_bound_array(graph->nnodes, sizeof(*class_in));

    if (!parent || !class_in) {
        free(parent);
        free(class_in);
        return -ENOMEM;
    }
    /* class_in: the only class that has workers there, if there is one. */
    for (unsigned n = 0; n < graph->nnodes; n++) {
        parent[n] = n;
        class_in[n] = UINT32_MAX;
    }
    for (unsigned w = 0; w < graph->nworkers; w++) {
        unsigned class = in->class_of[w], node = graph->workers[w].node;
        unsigned *only = &class_in[node];

        *only = *only == UINT32_MAX || *only == class ? class : in->nclasses;
        parent[group_root(parent, node)] =
            group_root(parent, graph->workers[in->classes[class].worker].node);
    }
    for (unsigned a = 0; a < graph->nnodes; a++)
        for (unsigned b = 0; b < a; b++)
            if (nodes_alike(c, class_in, a, b))
                parent[group_root(parent, a)] = group_root(parent, b);
    for (unsigned n = 0; n < graph->nnodes; n++)
        if (parent[n] == n)
            c->group[n] = c->ngroups++;
    for (unsigned n = 0; n < graph->nnodes; n++)
        c->group[n] = c->group[group_root(parent, n)];
    free(parent);
    free(class_in);
    for (unsigned n = 0; n < graph->nnodes; n++)
        c->group_nodes[c->group[n]]++;
    for (unsigned d = 0; d < graph->ndata; d++)
        c->group_is_home[c->group[graph->data[d].home]] = true;
    return 0;
}

/* -- resources and options -- */

static int name_resource(struct orr_copies_resource *r, const char *class)
{
    int letters = (int)strcspn(class, " 0123456789"), rc;

    free(r->name);
    if (letters == 0)
        rc = orr_asprintf(&r->name, "%.0f workers like %s", r->size, class);
    else
        rc = orr_asprintf(&r->name, "%.0f %.*s devices", r->size, letters, class);
    if (rc >= 0)
        return 0;
    r->name = NULL;
    return -ENOMEM;
}

static int make_resources(struct orr_copies *c)
{
    const struct orr_bound_instance *in = c->in;

    for (unsigned k = 0; k < in->nclasses; k++) {
        const struct orr_bound_class *class = &in->classes[k];
        unsigned group = c->group[class->node], like = 0;
        struct orr_copies_resource *r;

        while (like < k && (c->group[in->classes[like].node] != group ||
                            !classes_alike(in, like, k, 0)))
            like++;
        c->resource[k] = like < k ? c->resource[like] : c->nresources++;
        r = &c->resources[c->resource[k]];
        r->group = group;
        r->size += class->size;
        if (like < k) {
            if (name_resource(r, class->name))
                return -ENOMEM;
            continue;
        }
        r->name = strdup(class->name);
        if (!r->name)
            return -ENOMEM;
    }
    return 0;
}

/* The fastest option is the first: most tasks take it. */
static void make_options(struct orr_copies *c)
{
    const struct orr_bound_instance *in = c->in;
    unsigned n = 0;

    for (unsigned k = 0; k < in->ntypes; k++) {
        unsigned first = c->first_option[k] = n;

        for (unsigned w = 0; w < in->types[k].nvariants; w++) {
            const struct orr_bound_variant *variant =
                &in->variants[in->types[k].first_variant + w];
            unsigned resource = c->resource[variant->class];
            struct orr_copies_option option = {
                resource, c->resources[resource].group, variant->ms,
                variant->ms * variant->width};
            unsigned o = first;

            while (o < n && (c->options[o].resource != resource ||
                             c->options[o].area != option.area ||
                             c->options[o].ms != option.ms))
                o++;
            if (o < n)
                continue;
            c->options[n++] = option;
            if (option.ms < c->options[first].ms) {
                c->options[n - 1] = c->options[first];
                c->options[first] = option;
            }
        }
    }
    c->first_option[in->ntypes] = n;
}

/* -- sets of groups that copies must enter -- */

static bool route_enters_set(const struct orr_copies *c, const bool *set,
                             const struct orr_graph_route *route)
{
    return !set[c->group[route->src]] && set[c->group[route->dst]];
}

/* Without routes nothing is known of copies, and a route without a link of
 * finite bandwidth takes any amount. */
static bool set_is_useful(const struct orr_copies *c, const bool *set)
{
    const struct orr_graph *graph = c->in->graph;
    bool any = false;

    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];
        bool finite = false;

        if (!route_enters_set(c, set, route))
            continue;
        any = true;
        for (unsigned l = 0; l < route->nlinks; l++)
            finite =
                finite ||
                isfinite(graph->links[graph->route_links[route->first_link + l]]
                             .bandwidth);
        if (!finite)
            return false;
    }
    return any;
}

/* Each group, and all but one. */
static int make_sets(struct orr_copies *c)
{
    unsigned n = c->ngroups;

    for (unsigned s = 0; n > 1 && s < (n > 2 ? 2 * n : n); s++) {
        bool *has = orr_bound_array(n, sizeof(*has));

        if (!has)
            return -ENOMEM;
        for (unsigned g = 0; g < n; g++)
            has[g] = (g == s % n) == (s < n);
        if (set_is_useful(c, has))
            c->sets[c->nsets++].has = has;
        else
            free(has);
    }
    return 0;
}

/* -- the program -- */

void orr_copies_add_column(struct orr_copies *c, unsigned column, double value)
{
    if (c->lp.failed || value == 0)
        return;
    if (column >= c->room_coef) {
        unsigned room = c->lp.ncolumns + c->lp.ncolumns / 2 + 16;
        double *coef = realloc(c->coef, room * sizeof(*coef));
        unsigned *touched;

        if (coef)
            c->coef = coef;
        touched = realloc(c->touched, room * sizeof(*touched));
        if (touched)
            c->touched = touched;
        if (!coef || !touched) {
            c->lp.failed = true;
            return;
        }
        for (unsigned j = c->room_coef; j < room; j++)
            coef[j] = NAN; /* not in the row */
        c->room_coef = room;
    }
    if (isnan(c->coef[column])) {
        c->coef[column] = 0;
        c->touched[c->ntouched++] = column;
    }
    c->coef[column] += value;
}

void orr_copies_add_place(struct orr_copies *c, unsigned task,
                          const double *weight, double factor)
{
    double first = weight[orr_copies_option(c, task, 0)->group];

    c->constant += factor * first;
    for (unsigned o = 1; o < orr_copies_noptions(c, task); o++)
        orr_copies_add_column(
            c, c->first_x[task] + o - 1,
            factor * (weight[orr_copies_option(c, task, o)->group] - first));
}

void orr_copies_add_origin(struct orr_copies *c,
                           const struct orr_bound_version *version,
                           const double *weight, double factor)
{
    if (version->producer == ORR_BOUND_NO_TASK)
        c->constant +=
            factor * weight[c->group[c->in->graph->data[version->datum].home]];
    else
        orr_copies_add_place(c, version->producer, weight, factor);
}

void orr_copies_add_duration(struct orr_copies *c, unsigned task)
{
    double first = orr_copies_option(c, task, 0)->ms;

    c->constant += first / c->unit_ms;
    for (unsigned o = 1; o < orr_copies_noptions(c, task); o++)
        orr_copies_add_column(c, c->first_x[task] + o - 1,
                              (orr_copies_option(c, task, o)->ms - first) /
                                  c->unit_ms);
}

void orr_copies_end_row(struct orr_copies *c, bool at_least,
                        enum orr_copies_row_kind kind, unsigned index)
{
    unsigned row = orr_lp_row(
        &c->lp, at_least ? -c->constant : -(double)INFINITY,
        at_least ? (double)INFINITY : -c->constant, "r%u", c->lp.nrows);

    for (unsigned t = 0; t < c->ntouched; t++) {
        unsigned column = c->touched[t];

        orr_lp_coef(&c->lp, column, c->coef[column]);
        c->coef[column] = NAN;
    }
    c->ntouched = 0;
    c->constant = 0;
    if (!c->lp.failed)
        c->lp.failed = orr_grow(&c->about, &c->room_about, row + (size_t)1,
                                sizeof(*c->about)) < 0;
    if (!c->lp.failed)
        c->about[row] = (struct orr_copies_row){kind, index};
}

/* A typical makespan and size, for well-scaled programs, and a makespan that
 * some schedule of the relaxed problem surely keeps: one task after the other,
 * each copied to everywhere before. */
static double make_units(struct orr_copies *c)
{
    const struct orr_bound_instance *in = c->in;
    const struct orr_graph *graph = in->graph;
    double best = 0, most = 0, longest = 0, bytes = 0, workers = 0, enough;

    for (unsigned i = 0; i < in->ntasks; i++) {
        double slowest = 0;

        for (unsigned o = 0; o < orr_copies_noptions(c, i); o++)
            slowest = fmax(slowest, fmax(orr_copies_option(c, i, o)->ms,
                                         orr_copies_option(c, i, o)->area));
        best += orr_copies_option(c, i, 0)->ms;
        longest = fmax(longest, orr_copies_option(c, i, 0)->ms);
        most += slowest;
    }
    for (unsigned r = 0; r < c->nresources; r++)
        workers += c->resources[r].size;
    for (unsigned v = 0; v < c->versions.nversions; v++)
        bytes += graph->data[c->versions.versions[v].datum].bytes;
    c->unit_ms = fmax(best / workers, longest);
    if (!(c->unit_ms > 0))
        c->unit_ms = 1;
    c->unit_bytes = bytes > 0 ? bytes / c->versions.nversions : 1;
    enough = most;
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];

        enough += route->latency_ms * (in->ntasks + c->versions.nreaders);
        for (unsigned l = 0; l < route->nlinks; l++)
            enough += bytes * (1 + c->versions.nreaders) /
                      graph->links[graph->route_links[route->first_link + l]]
                          .bandwidth;
    }
    return 2 * enough / c->unit_ms + 1;
}

static double route_bandwidth(const struct orr_graph *graph,
                              const struct orr_graph_route *route)
{
    double bandwidth = INFINITY;

    for (unsigned l = 0; l < route->nlinks; l++)
        bandwidth = fmin(
            bandwidth,
            graph->links[graph->route_links[route->first_link + l]].bandwidth);
    return bandwidth;
}

static void make_columns(struct orr_copies *c)
{
    const struct orr_graph *graph = c->in->graph;
    double enough = make_units(c);

    orr_lp_begin(&c->lp, "area and copies");
    orr_lp_column(&c->lp, 1, 0, enough, false, "makespan");
    c->first_flow = c->lp.ncolumns;
    for (unsigned r = 0; r < graph->nroutes; r++) {
        double bandwidth = route_bandwidth(graph, &graph->routes[r]);

        /* Its links would not take more; no row has one without. */
        orr_lp_column(&c->lp, 0, 0,
                      isfinite(bandwidth)
                          ? enough * c->unit_ms * bandwidth / c->unit_bytes
                          : 0,
                      false, "flow%u", r);
    }
    for (unsigned i = 0; i < c->in->ntasks; i++) {
        c->first_x[i] = c->lp.ncolumns;
        for (unsigned o = 1; o < orr_copies_noptions(c, i); o++)
            orr_lp_column(&c->lp, 0, 0, 1, false, "x%u_%u", i, o);
    }
}

static void make_resource_row(struct orr_copies *c, unsigned resource)
{
    orr_copies_add_column(c, 0, -c->resources[resource].size);
    for (unsigned i = 0; i < c->in->ntasks; i++)
        for (unsigned o = 0; o < orr_copies_noptions(c, i); o++) {
            double area = orr_copies_option(c, i, o)->area / c->unit_ms;

            if (orr_copies_option(c, i, o)->resource != resource)
                continue;
            if (o > 0) {
                orr_copies_add_column(c, c->first_x[i] + o - 1, area);
                continue;
            }
            c->constant += area;
            for (unsigned p = 1; p < orr_copies_noptions(c, i); p++)
                orr_copies_add_column(c, c->first_x[i] + p - 1, -area);
        }
    orr_copies_end_row(c, false, ORR_COPIES_RESOURCE, resource);
}

static void make_link_row(struct orr_copies *c, unsigned link)
{
    const struct orr_graph *graph = c->in->graph;
    double ms = c->unit_bytes / graph->links[link].bandwidth / c->unit_ms;

    if (!(ms > 0))
        return;
    orr_copies_add_column(c, 0, -1);
    for (unsigned r = 0; r < graph->nroutes; r++)
        for (unsigned l = 0; l < graph->routes[r].nlinks; l++)
            if (graph->route_links[graph->routes[r].first_link + l] == link) {
                orr_copies_add_column(c, c->first_flow + r, ms);
                break;
            }
    orr_copies_end_row(c, false, ORR_COPIES_LINK, link);
}

static int copies_allocate(struct orr_copies *c)
{
    const struct orr_bound_instance *in = c->in;
    size_t nodes = in->graph->nnodes;

    c->group = orr_bound_array(nodes, sizeof(*c->group));
    c->group_nodes = orr_bound_array(nodes, sizeof(*c->group_nodes));
    c->group_is_home = orr_bound_array(nodes, sizeof(*c->group_is_home));
    c->resource = orr_bound_array(in->nclasses, sizeof(*c->resource));
    c->resources = orr_bound_array(in->nclasses, sizeof(*c->resources));
    c->first_option =
        orr_bound_array(in->ntypes + (size_t)1, sizeof(*c->first_option));
    c->options = orr_bound_array(in->nvariants, sizeof(*c->options));
    c->sets = orr_bound_array(2 * nodes, sizeof(*c->sets));
    c->first_x = orr_bound_array(in->ntasks, sizeof(*c->first_x));
    c->ms = orr_bound_array(in->ntasks, sizeof(*c->ms));
    return c->group && c->group_nodes && c->group_is_home && c->resource &&
                   c->resources && c->first_option && c->options && c->sets &&
                   c->first_x && c->ms
               ? 0
               : -ENOMEM;
}

int orr_copies_init(struct orr_copies *c, const struct orr_bound_instance *in)
{
    int rc;

    *c = (struct orr_copies){.in = in};
    rc = copies_allocate(c);
    if (!rc)
        rc = orr_bound_versions_init(&c->versions, in);
    if (!rc)
        rc = make_groups(c);
    if (!rc)
        rc = make_resources(c);
    if (!rc) {
        make_options(c);
        rc = make_sets(c);
    }
    if (!rc)
        c->share =
            orr_bound_array((size_t)in->ntasks * c->ngroups, sizeof(*c->share));
    if (rc || !c->share)
        return -ENOMEM;
    make_columns(c);
    for (unsigned r = 0; r < c->nresources; r++)
        make_resource_row(c, r);
    for (unsigned l = 0; l < in->graph->nlinks; l++)
        make_link_row(c, l);
    if (c->lp.failed)
        return -ENOMEM;
    return orr_lp_solver_new(&c->solver);
}

void orr_copies_done(struct orr_copies *c)
{
    for (unsigned r = 0; c->resources && r < c->nresources; r++)
        free(c->resources[r].name);
    for (unsigned s = 0; c->sets && s < c->nsets; s++)
        free(c->sets[s].has);
    orr_bound_versions_done(&c->versions);
    orr_lp_solver_free(c->solver);
    orr_lp_free(&c->lp);
    free(c->group);
    free(c->group_nodes);
    free(c->group_is_home);
    free(c->resource);
    free(c->resources);
    free(c->first_option);
    free(c->options);
    free(c->sets);
    free(c->first_x);
    free(c->ms);
    free(c->share);
    free(c->about);
    free(c->coef);
    free(c->touched);
    *c = (struct orr_copies){0};
}

double orr_copies_place(const struct orr_copies *c, unsigned task,
                        const double *weight)
{
    double sum = 0;

    for (unsigned g = 0; g < c->ngroups; g++)
        sum += weight[g] * c->share[(size_t)task * c->ngroups + g];
    return sum;
}

double orr_copies_origin(const struct orr_copies *c,
                         const struct orr_bound_version *version,
                         const double *weight)
{
    if (version->producer == ORR_BOUND_NO_TASK)
        return weight[c->group[c->in->graph->data[version->datum].home]];
    return orr_copies_place(c, version->producer, weight);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/concurrent.c - the bandwidth of a link while others carry copies
 * too: each member of a group copies in a context of its own during a common
 * interval. See measure.h.
 */
#include "core/base/grow.h"
#include "core/device/bus/measure.h"
#include "core/device/bus/measure_private.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    COPIES = 12,      /* of the slowest member while a group runs */
    MAX_GROUP = 64,   /* members */
    MEMORY = 1 << 30, /* bytes of all members together */
};

/* The state that the members of a group share. They begin together and go on
 * until the same time. */
struct round {
    struct orr_machine *machine;
    struct orr_waiter caller; /* waits for the last of … */
    atomic_uint missing;      /* members without memory that have not failed */
    size_t size;
    double window_us;
    double until_us; /* set before they begin */
};

struct member {
    struct round *round;
    const struct orr_bus_link *link;
    struct orr_context *context;
    struct orr_waiter begin; /* published by `missing` */
    struct orr_bus_series series;
    int rc;
};

static void run_member(void *arg)
{
    static const struct orr_awaited awaited = {
        .noun = "the other members of its group"};
    struct member *member = arg;
    struct round *g = member->round;
    struct orr_exec *exec = g->machine->exec;
    struct orr_bus_series *series = &member->series;
    struct orr_bus_probe probe;

    member->rc = orr_probe_init(g->machine, member->link, g->size, &probe);
    if (member->rc == 0)
        (void)orr_probe_time(g->machine, &probe, g->size, 1);
    orr_waiter_init(&member->begin);
    if (atomic_fetch_sub(&g->missing, 1) == 1)
        orr_waiter_release(&g->caller);
    orr_wait(&member->begin, &awaited);
    if (member->rc < 0)
        return;
    /* A copy that ended later had fewer beside it. */
    while (series->n < ORR_BUS_MOST) {
        unsigned long before = orr_bus_preemptions(g->machine);
        double us = orr_probe_time(g->machine, &probe, g->size, 1);
        bool late = orr_exec_now(exec) > g->until_us;

        if (late && series->n > 0)
            break;
        /* Without its processor it did not take part. */
        if (late || orr_bus_preemptions(g->machine) == before)
            series->us[series->n++] = us;
    }
    series->starts[1] = series->n;
    orr_probe_done(g->machine, member->link, g->size, &probe);
}

/* Starts them, lets them go at once, waits for the end. Those that could not
 * be started are missing: -EAGAIN. */
static int run_members(struct round *g, struct member *members, unsigned n)
{
    static const struct orr_awaited awaited = {.noun =
                                                   "those that measure a link"};
    const struct orr_context init = {.name = "bus calibration"};
    struct orr_exec *exec = g->machine->exec;
    unsigned started = 0, seen[MAX_GROUP] = {0};
    int rc = 0;

    orr_waiter_init(&g->caller);
    atomic_store(&g->missing, n + 1);
    while (started < n && rc == 0) {
        struct member *member = &members[started];
        const struct orr_bus_link *link = member->link;
        unsigned node = link->dst != 0 ? link->dst : link->src;
        unsigned k = seen[node % MAX_GROUP]++;

        rc = exec->ops->spawn(exec, &init,
                              orr_bus_progress_cpu(g->machine, link, k),
                              run_member, member, &member->context);
        started += rc == 0;
    }
    /* This one, and those that could not be started. */
    if (atomic_fetch_sub(&g->missing, n - started + 1) != n - started + 1)
        orr_wait(&g->caller, &awaited);
    g->until_us = orr_exec_now(exec) + g->window_us;
    for (unsigned i = 0; i < started; i++)
        orr_waiter_release(&members[i].begin);
    for (unsigned i = 0; i < started; i++) {
        orr_context_join(&awaited, members[i].context);
        if (rc == 0)
            rc = members[i].rc;
    }
    return rc;
}

/* The bytes of each copy of a group: memory is shared by all. */
static size_t group_size(const struct orr_bus_measurer *m,
                         const struct orr_bus_measures *measures,
                         const struct orr_bus_group *group)
{
    size_t size = (size_t)MEMORY / (2 * group->n);

    for (unsigned i = 0; i < group->n; i++) {
        size_t most = orr_bus_largest(m, &measures->links[group->links[i]]);

        size = size < most ? size : most;
    }
    return size;
}

static double slowest_us(const struct orr_bus_measures *measures,
                         const struct orr_bus_group *group)
{
    double us = 0;

    for (unsigned i = 0; i < group->n; i++) {
        const struct orr_bus_link *link = &measures->links[group->links[i]];

        us = fmax(us, link->latency.median +
                          (double)group->size / link->bandwidth.median);
    }
    return us;
}

static void summarise_group(struct orr_bus_group *group,
                            const struct member *members, double *scratch)
{
    for (unsigned i = 0; i < group->n; i++) {
        struct orr_bus_estimate us =
            orr_bus_estimate_of(&members[i].series, 1, scratch);

        group->members[i] = (struct orr_bus_estimate){
            .n = us.n,
            .median = (double)group->size / us.median,
            .lo = (double)group->size / us.hi,
            .hi = (double)group->size / us.lo,
            .spread = us.spread,
        };
        group->total += group->members[i].median;
    }
}

static int measure_group(const struct orr_bus_measurer *m,
                         const struct orr_bus_measures *measures,
                         struct orr_bus_group *group)
{
    struct round g = {.machine = m->machine};
    const struct orr_bus_measurer one = {
        .options = &(struct orr_bus_options){.blocks = 1},
        .nsizes = 1,
        .sizes = {group->size}};
    struct orr_bus_series *series = orr_bus_series_new(&one, group->n);
    struct member *members = calloc(group->n, sizeof(*members));
    double scratch[ORR_BUS_MOST];
    int rc = -ENOMEM;

    if (series && members) {
        g.size = group->size = group_size(m, measures, group);
        g.window_us = COPIES * group->n * slowest_us(measures, group);
        g.window_us = fmin(g.window_us, m->options->budget_us);
        for (unsigned i = 0; i < group->n; i++)
            members[i] =
                (struct member){.round = &g,
                                .link = &measures->links[group->links[i]],
                                .series = series[i]};
        rc = run_members(&g, members, group->n);
    }
    if (rc == 0)
        summarise_group(group, members, scratch);
    orr_bus_series_free(series, group->n);
    free(members);
    return rc;
}

/* Appends an empty group with room for n members. */
static struct orr_bus_group *add_group(struct orr_bus_measures *measures,
                                       enum orr_bus_group_kind kind, unsigned n)
{
    struct orr_bus_group *group =
        orr_array_add(measures->groups, measures->ngroups);

    if (!group)
        return NULL;
    group->kind = kind;
    group->links = calloc(n, sizeof(*group->links));
    group->members = calloc(n, sizeof(*group->members));
    return group->links && group->members ? group : NULL;
}

static bool same_pair_back(const struct orr_bus_link *a,
                           const struct orr_bus_link *b)
{
    return a->src == b->dst && a->dst == b->src && a->pinned == b->pinned;
}

static int measure_bidirectional(const struct orr_bus_measurer *m,
                                 struct orr_bus_measures *measures)
{
    for (unsigned i = 0; i < measures->nlinks; i++)
        for (unsigned j = i + 1; j < measures->nlinks; j++) {
            struct orr_bus_group *group;
            int rc;

            if (!same_pair_back(&measures->links[i], &measures->links[j]))
                continue;
            group = add_group(measures, ORR_BUS_BIDIRECTIONAL, 2);
            if (!group)
                return -ENOMEM;
            group->links[group->n++] = i;
            group->links[group->n++] = j;
            rc = measure_group(m, measures, group);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static bool is_in_group(const struct orr_bus_measurer *m,
                        const struct orr_bus_measures *measures,
                        enum orr_bus_group_kind kind,
                        const struct orr_bus_link *link)
{
    const struct orr_node_desc *nodes = m->machine->nodes;
    bool from_main = orr_node_is_main(&nodes[link->src]);
    bool to_main = orr_node_is_main(&nodes[link->dst]);

    if (!orr_bus_link_counts(measures, link) || nodes[link->src].stores ||
        nodes[link->dst].stores)
        return false;
    if (kind == ORR_BUS_TO_ALL)
        return from_main && !to_main;
    if (kind == ORR_BUS_FROM_ALL)
        return to_main && !from_main;
    return true;
}

/* All links of a kind, if they are more than `few`. */
static int at_once(const struct orr_bus_measurer *m,
                   struct orr_bus_measures *measures,
                   enum orr_bus_group_kind kind, unsigned few)
{
    struct orr_bus_group *group;
    unsigned n = 0;

    for (unsigned l = 0; l < measures->nlinks; l++)
        n += is_in_group(m, measures, kind, &measures->links[l]);
    if (n <= few)
        return 0;
    group = add_group(measures, kind, n);
    if (!group)
        return -ENOMEM;
    for (unsigned l = 0; l < measures->nlinks && group->n < MAX_GROUP; l++)
        if (is_in_group(m, measures, kind, &measures->links[l]))
            group->links[group->n++] = l;
    return measure_group(m, measures, group);
}

static int within_nodes(const struct orr_bus_measurer *m,
                        struct orr_bus_measures *measures)
{
    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];
        struct orr_bus_group *group;
        unsigned n = 0;
        int rc;

        for (unsigned w = 0; w < m->machine->nworkers; w++)
            n += m->machine->workers[w].node == link->src;
        if (link->src != link->dst || n < 2)
            continue;
        n = n < MAX_GROUP ? n : MAX_GROUP;
        group = add_group(measures, ORR_BUS_WITHIN, n);
        if (!group)
            return -ENOMEM;
        for (group->n = 0; group->n < n; group->n++)
            group->links[group->n] = l;
        rc = measure_group(m, measures, group);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int orr_bus_measure_groups(const struct orr_bus_measurer *m,
                           struct orr_bus_measures *measures)
{
    int rc = measure_bidirectional(m, measures);

    if (rc == 0)
        rc = at_once(m, measures, ORR_BUS_TO_ALL, 1);
    if (rc == 0)
        rc = at_once(m, measures, ORR_BUS_FROM_ALL, 1);
    /* With two links, both directions are all links. */
    if (rc == 0)
        rc = at_once(m, measures, ORR_BUS_ALL, 2);
    if (rc == 0 && m->options->within)
        rc = within_nodes(m, measures);
    return rc;
}

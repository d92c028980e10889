/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/bus/crowd.c - what is left of a link while others carry copies
 * too: each member of a crowd copies in a context of its own, from one moment
 * to another. See measure.h.
 */
#include "core/bus/measure.h"
#include "core/bus/measure_private.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    COPIES = 12,      /* of the slowest member, for as long a crowd runs */
    MAX_CROWD = 64,   /* members */
    MEMORY = 1 << 30, /* bytes of all members together */
};

/* What the members of a crowd share. They begin together and go on until the
 * same time. */
struct gathering {
    struct orr_machine *machine;
    struct orr_context *caller;
    size_t size;
    double window_us;
    double until_us;   /* set before `go` */
    atomic_uint ready; /* members that have their memory, or failed */
    atomic_bool go;
};

struct member {
    struct gathering *gathering;
    const struct orr_bus_link *link;
    struct orr_context *context;
    struct orr_bus_series series;
    int rc;
};

static void run_member(void *arg)
{
    struct member *member = arg;
    struct gathering *g = member->gathering;
    struct orr_exec *exec = g->machine->exec;
    struct orr_bus_series *series = &member->series;
    struct orr_bus_probe probe;

    member->rc = orr_probe_init(g->machine, member->link, g->size, &probe);
    if (member->rc == 0)
        (void)orr_probe_time(g->machine, &probe, g->size, 1);
    atomic_fetch_add(&g->ready, 1);
    exec->ops->wake(exec, g->caller);
    while (!atomic_load(&g->go))
        exec->ops->park(exec, ORR_FOREVER);
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
static int gather(struct gathering *g, struct member *members, unsigned n)
{
    const struct orr_context init = {.name = "bus calibration"};
    struct orr_exec *exec = g->machine->exec;
    unsigned started = 0, seen[MAX_CROWD] = {0};
    int rc = 0;

    while (started < n && rc == 0) {
        struct member *member = &members[started];
        const struct orr_bus_link *link = member->link;
        unsigned node = link->dst != 0 ? link->dst : link->src;
        unsigned k = seen[node % MAX_CROWD]++;

        rc = exec->ops->spawn(exec, &init,
                              orr_bus_driver_cpu(g->machine, link, k),
                              run_member, member, &member->context);
        started += rc == 0;
    }
    while (atomic_load(&g->ready) < started)
        exec->ops->park(exec, ORR_FOREVER);
    g->until_us = orr_exec_now(exec) + g->window_us;
    atomic_store(&g->go, true);
    for (unsigned i = 0; i < started; i++)
        exec->ops->wake(exec, members[i].context);
    for (unsigned i = 0; i < started; i++) {
        exec->ops->join(exec, members[i].context);
        if (rc == 0)
            rc = members[i].rc;
    }
    return rc;
}

/* Of how many bytes the copies of a crowd are: memory is shared by all. */
static size_t crowd_size(const struct orr_bus_measurer *m,
                         const struct orr_bus_measures *measures,
                         const struct orr_bus_crowd *crowd)
{
    size_t size = (size_t)MEMORY / (2 * crowd->n);

    for (unsigned i = 0; i < crowd->n; i++) {
        size_t most = orr_bus_largest(m, &measures->links[crowd->links[i]]);

        size = size < most ? size : most;
    }
    return size;
}

static double slowest_us(const struct orr_bus_measures *measures,
                         const struct orr_bus_crowd *crowd)
{
    double us = 0;

    for (unsigned i = 0; i < crowd->n; i++) {
        const struct orr_bus_link *link = &measures->links[crowd->links[i]];

        us = fmax(us, link->latency.median +
                          (double)crowd->size / link->bandwidth.median);
    }
    return us;
}

static void summarise_crowd(struct orr_bus_crowd *crowd,
                            const struct member *members, double *scratch)
{
    for (unsigned i = 0; i < crowd->n; i++) {
        struct orr_bus_figure us =
            orr_bus_figure_of(&members[i].series, 1, scratch);

        crowd->members[i] = (struct orr_bus_figure){
            .n = us.n,
            .median = (double)crowd->size / us.median,
            .lo = (double)crowd->size / us.hi,
            .hi = (double)crowd->size / us.lo,
            .spread = us.spread,
        };
        crowd->total += crowd->members[i].median;
    }
}

static int measure_crowd(const struct orr_bus_measurer *m,
                         const struct orr_bus_measures *measures,
                         struct orr_bus_crowd *crowd)
{
    struct gathering g = {.machine = m->machine, .caller = orr_self};
    const struct orr_bus_measurer one = {
        .options = &(struct orr_bus_options){.blocks = 1},
        .nsizes = 1,
        .sizes = {crowd->size}};
    struct orr_bus_series *series = orr_bus_series_new(&one, crowd->n);
    struct member *members = calloc(crowd->n, sizeof(*members));
    double scratch[ORR_BUS_MOST];
    int rc = -ENOMEM;

    if (series && members) {
        g.size = crowd->size = crowd_size(m, measures, crowd);
        g.window_us = COPIES * crowd->n * slowest_us(measures, crowd);
        g.window_us = fmin(g.window_us, m->options->budget_us);
        for (unsigned i = 0; i < crowd->n; i++)
            members[i] =
                (struct member){.gathering = &g,
                                .link = &measures->links[crowd->links[i]],
                                .series = series[i]};
        rc = gather(&g, members, crowd->n);
    }
    if (rc == 0)
        summarise_crowd(crowd, members, scratch);
    orr_bus_series_free(series, crowd->n);
    free(members);
    return rc;
}

/* Appends an empty crowd with room for n members. */
static struct orr_bus_crowd *add_crowd(struct orr_bus_measures *measures,
                                       enum orr_bus_crowd_kind kind, unsigned n)
{
    struct orr_bus_crowd *crowds =
        realloc(measures->crowds, (measures->ncrowds + 1) * sizeof(*crowds));
    struct orr_bus_crowd *crowd;

    if (!crowds)
        return NULL;
    measures->crowds = crowds;
    crowd = &crowds[measures->ncrowds++];
    *crowd = (struct orr_bus_crowd){.kind = kind};
    crowd->links = calloc(n, sizeof(*crowd->links));
    crowd->members = calloc(n, sizeof(*crowd->members));
    return crowd->links && crowd->members ? crowd : NULL;
}

static bool same_pair_back(const struct orr_bus_link *a,
                           const struct orr_bus_link *b)
{
    return a->src == b->dst && a->dst == b->src && a->pinned == b->pinned;
}

static int both_ways(const struct orr_bus_measurer *m,
                     struct orr_bus_measures *measures)
{
    for (unsigned i = 0; i < measures->nlinks; i++)
        for (unsigned j = i + 1; j < measures->nlinks; j++) {
            struct orr_bus_crowd *crowd;
            int rc;

            if (!same_pair_back(&measures->links[i], &measures->links[j]))
                continue;
            crowd = add_crowd(measures, ORR_BUS_BOTH_WAYS, 2);
            if (!crowd)
                return -ENOMEM;
            crowd->links[crowd->n++] = i;
            crowd->links[crowd->n++] = j;
            rc = measure_crowd(m, measures, crowd);
            if (rc < 0)
                return rc;
        }
    return 0;
}

/* With two links, both ways is all there is. */
static int all_at_once(const struct orr_bus_measurer *m,
                       struct orr_bus_measures *measures)
{
    struct orr_bus_crowd *crowd;
    unsigned n = 0;

    for (unsigned l = 0; l < measures->nlinks; l++)
        n += orr_bus_link_counts(measures, &measures->links[l]);
    if (n <= 2)
        return 0;
    crowd = add_crowd(measures, ORR_BUS_ALL, n);
    if (!crowd)
        return -ENOMEM;
    for (unsigned l = 0; l < measures->nlinks && crowd->n < MAX_CROWD; l++)
        if (orr_bus_link_counts(measures, &measures->links[l]))
            crowd->links[crowd->n++] = l;
    return measure_crowd(m, measures, crowd);
}

static int within_nodes(const struct orr_bus_measurer *m,
                        struct orr_bus_measures *measures)
{
    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];
        struct orr_bus_crowd *crowd;
        unsigned n = 0;
        int rc;

        for (unsigned w = 0; w < m->machine->nworkers; w++)
            n += m->machine->workers[w].node == link->src;
        if (link->src != link->dst || n < 2)
            continue;
        n = n < MAX_CROWD ? n : MAX_CROWD;
        crowd = add_crowd(measures, ORR_BUS_WITHIN, n);
        if (!crowd)
            return -ENOMEM;
        for (crowd->n = 0; crowd->n < n; crowd->n++)
            crowd->links[crowd->n] = l;
        rc = measure_crowd(m, measures, crowd);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int orr_bus_measure_crowds(const struct orr_bus_measurer *m,
                           struct orr_bus_measures *measures)
{
    int rc = both_ways(m, measures);

    if (rc == 0)
        rc = all_at_once(m, measures);
    if (rc == 0 && m->options->within)
        rc = within_nodes(m, measures);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/measure.c - see measure.h. Each link is measured in a context of its
 * own, bound to where its copies are started in a run. The links take turns in
 * blocks, with new memory each time: what a link's pages or the clock of that
 * moment do to it is then in the spread and not in the estimate.
 */
#include "core/device/bus/measure.h"
#include "core/device/bus/measure_private.h"
#include "core/device/clock.h"
#include "core/device/driver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust.h"
#include "perfmodel/robust_private.h"

enum {
    LARGEST = 32 << 20, /* bytes */
    FEWEST = 3,         /* samples per block */
};

#define SAMPLE_US 5.0 /* shorter copies are timed several at once */
#define LONG_US   1e3 /* one copy of that length is warm-up enough */

/* ---- copies ---- */

static int probe_perform(struct orr_copy *copy, struct orr_async *async)
{
    struct orr_bus_probe *probe = (struct orr_bus_probe *)copy;
    struct orr_raw_copy raw = {
        .src = probe->from,
        .dst = probe->to,
        .src_node = copy->src,
        .dst_node = copy->dst,
        .size = copy->size,
    };

    return orr_machine_raw_copy(probe->machine, &raw, async);
}

/* The waiter serves its mailbox itself. */
static void probe_wake(struct orr_mailbox *mailbox)
{
    struct orr_bus_probe *probe =
        (struct orr_bus_probe *)(void *)((char *)mailbox -
                                         offsetof(struct orr_bus_probe,
                                                  mailbox));

    orr_context_wake(probe->waiter.context);
}

/* By the waiter, or by a simulated machine. */
static void probe_done(struct orr_copy *copy)
{
    orr_waiter_release(&((struct orr_bus_probe *)copy)->waiter);
}

static void probe_wait(struct orr_bus_probe *probe)
{
    static const struct orr_awaited awaited = {.noun =
                                                   "a copy that it measures"};

    while (!orr_waiter_is_over(&probe->waiter))
        if (!orr_mailbox_serve(&probe->mailbox))
            orr_context_park(&awaited, ORR_FOREVER);
    orr_mailbox_await(&probe->mailbox);
}

double orr_probe_start(struct orr_machine *machine, struct orr_bus_probe *probe,
                       size_t size)
{
    struct orr_exec *exec = machine->exec;
    double begin = orr_exec_now(exec), started;

    probe->copy.size = size;
    probe->copy.id++;
    orr_waiter_init(&probe->waiter);
    orr_machine_copy_start(machine, &probe->copy);
    started = orr_exec_now(exec);
    probe_wait(probe);
    return started - begin;
}

double orr_probe_time(struct orr_machine *machine, struct orr_bus_probe *probe,
                      size_t size, unsigned times)
{
    double begin = orr_exec_now(machine->exec);

    for (unsigned i = 0; i < times; i++)
        (void)orr_probe_start(machine, probe, size);
    return (orr_exec_now(machine->exec) - begin) / times;
}

/* ---- buffers ---- */

static bool measured_node_is_main(const struct orr_machine *machine,
                                  unsigned node)
{
    return orr_node_is_main(&machine->nodes[node]);
}

static int buffer_alloc(struct orr_machine *machine,
                        const struct orr_bus_link *link, unsigned node,
                        size_t size, uintptr_t *ret)
{
    struct orr_driver *pinner =
        orr_machine_copier(machine, link->src, link->dst);
    int rc;

    if (link->pinned && measured_node_is_main(machine, node))
        rc = pinner->ops->pinned_alloc(pinner, node, size, ret);
    else
        rc = orr_machine_alloc(machine, node, size, ret);
    /* Pages come with the first touch; those of devices are left to the
     * driver. */
    if (rc == 0 && machine->runs_kernels &&
        measured_node_is_main(machine, node))
        memset((void *)*ret, 1, size);
    return rc;
}

static void buffer_free(struct orr_machine *machine,
                        const struct orr_bus_link *link, unsigned node,
                        uintptr_t address, size_t size)
{
    struct orr_driver *pinner =
        orr_machine_copier(machine, link->src, link->dst);

    if (link->pinned && measured_node_is_main(machine, node))
        pinner->ops->pinned_free(pinner, node, address, size);
    else
        orr_machine_free(machine, node, address, size);
}

int orr_probe_init(struct orr_machine *machine, const struct orr_bus_link *link,
                   size_t size, struct orr_bus_probe *probe)
{
    int rc;

    *probe = (struct orr_bus_probe){
        .copy = {.src = link->src,
                 .dst = link->dst,
                 .perform = probe_perform,
                 .done = probe_done},
        .machine = machine,
        .mailbox = {.wake = probe_wake},
    };
    probe->copy.post.mailbox = &probe->mailbox;
    rc = buffer_alloc(machine, link, link->src, size, &probe->from);
    if (rc < 0)
        return rc;
    rc = buffer_alloc(machine, link, link->dst, size, &probe->to);
    if (rc < 0)
        buffer_free(machine, link, link->src, probe->from, size);
    return rc;
}

void orr_probe_done(struct orr_machine *machine,
                    const struct orr_bus_link *link, size_t size,
                    struct orr_bus_probe *probe)
{
    buffer_free(machine, link, link->src, probe->from, size);
    buffer_free(machine, link, link->dst, probe->to, size);
}

/* The place where copies of the link are started in a run: by a worker of the
 * destination, of the source if that is node 0 (core/data/request.c). The k-th
 * such worker's processor, -1 for any. */
int orr_bus_progress_cpu(const struct orr_machine *machine,
                         const struct orr_bus_link *link, unsigned k)
{
    unsigned node = link->dst != 0 ? link->dst : link->src, n = 0;

    for (unsigned w = 0; w < machine->nworkers; w++)
        n += machine->workers[w].node == node;
    for (unsigned w = 0; n > 0 && w < machine->nworkers; w++)
        if (machine->workers[w].node == node && k-- % n == 0)
            return machine->workers[w].cpu;
    return -1;
}

size_t orr_bus_largest(const struct orr_bus_measurer *m,
                       const struct orr_bus_link *link)
{
    size_t largest = m->sizes[m->nsizes - 1];
    size_t a = m->machine->nodes[link->src].capacity;
    size_t b = m->machine->nodes[link->dst].capacity;

    if (a && largest > a / 4)
        largest = a / 4;
    if (b && largest > b / 4)
        largest = b / 4;
    return largest > 0 ? largest : 1;
}

/* ---- alone ---- */

/* One block of one link. */
struct turn {
    const struct orr_bus_measurer *m;
    const struct orr_bus_link *link;
    struct orr_bus_series *series; /* nsizes */
    double budget_us;              /* left */
    int rc;
};

unsigned long orr_bus_preemptions(const struct orr_machine *machine)
{
    return machine->exec->virtual_time ? 0 : orr_thread_preemptions();
}

static void probe_sample(struct turn *turn, struct orr_bus_probe *probe,
                         size_t limit, struct orr_bus_series *series,
                         double budget_us)
{
    struct orr_machine *machine = turn->m->machine;
    size_t size = series->size < limit ? series->size : limit;
    double first = orr_probe_time(machine, probe, size, 1), spent = 0, one;
    unsigned times = 1000, n = 0;

    /* The first copy of a size is slow: it only determines how many are
     * made. */
    if (first < LONG_US)
        first = fmin(first, orr_probe_time(machine, probe, size, 1));
    if (first > SAMPLE_US / times)
        times = first < SAMPLE_US ? (unsigned)ceil(SAMPLE_US / first) : 1;
    while (n < ORR_BUS_MOST && (n < FEWEST || spent < budget_us)) {
        unsigned long before = orr_bus_preemptions(machine);

        one = orr_probe_time(machine, probe, size, times);
        spent += one * times;
        /* Not the link's, unless there is no other. */
        if (orr_bus_preemptions(machine) != before && spent < 2 * budget_us)
            continue;
        series->us[series->n++] = one;
        n++;
    }
    turn->budget_us -= spent;
}

static void run_turn(void *arg)
{
    struct turn *turn = arg;
    const struct orr_bus_measurer *m = turn->m;
    size_t limit = orr_bus_largest(m, turn->link);
    struct orr_bus_probe probe;

    turn->rc = orr_probe_init(m->machine, turn->link, limit, &probe);
    if (turn->rc < 0)
        return;
    /* Small ones leave time for the large, which need it. */
    for (unsigned s = 0; s < m->nsizes; s++)
        probe_sample(turn, &probe, limit, &turn->series[s],
                     turn->budget_us / (m->nsizes - s));
    orr_probe_done(m->machine, turn->link, limit, &probe);
}

static int in_context(struct orr_machine *machine, int cpu,
                      void (*body)(void *), void *arg)
{
    const struct orr_context init = {.name = "bus calibration"};
    struct orr_context *context;
    int rc = machine->exec->ops->spawn(machine->exec, &init, cpu, body, arg,
                                       &context);

    if (rc == 0)
        machine->exec->ops->join(machine->exec, context);
    return rc;
}

/* ---- estimates ---- */

static double median_of(double *values, unsigned n)
{
    orr_sort(values, n);
    return orr_quantile(values, n, 0.5);
}

/* `scratch` has room for all samples. */
static double spread_of(const struct orr_bus_series *series, unsigned blocks,
                        double median, double *scratch)
{
    double least = INFINITY, most = 0;

    if (blocks == 1) {
        memcpy(scratch, series->us, series->n * sizeof(*scratch));
        orr_sort(scratch, series->n);
        return (orr_quantile(scratch, series->n, 0.75) -
                orr_quantile(scratch, series->n, 0.25)) /
               median;
    }
    for (unsigned b = 0; b < blocks; b++) {
        unsigned n = series->starts[b + 1] - series->starts[b];
        double one;

        memcpy(scratch, series->us + series->starts[b], n * sizeof(*scratch));
        one = median_of(scratch, n);
        least = fmin(least, one);
        most = fmax(most, one);
    }
    return (most - least) / median;
}

struct orr_bus_estimate orr_bus_estimate_of(const struct orr_bus_series *series,
                                            unsigned blocks, double *scratch)
{
    struct orr_interval interval =
        orr_median_interval(series->us, series->n, 0.95);
    struct orr_bus_estimate estimate = {
        .n = series->n, .lo = interval.lo, .hi = interval.hi};

    memcpy(scratch, series->us, series->n * sizeof(*scratch));
    estimate.median = median_of(scratch, series->n);
    estimate.spread = spread_of(series, blocks, estimate.median, scratch);
    return estimate;
}

static double copy_rate(size_t size, double us, double latency)
{
    return (double)size / (us > 2 * latency ? us - latency : us);
}

static void summarise_link(const struct orr_bus_measurer *m,
                           const struct orr_bus_series *series, double *scratch,
                           struct orr_bus_link *link)
{
    size_t limit = orr_bus_largest(m, link);
    const struct orr_bus_point *last;
    double latency;

    for (unsigned s = 0; s < m->nsizes; s++) {
        /* Where memory is small, the largest sizes are one. */
        if (s > 0 && m->sizes[s - 1] >= limit)
            break;
        link->points[link->npoints++] = (struct orr_bus_point){
            m->sizes[s] < limit ? m->sizes[s] : limit,
            orr_bus_estimate_of(&series[s], m->options->blocks, scratch)};
    }
    last = &link->points[link->npoints - 1];
    link->latency = link->points[0].us;
    latency = link->latency.median;
    link->bandwidth = (struct orr_bus_estimate){
        .n = last->us.n,
        .median = copy_rate(last->size, last->us.median, latency),
        .lo = copy_rate(last->size, last->us.hi, latency),
        .hi = copy_rate(last->size, last->us.lo, latency),
        .spread = last->us.spread,
    };
}

/* ---- all links, alone ---- */

void orr_bus_series_free(struct orr_bus_series *series, size_t n)
{
    for (size_t i = 0; series && i < n; i++) {
        free(series[i].us);
        free(series[i].starts);
    }
    free(series);
}

struct orr_bus_series *orr_bus_series_new(const struct orr_bus_measurer *m,
                                          size_t n)
{
    struct orr_bus_series *series = calloc(n + 1, sizeof(*series));
    unsigned blocks = m->options->blocks;

    for (size_t i = 0; series && i < n; i++) {
        series[i].size = m->sizes[i % m->nsizes];
        series[i].us = calloc((size_t)blocks * ORR_BUS_MOST, sizeof(double));
        series[i].starts = calloc(blocks + 1, sizeof(unsigned));
        if (series[i].us && series[i].starts)
            continue;
        orr_bus_series_free(series, n);
        return NULL;
    }
    return series;
}

static int measure_alone(const struct orr_bus_measurer *m,
                         struct orr_bus_measures *measures)
{
    unsigned blocks = m->options->blocks;
    size_t nseries = (size_t)measures->nlinks * m->nsizes;
    struct orr_bus_series *series = orr_bus_series_new(m, nseries);
    double *scratch = calloc((size_t)blocks * ORR_BUS_MOST, sizeof(*scratch));
    int rc = series && scratch ? 0 : -ENOMEM;

    for (unsigned b = 0; b < blocks && rc == 0; b++)
        for (unsigned l = 0; l < measures->nlinks && rc == 0; l++) {
            struct turn turn = {
                .m = m,
                .link = &measures->links[l],
                .series = &series[(size_t)l * m->nsizes],
                .budget_us = m->options->budget_us / measures->nlinks / blocks,
            };

            /* Each time elsewhere: a processor may have other work. */
            rc = in_context(m->machine,
                            orr_bus_progress_cpu(m->machine, turn.link, b),
                            run_turn, &turn);
            if (rc == 0)
                rc = turn.rc;
            for (unsigned s = 0; s < m->nsizes; s++)
                turn.series[s].starts[b + 1] = turn.series[s].n;
        }
    for (unsigned l = 0; l < measures->nlinks && rc == 0; l++)
        summarise_link(m, &series[(size_t)l * m->nsizes], scratch,
                       &measures->links[l]);
    orr_bus_series_free(series, nseries);
    free(scratch);
    return rc;
}

/* ---- everything ---- */

static void choose_sizes(struct orr_bus_measurer *m)
{
    size_t largest = m->options->largest ? m->options->largest : LARGEST;
    size_t size = 1;

    m->sizes[m->nsizes++] = 1;
    while (m->options->all_sizes && m->nsizes < ORR_BUS_MAX_SIZES - 1 &&
           size < largest / 4) {
        size *= 4;
        m->sizes[m->nsizes++] = size;
    }
    if (largest > 1)
        m->sizes[m->nsizes++] = largest;
}

static int measures_add_link(const struct orr_bus_measurer *m,
                             struct orr_bus_measures *measures, unsigned src,
                             unsigned dst, bool pinned)
{
    struct orr_bus_link *link = &measures->links[measures->nlinks];

    *link = (struct orr_bus_link){.src = src, .dst = dst, .pinned = pinned};
    link->points = calloc(m->nsizes, sizeof(*link->points));
    if (!link->points)
        return -ENOMEM;
    measures->nlinks++;
    return 0;
}

static bool offers_pinned(const struct orr_machine *machine, unsigned src,
                          unsigned dst)
{
    return orr_machine_copier(machine, src, dst)->ops->pinned_alloc != NULL;
}

static int list_links(const struct orr_bus_measurer *m,
                      struct orr_bus_measures *measures)
{
    const struct orr_machine *machine = m->machine;
    unsigned n = machine->nnodes;
    int rc = 0;

    measures->nnodes = n;
    measures->links = calloc((size_t)2 * n * n, sizeof(*measures->links));
    if (!measures->links)
        return -ENOMEM;
    for (unsigned src = 0; src < n; src++)
        for (unsigned dst = 0; dst < n && rc == 0; dst++) {
            bool one_end = measured_node_is_main(machine, src) !=
                           measured_node_is_main(machine, dst);

            if (!machine->direct[orr_machine_pair(machine, src, dst)])
                continue;
            if (src == dst &&
                !(m->options->within && measured_node_is_main(machine, src)))
                continue;
            rc = measures_add_link(m, measures, src, dst, false);
            if (rc == 0 && one_end && offers_pinned(machine, src, dst))
                rc = measures_add_link(m, measures, src, dst, true);
        }
    return rc;
}

int orr_bus_measure(struct orr_machine *machine,
                    const struct orr_bus_options *options,
                    struct orr_bus_measures *ret, struct orr_error *err)
{
    struct orr_bus_measurer m = {.machine = machine, .options = options};
    struct orr_bus_measures measures = {0};
    double begin = orr_exec_now(machine->exec);
    int rc;

    choose_sizes(&m);
    rc = list_links(&m, &measures);
    if (rc == 0)
        rc = measure_alone(&m, &measures);
    if (rc == 0 && options->groups)
        rc = orr_bus_measure_groups(&m, &measures);
    measures.seconds = (orr_exec_now(machine->exec) - begin) / 1e6;
    if (rc < 0) {
        orr_bus_measures_done(&measures);
        return orr_fail(err, rc,
                        "the links between memory nodes could not be "
                        "measured: %s",
                        strerror(-rc));
    }
    *ret = measures;
    return 0;
}

void orr_bus_measures_done(struct orr_bus_measures *measures)
{
    for (unsigned l = 0; l < measures->nlinks; l++)
        free(measures->links[l].points);
    for (unsigned c = 0; c < measures->ngroups; c++) {
        free(measures->groups[c].links);
        free(measures->groups[c].members);
    }
    free(measures->links);
    free(measures->groups);
    *measures = (struct orr_bus_measures){0};
}

const struct orr_bus_link *
orr_bus_measures_find(const struct orr_bus_measures *measures, unsigned src,
                      unsigned dst, bool pinned)
{
    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];

        if (link->src == src && link->dst == dst && link->pinned == pinned)
            return link;
    }
    return NULL;
}

bool orr_bus_link_counts(const struct orr_bus_measures *measures,
                         const struct orr_bus_link *link)
{
    return link->src != link->dst &&
           (link->pinned ||
            !orr_bus_measures_find(measures, link->src, link->dst, true));
}

/* Over the node of main memory that gives most. */
static void fill_indirect(const struct orr_machine *machine, unsigned src,
                          unsigned dst, double *bandwidth, double *latency)
{
    unsigned n = machine->nnodes;
    double best = 0, best_latency = (double)NAN;

    for (unsigned k = 0; k < n; k++) {
        double up = bandwidth[src * n + k], down = bandwidth[k * n + dst];
        double through = 1 / (1 / up + 1 / down);

        if (!measured_node_is_main(machine, k) || k == src || k == dst ||
            !(through > best))
            continue;
        best = through;
        best_latency = latency[src * n + k] + latency[k * n + dst];
    }
    bandwidth[src * n + dst] = best > 0 ? best : (double)NAN;
    latency[src * n + dst] = best_latency;
}

void orr_bus_matrices(const struct orr_machine *machine,
                      const struct orr_bus_measures *measures,
                      double *bandwidth, double *latency)
{
    unsigned n = machine->nnodes;

    for (unsigned i = 0; i < n * n; i++)
        bandwidth[i] = latency[i] = i % (n + 1) == 0 ? 0 : (double)NAN;
    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];

        if (!orr_bus_link_counts(measures, link) || link->src >= n ||
            link->dst >= n)
            continue;
        bandwidth[link->src * n + link->dst] = link->bandwidth.median;
        latency[link->src * n + link->dst] = link->latency.median;
    }
    for (unsigned src = 0; src < n; src++)
        for (unsigned dst = 0; dst < n; dst++)
            if (src != dst &&
                !machine->direct[orr_machine_pair(machine, src, dst)])
                fill_indirect(machine, src, dst, bandwidth, latency);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster/flows.c - see flows.h. */
#include "sim/cluster/flows.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fresh.h"
#include "core/base/heap.h"
#include "sim/cluster/levels.h"
#include "sim/network.h"

struct orr_flow {
    struct orr_heap_link link; /* in flight, or ended */
    uint64_t id;               /* in the order of the starts */
    void *cookie, *owner;
    bool latent, light;
    double left;            /* bytes, at date `since` */
    double since;           /* µs */
    double ends;            /* µs: its delay, then the flow */
    double due; /* µs: its place in the heap, `ends` or earlier: a flow that slows down stays
                 * where it is until it would be the first, since most are soon as fast again */
    struct orr_share share; /* last */
};

struct orr_flows {
    struct orr_levels *levels;
    double now;
    uint64_t next_id;
    struct orr_heap flying; /* by date, of one date by id */
    struct orr_heap ended;  /* by id */
    bool changed;           /* rates are due */
    struct orr_flow *spares; /* light ones that have ended, by `cookie`: most flows are light */
};

static struct orr_flow *flow_of(struct orr_heap_link *link)
{
    return orr_container(link, struct orr_flow, link);
}

static bool flow_ends_before(struct orr_heap_link *a, struct orr_heap_link *b)
{
    const struct orr_flow *f = flow_of(a), *g = flow_of(b);

    return f->due < g->due || (f->due == g->due && f->id < g->id);
}

static void fly(struct orr_flows *flows, struct orr_flow *flow)
{
    flow->due = flow->ends;
    orr_heap_insert(&flows->flying, &flow->link, flow_ends_before);
}

static void land(struct orr_flows *flows, struct orr_flow *flow)
{
    orr_heap_remove(&flows->flying, &flow->link, flow_ends_before);
}

/* The one that ends next, of one date the oldest. NULL: none flies. */
static struct orr_flow *first_flow(struct orr_flows *flows)
{
    struct orr_flow *flow;

    while (flows->flying.first) {
        flow = flow_of(flows->flying.first);
        if (flow->due == flow->ends)
            return flow;
        land(flows, flow);
        fly(flows, flow);
    }
    return NULL;
}

static bool flow_is_older(struct orr_heap_link *a, struct orr_heap_link *b)
{
    return flow_of(a)->id < flow_of(b)->id;
}

/* ---- rates ---- */

static void take_rate(void *arg, struct orr_share *share, double rate)
{
    struct orr_flows *flows = arg;
    struct orr_flow *flow = orr_container(share, struct orr_flow, share);
    double left = flow->left - share->rate * (flows->now - flow->since);

    flow->left = fmax(left, 0);
    flow->since = flows->now;
    flow->ends = orr_network_grid(flows->now + flow->left / rate);
    if (flow->ends >= flow->due)
        return;
    flow->due = flow->ends;
    orr_heap_bring_forward(&flows->flying, &flow->link, flow_ends_before);
}

static void settle_rates(struct orr_flows *flows)
{
    if (flows->changed)
        orr_levels_settle(flows->levels, take_rate, flows);
    flows->changed = false;
}

/* Changes of one date are settled before it passes. */
static void move_clock(struct orr_flows *flows, double now_us)
{
    if (now_us > flows->now)
        settle_rates(flows);
    assert(!flows->flying.first ||
           flow_of(flows->flying.first)->ends >= now_us);
    flows->now = now_us;
}

/* ---- a flow ---- */

static void flow_enter(struct orr_flows *flows, struct orr_flow *flow)
{
    flow->latent = false;
    flow->since = flows->now;
    flow->ends = INFINITY; /* until it has a rate */
    fly(flows, flow);
    orr_levels_enter(flows->levels, &flow->share);
    flows->changed = true;
}

static double limit_of(const struct orr_flow_desc *desc)
{
    return desc->limit > 0 ? desc->limit : (double)INFINITY;
}

/* It has no place on its ports. */
static int flow_new_light(struct orr_flows *flows, struct orr_flow **ret)
{
    struct orr_flow *flow = flows->spares;

    if (flow) {
        flows->spares = flow->cookie;
        memset(flow, 0, sizeof(*flow));
    } else if (!(flow = orr_fresh(sizeof(*flow)))) {
        return -ENOMEM;
    }
    flow->light = true;
    *ret = flow;
    return 0;
}

static void flow_free(struct orr_flows *flows, struct orr_flow *flow)
{
    if (!flow->light) {
        free(flow);
        return;
    }
    flow->cookie = flows->spares;
    flows->spares = flow;
}

static int flow_new(struct orr_flows *flows, const struct orr_flow_desc *desc,
                    struct orr_flow **ret)
{
    size_t hops = desc->nports * sizeof(struct orr_hop);
    struct orr_flow *flow;
    int rc;

    if (desc->light)
        return flow_new_light(flows, ret);
    flow = orr_fresh(sizeof(*flow) + hops);
    if (!flow)
        return -ENOMEM;
    flow->share.nports = desc->nports;
    flow->share.limit = limit_of(desc);
    for (unsigned i = 0; i < desc->nports; i++)
        flow->share.hops[i].port = desc->ports[i];
    rc = orr_levels_reserve(flows->levels, &flow->share);
    if (rc < 0)
        free(flow);
    else
        *ret = flow;
    return rc;
}

/* All that it is to wait for is known at its start. */
static void fly_light(struct orr_flows *flows, struct orr_flow *flow,
                      const struct orr_flow_desc *desc)
{
    double rate =
        orr_levels_offer(flows->levels, desc->ports, desc->nports, limit_of(desc));

    flow->ends = orr_network_grid(flow->ends + desc->bytes / rate);
    fly(flows, flow);
}

int orr_flow_start(struct orr_flows *flows, const struct orr_flow_desc *desc,
                   double now_us, struct orr_flow **ret)
{
    struct orr_flow *flow;
    int rc = flow_new(flows, desc, &flow);

    if (rc < 0)
        return rc;
    move_clock(flows, now_us);
    flow->id = flows->next_id++;
    flow->cookie = desc->cookie;
    flow->owner = desc->owner;
    flow->left = desc->bytes;
    flow->latent = !desc->light;
    flow->ends = orr_network_grid(now_us + desc->delay_us);
    if (desc->light)
        fly_light(flows, flow, desc);
    else if (desc->delay_us > 0)
        fly(flows, flow);
    else
        flow_enter(flows, flow);
    if (ret)
        *ret = flow;
    return 0;
}

/* It is in no heap any more. */
static void flow_leave(struct orr_flows *flows, struct orr_flow *flow)
{
    if (flow->light)
        return;
    if (flow->latent) {
        orr_levels_unreserve(flows->levels, &flow->share);
        return;
    }
    orr_levels_leave(flows->levels, &flow->share);
    flows->changed = true;
}

void orr_flow_cancel(struct orr_flows *flows, struct orr_flow *flow,
                     double now_us)
{
    move_clock(flows, now_us);
    land(flows, flow);
    flow_leave(flows, flow);
    flow_free(flows, flow);
}

/* ---- events ---- */

double orr_flows_next_us(struct orr_flows *flows)
{
    const struct orr_flow *first;

    settle_rates(flows);
    first = first_flow(flows);
    return first ? first->ends : (double)INFINITY;
}

void orr_flows_advance(struct orr_flows *flows)
{
    double next = orr_flows_next_us(flows);
    struct orr_flow *flow;

    assert(!flows->ended.first);
    if (isfinite(next))
        flows->now = next;
    while ((flow = first_flow(flows)) && flow->ends <= next + ORR_NETWORK_PRECISION_US) {
        land(flows, flow);
        if (flow->latent) {
            flow_enter(flows, flow);
            continue;
        }
        flow_leave(flows, flow);
        orr_heap_insert(&flows->ended, &flow->link, flow_is_older);
    }
}

void *orr_flows_take_ended(struct orr_flows *flows)
{
    struct orr_heap_link *first = flows->ended.first;
    struct orr_flow *flow;
    void *cookie;

    if (!first)
        return NULL;
    orr_heap_remove(&flows->ended, first, flow_is_older);
    flow = flow_of(first);
    cookie = flow->cookie;
    flow_free(flows, flow);
    return cookie;
}

void *orr_flows_ended_owner(const struct orr_flows *flows)
{
    return flows->ended.first ? flow_of(flows->ended.first)->owner : NULL;
}

/* ---- all of them ---- */

int orr_flows_add_ports(struct orr_flows *flows, const double *capacities,
                        unsigned nports)
{
    return orr_levels_add_ports(flows->levels, capacities, nports);
}

int orr_flows_new(const double *capacities, unsigned nports, double epsilon,
                  struct orr_flows **ret)
{
    struct orr_flows *flows = calloc(1, sizeof(*flows));

    if (!flows)
        return -ENOMEM;
    if (orr_levels_new(capacities, nports, epsilon, &flows->levels) < 0) {
        free(flows);
        return -ENOMEM;
    }
    *ret = flows;
    return 0;
}

static void free_flows(struct orr_heap *heap, orr_heap_before before)
{
    struct orr_heap_link *first;

    while ((first = heap->first)) {
        orr_heap_remove(heap, first, before);
        free(flow_of(first));
    }
}

void orr_flows_free(struct orr_flows *flows)
{
    if (!flows)
        return;
    free_flows(&flows->flying, flow_ends_before);
    free_flows(&flows->ended, flow_is_older);
    while (flows->spares) {
        struct orr_flow *next = flows->spares->cookie;

        free(flows->spares);
        flows->spares = next;
    }
    orr_levels_free(flows->levels);
    free(flows);
}

unsigned long orr_flows_looks(const struct orr_flows *flows)
{
    return orr_levels_looks(flows->levels);
}

size_t orr_flows_bytes(const struct orr_flows *flows)
{
    return sizeof(*flows) + orr_levels_bytes(flows->levels);
}

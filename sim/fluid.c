/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/fluid.c - see fluid.h. Flows enter their links after the latency and leave
 * them at their end; what they share with is given new rates at the next look, once
 * for all changes of a date. Flows elsewhere keep rate and end.
 *
 * No flow is faster than the narrowest link of its route. A link that could carry
 * all its flows at these rates binds none of them, and is left out of everything; one
 * that never binds where no other one does is left out of the routes.
 */
#include "sim/fluid.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "sim/options.h"

struct link {
    double capacity; /* bytes per µs, of a fat pipe: for each flow */
    bool fat;
    struct flow **flows; /* in no order; twice where a route passes twice */
    unsigned n;
    size_t room;
    unsigned booked; /* places of those on it or in their latency */
    bool binds;
    /* While rates are found. */
    unsigned round;
    unsigned open; /* flows without a rate yet, 0 where it does not bind */
    double left;   /* bytes per µs */
    double weight; /* of the open flows: the sum, of a fat pipe the greatest */
    /* While routes are made. */
    struct link **rivals; /* that all routes pass which pass it */
    unsigned nrivals;
    bool passed, twice; /* by a route */
    bool idle;          /* it never decides a rate */
};

struct route {
    bool exists;
    unsigned first, n; /* in hops: of its links, those that may bind */
    double latency;    /* µs */
    double weight;
    double narrowest; /* bytes per µs, of all its links */
};

struct flow {
    void *cookie;
    const struct route *route;
    bool latent;
    double left;  /* bytes, at date `since` */
    double since; /* µs */
    double rate;  /* bytes per µs */
    double ends;  /* µs: its latency, then the flow */
    /* While rates are found. */
    unsigned round;
    bool open;
    double found; /* bytes per µs */
};

struct fluid {
    struct orr_network network; /* first */
    double now;
    struct link *links;
    struct link **hops; /* of all routes, one after the other */
    struct route *routes;
    unsigned nlinks, nendpoints;
    struct flow **flying; /* in order of their starts; behind them spare ones */
    unsigned nflying, nflows;
    void **ended; /* [nflows] cookies */
    unsigned nended, ntaken;
    /* The links that bind, or did, and whose flows have changed; then all that
     * share flows with them. */
    struct link **touched;
    unsigned ntouched;
    /* [nflows], those that have entered, then all on these links. */
    struct flow **sharing;
    unsigned nsharing;
    unsigned round;
};

static struct fluid *fluid_of(struct orr_network *network)
{
    return (struct fluid *)network;
}

static struct link **hops_of(const struct fluid *f, const struct route *route)
{
    return f->hops + route->first;
}

/* ---- the flows of a link ---- */

static void fluid_touch_link(struct fluid *f, struct link *link)
{
    if (link->round == f->round)
        return;
    link->round = f->round;
    f->touched[f->ntouched++] = link;
}

/* A place for a flow that enters later. */
static int link_book(struct link *link)
{
    return orr_grow(&link->flows, &link->room, ++link->booked,
                    sizeof(struct flow *));
}

/* A fat pipe binds those that are as narrow as itself: where SimGrid stops the one
 * of the greatest weight, it stops all. */
static bool link_binds(const struct link *link)
{
    double sum = 0;

    if (link->n < 2)
        return false;
    for (unsigned k = 0; k < link->n; k++) {
        double narrowest = link->flows[k]->route->narrowest;

        if (link->fat && narrowest >= link->capacity)
            return true;
        sum += narrowest;
    }
    return !link->fat && sum > link->capacity;
}

/* Its rate is due. */
static void add_sharing(struct fluid *f, struct flow *flow)
{
    if (flow->round == f->round)
        return;
    flow->round = f->round;
    flow->open = true;
    f->sharing[f->nsharing++] = flow;
}

static void enter_links(struct fluid *f, struct flow *flow)
{
    struct link **hops = hops_of(f, flow->route);

    flow->latent = false;
    flow->since = f->now;
    flow->ends = INFINITY; /* until it has a rate */
    add_sharing(f, flow);
    for (unsigned i = 0; i < flow->route->n; i++) {
        hops[i]->flows[hops[i]->n++] = flow;
        hops[i]->binds = link_binds(hops[i]);
        if (hops[i]->binds)
            fluid_touch_link(f, hops[i]);
    }
}

static void leave_links(struct fluid *f, const struct flow *flow)
{
    struct link **hops = hops_of(f, flow->route);

    for (unsigned i = 0; i < flow->route->n; i++) {
        struct flow **flows = hops[i]->flows;
        unsigned at = 0;

        if (hops[i]->binds)
            fluid_touch_link(f, hops[i]);
        while (flows[at] != flow)
            at++;
        flows[at] = flows[--hops[i]->n];
        hops[i]->booked--;
        hops[i]->binds = link_binds(hops[i]);
    }
}

/* ---- rates ---- */

/* All flows that share a link with a touched one, directly or through others, and
 * their links. */
static void find_sharing(struct fluid *f)
{
    unsigned nlinks = 0, nflows = 0;

    while (nlinks < f->ntouched || nflows < f->nsharing) {
        if (nlinks < f->ntouched) {
            const struct link *link = f->touched[nlinks++];

            for (unsigned k = 0; k < link->n; k++)
                add_sharing(f, link->flows[k]);
        } else {
            const struct flow *flow = f->sharing[nflows++];
            struct link **hops = hops_of(f, flow->route);

            for (unsigned h = 0; h < flow->route->n; h++)
                if (hops[h]->binds)
                    fluid_touch_link(f, hops[h]);
        }
    }
}

static void link_set_weight(struct link *link)
{
    link->weight = 0;
    for (unsigned k = 0; k < link->n; k++) {
        double weight = link->flows[k]->route->weight;

        if (!link->flows[k]->open)
            continue;
        if (!link->fat)
            link->weight += weight;
        else if (link->weight < weight)
            link->weight = weight;
    }
}

static void empty_links(struct fluid *f)
{
    for (unsigned i = 0; i < f->ntouched; i++) {
        struct link *link = f->touched[i];

        link->open = link->binds ? link->n : 0;
        link->left = link->capacity;
        if (link->binds)
            link_set_weight(link);
    }
}

/* What a flow with its rate leaves of a link. */
static void link_take_flow_rate(struct link *link, const struct flow *flow)
{
    /* The difference of nearly equal rates: flows at rate 0 would never end. */
    const double least = 1e-9 * link->capacity;

    link->open--;
    if (link->fat) {
        if (flow->route->weight >= link->weight)
            link_set_weight(link);
        return;
    }
    link->left -= flow->found;
    link->weight -= flow->route->weight;
    if (link->weight < 1e-6 * flow->route->weight)
        link_set_weight(link); /* too few of its bits are left */
    if (link->left < least)
        link->left = least;
}

static void flow_fix_rate(const struct fluid *f, struct flow *flow, double rate)
{
    struct link **hops = hops_of(f, flow->route);

    flow->open = false;
    flow->found = rate;
    for (unsigned h = 0; h < flow->route->n; h++)
        if (hops[h]->open)
            link_take_flow_rate(hops[h], flow);
}

/* Those that stop at the lowest level: the flows of the link that is full, or one
 * that is as fast as it can be. Returns how many. */
static unsigned fix_lowest(const struct fluid *f)
{
    double level = INFINITY;
    struct link *full = NULL;
    struct flow *fast = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < f->ntouched; i++) {
        struct link *link = f->touched[i];

        if (!link->open || link->left >= level * link->weight)
            continue;
        full = link;
        level = link->left / link->weight;
    }
    for (unsigned i = 0; i < f->nsharing; i++) {
        struct flow *flow = f->sharing[i];

        /* A link that stops it at the same level may stop others too. */
        if (!flow->open || flow->route->narrowest >=
                               (1 - 1e-12) * level * flow->route->weight)
            continue;
        fast = flow;
        level = flow->route->narrowest / flow->route->weight;
    }
    if (fast) {
        flow_fix_rate(f, fast, fast->route->narrowest);
        return 1;
    }
    for (unsigned k = 0; full->open; k++)
        if (full->flows[k]->open) {
            flow_fix_rate(f, full->flows[k],
                          full->flows[k]->route->weight * level);
            n++;
        }
    return n;
}

static void find_rates(struct fluid *f)
{
    empty_links(f);
    for (unsigned nopen = f->nsharing; nopen > 0;)
        nopen -= fix_lowest(f);
}

static void take_rate(const struct fluid *f, struct flow *flow)
{
    if (flow->found == flow->rate)
        return;
    flow->left -= flow->rate * (f->now - flow->since);
    flow->since = f->now;
    flow->rate = flow->found;
    flow->ends = orr_network_grid(f->now + fmax(flow->left, 0) / flow->rate);
}

/* After changes, at the date of these. */
static void fluid_set_rates(struct fluid *f)
{
    if (!f->ntouched && !f->nsharing)
        return;
    find_sharing(f);
    find_rates(f);
    for (unsigned i = 0; i < f->nsharing; i++)
        take_rate(f, f->sharing[i]);
    f->ntouched = f->nsharing = 0;
    f->round++;
}

/* ---- operations ---- */

static double fluid_next_us(struct orr_network *network)
{
    struct fluid *f = fluid_of(network);
    double next = INFINITY;

    fluid_set_rates(f);
    for (unsigned i = 0; i < f->nflying; i++)
        if (f->flying[i]->ends < next)
            next = f->flying[i]->ends;
    return next;
}

/* Takes out those that end, and keeps the others in order. */
static void fluid_advance(struct orr_network *network)
{
    struct fluid *f = fluid_of(network);
    double next = fluid_next_us(network);
    unsigned kept = 0;

    if (f->nflying == 0)
        return;
    f->now = next;
    for (unsigned i = 0; i < f->nflying; i++) {
        struct flow *flow = f->flying[i];

        if (flow->ends <= next + ORR_NETWORK_PRECISION_US) {
            if (!flow->latent) {
                leave_links(f, flow);
                f->ended[f->nended++] = flow->cookie;
                continue;
            }
            enter_links(f, flow);
        }
        f->flying[i] = f->flying[kept];
        f->flying[kept++] = flow;
    }
    f->nflying = kept;
}

static void *fluid_take_ended(struct orr_network *network)
{
    struct fluid *f = fluid_of(network);

    if (f->ntaken < f->nended)
        return f->ended[f->ntaken++];
    f->nended = f->ntaken = 0;
    return NULL;
}

/* Places for one more flow, in all lists that it may come to. */
static int reserve_flows(struct fluid *f)
{
    size_t room = 2 * (size_t)f->nflows + 16;
    void **ended;
    struct flow **flying, **sharing;

    if (f->nflying + f->nended < f->nflows)
        return 0;
    if ((ended = realloc(f->ended, room * sizeof(*ended))))
        f->ended = ended;
    if ((sharing = realloc(f->sharing, room * sizeof(struct flow *))))
        f->sharing = sharing;
    if ((flying = realloc(f->flying, room * sizeof(struct flow *))))
        f->flying = flying;
    if (!ended || !sharing || !flying)
        return -ENOMEM;
    for (; f->nflows < room; f->nflows++)
        if (!(f->flying[f->nflows] = calloc(1, sizeof(struct flow))))
            return -ENOMEM;
    return 0;
}

static int fluid_reserve_route(struct fluid *f, const struct route *route)
{
    int rc = reserve_flows(f);

    for (unsigned i = 0; i < route->n && rc == 0; i++)
        rc = link_book(hops_of(f, route)[i]);
    return rc;
}

static int fluid_start(struct orr_network *network, unsigned src, unsigned dst,
                       size_t bytes, void *cookie, double now_us,
                       struct orr_error *err)
{
    struct fluid *f = fluid_of(network);
    const struct route *route = &f->routes[src * f->nendpoints + dst];
    struct flow *flow;

    if (!route->exists)
        return orr_fail(err, -EIO, "no route from node %u to node %u", src,
                        dst);
    if (fluid_reserve_route(f, route) < 0)
        return orr_fail(err, -ENOMEM, "no memory for a transfer of %zu bytes",
                        bytes);
    if (now_us > f->now)
        fluid_set_rates(f);
    f->now = now_us;
    flow = f->flying[f->nflying++];
    *flow = (struct flow){.cookie = cookie,
                          .route = route,
                          .latent = true,
                          .left = (double)bytes,
                          .ends = orr_network_grid(now_us + route->latency)};
    if (route->latency == 0)
        enter_links(f, flow);
    return 0;
}

static void fluid_free(struct orr_network *network)
{
    struct fluid *f = fluid_of(network);

    for (unsigned i = 0; f->links && i < f->nlinks; i++)
        free(f->links[i].flows);
    for (unsigned i = 0; i < f->nflows; i++)
        free(f->flying[i]);
    free(f->flying);
    free(f->sharing);
    free(f->ended);
    free(f->touched);
    free(f->links);
    free(f->hops);
    free(f->routes);
    free(f);
}

static const struct orr_network_ops fluid_ops = {
    .start = fluid_start,
    .next_us = fluid_next_us,
    .advance = fluid_advance,
    .take_ended = fluid_take_ended,
    .free = fluid_free,
};

/* ---- making one ---- */

/* A split link is two. */
static unsigned fluid_link_number(const struct orr_hop_desc *hop)
{
    return 2 * hop->link + (hop->direction == ORR_HOP_DOWN);
}

static void fluid_make_links(struct fluid *f,
                             const struct orr_machine_desc *desc)
{
    double factor = orr_sim_option(desc, "network/bandwidth-factor", 1);

    for (unsigned i = 0; i < f->nlinks; i++) {
        const struct orr_link_desc *from = &desc->links[i / 2];

        f->links[i].capacity = from->bandwidth * factor * 1e-6;
        f->links[i].fat = from->sharing == ORR_LINK_FATPIPE;
    }
}

/* A link that is passed twice gives each pass half of itself. */
static double route_narrowest_rate(const struct fluid *f,
                                   const struct route *route)
{
    struct link **hops = hops_of(f, route);
    double least = INFINITY;

    for (unsigned i = 0; i < route->n; i++) {
        unsigned passes = 0;

        for (unsigned k = 0; k < route->n; k++)
            passes += hops[k] == hops[i];
        least = fmin(least, hops[i]->capacity / (hops[i]->fat ? 1 : passes));
    }
    return least;
}

static void make_route(struct fluid *f, const struct orr_machine_desc *desc,
                       const struct orr_route_desc *from, double latencies,
                       struct route *to, unsigned *nhops)
{
    double latency = 0; /* s */

    to->exists = true;
    to->first = *nhops;
    to->n = from->nhops;
    for (unsigned h = 0; h < from->nhops; h++) {
        latency += desc->links[from->hops[h].link].latency * latencies;
        f->hops[(*nhops)++] = &f->links[fluid_link_number(&from->hops[h])];
    }
    to->latency = latency * 1e6;
    to->weight = latency > 0 ? 1 / latency : 1;
    to->narrowest = route_narrowest_rate(f, to);
}

/* Returns the most hops of a route. */
static unsigned make_routes(struct fluid *f,
                            const struct orr_machine_desc *desc,
                            const unsigned *endpoints)
{
    double latencies = orr_sim_option(desc, "network/latency-factor", 1);
    unsigned nhops = 0, most = 0;

    for (unsigned i = 0; i < f->nendpoints * f->nendpoints; i++) {
        int route =
            orr_machine_desc_route(desc, endpoints[i / f->nendpoints],
                                   endpoints[i % f->nendpoints]);

        if (route >= 0)
            make_route(f, desc, &desc->routes[route], latencies, &f->routes[i],
                       &nhops);
        if (f->routes[i].n > most)
            most = f->routes[i].n;
    }
    return most;
}

/* ---- links that never decide a rate ---- */

static bool is_among(struct link **links, unsigned n, const struct link *link)
{
    for (unsigned i = 0; i < n; i++)
        if (links[i] == link)
            return true;
    return false;
}

/* One more route passes the link, its hop number `at`. */
static void link_pass(struct link *link, const struct route *route,
                      struct link **hops, unsigned at)
{
    unsigned kept = 0;

    link->twice |= is_among(hops, at, link);
    if (!link->passed) {
        link->passed = link->idle = true; /* if it is fat, so far */
        for (unsigned i = 0; i < route->n; i++)
            link->rivals[link->nrivals++] = hops[i];
    }
    for (unsigned i = 0; i < link->nrivals; i++)
        if (is_among(hops, route->n, link->rivals[i]))
            link->rivals[kept++] = link->rivals[i];
    link->nrivals = kept;
    link->idle &= route->narrowest < link->capacity;
}

/* Whether the rival, with all flows of the link and maybe others, stops them before the
 * link could. Of two that are alike one does. */
static bool rival_decides(const struct link *link, const struct link *rival)
{
    if (rival->fat || rival->twice || rival == link ||
        rival->capacity > link->capacity)
        return false;
    return rival->capacity < link->capacity || rival < link ||
           !is_among(rival->rivals, rival->nrivals, link);
}

static void link_find_rival(struct link *link)
{
    if (link->fat)
        return;
    link->idle = false;
    for (unsigned i = 0; i < link->nrivals && !link->twice; i++)
        link->idle |= rival_decides(link, link->rivals[i]);
}

/* Leaves out of all routes a fat pipe that is wider than the narrowest link of each
 * route through it, and a link whose flows all pass another one that is no wider. */
static int drop_idle_links(struct fluid *f, size_t nhops)
{
    unsigned nroutes = f->nendpoints * f->nendpoints;
    struct link **rivals = calloc(f->nlinks * nhops + 1, sizeof(struct link *));

    if (!rivals)
        return -ENOMEM;
    for (unsigned i = 0; i < f->nlinks; i++)
        f->links[i].rivals = rivals + i * nhops;
    for (unsigned r = 0; r < nroutes; r++)
        for (unsigned i = 0; i < f->routes[r].n; i++)
            link_pass(hops_of(f, &f->routes[r])[i], &f->routes[r],
                      hops_of(f, &f->routes[r]), i);
    for (unsigned i = 0; i < f->nlinks; i++)
        link_find_rival(&f->links[i]);
    for (unsigned r = 0; r < nroutes; r++) {
        struct link **hops = hops_of(f, &f->routes[r]);
        unsigned kept = 0;

        for (unsigned i = 0; i < f->routes[r].n; i++)
            if (!hops[i]->idle)
                hops[kept++] = hops[i];
        f->routes[r].n = kept;
    }
    free(rivals);
    return 0;
}

static int make_lists(struct fluid *f, const struct orr_machine_desc *desc)
{
    size_t nhops = 1;

    for (unsigned i = 0; i < desc->nroutes; i++)
        nhops += desc->routes[i].nhops;
    f->links = calloc(f->nlinks + 1U, sizeof(*f->links));
    f->touched = calloc(f->nlinks + 1U, sizeof(struct link *));
    f->hops = calloc(nhops, sizeof(struct link *));
    f->routes = calloc((size_t)f->nendpoints * f->nendpoints + 1,
                       sizeof(*f->routes));
    return f->links && f->touched && f->hops && f->routes ? 0 : -ENOMEM;
}

int orr_fluid_new(const struct orr_machine_desc *desc,
                  const unsigned *endpoints, unsigned nendpoints,
                  struct orr_network **ret, struct orr_error *err)
{
    struct fluid *f = calloc(1, sizeof(*f));

    (void)err;
    if (!f)
        return -ENOMEM;
    f->network.ops = &fluid_ops;
    f->round = 1;
    f->nlinks = 2 * desc->nlinks;
    f->nendpoints = nendpoints;
    if (make_lists(f, desc) < 0) {
        fluid_free(&f->network);
        return -ENOMEM;
    }
    fluid_make_links(f, desc);
    if (drop_idle_links(f, make_routes(f, desc, endpoints)) < 0) {
        fluid_free(&f->network);
        return -ENOMEM;
    }
    *ret = &f->network;
    return 0;
}

const char *orr_fluid_lacks(const struct orr_machine_desc *desc)
{
    if (orr_sim_option(desc, "network/TCP-gamma", -1) > 0)
        return "TCP-gamma";
    if (orr_sim_option(desc, "network/weight-S", 0) > 0)
        return "weight-S";
    if (orr_sim_option(desc, "network/crosstraffic", 0) > 0)
        return "crosstraffic";
    return NULL;
}

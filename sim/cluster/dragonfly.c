/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/dragonfly.c - dragonflies (fabric.h has the paper): groups of routers, each
 * linked to all others of its group, and the groups to each other. Routes are the
 * shortest: to the router that has a link to the other group, over it, to the router of
 * the destination. Where two groups have parallel links, the destination chooses.
 *
 * The links of a group's routers to other groups are numbered through; link k × (g - 1)
 * + d leads to the group d + 1 further on ("relative" arrangement).
 */
#include "sim/cluster/interconnect_private.h"

#include <errno.h>
#include <math.h>

static unsigned divide_up(unsigned a, unsigned b)
{
    return a / b + (a % b != 0);
}

/* What is not given: p NICs on 2p routers with p links to other groups, for a group to
 * have room, as the paper balances it. */
static void dragonfly_complete(const struct orr_fabric *fabric,
                               struct orr_interconnect *net)
{
    unsigned g = fabric->dragonfly.g, a = fabric->dragonfly.a;
    unsigned p = fabric->dragonfly.p, h = fabric->dragonfly.h;
    unsigned ends = divide_up(net->nends, g);

    if (!p)
        p = a ? divide_up(ends, a) : (unsigned)ceil(sqrt(ends / 2.));
    if (!a)
        a = divide_up(ends, p);
    if (!h)
        h = p < divide_up(g - 1, a) ? divide_up(g - 1, a) : p;
    net->u.dragonfly.g = g;
    net->u.dragonfly.a = a;
    net->u.dragonfly.p = p;
    net->u.dragonfly.h = h;
}

static uint64_t pairs_of(uint64_t n)
{
    return n * (n - 1) / 2;
}

static int dragonfly_size(const struct orr_fabric *fabric,
                          struct orr_interconnect *net, struct orr_error *err)
{
    unsigned g, a, p, h;

    dragonfly_complete(fabric, net);
    g = net->u.dragonfly.g;
    a = net->u.dragonfly.a;
    p = net->u.dragonfly.p;
    h = net->u.dragonfly.h;
    if ((double)g * a * p < net->nends)
        return orr_fail(err, -EINVAL,
                        "a dragonfly of %u groups of %u routers with %u NICs "
                        "each has no places for %u NICs: give a greater g=, a= "
                        "or p=",
                        g, a, p, net->nends);
    if ((double)a * h < g - 1)
        return orr_fail(err, -EINVAL,
                        "%u routers with h=%u links each cannot reach %u other "
                        "groups of a dragonfly: give h=%u",
                        a, h, g - 1, divide_up(g - 1, a));
    net->u.dragonfly.parallel =
        g > 1 ? (unsigned)((uint64_t)a * h / (g - 1)) : 0;
    net->u.dragonfly.nlocal = g * pairs_of(a);
    net->nlinks =
        net->u.dragonfly.nlocal + pairs_of(g) * net->u.dragonfly.parallel;
    net->longest = 3;
    return 0;
}

/* The number of the pair i < k among those of 0 … n - 1. */
static uint64_t pair_number(uint64_t n, uint64_t i, uint64_t k)
{
    return i * (2 * n - i - 1) / 2 + (k - i - 1);
}

/* The channel from one of n to another one, where pairs have so many links each. */
static unsigned pair_channel(uint64_t first, unsigned n, unsigned from,
                             unsigned to, unsigned nlinks, unsigned link)
{
    bool back = from > to;
    uint64_t pair = back ? pair_number(n, to, from) : pair_number(n, from, to);

    return (unsigned)(2 * (first + pair * nlinks + link) + back);
}

/* Which router of group `from` has that link to group `to`. */
static unsigned gateway(const struct orr_interconnect *net, unsigned from,
                        unsigned to, unsigned link)
{
    unsigned g = net->u.dragonfly.g;
    unsigned further = (to + g - from - 1) % g;

    return (link * (g - 1) + further) / net->u.dragonfly.h;
}

/* Within a group; nothing from a router to itself. */
static unsigned cross_group(const struct orr_interconnect *net, unsigned group,
                            unsigned from, unsigned to, unsigned *channel)
{
    unsigned a = net->u.dragonfly.a;

    if (from == to)
        return 0;
    *channel = pair_channel(group * pairs_of(a), a, from, to, 1, 0);
    return 1;
}

static unsigned dragonfly_route(const struct orr_interconnect *net,
                                unsigned src, unsigned dst, unsigned *channels)
{
    unsigned a = net->u.dragonfly.a, p = net->u.dragonfly.p;
    unsigned here = src / p / a, there = dst / p / a; /* groups */
    unsigned from = src / p % a, to = dst / p % a;    /* routers in them */
    unsigned parallel = net->u.dragonfly.parallel;
    unsigned link, n;

    if (here == there)
        return cross_group(net, here, from, to, channels);
    link = dst % parallel;
    n = cross_group(net, here, from, gateway(net, here, there, link), channels);
    channels[n++] = pair_channel(net->u.dragonfly.nlocal, net->u.dragonfly.g,
                                 here, there, parallel, link);
    return n + cross_group(net, there, gateway(net, there, here, link), to,
                           channels + n);
}

/* Links between the halves of so many that are linked in pairs. */
static double halves(uint64_t n)
{
    return (double)(n / 2) * (double)(n - n / 2);
}

/* The ends are in the first groups: between these, by the direct links alone; within
 * one, between its routers. */
static void dragonfly_describe(const struct orr_interconnect *net,
                               struct orr_interconnect_shape *shape)
{
    unsigned a = net->u.dragonfly.a, p = net->u.dragonfly.p;
    unsigned nrouters = divide_up(net->nends, p);
    unsigned ngroups = divide_up(nrouters, a);

    shape->nlevels = 1;
    shape->switches[0] = (uint64_t)net->u.dragonfly.g * a;
    shape->links[0] = net->nlinks;
    shape->ports = p + a - 1 + net->u.dragonfly.h;
    if (ngroups > 1)
        shape->bisection = halves(ngroups) * net->u.dragonfly.parallel;
    else
        shape->bisection = nrouters > 1 ? halves(nrouters) : net->nends;
}

/* Of a group's links to others each is of one pair. */
static bool dragonfly_divide(const struct orr_interconnect *net, unsigned k, unsigned *part,
                             struct orr_interconnect_division *ret)
{
    unsigned size = net->u.dragonfly.a * net->u.dragonfly.p; /* ends of a group */

    if (k > 0 || size % net->nics != 0)
        return false;
    for (unsigned node = 0; node < net->nnodes; node++)
        part[node] = node * net->nics / size;
    *ret = (struct orr_interconnect_division){
        part[net->nnodes - 1] + 1,
        (double)net->u.dragonfly.parallel * (net->u.dragonfly.g - 1)};
    return ret->nparts > 1;
}

const struct orr_topology_rules orr_dragonfly_rules = {dragonfly_size, dragonfly_route,
                                                       dragonfly_describe, dragonfly_divide};

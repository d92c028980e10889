/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster/interconnect.c - see interconnect.h: NICs, ports, and the crossbar. */
#include "sim/cluster/interconnect_private.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- one switch ---- */

static int crossbar_size(const struct orr_fabric *fabric,
                         struct orr_interconnect *net, struct orr_error *err)
{
    (void)fabric;
    (void)err;
    net->nlinks = net->longest = 0;
    return 0;
}

static unsigned crossbar_route(const struct orr_interconnect *net, unsigned src,
                               unsigned dst, unsigned *channels)
{
    (void)net;
    (void)src;
    (void)dst;
    (void)channels;
    return 0;
}

static void crossbar_describe(const struct orr_interconnect *net,
                              struct orr_interconnect_shape *shape)
{
    shape->nlevels = 1;
    shape->switches[0] = 1;
    shape->ports = net->nends;
    shape->bisection = net->nends;
}

static const struct orr_topology_rules crossbar_rules = {
    crossbar_size, crossbar_route, crossbar_describe, NULL};

static const struct orr_topology_rules *const rules_of_kind[] = {
    [ORR_TOPOLOGY_CROSSBAR] = &crossbar_rules,
    [ORR_TOPOLOGY_FAT_TREE] = &orr_fat_tree_rules,
    [ORR_TOPOLOGY_DRAGONFLY] = &orr_dragonfly_rules,
    [ORR_TOPOLOGY_TORUS] = &orr_torus_rules,
};

/* ---- all of them ---- */

static int interconnect_size(const struct orr_fabric *fabric, unsigned nnodes,
                             struct orr_interconnect *net,
                             struct orr_error *err)
{
    uint64_t nends = (uint64_t)nnodes * fabric->nics;
    int rc;

    if (nends == 0 || nends > INT_MAX)
        return orr_fail(err, -EINVAL,
                        "a network cannot connect %u nodes with %u NICs each",
                        nnodes, fabric->nics);
    net->nends = (unsigned)nends;
    rc = net->rules->size(fabric, net, err);
    if (rc == 0 && nends + net->nlinks > INT_MAX / 2)
        rc = orr_fail(err, -EINVAL,
                      "a network of %u nodes would have %llu links, which are "
                      "too many: describe a smaller one",
                      nnodes, (unsigned long long)(nends + net->nlinks));
    return rc;
}

int orr_interconnect_new(const struct orr_fabric *fabric, unsigned nnodes,
                         struct orr_interconnect **ret, struct orr_error *err)
{
    struct orr_interconnect *net = calloc(1, sizeof(*net));
    int rc;

    if (!net)
        return -ENOMEM;
    net->rules = rules_of_kind[fabric->kind];
    net->nnodes = nnodes;
    net->nics = fabric->nics;
    net->half_duplex = fabric->half_duplex;
    net->latency_us = fabric->latency_us;
    net->hop_us = fabric->hop_us;
    rc = interconnect_size(fabric, nnodes, net, err);
    if (rc < 0)
        free(net);
    else
        *ret = net;
    return rc;
}

void orr_interconnect_free(struct orr_interconnect *net)
{
    free(net);
}

unsigned orr_interconnect_nports(const struct orr_interconnect *net)
{
    unsigned nlinks = net->nends + (unsigned)net->nlinks;

    return net->half_duplex ? nlinks : 2 * nlinks;
}

unsigned orr_interconnect_longest(const struct orr_interconnect *net)
{
    return net->longest + 2;
}

static unsigned port_of_channel(const struct orr_interconnect *net,
                                unsigned channel)
{
    return net->half_duplex ? channel / 2 : channel;
}

unsigned orr_interconnect_nic(const struct orr_interconnect *net, unsigned src,
                              unsigned dst, unsigned nic)
{
    return (nic == ORR_ANY_NIC ? src + dst : nic) % net->nics;
}

unsigned orr_interconnect_route(const struct orr_interconnect *net,
                                unsigned src, unsigned dst, unsigned nic,
                                unsigned *ports)
{
    unsigned n;

    assert(src < net->nnodes && dst < net->nnodes && src != dst);
    nic = orr_interconnect_nic(net, src, dst, nic);
    src = src * net->nics + nic;
    dst = dst * net->nics + nic;
    n = net->rules->route(net, src, dst, ports + 1);
    for (unsigned i = 1; i <= n; i++)
        ports[i] = port_of_channel(net, 2 * net->nends + ports[i]);
    ports[0] = port_of_channel(net, 2 * src);
    ports[n + 1] = port_of_channel(net, 2 * dst + 1);
    return n + 2;
}

void orr_interconnect_describe(const struct orr_interconnect *net,
                               struct orr_interconnect_shape *ret)
{
    *ret = (struct orr_interconnect_shape){0};
    net->rules->describe(net, ret);
    ret->bisection = fmin(ret->bisection, net->nends / 2.);
}

bool orr_interconnect_divide(const struct orr_interconnect *net, unsigned k, unsigned *part,
                             struct orr_interconnect_division *ret)
{
    return net->rules->divide && net->rules->divide(net, k, part, ret);
}

double orr_interconnect_latency(const struct orr_interconnect *net,
                                unsigned nports)
{
    unsigned nswitches = nports - 1; /* a link on either side of each */

    return net->latency_us + net->hop_us * (nswitches - 1);
}

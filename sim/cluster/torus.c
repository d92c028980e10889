/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/torus.c - tori: a router per node, each linked to two neighbours in every
 * dimension. Routes correct one dimension after the other, the first one first, by the
 * shorter way round, upwards where both are as long.
 *
 * Link router × ndims + d leads to the next router of dimension d. Places without a
 * node have their routers.
 */
#include "sim/cluster/interconnect_private.h"

#include <errno.h>

static int torus_size(const struct orr_fabric *fabric,
                      struct orr_interconnect *net, struct orr_error *err)
{
    uint64_t nrouters = 1;

    net->u.torus.ndims = fabric->torus.ndims;
    for (unsigned d = 0; d < fabric->torus.ndims; d++) {
        net->u.torus.dims[d] = fabric->torus.dims[d];
        net->longest += fabric->torus.dims[d] / 2;
        nrouters *= fabric->torus.dims[d];
        if (nrouters > INT32_MAX)
            return orr_fail(err, -EINVAL,
                            "the torus has more than %d places: give smaller "
                            "dimensions",
                            INT32_MAX);
    }
    if (nrouters < net->nnodes)
        return orr_fail(err, -EINVAL,
                        "the torus has %llu places and not %u: give larger "
                        "dimensions",
                        (unsigned long long)nrouters, net->nnodes);
    net->nlinks = nrouters * fabric->torus.ndims;
    return 0;
}

static unsigned torus_route(const struct orr_interconnect *net, unsigned src,
                            unsigned dst, unsigned *channels)
{
    unsigned ndims = net->u.torus.ndims, n = 0;
    unsigned at = src / net->nics, to = dst / net->nics; /* routers */

    /* Routers that differ by 1 in dimension d differ by `stride` in number. */
    for (unsigned d = 0, stride = 1; d < ndims; d++) {
        unsigned size = net->u.torus.dims[d];
        unsigned x = at / stride % size;
        unsigned up = (to / stride % size + size - x) % size;
        bool back = up > size / 2;
        unsigned steps = back ? size - up : up;

        while (steps-- > 0) {
            unsigned next = back ? (x + size - 1) % size : (x + 1) % size;
            unsigned after = at - x * stride + next * stride;

            /* The link is that of the lower one of both, going up. */
            channels[n++] = 2 * ((back ? after : at) * ndims + d) + back;
            at = after;
            x = next;
        }
        stride *= size;
    }
    return n;
}

/* Cut across the longest dimension; of two routers, each has a link upwards to the other,
 * which is one in both directions. */
static void torus_describe(const struct orr_interconnect *net,
                           struct orr_interconnect_shape *shape)
{
    unsigned ndims = net->u.torus.ndims, longest = 1;

    for (unsigned d = 0; d < ndims; d++)
        if (net->u.torus.dims[d] > longest)
            longest = net->u.torus.dims[d];
    shape->nlevels = 1;
    shape->switches[0] = net->nlinks / ndims;
    shape->links[0] = net->nlinks;
    shape->ports = net->nics + 2 * ndims;
    shape->bisection = net->nends;
    if (longest > 1)
        shape->bisection =
            (double)(shape->switches[0] / longest * (longest > 2 ? 2 : 1));
}

/* Halves across the k-th dimension that has more than one place: each line of routers crosses
 * twice, in the middle and from the last to the first. Of two routers each has its own link to the
 * other, which both directions of a half-duplex network use. */
static bool torus_divide(const struct orr_interconnect *net, unsigned k, unsigned *part,
                         struct orr_interconnect_division *ret)
{
    unsigned stride = 1;

    for (unsigned d = 0; d < net->u.torus.ndims; stride *= net->u.torus.dims[d++]) {
        unsigned size = net->u.torus.dims[d];
        double lines = (double)(net->nlinks / net->u.torus.ndims / size);

        if (size < 2 || k-- > 0)
            continue;
        for (unsigned node = 0; node < net->nnodes; node++)
            part[node] = node / stride % size >= size / 2;
        *ret = (struct orr_interconnect_division){
            2, lines * (size > 2 || net->half_duplex ? 2 : 1)};
        return true;
    }
    return false;
}

const struct orr_topology_rules orr_torus_rules = {torus_size, torus_route, torus_describe,
                                                   torus_divide};

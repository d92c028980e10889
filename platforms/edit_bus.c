/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_bus.c - updates the bus parameters, by which schedulers
 * predict copies, after an edit. No state.
 *
 * Without measured values they come from the routes. A measured one is scaled
 * by the change of that of the routes, so that effects beyond the description
 * are kept; a new device has the row and column of the one it copies, and where
 * nothing was measured the routes count.
 */
#include "platforms/edit_private.h"

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int orr_edit_bus_begin(struct orr_machine_desc *desc, struct orr_edit_bus *bus)
{
    int rc;

    if (!desc->bus_measured)
        return 0;
    *bus = (struct orr_edit_bus){.ncuda = desc->ncuda,
                                 .nopencl = desc->nopencl,
                                 .nnodes = desc->nnodes,
                                 .bandwidth = desc->bandwidth,
                                 .latency = desc->latency};
    desc->bandwidth = desc->latency = NULL;
    rc = orr_bus_derive(desc);
    bus->route_bandwidth = desc->bandwidth;
    bus->route_latency = desc->latency;
    desc->bandwidth = desc->latency = NULL;
    return rc;
}

/* The node that a node was or is a copy of, -1 when there was none. */
static int node_before(const struct orr_machine_desc *desc,
                       const struct orr_edit_bus *bus, unsigned node)
{
    if (node == 0)
        return 0;
    if (node <= desc->ncuda)
        return bus->ncuda ? 1 + (int)((node - 1) % bus->ncuda) : -1;
    node -= 1 + desc->ncuda;
    return bus->nopencl ? (int)(1 + bus->ncuda + node % bus->nopencl) : -1;
}

/* An inverse bandwidth of 0 or unknown scales nothing. */
static double scale_measured(double measured, double before, double after)
{
    if (!(before > 0) || !isfinite(before) || isnan(after))
        return measured;
    return measured * (after / before);
}

static void bus_follow_route(const struct orr_edit_bus *bus, size_t was,
                             double *bandwidth, double *latency)
{
    double before = bus->route_latency[was];

    /* Unchanged values stay bit by bit: the ratio is 1. */
    *bandwidth = scale_measured(bus->bandwidth[was], bus->route_bandwidth[was],
                                *bandwidth);
    if (before > 0)
        *latency = scale_measured(bus->latency[was], before, *latency);
    else
        *latency = bus->latency[was] + *latency;
}

int orr_edit_bus_end(struct orr_machine_desc *desc, struct orr_edit_bus *bus,
                     struct orr_error *err)
{
    int rc = orr_machine_desc_finish(desc, err);

    if (rc || !bus->bandwidth)
        return rc;
    for (unsigned i = 0; i < desc->nnodes; i++)
        for (unsigned j = 0; j < desc->nnodes; j++) {
            int src = node_before(desc, bus, i),
                dst = node_before(desc, bus, j);
            size_t at = (size_t)i * desc->nnodes + j;

            if (i != j && src >= 0 && dst >= 0 && src != dst)
                bus_follow_route(bus, (size_t)src * bus->nnodes + (size_t)dst,
                                 &desc->bandwidth[at], &desc->latency[at]);
        }
    desc->bus_measured = true;
    return 0;
}

void orr_edit_bus_done(struct orr_edit_bus *bus)
{
    free(bus->bandwidth);
    free(bus->latency);
    free(bus->route_bandwidth);
    free(bus->route_latency);
    *bus = (struct orr_edit_bus){0};
}

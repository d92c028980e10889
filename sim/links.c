/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/links.c - see links.h. SimGrid gives a link its bandwidth times
 * network/bandwidth-factor, shared among the copies on it; a fat pipe gives
 * that to each copy, and nothing is shared. Links that are split are two.
 */
#include "sim/links.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/options.h"

/* Two numbers for each link of the description: both directions together, or up
 * and down. */
static unsigned machine_link_number(const struct orr_hop_desc *hop)
{
    return 2 * hop->link + (hop->direction == ORR_HOP_DOWN);
}

static int machine_add_link(const struct orr_machine_desc *desc,
                            const struct orr_hop_desc *hop, double factor_by,
                            struct orr_machine *machine)
{
    static const char *const ends[] = {
        [ORR_HOP_NONE] = "", [ORR_HOP_UP] = " up", [ORR_HOP_DOWN] = " down"};
    const struct orr_link_desc *from = &desc->links[hop->link];
    struct orr_machine_link *to = &machine->links[machine->nlinks++];

    if (asprintf(&to->name, "%s%s", from->id, ends[hop->direction]) < 0) {
        to->name = NULL;
        return -ENOMEM;
    }
    to->bandwidth = from->sharing == ORR_LINK_FATPIPE
                        ? (double)INFINITY
                        : from->bandwidth * factor_by / 1e6;
    if (!(to->bandwidth > 0))
        to->bandwidth = INFINITY;
    return 0;
}

/* What the description says of all links. */
struct factors {
    double latency, bandwidth;
};

static int machine_add_route(const struct orr_machine_desc *desc,
                             const struct orr_route_desc *from,
                             const struct factors *factors, unsigned *places,
                             unsigned *next, struct orr_machine *machine)
{
    struct orr_machine_route *to = &machine->routes[machine->nroutes - 1];
    int rc = 0;

    to->first_link = *next;
    for (unsigned h = 0; !rc && h < from->nhops; h++) {
        unsigned *place = &places[machine_link_number(&from->hops[h])];

        to->latency +=
            desc->links[from->hops[h].link].latency * factors->latency;
        if (*place == 0) {
            rc = machine_add_link(desc, &from->hops[h], factors->bandwidth,
                                  machine);
            *place = machine->nlinks;
        }
        machine->route_links[(*next)++] = *place - 1;
        to->nlinks++;
    }
    to->latency *= 1e6;
    return rc;
}

int orr_links_make(const struct orr_machine_desc *desc,
                   const unsigned *endpoints, bool costs,
                   struct orr_machine *machine)
{
    struct factors factors = {
        .latency = orr_sim_option(desc, "network/latency-factor", 1),
        .bandwidth = orr_sim_option(desc, "network/bandwidth-factor", 1)};
    unsigned n = machine->nnodes, next = 0;
    unsigned *places = calloc(2 * (size_t)desc->nlinks + 1, sizeof(*places));
    size_t nhops = 0;
    int rc = places ? 0 : -ENOMEM;

    for (unsigned r = 0; r < desc->nroutes; r++)
        nhops += desc->routes[r].nhops;
    machine->links =
        calloc(2 * (size_t)desc->nlinks + 1, sizeof(*machine->links));
    machine->routes = calloc((size_t)n * n + 1, sizeof(*machine->routes));
    machine->route_links = calloc(nhops + 1, sizeof(*machine->route_links));
    if (!machine->links || !machine->routes || !machine->route_links)
        rc = -ENOMEM;
    for (unsigned i = 0; !rc && i < n * n; i++) {
        int route;

        if (!machine->direct[i])
            continue;
        machine->routes[machine->nroutes++] =
            (struct orr_machine_route){i / n, i % n, next, 0, 0};
        route =
            orr_machine_desc_route(desc, endpoints[i / n], endpoints[i % n]);
        if (costs && route >= 0)
            rc = machine_add_route(desc, &desc->routes[route], &factors, places,
                                   &next, machine);
    }
    free(places);
    return rc;
}

void orr_links_done(struct orr_machine *machine)
{
    for (unsigned l = 0; l < machine->nlinks; l++)
        free(machine->links[l].name);
    free(machine->links);
    free(machine->routes);
    free(machine->route_links);
}

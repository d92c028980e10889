/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/desc_build.c - see desc_build.h. */
#include "platforms/desc_build.h"

#include "core/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COST(name, field, usual)                                               \
    {                                                                          \
        "orrery-cost-" name, name, offsetof(struct orr_machine_desc, field),   \
            usual                                                              \
    }

const struct orr_cost_field orr_cost_fields[ORR_NCOSTS] = {
    COST("submit", cost_submit, 1),
    COST("submit-per-buffer", cost_submit_per_buffer, 0),
    COST("push", cost_push, 1),
    COST("fetch", cost_fetch, 1),
    COST("device-alloc", cost_device_alloc, 175),
    COST("device-free", cost_device_free, 750),
    COST("pinned-alloc-per-mib", cost_pinned_alloc_per_mib, 650),
    COST("first-use-per-mib", cost_first_use_per_mib, 0),
    COST("device-first-use-per-mib", cost_device_first_use_per_mib, 0),
    COST("kernel-queue", cost_kernel_queue, 10),
    COST("kernel-latency", cost_kernel_latency, 0),
    COST("copy-queue", cost_copy_queue, 10),
    COST("progress", cost_progress, 1),
    COST("wake", cost_wake, 0),
    COST("wake-soon", cost_wake_soon, 0), /* in fact that of `wake` */
};

double *orr_machine_desc_cost(struct orr_machine_desc *desc, unsigned cost)
{
    return (double *)(void *)((char *)desc + orr_cost_fields[cost].offset);
}

double orr_machine_desc_get_cost(const struct orr_machine_desc *desc,
                                 unsigned cost)
{
    double value;

    memcpy(&value, (const char *)desc + orr_cost_fields[cost].offset,
           sizeof(value));
    return value;
}

static bool link_is_measured(const struct orr_link_desc *link)
{
    const char *from =
        orr_props_find(link->props, link->nprops, "orrery-provenance");

    return !from || strcmp(from, "measured") == 0;
}

bool orr_cost_is_of_devices(unsigned cost)
{
    const char *name = orr_cost_fields[cost].name;

    return strncmp(name, "device", 6) == 0 || strncmp(name, "pinned", 6) == 0 ||
           strstr(name, "queue") != NULL || strcmp(name, "kernel-latency") == 0;
}

/* Those that the machine has no use for do not matter. */
static bool costs_are_measured(const struct orr_machine_desc *desc)
{
    bool devices = desc->ncuda + desc->nopencl > 0;

    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        if (orr_cost_fields[i].usual > 0 &&
            (devices || !orr_cost_is_of_devices(i)) &&
            (isnan(orr_machine_desc_get_cost(desc, i)) ||
             desc->stated_costs[i] > 0))
            return false;
    return true;
}

int orr_machine_desc_not_measured(const struct orr_machine_desc *desc, char **ret)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;

    *ret = NULL;
    if (!desc->provenance || !strstr(desc->provenance, "measured"))
        return 0;
    out = open_memstream(&text, &size);
    if (!out)
        return -ENOMEM;
    for (unsigned l = 0; l < desc->nlinks; l++)
        if (!link_is_measured(&desc->links[l]))
            fprintf(out, "%slink \"%s\"", ftell(out) > 0 ? ", " : "",
                    desc->links[l].id);
    if (!costs_are_measured(desc))
        fprintf(out, "%sthe runtime's costs", ftell(out) > 0 ? ", " : "");
    orr_edits_print_net(desc, ftell(out) > 0 ? ", " : "", out);
    if (fclose(out)) {
        free(text);
        return -ENOMEM;
    }
    if (size > 0)
        *ret = text;
    else
        free(text);
    return 0;
}

int orr_machine_desc_new(const char *name, struct orr_machine_desc **ret)
{
    struct orr_machine_desc *desc = calloc(1, sizeof(*desc));

    if (!desc)
        return -ENOMEM;
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        *orr_machine_desc_cost(desc, i) = (double)NAN;
    desc->name = strdup(name);
    desc->host = strdup(name);
    if (!desc->name || !desc->host) {
        orr_machine_desc_free(desc);
        return -ENOMEM;
    }
    *ret = desc;
    return 0;
}

int orr_machine_desc_add_host(struct orr_machine_desc *desc, const char *id,
                              double speed)
{
    struct orr_host_desc *host;
    char *copy;

    if (desc->nhosts == ORR_DESC_MAX_HOSTS)
        return -E2BIG;
    copy = strdup(id);
    host = copy ? orr_array_add(desc->hosts, desc->nhosts) : NULL;
    if (!host) {
        free(copy);
        return -ENOMEM;
    }
    *host = (struct orr_host_desc){.id = copy, .speed = speed};
    return (int)desc->nhosts - 1;
}

int orr_machine_desc_add_link(struct orr_machine_desc *desc, const char *id,
                              double bandwidth, double latency,
                              enum orr_link_sharing sharing)
{
    struct orr_link_desc *link;
    char *copy;

    if (desc->nlinks == ORR_DESC_MAX_LINKS)
        return -E2BIG;
    copy = strdup(id);
    link = copy ? orr_array_add(desc->links, desc->nlinks) : NULL;
    if (!link) {
        free(copy);
        return -ENOMEM;
    }
    *link = (struct orr_link_desc){.id = copy,
                                   .bandwidth = bandwidth,
                                   .latency = latency,
                                   .sharing = sharing};
    return (int)desc->nlinks - 1;
}

int orr_machine_desc_add_route(struct orr_machine_desc *desc, unsigned src,
                               unsigned dst)
{
    struct orr_route_desc *route;

    if (desc->nroutes == ORR_DESC_MAX_ROUTES)
        return -E2BIG;
    route = orr_array_add(desc->routes, desc->nroutes);
    if (!route)
        return -ENOMEM;
    *route = (struct orr_route_desc){.src = src, .dst = dst};
    return (int)desc->nroutes - 1;
}

int orr_route_desc_add_hop(struct orr_route_desc *route, unsigned link,
                           enum orr_hop_direction direction)
{
    struct orr_hop_desc *hop;

    if (route->nhops == ORR_DESC_MAX_HOPS)
        return -E2BIG;
    hop = orr_array_add(route->hops, route->nhops);
    if (!hop)
        return -ENOMEM;
    *hop = (struct orr_hop_desc){.link = link, .direction = direction};
    return (int)route->nhops - 1;
}

static enum orr_hop_direction
opposite_direction(enum orr_hop_direction direction)
{
    if (direction == ORR_HOP_UP)
        return ORR_HOP_DOWN;
    return direction == ORR_HOP_DOWN ? ORR_HOP_UP : ORR_HOP_NONE;
}

int orr_machine_desc_add_reverse(struct orr_machine_desc *desc, unsigned route)
{
    int back = orr_machine_desc_add_route(desc, desc->routes[route].dst,
                                          desc->routes[route].src);

    if (back < 0)
        return back;
    desc->routes[back].line = desc->routes[route].line;
    for (unsigned i = desc->routes[route].nhops; i > 0; i--) {
        struct orr_hop_desc hop = desc->routes[route].hops[i - 1];
        int rc = orr_route_desc_add_hop(&desc->routes[back], hop.link,
                                        opposite_direction(hop.direction));

        if (rc < 0)
            return rc; /* the half-built route goes with the description */
    }
    return back;
}

int orr_desc_set_text(char **text, const char *value)
{
    char *copy = NULL;

    if (value) {
        copy = strdup(value);
        if (!copy)
            return -ENOMEM;
    }
    free(*text);
    *text = copy;
    return 0;
}

static struct orr_prop_desc *find_prop(struct orr_prop_desc *props,
                                       unsigned nprops, const char *id)
{
    for (unsigned i = 0; i < nprops; i++)
        if (strcmp(props[i].id, id) == 0)
            return &props[i];
    return NULL;
}

int orr_props_set(struct orr_prop_desc **props, unsigned *nprops,
                  const char *id, const char *value)
{
    struct orr_prop_desc *known = find_prop(*props, *nprops, id);
    struct orr_prop_desc prop, *added;

    if (known)
        return orr_desc_set_text(&known->value, value);
    if (*nprops == ORR_DESC_MAX_PROPS)
        return -E2BIG;
    prop.id = strdup(id);
    prop.value = strdup(value);
    added = prop.id && prop.value ? orr_array_add(*props, *nprops) : NULL;
    if (!added) {
        free(prop.id);
        free(prop.value);
        return -ENOMEM;
    }
    *added = prop;
    return 0;
}

int orr_machine_desc_add_fluid_config(struct orr_machine_desc *desc)
{
    static const char *const options[][2] = {
        {"network/TCP-gamma", "-1"},       {"network/latency-factor", "1"},
        {"network/bandwidth-factor", "1"}, {"network/weight-S", "0.0"},
        {"network/crosstraffic", "0"},     {"network/optim", "Full"},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        int rc = 0;

        if (!orr_props_find(desc->config, desc->nconfig, options[i][0]))
            rc = orr_props_set(&desc->config, &desc->nconfig, options[i][0],
                               options[i][1]);
        if (rc)
            return rc;
    }
    return 0;
}

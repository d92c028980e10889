/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/draw.c - see draw.h. */
#include "platforms/draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/draw.h"
#include "core/base/grow.h"
#include "core/base/number.h"
#include "platforms/desc_build.h"
#include "platforms/doctor.h"
#include "platforms/edit_private.h"
#include "platforms/rates.h"
#include "platforms/units.h"

struct drawing {
    struct orr_machine_desc *desc;
    uint64_t draw;
    bool measured; /* the machine is, or says nothing, but for links that do */
};

/* Several figures of one kind and value are listed once. */
static int drawing_list(struct drawing *d, const char *figure, double factor,
                        double error, bool measured)
{
    struct orr_machine_desc *desc = d->desc;
    struct orr_drawn *drawn;
    char *copy;

    for (unsigned i = 0; i < desc->ndrawn; i++)
        if (strcmp(desc->drawn[i].figure, figure) == 0)
            return 0;
    copy = strdup(figure);
    drawn = copy ? orr_array_add(desc->drawn, desc->ndrawn) : NULL;
    if (!drawn) {
        free(copy);
        return -ENOMEM;
    }
    *drawn = (struct orr_drawn){copy, factor, error, measured};
    return 0;
}

/* The factor of a figure whose description had `value`, 1 if it is not off. */
static int drawing_factor(struct drawing *d, const char *kind, double value,
                          const char *unit, double error, bool measured,
                          double *ret)
{
    char number[ORR_NUMBER_MAX], figure[160];
    uint64_t key;

    *ret = 1;
    if (!(error > 0) || !(value > 0))
        return 0;
    orr_number_print(value, number);
    key = orr_draw_key(orr_draw_key(ORR_DRAW_KEY, kind), number);
    *ret = orr_draw_factor(d->draw, key, error);
    orr_snprintf(figure, sizeof(figure), "%s %.4g %s", kind,
                 strcmp(unit, "GB/s") == 0 ? value * 1e-9
                 : strcmp(unit, "us") == 0 ? value * 1e6
                                           : value,
                 unit);
    return drawing_list(d, figure, *ret, error, measured);
}

/* Of text that is a number; 0 without. */
static double draw_number(const char *text)
{
    double value;

    return text && !orr_number_parse(text, &value) && value > 0 ? value : 0;
}

/* ---- links ---- */

static const char *link_kind(const struct orr_machine_desc *desc,
                             const bool *nvlink, unsigned link)
{
    if (orr_edit_is_membus(&desc->links[link]))
        return "membus";
    if (orr_edit_is_nvlink(&desc->links[link]))
        return "nvlink";
    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        bool passes = false;

        for (unsigned h = 0; h < route->nhops && !passes; h++)
            passes = route->hops[h].link == link;
        if (passes && nvlink[r])
            return "nvlink";
        if (passes && orr_edit_is_main_memory(&desc->hosts[route->src]) &&
            orr_edit_is_main_memory(&desc->hosts[route->dst]))
            return "membus"; /* between sockets */
        if (passes && (strncmp(desc->hosts[route->src].id, "DISK", 4) == 0 ||
                       strncmp(desc->hosts[route->dst].id, "DISK", 4) == 0))
            return "disk";
    }
    return "pcie";
}

/* Whose figures are the machine's, unless it says where its own come from. */
static bool link_was_measured(const struct drawing *d,
                              const struct orr_link_desc *link)
{
    const char *from =
        orr_props_find(link->props, link->nprops, "orrery-provenance");

    return from ? strcmp(from, "measured") == 0 : d->measured;
}

static int draw_link(struct drawing *d, const char *kind,
                     struct orr_link_desc *link)
{
    bool measured = link_was_measured(d, link);
    double spread = draw_number(
        orr_props_find(link->props, link->nprops, ORR_PROP_LINK_SPREAD));
    char what[64];
    double factor;
    int rc;

    snprintf(what, sizeof(what), "%s bandwidth", kind);
    rc = drawing_factor(d, what, orr_stated(link->stated_bandwidth, link->bandwidth),
                        "GB/s", measured ? spread : ORR_DRAW_BANDWIDTH, measured,
                        &factor);
    link->bandwidth *= factor;
    if (rc || measured)
        return rc;
    snprintf(what, sizeof(what), "%s latency", kind);
    rc = drawing_factor(d, what, orr_stated(link->stated_latency, link->latency), "us",
                        ORR_DRAW_LATENCY, measured, &factor);
    link->latency *= factor;
    return rc;
}

static int draw_links(struct drawing *d)
{
    bool *nvlink = orr_edit_nvlink_routes(d->desc);
    int rc = nvlink ? 0 : -ENOMEM;

    for (unsigned l = 0; l < d->desc->nlinks && !rc; l++)
        rc = draw_link(d, link_kind(d->desc, nvlink, l), &d->desc->links[l]);
    free(nvlink);
    return rc;
}

/* ---- main memory ---- */

static int draw_property(struct drawing *d, struct orr_host_desc *host,
                         const char *id, const char *kind, double value,
                         double error, bool measured)
{
    char text[ORR_NUMBER_MAX];
    double factor;
    int rc = drawing_factor(d, kind, value, "GB/s", error, measured, &factor);

    if (rc || !(fabs(factor - 1) > 0))
        return rc;
    orr_number_print(value * factor, text);
    return orr_props_set(&host->props, &host->nprops, id, text);
}

static int draw_memory(struct drawing *d, struct orr_host_desc *host)
{
    static const struct {
        const char *id, *kind;
    } copies[] = {{"orrery-copy-bandwidth", "copy bandwidth"},
                  {"orrery-copy-bandwidth-all", "copy bandwidth of all cores"}};
    double spread = draw_number(orr_host_desc_prop(host, "orrery-copy-spread"));
    const char *id = orr_rate_prop(ORR_RATE_MEMORY);
    const char *stated = orr_host_desc_prop(host, id);
    double rate = 0;
    int rc = 0;

    if (stated && !orr_quantity_parse(ORR_QUANTITY_BANDWIDTH, stated, &rate))
        rc = draw_property(d, host, id, "memory bandwidth", rate,
                           ORR_DRAW_BANDWIDTH, false);
    for (unsigned i = 0; i < 2 && !rc; i++)
        rc = draw_property(d, host, copies[i].id, copies[i].kind,
                           draw_number(orr_host_desc_prop(host, copies[i].id)),
                           spread, true);
    return rc;
}

static int draw_memories(struct drawing *d)
{
    int rc = 0;

    for (unsigned h = 0; h < d->desc->nhosts && !rc; h++)
        if (orr_edit_is_main_memory(&d->desc->hosts[h]))
            rc = draw_memory(d, &d->desc->hosts[h]);
    return rc;
}

/* ---- costs ---- */

/* Those that a description gives were measured on the machine, without a spread. */
static int draw_costs(struct drawing *d)
{
    bool devices = d->desc->ncuda + d->desc->nopencl > 0;
    int rc = 0;

    for (unsigned i = 0; i < ORR_NCOSTS && !rc; i++) {
        double *cost = orr_machine_desc_cost(d->desc, i), factor;
        double stated = d->desc->stated_costs[i];
        double usual = orr_cost_fields[i].usual;
        char what[64];

        if (isnan(stated) || (!isnan(*cost) && !(stated > 0)) ||
            (orr_cost_is_of_devices(i) && !devices))
            continue;
        snprintf(what, sizeof(what), "cost %s", orr_cost_fields[i].name);
        rc = drawing_factor(d, what, usual * 1e-6, "us", ORR_DRAW_COST, false,
                            &factor);
        /* It is no measure for having a value now. */
        d->desc->stated_costs[i] = usual;
        if (!isnan(*cost) || usual > 0)
            *cost = (isnan(*cost) ? usual : *cost) * factor;
    }
    return rc;
}

/* ---- all ---- */

int orr_machine_desc_draw(struct orr_machine_desc *desc, uint64_t draw,
                          struct orr_error *err)
{
    struct drawing d = {.desc = desc,
                        .draw = draw,
                        .measured = !desc->provenance ||
                                    strstr(desc->provenance, "measured")};
    struct orr_edit_bus bus = {0};
    int rc;

    if (!draw)
        return 0;
    rc = orr_edit_bus_begin(desc, &bus);
    if (!rc)
        rc = draw_links(&d);
    if (!rc)
        rc = draw_memories(&d);
    if (!rc)
        rc = draw_costs(&d);
    if (!rc)
        rc = orr_edit_bus_end(desc, &bus, err);
    orr_edit_bus_done(&bus);
    return rc;
}

void orr_drawn_free(struct orr_drawn *drawn, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free(drawn[i].figure);
    free(drawn);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_write.c - writes a machine description as a version 4.1
 * platform file for SimGrid 3.32 and later. No state.
 */
#include "core/base/result.h"
#include "platforms/machine_desc.h"

#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/places.h"
#include "platforms/units.h"
#include "platforms/whole_file.h"
#include "platforms/xml_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes ` name="text"`. */
static void print_attr(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    for (; *text; text++)
        if (strchr("<>&\"\t\n\r", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void print_quantity(FILE *out, const char *name, double value,
                           const char *unit)
{
    char number[ORR_NUMBER_MAX];

    orr_number_print(value, number);
    fprintf(out, " %s=\"%s%s\"", name, number, unit);
}

void orr_xml_print_prop(FILE *out, const char *indent, const char *id,
                       const char *value)
{
    fprintf(out, "%s<prop", indent);
    print_attr(out, "id", id);
    print_attr(out, "value", value);
    fputs("/>\n", out);
}

static void print_props(FILE *out, const char *indent,
                        const struct orr_prop_desc *props, unsigned nprops)
{
    for (unsigned i = 0; i < nprops; i++)
        orr_xml_print_prop(out, indent, props[i].id, props[i].value);
}

/* Name and costs apply to the machine, but a platform has no better place for
 * them than the host that runs the application. */
static void print_fields(FILE *out, const struct orr_machine_desc *desc,
                         bool with_host)
{
    char number[ORR_NUMBER_MAX];

    /* Which figures were set is not written: all of them are none of measures then. */
    if (desc->provenance)
        orr_xml_print_prop(out, "      ", "orrery-provenance",
                   orr_edits_print_net(desc, "", NULL) ? "derived"
                                                       : desc->provenance);
    if (with_host)
        orr_xml_print_prop(out, "      ", "orrery-host", desc->host);
    for (unsigned i = 0; i < ORR_NCOSTS; i++) {
        double cost = orr_machine_desc_get_cost(desc, i);

        if (isnan(cost))
            continue;
        orr_number_print(cost, number);
        orr_xml_print_prop(out, "      ", orr_cost_fields[i].prop, number);
    }
}

static void print_host(FILE *out, const struct orr_machine_desc *desc,
                       const struct orr_host_desc *host, bool with_host)
{
    bool is_main = strcmp(host->id, "MAIN") == 0;

    fputs("    <host", out);
    print_attr(out, "id", host->id);
    print_quantity(out, "speed", host->speed, "f");
    if (host->nprops == 0 && !is_main) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (is_main)
        print_fields(out, desc, with_host);
    print_props(out, "      ", host->props, host->nprops);
    fputs("    </host>\n", out);
}

static void print_link_element(FILE *out, const struct orr_link_desc *link)
{
    static const char *const policies[] = {
        [ORR_LINK_SHARED] = "SHARED",
        [ORR_LINK_SPLITDUPLEX] = "SPLITDUPLEX",
        [ORR_LINK_FATPIPE] = "FATPIPE",
    };

    fputs("    <link", out);
    print_attr(out, "id", link->id);
    print_quantity(out, "bandwidth", link->bandwidth, "Bps");
    print_quantity(out, "latency", link->latency, "s");
    if (link->sharing != ORR_LINK_SHARED)
        print_attr(out, "sharing_policy", policies[link->sharing]);
    if (link->nprops == 0) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    print_props(out, "      ", link->props, link->nprops);
    fputs("    </link>\n", out);
}

static void print_route(FILE *out, const struct orr_machine_desc *desc,
                        const struct orr_route_desc *route)
{
    fputs("    <route", out);
    print_attr(out, "src", desc->hosts[route->src].id);
    print_attr(out, "dst", desc->hosts[route->dst].id);
    fputs(" symmetrical=\"NO\">\n", out);
    for (unsigned i = 0; i < route->nhops; i++) {
        enum orr_hop_direction dir = route->hops[i].direction;

        fputs("      <link_ctn", out);
        print_attr(out, "id", desc->links[route->hops[i].link].id);
        if (dir != ORR_HOP_NONE)
            print_attr(out, "direction", dir == ORR_HOP_UP ? "UP" : "DOWN");
        fputs("/>\n", out);
    }
    fputs("    </route>\n", out);
}

/* SimGrid requires the zone's id to differ from every host's. */
static void print_zone_start(FILE *out, const struct orr_machine_desc *desc)
{
    char id[16];
    unsigned number = 0;

    do
        snprintf(id, sizeof(id), "AS%u", number++);
    while (orr_machine_desc_host(desc, id) >= 0);
    fprintf(out, "  <zone id=\"%s\" routing=\"Full\">\n", id);
}

static void print_machine(FILE *out, const struct orr_machine_desc *desc,
                          bool with_host)
{
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n",
          out);
    if (desc->nconfig) {
        fputs("  <config>\n", out);
        print_props(out, "    ", desc->config, desc->nconfig);
        fputs("  </config>\n", out);
    }
    print_zone_start(out, desc);
    /* SimGrid's grammar requires properties, hosts, links, routes in order. */
    print_props(out, "    ", desc->props, desc->nprops);
    for (unsigned i = 0; i < desc->nhosts; i++)
        print_host(out, desc, &desc->hosts[i], with_host);
    for (unsigned i = 0; i < desc->nlinks; i++)
        print_link_element(out, &desc->links[i]);
    for (unsigned i = 0; i < desc->nroutes; i++)
        print_route(out, desc, &desc->routes[i]);
    fputs("  </zone>\n</platform>\n", out);
}

void orr_machine_desc_print_xml(const struct orr_machine_desc *desc,
                                const char *name, FILE *out)
{
    print_machine(out, desc, strcmp(desc->host, name) != 0);
}

static int write_platform(const struct orr_machine_desc *desc, const char *path,
                          const char *name, struct orr_error *err)
{
    struct orr_result file;
    int rc = orr_result_open(path, &file);

    if (rc == 0) {
        file.durable = true;
        orr_machine_desc_print_xml(desc, name, file.file);
        rc = orr_result_close(&file, 0);
    }
    return rc ? orr_fail(err, rc, "%s: cannot be written: %s", path, strerror(-rc)) : 0;
}

int orr_machine_desc_write_alone(const struct orr_machine_desc *desc,
                                 const char *path, struct orr_error *err)
{
    char *name = orr_platform_name(path);
    int rc;

    if (!name)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = orr_machine_desc_check(desc, err);
    if (rc == 0)
        rc = write_platform(desc, path, name, err);
    free(name);
    return rc;
}

int orr_machine_desc_write(const struct orr_machine_desc *desc,
                           const char *path, struct orr_error *err)
{
    char *stem = orr_platform_stem(path);
    int rc;

    if (!stem)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = orr_machine_desc_check(desc, err);
    if (rc == 0)
        rc = orr_bus_write_beside(desc, stem, err);
    if (rc == 0)
        rc = orr_machine_desc_write_alone(desc, path, err);
    free(stem);
    return rc;
}

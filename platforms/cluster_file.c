/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/cluster_file.c - clusters as files: a zone in SimGrid's syntax, with the network
 * as a property, and in it a zone for each group of nodes, with their machine and number.
 * Machines are named, not written out: the file says what is alike, and stays short.
 */
#include "platforms/cluster.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "platforms/places.h"
#include "platforms/units.h"
#include "platforms/xml_read.h"

/* What has been read of the zones that are open; owned. */
struct cluster_reader {
    struct orr_xml_reader xml;
    struct orr_cluster_desc cluster;
    char *machine;  /* of the group, NULL: not yet said, */
    unsigned nodes; /* 0: not yet said */
};

static struct cluster_reader *of(struct orr_xml_reader *r)
{
    return (struct cluster_reader *)r;
}

/* ---- zones ---- */

static bool is_group(const struct orr_xml_reader *r)
{
    return r->places[r->depth] == ORR_XML_ZONE;
}

static void start_zone(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    const char *routing = orr_xml_need_attr(r, "routing");
    int rc;

    if (r->rc)
        return;
    if (strcmp(routing, "Full") != 0 && strcmp(routing, "None") != 0)
        orr_xml_fail(
            r,
            "routing=\"%.40s\" is not supported: write \"None\", the property "
            "network says how nodes are connected",
            routing);
    if (!is_group(r) && r->zone_seen)
        orr_xml_fail(r, "a second cluster: put all nodes in one zone");
    if (is_group(r) && r->places[r->depth - 1] == ORR_XML_ZONE)
        orr_xml_fail(
            r,
            "a zone inside a group of nodes: put it behind, in the zone of the "
            "cluster");
    rc = orr_names_add(&r->hosts, id, 0);
    if (rc == -EEXIST)
        orr_xml_fail(r, "second zone with the id \"%.60s\": rename one", id);
    else
        orr_xml_check(r, rc);
    r->zone_seen = true;
}

/* A path is relative to the file. Owned. */
static char *machine_path(const struct orr_xml_reader *r, const char *machine)
{
    const char *slash = strrchr(r->path, '/');
    char *folder, *path;

    if (!slash || !orr_is_path(machine) || *machine == '/')
        return strdup(machine);
    folder = strndup(r->path, (size_t)(slash - r->path));
    path = folder ? orr_path_join(folder, machine, NULL) : NULL;
    free(folder);
    return path;
}

static void end_group(struct orr_xml_reader *r)
{
    struct cluster_reader *c = of(r);
    int rc;

    if (!c->machine || !c->nodes) {
        orr_xml_fail(
            r,
            "a group of nodes needs the property %s: add <prop id=\"%s\" "
            "value=\"%s\"/>",
            c->machine ? "nodes" : "machine", c->machine ? "nodes" : "machine",
            c->machine ? "16" : "epyc-64");
        return;
    }
    rc = orr_cluster_add(&c->cluster, c->nodes, c->machine);
    if (rc == -E2BIG)
        orr_xml_fail(
            r,
            "more nodes than the %u that a cluster may have: describe a smaller "
            "one",
            ORR_CLUSTER_MAX_NODES);
    else
        orr_xml_check(r, rc);
    free(c->machine);
    c->machine = NULL;
    c->nodes = 0;
}

static void end_zone(struct orr_xml_reader *r)
{
    const struct orr_cluster_desc *cluster = &of(r)->cluster;

    if (is_group(r))
        end_group(r);
    else if (!cluster->network)
        orr_xml_fail(
            r,
            "a cluster needs the property network: add <prop id=\"network\" "
            "value=\"%s\"/>",
            ORR_CLUSTER_NETWORK);
    else if (cluster->nnodes == 0)
        orr_xml_fail(
            r,
            "a cluster needs nodes: add a zone with the properties machine and "
            "nodes");
}

/* ---- properties ---- */

static void set_text(struct orr_xml_reader *r, char **field, char *value)
{
    if (*field)
        orr_xml_fail(r, "second property of this id: remove one");
    else if (!value)
        orr_xml_check(r, -ENOMEM);
    else {
        *field = value;
        return;
    }
    free(value);
}

static void set_nodes(struct orr_xml_reader *r, const char *value)
{
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (of(r)->nodes)
        orr_xml_fail(r, "second property of this id: remove one");
    else if (*value < '0' || *value > '9' || *end || n < 1 ||
             n > ORR_CLUSTER_MAX_NODES)
        orr_xml_fail(
            r, "nodes=\"%.40s\" is no number of nodes: write one from 1 to %u",
            value, ORR_CLUSTER_MAX_NODES);
    else
        of(r)->nodes = (unsigned)n;
}

static void set_network(struct orr_xml_reader *r, const char *value)
{
    struct orr_error why = {""};
    int rc;

    if (of(r)->cluster.network) {
        orr_xml_fail(r, "second property of this id: remove one");
        return;
    }
    rc = orr_cluster_set_network(&of(r)->cluster, value, &why);
    if (rc == -EINVAL)
        orr_xml_fail(r, "%s", why.text);
    else
        orr_xml_check(r, rc);
}

/* Properties of a network that was measured. */
static const struct {
    const char *id;
    size_t offset;
} measures[] = {
#define AT(member) offsetof(struct orr_cluster_measured, member)
    {"measured-ranks", AT(ranks)},           {"measured-hosts", AT(hosts)},
    {"measured-repetitions", AT(repetitions)}, {"measured-spread", AT(spread)},
    {"measured-asymmetry", AT(asymmetry)},   {"measured-incast", AT(incast)},
    {"measured-share", AT(share)},
#undef AT
};

enum { NMEASURES = sizeof(measures) / sizeof(measures[0]) };

static double *measure_at(struct orr_cluster_measured *measured, unsigned i)
{
    return (double *)(void *)((char *)measured + measures[i].offset);
}

/* Whether it is one of them. */
static bool set_measure(struct orr_xml_reader *r, const char *id, const char *value)
{
    unsigned i = 0;

    while (i < NMEASURES && strcmp(measures[i].id, id) != 0)
        i++;
    if (i == NMEASURES)
        return false;
    if (orr_number_parse(value, measure_at(&of(r)->cluster.measured, i)) ||
        !(*measure_at(&of(r)->cluster.measured, i) >= 0))
        orr_xml_fail(r, "%s=\"%.40s\" is no number from 0 on", id, value);
    return true;
}

static void start_prop(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    const char *value = orr_xml_need_attr(r, "value");
    bool group = r->depth > 1 && r->places[r->depth - 1] == ORR_XML_ZONE;

    if (r->rc)
        return;
    if (!group && of(r)->cluster.ngroups)
        orr_xml_fail(r, "after a group of nodes: move it before them");
    else if (group && strcmp(id, "machine") == 0 && *value)
        set_text(r, &of(r)->machine, machine_path(r, value));
    else if (group && strcmp(id, "nodes") == 0)
        set_nodes(r, value);
    else if (!group && strcmp(id, "network") == 0)
        set_network(r, value);
    else if (!group && strcmp(id, "description") == 0)
        set_text(r, &of(r)->cluster.description, strdup(value));
    else if (group || !set_measure(r, id, value))
        orr_xml_fail(
            r,
            "property %.60s=\"%.40s\" is not understood: a cluster has network "
            "and description, a group of nodes in it has machine and nodes",
            id, value);
}

/* ---- the file ---- */

#define IN(place) (1u << ORR_XML_##place)

static const struct orr_xml_element elements[] = {
    {"platform", ORR_XML_PLATFORM, IN(DOCUMENT), orr_xml_start_platform, NULL},
    {"zone", ORR_XML_ZONE, IN(PLATFORM) | IN(ZONE), start_zone, end_zone},
    {"prop", ORR_XML_PROP, IN(ZONE), start_prop, NULL},
    {NULL, ORR_XML_DOCUMENT, 0, NULL, NULL},
};

static const char *cluster_refusal(const char *name)
{
    static const char *const of_machines[] = {"config", "host", "link", "route",
                                              "link_ctn"};

    for (size_t i = 0; i < sizeof(of_machines) / sizeof(of_machines[0]); i++)
        if (strcmp(of_machines[i], name) == 0)
            return "is of a machine, and this is a cluster: put it in a file of its own, "
                   "which the property machine of a group of nodes names";
    return NULL;
}

static const struct orr_xml_grammar cluster_grammar = {
    elements, "cluster", "zone and prop", cluster_refusal};

int orr_cluster_parse(const char *path, const void *text, size_t size,
                      struct orr_cluster_desc *ret, struct orr_error *err)
{
    struct cluster_reader c = {
        .xml = {.path = path, .grammar = &cluster_grammar, .err = err},
        .cluster = {.name = orr_platform_name(path)}};
    struct orr_xml_reader *r = &c.xml;

    if (!c.cluster.name)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    orr_xml_read(r, text, size);
    if (r->rc == 0 && !r->zone_seen)
        orr_xml_fail(
            r,
            "there is no zone: add one, with the property network and a zone "
            "for each group of nodes");
    orr_names_done(&r->hosts);
    free(c.machine);
    if (r->rc)
        orr_cluster_free(&c.cluster);
    else
        *ret = c.cluster;
    return r->rc;
}

void orr_cluster_print_xml(const struct orr_cluster_desc *cluster, FILE *out)
{
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n"
          "  <zone id=\"cluster\" routing=\"None\">\n",
          out);
    if (cluster->description)
        orr_xml_print_prop(out, "    ", "description", cluster->description);
    for (unsigned i = 0; cluster->measured.repetitions > 0 && i < NMEASURES; i++) {
        struct orr_cluster_measured measured = cluster->measured;
        char value[ORR_NUMBER_MAX];

        orr_number_print(*measure_at(&measured, i), value);
        orr_xml_print_prop(out, "    ", measures[i].id, value);
    }
    fputs("    <prop id=\"network\" value=\"", out);
    orr_cluster_print_network(cluster, out);
    fputs("\"/>\n", out);
    for (unsigned i = 0; i < cluster->ngroups; i++) {
        fprintf(out, "    <zone id=\"nodes%u\" routing=\"None\">\n", i);
        orr_xml_print_prop(out, "      ", "machine",
                           cluster->groups[i].machine);
        fprintf(out, "      <prop id=\"nodes\" value=\"%u\"/>\n    </zone>\n",
                cluster->groups[i].n);
    }
    fputs("  </zone>\n</platform>\n", out);
}

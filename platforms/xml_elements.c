/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_elements.c - the meaning of each element of a platform file. No
 * state but the reader's.
 */
#include "core/base/number.h"
#include "platforms/xml_read.h"

#include "platforms/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

const char *orr_xml_attr(struct orr_xml_reader *r, const char *name)
{
    for (unsigned i = 0; i < r->markup.nattrs; i++)
        if (strcmp(r->markup.attrs[i].name, name) == 0) {
            r->markup.attrs[i].used = true;
            return r->markup.attrs[i].value;
        }
    return NULL;
}

const char *orr_xml_need_attr(struct orr_xml_reader *r, const char *name)
{
    const char *value = orr_xml_attr(r, name);

    if (!value)
        orr_xml_fail(r, "attribute %s is missing: add it", name);
    return value;
}

/* Accepts an attribute that changes nothing as long as it has one value. */
static void accept_only_value(struct orr_xml_reader *r, const char *name,
                              const char *expected)
{
    const char *value = orr_xml_attr(r, name);

    if (value && strcmp(value, expected) != 0)
        orr_xml_fail(r,
                     "%s=\"%.40s\" cannot be taken into account: remove it "
                     "or write \"%s\"",
                     name, value, expected);
}

/* The same for what versions after 3 do not have at all. */
static void only_version_3(struct orr_xml_reader *r, const char *name,
                           const char *expected)
{
    if (r->version3)
        accept_only_value(r, name, expected);
}

/* SimGrid reads it as bytes per second and seconds, and its format wants a unit since
 * version 4. */
static void note_unitless(struct orr_xml_reader *r, enum orr_quantity quantity,
                          const char *name, const char *text)
{
    bool rate = quantity == ORR_QUANTITY_BANDWIDTH;
    double value;

    if (r->version3 || (!rate && quantity != ORR_QUANTITY_TIME) ||
        orr_number_parse(text, &value) || !(value > 0))
        return;
    if (r->nunitless++ == 0)
        snprintf(r->unitless, sizeof(r->unitless),
                 "line %u: %s=\"%.40s\" of link \"%.60s\" is taken for %.40s%s",
                 orr_xml_line(r), name, text,
                 orr_xml_attr(r, "id") ? orr_xml_attr(r, "id") : "", text,
                 rate ? "Bps" : "s");
}

/* Reads a value; `instead` is the name in older files, or NULL. */
static double read_quantity_attribute(struct orr_xml_reader *r,
                                      const char *name, const char *instead,
                                      enum orr_quantity quantity)
{
    const char *text = instead ? orr_xml_attr(r, instead) : NULL;
    const char *problem;
    double value = 0;

    if (instead && text && !r->version3)
        orr_xml_fail(r, "%s was renamed after version 3: write %s", instead,
                     name);
    if (!text)
        text = orr_xml_need_attr(r, name);
    if (!text)
        return 0;
    problem = orr_quantity_parse(quantity, text, &value);
    if (problem)
        orr_xml_fail(r, "%s=\"%.60s\" %s", name, text, problem);
    else
        note_unitless(r, quantity, name, text);
    return value;
}

/* A second host or link of an id is refused when all is read. */
static void names_remember(struct orr_xml_reader *r, struct orr_names *names,
                           const char *id, unsigned index)
{
    int rc = orr_names_add(names, id, index);

    if (rc != -EEXIST)
        orr_xml_check(r, rc);
}

/* ---- platform, config, zone ---- */

void orr_xml_start_platform(struct orr_xml_reader *r)
{
    static const char *const known[] = {"3", "4", "4.0", "4.1"};
    const char *version = orr_xml_need_attr(r, "version");

    for (size_t i = 0; version && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(version, known[i]) == 0) {
            r->version3 = i == 0;
            return;
        }
    if (version)
        orr_xml_fail(r,
                     "version %.20s is not understood, only 3, 4 and 4.1: "
                     "convert the file with SimGrid's simgrid_update_xml",
                     version);
}

static void start_config(struct orr_xml_reader *r)
{
    orr_xml_attr(r, "id");
    if (r->zone_seen)
        orr_xml_fail(r, "after the zone: move it before");
}

static bool refuse_closed(struct orr_xml_reader *r)
{
    if (r->zone_closed)
        orr_xml_fail(r, "outside the zone that holds the machine: put all "
                        "hosts, links and routes in one zone");
    return r->zone_closed;
}

static void start_zone(struct orr_xml_reader *r)
{
    const char *routing = orr_xml_need_attr(r, "routing");

    orr_xml_need_attr(r, "id");
    if (!routing || refuse_closed(r))
        return;
    r->zone_seen = true;
    if (r->zone_used || r->desc->nprops)
        orr_xml_fail(r, "a zone inside a zone that holds something else: put "
                        "all hosts, links and routes in one zone");
    r->full_routing = strcmp(routing, "Full") == 0;
    if (!r->full_routing && strcmp(routing, "None") != 0)
        orr_xml_fail(r,
                     "routing=\"%.40s\" is not supported: write \"Full\" "
                     "and a route for each pair that exchanges data",
                     routing);
}

static void end_zone(struct orr_xml_reader *r)
{
    r->zone_closed = true;
}

/* ---- host, link ---- */

/* The grammar requires properties, then hosts and links, then routes. */
static bool refuse_after_routes(struct orr_xml_reader *r)
{
    if (r->desc->nroutes)
        orr_xml_fail(r, "after a route: move it before all routes");
    return r->desc->nroutes > 0;
}

static void start_host(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    double speed =
        read_quantity_attribute(r, "speed", "power", ORR_QUANTITY_SPEED);
    int host;

    accept_only_value(r, "core", "1");
    accept_only_value(r, "pstate", "0");
    only_version_3(r, "availability", "1.0");
    only_version_3(r, "state", "ON");
    if (r->rc || refuse_closed(r) || refuse_after_routes(r))
        return;
    r->zone_used = true;
    host = orr_machine_desc_add_host(r->desc, id, speed);
    orr_xml_check(r, host);
    if (host < 0)
        return;
    r->desc->hosts[host].line = orr_xml_line(r);
    names_remember(r, &r->hosts, r->desc->hosts[host].id, (unsigned)host);
}

static enum orr_link_sharing read_link_sharing(struct orr_xml_reader *r)
{
    static const struct {
        const char *name;
        enum orr_link_sharing sharing;
    } known[] = {
        {"SHARED", ORR_LINK_SHARED},
        {"SPLITDUPLEX", ORR_LINK_SPLITDUPLEX},
        {"FULLDUPLEX", ORR_LINK_SPLITDUPLEX}, /* its name before version 4 */
        {"FATPIPE", ORR_LINK_FATPIPE},
    };
    const char *policy = orr_xml_attr(r, "sharing_policy");

    for (size_t i = 0; policy && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(policy, known[i].name) == 0)
            return known[i].sharing;
    if (policy)
        orr_xml_fail(r,
                     "sharing_policy=\"%.40s\" is not supported: write "
                     "SHARED, SPLITDUPLEX or FATPIPE",
                     policy);
    return ORR_LINK_SHARED;
}

static void start_link(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    double bandwidth =
        read_quantity_attribute(r, "bandwidth", NULL, ORR_QUANTITY_BANDWIDTH);
    double latency = 0;
    enum orr_link_sharing policy = read_link_sharing(r);
    int link;

    if (orr_xml_attr(r, "latency") || !r->version3)
        latency =
            read_quantity_attribute(r, "latency", NULL, ORR_QUANTITY_TIME);
    only_version_3(r, "state", "ON");
    if (r->rc || refuse_closed(r) || refuse_after_routes(r))
        return;
    r->zone_used = true;
    link = orr_machine_desc_add_link(r->desc, id, bandwidth, latency, policy);
    orr_xml_check(r, link);
    if (link < 0)
        return;
    r->desc->links[link].line = orr_xml_line(r);
    names_remember(r, &r->links, r->desc->links[link].id, (unsigned)link);
}

/* ---- route, link_ctn ---- */

static bool route_end(struct orr_xml_reader *r, const char *name, unsigned *ret)
{
    const char *id = orr_xml_need_attr(r, name);

    if (!id)
        return false;
    if (!orr_names_find(&r->hosts, id, ret)) {
        orr_xml_fail(r,
                     "%s=\"%.80s\": no such host above: correct it, or "
                     "declare the host before the route",
                     name, id);
        return false;
    }
    return true;
}

/* Returns whether the route is symmetrical, the default. */
static bool read_symmetrical(struct orr_xml_reader *r)
{
    const char *word = orr_xml_attr(r, "symmetrical");

    if (!word || strcmp(word, "YES") == 0 || strcmp(word, "yes") == 0)
        return true;
    if (strcmp(word, "NO") != 0 && strcmp(word, "no") != 0)
        orr_xml_fail(r, "symmetrical=\"%.20s\": write YES or NO", word);
    return false;
}

static void start_route(struct orr_xml_reader *r)
{
    unsigned src, dst;
    int route;

    if (refuse_closed(r))
        return;
    if (!r->full_routing) {
        orr_xml_fail(r, "in a zone without routing: write routing=\"Full\"");
        return;
    }
    if (!route_end(r, "src", &src) || !route_end(r, "dst", &dst))
        return;
    r->symmetrical = read_symmetrical(r) && src != dst;
    r->zone_used = true;
    route = orr_machine_desc_add_route(r->desc, src, dst);
    orr_xml_check(r, route);
    if (route < 0)
        return;
    r->desc->routes[route].line = orr_xml_line(r);
    r->route = (unsigned)route;
}

static void end_route(struct orr_xml_reader *r)
{
    if (r->symmetrical)
        orr_xml_check(r, orr_machine_desc_add_reverse(r->desc, r->route));
}

static enum orr_hop_direction read_hop_direction(struct orr_xml_reader *r)
{
    const char *word = orr_xml_attr(r, "direction");

    if (!word || strcmp(word, "NONE") == 0)
        return ORR_HOP_NONE;
    if (strcmp(word, "UP") == 0)
        return ORR_HOP_UP;
    if (strcmp(word, "DOWN") != 0)
        orr_xml_fail(r, "direction=\"%.20s\": write UP, DOWN or NONE", word);
    return ORR_HOP_DOWN;
}

/* A split link may also be named as SimGrid names its halves. */
static bool find_half(struct orr_xml_reader *r, const char *id,
                      enum orr_hop_direction *half, unsigned *ret)
{
    size_t length = strlen(id);
    size_t tail = *half == ORR_HOP_UP ? strlen("_UP") : strlen("_DOWN");
    char *base;
    bool found;

    if (length <= tail ||
        strcmp(id + length - tail, *half == ORR_HOP_UP ? "_UP" : "_DOWN") != 0)
        return false;
    base = strndup(id, length - tail);
    if (!base) {
        orr_xml_check(r, -ENOMEM);
        return false;
    }
    found = orr_names_find(&r->links, base, ret) &&
            r->desc->links[*ret].sharing == ORR_LINK_SPLITDUPLEX;
    free(base);
    return found;
}

static void start_link_ctn(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    enum orr_hop_direction up = ORR_HOP_UP, down = ORR_HOP_DOWN;
    enum orr_hop_direction dir = read_hop_direction(r);
    unsigned link;

    if (r->rc)
        return;
    if (!orr_names_find(&r->links, id, &link)) {
        if (dir == ORR_HOP_NONE && find_half(r, id, &up, &link))
            dir = up;
        else if (dir == ORR_HOP_NONE && find_half(r, id, &down, &link))
            dir = down;
        else
            orr_xml_fail(r,
                         "id=\"%.80s\": no such link above: correct it, or "
                         "declare the link before the route",
                         id);
        if (r->symmetrical)
            orr_xml_fail(r,
                         "id=\"%.80s\": half of a split link in a route that "
                         "leads back, which would pass the same half: write "
                         "symmetrical=\"NO\", or the link's id and a direction",
                         id);
    }
    if (r->rc == 0)
        orr_xml_check(
            r, orr_route_desc_add_hop(&r->desc->routes[r->route], link, dir));
}

/* ---- prop ---- */

static void set_prop(struct orr_xml_reader *r, struct orr_prop_desc **props,
                     unsigned *nprops, const char *id, const char *value)
{
    if (r->rc)
        return;
    if (orr_props_find(*props, *nprops, id))
        orr_xml_fail(r, "a second property \"%.80s\": remove one", id);
    else
        orr_xml_check(r, orr_props_set(props, nprops, id, value));
}

static void set_cost(struct orr_xml_reader *r, const char *id,
                     const char *value)
{
    const char *problem;
    double cost;

    for (unsigned i = 0; i < ORR_NCOSTS; i++) {
        if (strcmp(id, orr_cost_fields[i].prop) != 0)
            continue;
        problem = orr_number_parse(value, &cost);
        if (!problem && cost < 0)
            problem = "is negative: write microseconds";
        if (problem)
            orr_xml_fail(r, "%s=\"%.40s\" %s", id, value, problem);
        else
            *orr_machine_desc_cost(r->desc, i) = cost;
        return;
    }
    orr_xml_fail(
        r,
        "unknown cost %.60s: known are submit, "
        "submit-per-buffer, push, fetch, device-alloc, device-free, "
        "pinned-alloc-per-mib, first-use-per-mib, device-first-use-per-mib, "
        "kernel-queue, kernel-latency, copy-queue, progress, wake and wake-soon",
        id);
}

/* Handles MAIN's properties that are fields of a description. */
static bool set_field(struct orr_xml_reader *r, const char *id,
                      const char *value)
{
    if (strncmp(id, "orrery-cost-", strlen("orrery-cost-")) == 0) {
        set_cost(r, id, value);
        return true;
    }
    if (strcmp(id, "orrery-host") == 0) {
        orr_xml_check(r, orr_desc_set_text(&r->desc->host, value));
        return true;
    }
    if (strcmp(id, "orrery-provenance") != 0)
        return false;
    if (strcmp(value, "measured") != 0 && strcmp(value, "derived") != 0 &&
        strcmp(value, "partly measured") != 0)
        orr_xml_fail(r,
                     "orrery-provenance=\"%.40s\": write measured or "
                     "derived, or partly measured",
                     value);
    orr_xml_check(r, orr_desc_set_text(&r->desc->provenance, value));
    return true;
}

/* StarPU reads memsize as a number of bytes; here 16GiB is read too and
 * converted to bytes, so that the written value means the same to both. */
static const char *plain_bytes(struct orr_xml_reader *r, const char *value,
                               char text[ORR_NUMBER_MAX])
{
    const char *problem;
    double bytes;

    if (!value[strspn(value, "0123456789")])
        return value; /* the check requires some digits, and not too many */
    problem = orr_quantity_parse(ORR_QUANTITY_SIZE, value, &bytes);
    if (!problem && !(bytes >= 0 && bytes < 1e18))
        problem = "is not a size of memory";
    if (problem) {
        orr_xml_fail(r, "memsize=\"%.40s\" %s", value, problem);
        return value;
    }
    orr_snprintf(text, ORR_NUMBER_MAX, "%.0f", bytes);
    return text;
}

static void set_host_prop(struct orr_xml_reader *r, const char *id,
                          const char *value)
{
    struct orr_host_desc *host = &r->desc->hosts[r->desc->nhosts - 1];
    char bytes[ORR_NUMBER_MAX];

    if (strcmp(id, "memsize") == 0)
        value = plain_bytes(r, value, bytes);
    if (strcmp(host->id, "MAIN") != 0 || !set_field(r, id, value))
        set_prop(r, &host->props, &host->nprops, id, value);
}

/* Option names had underscores in version 3. */
static void set_config(struct orr_xml_reader *r, const char *id,
                       const char *value)
{
    char *name = strdup(id);
    const char *problem;

    if (!name) {
        orr_xml_check(r, -ENOMEM);
        return;
    }
    for (char *at = name; *at && r->version3; at++)
        if (*at == '_')
            *at = '-';
    problem = orr_option_problem(name, value);
    if (problem)
        orr_xml_fail(r, "option %.60s: \"%.40s\" %s", name, value, problem);
    set_prop(r, &r->desc->config, &r->desc->nconfig, name, value);
    free(name);
}

static void start_prop(struct orr_xml_reader *r)
{
    const char *id = orr_xml_need_attr(r, "id");
    const char *value = orr_xml_need_attr(r, "value");
    struct orr_machine_desc *desc = r->desc;

    if (r->rc)
        return;
    switch (r->places[r->depth]) {
    case ORR_XML_CONFIG:
        set_config(r, id, value);
        break;
    case ORR_XML_HOST:
        set_host_prop(r, id, value);
        break;
    case ORR_XML_LINK:
        set_prop(r, &desc->links[desc->nlinks - 1].props,
                 &desc->links[desc->nlinks - 1].nprops, id, value);
        break;
    default:
        if (refuse_closed(r))
            return;
        if (r->zone_used)
            orr_xml_fail(r, "after a host or link: move it before them");
        else
            set_prop(r, &desc->props, &desc->nprops, id, value);
    }
}

/* ---- tables ---- */

#define IN(place) (1u << ORR_XML_##place)

static const struct orr_xml_element elements[] = {
    {"platform", ORR_XML_PLATFORM, IN(DOCUMENT), orr_xml_start_platform, NULL},
    {"config", ORR_XML_CONFIG, IN(PLATFORM), start_config, NULL},
    {"zone", ORR_XML_ZONE, IN(PLATFORM) | IN(ZONE), start_zone, end_zone},
    {"AS", ORR_XML_ZONE, IN(PLATFORM) | IN(ZONE), start_zone, end_zone},
    {"host", ORR_XML_HOST, IN(ZONE), start_host, NULL},
    {"link", ORR_XML_LINK, IN(ZONE), start_link, NULL},
    {"route", ORR_XML_ROUTE, IN(ZONE), start_route, end_route},
    {"link_ctn", ORR_XML_LINK_CTN, IN(ROUTE), start_link_ctn, NULL},
    {"prop", ORR_XML_PROP, IN(CONFIG) | IN(ZONE) | IN(HOST) | IN(LINK),
     start_prop, NULL},
    {NULL, ORR_XML_DOCUMENT, 0, NULL, NULL},
};

static const char *machine_refusal(const char *name)
{
    static const char zones[] =
        "zones of this type are not supported: a machine is one zone with "
        "routing=\"Full\"; write its hosts, links and routes out";
    static const char traces[] =
        "values that change with time are not supported: remove it";
    static const char others[] = "has no meaning for one machine: remove it";
    static const struct {
        const char *name, *why;
    } known[] = {
        {"backbone", zones},      {"cluster", zones},
        {"cabinet", zones},       {"peer", zones},
        {"router", zones},        {"host_link", zones},
        {"zoneRoute", zones},     {"ASroute", zones},
        {"bypassRoute", zones},   {"bypassZoneRoute", zones},
        {"bypassASroute", zones}, {"include", others},
        {"trace", traces},        {"trace_connect", traces},
        {"random", others},       {"process", others},
        {"actor", others},        {"storage", others},
        {"storage_type", others}, {"mount", others},
        {"mstorage", others},     {"disk", others},
        {"gpu", others},          {"model_prop", others},
        {"argument", others},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].why;
    return NULL;
}

const struct orr_xml_grammar orr_xml_machine = {
    elements, "machine", "config, zone, host, link, route, link_ctn and prop",
    machine_refusal};

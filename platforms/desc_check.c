/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/desc_check.c - checks that a machine description is complete and
 * consistent, and counts its hosts. No state.
 */
#include "core/base/host.h"
#include "core/base/number.h"
#include "platforms/desc_build.h"

#include "platforms/bus_files.h"
#include "platforms/locality.h"
#include "platforms/names.h"
#include "platforms/power.h"
#include "platforms/rates.h"
#include "platforms/speeds.h"
#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ID 512

struct check {
    const struct orr_machine_desc *desc;
    struct orr_error *err;
    uint64_t *pairs; /* source and destination of each route, sorted */
    unsigned ncpu, ncuda, nopencl, nnuma; /* found */
};

/* Fails with "path:line: <element> "id": " and the message. */
static int element_wrong(const struct check *c, const char *element,
                         const char *id, unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int element_wrong(const struct check *c, const char *element,
                         const char *id, unsigned line, const char *format, ...)
{
    const char *path = c->desc->path ? c->desc->path : c->desc->name;
    char words[512], place[32] = "";
    va_list args;

    va_start(args, format);
    orr_vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    if (line)
        snprintf(place, sizeof(place), ":%u", line);
    return orr_fail(c->err, -EINVAL, "%s%s: <%s> \"%.80s\": %s", path, place,
                    element, id, words);
}

static int wrong_host(const struct check *c, const struct orr_host_desc *host,
                      const char *words)
{
    return element_wrong(c, "host", host->id, host->line, "%s", words);
}

/* The fault of a name or a value as XML text, NULL: none. */
static const char *text_problem(const char *text)
{
    if (!orr_is_utf8(text))
        return "is not UTF-8";
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && !strchr("\t\n\r", *text))
            return "contains a control character";
    return NULL;
}

static const char *id_problem(const char *id)
{
    if (!*id)
        return "the id is empty: give it a name";
    if (strlen(id) > MAX_ID)
        return "the id is longer than 512 bytes: shorten it";
    if (strpbrk(id, "\t\n\r") || text_problem(id))
        return "the id is not plain UTF-8 text: rename it";
    return NULL;
}

static int check_props(const struct check *c, const char *element,
                       const char *id, unsigned line,
                       const struct orr_prop_desc *props, unsigned nprops)
{
    for (unsigned i = 0; i < nprops; i++) {
        const char *problem = id_problem(props[i].id);

        if (!problem)
            problem = text_problem(props[i].value);
        if (problem)
            return element_wrong(c, element, id, line, "property \"%.80s\": %s",
                                 props[i].id, problem);
    }
    return 0;
}

/* Properties that are read as numbers must be numbers. */
static int check_host_numbers(const struct check *c,
                              const struct orr_host_desc *host)
{
    static const struct {
        const char *id, *what;
    } numbers[] = {
        {"memsize", "of bytes"},
        {"memcpy_peer", "(1: copies between devices)"},
        {ORR_PROP_PACKAGE, "(the processor it belongs to, counted from 0)"},
        {ORR_PROP_NUMA, "(the NUMA node next to it, counted from 0)"},
        {ORR_PROP_L3, "(the cache that it shares, counted from 0)"},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const char *value = orr_host_desc_prop(host, numbers[i].id);

        if (!value)
            continue;
        if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 18)
            return element_wrong(
                c, "host", host->id, host->line,
                "property %s is \"%.40s\": write a decimal integer "
                "%s",
                numbers[i].id, value, numbers[i].what);
    }
    return 0;
}

static int check_host(const struct check *c, const struct orr_host_desc *host,
                      struct orr_names *seen, unsigned index)
{
    const char *problem = id_problem(host->id);
    char words[200];
    int rc;

    if (problem)
        return wrong_host(c, host, problem);
    rc = orr_names_add(seen, host->id, index);
    if (rc == -ENOMEM)
        return rc;
    if (rc)
        return wrong_host(c, host, "a second host of that id: rename one");
    if (!(host->speed > 0) || !isfinite(host->speed))
        return wrong_host(c, host,
                          "the speed is not positive: write 1Gf when "
                          "it is unknown");
    rc =
        check_props(c, "host", host->id, host->line, host->props, host->nprops);
    if (rc == 0)
        rc = check_host_numbers(c, host);
    problem = orr_host_desc_speeds_problem(host, words, sizeof(words));
    if (!problem)
        problem = orr_host_desc_rates_problem(host, words, sizeof(words));
    if (!problem)
        problem = orr_host_desc_power_problem(host, words, sizeof(words));
    return rc == 0 && problem ? wrong_host(c, host, problem) : rc;
}

static int check_hosts(const struct check *c)
{
    struct orr_names seen = {0};
    int rc = 0;

    for (unsigned i = 0; i < c->desc->nhosts && rc == 0; i++)
        rc = check_host(c, &c->desc->hosts[i], &seen, i);
    orr_names_done(&seen);
    return rc;
}

/* What is wrong with a link's values, NULL when nothing is. */
static const char *link_problem(const struct orr_link_desc *link)
{
    if (!(link->bandwidth > 0) || !isfinite(link->bandwidth))
        return "the bandwidth is not positive: write what it carries, as "
               "10GBps";
    if (!(link->latency >= 0) || !isfinite(link->latency))
        return "the latency is negative: write 0s when it is unknown";
    return NULL;
}

static int check_link(const struct check *c, const struct orr_link_desc *link,
                      struct orr_names *seen, unsigned index)
{
    const char *problem = id_problem(link->id);
    int rc = orr_names_add(seen, link->id, index);

    if (rc == -ENOMEM)
        return rc;
    if (!problem && rc)
        problem = "a second link of that id: rename one";
    if (!problem)
        problem = link_problem(link);
    if (problem)
        return element_wrong(c, "link", link->id, link->line, "%s", problem);
    return check_props(c, "link", link->id, link->line, link->props,
                       link->nprops);
}

/* SimGrid makes two links of a split one, whose names must be free. */
static int check_split(const struct check *c, const struct orr_link_desc *link,
                       const struct orr_names *seen)
{
    static const char *const ends[] = {"_UP", "_DOWN"};
    char name[MAX_ID + 8];
    unsigned other;

    for (unsigned i = 0; i < 2 && link->sharing == ORR_LINK_SPLITDUPLEX; i++) {
        snprintf(name, sizeof(name), "%s%s", link->id, ends[i]);
        if (orr_names_find(seen, name, &other))
            return element_wrong(
                c, "link", link->id, link->line,
                "there is also a link \"%.80s\", which a split link "
                "makes: rename one",
                name);
    }
    return 0;
}

static int check_links(const struct check *c)
{
    struct orr_names seen = {0};
    int rc = 0;

    for (unsigned i = 0; i < c->desc->nlinks && rc == 0; i++)
        rc = check_link(c, &c->desc->links[i], &seen, i);
    for (unsigned i = 0; i < c->desc->nlinks && rc == 0; i++)
        rc = check_split(c, &c->desc->links[i], &seen);
    orr_names_done(&seen);
    return rc;
}

static uint64_t host_pair(unsigned src, unsigned dst)
{
    return (uint64_t)src << 32 | dst;
}

static int compare_pairs(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool has_route(const struct check *c, unsigned src, unsigned dst)
{
    uint64_t key = host_pair(src, dst);

    return c->desc->nroutes && bsearch(&key, c->pairs, c->desc->nroutes,
                                       sizeof(key), compare_pairs);
}

static const char *hop_problem(const struct orr_machine_desc *desc,
                               const struct orr_hop_desc *hop)
{
    bool split;

    if (hop->link >= desc->nlinks)
        return "has a hop over a link that does not exist";
    split = desc->links[hop->link].sharing == ORR_LINK_SPLITDUPLEX;
    if (split && hop->direction == ORR_HOP_NONE)
        return "passes a split link in no direction: add direction=\"UP\" or "
               "\"DOWN\"";
    if (!split && hop->direction != ORR_HOP_NONE)
        return "gives a direction for a link that is not split: remove it, or "
               "give the link sharing_policy=\"SPLITDUPLEX\"";
    return NULL;
}

static int check_route(const struct check *c,
                       const struct orr_route_desc *route)
{
    const struct orr_machine_desc *desc = c->desc;
    const char *problem = NULL;
    char name[200];

    if (route->src >= desc->nhosts || route->dst >= desc->nhosts)
        return element_wrong(c, "route", "?", route->line,
                             "an end does not exist");
    if (route->nhops == 0)
        problem = "has no links: add a <link_ctn>";
    for (unsigned i = 0; i < route->nhops && !problem; i++)
        problem = hop_problem(desc, &route->hops[i]);
    if (!problem)
        return 0;
    snprintf(name, sizeof(name), "%.80s to %.80s", desc->hosts[route->src].id,
             desc->hosts[route->dst].id);
    return element_wrong(c, "route", name, route->line, "%s", problem);
}

/* Names the later of two equal routes. */
static int wrong_twice(const struct check *c, uint64_t key)
{
    const struct orr_machine_desc *desc = c->desc;
    char name[200];
    unsigned i = desc->nroutes - 1;

    while (host_pair(desc->routes[i].src, desc->routes[i].dst) != key)
        i--;
    snprintf(name, sizeof(name), "%.80s to %.80s",
             desc->hosts[desc->routes[i].src].id,
             desc->hosts[desc->routes[i].dst].id);
    return element_wrong(
        c, "route", name, desc->routes[i].line,
        "a second route between these hosts (a route is symmetrical "
        "unless symmetrical=\"NO\"): remove one");
}

static int check_routes(struct check *c)
{
    const struct orr_machine_desc *desc = c->desc;

    c->pairs = malloc((desc->nroutes + (size_t)1) * sizeof(*c->pairs));
    if (!c->pairs)
        return -ENOMEM;
    for (unsigned i = 0; i < desc->nroutes; i++) {
        int rc = check_route(c, &desc->routes[i]);

        if (rc)
            return rc;
        c->pairs[i] = host_pair(desc->routes[i].src, desc->routes[i].dst);
    }
    qsort(c->pairs, desc->nroutes, sizeof(*c->pairs), compare_pairs);
    for (unsigned i = 1; i < desc->nroutes; i++)
        if (c->pairs[i] == c->pairs[i - 1])
            return wrong_twice(c, c->pairs[i]);
    return 0;
}

/* Counts the hosts of a type. StarPU counts every name that begins with the
 * type and then looks for type0, type1…, so neither holes nor other names are
 * accepted. */
static int count_kind(const struct check *c, const char *kind, unsigned *ret)
{
    const struct orr_machine_desc *desc = c->desc;
    bool *seen = calloc(desc->nhosts + (size_t)1, sizeof(*seen));
    unsigned count = 0, hole = 0;
    const struct orr_host_desc *last = NULL;
    int rc = 0;

    if (!seen)
        return -ENOMEM;
    for (unsigned i = 0; i < desc->nhosts && rc == 0; i++) {
        const struct orr_host_desc *host = &desc->hosts[i];
        int number = orr_host_desc_number(host, kind);

        if (strncmp(host->id, kind, strlen(kind)) != 0)
            continue;
        if (number < 0)
            rc = element_wrong(
                c, "host", host->id, host->line,
                "after %s a number is expected, from 0 on and without "
                "leading zeros: rename it",
                kind);
        else if ((unsigned)number < desc->nhosts)
            seen[number] = true;
        last = host;
        count++;
    }
    while (seen[hole])
        hole++;
    if (rc == 0 && hole < count)
        rc = element_wrong(
            c, "host", last->id, last->line,
            "there are %u hosts %s<number> but no %s%u: number them "
            "from 0 on without holes",
            count, kind, kind, hole);
    free(seen);
    *ret = count;
    return rc;
}

/* StarPU has no such rule for main memory: those after a hole have no
 * meaning. */
static unsigned count_numa(const struct orr_machine_desc *desc)
{
    unsigned n = 0;
    char id[32];

    do
        snprintf(id, sizeof(id), "RAM%u", n);
    while (orr_machine_desc_host(desc, id) >= 0 && ++n);
    return n;
}

static int need_host(const struct check *c, const char *id, const char *why)
{
    if (orr_machine_desc_host(c->desc, id) >= 0)
        return 0;
    return element_wrong(c, "zone", "", 0,
                         "no host %s, %s: add <host id=\"%s\" "
                         "speed=\"1f\"/>",
                         id, why, id);
}

static int need_routes(const struct check *c, const char *kind, int ram)
{
    const struct orr_machine_desc *desc = c->desc;

    for (unsigned i = 0; i < desc->nhosts; i++) {
        const struct orr_host_desc *host = &desc->hosts[i];
        bool to, from;

        if (orr_host_desc_number(host, kind) < 0)
            continue;
        to = has_route(c, (unsigned)ram, i);
        from = has_route(c, i, (unsigned)ram);
        if (to && from)
            continue;
        return element_wrong(
            c, "host", host->id, host->line,
            "no route %s RAM%s: add a <route> so that data can be "
            "copied",
            to ? "to" : "from", to || from ? "" : " nor back");
    }
    return 0;
}

static int check_kinds(struct check *c)
{
    int rc, ram;

    rc = need_host(c, "MAIN", "which runs the application");
    if (rc == 0)
        rc = need_host(c, "RAM", "where main memory is");
    if (rc == 0)
        rc = count_kind(c, "CPU", &c->ncpu);
    if (rc == 0)
        rc = count_kind(c, "CUDA", &c->ncuda);
    if (rc == 0)
        rc = count_kind(c, "OpenCL", &c->nopencl);
    if (rc)
        return rc;
    c->nnuma = count_numa(c->desc);
    if (1 + c->ncuda + c->nopencl > ORR_DESC_MAX_NODES)
        return element_wrong(c, "zone", "", 0,
                             "%u devices, at most %u are supported",
                             c->ncuda + c->nopencl, ORR_DESC_MAX_NODES - 1);
    ram = orr_machine_desc_host(c->desc, "RAM");
    rc = need_routes(c, "CUDA", ram);
    if (rc == 0)
        rc = need_routes(c, "OpenCL", ram);
    return rc;
}

/* All options of the model that transfers follow, and no others: one that
 * SimGrid obeyed and this library did not would make the two disagree. */
const char *orr_option_problem(const char *id, const char *value)
{
    static const struct {
        const char *id;
        bool word, negative, zero; /* what its value may be */
    } known[] = {
        {"network/TCP-gamma", false, true, true},
        {"network/latency-factor", false, false, true},
        {"network/bandwidth-factor", false, false, false},
        {"network/weight-S", false, false, true},
        {"network/crosstraffic", true, false, true},
    };
    static const char *const words[] = {"yes",   "no", "true",
                                        "false", "on", "off"};
    const char *problem;
    double number;

    /* How SimGrid computes, without effect on results. */
    if (strcmp(id, "network/optim") == 0)
        return strcmp(value, "Full") == 0 || strcmp(value, "Lazy") == 0
                   ? NULL
                   : "is neither Full nor Lazy";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(id, known[i].id) != 0)
            continue;
        for (size_t j = 0; known[i].word && j < 6; j++)
            if (strcmp(value, words[j]) == 0)
                return NULL;
        problem = orr_number_parse(value, &number);
        if (problem)
            return problem;
        if ((number < 0 && !known[i].negative) ||
            (number == 0 && !known[i].zero))
            return "is not positive";
        return NULL;
    }
    return "cannot be taken into account: remove it, known are TCP-gamma, "
           "latency-factor, bandwidth-factor, weight-S, crosstraffic and optim "
           "of network/";
}

static int check_config(const struct check *c)
{
    const struct orr_machine_desc *desc = c->desc;
    int rc = 0;

    for (unsigned i = 0; i < desc->nconfig && rc == 0; i++) {
        const struct orr_prop_desc *option = &desc->config[i];
        const char *problem = orr_option_problem(option->id, option->value);

        if (problem)
            rc = element_wrong(c, "config", option->id, 0, "\"%.40s\" %s",
                               option->value, problem);
    }
    return rc;
}

static int check_machine(const struct check *c)
{
    const struct orr_machine_desc *desc = c->desc;
    int rc;

    for (unsigned i = 0; i < ORR_NCOSTS; i++) {
        double cost = orr_machine_desc_get_cost(desc, i);

        if (!isnan(cost) && (!(cost >= 0) || !isfinite(cost)))
            return element_wrong(
                c, "host", "MAIN", 0,
                "%s is negative: write microseconds, or remove it",
                orr_cost_fields[i].prop);
    }
    if (id_problem(desc->host))
        return element_wrong(c, "host", "MAIN", 0, "orrery-host: %s",
                             id_problem(desc->host));
    rc = check_props(c, "config", "", 0, desc->config, desc->nconfig);
    if (rc == 0)
        rc = check_config(c);
    return rc ? rc : check_props(c, "zone", "", 0, desc->props, desc->nprops);
}

static int check_all(struct check *c)
{
    int rc;

    rc = check_machine(c);
    if (rc == 0)
        rc = check_hosts(c);
    if (rc == 0)
        rc = check_links(c);
    if (rc == 0)
        rc = check_routes(c);
    if (rc == 0)
        rc = check_kinds(c);
    free(c->pairs);
    if (rc == -ENOMEM)
        orr_fail(c->err, rc, "%s: out of memory", c->desc->name);
    return rc;
}

int orr_machine_desc_check(const struct orr_machine_desc *desc,
                           struct orr_error *err)
{
    struct check c = {.desc = desc, .err = err};

    return check_all(&c);
}

int orr_machine_desc_finish(struct orr_machine_desc *desc,
                            struct orr_error *err)
{
    struct check c = {.desc = desc, .err = err};
    int rc = orr_machine_desc_add_fluid_config(desc);

    if (rc == -ENOMEM)
        return orr_fail(err, rc, "%s: out of memory", desc->name);
    /* If there are too many options to add one, some are unknown: the check
     * reports which. */
    rc = check_all(&c);
    if (rc)
        return rc;
    desc->ncpu = c.ncpu;
    desc->ncuda = c.ncuda;
    desc->nopencl = c.nopencl;
    desc->nnuma = c.nnuma;
    if (orr_bus_derive(desc))
        return orr_fail(err, -ENOMEM, "%s: out of memory", desc->name);
    return 0;
}

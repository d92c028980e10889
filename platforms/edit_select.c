/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_select.c - which hosts, links and routes an edit means. No
 * state.
 */
#include "platforms/edit_private.h"

#include "platforms/desc_build.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool orr_edit_has_number(const struct orr_edit *edit, unsigned k)
{
    for (unsigned i = 0; i < edit->nranges; i++)
        if (k >= edit->ranges[i].first && k <= edit->ranges[i].last)
            return true;
    return edit->nranges == 0;
}

unsigned orr_edit_count_of(const struct orr_machine_desc *desc,
                           enum orr_edit_class kind)
{
    if (kind == ORR_EDIT_CUDA)
        return desc->ncuda;
    if (kind == ORR_EDIT_RAM)
        return desc->nnuma;
    return kind == ORR_EDIT_OPENCL ? desc->nopencl : desc->ncpu;
}

int orr_edit_check_numbers(const struct orr_edit_work *work,
                           enum orr_edit_class kind)
{
    const struct orr_edit *edit = work->edit;
    const char *prefix = orr_edit_class_host(kind);
    unsigned n = orr_edit_count_of(work->desc, kind);

    for (unsigned i = 0; i < edit->nranges; i++) {
        if (edit->ranges[i].last < n)
            continue;
        if (n == 0 && kind == ORR_EDIT_RAM)
            return orr_edit_wrong(work, edit->at_range,
                                  "main memory is one node here: there is no "
                                  "RAM%u",
                                  edit->ranges[i].last);
        if (n == 0)
            return orr_edit_wrong(work, edit->at_range,
                                  "there is no %s device on this machine",
                                  prefix);
        return orr_edit_wrong(work, edit->at_range,
                              "there is no %s%u: they are %s0 to %s%u", prefix,
                              edit->ranges[i].last, prefix, prefix, n - 1);
    }
    return 0;
}

/* ---- hosts ---- */

bool orr_edit_is_main_memory(const struct orr_host_desc *host)
{
    return strcmp(host->id, "RAM") == 0 ||
           orr_host_desc_number(host, "RAM") >= 0 ||
           orr_host_desc_number(host, "NUMA") >= 0;
}

bool orr_edit_is_device(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "CUDA") >= 0 ||
           orr_host_desc_number(host, "OpenCL") >= 0;
}

static bool is_disk(const struct orr_host_desc *host)
{
    return strncasecmp(host->id, "DISK", 4) == 0;
}

static bool is_memory(const struct orr_host_desc *host)
{
    return orr_edit_is_main_memory(host) || orr_edit_is_device(host) ||
           is_disk(host);
}

/* Whether a number in brackets is the device's, or main memory's behind `ram`;
 * without brackets, yes. */
static bool is_meant(const struct orr_edit *edit,
                     const struct orr_host_desc *host)
{
    const char *prefix = edit->class == ORR_EDIT_RAM ? "RAM" : "CUDA";
    int number = orr_host_desc_number(host, prefix);

    if (edit->nranges == 0)
        return true;
    if (number < 0 && edit->class != ORR_EDIT_RAM)
        number = orr_host_desc_number(host, "OpenCL");
    return number >= 0 && orr_edit_has_number(edit, (unsigned)number);
}

/* ---- links ---- */

static bool has_class(const struct orr_link_desc *link, const char *class)
{
    const char *value =
        orr_props_find(link->props, link->nprops, "orrery-class");

    return value && strcasecmp(value, class) == 0;
}

/* "NUMA3" is of the form "NUMA<number>", "Interconnect-0-1" with two. */
static bool is_numbered(const char *id, const char *prefix)
{
    size_t length = strlen(prefix);

    if (strncasecmp(id, prefix, length) != 0)
        return false;
    return id[length + strspn(id + length, "0123456789-")] == '\0';
}

/* Main memory's own links are called Host, by StarPU also Interconnect and
 * NUMA<k>. */
bool orr_edit_is_membus(const struct orr_link_desc *link)
{
    return has_class(link, "membus") || is_numbered(link->id, "Host") ||
           is_numbered(link->id, "Interconnect") ||
           is_numbered(link->id, "NUMA");
}

static bool text_contains(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

bool orr_edit_is_nvlink(const struct orr_link_desc *link)
{
    return has_class(link, "nvlink") || text_contains(link->id, "nvlink") ||
           text_contains(link->id, "nvswitch");
}

/* ---- routes ---- */

/* Whether each link is passed by the routes between one pair of hosts alone. */
static bool *find_pair_links(const struct orr_machine_desc *desc)
{
    bool *alone = calloc(desc->nlinks + (size_t)1, sizeof(*alone));
    unsigned *first = calloc(desc->nlinks + (size_t)1, sizeof(*first));

    for (unsigned r = 0; alone && first && r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];

        for (unsigned h = 0; h < route->nhops; h++) {
            unsigned link = route->hops[h].link;
            const struct orr_route_desc *other;

            if (first[link] == 0) {
                first[link] = r + 1;
                alone[link] = true;
                continue;
            }
            other = &desc->routes[first[link] - 1];
            if ((other->src != route->src || other->dst != route->dst) &&
                (other->src != route->dst || other->dst != route->src))
                alone[link] = false;
        }
    }
    if (!first) {
        free(alone);
        alone = NULL;
    }
    free(first);
    return alone;
}

bool *orr_edit_nvlink_routes(const struct orr_machine_desc *desc)
{
    bool *alone = find_pair_links(desc);
    bool *ret = calloc(desc->nroutes + (size_t)1, sizeof(*ret));

    for (unsigned r = 0; alone && ret && r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];

        if (!orr_edit_is_device(&desc->hosts[route->src]) ||
            !orr_edit_is_device(&desc->hosts[route->dst]))
            continue;
        ret[r] = route->nhops == 1 && alone[route->hops[0].link];
        for (unsigned h = 0; h < route->nhops && !ret[r]; h++)
            ret[r] = orr_edit_is_nvlink(&desc->links[route->hops[h].link]);
    }
    if (!alone) {
        free(ret);
        ret = NULL;
    }
    free(alone);
    return ret;
}

static bool is_of_class(const struct orr_machine_desc *desc,
                        enum orr_edit_class class,
                        const struct orr_route_desc *route, bool nvlink)
{
    const struct orr_host_desc *src = &desc->hosts[route->src];
    const struct orr_host_desc *dst = &desc->hosts[route->dst];
    bool peer = orr_edit_is_device(src) && orr_edit_is_device(dst);
    bool ram = orr_edit_is_main_memory(src) || orr_edit_is_main_memory(dst);

    switch (class) {
    case ORR_EDIT_PCIE:
        return (peer && !nvlink) ||
               (ram && (orr_edit_is_device(src) || orr_edit_is_device(dst)));
    case ORR_EDIT_NVLINK:
        return nvlink;
    case ORR_EDIT_PEER:
        return peer;
    case ORR_EDIT_RAM:
        return ram && is_memory(src) && is_memory(dst);
    case ORR_EDIT_MEMBUS:
        return orr_edit_is_main_memory(src) && orr_edit_is_main_memory(dst);
    case ORR_EDIT_DISK:
        return is_disk(src) || is_disk(dst);
    default:
        return is_memory(src) && is_memory(dst);
    }
}

/* Main memory's own links, and what joins main memories. */
static void mark_membus_links(const struct orr_machine_desc *desc, bool *links)
{
    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];

        if (is_of_class(desc, ORR_EDIT_MEMBUS, route, false))
            for (unsigned h = 0; h < route->nhops; h++)
                links[route->hops[h].link] = true;
    }
    for (unsigned l = 0; l < desc->nlinks; l++)
        if (orr_edit_is_membus(&desc->links[l]))
            links[l] = true;
}

/* Links that devices or disks share with all of main memory are no part of a class
 * that is named after a way to devices or disks: its rate is not theirs. */
static void unmark_membus_links(const struct orr_machine_desc *desc,
                                const bool *membus, bool *links)
{
    for (unsigned l = 0; l < desc->nlinks; l++)
        if (membus[l])
            links[l] = false;
}

static void mark_route_links(const struct orr_edit_work *work,
                             const bool *nvlink, bool *links)
{
    const struct orr_machine_desc *desc = work->desc;
    const struct orr_edit *edit = work->edit;

    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];

        if (!is_of_class(desc, edit->class, route, nvlink[r]) ||
            (!is_meant(edit, &desc->hosts[route->src]) &&
             !is_meant(edit, &desc->hosts[route->dst])))
            continue;
        for (unsigned h = 0; h < route->nhops; h++)
            links[route->hops[h].link] = true;
    }
}

static int select_class(const struct orr_edit_work *work, bool *links)
{
    const struct orr_machine_desc *desc = work->desc;
    enum orr_edit_class class = work->edit->class;
    bool *nvlink = orr_edit_nvlink_routes(desc);
    bool *membus = calloc(desc->nlinks + (size_t)1, sizeof(*membus));
    bool whole = class == ORR_EDIT_RAM || class == ORR_EDIT_BUS;

    if (nvlink && membus) {
        mark_membus_links(desc, membus);
        if (class == ORR_EDIT_MEMBUS)
            memcpy(links, membus, desc->nlinks * sizeof(*links));
        else
            mark_route_links(work, nvlink, links);
        if (class != ORR_EDIT_MEMBUS && !whole)
            unmark_membus_links(desc, membus, links);
    }
    free(nvlink);
    free(membus);
    return nvlink && membus ? 0 : orr_edit_no_memory(work);
}

/* ---- names ---- */

/* How near two names are: the letters that they have in common at the
 * beginning and the end, and a bonus when one holds the other. */
static unsigned name_likeness(const char *typed, const char *name)
{
    size_t nt = strlen(typed), nn = strlen(name), head = 0, tail = 0;
    size_t least = nt < nn ? nt : nn;

    while (head < least && tolower((unsigned char)typed[head]) ==
                               tolower((unsigned char)name[head]))
        head++;
    while (head + tail < least &&
           tolower((unsigned char)typed[nt - 1 - tail]) ==
               tolower((unsigned char)name[nn - 1 - tail]))
        tail++;
    if (nt && (text_contains(name, typed) || text_contains(typed, name)))
        head += least;
    return (unsigned)(head + tail);
}

#define LISTED 12

static int fail_unknown_link(const struct orr_edit_work *work)
{
    const struct orr_machine_desc *desc = work->desc;
    const char *typed = work->edit->name;
    unsigned best[LISTED], n = 0;
    char text[700] = "";
    size_t length = 0;

    for (unsigned l = 0; l < desc->nlinks; l++) {
        unsigned value = name_likeness(typed, desc->links[l].id), at = n;

        while (at > 0 &&
               name_likeness(typed, desc->links[best[at - 1]].id) < value)
            at--;
        if (at == LISTED)
            continue;
        n += n < LISTED;
        memmove(&best[at + 1], &best[at], (n - 1 - at) * sizeof(*best));
        best[at] = l;
    }
    for (unsigned i = 0; i < n && length < 560; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length,
                                   "%s\"%.48s\"", i ? ", " : "",
                                   desc->links[best[i]].id);
    if (desc->nlinks > n)
        snprintf(text + length, sizeof(text) - length, " and %u more",
                 desc->nlinks - n);
    return orr_edit_wrong(work, work->edit->at_range,
                          "there is no link \"%.80s\": the links are %s", typed,
                          n ? text : "none");
}

int orr_edit_select_links(const struct orr_edit_work *work, bool *links)
{
    const struct orr_machine_desc *desc = work->desc;
    unsigned most;

    if (work->edit->class == ORR_EDIT_LINK) {
        for (unsigned l = 0; l < desc->nlinks; l++)
            if (strcmp(desc->links[l].id, work->edit->name) == 0) {
                links[l] = true;
                return 0;
            }
        return fail_unknown_link(work);
    }
    most = desc->ncuda > desc->nopencl ? desc->ncuda : desc->nopencl;
    if (work->edit->nranges &&
        (most > 0 || work->edit->class == ORR_EDIT_RAM)) {
        int rc = orr_edit_check_numbers(
            work, work->edit->class == ORR_EDIT_RAM ? ORR_EDIT_RAM
                  : desc->ncuda == most             ? ORR_EDIT_CUDA
                                                    : ORR_EDIT_OPENCL);

        if (rc)
            return rc;
    }
    return select_class(work, links);
}

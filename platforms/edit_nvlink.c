/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_nvlink.c - the edits "nvlink = on" and "nvlink = off". No
 * state.
 *
 * On: each pair of CUDA devices without NVLink between them gets a route over
 * two links, one of each device, as through an NVSwitch. Off: devices that had
 * one reach each other over PCIe, over their routes to and from main memory,
 * but not through main memory itself.
 */
#include "platforms/edit_private.h"

#include "platforms/desc_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NVLink 4: 450 GB/s per direction ("NVIDIA H100 Tensor Core GPU Architecture",
 * 2022), of which large copies reach 85 %; 13 us from device to device through a
 * switch, as the machines of the catalogue have it. */
#define BANDWIDTH (0.85 * 450e9)
#define LATENCY   6.5e-6

struct nvlink {
    struct orr_edit_work *work;
    struct orr_machine_desc *desc;
    unsigned n;        /* CUDA devices */
    unsigned *host_of; /* of each */
    int *link_of;      /* of each, -1: not yet */
    int *route;        /* from device to device, n × n, -1: none */
    int *home, *from;  /* routes to main memory and from it */
    bool *is_nvlink;   /* of each route there was */
};

static void nvlink_find_routes(struct nvlink *v)
{
    const struct orr_machine_desc *desc = v->desc;
    int ram = orr_machine_desc_host(desc, "RAM");

    for (size_t i = 0; i < (size_t)v->n * v->n; i++)
        v->route[i] = -1;
    for (unsigned k = 0; k < v->n; k++)
        v->link_of[k] = v->home[k] = v->from[k] = -1;
    for (unsigned h = 0; h < desc->nhosts; h++) {
        int number = orr_host_desc_number(&desc->hosts[h], "CUDA");

        if (number >= 0 && (unsigned)number < v->n)
            v->host_of[number] = h;
    }
    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        int src = orr_host_desc_number(&desc->hosts[route->src], "CUDA");
        int dst = orr_host_desc_number(&desc->hosts[route->dst], "CUDA");

        if (src >= 0 && dst >= 0)
            v->route[(unsigned)src * v->n + (unsigned)dst] = (int)r;
        else if (src >= 0 && (int)route->dst == ram)
            v->home[src] = (int)r;
        else if (dst >= 0 && (int)route->src == ram)
            v->from[dst] = (int)r;
    }
}

static int nvlink_init(struct nvlink *v)
{
    size_t n = v->n;

    v->host_of = calloc(n + 1, sizeof(*v->host_of));
    v->link_of = calloc(n + 1, sizeof(*v->link_of));
    v->home = calloc(n + 1, sizeof(*v->home));
    v->from = calloc(n + 1, sizeof(*v->from));
    v->route = calloc(n * n + 1, sizeof(*v->route));
    v->is_nvlink = orr_edit_nvlink_routes(v->desc);
    if (!v->host_of || !v->link_of || !v->home || !v->from || !v->route ||
        !v->is_nvlink)
        return -ENOMEM;
    nvlink_find_routes(v);
    return 0;
}

static void nvlink_done(struct nvlink *v)
{
    free(v->host_of);
    free(v->link_of);
    free(v->home);
    free(v->from);
    free(v->route);
    free(v->is_nvlink);
}

/* An empty route from a to b, the old one's place if there was one. */
static int clear_route(struct nvlink *v, unsigned a, unsigned b)
{
    struct orr_machine_desc *desc = v->desc;
    int *route = &v->route[a * v->n + b];

    if (orr_edit_echo_route(v->work->echo, desc->hosts[v->host_of[a]].id,
                            desc->hosts[v->host_of[b]].id))
        return -ENOMEM;
    if (*route < 0) {
        *route = orr_machine_desc_add_route(desc, v->host_of[a], v->host_of[b]);
        return *route;
    }
    free(desc->routes[*route].hops);
    desc->routes[*route].hops = NULL;
    desc->routes[*route].nhops = 0;
    return *route;
}

/* ---- on ---- */

/* The device's link, made when there is none of that name. */
static int own_link(struct nvlink *v, unsigned k)
{
    struct orr_machine_desc *desc = v->desc;
    char id[40];

    snprintf(id, sizeof(id), "NVLink-CUDA%u", k);
    for (unsigned l = 0; l < desc->nlinks && v->link_of[k] < 0; l++)
        if (strcmp(desc->links[l].id, id) == 0)
            v->link_of[k] = (int)l;
    if (v->link_of[k] >= 0)
        return v->link_of[k];
    v->link_of[k] = orr_machine_desc_add_link(desc, id, BANDWIDTH, LATENCY,
                                              ORR_LINK_SPLITDUPLEX);
    if (v->link_of[k] >= 0 &&
        orr_edit_echo_link(v->work->echo, id, (double)NAN, BANDWIDTH))
        return -ENOMEM;
    return v->link_of[k];
}

static enum orr_hop_direction hop_direction(const struct nvlink *v, int link,
                                            enum orr_hop_direction dir)
{
    return v->desc->links[link].sharing == ORR_LINK_SPLITDUPLEX ? dir
                                                                : ORR_HOP_NONE;
}

static int nvlink_connect(struct nvlink *v, unsigned a, unsigned b)
{
    int up = own_link(v, a), down = up < 0 ? up : own_link(v, b), route, rc;

    if (down < 0)
        return down;
    route = clear_route(v, a, b);
    if (route < 0)
        return route;
    rc = orr_route_desc_add_hop(&v->desc->routes[route], (unsigned)up,
                                hop_direction(v, up, ORR_HOP_UP));
    if (rc >= 0)
        rc = orr_route_desc_add_hop(&v->desc->routes[route], (unsigned)down,
                                    hop_direction(v, down, ORR_HOP_DOWN));
    return rc < 0 ? rc : 0;
}

static int allow_peers(struct nvlink *v)
{
    int rc = 0;

    for (unsigned k = 0; k < v->n && rc == 0; k++) {
        struct orr_host_desc *host = &v->desc->hosts[v->host_of[k]];

        rc = orr_props_set(&host->props, &host->nprops, "memcpy_peer", "1");
        if (rc == 0)
            rc = orr_edit_echo_device(v->work->echo, host->id, (double)NAN,
                                      (double)NAN);
    }
    return rc;
}

/* ---- off ---- */

static int append_hops(struct nvlink *v, int to, int like, unsigned *left_out)
{
    struct orr_machine_desc *desc = v->desc;
    int rc = 0;

    for (unsigned h = 0; h < desc->routes[like].nhops && rc >= 0; h++) {
        struct orr_hop_desc hop = desc->routes[like].hops[h];

        if (orr_edit_is_membus(&desc->links[hop.link]) && left_out) {
            ++*left_out;
            continue;
        }
        rc = orr_route_desc_add_hop(&desc->routes[to], hop.link, hop.direction);
    }
    return rc < 0 ? rc : 0;
}

static int nvlink_disconnect(struct nvlink *v, unsigned a, unsigned b)
{
    unsigned left_out = 0;
    int route = clear_route(v, a, b), rc;

    if (route < 0)
        return route;
    rc = append_hops(v, route, v->home[a], &left_out);
    if (rc == 0)
        rc = append_hops(v, route, v->from[b], &left_out);
    /* Devices on main memory's own link have no other link between them. */
    if (rc == 0 && v->desc->routes[route].nhops == 0)
        rc = append_hops(v, route, v->home[a], NULL);
    return rc;
}

/* ---- both ---- */

static int switch_pairs(struct nvlink *v, unsigned *ret_n)
{
    bool on = v->work->edit->on_off;
    int rc = 0;

    *ret_n = 0;
    for (unsigned a = 0; a < v->n; a++)
        for (unsigned b = 0; b < v->n && rc == 0; b++) {
            int route = v->route[a * v->n + b];
            bool is_on = route >= 0 && v->is_nvlink[route];

            if (a == b || is_on == on)
                continue;
            ++*ret_n;
            rc = on ? nvlink_connect(v, a, b) : nvlink_disconnect(v, a, b);
        }
    if (rc == 0 && on && *ret_n)
        rc = allow_peers(v);
    return rc;
}

static int nvlink_echo(struct nvlink *v, unsigned n)
{
    struct orr_edit_echo *echo = v->work->echo;
    bool on = v->work->edit->on_off;
    const struct orr_link_desc *link;

    if (v->n < 2)
        return orr_edit_echo_say(echo,
                                 "no effect: NVLink connects CUDA "
                                 "devices, and this machine has %u",
                                 v->n);
    if (n == 0)
        return orr_edit_echo_say(echo, "no effect: already so");
    echo->effect = v->work->changed = true;
    if (!on)
        return orr_edit_echo_say(echo,
                                 "%u routes between CUDA devices go over "
                                 "PCIe instead of NVLink",
                                 n);
    link = &v->desc->links[v->link_of[0] >= 0 ? v->link_of[0] : 0];
    return orr_edit_echo_say(echo,
                             "%u routes between CUDA devices go over NVLink, "
                             "through a link of each device with %.4g GB/s per "
                             "direction and %.4g us",
                             n, link->bandwidth / 1e9, link->latency * 1e6);
}

int orr_edit_switch_nvlink(struct orr_edit_work *work)
{
    struct nvlink v = {
        .work = work, .desc = work->desc, .n = work->desc->ncuda};
    unsigned n = 0;
    int rc = nvlink_init(&v);

    work->echo->quantity = "count";
    if (rc == 0)
        rc = switch_pairs(&v, &n);
    if (rc == 0)
        rc = nvlink_echo(&v, n);
    nvlink_done(&v);
    if (rc == -E2BIG)
        return orr_edit_wrong(work, work->edit->at_value,
                              "that needs more links or routes than a "
                              "description can have");
    return rc ? orr_edit_no_memory(work) : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/view.c - see view.h. Links are grouped by the set of devices
 * whose route to main memory uses them: a set of one is the device's own
 * connection, a larger one a hub, and a hub is below the smallest larger set
 * that contains it. Of several links of one device in a row only the last is
 * its own; the others, between sockets for example, are a hub that happens to
 * have one device. Links that no such route uses are between devices: one
 * pair's alone is a direct link, those of several pairs of one device its port
 * to a switch. One thread.
 */
#include "tools/machine/view.h"

#include "core/base/grow.h"
#include "platforms/locality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How links are used, while the view is built. */
struct use {
    const struct orr_machine_desc *desc;
    struct machine_view *view;
    int *device_of; /* per host: its device, -1 */
    bool *down;     /* nlinks × ndevices: on the route to the device */
    bool *up;
    int *hub_of; /* per link: its group, -1 not on such routes */
};

static size_t use_cell(const struct use *u, unsigned link, unsigned device)
{
    return (size_t)link * u->view->ndevices + device;
}

static bool device_uses_link(const struct use *u, unsigned link,
                             unsigned device)
{
    return u->down[use_cell(u, link, device)] ||
           u->up[use_cell(u, link, device)];
}

static unsigned count_users(const struct use *u, unsigned link)
{
    unsigned n = 0;

    for (unsigned d = 0; d < u->view->ndevices; d++)
        n += device_uses_link(u, link, d);
    return n;
}

static bool same_users(const struct use *u, unsigned a, unsigned b)
{
    for (unsigned d = 0; d < u->view->ndevices; d++)
        if (device_uses_link(u, a, d) != device_uses_link(u, b, d))
            return false;
    return true;
}

/* ---- values ---- */

static void lower_rate(double *rate, double bandwidth)
{
    if (*rate == 0 || bandwidth < *rate)
        *rate = bandwidth;
}

/* Adds the bandwidth of a link. */
static void add_rate(struct view_rate *rate, const struct orr_link_desc *link,
                     bool down, bool up)
{
    if (down)
        lower_rate(&rate->down, link->bandwidth);
    if (up)
        lower_rate(&rate->up, link->bandwidth);
    rate->shared |= down && up && link->sharing == ORR_LINK_SHARED;
}

/* Σ of the latencies that a route has in links of which `wanted` is true. */
static double route_latency_us(const struct use *u, int route, int hub,
                               bool (*wanted)(const struct use *u,
                                              unsigned link, int hub))
{
    double sum = 0;

    if (route < 0)
        return 0;
    for (unsigned i = 0; i < u->desc->routes[route].nhops; i++) {
        unsigned link = u->desc->routes[route].hops[i].link;

        if (wanted(u, link, hub))
            sum += u->desc->links[link].latency * 1e6;
    }
    return sum;
}

static bool in_hub(const struct use *u, unsigned link, int hub)
{
    return u->hub_of[link] == hub;
}

static bool link_is_of_one_device(const struct use *u, unsigned link, int hub)
{
    (void)hub;
    return u->hub_of[link] == -2;
}

static double double_max(double a, double b)
{
    return a > b ? a : b;
}

/* ---- what routes use ---- */

static int view_add_devices(struct use *u)
{
    static const char *const kinds[] = {"CUDA", "OpenCL"};
    const struct orr_machine_desc *desc = u->desc;
    unsigned n = desc->ncuda + desc->nopencl;

    u->view->devices = calloc(n + (size_t)1, sizeof(*u->view->devices));
    u->device_of = malloc((desc->nhosts + (size_t)1) * sizeof(int));
    if (!u->view->devices || !u->device_of)
        return -ENOMEM;
    for (unsigned h = 0; h < desc->nhosts; h++)
        u->device_of[h] = -1;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned h = 0; h < desc->nhosts; h++) {
            if (orr_host_desc_number(&desc->hosts[h], kinds[k]) < 0)
                continue;
            u->device_of[h] = (int)u->view->ndevices;
            u->view->devices[u->view->ndevices++] = (struct view_device){
                .host = h,
                .home = (unsigned)orr_machine_desc_home(desc, &desc->hosts[h]),
                .hub = -1,
                .cluster = -1};
        }
    return 0;
}

static int mark_uses(struct use *u)
{
    const struct orr_machine_desc *desc = u->desc;
    size_t cells = (size_t)desc->nlinks * u->view->ndevices + 1;

    u->down = calloc(cells, sizeof(bool));
    u->up = calloc(cells, sizeof(bool));
    u->hub_of = malloc((desc->nlinks + (size_t)1) * sizeof(int));
    if (!u->down || !u->up || !u->hub_of)
        return -ENOMEM;
    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        int to = u->device_of[route->dst], from = u->device_of[route->src];
        bool *marks = NULL;

        if (to >= 0 && route->src == u->view->devices[to].home)
            marks = u->down;
        else if (from >= 0 && route->dst == u->view->devices[from].home)
            marks = u->up;

        for (unsigned i = 0; marks && i < route->nhops; i++)
            marks[use_cell(u, route->hops[i].link,
                           (unsigned)(marks == u->down ? to : from))] = true;
    }
    return 0;
}

/* ---- hubs ---- */

/* "PCI:0000:[10-1f] up" and "… down" are directions of one bridge. */
static size_t base_length(const char *id)
{
    static const char *const suffixes[] = {" up", " down", " through"};
    size_t length = strlen(id);

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t tail = strlen(suffixes[i]);

        if (length > tail && strcmp(id + length - tail, suffixes[i]) == 0)
            return length - tail;
    }
    return length;
}

/* Appends the link's name to the label, unless it is there or the label has
 * two names. */
static int add_label(char **label, const char *id)
{
    int length = (int)base_length(id);
    char *longer;

    if (!*label) {
        *label = strndup(id, (size_t)length);
        return *label ? 0 : -ENOMEM;
    }
    if (strchr(*label, ',') ||
        (strncmp(*label, id, (size_t)length) == 0 && !(*label)[length]))
        return 0;
    if (asprintf(&longer, "%s, %.*s", *label, length, id) < 0)
        return -ENOMEM;
    free(*label);
    *label = longer;
    return 0;
}

static int hub_set_devices(struct use *u, struct view_hub *hub, unsigned link)
{
    hub->devices = malloc((u->view->ndevices + (size_t)1) * sizeof(unsigned));
    if (!hub->devices)
        return -ENOMEM;
    for (unsigned d = 0; d < u->view->ndevices; d++)
        if (device_uses_link(u, link, d))
            hub->devices[hub->ndevices++] = d;
    return 0;
}

/* The hub of the users of this link, made when it is new. */
static int hub_for(struct use *u, unsigned link)
{
    struct machine_view *view = u->view;
    struct view_hub *hub;

    for (unsigned before = 0; before < link; before++)
        if (u->hub_of[before] >= 0 && same_users(u, before, link))
            return u->hub_of[before];
    hub = orr_array_add(view->hubs, view->nhubs);
    if (!hub)
        return -ENOMEM;
    hub->parent = -1;
    if (hub_set_devices(u, hub, link) < 0)
        return -ENOMEM;
    return (int)view->nhubs - 1;
}

static bool link_is_marked(const struct use *u, const bool *marks,
                           unsigned link)
{
    for (unsigned d = 0; d < u->view->ndevices; d++)
        if (marks[use_cell(u, link, d)])
            return true;
    return false;
}

/* Whether `link`, of one device alone, is followed by another such link
 * downwards. Links of one direction only are ignored: descriptions that StarPU
 * wrote have some for each bridge and for what was measured. */
static bool is_before_another(const struct use *u, unsigned link)
{
    const struct orr_machine_desc *desc = u->desc;
    const struct orr_route_desc *route;
    unsigned device = 0;
    bool seen = false;
    int r;

    while (!device_uses_link(u, link, device))
        device++;
    r = orr_machine_desc_route(desc, u->view->devices[device].home,
                               u->view->devices[device].host);
    if (r < 0 || !u->up[use_cell(u, link, device)])
        return false;
    route = &desc->routes[r];
    for (unsigned i = 0; i < route->nhops; i++) {
        unsigned other = route->hops[i].link;

        if (seen && other != link && count_users(u, other) == 1 &&
            u->up[use_cell(u, other, device)])
            return true;
        seen |= other == link;
    }
    return false;
}

static int add_hubs(struct use *u)
{
    const struct orr_machine_desc *desc = u->desc;

    for (unsigned l = 0; l < desc->nlinks; l++) {
        unsigned users = count_users(u, l);

        u->hub_of[l] = users == 1 ? -2 : -1;
        if (users < 1 || (users == 1 && !is_before_another(u, l)))
            continue;
        u->hub_of[l] = hub_for(u, l);
        if (u->hub_of[l] < 0 ||
            add_label(&u->view->hubs[u->hub_of[l]].label, desc->links[l].id))
            return -ENOMEM;
        add_rate(&u->view->hubs[u->hub_of[l]].rate, &desc->links[l],
                 link_is_marked(u, u->down, l), link_is_marked(u, u->up, l));
    }
    return 0;
}

static bool hub_holds_device(const struct view_hub *hub, unsigned device)
{
    for (unsigned i = 0; i < hub->ndevices; i++)
        if (hub->devices[i] == device)
            return true;
    return false;
}

static bool hub_contains(const struct view_hub *outer,
                         const struct view_hub *inner)
{
    for (unsigned i = 0; i < inner->ndevices; i++)
        if (!hub_holds_device(outer, inner->devices[i]))
            return false;
    return true;
}

/* The smallest hub that holds more than `inner`; -1 without. */
static int parent_of(const struct machine_view *view,
                     const struct view_hub *inner)
{
    int best = -1;

    for (unsigned h = 0; h < view->nhubs; h++) {
        const struct view_hub *outer = &view->hubs[h];

        if (outer->ndevices > inner->ndevices && hub_contains(outer, inner) &&
            (best < 0 || outer->ndevices < view->hubs[best].ndevices))
            best = (int)h;
    }
    return best;
}

static unsigned hub_depth(const struct machine_view *view, int hub)
{
    unsigned depth = 0;

    while ((hub = view->hubs[hub].parent) >= 0)
        depth++;
    return depth;
}

static void view_connect_hubs(struct use *u)
{
    struct machine_view *view = u->view;
    const struct orr_machine_desc *desc = u->desc;

    for (unsigned h = 0; h < view->nhubs; h++)
        view->hubs[h].parent = parent_of(view, &view->hubs[h]);
    for (unsigned h = 0; h < view->nhubs; h++) {
        struct view_hub *hub = &view->hubs[h];
        unsigned host = view->devices[hub->devices[0]].host;
        unsigned ram = view->devices[hub->devices[0]].home;

        hub->depth = hub_depth(view, (int)h);
        hub->rate.latency_us = double_max(
            route_latency_us(u, orr_machine_desc_route(desc, ram, host), (int)h,
                             in_hub),
            route_latency_us(u, orr_machine_desc_route(desc, host, ram), (int)h,
                             in_hub));
    }
    for (unsigned d = 0; d < view->ndevices; d++) {
        struct view_device *device = &view->devices[d];
        unsigned ram = device->home;

        for (unsigned h = 0; h < view->nhubs; h++)
            if (hub_holds_device(&view->hubs[h], d) &&
                (device->hub < 0 ||
                 view->hubs[h].ndevices < view->hubs[device->hub].ndevices))
                device->hub = (int)h;
        for (unsigned l = 0; l < desc->nlinks; l++)
            if (u->hub_of[l] == -2 && device_uses_link(u, l, d))
                add_rate(&device->rate, &desc->links[l],
                         u->down[use_cell(u, l, d)], u->up[use_cell(u, l, d)]);
        device->rate.latency_us = double_max(
            route_latency_us(u, orr_machine_desc_route(desc, ram, device->host),
                             0, link_is_of_one_device),
            route_latency_us(u, orr_machine_desc_route(desc, device->host, ram),
                             0, link_is_of_one_device));
    }
}

/* ---- between devices ---- */

/* The users of a link that is on no route to main memory. */
struct pairs {
    unsigned a, b;     /* of the first route */
    bool same_pair;    /* all routes are of that pair */
    bool has_a, has_b; /* a, or b, is an end of all routes */
    bool any;
};

static void note_pair(struct pairs *p, unsigned a, unsigned b)
{
    if (!p->any)
        *p = (struct pairs){a, b, true, true, true, true};
    p->same_pair &= (a == p->a && b == p->b) || (a == p->b && b == p->a);
    p->has_a &= a == p->a || b == p->a;
    p->has_b &= a == p->b || b == p->b;
}

/* Whether a route between devices passes no link of the routes to main memory.
 * With one, a link of the pair's own only has what was measured there. */
static bool is_beside_memory(const struct use *u,
                             const struct orr_route_desc *route)
{
    for (unsigned i = 0; i < route->nhops; i++)
        if (u->hub_of[route->hops[i].link] != -1)
            return false;
    return route->nhops > 0;
}

static double own_latency_us(const struct use *u,
                             const struct orr_route_desc *route)
{
    double sum = 0;

    for (unsigned i = 0; i < route->nhops; i++)
        sum += u->desc->links[route->hops[i].link].latency * 1e6;
    return sum;
}

static struct view_direct *view_get_direct(struct machine_view *view,
                                           unsigned a, unsigned b)
{
    struct view_direct *direct;

    for (unsigned i = 0; i < view->ndirects; i++)
        if (view->directs[i].a == a && view->directs[i].b == b)
            return &view->directs[i];
    direct = orr_array_add(view->directs, view->ndirects);
    if (direct)
        *direct = (struct view_direct){.a = a, .b = b};
    return direct;
}

/* A route all of whose links are of its pair alone is a direct one. */
static int add_direct(struct use *u, const struct orr_route_desc *route,
                      const struct pairs *pairs)
{
    unsigned a = (unsigned)u->device_of[route->src];
    unsigned b = (unsigned)u->device_of[route->dst];
    struct view_direct *direct;

    for (unsigned i = 0; i < route->nhops; i++)
        if (!pairs[route->hops[i].link].same_pair)
            return 0;
    direct = view_get_direct(u->view, a < b ? a : b, a < b ? b : a);
    if (!direct)
        return -ENOMEM;
    for (unsigned i = 0; i < route->nhops; i++) {
        const struct orr_link_desc *link = &u->desc->links[route->hops[i].link];

        lower_rate(a < b ? &direct->rate.down : &direct->rate.up,
                   link->bandwidth);
        direct->rate.shared |=
            link->sharing == ORR_LINK_SHARED &&
            orr_machine_desc_route(u->desc, route->dst, route->src) >= 0;
    }
    direct->rate.latency_us =
        double_max(direct->rate.latency_us, own_latency_us(u, route));
    return 0;
}

/* The device whose port a link is, -1 when it is not a port. */
static int port_owner(const struct pairs *p)
{
    if (!p->any || p->same_pair)
        return -1;
    return p->has_a ? (int)p->a : p->has_b ? (int)p->b : -1;
}

/* The first link's sender and the last one's receiver are joined. */
static void view_join_clusters(struct machine_view *view, unsigned a,
                               unsigned b)
{
    int from = view->devices[a].cluster, to = view->devices[b].cluster;

    if (from < 0 && to < 0) {
        view->devices[a].cluster = view->devices[b].cluster =
            (int)(a < b ? a : b);
        return;
    }
    if (from < 0 || to < 0) {
        view->devices[a].cluster = view->devices[b].cluster =
            from < 0 ? to : from;
        return;
    }
    for (unsigned d = 0; d < view->ndevices; d++)
        if (view->devices[d].cluster == from)
            view->devices[d].cluster = to;
}

static void add_port(struct use *u, const struct orr_route_desc *route,
                     const struct pairs *pairs)
{
    unsigned a = (unsigned)u->device_of[route->src];
    unsigned b = (unsigned)u->device_of[route->dst];
    bool any = false;

    for (unsigned i = 0; i < route->nhops; i++) {
        const struct orr_link_desc *link = &u->desc->links[route->hops[i].link];
        int owner = port_owner(&pairs[route->hops[i].link]);
        struct view_rate *port;

        if (owner < 0)
            continue;
        any = true;
        port = &u->view->devices[owner].port;
        u->view->devices[owner].port_link = link->id;
        lower_rate(owner == (int)a ? &port->up : &port->down, link->bandwidth);
        port->latency_us = double_max(port->latency_us, link->latency * 1e6);
        port->shared |=
            link->sharing == ORR_LINK_SHARED && port->up > 0 && port->down > 0;
    }
    if (any)
        view_join_clusters(u->view, a, b);
}

/* Clusters are identified by one of their devices: numbers them. */
static int number_clusters(struct machine_view *view)
{
    int *number = malloc((view->ndevices + (size_t)1) * sizeof(*number));

    view->clusters =
        calloc(view->ndevices + (size_t)1, sizeof(*view->clusters));
    if (!number || !view->clusters) {
        free(number);
        return -ENOMEM;
    }
    for (unsigned d = 0; d < view->ndevices; d++)
        number[d] = -1;
    for (unsigned d = 0; d < view->ndevices; d++) {
        int first = view->devices[d].cluster;

        if (first < 0)
            continue;
        if (number[first] < 0)
            number[first] = (int)view->nclusters++;
        view->devices[d].cluster = number[first];
        view->clusters[number[first]].ndevices++;
        view->clusters[number[first]].port = view->devices[d].port_link;
    }
    free(number);
    return 0;
}

static int between_devices(struct use *u)
{
    const struct orr_machine_desc *desc = u->desc;
    struct pairs *pairs = calloc(desc->nlinks + (size_t)1, sizeof(*pairs));
    int rc = pairs ? 0 : -ENOMEM;

    for (int pass = 0; pass < 2 && rc == 0; pass++)
        for (unsigned r = 0; r < desc->nroutes && rc == 0; r++) {
            const struct orr_route_desc *route = &desc->routes[r];
            int a = u->device_of[route->src], b = u->device_of[route->dst];

            if (a < 0 || b < 0 || !is_beside_memory(u, route))
                continue;
            if (pass == 1) {
                add_port(u, route, pairs);
                rc = add_direct(u, route, pairs);
                continue;
            }
            for (unsigned i = 0; i < route->nhops; i++)
                note_pair(&pairs[route->hops[i].link], (unsigned)a,
                          (unsigned)b);
        }
    free(pairs);
    return rc < 0 ? rc : number_clusters(u->view);
}

/* ---- order ---- */

/* The hubs from main memory to a device, as numbers to compare by. */
static void hub_path(const struct machine_view *view, int hub,
                     int path[static 8])
{
    for (int i = 0; i < 8; i++)
        path[i] = -1;
    for (; hub >= 0; hub = view->hubs[hub].parent)
        if (view->hubs[hub].depth < 8)
            path[view->hubs[hub].depth] = (int)view->hubs[hub].devices[0];
}

static bool view_device_precedes(const struct machine_view *view,
                                 const struct view_device *a,
                                 const struct view_device *b)
{
    int of_a[8], of_b[8];

    if (a->home != b->home)
        return a->home < b->home;
    hub_path(view, a->hub, of_a);
    hub_path(view, b->hub, of_b);
    for (int i = 0; i < 8; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i];
    return false;
}

/* The place of device `d` in the new order; equal ones keep theirs. */
static unsigned view_device_new_index(const struct machine_view *view,
                                      unsigned d)
{
    unsigned place = 0;

    for (unsigned other = 0; other < view->ndevices; other++) {
        bool before = view_device_precedes(view, &view->devices[other],
                                           &view->devices[d]);
        bool after = view_device_precedes(view, &view->devices[d],
                                          &view->devices[other]);

        place += before || (!after && other < d);
    }
    return place;
}

/* Makes the devices of a hub adjacent. */
static int view_sort_devices(struct machine_view *view)
{
    struct view_device *ordered =
        calloc(view->ndevices + (size_t)1, sizeof(*ordered));
    unsigned *place = malloc((view->ndevices + (size_t)1) * sizeof(*place));

    if (!ordered || !place) {
        free(ordered);
        free(place);
        return -ENOMEM;
    }
    for (unsigned d = 0; d < view->ndevices; d++) {
        place[d] = view_device_new_index(view, d);
        ordered[place[d]] = view->devices[d];
    }
    for (unsigned i = 0; i < view->ndirects; i++) {
        struct view_direct *direct = &view->directs[i];
        unsigned a = place[direct->a], b = place[direct->b];

        if (a > b) {
            double down = direct->rate.down;

            direct->rate.down = direct->rate.up;
            direct->rate.up = down;
        }
        direct->a = a < b ? a : b;
        direct->b = a < b ? b : a;
    }
    for (unsigned h = 0; h < view->nhubs; h++)
        for (unsigned i = 0; i < view->hubs[h].ndevices; i++)
            view->hubs[h].devices[i] = place[view->hubs[h].devices[i]];
    free(view->devices);
    view->devices = ordered;
    free(place);
    return 0;
}

int machine_view_init(const struct orr_machine_desc *desc,
                      struct machine_view *ret)
{
    struct machine_view view = {0};
    struct use u = {.desc = desc, .view = &view};
    int rc = view_add_devices(&u);

    if (rc == 0)
        rc = mark_uses(&u);
    if (rc == 0)
        rc = add_hubs(&u);
    if (rc == 0) {
        view_connect_hubs(&u);
        rc = between_devices(&u);
    }
    if (rc == 0)
        rc = view_sort_devices(&view);
    free(u.device_of);
    free(u.down);
    free(u.up);
    free(u.hub_of);
    if (rc < 0)
        machine_view_done(&view);
    else
        *ret = view;
    return rc;
}

void machine_view_done(struct machine_view *view)
{
    for (unsigned h = 0; h < view->nhubs; h++) {
        free(view->hubs[h].label);
        free(view->hubs[h].devices);
    }
    free(view->hubs);
    free(view->devices);
    free(view->directs);
    free(view->clusters);
    *view = (struct machine_view){0};
}

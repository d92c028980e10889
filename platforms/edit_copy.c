/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_copy.c - adds copies of hosts, and removes hosts. No state.
 *
 * Host j copies a host i, j mod n or the given one. A link belongs to i when
 * every route that passes it begins or ends at i, and to the pair i, l when it
 * does so at both: what belongs to i or to a pair is copied for j, links that
 * others use as well are shared with j, and so is main memory's own link. CUDA
 * device k and OpenCL device k are one device here.
 */
#include "core/base/grow.h"
#include "platforms/edit_private.h"

#include "platforms/desc_build.h"
#include "platforms/names.h"
#include "platforms/speeds.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, UNKNOWN = -2 };

struct copier {
    struct orr_edit_work *work;
    struct orr_machine_desc *desc;
    const char *prefix;
    unsigned n, wanted;
    const unsigned *like;     /* of number n and above; NULL: number mod n */
    unsigned nlinks, nroutes; /* before */
    unsigned *host_of;        /* of each number below `wanted` */
    int (*owner)[2];          /* of each link there was: numbers or NONE */
    int *between;             /* route from number to number, n × n, or -1 */
    /* Routes between a host of the type and one that is not, by number: those
     * of k are outer[outer_at[k]] … outer[outer_at[k + 1] - 1]. */
    unsigned *outer, *outer_at;
    struct orr_names ids;    /* of all links */
    struct orr_names copies; /* keys of copied links */
    char **keys;             /* owned; what `ids` and `copies` refer to */
    unsigned nkeys;
};

static int copier_failed(const struct copier *c, int rc)
{
    if (rc == -E2BIG)
        return orr_edit_wrong(c->work, c->work->edit->at_value,
                              "that needs more hosts, links or routes than a "
                              "description can have");
    return rc == -ENOMEM ? orr_edit_no_memory(c->work) : rc;
}

/* The former number that number `a` is or copies. */
static unsigned like_of(const struct copier *c, unsigned a)
{
    return a >= c->n && c->like ? c->like[a - c->n] : a % c->n;
}

/* ---- owners of links ---- */

/* The number of a route's end, NONE for hosts that are not such devices. */
static int route_end_number(const struct copier *c, unsigned host)
{
    const struct orr_host_desc *h = &c->desc->hosts[host];
    int number = orr_host_desc_number(h, c->prefix);

    if (number < 0 && strcmp(c->prefix, "CUDA") == 0)
        number = orr_host_desc_number(h, "OpenCL");
    else if (number < 0 && strcmp(c->prefix, "OpenCL") == 0)
        number = orr_host_desc_number(h, "CUDA");
    return number >= 0 && (unsigned)number < c->n ? number : NONE;
}

static void link_narrow_owner(int owner[2], int src, int dst)
{
    if (owner[0] == UNKNOWN) {
        owner[0] = src;
        owner[1] = dst;
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        if (owner[k] != src && owner[k] != dst)
            owner[k] = NONE;
}

/* Where "<prefix><number>" stands in a name; NULL: nowhere. */
static const char *find_token(const char *name, const char *prefix,
                              unsigned number, size_t *ret_length)
{
    char token[40];
    int length = snprintf(token, sizeof(token), "%s%u", prefix, number);

    for (; (name = strstr(name, token)) != NULL; name++)
        if (!isdigit((unsigned char)name[length])) {
            *ret_length = (size_t)length;
            return name;
        }
    return NULL;
}

/* If there are two devices, the link of each alone seems to be the pair's: its
 * name decides. */
static void believe_name(const struct copier *c, unsigned link)
{
    int *owner = c->owner[link];
    const char *id = c->desc->links[link].id;
    size_t length;
    bool first, second;

    if (owner[0] < 0 || owner[1] < 0)
        return;
    first = find_token(id, c->prefix, (unsigned)owner[0], &length) != NULL;
    second = find_token(id, c->prefix, (unsigned)owner[1], &length) != NULL;
    if (first && !second)
        owner[1] = NONE;
    if (second && !first)
        owner[0] = NONE;
}

static void find_owners(struct copier *c)
{
    const struct orr_machine_desc *desc = c->desc;

    for (unsigned l = 0; l < c->nlinks; l++)
        c->owner[l][0] = c->owner[l][1] = UNKNOWN;
    for (unsigned r = 0; r < c->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        int src = route_end_number(c, route->src),
            dst = route_end_number(c, route->dst);

        for (unsigned h = 0; h < route->nhops; h++)
            link_narrow_owner(c->owner[route->hops[h].link], src, dst);
    }
    for (unsigned l = 0; l < c->nlinks; l++) {
        int *owner = c->owner[l];

        if (owner[0] == UNKNOWN || orr_edit_is_membus(&desc->links[l]))
            owner[0] = owner[1] = NONE;
        if (owner[0] == owner[1])
            owner[1] = NONE;
        believe_name(c, l);
    }
}

/* ---- copies of links ---- */

static int keep_key(struct copier *c, char *key, struct orr_names *names,
                    unsigned index)
{
    char **kept = orr_array_add(c->keys, c->nkeys);

    if (!kept) {
        free(key);
        return -ENOMEM;
    }
    *kept = key;
    return orr_names_add(names, key, index);
}

/* The name with the owners' numbers exchanged: "CUDA0-RAM" becomes
 * "CUDA3-RAM". Without such a number in it, "… of CUDA3" is appended. */
static void rename_link(const struct copier *c, unsigned link, const int to[2],
                        char *text, size_t size)
{
    const char *id = c->desc->links[link].id;
    size_t n = 0;
    bool found = false;

    while (*id && n + 60 < size) {
        size_t length = 0;

        for (unsigned k = 0; k < 2 && !length; k++)
            if (c->owner[link][k] < 0 ||
                find_token(id, c->prefix, (unsigned)c->owner[link][k],
                           &length) != id)
                length = 0;
            else
                n += (size_t)snprintf(text + n, size - n, "%s%d", c->prefix,
                                      to[k]);
        found = found || length;
        if (!length)
            text[n++] = *id;
        id += length ? length : 1;
    }
    text[n] = '\0';
    for (unsigned k = 0; k < 2 && !found; k++)
        if (to[k] >= 0)
            n += (size_t)snprintf(text + n, size - n, "%s%s%d",
                                  k && to[0] >= 0 ? "-" : " of ", c->prefix,
                                  to[k]);
}

static int add_link_copy(struct copier *c, unsigned link, const int to[2])
{
    struct orr_machine_desc *desc = c->desc;
    struct orr_link_desc like = desc->links[link];
    char id[700];
    size_t length;
    unsigned other;
    char *key;
    int copy, rc = 0;

    rename_link(c, link, to, id, sizeof(id));
    length = strlen(id);
    for (unsigned k = 2; orr_names_find(&c->ids, id, &other); k++)
        snprintf(id + length, sizeof(id) - length, " (%u)", k);
    copy = orr_machine_desc_add_link(desc, id, like.bandwidth, like.latency,
                                     like.sharing);
    if (copy < 0)
        return copy;
    desc->links[copy].stated_bandwidth = like.stated_bandwidth;
    desc->links[copy].stated_latency = like.stated_latency;
    for (unsigned i = 0; i < like.nprops && rc == 0; i++)
        rc = orr_props_set(&desc->links[copy].props, &desc->links[copy].nprops,
                           like.props[i].id, like.props[i].value);
    key = rc ? NULL : strdup(id);
    if (key)
        rc = keep_key(c, key, &c->ids, (unsigned)copy);
    if (!key || rc ||
        orr_edit_echo_link(c->work->echo, id, (double)NAN, like.bandwidth))
        return -ENOMEM;
    return copy;
}

/* The link that stands for `link` when the owners become `to`. */
static int copy_of_link(struct copier *c, unsigned link, const int to[2])
{
    char key[64], *kept;
    unsigned known;
    int copy;

    if (to[0] == c->owner[link][0] && to[1] == c->owner[link][1])
        return (int)link;
    snprintf(key, sizeof(key), "%u %d %d", link, to[0], to[1]);
    if (orr_names_find(&c->copies, key, &known))
        return (int)known;
    copy = add_link_copy(c, link, to);
    if (copy < 0)
        return copy;
    kept = strdup(key);
    if (!kept || keep_key(c, kept, &c->copies, (unsigned)copy))
        return -ENOMEM;
    return copy;
}

/* ---- copies of routes ---- */

/* A mapping of numbers; from[k] < 0: unused. */
struct mapping {
    int from[2], to[2];
};

static int map_number(const struct mapping *map, int number)
{
    for (unsigned k = 0; k < 2; k++)
        if (number >= 0 && map->from[k] == number)
            return map->to[k];
    return number;
}

static int add_hop(struct copier *c, unsigned route, struct orr_hop_desc hop,
                   const struct mapping *map)
{
    const int *owner = c->owner[hop.link];
    const int to[2] = {map_number(map, owner[0]), map_number(map, owner[1])};
    int link = copy_of_link(c, hop.link, to);

    if (link < 0)
        return link;
    return orr_route_desc_add_hop(&c->desc->routes[route], (unsigned)link,
                                  hop.direction);
}

static int copier_add_route(struct copier *c, unsigned src, unsigned dst)
{
    const struct orr_host_desc *hosts = c->desc->hosts;

    if (orr_edit_echo_route(c->work->echo, hosts[src].id, hosts[dst].id))
        return -ENOMEM;
    return orr_machine_desc_add_route(c->desc, src, dst);
}

static int copy_route(struct copier *c, unsigned like, unsigned src,
                      unsigned dst, const struct mapping *map)
{
    int route = copier_add_route(c, src, dst), rc = 0;

    if (route < 0)
        return route;
    for (unsigned h = 0; h < c->desc->routes[like].nhops && rc >= 0; h++)
        rc = add_hop(c, (unsigned)route, c->desc->routes[like].hops[h], map);
    return rc < 0 ? rc : 0;
}

/* Whether a copy between number k and main memory passes the link. */
static bool is_on_route_home(const struct copier *c, unsigned k, unsigned link)
{
    for (unsigned o = c->outer_at[k]; o < c->outer_at[k + 1]; o++) {
        const struct orr_route_desc *route = &c->desc->routes[c->outer[o]];

        if (!orr_edit_is_main_memory(&c->desc->hosts[route->src]) &&
            !orr_edit_is_main_memory(&c->desc->hosts[route->dst]))
            continue;
        for (unsigned h = 0; h < route->nhops; h++)
            if (route->hops[h].link == link)
                return true;
    }
    return false;
}

static bool link_is_owned_alone(const struct copier *c, unsigned link,
                                unsigned k)
{
    const int *owner = c->owner[link];

    return (owner[0] == (int)k && owner[1] < 0) ||
           (owner[1] == (int)k && owner[0] < 0);
}

/* Copies those hops of a route which are (own) or are not (the middle) i's own;
 * the middle leaves out hops of l, or of l's route home alone. */
static int copier_copy_hops(struct copier *c, unsigned route, unsigned like,
                            bool own, unsigned i, unsigned l,
                            const struct mapping *map)
{
    int rc = 0;

    for (unsigned h = 0; h < c->desc->routes[like].nhops && rc >= 0; h++) {
        struct orr_hop_desc hop = c->desc->routes[like].hops[h];

        if (link_is_owned_alone(c, hop.link, i) != own ||
            (!own && (link_is_owned_alone(c, hop.link, l) ||
                      (is_on_route_home(c, l, hop.link) &&
                       !is_on_route_home(c, i, hop.link)))))
            continue;
        rc = add_hop(c, route, hop, map);
    }
    return rc < 0 ? rc : 0;
}

/* The next host that i exchanges data with directly, -1: there is none. */
static int find_peer(const struct copier *c, unsigned i)
{
    for (unsigned d = 1; d < c->n; d++) {
        unsigned l = (i + d) % c->n;

        if (c->between[i * c->n + l] >= 0 && c->between[l * c->n + i] >= 0)
            return (int)l;
    }
    return -1;
}

/* The route from a to b, which are i and copies of it: as i and its next peer l
 * reach each other, with i's own links at both ends. */
static int add_sibling_route(struct copier *c, unsigned a, unsigned b)
{
    unsigned i = like_of(c, a), first = a < b ? a : b, second = a < b ? b : a;
    int l = find_peer(c, i), route, rc;
    unsigned there, back;
    struct mapping source = {{(int)i, -1}, {(int)a, -1}};
    struct mapping target = {{(int)i, -1}, {(int)b, -1}};
    struct mapping middle = {{(int)i, l}, {(int)first, (int)second}};

    if (l < 0)
        return 0;
    there = (unsigned)c->between[i * c->n + (unsigned)l];
    back = (unsigned)c->between[(unsigned)l * c->n + i];
    route = copier_add_route(c, c->host_of[a], c->host_of[b]);
    if (route < 0)
        return route;
    rc = copier_copy_hops(c, (unsigned)route, there, true, i, (unsigned)l,
                          &source);
    if (rc == 0)
        rc = copier_copy_hops(c, (unsigned)route, a < b ? there : back, false,
                              i, (unsigned)l, &middle);
    if (rc == 0)
        rc = copier_copy_hops(c, (unsigned)route, back, true, i, (unsigned)l,
                              &target);
    return rc;
}

static int add_peer_route(struct copier *c, unsigned a, unsigned b)
{
    unsigned i = like_of(c, a), l = like_of(c, b);
    struct mapping map = {{(int)i, (int)l}, {(int)a, (int)b}};
    int like;

    if (i == l)
        return add_sibling_route(c, a, b);
    like = c->between[i * c->n + l];
    return like < 0 ? 0
                    : copy_route(c, (unsigned)like, c->host_of[a],
                                 c->host_of[b], &map);
}

static int add_outer_routes(struct copier *c, unsigned a)
{
    unsigned i = like_of(c, a);
    struct mapping map = {{(int)i, -1}, {(int)a, -1}};
    int rc = 0;

    for (unsigned o = c->outer_at[i]; o < c->outer_at[i + 1] && rc == 0; o++) {
        const struct orr_route_desc *like = &c->desc->routes[c->outer[o]];
        bool from = like->src == c->host_of[i];

        rc = copy_route(c, c->outer[o], from ? c->host_of[a] : like->src,
                        from ? like->dst : c->host_of[a], &map);
    }
    return rc;
}

/* ---- hosts ---- */

static int copier_add_host(struct copier *c, unsigned a)
{
    struct orr_machine_desc *desc = c->desc;
    unsigned like = c->host_of[like_of(c, a)];
    char id[40];
    int host, rc = 0;

    snprintf(id, sizeof(id), "%s%u", c->prefix, a);
    host = orr_machine_desc_add_host(desc, id, desc->hosts[like].speed);
    if (host < 0)
        return host;
    c->host_of[a] = (unsigned)host;
    for (unsigned i = 0; i < desc->hosts[like].nprops && rc == 0; i++)
        rc = orr_props_set(&desc->hosts[host].props, &desc->hosts[host].nprops,
                           desc->hosts[like].props[i].id,
                           desc->hosts[like].props[i].value);
    if (rc == 0 && !orr_host_desc_prop(&desc->hosts[like], ORR_PROP_MODELS_OF))
        rc = orr_props_set(&desc->hosts[host].props, &desc->hosts[host].nprops,
                           ORR_PROP_MODELS_OF, desc->hosts[like].id);
    if (rc == 0)
        rc = orr_edit_echo_device(c->work->echo, id, (double)NAN, (double)NAN);
    return rc;
}

/* ---- beginning and end ---- */

static void copier_find_routes(struct copier *c)
{
    const struct orr_machine_desc *desc = c->desc;
    unsigned *next = c->outer_at + 1;

    for (size_t i = 0; i < (size_t)c->n * c->n; i++)
        c->between[i] = -1;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned r = 0; r < c->nroutes; r++) {
            const struct orr_route_desc *route = &desc->routes[r];
            int src = orr_host_desc_number(&desc->hosts[route->src], c->prefix);
            int dst = orr_host_desc_number(&desc->hosts[route->dst], c->prefix);
            int end = src >= 0 ? src : dst;

            if (src >= 0 && dst >= 0)
                c->between[(unsigned)src * c->n + (unsigned)dst] = (int)r;
            else if (end >= 0 && pass == 0)
                next[end]++;
            else if (end >= 0)
                c->outer[c->outer_at[end]++] = r;
        }
        /* After the first pass from counts to ends and from those, one to the
         * left, to beginnings; the second moves each beginning to the next. */
        for (unsigned k = 0; pass == 0 && k < c->n; k++)
            next[k] += c->outer_at[k];
    }
    for (unsigned k = c->n; k > 0; k--)
        c->outer_at[k] = c->outer_at[k - 1];
    c->outer_at[0] = 0;
}

static int copier_init(struct copier *c)
{
    const struct orr_machine_desc *desc = c->desc;
    size_t n = c->n;

    c->host_of = calloc(c->wanted, sizeof(*c->host_of));
    c->owner = calloc(c->nlinks + (size_t)1, sizeof(*c->owner));
    c->outer = calloc(c->nroutes + (size_t)1, sizeof(*c->outer));
    c->outer_at = calloc(n + 2, sizeof(*c->outer_at));
    c->between = calloc(n * n, sizeof(*c->between));
    if (!c->host_of || !c->owner || !c->outer || !c->outer_at || !c->between)
        return -ENOMEM;
    for (unsigned h = 0; h < desc->nhosts; h++) {
        int number = orr_host_desc_number(&desc->hosts[h], c->prefix);

        if (number >= 0 && (unsigned)number < c->n)
            c->host_of[number] = h;
    }
    for (unsigned l = 0; l < c->nlinks; l++) {
        char *key = strdup(desc->links[l].id);

        if (!key || keep_key(c, key, &c->ids, l))
            return -ENOMEM;
    }
    find_owners(c);
    copier_find_routes(c);
    return 0;
}

static void copier_done(struct copier *c)
{
    orr_names_done(&c->ids);
    orr_names_done(&c->copies);
    for (unsigned i = 0; i < c->nkeys; i++)
        free(c->keys[i]);
    free(c->keys);
    free(c->host_of);
    free(c->owner);
    free(c->outer);
    free(c->outer_at);
    free(c->between);
}

static bool has_peers(const struct copier *c)
{
    for (size_t i = 0; i < (size_t)c->n * c->n; i++)
        if (c->between[i] >= 0)
            return true;
    return false;
}

static int copier_add_hosts(struct copier *c)
{
    bool peers = has_peers(c);
    int rc = 0;

    for (unsigned a = c->n; a < c->wanted && rc == 0; a++) {
        rc = copier_add_host(c, a);
        if (rc == 0)
            rc = add_outer_routes(c, a);
        for (unsigned b = 0; peers && b < a && rc == 0; b++) {
            rc = add_peer_route(c, a, b);
            if (rc == 0)
                rc = add_peer_route(c, b, a);
        }
    }
    return rc;
}

int orr_edit_add_hosts(struct orr_edit_work *work, const char *prefix,
                       unsigned n, unsigned wanted, const unsigned *like)
{
    struct copier c = {.work = work,
                       .desc = work->desc,
                       .prefix = prefix,
                       .n = n,
                       .wanted = wanted,
                       .like = like,
                       .nlinks = work->desc->nlinks,
                       .nroutes = work->desc->nroutes};
    int rc = copier_init(&c);

    if (rc == 0)
        rc = copier_add_hosts(&c);
    copier_done(&c);
    return rc ? copier_failed(&c, rc) : 0;
}

/* ---- removing ---- */

static void count_link_uses(const struct orr_machine_desc *desc, unsigned *uses)
{
    memset(uses, 0, (desc->nlinks + (size_t)1) * sizeof(*uses));
    for (unsigned r = 0; r < desc->nroutes; r++)
        for (unsigned h = 0; h < desc->routes[r].nhops; h++)
            uses[desc->routes[r].hops[h].link]++;
}

static void free_host(struct orr_host_desc *host)
{
    for (unsigned i = 0; i < host->nprops; i++) {
        free(host->props[i].id);
        free(host->props[i].value);
    }
    free(host->props);
    free(host->id);
}

static void free_link(struct orr_link_desc *link)
{
    for (unsigned i = 0; i < link->nprops; i++) {
        free(link->props[i].id);
        free(link->props[i].value);
    }
    free(link->props);
    free(link->id);
}

/* Moves the hosts that stay together; place[h]: where host h is then. */
static void drop_hosts(struct orr_machine_desc *desc, const bool *dead,
                       unsigned *place)
{
    unsigned kept = 0;

    for (unsigned h = 0; h < desc->nhosts; h++) {
        place[h] = kept;
        if (dead[h])
            free_host(&desc->hosts[h]);
        else
            desc->hosts[kept++] = desc->hosts[h];
    }
    desc->nhosts = kept;
}

static void drop_routes(struct orr_machine_desc *desc, const bool *dead,
                        const unsigned *place)
{
    unsigned kept = 0;

    for (unsigned r = 0; r < desc->nroutes; r++) {
        struct orr_route_desc route = desc->routes[r];

        if (dead[route.src] || dead[route.dst]) {
            free(route.hops);
            continue;
        }
        route.src = place[route.src];
        route.dst = place[route.dst];
        desc->routes[kept++] = route;
    }
    desc->nroutes = kept;
}

/* Drops links that were used `before` and no longer are. */
static int drop_links(struct orr_edit_work *work, const unsigned *before,
                      const unsigned *after, unsigned *place)
{
    struct orr_machine_desc *desc = work->desc;
    unsigned kept = 0;
    int rc = 0;

    for (unsigned l = 0; l < desc->nlinks; l++) {
        struct orr_link_desc link = desc->links[l];

        place[l] = kept;
        if (!before[l] || after[l]) {
            desc->links[kept++] = link;
            continue;
        }
        if (rc == 0)
            rc = orr_edit_echo_link(work->echo, link.id, link.bandwidth,
                                    (double)NAN);
        free_link(&link);
    }
    desc->nlinks = kept;
    for (unsigned r = 0; r < desc->nroutes; r++)
        for (unsigned h = 0; h < desc->routes[r].nhops; h++)
            desc->routes[r].hops[h].link = place[desc->routes[r].hops[h].link];
    return rc;
}

/* Renumbers a host after lower ones were removed. */
static int host_renumber(struct orr_host_desc *host, const char *prefix,
                         unsigned number, const bool *gone)
{
    unsigned lower = 0;
    char id[40];

    for (unsigned k = 0; k < number; k++)
        lower += gone[k];
    if (lower == 0)
        return 0;
    snprintf(id, sizeof(id), "%s%u", prefix, number - lower);
    return orr_desc_set_text(&host->id, id);
}

static int mark_dead(struct orr_edit_work *work, const char *prefix,
                     const bool *gone, bool *dead)
{
    struct orr_machine_desc *desc = work->desc;
    int rc = 0;

    for (unsigned h = 0; h < desc->nhosts && rc == 0; h++) {
        int number = orr_host_desc_number(&desc->hosts[h], prefix);

        if (number < 0)
            continue;
        dead[h] = gone[number];
        if (dead[h])
            rc = orr_edit_echo_device(work->echo, desc->hosts[h].id,
                                      (double)NAN, (double)NAN);
        else
            rc = host_renumber(&desc->hosts[h], prefix, (unsigned)number, gone);
    }
    return rc;
}

int orr_edit_remove_hosts(struct orr_edit_work *work, const char *prefix,
                          const bool *gone)
{
    struct orr_machine_desc *desc = work->desc;
    size_t most = desc->nhosts > desc->nlinks ? desc->nhosts : desc->nlinks;
    bool *dead = calloc(most + 1, sizeof(*dead));
    unsigned *place = calloc(most + 1, sizeof(*place));
    unsigned *before = calloc(most + 1, sizeof(*before));
    unsigned *after = calloc(most + 1, sizeof(*after));
    int rc = -ENOMEM;

    if (dead && place && before && after)
        rc = mark_dead(work, prefix, gone, dead);
    if (rc == 0) {
        count_link_uses(desc, before);
        drop_hosts(desc, dead, place);
        drop_routes(desc, dead, place);
        count_link_uses(desc, after);
        rc = drop_links(work, before, after, place);
    }
    free(dead);
    free(place);
    free(before);
    free(after);
    return rc ? orr_edit_no_memory(work) : 0;
}

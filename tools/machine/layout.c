/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/layout.c - see layout.h. A bar is above all that is connected
 * to it and devices of a hub are adjacent (view.h), so that no line crosses
 * another.
 */
#include "tools/machine/layout.h"

#include "tools/machine/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOP         80 /* below the titles */
#define MAX_COLUMNS 16 /* with more devices, equal neighbours share a box */
#define BOX_GAP     24 /* between boxes of processors */
#define PANEL_GAP   92 /* room for the labels of links between memories */

bool layout_about_equal(double a, double b)
{
    return fabs(a - b) <= 0.005 * fmax(a, b);
}

double layout_memory_gib(const struct orr_host_desc *host)
{
    const char *bytes = orr_host_desc_prop(host, "memsize");

    return bytes ? strtod(bytes, NULL) / (1 << 30) : 0;
}

static bool same_rate(const struct view_rate *a, const struct view_rate *b)
{
    return layout_about_equal(a->down, b->down) &&
           layout_about_equal(a->up, b->up) &&
           layout_about_equal(a->latency_us, b->latency_us) &&
           a->shared == b->shared;
}

static bool layout_texts_are_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_device(const struct machine_layout *l, unsigned i, unsigned j)
{
    const struct view_device *a = &l->view.devices[i];
    const struct view_device *b = &l->view.devices[j];
    const struct orr_host_desc *x = &l->desc->hosts[a->host];
    const struct orr_host_desc *y = &l->desc->hosts[b->host];

    return a->hub == b->hub && a->cluster == b->cluster &&
           x->id[1] == y->id[1] && same_rate(&a->rate, &b->rate) &&
           same_rate(&a->port, &b->port) &&
           layout_memory_gib(x) == layout_memory_gib(y) &&
           layout_texts_are_same(orr_host_desc_prop(x, "model"),
                                 orr_host_desc_prop(y, "model"));
}

static int layout_make_columns(struct machine_layout *l)
{
    unsigned n = l->view.ndevices;

    l->columns = calloc(n + (size_t)1, sizeof(*l->columns));
    l->column_of = calloc(n + (size_t)1, sizeof(*l->column_of));
    if (!l->columns || !l->column_of)
        return -ENOMEM;
    for (unsigned d = 0; d < n; d++) {
        if (d == 0 || n <= MAX_COLUMNS ||
            !same_device(l, l->columns[l->ncolumns - 1].first, d))
            l->columns[l->ncolumns++].first = d;
        l->columns[l->ncolumns - 1].n++;
        l->column_of[d] = l->ncolumns - 1;
    }
    return 0;
}

double layout_column_x(const struct machine_layout *l, unsigned column)
{
    return l->column_at[column];
}

void layout_hub_columns(const struct machine_layout *l,
                        const struct view_hub *hub, unsigned *ret_first,
                        unsigned *ret_last)
{
    *ret_first = l->ncolumns;
    *ret_last = 0;
    for (unsigned i = 0; i < hub->ndevices; i++) {
        unsigned column = l->column_of[hub->devices[i]];

        if (column < *ret_first)
            *ret_first = column;
        if (column > *ret_last)
            *ret_last = column;
    }
}

/* Whether another hub of that row occupies that place. */
static bool layout_row_is_taken(const struct machine_layout *l, unsigned hub,
                                unsigned row, const bool *placed)
{
    unsigned first, last, from, to;

    layout_hub_columns(l, &l->view.hubs[hub], &first, &last);
    for (unsigned h = 0; h < l->view.nhubs; h++) {
        if (!placed[h] || l->rows[h] != row)
            continue;
        layout_hub_columns(l, &l->view.hubs[h], &from, &to);
        if (from <= last && first <= to)
            return true;
    }
    return false;
}

/* A hub's row is below its parent's. Sets of devices that cross each other,
 * which no tree of bridges has, go to rows of their own. */
static int make_rows(struct machine_layout *l)
{
    unsigned n = l->view.nhubs, done = 0;
    bool *placed = calloc(n + (size_t)1, sizeof(*placed));

    l->rows = calloc(n + (size_t)1, sizeof(*l->rows));
    if (!l->rows || !placed) {
        free(placed);
        return -ENOMEM;
    }
    for (unsigned depth = 0; done < n; depth++)
        for (unsigned h = 0; h < n; h++) {
            const struct view_hub *hub = &l->view.hubs[h];

            if (hub->depth != depth)
                continue;
            if (hub->parent >= 0)
                l->rows[h] = l->rows[hub->parent] + 1;
            while (layout_row_is_taken(l, h, l->rows[h], placed))
                l->rows[h]++;
            placed[h] = true;
            done++;
            if (l->rows[h] + 1 > l->depth)
                l->depth = l->rows[h] + 1;
        }
    free(placed);
    return 0;
}

/* Whether two links below the devices would overlap. */
static bool links_overlap(const struct machine_layout *l, unsigned i,
                          unsigned j)
{
    const struct view_direct *a = &l->view.directs[i];
    const struct view_direct *b = &l->view.directs[j];

    return l->levels[i] == l->levels[j] &&
           l->column_of[a->a] <= l->column_of[b->b] &&
           l->column_of[b->a] <= l->column_of[a->b];
}

/* Short links hang high, long ones below them. */
static int make_levels(struct machine_layout *l)
{
    unsigned n = l->view.ndirects, done = 0;

    l->levels = calloc(n + (size_t)1, sizeof(*l->levels));
    if (!l->levels)
        return -ENOMEM;
    for (unsigned span = 0; done < n; span++)
        for (unsigned i = 0; i < n; i++) {
            const struct view_direct *link = &l->view.directs[i];
            bool clear;

            if (l->column_of[link->b] - l->column_of[link->a] != span)
                continue;
            l->levels[i] = 1;
            do {
                clear = true;
                for (unsigned j = 0; j < n; j++)
                    if (j != i && l->levels[j] && links_overlap(l, i, j))
                        clear = false;
                l->levels[i] += !clear;
            } while (!clear);
            if (l->levels[i] > l->nlevels)
                l->nlevels = l->levels[i];
            done++;
        }
    return 0;
}

bool layout_is_disk(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "DISK") >= 0;
}

/* Main memories beside the one that all have. */
static bool host_is_extra_memory(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "RAM") >= 0;
}

bool layout_is_other(const struct orr_machine_desc *desc,
                     const struct orr_host_desc *host)
{
    return layout_is_disk(host) ||
           (desc->nnuma < 2 && host_is_extra_memory(host));
}

unsigned layout_count_others(const struct orr_machine_desc *desc)
{
    unsigned n = 0;

    for (unsigned h = 0; h < desc->nhosts; h++)
        n += layout_is_other(desc, &desc->hosts[h]);
    return n;
}

unsigned layout_cores_across(unsigned ncpu)
{
    return ncpu > 96 ? 32 : ncpu > 12 ? 16 : 12;
}

bool layout_has_place(const struct machine_layout *l)
{
    const struct orr_locality_node *node = l->locality.nodes;

    return l->locality.nnodes == 1 && (node->package >= 0 || node->memory > 0);
}

/* Whether there is a line of text below the cores. */
static bool has_caches(const struct machine_layout *l)
{
    for (unsigned level = 0; level < ORR_CACHE_LEVELS; level++)
        if (l->locality.nodes[0].caches[level] > 0)
            return true;
    return false;
}

unsigned layout_most_cpus(const struct machine_layout *l)
{
    unsigned most = 0;

    for (unsigned k = 0; k < l->locality.nnodes; k++)
        if (l->locality.nodes[k].ncpus > most)
            most = l->locality.nodes[k].ncpus;
    return most;
}

double layout_cores_height(const struct machine_layout *l)
{
    unsigned n = layout_most_cpus(l), across = layout_cores_across(n);

    return n > 512 ? 0 : (n + across - 1) / across * LAYOUT_CORE;
}

double layout_processor_height(const struct machine_layout *l)
{
    return 56 + (layout_has_place(l) ? 15 : 0) + layout_cores_height(l) +
           (has_caches(l) ? 16 : 0);
}

double layout_processor_width(const struct machine_layout *l)
{
    return fmax(l->locality.nnodes > 1 ? 210 : 250,
                layout_cores_across(layout_most_cpus(l)) * LAYOUT_CORE + 24);
}

/* The panel of a device: that of its main memory. */
static unsigned panel_of(const struct machine_layout *l, unsigned column)
{
    unsigned home = l->view.devices[l->columns[column].first].home;

    for (unsigned k = 0; k < l->locality.nnodes; k++)
        if (l->locality.nodes[k].host == (int)home)
            return k;
    return 0;
}

/* Boxes of processors side by side; devices below, in their order. */
static double place_together(struct machine_layout *l)
{
    unsigned n = l->locality.nnodes;
    double row = layout_processor_width(l) * n + BOX_GAP * (n - 1.0), wanted;

    for (unsigned k = 0; k < n; k++)
        l->panels[k] = (struct layout_panel){
            LAYOUT_MARGIN + k * (layout_processor_width(l) + BOX_GAP),
            layout_processor_width(l)};
    wanted = fmax(l->ncolumns * (double)LAYOUT_PITCH,
                  row + LAYOUT_PITCH * layout_count_others(l->desc));
    for (unsigned c = 0; c < l->ncolumns; c++)
        l->column_at[c] = LAYOUT_MARGIN +
                          (wanted - l->ncolumns * (double)LAYOUT_PITCH) / 2 +
                          LAYOUT_PITCH * (double)c;
    return wanted;
}

/* A panel for each memory, with its devices; disks stand in the first. */
static double place_apart(struct machine_layout *l)
{
    double x = LAYOUT_MARGIN;

    for (unsigned k = 0; k < l->locality.nnodes; k++) {
        double inner = layout_processor_width(l);
        unsigned n = 0;

        if (k == 0)
            inner += LAYOUT_PITCH * layout_count_others(l->desc);
        for (unsigned c = 0; c < l->ncolumns; c++)
            if (panel_of(l, c) == k)
                l->column_at[c] =
                    x + LAYOUT_PADDING + LAYOUT_PITCH * (double)n++;
        inner = fmax(inner, n * (double)LAYOUT_PITCH -
                                (LAYOUT_PITCH - LAYOUT_BOX_WIDTH));
        l->panels[k] = (struct layout_panel){x, inner + 2 * LAYOUT_PADDING};
        x += l->panels[k].width + PANEL_GAP;
    }
    return x - PANEL_GAP - LAYOUT_MARGIN;
}

struct view_rate layout_rate_between(const struct orr_machine_desc *desc,
                                     unsigned from, unsigned to,
                                     const char **ret_name)
{
    struct view_rate rate = {0};

    *ret_name = NULL;
    for (int back = 0; back < 2; back++) {
        int r = back ? orr_machine_desc_route(desc, to, from)
                     : orr_machine_desc_route(desc, from, to);
        double least = INFINITY, latency = 0;

        for (unsigned i = 0; r >= 0 && i < desc->routes[r].nhops; i++) {
            const struct orr_link_desc *link =
                &desc->links[desc->routes[r].hops[i].link];

            if (link->bandwidth < least) {
                *ret_name = link->id;
                rate.shared = link->sharing == ORR_LINK_SHARED;
            }
            least = fmin(least, link->bandwidth);
            latency += link->latency * 1e6;
        }
        if (isfinite(least))
            *(back ? &rate.up : &rate.down) = least;
        rate.latency_us = fmax(rate.latency_us, latency);
    }
    return rate;
}

/* Finds the links between memories. Short ones hang low, long ones above. */
static int make_bridges(struct machine_layout *l)
{
    unsigned n = l->locality.memories ? l->locality.nnodes : 0;

    l->bridges = calloc((size_t)n * n + 1, sizeof(*l->bridges));
    if (!l->bridges)
        return -ENOMEM;
    for (unsigned span = 1; span < n; span++)
        for (unsigned a = 0; a + span < n; a++) {
            struct layout_bridge *bridge = &l->bridges[l->nbridges];
            int from = l->locality.nodes[a].host;
            int to = l->locality.nodes[a + span].host;

            if (from < 0 || to < 0)
                continue;
            *bridge = (struct layout_bridge){.a = a, .b = a + span, .level = 1};
            bridge->rate = layout_rate_between(l->desc, (unsigned)from,
                                               (unsigned)to, &bridge->name);
            if (!bridge->name)
                continue;
            for (unsigned i = 0; i < l->nbridges; i++)
                if (l->bridges[i].a < bridge->b &&
                    bridge->a < l->bridges[i].b &&
                    bridge->level <= l->bridges[i].level)
                    bridge->level = l->bridges[i].level + 1;
            if (bridge->level > l->nbridge_levels)
                l->nbridge_levels = bridge->level;
            l->nbridges++;
        }
    return 0;
}

static int layout_set_positions(struct machine_layout *l)
{
    double wanted;
    double table =
        machine_table_fits(l->desc) ? machine_table_width(l->desc) : 0;
    int rc = layout_make_columns(l);

    if (rc == 0)
        rc = make_rows(l);
    if (rc == 0)
        rc = make_levels(l);
    if (rc == 0)
        rc = make_bridges(l);
    if (rc < 0)
        return rc;
    l->column_at = calloc(l->ncolumns + (size_t)1, sizeof(*l->column_at));
    l->panels = calloc(l->locality.nnodes, sizeof(*l->panels));
    if (!l->column_at || !l->panels)
        return -ENOMEM;
    wanted = l->locality.memories ? place_apart(l) : place_together(l);
    l->width = fmax(wanted, fmax(table, 480)) + 2 * LAYOUT_MARGIN;
    l->top = TOP + (l->locality.memories ? LAYOUT_PADDING : 0) +
             LAYOUT_BRIDGE * l->nbridge_levels;
    l->memory_y = l->top + layout_processor_height(l) + LAYOUT_GAP - 14;
    l->devices_y = l->memory_y + LAYOUT_BAR_HEIGHT + LAYOUT_GAP +
                   l->depth * (LAYOUT_BAR_HEIGHT + LAYOUT_GAP - 18.0);
    l->below_y = l->devices_y + (l->ncolumns ? LAYOUT_BOX_HEIGHT : -LAYOUT_GAP);
    return 0;
}

double layout_bar_y(const struct machine_layout *l, int hub)
{
    return l->memory_y + LAYOUT_BAR_HEIGHT + 32 +
           l->rows[hub] * (LAYOUT_BAR_HEIGHT + LAYOUT_GAP - 18.0);
}

int machine_layout_init(const struct orr_machine_desc *desc,
                        struct machine_layout *ret)
{
    int rc;

    *ret = (struct machine_layout){.desc = desc};
    rc = orr_locality_init(desc, &ret->locality);
    if (rc == 0)
        rc = machine_view_init(desc, &ret->view);
    if (rc < 0) {
        orr_locality_done(&ret->locality);
        return rc;
    }
    rc = layout_set_positions(ret);
    if (rc < 0)
        machine_layout_done(ret);
    return rc;
}

void machine_layout_done(struct machine_layout *layout)
{
    free(layout->columns);
    free(layout->column_of);
    free(layout->levels);
    free(layout->rows);
    free(layout->panels);
    free(layout->bridges);
    free(layout->column_at);
    machine_view_done(&layout->view);
    orr_locality_done(&layout->locality);
}

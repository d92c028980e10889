/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine_picture.c - see machine_picture.h. From top to bottom:
 * processors, a box for each NUMA node, and disks; main memory as a bar over
 * the whole width, or, where it is several nodes, a panel for each with its
 * processors, bar and devices, and links between memories above; a bar for
 * each hub, over the devices that share it; the devices; what connects devices
 * without main memory; the table of bandwidths. A bar stands above all that
 * hangs on it and devices of a hub stand together (machine_view.h), so that no
 * line crosses another. One thread.
 */
#include "tools/machine_picture.h"

#include "tools/machine_table.h"
#include "tools/machine_view.h"
#include "tools/svg.h"

#include "platforms/locality.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN     30
#define TOP        80  /* below the titles */
#define PITCH      172 /* from one device to the next */
#define BOX_WIDTH  144
#define BOX_HEIGHT 86
#define BAR_HEIGHT 28
#define GAP        58 /* between rows, where the figures of lines stand */
#define LINE_AT    26 /* from a box's left edge to the line that comes in */

#define MAX_COLUMNS 16 /* with more devices, equal neighbours share a box */

#define INK   "#1f2933"
#define FAINT "#66788a"
#define WIRE  "#52606d"

static const struct svg_style title_style = {20, "start", INK, 1, 0};
static const struct svg_style plain = {12, "start", INK, 0, 0};
static const struct svg_style faint = {11, "start", FAINT, 0, 0};
static const struct svg_style on_line = {11, "start", INK, 0, 1};
static const struct svg_style bold = {13, "start", INK, 1, 0};
static const struct svg_style in_bar = {12, "middle", INK, 0, 0};

/* Neighbouring devices drawn as one box. */
struct column {
    unsigned first, n;
};

/* A NUMA node; where main memory is several, a panel with all that is its. */
struct panel {
    double x, width; /* of the panel, or of the box of processors */
};

/* A link between two main memories, above their panels. */
struct bridge {
    unsigned a, b; /* panels, a < b */
    unsigned level;
    struct view_rate rate;
    const char *name; /* of its slowest link, the description's */
};

struct picture {
    struct orr_locality locality;
    struct panel *panels;   /* owned; of each node */
    struct bridge *bridges; /* owned */
    unsigned nbridges, nbridge_levels;
    double *column_at; /* owned; left edges */
    double top;        /* of the processors */
    const struct orr_machine_desc *desc;
    struct machine_view view;
    struct column *columns; /* owned */
    unsigned ncolumns;
    unsigned *column_of; /* owned; per device */
    unsigned *levels;    /* owned; per direct link, how deep it hangs */
    unsigned *rows;      /* owned; per hub, 0 at the top */
    unsigned depth;      /* rows of hubs; 0: there are none */
    unsigned nlevels;
    double width;
    double memory_y, devices_y, below_y; /* tops of rows */
    FILE *out;
};

/* ---- texts ---- */

#define TEXT 96

/* "53.5": three digits and the number of thousands that were taken off. */
static const char *scaled(double value, unsigned *prefix, char text[TEXT])
{
    for (*prefix = 0; *prefix < 5 && value >= 999.5; ++*prefix)
        value /= 1000;
    /* %.3g would write 215 as it is but 1.00 as 1, which is fine too. */
    snprintf(text, TEXT, "%.3g", value);
    return text;
}

static const char *bandwidth_text(double rate, char text[TEXT])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    char number[TEXT];
    unsigned prefix;

    scaled(rate, &prefix, number);
    snprintf(text, TEXT, "%.20s %sB/s", number, prefixes[prefix]);
    return text;
}

static bool about_equal(double a, double b)
{
    return fabs(a - b) <= 0.005 * fmax(a, b);
}

/* "53.5 GB/s each way", or the two directions. */
static void rate_text(const struct view_rate *rate, char text[TEXT])
{
    char down[TEXT], up[TEXT];

    if (rate->down == 0 || rate->up == 0) {
        bandwidth_text(fmax(rate->down, rate->up), text);
        return;
    }
    if (about_equal(rate->down, rate->up)) {
        snprintf(text, TEXT, "%.40s %s", bandwidth_text(rate->down, down),
                 rate->shared ? "shared" : "each way");
        return;
    }
    bandwidth_text(rate->down, down);
    bandwidth_text(rate->up, up);
    /* One unit is enough when both have it. */
    if (strcmp(strchr(down, ' '), strchr(up, ' ')) == 0)
        *strchr(down, ' ') = '\0';
    snprintf(text, TEXT, "↓ %.30s ↑ %.30s", down, up);
}

static void latency_text(double us, char text[TEXT])
{
    if (us >= 1000)
        snprintf(text, TEXT, "%.3g ms", us / 1000);
    else if (us > 0)
        snprintf(text, TEXT, "%.3g µs", us);
    else
        text[0] = '\0';
}

/* The figures of a line, beside it. */
static void label_line(const struct picture *p, double x, double y,
                       const struct view_rate *rate)
{
    char text[TEXT];

    if (rate->down == 0 && rate->up == 0)
        return;
    rate_text(rate, text);
    svg_text(p->out, x + 7, y, &on_line, 0, text);
    latency_text(rate->latency_us, text);
    svg_text(p->out, x + 7, y + 14, &on_line, 0, text);
}

static double memory_gib(const struct orr_host_desc *host)
{
    const char *bytes = orr_host_desc_prop(host, "memsize");

    return bytes ? strtod(bytes, NULL) / (1 << 30) : 0;
}

/* ---- what goes where ---- */

static bool same_rate(const struct view_rate *a, const struct view_rate *b)
{
    return about_equal(a->down, b->down) && about_equal(a->up, b->up) &&
           about_equal(a->latency_us, b->latency_us) && a->shared == b->shared;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_device(const struct picture *p, unsigned i, unsigned j)
{
    const struct view_device *a = &p->view.devices[i];
    const struct view_device *b = &p->view.devices[j];
    const struct orr_host_desc *x = &p->desc->hosts[a->host];
    const struct orr_host_desc *y = &p->desc->hosts[b->host];

    return a->hub == b->hub && a->cluster == b->cluster &&
           x->id[1] == y->id[1] && same_rate(&a->rate, &b->rate) &&
           same_rate(&a->port, &b->port) && memory_gib(x) == memory_gib(y) &&
           same_text(orr_host_desc_prop(x, "model"),
                     orr_host_desc_prop(y, "model"));
}

static int make_columns(struct picture *p)
{
    unsigned n = p->view.ndevices;

    p->columns = calloc(n + (size_t)1, sizeof(*p->columns));
    p->column_of = calloc(n + (size_t)1, sizeof(*p->column_of));
    if (!p->columns || !p->column_of)
        return -ENOMEM;
    for (unsigned d = 0; d < n; d++) {
        if (d == 0 || n <= MAX_COLUMNS ||
            !same_device(p, p->columns[p->ncolumns - 1].first, d))
            p->columns[p->ncolumns++].first = d;
        p->columns[p->ncolumns - 1].n++;
        p->column_of[d] = p->ncolumns - 1;
    }
    return 0;
}

static double column_x(const struct picture *p, unsigned column)
{
    return p->column_at[column];
}

/* The least and the greatest column of a hub's devices. */
static void hub_columns(const struct picture *p, const struct view_hub *hub,
                        unsigned *ret_first, unsigned *ret_last)
{
    *ret_first = p->ncolumns;
    *ret_last = 0;
    for (unsigned i = 0; i < hub->ndevices; i++) {
        unsigned column = p->column_of[hub->devices[i]];

        if (column < *ret_first)
            *ret_first = column;
        if (column > *ret_last)
            *ret_last = column;
    }
}

/* Whether another hub of that row stands where this one would. */
static bool is_taken(const struct picture *p, unsigned hub, unsigned row,
                     const bool *placed)
{
    unsigned first, last, from, to;

    hub_columns(p, &p->view.hubs[hub], &first, &last);
    for (unsigned h = 0; h < p->view.nhubs; h++) {
        if (!placed[h] || p->rows[h] != row)
            continue;
        hub_columns(p, &p->view.hubs[h], &from, &to);
        if (from <= last && first <= to)
            return true;
    }
    return false;
}

/* A hub's row is below its parent's. Sets of devices that cross each other,
 * which no tree of bridges has, go to rows of their own. */
static int make_rows(struct picture *p)
{
    unsigned n = p->view.nhubs, done = 0;
    bool *placed = calloc(n + (size_t)1, sizeof(*placed));

    p->rows = calloc(n + (size_t)1, sizeof(*p->rows));
    if (!p->rows || !placed) {
        free(placed);
        return -ENOMEM;
    }
    for (unsigned depth = 0; done < n; depth++)
        for (unsigned h = 0; h < n; h++) {
            const struct view_hub *hub = &p->view.hubs[h];

            if (hub->depth != depth)
                continue;
            if (hub->parent >= 0)
                p->rows[h] = p->rows[hub->parent] + 1;
            while (is_taken(p, h, p->rows[h], placed))
                p->rows[h]++;
            placed[h] = true;
            done++;
            if (p->rows[h] + 1 > p->depth)
                p->depth = p->rows[h] + 1;
        }
    free(placed);
    return 0;
}

/* Whether two links below the devices would lie on each other. */
static bool overlap(const struct picture *p, unsigned i, unsigned j)
{
    const struct view_direct *a = &p->view.directs[i];
    const struct view_direct *b = &p->view.directs[j];

    return p->levels[i] == p->levels[j] &&
           p->column_of[a->a] <= p->column_of[b->b] &&
           p->column_of[b->a] <= p->column_of[a->b];
}

/* Short links hang high, long ones below them. */
static int make_levels(struct picture *p)
{
    unsigned n = p->view.ndirects, done = 0;

    p->levels = calloc(n + (size_t)1, sizeof(*p->levels));
    if (!p->levels)
        return -ENOMEM;
    for (unsigned span = 0; done < n; span++)
        for (unsigned i = 0; i < n; i++) {
            const struct view_direct *link = &p->view.directs[i];
            bool clear;

            if (p->column_of[link->b] - p->column_of[link->a] != span)
                continue;
            p->levels[i] = 1;
            do {
                clear = true;
                for (unsigned j = 0; j < n; j++)
                    if (j != i && p->levels[j] && overlap(p, i, j))
                        clear = false;
                p->levels[i] += !clear;
            } while (!clear);
            if (p->levels[i] > p->nlevels)
                p->nlevels = p->levels[i];
            done++;
        }
    return 0;
}

static bool is_disk(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "DISK") >= 0;
}

/* Main memories beside the one that all have. */
static bool is_memory(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "RAM") >= 0;
}

static unsigned count_others(const struct orr_machine_desc *desc)
{
    unsigned n = 0;

    for (unsigned h = 0; h < desc->nhosts; h++)
        n += is_disk(&desc->hosts[h]) ||
             (desc->nnuma < 2 && is_memory(&desc->hosts[h]));
    return n;
}

/* Cores in a row of the processor's box. */
static unsigned cores_across(unsigned ncpu)
{
    return ncpu > 96 ? 32 : ncpu > 12 ? 16 : 12;
}

#define CORE      11
#define PADDING   14 /* within a panel */
#define BOX_GAP   24 /* between boxes of processors */
#define PANEL_GAP 92 /* room for the figures of links between memories */
#define BRIDGE    30 /* from one link between memories to the next */

/* Lines of text below the number of CPUs, and below the cores. */
static bool has_place(const struct picture *p)
{
    const struct orr_locality_node *node = p->locality.nodes;

    return p->locality.nnodes == 1 && (node->package >= 0 || node->memory > 0);
}

static bool has_caches(const struct picture *p)
{
    for (unsigned level = 0; level < ORR_CACHE_LEVELS; level++)
        if (p->locality.nodes[0].caches[level] > 0)
            return true;
    return false;
}

static unsigned most_cpus(const struct picture *p)
{
    unsigned most = 0;

    for (unsigned k = 0; k < p->locality.nnodes; k++)
        if (p->locality.nodes[k].ncpus > most)
            most = p->locality.nodes[k].ncpus;
    return most;
}

static double cores_height(const struct picture *p)
{
    unsigned n = most_cpus(p), across = cores_across(n);

    return n > 512 ? 0 : (n + across - 1) / across * CORE;
}

static double processor_height(const struct picture *p)
{
    return 56 + (has_place(p) ? 15 : 0) + cores_height(p) +
           (has_caches(p) ? 16 : 0);
}

static double processor_width(const struct picture *p)
{
    return fmax(p->locality.nnodes > 1 ? 210 : 250,
                cores_across(most_cpus(p)) * CORE + 24);
}

/* The panel of a device: that of its main memory. */
static unsigned panel_of(const struct picture *p, unsigned column)
{
    unsigned home = p->view.devices[p->columns[column].first].home;

    for (unsigned k = 0; k < p->locality.nnodes; k++)
        if (p->locality.nodes[k].host == (int)home)
            return k;
    return 0;
}

/* Boxes of processors side by side; devices below, in their order. */
static double place_together(struct picture *p)
{
    unsigned n = p->locality.nnodes;
    double row = processor_width(p) * n + BOX_GAP * (n - 1.0), wanted;

    for (unsigned k = 0; k < n; k++)
        p->panels[k] = (struct panel){
            MARGIN + k * (processor_width(p) + BOX_GAP), processor_width(p)};
    wanted =
        fmax(p->ncolumns * (double)PITCH, row + PITCH * count_others(p->desc));
    for (unsigned c = 0; c < p->ncolumns; c++)
        p->column_at[c] = MARGIN + (wanted - p->ncolumns * (double)PITCH) / 2 +
                          PITCH * (double)c;
    return wanted;
}

/* A panel for each memory, with its devices; disks stand in the first. */
static double place_apart(struct picture *p)
{
    double x = MARGIN;

    for (unsigned k = 0; k < p->locality.nnodes; k++) {
        double inner = processor_width(p);
        unsigned n = 0;

        if (k == 0)
            inner += PITCH * count_others(p->desc);
        for (unsigned c = 0; c < p->ncolumns; c++)
            if (panel_of(p, c) == k)
                p->column_at[c] = x + PADDING + PITCH * (double)n++;
        inner = fmax(inner, n * (double)PITCH - (PITCH - BOX_WIDTH));
        p->panels[k] = (struct panel){x, inner + 2 * PADDING};
        x += p->panels[k].width + PANEL_GAP;
    }
    return x - PANEL_GAP - MARGIN;
}

static struct view_rate rate_between(const struct orr_machine_desc *desc,
                                     unsigned from, unsigned to,
                                     const char **ret_name);

/* Finds the links between memories. Short ones hang low, long ones above. */
static int make_bridges(struct picture *p)
{
    unsigned n = p->locality.memories ? p->locality.nnodes : 0;

    p->bridges = calloc((size_t)n * n + 1, sizeof(*p->bridges));
    if (!p->bridges)
        return -ENOMEM;
    for (unsigned span = 1; span < n; span++)
        for (unsigned a = 0; a + span < n; a++) {
            struct bridge *bridge = &p->bridges[p->nbridges];
            int from = p->locality.nodes[a].host;
            int to = p->locality.nodes[a + span].host;

            if (from < 0 || to < 0)
                continue;
            *bridge = (struct bridge){.a = a, .b = a + span, .level = 1};
            bridge->rate = rate_between(p->desc, (unsigned)from, (unsigned)to,
                                        &bridge->name);
            if (!bridge->name)
                continue;
            for (unsigned i = 0; i < p->nbridges; i++)
                if (p->bridges[i].a < bridge->b &&
                    bridge->a < p->bridges[i].b &&
                    bridge->level <= p->bridges[i].level)
                    bridge->level = p->bridges[i].level + 1;
            if (bridge->level > p->nbridge_levels)
                p->nbridge_levels = bridge->level;
            p->nbridges++;
        }
    return 0;
}

static int lay_out(struct picture *p)
{
    double wanted;
    double table =
        machine_table_fits(p->desc) ? machine_table_width(p->desc) : 0;
    int rc = make_columns(p);

    if (rc == 0)
        rc = make_rows(p);
    if (rc == 0)
        rc = make_levels(p);
    if (rc == 0)
        rc = make_bridges(p);
    if (rc < 0)
        return rc;
    p->column_at = calloc(p->ncolumns + (size_t)1, sizeof(*p->column_at));
    p->panels = calloc(p->locality.nnodes, sizeof(*p->panels));
    if (!p->column_at || !p->panels)
        return -ENOMEM;
    wanted = p->locality.memories ? place_apart(p) : place_together(p);
    p->width = fmax(wanted, fmax(table, 480)) + 2 * MARGIN;
    p->top =
        TOP + (p->locality.memories ? PADDING : 0) + BRIDGE * p->nbridge_levels;
    p->memory_y = p->top + processor_height(p) + GAP - 14;
    p->devices_y =
        p->memory_y + BAR_HEIGHT + GAP + p->depth * (BAR_HEIGHT + GAP - 18.0);
    p->below_y = p->devices_y + (p->ncolumns ? BOX_HEIGHT : -GAP);
    return 0;
}

static double bar_y(const struct picture *p, int hub)
{
    return p->memory_y + BAR_HEIGHT + 32 +
           p->rows[hub] * (BAR_HEIGHT + GAP - 18.0);
}

/* ---- drawing ---- */

static const char *processor_model(const struct picture *p)
{
    int host = orr_machine_desc_host(p->desc, "MAIN");

    return host < 0 ? NULL : orr_host_desc_prop(&p->desc->hosts[host], "model");
}

static void draw_title(const struct picture *p)
{
    char text[256], number[24] = "";

    svg_text(p->out, MARGIN, 36, &title_style, 0, p->desc->name);
    if (p->desc->ncuda)
        snprintf(number, sizeof(number), " · %u CUDA", p->desc->ncuda);
    snprintf(text, sizeof(text), "%u CPUs%s", p->desc->ncpu, number);
    if (p->desc->nopencl) {
        snprintf(number, sizeof(number), " · %u OpenCL", p->desc->nopencl);
        strncat(text, number, sizeof(text) - strlen(text) - 1);
    }
    strncat(text, " · figures: ", sizeof(text) - strlen(text) - 1);
    strncat(text,
            p->desc->provenance ? p->desc->provenance : "origin not stated",
            sizeof(text) - strlen(text) - 1);
    if (p->locality.nnodes > 1 && processor_model(p)) {
        strncat(text, " · ", sizeof(text) - strlen(text) - 1);
        strncat(text, processor_model(p), sizeof(text) - strlen(text) - 1);
    }
    svg_text(p->out, MARGIN, 56, &faint, 0, text);
}

/* "NUMA 0 · package 0 · 23.5 GiB" */
static void place_text(const struct orr_locality_node *node, char text[TEXT])
{
    int length = snprintf(text, TEXT, "NUMA %u", node->number);

    if (node->package >= 0)
        length += snprintf(text + length, TEXT - (size_t)length,
                           " · package %d", node->package);
    if (node->memory > 0)
        snprintf(text + length, TEXT - (size_t)length, " · %.4g GiB",
                 node->memory / (1 << 30));
}

/* "L1 48 KiB · L2 1 MiB · L3 32 MiB" */
static void caches_text(const struct orr_locality_node *node, char text[TEXT])
{
    int length = 0;

    text[0] = '\0';
    for (unsigned level = 0; level < ORR_CACHE_LEVELS; level++) {
        double kib = node->caches[level] / 1024;

        if (kib > 0 && length < TEXT - 24)
            length += snprintf(text + length, TEXT - (size_t)length,
                               "%sL%u %.4g %s", length ? " · " : "", level + 1,
                               kib < 1024 ? kib : kib / 1024,
                               kib < 1024 ? "KiB" : "MiB");
    }
}

static void draw_cores(const struct picture *p, double x, double y, unsigned n)
{
    unsigned across = cores_across(most_cpus(p));

    for (unsigned i = 0; cores_height(p) > 0 && i < n; i++)
        svg_box(p->out, x + i % across * (double)CORE,
                y + i / across * (double)CORE, CORE - 3, CORE - 3, 1.5,
                "#8db4dd", "none");
}

/* The processors of a node. */
static void draw_processor(const struct picture *p, unsigned k)
{
    const struct orr_locality_node *node = &p->locality.nodes[k];
    const char *model = processor_model(p);
    double x = p->panels[k].x + (p->locality.memories ? PADDING : 0);
    double y = p->top, width = processor_width(p), height = processor_height(p);
    unsigned letters = (unsigned)(width / 6.6);
    char text[TEXT];

    svg_line(p->out, x + width / 2, y + height, x + width / 2, p->memory_y, 3,
             WIRE);
    svg_box(p->out, x, y, width, height, 6, "#e8f1fb", "#3b6ea5");
    snprintf(text, sizeof(text), "%u CPU%s", node->ncpus,
             node->ncpus == 1 ? "" : "s");
    svg_text(p->out, x + 12, y + 20, &bold, 0, text);
    place_text(node, text);
    if (p->locality.nnodes > 1)
        svg_text(p->out, x + 12, y + 37, &faint, letters, text);
    else
        svg_text(p->out, x + 12, y + 37, &faint, (unsigned)(width / 7.0),
                 model ? model : "model not stated");
    y += 46;
    if (has_place(p)) {
        svg_text(p->out, x + 12, y + 6, &faint, letters, text);
        y += 15;
    }
    draw_cores(p, x + 12, y, node->ncpus);
    caches_text(node, text);
    svg_text(p->out, x + 12, p->top + height - 9, &faint, letters, text);
}

/* What carries data between two memories, and the link that limits it most. */
static struct view_rate rate_between(const struct orr_machine_desc *desc,
                                     unsigned from, unsigned to,
                                     const char **ret_name)
{
    struct view_rate rate = {0};

    *ret_name = NULL;
    for (int way = 0; way < 2; way++) {
        int r = way ? orr_machine_desc_route(desc, to, from)
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
            *(way ? &rate.up : &rate.down) = least;
        rate.latency_us = fmax(rate.latency_us, latency);
    }
    return rate;
}

/* Disks and further memories, beside the processors. Towards them is upwards
 * in the picture: the arrows turn. */
static void draw_others(const struct picture *p)
{
    unsigned last = p->locality.memories ? 0 : p->locality.nnodes - 1;
    unsigned ram = (unsigned)orr_machine_desc_host(p->desc, "RAM");
    double x = p->panels[last].x + (p->locality.memories ? PADDING : 0) +
               processor_width(p) + PITCH - BOX_WIDTH;

    for (unsigned h = 0; h < p->desc->nhosts; h++) {
        const struct orr_host_desc *host = &p->desc->hosts[h];
        double height = 40, y = p->top + processor_height(p) - height;
        struct view_rate rate, turned;
        const char *name;

        if (!is_disk(host) && (p->locality.memories || !is_memory(host)))
            continue;
        rate = rate_between(p->desc, ram, h, &name);
        turned = (struct view_rate){rate.up, rate.down, rate.latency_us,
                                    rate.shared};
        svg_line(p->out, x + LINE_AT, y + height, x + LINE_AT, p->memory_y, 2,
                 WIRE);
        label_line(p, x + LINE_AT, y + height + 18, &turned);
        svg_box(p->out, x, y, BOX_WIDTH, height, 6,
                is_disk(host) ? "#f3ede4" : "#fdf3d8",
                is_disk(host) ? "#8a7350" : "#b58900");
        svg_text(p->out, x + 12, y + 25, &bold, 16, host->id);
        x += PITCH;
    }
}

static void draw_bar(const struct picture *p, double x, double width,
                     const char *name, double gib)
{
    char text[TEXT];

    snprintf(text, sizeof(text), gib > 0 ? "%.20s, %.4g GiB" : "%.20s", name,
             gib);
    svg_box(p->out, x, p->memory_y, width, BAR_HEIGHT, 6, "#fdf3d8", "#b58900");
    svg_text(p->out, x + width / 2, p->memory_y + 19,
             &(struct svg_style){13, "middle", INK, 1, 0}, 0, text);
}

static void draw_memory(const struct picture *p)
{
    const struct panel *last = &p->panels[p->locality.nnodes - 1];
    int ram = orr_machine_desc_host(p->desc, "RAM");
    double right = last->x + last->width + PITCH * count_others(p->desc);

    if (p->ncolumns)
        right = fmax(right, column_x(p, p->ncolumns - 1) + BOX_WIDTH);
    draw_bar(p, MARGIN, right - MARGIN, "RAM",
             ram < 0 ? 0 : memory_gib(&p->desc->hosts[ram]));
}

static void draw_memories(const struct picture *p)
{
    for (unsigned k = 0; k < p->locality.nnodes; k++) {
        int host = p->locality.nodes[k].host;

        if (host >= 0)
            draw_bar(p, p->panels[k].x + PADDING,
                     p->panels[k].width - 2 * PADDING, p->desc->hosts[host].id,
                     p->locality.nodes[k].memory / (1 << 30));
    }
}

/* What lies behind all that belongs to a node. */
static void draw_panels(const struct picture *p)
{
    double bottom =
        p->ncolumns ? p->devices_y + BOX_HEIGHT : p->memory_y + BAR_HEIGHT;

    for (unsigned k = 0; k < p->locality.nnodes; k++)
        svg_box(p->out, p->panels[k].x, p->top - PADDING, p->panels[k].width,
                bottom - p->top + 2 * PADDING, 10, "#f8f9fb", "#c3ccd6");
}

/* Links between memories, above the panels; figures last, upon all lines. */
static void draw_bridges(const struct picture *p)
{
    for (int labels = 0; labels < 2; labels++)
        for (unsigned i = 0; i < p->nbridges; i++) {
            const struct bridge *bridge = &p->bridges[i];
            const struct panel *a = &p->panels[bridge->a];
            const struct panel *b = &p->panels[bridge->b];
            double part = (bridge->level - 1.0) / p->nbridge_levels;
            double x1 = a->x + a->width - 30 - (a->width / 2 - 50) * part;
            double x2 = b->x + 30 + (b->width / 2 - 50) * part;
            double y0 = p->top - PADDING, y = y0 - BRIDGE * bridge->level + 8;
            char rate[TEXT], latency[TEXT], text[3 * TEXT];

            if (!labels) {
                svg_line(p->out, x1, y0, x1, y, 2, "#b58900");
                svg_line(p->out, x1, y, x2, y, 2, "#b58900");
                svg_line(p->out, x2, y, x2, y0, 2, "#b58900");
                continue;
            }
            rate_text(&bridge->rate, rate);
            latency_text(bridge->rate.latency_us, latency);
            snprintf(text, sizeof(text), "%.40s · %s%s%s", bridge->name, rate,
                     *latency ? " · " : "", latency);
            svg_text(p->out, (x1 + x2) / 2, y - 5,
                     &(struct svg_style){11, "middle", INK, 0, 1}, 0, text);
        }
}

/* A bar that is alone may be wider than what hangs on it. */
static double bar_width(const struct picture *p, double width)
{
    return p->ncolumns == 1 ? fmax(width, 240) : width;
}

/* A bar that has no room for figures has them at its line. */
#define NARROW 200

static void draw_hub(const struct picture *p, unsigned h)
{
    const struct view_hub *hub = &p->view.hubs[h];
    double y = bar_y(p, (int)h), x, width, line;
    double above = hub->parent < 0 ? p->memory_y : bar_y(p, hub->parent);
    char rate[TEXT], latency[TEXT], text[3 * TEXT];
    unsigned first, last;

    hub_columns(p, hub, &first, &last);
    x = column_x(p, first);
    width = bar_width(p, column_x(p, last) + BOX_WIDTH - x);
    line = width < NARROW ? x + LINE_AT : x + width / 2;
    svg_line(p->out, line, above + BAR_HEIGHT, line, y, 3, WIRE);
    svg_box(p->out, x, y, width, BAR_HEIGHT, 6, "#eceff3", "#7b8794");
    rate_text(&hub->rate, rate);
    latency_text(hub->rate.latency_us, latency);
    snprintf(text, sizeof(text), "%.60s · %s%s%s", hub->label, rate,
             *latency ? " · " : "", latency);
    if (width < NARROW) {
        label_line(p, line, y - (*latency ? 20 : 14), &hub->rate);
        snprintf(text, sizeof(text), "%.60s", hub->label);
    }
    svg_text(p->out, x + width / 2, y + 18, &in_bar, (unsigned)(width / 6.4),
             text);
}

/* "NVIDIA H100 PCIe 80GB" on two lines, broken at a blank. */
static void draw_model(const struct picture *p, double x, double y,
                       const char *model)
{
    char first[TEXT];
    size_t cut = strlen(model);

    if (cut > 20) {
        for (cut = 20; cut > 0 && model[cut] != ' '; cut--)
            ;
        if (cut == 0)
            cut = strlen(model) < 40 ? strlen(model) : 40;
    }
    snprintf(first, sizeof(first), "%.*s", (int)(cut < 60 ? cut : 60), model);
    svg_text(p->out, x, y, &faint, 21, first);
    if (model[cut])
        svg_text(p->out, x, y + 14, &faint, 21, model + cut + 1);
}

static void draw_device(const struct picture *p, unsigned c)
{
    const struct column *column = &p->columns[c];
    const struct view_device *device = &p->view.devices[column->first];
    const struct orr_host_desc *host = &p->desc->hosts[device->host];
    const char *model = orr_host_desc_prop(host, "model");
    bool cuda = orr_host_desc_number(host, "CUDA") >= 0;
    double x = column_x(p, c), y = p->devices_y;
    double above = device->hub < 0 ? p->memory_y : bar_y(p, device->hub);
    char text[TEXT];

    svg_line(p->out, x + LINE_AT, above + BAR_HEIGHT, x + LINE_AT, y, 2, WIRE);
    label_line(p, x + LINE_AT, y - 26, &device->rate);
    svg_box(p->out, x, y, BOX_WIDTH, BOX_HEIGHT, 6,
            cuda ? "#e6f4e6" : "#f0e9f8", cuda ? "#3f8f3f" : "#7a52a8");
    if (column->n == 1)
        svg_text(p->out, x + 10, y + 20, &bold, 14, host->id);
    else {
        const struct view_device *last =
            &p->view.devices[column->first + column->n - 1];

        snprintf(text, sizeof(text), "%.14s … %s", host->id,
                 p->desc->hosts[last->host].id +
                     strcspn(p->desc->hosts[last->host].id, "0123456789"));
        svg_text(p->out, x + 10, y + 20, &bold, 18, text);
    }
    draw_model(p, x + 10, y + 38, model ? model : "model not stated");
    if (memory_gib(host) > 0) {
        snprintf(text, sizeof(text), "%.4g GiB%s", memory_gib(host),
                 column->n > 1 ? " each" : "");
        svg_text(p->out, x + 10, y + 75, &plain, 0, text);
    }
}

/* A switch between devices, below them. Its ports' "up" is the device's
 * sending, which is downwards here: the arrows turn. */
static void draw_cluster(struct picture *p, int cluster)
{
    double y = p->below_y + GAP, from = INFINITY, to = 0;
    const char *name = p->view.clusters[cluster].port;
    char text[TEXT];

    for (unsigned c = 0; c < p->ncolumns; c++) {
        const struct view_device *device =
            &p->view.devices[p->columns[c].first];
        struct view_rate port = {device->port.up, device->port.down,
                                 device->port.latency_us, device->port.shared};
        double x = column_x(p, c);

        if (device->cluster != cluster)
            continue;
        svg_line(p->out, x + LINE_AT, p->devices_y + BOX_HEIGHT, x + LINE_AT, y,
                 2, "#3f8f3f");
        label_line(p, x + LINE_AT, y - 30, &port);
        from = fmin(from, x);
        to = fmax(to, x + BOX_WIDTH);
    }
    /* Ports are called like "NVLink-CUDA0". */
    snprintf(text, sizeof(text), "%.*s switch of %u devices",
             (int)strcspn(name, "-"), name, p->view.clusters[cluster].ndevices);
    to = from + bar_width(p, to - from);
    svg_box(p->out, from, y, to - from, BAR_HEIGHT, 6, "#d9efd9", "#3f8f3f");
    svg_text(p->out, (from + to) / 2, y + 18, &in_bar, 0, text);
    p->below_y = y + BAR_HEIGHT;
}

/* Where a link below the devices leaves its two boxes, and how deep it hangs:
 * short ones nearest to the edges that face each other. */
struct hook {
    double x1, x2, y;
};

static struct hook hook_of(const struct picture *p, unsigned i)
{
    const struct view_direct *link = &p->view.directs[i];
    double step = (BOX_WIDTH / 2.0 - 40) * (p->levels[i] - 1) / p->nlevels;

    return (struct hook){
        column_x(p, p->column_of[link->a]) + BOX_WIDTH - 36 - step,
        column_x(p, p->column_of[link->b]) + 36 + step,
        p->below_y + 32.0 * p->levels[i],
    };
}

static void draw_hook(const struct picture *p, unsigned i)
{
    struct hook hook = hook_of(p, i);

    svg_line(p->out, hook.x1, p->devices_y + BOX_HEIGHT, hook.x1, hook.y, 2,
             "#3f8f3f");
    svg_line(p->out, hook.x1, hook.y, hook.x2, hook.y, 2, "#3f8f3f");
    svg_line(p->out, hook.x2, p->devices_y + BOX_HEIGHT, hook.x2, hook.y, 2,
             "#3f8f3f");
}

static void label_hook(const struct picture *p, unsigned i)
{
    const struct view_direct *link = &p->view.directs[i];
    struct hook hook = hook_of(p, i);
    char rate[TEXT], latency[TEXT], text[2 * TEXT + 4];

    /* There is little room: both ways are the rule, and the legend says so. */
    if (about_equal(link->rate.down, link->rate.up) && !link->rate.shared)
        bandwidth_text(link->rate.down, rate);
    else
        rate_text(&link->rate, rate);
    latency_text(link->rate.latency_us, latency);
    snprintf(text, sizeof(text), "%s%s%s", rate, *latency ? " · " : "",
             latency);
    svg_text(p->out, (hook.x1 + hook.x2) / 2, hook.y - 5,
             &(struct svg_style){11, "middle", INK, 0, 1}, 0, text);
}

/* Links below the devices, each on its level; figures last, upon all lines. */
static void draw_directs(struct picture *p)
{
    for (int labels = 0; labels < 2; labels++)
        for (unsigned i = 0; i < p->view.ndirects; i++) {
            const struct view_direct *link = &p->view.directs[i];

            if (p->column_of[link->a] == p->column_of[link->b])
                continue; /* within a box that stands for several */
            (labels ? label_hook : draw_hook)(p, i);
        }
    p->below_y += 32.0 * p->nlevels;
}

/* How far down the last thing reaches. */
static double height_of(const struct picture *p)
{
    double height =
        p->below_y + p->view.nclusters * (GAP + BAR_HEIGHT) + 32.0 * p->nlevels;

    if (machine_table_fits(p->desc))
        height += machine_table_height(p->desc);
    return height + 46;
}

static void draw(struct picture *p)
{
    double height = height_of(p);

    svg_begin(p->out, p->width, height, p->desc->name);
    draw_title(p);
    if (p->locality.memories) {
        draw_panels(p);
        draw_bridges(p);
    }
    for (unsigned k = 0; k < p->locality.nnodes; k++)
        draw_processor(p, k);
    draw_others(p);
    for (unsigned h = 0; h < p->view.nhubs; h++)
        draw_hub(p, h);
    for (unsigned c = 0; c < p->ncolumns; c++)
        draw_device(p, c);
    (p->locality.memories ? draw_memories : draw_memory)(p);
    for (unsigned i = 0; i < p->view.nclusters; i++)
        draw_cluster(p, (int)i);
    draw_directs(p);
    if (machine_table_fits(p->desc))
        machine_table_draw(p->desc, MARGIN, p->below_y, p->out);
    if (p->ncolumns)
        svg_text(p->out, MARGIN, height - 16, &faint, 0,
                 "each way: a direction for itself · shared: both directions "
                 "together");
    svg_end(p->out);
}

int machine_picture(const struct orr_machine_desc *desc, FILE *out)
{
    struct picture p = {.desc = desc, .out = out};
    int rc = orr_locality_init(desc, &p.locality);

    if (rc == 0)
        rc = machine_view_init(desc, &p.view);
    if (rc < 0) {
        orr_locality_done(&p.locality);
        return rc;
    }
    rc = lay_out(&p);
    if (rc == 0)
        draw(&p);
    free(p.columns);
    free(p.column_of);
    free(p.levels);
    free(p.rows);
    free(p.panels);
    free(p.bridges);
    free(p.column_at);
    machine_view_done(&p.view);
    orr_locality_done(&p.locality);
    return rc;
}

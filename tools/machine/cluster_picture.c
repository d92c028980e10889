/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/cluster_picture.c - a cluster as a drawing: from top to bottom the levels of
 * its switches, a bar each, and the groups of its nodes, a panel each, with a box for every
 * node or, of many, a single one. One thread.
 */
#include "tools/machine/cluster.h"

#include "core/base/plural.h"
#include "tools/common/svg.h"
#include "tools/machine/layout.h"
#include "tools/machine/picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More nodes than that are one box for each group. */
#define MAX_BOXES 32

#define TEXT         256
#define TOP          104 /* of the first bar */
#define NODE_PITCH   34
#define NODE_WIDTH   28
#define NODES_HEIGHT 44
#define PANEL_HEIGHT (3 * 17 + NODES_HEIGHT + 2 * LAYOUT_PADDING)
#define PANEL_LEAST  260 /* width, for its texts */
#define LEVEL_HEIGHT (LAYOUT_BAR_HEIGHT + LAYOUT_GAP)

#define INK   "#1f2933"
#define FAINT "#66788a"
#define WIRE  "#52606d"

static const struct svg_style name_style = {20, "start", INK, 1, 0};
static const struct svg_style line_style = {14, "start", INK, 1, 0};
static const struct svg_style faint = {11, "start", FAINT, 0, 0};
static const struct svg_style on_line = {11, "start", INK, 0, 1};
static const struct svg_style bold = {13, "start", INK, 1, 0};
static const struct svg_style in_box = {12, "middle", INK, 0, 0};

struct cluster_picture {
    const struct machine_cluster *cluster;
    bool aggregated;
    double width, nodes_y; /* of all; the top of the panels */
    FILE *out;
};

/* ---- layout ---- */

static double panel_width(const struct cluster_picture *p, unsigned group)
{
    unsigned n = p->cluster->desc.groups[group].n;
    double boxes = (p->aggregated ? 1 : n) * (double)NODE_PITCH;

    return fmax(PANEL_LEAST, boxes + 2 * LAYOUT_PADDING);
}

static void place_panels(struct cluster_picture *p)
{
    p->width = LAYOUT_MARGIN;
    for (unsigned i = 0; i < p->cluster->desc.ngroups; i++)
        p->width += panel_width(p, i) + LAYOUT_PADDING;
    p->width = fmax(p->width - LAYOUT_PADDING + LAYOUT_MARGIN, 640);
    p->nodes_y = TOP + p->cluster->shape.nlevels * (double)LEVEL_HEIGHT;
}

/* ---- what is drawn ---- */

static void counts_text(const struct machine_cluster *cluster, char text[TEXT])
{
    struct machine_amounts total = machine_cluster_total(cluster);
    unsigned nnodes = cluster->desc.nnodes;
    unsigned nranks = nnodes * cluster->desc.ranks_per_node;
    int length =
        snprintf(text, TEXT, "%u node%s · %u rank%s · %.0f CPUs", nnodes,
                 orr_plural(nnodes), nranks, orr_plural(nranks), total.cpus);

    if (total.cuda > 0)
        length += snprintf(text + length, TEXT - (size_t)length, " · %.0f CUDA",
                           total.cuda);
    if (total.opencl > 0)
        snprintf(text + length, TEXT - (size_t)length, " · %.0f OpenCL",
                 total.opencl);
}

static void speeds_text(const struct machine_cluster *cluster, char text[TEXT])
{
    char rate[PICTURE_TEXT];
    int length;

    picture_bandwidth(machine_cluster_bisection(cluster), rate);
    length = snprintf(text, TEXT, "between halves of the nodes %s", rate);
    if (cluster->farthest)
        length +=
            snprintf(text + length, TEXT - (size_t)length, " · latency %.4g",
                     machine_cluster_latency(cluster, cluster->nearest));
    if (cluster->farthest > cluster->nearest)
        length += snprintf(text + length, TEXT - (size_t)length, " to %.4g",
                           machine_cluster_latency(cluster, cluster->farthest));
    if (cluster->farthest)
        snprintf(text + length, TEXT - (size_t)length, " µs");
}

static void draw_head(const struct cluster_picture *p, const char *name)
{
    /* A line is longer than a name. */
    const struct svg_style *title =
        p->cluster->desc.name ? &name_style : &line_style;
    double width = p->width - 2 * LAYOUT_MARGIN;
    char text[TEXT];

    svg_text(p->out, LAYOUT_MARGIN, 36, title,
             (unsigned)(width / title->size * 1.6), name);
    counts_text(p->cluster, text);
    svg_text(p->out, LAYOUT_MARGIN, 56, &faint, 0, text);
    speeds_text(p->cluster, text);
    svg_text(p->out, LAYOUT_MARGIN, 72, &faint, 0, text);
}

static double bar_y(const struct cluster_picture *p, unsigned level)
{
    return TOP + (p->cluster->shape.nlevels - 1 - level) * (double)LEVEL_HEIGHT;
}

/* "10 switches with 32 ports", and in networks without levels, how they are linked. */
static void switches_text(const struct machine_cluster *cluster, unsigned level,
                          char text[TEXT])
{
    const struct orr_interconnect_shape *shape = &cluster->shape;
    unsigned long long n = shape->switches[level], links = shape->links[level];
    int length = snprintf(text, TEXT, "%s: %llu switch%s with %u ports",
                          machine_topology_name(cluster->desc.fabric.kind), n,
                          n == 1 ? "" : "es", shape->ports);

    if (shape->nlevels > 1)
        snprintf(text, TEXT, "level %u: %llu switch%s with %u ports", level + 1,
                 n, n == 1 ? "" : "es", shape->ports);
    else if (links)
        snprintf(text + length, TEXT - (size_t)length,
                 ", %llu link%s between them", links, orr_plural(links));
}

static const char *each_way(const struct machine_cluster *cluster)
{
    return cluster->desc.fabric.half_duplex ? "shared" : "each way";
}

/* A level, and the links that lead up from it. */
static void draw_level(const struct cluster_picture *p, unsigned level)
{
    const struct orr_interconnect_shape *shape = &p->cluster->shape;
    double y = bar_y(p, level), middle = p->width / 2;
    char text[TEXT], rate[PICTURE_TEXT];

    if (level + 1 < shape->nlevels) {
        svg_line(p->out, middle, y - LAYOUT_GAP, middle, y, 3, WIRE);
        picture_bandwidth(machine_cluster_link_rate(p->cluster), rate);
        snprintf(text, sizeof(text), "%llu links, %s %s",
                 (unsigned long long)shape->links[level], rate,
                 each_way(p->cluster));
        svg_text(p->out, middle + 7, y - LAYOUT_GAP / 2. + 4, &on_line, 0,
                 text);
    }
    svg_box(p->out, LAYOUT_MARGIN, y, p->width - 2 * LAYOUT_MARGIN,
            LAYOUT_BAR_HEIGHT, 6, "#eceff3", "#7b8794");
    switches_text(p->cluster, level, text);
    svg_text(p->out, middle, y + 18, &in_box, 0, text);
}

static void amounts_text(const struct machine_amounts *node, char text[TEXT])
{
    int length = snprintf(text, TEXT, "%.0f CPU%s", node->cpus,
                          orr_plural((size_t)node->cpus));

    if (node->cuda > 0)
        length += snprintf(text + length, TEXT - (size_t)length, " · %.0f CUDA",
                           node->cuda);
    if (node->opencl > 0)
        length += snprintf(text + length, TEXT - (size_t)length,
                           " · %.0f OpenCL", node->opencl);
    if (node->device_memory > 0)
        snprintf(text + length, TEXT - (size_t)length, " with %.4g GiB",
                 node->device_memory / (1 << 30));
}

static void draw_boxes(const struct cluster_picture *p, double x, double y,
                       unsigned first, unsigned n, bool cuda)
{
    char text[24];

    for (unsigned i = 0; i < (p->aggregated ? 1 : n); i++) {
        double left = x + i * (double)NODE_PITCH;
        double width =
            p->aggregated ? PANEL_LEAST - 2. * LAYOUT_PADDING : NODE_WIDTH;

        svg_box(p->out, left, y, width, NODES_HEIGHT, 6,
                cuda ? "#e6f4e6" : "#e8f1fb", cuda ? "#3f8f3f" : "#3b6ea5");
        snprintf(text, sizeof(text), p->aggregated && n > 1 ? "%u … %u" : "%u",
                 first + i, first + n - 1);
        svg_text(p->out, left + width / 2, y + NODES_HEIGHT / 2. + 4, &in_box,
                 0, text);
    }
}

static void draw_wires(const struct cluster_picture *p, double x)
{
    const struct orr_fabric *fabric = &p->cluster->desc.fabric;
    double y = p->nodes_y - LAYOUT_GAP;
    char text[TEXT], rate[PICTURE_TEXT];

    svg_line(p->out, x + LAYOUT_LINE_AT, y, x + LAYOUT_LINE_AT, p->nodes_y, 2,
             WIRE);
    picture_bandwidth(machine_cluster_link_rate(p->cluster), rate);
    snprintf(text, sizeof(text), "%u NIC%s each, %s %s", fabric->nics,
             orr_plural(fabric->nics), rate, each_way(p->cluster));
    svg_text(p->out, x + LAYOUT_LINE_AT + 7, y + LAYOUT_GAP / 2. + 4, &on_line,
             0, text);
}

static void draw_group(const struct cluster_picture *p, unsigned i, double x,
                       unsigned first)
{
    const struct orr_cluster_group *group = &p->cluster->desc.groups[i];
    struct machine_amounts node =
        machine_cluster_amounts(p->cluster->machines[i]);
    double width = panel_width(p, i), y = p->nodes_y;
    unsigned letters = (unsigned)((width - 2 * LAYOUT_PADDING) / 7);
    char text[TEXT];

    draw_wires(p, x);
    svg_box(p->out, x, y, width, PANEL_HEIGHT, 10, "#f8f9fb", "#c3ccd6");
    x += LAYOUT_PADDING;
    y += LAYOUT_PADDING;
    snprintf(text, sizeof(text), "%u × %.200s%s", group->n, group->machine,
             group->edits ? ", edited" : "");
    svg_text(p->out, x, y + 10, &bold, letters, text);
    amounts_text(&node, text);
    svg_text(p->out, x, y + 27, &faint, letters, text);
    draw_boxes(p, x, y + 44, first, group->n, node.cuda + node.opencl > 0);
}

static void draw_cluster(struct cluster_picture *p, const char *name)
{
    double x = LAYOUT_MARGIN;
    unsigned first = 0;

    place_panels(p);
    svg_begin(p->out, p->width, p->nodes_y + PANEL_HEIGHT + LAYOUT_MARGIN,
              name);
    draw_head(p, name);
    for (unsigned level = 0; level < p->cluster->shape.nlevels; level++)
        draw_level(p, level);
    for (unsigned i = 0; i < p->cluster->desc.ngroups; i++) {
        draw_group(p, i, x, first);
        x += panel_width(p, i) + LAYOUT_PADDING;
        first += p->cluster->desc.groups[i].n;
    }
    svg_end(p->out);
}

int machine_cluster_picture(const struct machine_cluster *cluster, FILE *out)
{
    struct cluster_picture p = {
        .cluster = cluster,
        .aggregated = cluster->desc.nnodes > MAX_BOXES,
        .out = out,
    };
    char *name = machine_cluster_name(cluster);

    if (!name)
        return -ENOMEM;
    draw_cluster(&p, name);
    free(name);
    return 0;
}

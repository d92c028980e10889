/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/picture.c - see picture.h. Draws what machine_layout has
 * placed. One thread.
 */
#include "tools/machine/picture.h"

#include "tools/common/svg.h"
#include "tools/machine/layout.h"
#include "tools/machine/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INK   "#1f2933"
#define FAINT "#66788a"
#define WIRE  "#52606d"

static const struct svg_style title_style = {20, "start", INK, 1, 0};
static const struct svg_style plain = {12, "start", INK, 0, 0};
static const struct svg_style faint = {11, "start", FAINT, 0, 0};
static const struct svg_style on_line = {11, "start", INK, 0, 1};
static const struct svg_style bold = {13, "start", INK, 1, 0};
static const struct svg_style in_bar = {12, "middle", INK, 0, 0};

struct picture {
    struct machine_layout layout;
    double below_y; /* where the next thing below the devices may begin */
    FILE *out;
};

/* ---- texts ---- */

#define TEXT PICTURE_TEXT

/* "53.5": three digits and the number of thousands that were taken off. */
static const char *scale_by_thousands(double value, unsigned *prefix,
                                      char text[TEXT])
{
    for (*prefix = 0; *prefix < 5 && value >= 999.5; ++*prefix)
        value /= 1000;
    /* %.3g would write 215 as it is but 1.00 as 1, which is fine too. */
    snprintf(text, TEXT, "%.3g", value);
    return text;
}

const char *picture_bandwidth(double rate, char text[TEXT])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    char number[TEXT];
    unsigned prefix;

    scale_by_thousands(rate, &prefix, number);
    snprintf(text, TEXT, "%.20s %sB/s", number, prefixes[prefix]);
    return text;
}

/* "53.5 GB/s each way", or the two directions. */
static void rate_text(const struct view_rate *rate, char text[TEXT])
{
    char down[TEXT], up[TEXT];

    if (rate->down == 0 || rate->up == 0) {
        picture_bandwidth(fmax(rate->down, rate->up), text);
        return;
    }
    if (layout_about_equal(rate->down, rate->up)) {
        snprintf(text, TEXT, "%.40s %s", picture_bandwidth(rate->down, down),
                 rate->shared ? "shared" : "each way");
        return;
    }
    picture_bandwidth(rate->down, down);
    picture_bandwidth(rate->up, up);
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

/* The label of a line, beside it. */
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

/* ---- drawing ---- */

static const char *processor_model(const struct picture *p)
{
    int host = orr_machine_desc_host(p->layout.desc, "MAIN");

    return host < 0 ? NULL
                    : orr_host_desc_prop(&p->layout.desc->hosts[host], "model");
}

static void draw_title(const struct picture *p)
{
    char text[256], number[24] = "";

    svg_text(p->out, LAYOUT_MARGIN, 36, &title_style, 0, p->layout.desc->name);
    if (p->layout.desc->ncuda)
        snprintf(number, sizeof(number), " · %u CUDA", p->layout.desc->ncuda);
    snprintf(text, sizeof(text), "%u CPUs%s", p->layout.desc->ncpu, number);
    if (p->layout.desc->nopencl) {
        snprintf(number, sizeof(number), " · %u OpenCL",
                 p->layout.desc->nopencl);
        strncat(text, number, sizeof(text) - strlen(text) - 1);
    }
    strncat(text, " · figures: ", sizeof(text) - strlen(text) - 1);
    strncat(text,
            p->layout.desc->provenance ? p->layout.desc->provenance
                                       : "origin not stated",
            sizeof(text) - strlen(text) - 1);
    if (p->layout.locality.nnodes > 1 && processor_model(p)) {
        strncat(text, " · ", sizeof(text) - strlen(text) - 1);
        strncat(text, processor_model(p), sizeof(text) - strlen(text) - 1);
    }
    svg_text(p->out, LAYOUT_MARGIN, 56, &faint, 0, text);
}

/* Whether the node is the file system that hosts share: they are the other nodes. */
static bool is_file_system(const struct picture *p,
                           const struct orr_locality_node *node)
{
    return node->number == 0 && orr_machine_desc_has_storage(p->layout.desc);
}

/* "NUMA 0 · package 0 · 23.5 GiB", "host 1" */
static void place_text(const struct picture *p,
                       const struct orr_locality_node *node, char text[TEXT])
{
    bool host = orr_machine_desc_has_storage(p->layout.desc);
    int length = snprintf(text, TEXT,
                          is_file_system(p, node) ? "that hosts share"
                          : host                  ? "host %u"
                                                  : "NUMA %u",
                          node->number);

    if (node->package >= 0 && !host)
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
    unsigned across = layout_cores_across(layout_most_cpus(&p->layout));

    for (unsigned i = 0; layout_cores_height(&p->layout) > 0 && i < n; i++)
        svg_box(p->out, x + i % across * (double)LAYOUT_CORE,
                y + i / across * (double)LAYOUT_CORE, LAYOUT_CORE - 3,
                LAYOUT_CORE - 3, 1.5, "#8db4dd", "none");
}

/* The processors of a node. */
static void draw_processor(const struct picture *p, unsigned k)
{
    const struct orr_locality_node *node = &p->layout.locality.nodes[k];
    const char *model = processor_model(p);
    double x = p->layout.panels[k].x +
               (p->layout.locality.memories ? LAYOUT_PADDING : 0);
    double y = p->layout.top, width = layout_processor_width(&p->layout),
           height = layout_processor_height(&p->layout);
    unsigned letters = (unsigned)(width / 6.6);
    char text[TEXT];

    svg_line(p->out, x + width / 2, y + height, x + width / 2,
             p->layout.memory_y, 3, WIRE);
    svg_box(p->out, x, y, width, height, 6, "#e8f1fb", "#3b6ea5");
    snprintf(text, sizeof(text),
             is_file_system(p, node) ? "file system" : "%u CPU%s", node->ncpus,
             node->ncpus == 1 ? "" : "s");
    svg_text(p->out, x + 12, y + 20, &bold, 0, text);
    place_text(p, node, text);
    if (p->layout.locality.nnodes > 1)
        svg_text(p->out, x + 12, y + 37, &faint, letters, text);
    else
        svg_text(p->out, x + 12, y + 37, &faint, (unsigned)(width / 7.0),
                 model ? model : "model not stated");
    y += 46;
    if (layout_has_place(&p->layout)) {
        svg_text(p->out, x + 12, y + 6, &faint, letters, text);
        y += 15;
    }
    draw_cores(p, x + 12, y, node->ncpus);
    caches_text(node, text);
    svg_text(p->out, x + 12, p->layout.top + height - 9, &faint, letters, text);
}

/* Disks and further memories, beside the processors. Towards them is upwards
 * in the picture: the arrows turn. */
static void draw_others(const struct picture *p)
{
    unsigned last =
        p->layout.locality.memories ? 0 : p->layout.locality.nnodes - 1;
    unsigned ram = (unsigned)orr_machine_desc_host(p->layout.desc, "RAM");
    double x = p->layout.panels[last].x +
               (p->layout.locality.memories ? LAYOUT_PADDING : 0) +
               layout_processor_width(&p->layout) + LAYOUT_PITCH -
               LAYOUT_BOX_WIDTH;

    for (unsigned h = 0; h < p->layout.desc->nhosts; h++) {
        const struct orr_host_desc *host = &p->layout.desc->hosts[h];
        double height = 40,
               y = p->layout.top + layout_processor_height(&p->layout) - height;
        struct view_rate rate, turned;
        const char *name;

        if (!layout_is_other(p->layout.desc, host))
            continue;
        rate = layout_rate_between(p->layout.desc, ram, h, &name);
        turned = (struct view_rate){rate.up, rate.down, rate.latency_us,
                                    rate.shared};
        svg_line(p->out, x + LAYOUT_LINE_AT, y + height, x + LAYOUT_LINE_AT,
                 p->layout.memory_y, 2, WIRE);
        label_line(p, x + LAYOUT_LINE_AT, y + height + 18, &turned);
        svg_box(p->out, x, y, LAYOUT_BOX_WIDTH, height, 6,
                layout_is_disk(host) ? "#f3ede4" : "#fdf3d8",
                layout_is_disk(host) ? "#8a7350" : "#b58900");
        svg_text(p->out, x + 12, y + 25, &bold, 16, host->id);
        x += LAYOUT_PITCH;
    }
}

static void draw_bar(const struct picture *p, double x, double width,
                     const char *name, double gib)
{
    char text[TEXT];

    snprintf(text, sizeof(text), gib > 0 ? "%.20s, %.4g GiB" : "%.20s", name,
             gib);
    svg_box(p->out, x, p->layout.memory_y, width, LAYOUT_BAR_HEIGHT, 6,
            "#fdf3d8", "#b58900");
    svg_text(p->out, x + width / 2, p->layout.memory_y + 19,
             &(struct svg_style){13, "middle", INK, 1, 0}, 0, text);
}

static void draw_main_memory(const struct picture *p)
{
    const struct layout_panel *last =
        &p->layout.panels[p->layout.locality.nnodes - 1];
    int ram = orr_machine_desc_host(p->layout.desc, "RAM");
    double right = last->x + last->width +
                   LAYOUT_PITCH * layout_count_others(p->layout.desc);

    if (p->layout.ncolumns)
        right =
            fmax(right, layout_column_x(&p->layout, p->layout.ncolumns - 1) +
                            LAYOUT_BOX_WIDTH);
    draw_bar(p, LAYOUT_MARGIN, right - LAYOUT_MARGIN, "RAM",
             ram < 0 ? 0 : layout_memory_gib(&p->layout.desc->hosts[ram]));
}

static void draw_memories(const struct picture *p)
{
    for (unsigned k = 0; k < p->layout.locality.nnodes; k++) {
        int host = p->layout.locality.nodes[k].host;

        if (host >= 0)
            draw_bar(p, p->layout.panels[k].x + LAYOUT_PADDING,
                     p->layout.panels[k].width - 2 * LAYOUT_PADDING,
                     p->layout.desc->hosts[host].id,
                     p->layout.locality.nodes[k].memory / (1 << 30));
    }
}

/* The background of a node. */
static void draw_panels(const struct picture *p)
{
    double bottom = p->layout.ncolumns ? p->layout.devices_y + LAYOUT_BOX_HEIGHT
                                       : p->layout.memory_y + LAYOUT_BAR_HEIGHT;

    for (unsigned k = 0; k < p->layout.locality.nnodes; k++)
        svg_box(p->out, p->layout.panels[k].x, p->layout.top - LAYOUT_PADDING,
                p->layout.panels[k].width,
                bottom - p->layout.top + 2 * LAYOUT_PADDING, 10, "#f8f9fb",
                "#c3ccd6");
}

/* Links between memories, above the panels; labels last, over all lines. */
static void draw_bridges(const struct picture *p)
{
    for (int labels = 0; labels < 2; labels++)
        for (unsigned i = 0; i < p->layout.nbridges; i++) {
            const struct layout_bridge *bridge = &p->layout.bridges[i];
            const struct layout_panel *a = &p->layout.panels[bridge->a];
            const struct layout_panel *b = &p->layout.panels[bridge->b];
            double part = (bridge->level - 1.0) / p->layout.nbridge_levels;
            double x1 = a->x + a->width - 30 - (a->width / 2 - 50) * part;
            double x2 = b->x + 30 + (b->width / 2 - 50) * part;
            double y0 = p->layout.top - LAYOUT_PADDING,
                   y = y0 - LAYOUT_BRIDGE * bridge->level + 8;
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
    return p->layout.ncolumns == 1 ? fmax(width, 240) : width;
}

/* A bar without room for labels has them at its line. */
#define NARROW 200

static void draw_hub(const struct picture *p, unsigned h)
{
    const struct view_hub *hub = &p->layout.view.hubs[h];
    double y = layout_bar_y(&p->layout, (int)h), x, width, line;
    double above = hub->parent < 0 ? p->layout.memory_y
                                   : layout_bar_y(&p->layout, hub->parent);
    char rate[TEXT], latency[TEXT], text[3 * TEXT];
    unsigned first, last;

    layout_hub_columns(&p->layout, hub, &first, &last);
    x = layout_column_x(&p->layout, first);
    width =
        bar_width(p, layout_column_x(&p->layout, last) + LAYOUT_BOX_WIDTH - x);
    line = width < NARROW ? x + LAYOUT_LINE_AT : x + width / 2;
    svg_line(p->out, line, above + LAYOUT_BAR_HEIGHT, line, y, 3, WIRE);
    svg_box(p->out, x, y, width, LAYOUT_BAR_HEIGHT, 6, "#eceff3", "#7b8794");
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
    const struct layout_column *column = &p->layout.columns[c];
    const struct view_device *device = &p->layout.view.devices[column->first];
    const struct orr_host_desc *host = &p->layout.desc->hosts[device->host];
    const char *model = orr_host_desc_prop(host, "model");
    bool cuda = orr_host_desc_number(host, "CUDA") >= 0;
    double x = layout_column_x(&p->layout, c), y = p->layout.devices_y;
    double above = device->hub < 0 ? p->layout.memory_y
                                   : layout_bar_y(&p->layout, device->hub);
    char text[TEXT];

    svg_line(p->out, x + LAYOUT_LINE_AT, above + LAYOUT_BAR_HEIGHT,
             x + LAYOUT_LINE_AT, y, 2, WIRE);
    label_line(p, x + LAYOUT_LINE_AT, y - 26, &device->rate);
    svg_box(p->out, x, y, LAYOUT_BOX_WIDTH, LAYOUT_BOX_HEIGHT, 6,
            cuda ? "#e6f4e6" : "#f0e9f8", cuda ? "#3f8f3f" : "#7a52a8");
    if (column->n == 1)
        svg_text(p->out, x + 10, y + 20, &bold, 14, host->id);
    else {
        const struct view_device *last =
            &p->layout.view.devices[column->first + column->n - 1];

        snprintf(
            text, sizeof(text), "%.14s … %s", host->id,
            p->layout.desc->hosts[last->host].id +
                strcspn(p->layout.desc->hosts[last->host].id, "0123456789"));
        svg_text(p->out, x + 10, y + 20, &bold, 18, text);
    }
    draw_model(p, x + 10, y + 38, model ? model : "model not stated");
    if (layout_memory_gib(host) > 0) {
        snprintf(text, sizeof(text), "%.4g GiB%s", layout_memory_gib(host),
                 column->n > 1 ? " each" : "");
        svg_text(p->out, x + 10, y + 75, &plain, 0, text);
    }
}

/* A switch between devices, below them. Its ports' "up" is the device's
 * sending, which is downwards here: the arrows turn. */
static void draw_cluster(struct picture *p, int cluster)
{
    double y = p->below_y + LAYOUT_GAP, from = INFINITY, to = 0;
    const char *name = p->layout.view.clusters[cluster].port;
    char text[TEXT];

    for (unsigned c = 0; c < p->layout.ncolumns; c++) {
        const struct view_device *device =
            &p->layout.view.devices[p->layout.columns[c].first];
        struct view_rate port = {device->port.up, device->port.down,
                                 device->port.latency_us, device->port.shared};
        double x = layout_column_x(&p->layout, c);

        if (device->cluster != cluster)
            continue;
        svg_line(p->out, x + LAYOUT_LINE_AT,
                 p->layout.devices_y + LAYOUT_BOX_HEIGHT, x + LAYOUT_LINE_AT, y,
                 2, "#3f8f3f");
        label_line(p, x + LAYOUT_LINE_AT, y - 30, &port);
        from = fmin(from, x);
        to = fmax(to, x + LAYOUT_BOX_WIDTH);
    }
    /* Ports are called like "NVLink-CUDA0". */
    snprintf(text, sizeof(text), "%.*s switch of %u devices",
             (int)strcspn(name, "-"), name,
             p->layout.view.clusters[cluster].ndevices);
    to = from + bar_width(p, to - from);
    svg_box(p->out, from, y, to - from, LAYOUT_BAR_HEIGHT, 6, "#d9efd9",
            "#3f8f3f");
    svg_text(p->out, (from + to) / 2, y + 18, &in_bar, 0, text);
    p->below_y = y + LAYOUT_BAR_HEIGHT;
}

/* Sets where a link below the devices leaves its two boxes, and its depth:
 * short links are nearest to the edges that face each other. */
struct hook {
    double x1, x2, y;
};

static struct hook hook_of(const struct picture *p, unsigned i)
{
    const struct view_direct *link = &p->layout.view.directs[i];
    double step = (LAYOUT_BOX_WIDTH / 2.0 - 40) * (p->layout.levels[i] - 1) /
                  p->layout.nlevels;

    return (struct hook){
        layout_column_x(&p->layout, p->layout.column_of[link->a]) +
            LAYOUT_BOX_WIDTH - 36 - step,
        layout_column_x(&p->layout, p->layout.column_of[link->b]) + 36 + step,
        p->below_y + 32.0 * p->layout.levels[i],
    };
}

static void draw_hook(const struct picture *p, unsigned i)
{
    struct hook hook = hook_of(p, i);

    svg_line(p->out, hook.x1, p->layout.devices_y + LAYOUT_BOX_HEIGHT, hook.x1,
             hook.y, 2, "#3f8f3f");
    svg_line(p->out, hook.x1, hook.y, hook.x2, hook.y, 2, "#3f8f3f");
    svg_line(p->out, hook.x2, p->layout.devices_y + LAYOUT_BOX_HEIGHT, hook.x2,
             hook.y, 2, "#3f8f3f");
}

static void label_hook(const struct picture *p, unsigned i)
{
    const struct view_direct *link = &p->layout.view.directs[i];
    struct hook hook = hook_of(p, i);
    char rate[TEXT], latency[TEXT], text[2 * TEXT + 4];

    /* There is little room: both directions are the default, stated in the
     * legend. */
    if (layout_about_equal(link->rate.down, link->rate.up) &&
        !link->rate.shared)
        picture_bandwidth(link->rate.down, rate);
    else
        rate_text(&link->rate, rate);
    latency_text(link->rate.latency_us, latency);
    snprintf(text, sizeof(text), "%s%s%s", rate, *latency ? " · " : "",
             latency);
    svg_text(p->out, (hook.x1 + hook.x2) / 2, hook.y - 5,
             &(struct svg_style){11, "middle", INK, 0, 1}, 0, text);
}

/* Links below the devices, each on its level; labels last, over all lines. */
static void draw_directs(struct picture *p)
{
    for (int labels = 0; labels < 2; labels++)
        for (unsigned i = 0; i < p->layout.view.ndirects; i++) {
            const struct view_direct *link = &p->layout.view.directs[i];

            if (p->layout.column_of[link->a] == p->layout.column_of[link->b])
                continue; /* within a box that stands for several */
            (labels ? label_hook : draw_hook)(p, i);
        }
    p->below_y += 32.0 * p->layout.nlevels;
}

/* The lower end of the last object. */
static double height_of(const struct picture *p)
{
    double height =
        p->below_y +
        p->layout.view.nclusters * (LAYOUT_GAP + LAYOUT_BAR_HEIGHT) +
        32.0 * p->layout.nlevels;

    if (machine_table_fits(p->layout.desc))
        height += machine_table_height(p->layout.desc);
    return height + 46;
}

static void picture_draw(struct picture *p)
{
    double height = height_of(p);

    svg_begin(p->out, p->layout.width, height, p->layout.desc->name);
    draw_title(p);
    if (p->layout.locality.memories) {
        draw_panels(p);
        draw_bridges(p);
    }
    for (unsigned k = 0; k < p->layout.locality.nnodes; k++)
        draw_processor(p, k);
    draw_others(p);
    for (unsigned h = 0; h < p->layout.view.nhubs; h++)
        draw_hub(p, h);
    for (unsigned c = 0; c < p->layout.ncolumns; c++)
        draw_device(p, c);
    (p->layout.locality.memories ? draw_memories : draw_main_memory)(p);
    for (unsigned i = 0; i < p->layout.view.nclusters; i++)
        draw_cluster(p, (int)i);
    draw_directs(p);
    if (machine_table_fits(p->layout.desc))
        machine_table_draw(p->layout.desc, LAYOUT_MARGIN, p->below_y, p->out);
    if (p->layout.ncolumns)
        svg_text(p->out, LAYOUT_MARGIN, height - 16, &faint, 0,
                 "each way: a direction for itself · shared: both directions "
                 "together");
    svg_end(p->out);
}

int machine_picture(const struct orr_machine_desc *desc, FILE *out)
{
    struct picture p = {.out = out};
    int rc = machine_layout_init(desc, &p.layout);

    if (rc < 0)
        return rc;
    p.below_y = p.layout.below_y;
    picture_draw(&p);
    machine_layout_done(&p.layout);
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine_picture.c - see machine_picture.h. From top to bottom:
 * processors and disks; main memory as a bar over the whole width; a bar for
 * each hub, over the devices that share it; the devices; what connects devices
 * without main memory; the table of bandwidths. A bar stands above all that
 * hangs on it and devices of a hub stand together (machine_view.h), so that no
 * line crosses another. One thread.
 */
#include "tools/machine_picture.h"

#include "tools/machine_table.h"
#include "tools/machine_view.h"
#include "tools/svg.h"

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

struct picture {
    const struct orr_machine_desc *desc;
    struct machine_view view;
    struct column *columns; /* owned */
    unsigned ncolumns;
    unsigned *column_of; /* owned; per device */
    unsigned *levels;    /* owned; per direct link, how deep it hangs */
    unsigned *rows;      /* owned; per hub, 0 at the top */
    unsigned depth;      /* rows of hubs; 0: there are none */
    unsigned nlevels;
    double width, left; /* of what hangs together; left: where it begins */
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
    return p->left + PITCH * column;
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
        n += is_disk(&desc->hosts[h]) || is_memory(&desc->hosts[h]);
    return n;
}

/* Cores in a row of the processor's box. */
static unsigned cores_across(unsigned ncpu)
{
    return ncpu > 96 ? 32 : ncpu > 12 ? 16 : 12;
}

#define CORE 11

static double cores_height(const struct picture *p)
{
    unsigned across = cores_across(p->desc->ncpu);

    return p->desc->ncpu > 512 ? 0
                               : (p->desc->ncpu + across - 1) / across * CORE;
}

static double processor_width(const struct picture *p)
{
    return fmax(250, cores_across(p->desc->ncpu) * CORE + 24);
}

static int lay_out(struct picture *p)
{
    double top_row, wanted;
    double table =
        machine_table_fits(p->desc) ? machine_table_width(p->desc) : 0;
    int rc = make_columns(p);

    if (rc == 0)
        rc = make_rows(p);
    if (rc == 0)
        rc = make_levels(p);
    if (rc < 0)
        return rc;
    top_row = processor_width(p) + PITCH * count_others(p->desc);
    wanted = fmax(p->ncolumns * (double)PITCH, top_row);
    p->width = fmax(wanted, fmax(table, 480)) + 2 * MARGIN;
    p->left = MARGIN + (wanted - p->ncolumns * (double)PITCH) / 2;
    p->memory_y = TOP + 56 + cores_height(p) + GAP - 14;
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
    svg_text(p->out, MARGIN, 56, &faint, 0, text);
}

static void draw_processor(const struct picture *p)
{
    const struct orr_machine_desc *desc = p->desc;
    int main_host = orr_machine_desc_host(desc, "MAIN");
    const char *model =
        main_host < 0 ? NULL
                      : orr_host_desc_prop(&desc->hosts[main_host], "model");
    unsigned across = cores_across(desc->ncpu);
    double width = processor_width(p), height = 56 + cores_height(p);
    char text[TEXT];

    svg_line(p->out, MARGIN + width / 2, TOP + height, MARGIN + width / 2,
             p->memory_y, 3, WIRE);
    svg_box(p->out, MARGIN, TOP, width, height, 6, "#e8f1fb", "#3b6ea5");
    snprintf(text, sizeof(text), "%u CPU%s", desc->ncpu,
             desc->ncpu == 1 ? "" : "s");
    svg_text(p->out, MARGIN + 12, TOP + 20, &bold, 0, text);
    svg_text(p->out, MARGIN + 12, TOP + 37, &faint, (unsigned)(width / 7.0),
             model ? model : "model not stated");
    for (unsigned i = 0; cores_height(p) > 0 && i < desc->ncpu; i++)
        svg_box(p->out, MARGIN + 12 + i % across * (double)CORE,
                TOP + 46 + i / across * (double)CORE, CORE - 3, CORE - 3, 1.5,
                "#8db4dd", "none");
}

/* What carries data between main memory and another memory. */
static struct view_rate rate_to(const struct orr_machine_desc *desc,
                                unsigned host)
{
    unsigned ram = (unsigned)orr_machine_desc_host(desc, "RAM");
    struct view_rate rate = {0};

    for (int way = 0; way < 2; way++) {
        int r = way ? orr_machine_desc_route(desc, host, ram)
                    : orr_machine_desc_route(desc, ram, host);
        double least = INFINITY, latency = 0;

        for (unsigned i = 0; r >= 0 && i < desc->routes[r].nhops; i++) {
            const struct orr_link_desc *link =
                &desc->links[desc->routes[r].hops[i].link];

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
    double x = MARGIN + processor_width(p) + PITCH - BOX_WIDTH;

    for (unsigned h = 0; h < p->desc->nhosts; h++) {
        const struct orr_host_desc *host = &p->desc->hosts[h];
        double height = 40, y = TOP + 56 + cores_height(p) - height;
        struct view_rate rate, turned;

        if (!is_disk(host) && !is_memory(host))
            continue;
        rate = rate_to(p->desc, h);
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

static void draw_memory(const struct picture *p)
{
    double right = p->left + p->ncolumns * (double)PITCH - (PITCH - BOX_WIDTH);
    double top_right =
        MARGIN + processor_width(p) + PITCH * count_others(p->desc);
    double width = fmax(right, top_right) - MARGIN;
    int ram = orr_machine_desc_host(p->desc, "RAM");
    char text[TEXT] = "RAM";

    if (ram >= 0 && memory_gib(&p->desc->hosts[ram]) > 0)
        snprintf(text, sizeof(text), "RAM, %.4g GiB",
                 memory_gib(&p->desc->hosts[ram]));
    svg_box(p->out, MARGIN, p->memory_y, width, BAR_HEIGHT, 6, "#fdf3d8",
            "#b58900");
    svg_text(p->out, MARGIN + width / 2, p->memory_y + 19,
             &(struct svg_style){13, "middle", INK, 1, 0}, 0, text);
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
    draw_processor(p);
    draw_others(p);
    for (unsigned h = 0; h < p->view.nhubs; h++)
        draw_hub(p, h);
    for (unsigned c = 0; c < p->ncolumns; c++)
        draw_device(p, c);
    draw_memory(p);
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
    int rc = machine_view_init(desc, &p.view);

    if (rc < 0)
        return rc;
    rc = lay_out(&p);
    if (rc == 0)
        draw(&p);
    free(p.columns);
    free(p.column_of);
    free(p.levels);
    free(p.rows);
    machine_view_done(&p.view);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/table.c - see table.h. One thread. */
#include "tools/machine/table.h"
#include "tools/common/svg.h"

#include <math.h>

#define CELL_WIDTH 64
#define CELL       22
#define TITLES     64 /* above the first row */
#define MAX_NODES  24
#define TEXT       96

static const struct svg_style bold = {13, "start", "#1f2933", 1, 0};
static const struct svg_style above = {11, "end", "#66788a", 0, 0};
static const struct svg_style beside = {11, "start", "#66788a", 0, 0};
static const struct svg_style in_cell = {11, "end", "#1f2933", 0, 0};

static void bandwidth_node_text(const struct orr_machine_desc *desc,
                                unsigned node, char text[TEXT])
{
    if (node == 0)
        snprintf(text, TEXT, "RAM");
    else if (node <= desc->ncuda)
        snprintf(text, TEXT, "CUDA%u", node - 1);
    else
        snprintf(text, TEXT, "OpenCL%u", node - 1 - desc->ncuda);
}

/* Light to dark by the logarithm: bandwidths differ by orders of magnitude. */
static void cell_shade(double value, double low, double high, char colour[TEXT])
{
    double part = high > 1.02 * low ? log(value / low) / log(high / low) : 0.3;

    snprintf(colour, TEXT, "#%02x%02x%02x", (unsigned)(245 - 95 * part),
             (unsigned)(248 - 55 * part), (unsigned)(252 - 24 * part));
}

static void find_extremes(const struct orr_machine_desc *desc, double *low,
                          double *high)
{
    *low = INFINITY;
    *high = 0;
    for (unsigned i = 0; i < desc->nnodes * desc->nnodes; i++) {
        double value = desc->bandwidth[i];

        if (i % (desc->nnodes + 1) == 0 || !isfinite(value) || value <= 0)
            continue;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void draw_cell(FILE *out, double x, double y, double mb_per_s,
                      double low, double high)
{
    char text[TEXT], colour[TEXT];

    if (!isfinite(mb_per_s) || mb_per_s <= 0) {
        svg_text(out, x + CELL_WIDTH - 8, y + 15, &in_cell, 0, "?");
        return;
    }
    cell_shade(mb_per_s, low, high, colour);
    svg_box(out, x + 1, y + 1, CELL_WIDTH - 2, CELL - 2, 2, colour, "none");
    snprintf(text, sizeof(text), "%.3g", mb_per_s / 1000);
    svg_text(out, x + CELL_WIDTH - 8, y + 15, &in_cell, 0, text);
}

bool machine_table_fits(const struct orr_machine_desc *desc)
{
    return desc->nnodes > 1 && desc->nnodes <= MAX_NODES;
}

double machine_table_width(const struct orr_machine_desc *desc)
{
    return (desc->nnodes + 1.4) * CELL_WIDTH;
}

double machine_table_height(const struct orr_machine_desc *desc)
{
    return TITLES + desc->nnodes * (double)CELL;
}

void machine_table_draw(const struct orr_machine_desc *desc, double x, double y,
                        FILE *out)
{
    double x0 = x + 1.4 * CELL_WIDTH, y0 = y + TITLES, low, high;
    char text[TEXT];

    find_extremes(desc, &low, &high);
    snprintf(text, sizeof(text), "GB/s from (row) to (column), %s",
             desc->bus_measured ? "from the bus files" : "from the routes");
    svg_text(out, x, y0 - 30, &bold, 0, text);
    for (unsigned i = 0; i < desc->nnodes; i++) {
        bandwidth_node_text(desc, i, text);
        svg_text(out, x0 + (i + 1) * (double)CELL_WIDTH - 8, y0 - 6, &above, 8,
                 text);
        svg_text(out, x, y0 + i * (double)CELL + 15, &beside, 0, text);
        for (unsigned j = 0; j < desc->nnodes; j++)
            if (i != j)
                draw_cell(out, x0 + j * (double)CELL_WIDTH,
                          y0 + i * (double)CELL,
                          desc->bandwidth[i * desc->nnodes + j], low, high);
    }
}

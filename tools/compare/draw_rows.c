/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/draw_rows.c - a bar per row, machine below machine: for more bars
 * than have room beside each other.
 */
#include "tools/compare/draw_private.h"

#include "tools/common/tool.h"
#include "tools/compare/rows.h"

#include <stdlib.h>
#include <string.h>

/* Each machine has a line of its own above its bars where there are several. */
static size_t rows_per_machine(const struct comparison *c)
{
    return c->nschedulers + (c->nmachines > 1);
}

/* y of a bar's middle; the first one is on top. */
static double row_y(const struct comparison *c, size_t machine,
                     size_t scheduler)
{
    return (double)(machine * rows_per_machine(c) + (c->nmachines > 1) +
                    scheduler);
}

unsigned draw_rows_height(const struct comparison *c)
{
    size_t high = c->nmachines * rows_per_machine(c) * 17 + 130;

    return high < 20000 ? (unsigned)high : 20000; /* Cairo's limit is 32767 */
}

/* Above a machine's bars, or all of them, what its figures are. */
static void put_heads(FILE *pipe, const struct comparison *c)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        char text[320], *line;

        draw_caption(c, m, text, sizeof(text));
        line = c->nmachines == 1 ? tool_format("%s", text)
               : *text ? tool_format("%s: %s", c->machines[m], text)
                       : tool_format("%s: failed", c->machines[m]);
        fprintf(pipe, "set label %zu ", m + 1);
        plot_text(pipe, line ? line : c->machines[m]);
        if (c->nmachines == 1)
            fputs(" at graph 0,1 offset 0,2.8 font 'Sans,9' tc rgb '#666666'\n",
                  pipe);
        else
            fprintf(pipe, " at graph 0,first %.0f offset 0.5,0\n",
                    row_y(c, m, 0) - 1);
        free(line);
    }
}

static void plot_row_axes(FILE *pipe, const struct comparison *c,
                          const char *title, bool bounds)
{
    char *over = c->nmachines == 1
                     ? tool_format("%s on %s", title, c->machines[0])
                     : tool_format("%s", title);
    char axis[REPORT_TIME_MAX];

    fputs("set title ", pipe);
    plot_text(pipe, over ? over : title);
    fprintf(pipe,
            " offset 0,2.2\nset tmargin 6\nset xlabel '%s%s'\n"
            "set grid xtics lt 1 lc rgb '#dddddd'\nset key off\n"
            "set ytics scale 0 (",
            comparison_time_title(c, true, axis),
            bounds ? "; dashed: lower bound" : "");
    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t s = 0; s < c->nschedulers; s++) {
            fputs(m || s ? ", " : "", pipe);
            plot_tic(pipe, draw_name(c, s));
            fprintf(pipe, " %.0f", row_y(c, m, s));
        }
    /* Times stand on top as well: the picture may be long. */
    fprintf(pipe,
            ")\nset xrange [0:*]\nset link x2\nset x2tics nomirror out\n"
            "set border 7\nset yrange [%.1f:-0.7]\n"
            "set offsets 0,graph 0.08,0,0\n",
            (double)(c->nmachines * rows_per_machine(c)) - 0.3);
    put_heads(pipe, c);
}

enum part { BARS, LABELS, ENDS };

static void put_bar(FILE *pipe, const struct cell *cell, double unit_us, double y,
                    enum part part)
{
    double time = cell->spread.median / unit_us;

    if (part == BARS)
        fprintf(pipe, "0 %.0f 0 %.6f %.2f %.2f\n", y, time, y - 0.4, y + 0.4);
    else if (part == LABELS)
        fprintf(pipe, time < 100 ? "%.6f %.0f %.3g\n" : "%.6f %.0f %.0f\n",
                cell->spread.high / unit_us, y, time);
    else
        fprintf(pipe, "%.6f %.0f %.6f 0\n", cell->spread.low / unit_us, y,
                (cell->spread.high - cell->spread.low) / unit_us);
}

static void plot_row_bars(FILE *pipe, const struct comparison *c,
                          enum part part)
{
    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t s = 0; s < c->nschedulers; s++) {
            const struct cell *cell = comparison_cell(c, m, 0, s);

            if (cell_is_good(cell))
                put_bar(pipe, cell, comparison_unit(c).us, row_y(c, m, s), part);
        }
    fputs("e\n", pipe);
}

/* A dashed line along each machine's bars; true: there is one. */
static bool plot_row_bounds(FILE *pipe, const struct comparison *c)
{
    bool any = false;

    for (size_t m = 0; m < c->nmachines; m++) {
        double us = comparison_cell(c, m, 0, 0)->bound_us;

        if (!(us > 0))
            continue;
        any = true;
        if (pipe)
            fprintf(pipe, "%.6f %.1f 0 %.1f\n", us / comparison_unit(c).us,
                    row_y(c, m, 0) - 0.5, (double)c->nschedulers);
    }
    if (pipe)
        fputs("e\n", pipe);
    return any;
}

void draw_rows(struct plot *plot, const struct comparison *c, const char *title)
{
    FILE *pipe = plot->pipe;
    bool ends = c->options->repeat > 1, bounds = plot_row_bounds(NULL, c);

    plot_row_axes(pipe, c, title, bounds);
    fprintf(pipe,
            "plot '-' using 1:2:3:4:5:6 with boxxyerror fs solid 0.9 border lc "
            "rgb '#555555' lc rgb '%s', '-' using 1:2:3 with labels left "
            "offset 0.7,0 font 'Sans,9'",
            plot_shade(2));
    if (ends)
        fputs(", '-' using 1:2:3:4 with vectors heads size screen 0.004,90 "
              "lc rgb '#333333'",
              pipe);
    if (bounds)
        fputs(", '-' using 1:2:3:4 with vectors nohead lw 2 dt 2 lc rgb "
              "'#000000'",
              pipe);
    fputc('\n', pipe);
    plot_row_bars(pipe, c, BARS);
    plot_row_bars(pipe, c, LABELS);
    if (ends)
        plot_row_bars(pipe, c, ENDS);
    if (bounds)
        plot_row_bounds(pipe, c);
}

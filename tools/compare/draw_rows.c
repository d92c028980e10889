/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/draw_rows.c - a bar per row, machine below machine, the shortest first: for more
 * bars than have room beside each other.
 */
#include "tools/compare/draw_private.h"

#include "tools/common/tool.h"
#include "tools/compare/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_good(const struct comparison *c, size_t machine)
{
    size_t n = 0;

    for (size_t s = 0; s < c->nschedulers; s++)
        n += cell_is_good(comparison_cell(c, machine, 0, s));
    return n;
}

/* Each machine has a line of its own above its bars where there are several. */
static size_t rows_before(const struct comparison *c, size_t machine)
{
    size_t n = 0;

    for (size_t m = 0; m < machine; m++)
        n += count_good(c, m) + (c->nmachines > 1);
    return n;
}

/* y of a good cell's bar's middle; the first one is on top, the shortest of its machine. */
static double row_y(const struct comparison *c, size_t machine, size_t scheduler)
{
    const struct cell *cell = comparison_cell(c, machine, 0, scheduler);
    size_t place = 0;

    for (size_t s = 0; s < c->nschedulers; s++) {
        const struct cell *other = comparison_cell(c, machine, 0, s);

        place += cell_is_good(other) &&
                 (other->spread.median < cell->spread.median ||
                  (s < scheduler && !(other->spread.median > cell->spread.median)));
    }
    return (double)(rows_before(c, machine) + (c->nmachines > 1) + place);
}

unsigned draw_rows_height(const struct comparison *c)
{
    size_t high = rows_before(c, c->nmachines) * 17 + 150;

    return high < 20000 ? (unsigned)high : 20000; /* Cairo's limit is 32767 */
}

/* The least and the greatest end of any bar, in the table's unit. */
static void find_ends(const struct comparison *c, double *ret_least, double *ret_most)
{
    double unit = comparison_unit(c).us;

    *ret_least = (double)INFINITY;
    *ret_most = 0;
    for (size_t i = 0; i < c->ncells; i++) {
        if (!cell_is_good(&c->cells[i]))
            continue;
        *ret_least = fmin(*ret_least, c->cells[i].spread.low / unit);
        *ret_most = fmax(*ret_most, c->cells[i].spread.high / unit);
    }
}

/* Bars of so different lengths that the short ones would look alike: points on a logarithmic
 * axis, where the length of a bar would mean nothing. */
enum { MANY_TIMES = 20 };

bool draw_is_logarithmic(const struct comparison *c)
{
    double least, most;

    find_ends(c, &least, &most);
    return least > 0 && most > MANY_TIMES * least;
}

/* Above a machine's bars, or all of them, what its figures are, and how many failed. */
static void put_heads(FILE *pipe, const struct comparison *c)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        size_t failed = c->nschedulers - count_good(c, m);
        char text[320], count[64] = "", *line;

        draw_caption(c, m, text, sizeof(text));
        if (failed && failed < c->nschedulers)
            snprintf(count, sizeof(count), "; %zu of %zu failed", failed, c->nschedulers);
        line = c->nmachines == 1 ? tool_format("%s%s", text, count)
               : failed == c->nschedulers
                   ? tool_format("%s: all %zu failed", c->machines[m], failed)
                   : tool_format("%s: %s%s", c->machines[m], text, count);
        fprintf(pipe, "set label %zu ", m + 1);
        plot_text(pipe, line ? line : c->machines[m]);
        if (c->nmachines == 1)
            fputs(" at graph 0,1 offset 0,2.8 font 'Sans,9' tc rgb '#666666'\n", pipe);
        else
            fprintf(pipe, " at graph 0,first %zu offset 0.5,0\n", rows_before(c, m));
        free(line);
    }
}

static void plot_row_axes(FILE *pipe, const struct comparison *c,
                          const char *title, bool bounds)
{
    char *over = c->nmachines == 1
                     ? tool_format("%s on %s", title, c->machines[0])
                     : tool_format("%s", title);
    bool logarithmic = draw_is_logarithmic(c), any = false;
    double least, most;
    char axis[REPORT_TIME_MAX];

    find_ends(c, &least, &most);
    fputs("set title ", pipe);
    plot_text(pipe, over ? over : title);
    fprintf(pipe,
            " offset 0,2.2\nset tmargin 6\nset xlabel '%s%s%s%s'\n"
            "set grid xtics lt 1 lc rgb '#dddddd'\nset key off\n"
            "set ytics scale 0 (",
            comparison_time_title(c, true, axis), logarithmic ? ", logarithmic" : "",
            draw_whiskers(c), bounds ? "; dashed: lower bound" : "");
    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t s = 0; s < c->nschedulers; s++) {
            if (!cell_is_good(comparison_cell(c, m, 0, s)))
                continue;
            fputs(any ? ", " : "", pipe);
            plot_tic(pipe, draw_name(c, s));
            fprintf(pipe, " %.0f", row_y(c, m, s));
            any = true;
        }
    fputs(")\n", pipe);
    if (logarithmic)
        fprintf(pipe,
                "set logscale xx2\nset xrange [%.9g:%.9g]\nset x2range [%.9g:%.9g]\n",
                least / 1.2, most * 1.6, least / 1.2, most * 1.6);
    else
        fputs("set xrange [0:*]\nset link x2\nset offsets 0,graph 0.08,0,0\n", pipe);
    /* Times stand on top as well: the picture may be long. */
    fprintf(pipe,
            "set x2tics nomirror out\n"
            "set border 7\nset yrange [%.1f:-0.7]\n",
            (double)rows_before(c, c->nmachines) - 0.3);
    put_heads(pipe, c);
}

enum part { BARS, POINTS, LABELS, ENDS };

static void put_bar(FILE *pipe, const struct cell *cell, double unit_us, double y,
                    enum part part)
{
    double time = cell->spread.median / unit_us;

    if (part == BARS)
        fprintf(pipe, "0 %.0f 0 %.6f %.2f %.2f\n", y, time, y - 0.4, y + 0.4);
    else if (part == POINTS)
        fprintf(pipe, "%.6f %.0f\n", time, y);
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

        if (!(us > 0) || count_good(c, m) == 0)
            continue;
        any = true;
        if (pipe)
            fprintf(pipe, "%.6f %.1f 0 %zu\n", us / comparison_unit(c).us,
                    (double)(rows_before(c, m) + (c->nmachines > 1)) - 0.5, count_good(c, m));
    }
    if (pipe)
        fputs("e\n", pipe);
    return any;
}

void draw_rows(struct plot *plot, const struct comparison *c, const char *title)
{
    FILE *pipe = plot->pipe;
    bool ends = c->options->repeat > 1, bounds = plot_row_bounds(NULL, c);
    bool logarithmic = draw_is_logarithmic(c);

    plot_row_axes(pipe, c, title, bounds);
    if (logarithmic)
        fprintf(pipe, "plot '-' using 1:2 with points pt 7 ps 0.9 lc rgb '%s'", plot_colour(0));
    else
        fprintf(pipe,
                "plot '-' using 1:2:3:4:5:6 with boxxyerror fs solid 0.9 border lc "
                "rgb '#555555' lc rgb '%s'",
                plot_shade(2));
    fputs(", '-' using 1:2:3 with labels left offset 0.7,0 font 'Sans,9'", pipe);
    if (ends)
        fputs(", '-' using 1:2:3:4 with vectors heads size screen 0.004,90 "
              "lc rgb '#333333'",
              pipe);
    if (bounds)
        fputs(", '-' using 1:2:3:4 with vectors nohead lw 2 dt 2 lc rgb "
              "'#000000'",
              pipe);
    fputc('\n', pipe);
    plot_row_bars(pipe, c, logarithmic ? POINTS : BARS);
    plot_row_bars(pipe, c, LABELS);
    if (ends)
        plot_row_bars(pipe, c, ENDS);
    if (bounds)
        plot_row_bounds(pipe, c);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_bars.c - a group of bars per machine, one bar per scheduler. */
#include "tools/compare/draw_private.h"

#include "tools/common/tool.h"
#include "tools/compare/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line below the title for each machine; for all together where they are alike. */
static void put_captions(FILE *pipe, const struct comparison *c)
{
    char first[320], text[320];
    bool alike = true;

    draw_caption(c, 0, first, sizeof(first));
    for (size_t m = 1; m < c->nmachines; m++) {
        draw_caption(c, m, text, sizeof(text));
        alike = alike && !strcmp(first, text);
    }
    for (size_t m = 0; m < (alike ? 1 : c->nmachines); m++) {
        char *line;

        draw_caption(c, m, text, sizeof(text));
        line = alike ? tool_format("%s", text)
                     : tool_format("%s: %s", c->machines[m],
                                   *text ? text : "failed");
        fprintf(pipe, "set label %zu ", m + 1);
        plot_text(pipe, line ? line : text);
        fprintf(pipe,
                " at graph 0,1 offset 0,%.1f font 'Sans,9' tc rgb '#666666'\n",
                0.6 + 0.9 * (double)(alike ? 0 : c->nmachines - 1 - m));
        free(line);
    }
    if (!alike)
        fprintf(pipe, "set title offset 0,%.1f\nset tmargin %.1f\n",
                0.9 * (double)(c->nmachines - 1),
                2.8 + 0.9 * (double)(c->nmachines - 1));
}

static void plot_machine_axes(FILE *pipe, const struct comparison *c,
                              const char *title)
{
    char axis[REPORT_TIME_MAX];

    fprintf(pipe, "set title ");
    plot_text(pipe, title);
    fprintf(pipe,
            "\nset ylabel '%s%s'\n"
            "set grid ytics lt 1 lc rgb '#dddddd'\nset key outside right top "
            "Left reverse samplen 1.5\n",
            comparison_time_title(c, true, axis), draw_whiskers(c));
    put_captions(pipe, c);
    fputs("set xtics scale 0 (", pipe);
    for (size_t m = 0; m < c->nmachines; m++) {
        plot_tic(pipe, c->machines[m]);
        fprintf(pipe, " %zu%s", m, m + 1 < c->nmachines ? ", " : ")\n");
    }
    fprintf(pipe,
            "set xrange [-0.6:%.2f]\nset yrange [0:*]\n"
            "set offsets 0,0,graph 0.08,0\n",
            (double)c->nmachines - 0.4);
}

/* x of a bar's middle. */
static double middle(const struct comparison *c, size_t machine,
                     size_t scheduler)
{
    double wide = 0.86 / (double)c->nschedulers;

    return (double)machine +
           ((double)scheduler - (double)(c->nschedulers - 1) / 2) * wide;
}

/* The bars of a scheduler: x, ms; x, where its interval ends, and the label there; or
 * x, where its interval begins, and how far it goes. */
enum part { BARS, LABELS, ENDS };

static void plot_scheduler_bars(FILE *pipe, const struct comparison *c,
                                size_t scheduler, enum part part)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        const struct cell *cell = comparison_cell(c, m, 0, scheduler);
        double ms = cell->spread.median / comparison_unit(c).us, x = middle(c, m, scheduler);

        if (!cell_is_good(cell))
            continue;
        if (part == ENDS)
            fprintf(pipe, "%.4f %.6f 0 %.6f\n", x, cell->spread.low / comparison_unit(c).us,
                    (cell->spread.high - cell->spread.low) / comparison_unit(c).us);
        else if (part == LABELS)
            fprintf(pipe, ms < 100 ? "%.4f %.6f %.3g\n" : "%.4f %.6f %.0f\n", x,
                    cell->spread.high / comparison_unit(c).us, ms);
        else
            fprintf(pipe, "%.4f %.6f\n", x, ms);
    }
    fputs("e\n", pipe);
}

/* A dashed line across each machine's bars. */
static void plot_machine_bounds(FILE *pipe, const struct comparison *c)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        double us = comparison_cell(c, m, 0, 0)->bound_us;

        if (us > 0)
            fprintf(pipe, "%.4f %.6f 0.86 0\n", (double)m - 0.43, us / comparison_unit(c).us);
    }
    fputs("e\n", pipe);
}

static bool any_bound(const struct comparison *c)
{
    for (size_t m = 0; m < c->nmachines; m++)
        if (comparison_cell(c, m, 0, 0)->bound_us > 0)
            return true;
    return false;
}

void draw_bars(struct plot *plot, const struct comparison *c, const char *title)
{
    FILE *pipe = plot->pipe;
    size_t ns = c->nschedulers;
    bool ends = c->options->repeat > 1, bounds = any_bound(c);

    plot_machine_axes(pipe, c, title);
    fputs("plot ", pipe);
    for (size_t s = 0; s < ns; s++) {
        fprintf(pipe,
                "%s'-' using 1:2:(%.4f) with boxes fs %s border lc rgb "
                "'#555555' lc rgb '%s' title ",
                s ? ", " : "", 0.86 / (double)ns * 0.9, plot_fill(s),
                plot_colour(s));
        plot_text(pipe, draw_name(c, s));
        fprintf(pipe, ", '-' using 1:2:3 with labels "
                      "offset 0,0.6 font 'Sans,9' notitle");
        if (ends)
            fputs(", '-' using 1:2:3:4 with vectors heads size screen 0.004,90 "
                  "lc rgb '#333333' notitle",
                  pipe);
    }
    fputs(bounds ? ", '-' using 1:2:3:4 with vectors nohead lw 2 dt 2 lc rgb "
                   "'#000000' title 'lower bound'\n"
                 : "\n",
          pipe);
    for (size_t s = 0; s < ns; s++) {
        plot_scheduler_bars(pipe, c, s, BARS);
        plot_scheduler_bars(pipe, c, s, LABELS);
        if (ends)
            plot_scheduler_bars(pipe, c, s, ENDS);
    }
    if (bounds)
        plot_machine_bounds(pipe, c);
}

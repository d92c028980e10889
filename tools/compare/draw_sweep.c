/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_sweep.c - times over one or two values that are swept. */
#include "tools/compare/draw_private.h"

#include "tools/common/tool.h"
#include "tools/compare/rows.h"

#include <stdlib.h>
#include <string.h>

/* x of a value: the number, or its place where not all are numbers. */
static double axis_coordinate(const struct sweep_axis *axis, size_t i)
{
    return axis->numbers ? axis->numbers[i] : (double)i;
}

/* Tics are the values themselves. */
static void put_tics(FILE *pipe, char xy, const struct sweep_axis *axis,
                     bool as_numbers)
{
    fprintf(pipe, "set %clabel ", xy);
    plot_text(pipe, axis->target);
    fprintf(pipe, "\nset %ctics scale 0.5 (", xy);
    for (size_t i = 0; i < axis->n; i++) {
        fputs(i ? ", " : "", pipe);
        plot_tic(pipe, axis->values[i]);
        fprintf(pipe, " %.10g",
                as_numbers ? axis_coordinate(axis, i) : (double)i);
    }
    fputs(")\n", pipe);
}

static void put_title(FILE *pipe, const struct comparison *c, const char *title,
                      size_t machine)
{
    char caption[320], *line;

    draw_caption(c, machine, caption, sizeof(caption));
    line = tool_format("%s on %s", title, c->machines[machine]);
    fputs("set title ", pipe);
    plot_text(pipe, line ? line : title);
    fputs("\nset label 1 ", pipe);
    plot_text(pipe, caption);
    fputs(" at graph 0,1 offset 0,0.6 font 'Sans,9' tc rgb '#666666'\n", pipe);
    free(line);
}

/* ---- lines over one value ---- */

static void plot_sweep_line(FILE *pipe, const struct comparison *c,
                            size_t machine, size_t scheduler)
{
    for (size_t p = 0; p < c->sweep.npoints; p++) {
        const struct cell *cell = comparison_cell(c, machine, p, scheduler);

        if (cell_is_good(cell))
            fprintf(pipe, "%.10g %.6f %.6f %.6f\n",
                    axis_coordinate(&c->sweep.axes[0], p),
                    cell->spread.median / comparison_unit(c).us, cell->spread.low / comparison_unit(c).us,
                    cell->spread.high / comparison_unit(c).us);
        else
            fputs("\n", pipe);
    }
    fputs("e\n", pipe);
}

static void put_bound_line(FILE *pipe, const struct comparison *c,
                           size_t machine)
{
    for (size_t p = 0; p < c->sweep.npoints; p++) {
        double us = comparison_cell(c, machine, p, 0)->bound_us;

        if (us > 0)
            fprintf(pipe, "%.10g %.6f\n", axis_coordinate(&c->sweep.axes[0], p),
                    us / comparison_unit(c).us);
    }
    fputs("e\n", pipe);
}

static bool has_line(const struct comparison *c, size_t machine,
                     size_t scheduler)
{
    for (size_t p = 0; p < c->sweep.npoints; p++)
        if (cell_is_good(comparison_cell(c, machine, p, scheduler)))
            return true;
    return false;
}

static bool has_bound(const struct comparison *c, size_t machine)
{
    for (size_t p = 0; p < c->sweep.npoints; p++)
        if (comparison_cell(c, machine, p, 0)->bound_us > 0)
            return true;
    return false;
}

static void draw_panel(FILE *pipe, const struct comparison *c, size_t machine)
{
    const char *with = c->options->repeat > 1 ? "1:2:3:4 with yerrorlines"
                                              : "1:2 with linespoints";
    bool bound = has_bound(c, machine), any = false;

    fputs("plot ", pipe);
    for (size_t s = 0; s < c->nschedulers; s++) {
        if (!has_line(c, machine, s))
            continue;
        fprintf(pipe, "%s'-' using %s lw 2 dt %s pt %zu lc rgb '%s' title ",
                any ? ", " : "", with, plot_dash(s + s / PLOT_SERIES), 4 + s,
                plot_colour(s)); /* colours come again with other dashes */
        plot_text(pipe, draw_name(c, s));
        any = true;
    }
    if (bound)
        fprintf(pipe,
                "%s'-' using 1:2 with lines lw 2 dt 2 lc rgb '#000000' "
                "title 'lower bound'",
                any ? ", " : "");
    fputs(any || bound ? "\n" : "1/0 title 'failed'\n", pipe);
    for (size_t s = 0; s < c->nschedulers; s++)
        if (has_line(c, machine, s))
            plot_sweep_line(pipe, c, machine, s);
    if (bound)
        put_bound_line(pipe, c, machine);
}

void draw_lines(struct plot *plot, const struct comparison *c,
                const char *title)
{
    FILE *pipe = plot->pipe;
    char axis[REPORT_TIME_MAX];

    put_tics(pipe, 'x', &c->sweep.axes[0], true);
    fprintf(pipe,
            "set ylabel '%s%s'\nset yrange [0:*]\n"
            "set offsets graph 0.03, graph 0.03, graph 0.08, 0\n"
            "set grid ytics lt 1 lc rgb '#dddddd'\n"
            "set key outside right top Left reverse samplen 1.5\n",
            comparison_time_title(c, true, axis), draw_whiskers(c));
    fprintf(pipe, "set multiplot layout 1,%zu\n", c->nmachines);
    for (size_t m = 0; m < c->nmachines; m++) {
        put_title(pipe, c, title, m);
        draw_panel(pipe, c, m);
    }
    fputs("unset multiplot\n", pipe);
}

/* ---- a map over two ---- */

/* x, y, ms, and what stands in the cell: the best policy and its time. */
static void put_cells(FILE *pipe, const struct comparison *c, size_t machine)
{
    for (size_t p = 0; p < c->sweep.npoints; p++) {
        const struct cell *best = comparison_best(c, machine, p);
        char *text;
        double ms = best ? best->spread.median / comparison_unit(c).us : 0;

        text = !best ? tool_format("failed")
               : c->nschedulers > 1
                   ? tool_format(ms < 99.95 ? "%s\n%#.3g" : "%s\n%.0f",
                                 cell_policy(best), ms)
                   : tool_format(ms < 99.95 ? "%#.3g" : "%.0f", ms);
        fprintf(pipe, "%zu %zu ", sweep_index(&c->sweep, p, 0),
                sweep_index(&c->sweep, p, 1));
        if (best)
            fprintf(pipe, "%.6f ", ms);
        else
            fputs("NaN ", pipe);
        fputc('"', pipe);
        for (const char *at = text ? text : ""; *at; at++) {
            if (*at == '\n')
                fputs("\\n", pipe);
            else if (*at != '"' && *at != '\\')
                fputc(*at, pipe);
        }
        fputs("\"\n", pipe);
        free(text);
    }
    fputs("e\n", pipe);
}

static void put_palette(FILE *pipe)
{
    fputs("set palette defined (", pipe);
    for (size_t k = 0; k < PLOT_SHADES; k++)
        fprintf(pipe, "%s%zu '%s'", k ? ", " : "", k, plot_shade(k));
    fputs(")\n", pipe);
}

void draw_map(struct plot *plot, const struct comparison *c, const char *title)
{
    FILE *pipe = plot->pipe;
    char axis[REPORT_TIME_MAX];

    put_tics(pipe, 'x', &c->sweep.axes[0], false);
    put_tics(pipe, 'y', &c->sweep.axes[1], false);
    put_palette(pipe);
    fprintf(pipe,
            "set cblabel '%s%s' offset 1,0\nset rmargin 14\nunset key\n"
            "set xrange [-0.5:%.1f]\nset yrange [-0.5:%.1f]\n"
            "set multiplot layout 1,%zu\n",
            comparison_time_title(c, true, axis),
            c->nschedulers > 1 ? " of the best scheduler" : "",
            (double)c->sweep.axes[0].n - 0.5, (double)c->sweep.axes[1].n - 0.5,
            c->nmachines);
    for (size_t m = 0; m < c->nmachines; m++) {
        put_title(pipe, c, title, m);
        fputs("plot '-' using 1:2:(0.5):(0.5):3 with boxxyerror fill solid "
              "noborder fillcolor palette, "
              "'-' using 1:2:4 with labels font 'Sans,9' tc rgb '#000000'\n",
              pipe);
        put_cells(pipe, c, m);
        put_cells(pipe, c, m);
    }
    fputs("unset multiplot\n", pipe);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/plot.c - the picture of `orrery bound`: a bar per bound and one
 * for the schedule, whose end is a line through all of them. One thread.
 */
#include "tools/bound/bound.h"

#include "tools/common/plot.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bars of one colour. */
struct series {
    const char *title, *colour;
    bool (*has)(const struct bounds *b, unsigned row);
};

/* Rows are bounds in their order, then the schedule. */
enum { SCHEDULE = ORR_BOUND_NMETHODS, NROWS };

static double bar_value_ms(const struct bounds *b, unsigned row)
{
    if (row == SCHEDULE)
        return b->makespan_ms;
    return b->options->wanted[row] ? b->results[row].ms : (double)NAN;
}

static bool is_proved(const struct bounds *b, unsigned row)
{
    return row != SCHEDULE && bounds_is_proved(b, row);
}

static bool is_unproved(const struct bounds *b, unsigned row)
{
    return row != SCHEDULE && !bounds_is_proved(b, row);
}

static bool bar_is_schedule(const struct bounds *b, unsigned row)
{
    (void)b;
    return row == SCHEDULE;
}

static bool is_drawn(const struct bounds *b, const struct series *series,
                     unsigned row)
{
    return isfinite(bar_value_ms(b, row)) && series->has(b, row);
}

static bool series_is_empty(const struct bounds *b, const struct series *series)
{
    for (unsigned row = 0; row < NROWS; row++)
        if (is_drawn(b, series, row))
            return false;
    return true;
}

/* Bounds without value are named, and have no bar. Returns how many rows. */
static unsigned put_names(FILE *pipe, const struct bounds *b)
{
    unsigned n = 0;

    fputs("set ytics scale 0 (", pipe);
    for (unsigned row = 0; row < NROWS; row++) {
        bool value = isfinite(bar_value_ms(b, row));
        const char *name =
            row == SCHEDULE ? "schedule" : orr_bound_method_name(row);
        char *label = tool_format("%s%s", name, value ? "" : " (none)");

        if (row != SCHEDULE ? b->options->wanted[row] : value) {
            fputs(n ? ", " : "", pipe);
            plot_tic(pipe, label ? label : name);
            fprintf(pipe, " %u", n++);
        }
        free(label);
    }
    fputs(")\n", pipe);
    return n;
}

/* A box: middle, left, right, lower and upper end; and the label. */
static void plot_bound_bars(FILE *pipe, const struct bounds *b,
                            const struct series *series, bool labels)
{
    unsigned n = 0;

    for (unsigned row = 0; row < NROWS; row++) {
        double ms = bar_value_ms(b, row), shown = 1e3 * ms / bounds_unit(b).us;

        if (row != SCHEDULE && !b->options->wanted[row])
            continue;
        if (is_drawn(b, series, row) && labels)
            fprintf(pipe, shown < 100 ? "%.6f %u %.3g\n" : "%.6f %u %.0f\n", ms, n,
                    shown);
        else if (is_drawn(b, series, row))
            fprintf(pipe, "%.6f %u 0 %.6f %.2f %.2f\n", ms / 2, n, ms, n - 0.35,
                    n + 0.35);
        n++;
    }
    fputs("e\n", pipe);
}

static void plot_bounds(FILE *pipe, const struct bounds *b)
{
    static const char series_style[] =
        "'-' using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' title '%s', '-' "
        "using 1:2:3 with labels left offset 0.5,0 notitle";
    const struct series series[] = {
        {"proved", plot_colour(0), is_proved},
        {"not proved", plot_colour(7), is_unproved},
        {"schedule", plot_colour(1), bar_is_schedule}};
    const char *comma = "plot ";

    for (size_t s = 0; s < sizeof(series) / sizeof(*series); s++)
        if (!series_is_empty(b, &series[s])) {
            fprintf(pipe, "%s", comma);
            fprintf(pipe, series_style, series[s].colour, series[s].title);
            comma = ", ";
        }
    fputs("\n", pipe);
    for (size_t s = 0; s < sizeof(series) / sizeof(*series); s++)
        if (!series_is_empty(b, &series[s])) {
            plot_bound_bars(pipe, b, &series[s], false);
            plot_bound_bars(pipe, b, &series[s], true);
        }
}

int bounds_plot(const struct bounds *b)
{
    const char *path = b->options->plot;
    double most = 0;
    unsigned wanted = 0;
    struct plot plot;
    char *caption;

    for (unsigned row = 0; row < NROWS; row++) {
        if (isfinite(bar_value_ms(b, row)))
            most = fmax(most, bar_value_ms(b, row));
        wanted += row == SCHEDULE || b->options->wanted[row];
    }
    if (most <= 0) {
        tool_error("%s was not drawn: there is neither a bound nor a schedule",
                   path);
        return -1;
    }
    if (plot_begin_paper(&plot, path, 900, 150 + 34 * wanted) < 0)
        return -1;
    fputs("set title ", plot.pipe);
    plot_text(plot.pipe, b->what);
    caption = bounds_caption(b);
    fputs("\nset label 1 ", plot.pipe);
    plot_text(plot.pipe, caption ? caption : "");
    fputs(" at graph 0,1.02 font 'Sans,9' tc rgb '#666666'", plot.pipe);
    free(caption);
    putc('\n', plot.pipe);
    plot_time_tics(plot.pipe, 1.12 * most, true);
    fputs("set grid xtics lt 1 lc rgb '#dddddd'\n"
          "set style fill solid 0.9 noborder\n"
          "set key outside bottom center horizontal\n",
          plot.pipe);
    fprintf(plot.pipe, "set xrange [0:%.6f]\n", 1.12 * most);
    if (isfinite(b->makespan_ms))
        fprintf(plot.pipe,
                "set arrow from %.6f, graph 0 to %.6f, graph 1 nohead dt 2 lc "
                "rgb '#555555'\n",
                b->makespan_ms, b->makespan_ms);
    fprintf(plot.pipe, "set yrange [%.1f:-0.6]\n",
            put_names(plot.pipe, b) - 0.4);
    plot_bounds(plot.pipe, b);
    return plot_end(&plot);
}

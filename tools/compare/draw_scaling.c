/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_scaling.c - times over the number of nodes of clusters, both on scales by
 * doubling, beside what the first time would be divided by the nodes, and the bounds. */
#include "tools/compare/draw_private.h"

#include "tools/compare/rows.h"

static double time_of(const struct comparison *c, const struct cell *cell)
{
    return cell->spread.median / comparison_unit(c).us;
}

static void put_line(FILE *pipe, const struct comparison *c, size_t scheduler)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        const struct cell *cell = comparison_cell(c, m, 0, scheduler);

        if (cell_is_good(cell))
            fprintf(pipe, "%u %.6f\n", c->nodes[m], time_of(c, cell));
    }
    fputs("e\n", pipe);
}

/* From the best on the first cluster that ran. */
static void put_ideal(FILE *pipe, const struct comparison *c)
{
    const struct cell *first = comparison_best(c, 0, 0);

    for (size_t m = 0; first && m < c->nmachines; m++)
        fprintf(pipe, "%u %.6f\n", c->nodes[m],
                time_of(c, first) * c->nodes[0] / c->nodes[m]);
    fputs("e\n", pipe);
}

/* Returns whether there is any; with NULL it only says that. */
static bool put_bound(FILE *pipe, const struct comparison *c)
{
    bool any = false;

    for (size_t m = 0; m < c->nmachines; m++) {
        double us = comparison_cell(c, m, 0, 0)->bound_us;

        if (!(us > 0))
            continue;
        any = true;
        if (pipe)
            fprintf(pipe, "%u %.6f\n", c->nodes[m], us / comparison_unit(c).us);
    }
    if (pipe)
        fputs("e\n", pipe);
    return any;
}

static bool ran_somewhere(const struct comparison *c, size_t scheduler)
{
    for (size_t m = 0; m < c->nmachines; m++)
        if (cell_is_good(comparison_cell(c, m, 0, scheduler)))
            return true;
    return false;
}

static void put_axes(FILE *pipe, const struct comparison *c)
{
    char axis[REPORT_TIME_MAX];

    fprintf(pipe, "set xlabel 'nodes'\nset ylabel '%s'\nset logscale xy 2\nset xtics (",
            comparison_time_title(c, true, axis));
    for (size_t m = 0; m < c->nmachines; m++)
        fprintf(pipe, "%s%u", m ? ", " : "", c->nodes[m]);
    fputs(")\nset grid ytics lt 1 lc rgb '#dddddd'\n"
          "set offsets graph 0.03, graph 0.03, graph 0.08, graph 0.08\n"
          "set key outside right top Left reverse samplen 1.5\n",
          pipe);
}

void draw_scaling(struct plot *plot, const struct comparison *c, const char *title)
{
    FILE *pipe = plot->pipe;
    bool ideal = comparison_best(c, 0, 0), bound = put_bound(NULL, c);

    put_axes(pipe, c);
    fputs("set title ", pipe);
    plot_text(pipe, title);
    fputs("\nplot ", pipe);
    for (size_t s = 0; s < c->nschedulers; s++) {
        if (!ran_somewhere(c, s))
            continue;
        fprintf(pipe, "'-' using 1:2 with linespoints lw 2 dt %s pt %zu lc rgb '%s' title ",
                plot_dash(s + s / PLOT_SERIES), 4 + s, plot_colour(s));
        plot_text(pipe, draw_name(c, s));
        fputs(", ", pipe);
    }
    if (bound)
        fputs("'-' using 1:2 with linespoints lw 2 dt 4 pt 2 lc rgb '#808080' title 'lower bound', ",
              pipe);
    fputs(ideal ? "'-' using 1:2 with lines lw 2 dt 2 lc rgb '#000000' title 'ideal'\n"
                : "1/0 notitle\n",
          pipe);
    for (size_t s = 0; s < c->nschedulers; s++)
        if (ran_somewhere(c, s))
            put_line(pipe, c, s);
    if (bound)
        put_bound(pipe, c);
    if (ideal)
        put_ideal(pipe, c);
}

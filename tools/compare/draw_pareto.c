/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_pareto.c - energy over time, and the front of what nothing beats in both. */
#include "tools/compare/draw.h"

#include "tools/common/tool.h"
#include "tools/compare/draw_private.h"
#include "tools/compare/rows.h"

#include <math.h>
#include <stdlib.h>

static bool has_point(const struct cell *cell)
{
    return cell_is_good(cell) && !isnan(cell->energy_j);
}

/* "dmdas on moon, cuda.count = 4": of what there is more than one. */
static char *point_name(const struct comparison *c, const struct cell *cell)
{
    size_t line = (size_t)(cell - c->cells) / c->nschedulers;
    char *where = comparison_where(c, line / c->sweep.npoints, line % c->sweep.npoints), *name;

    if (c->nmachines * c->sweep.npoints == 1)
        name = tool_format("%s", cell_policy(cell));
    else
        name = tool_format("%s on %s", cell_policy(cell), where ? where : cell->machine);
    free(where);
    return name;
}

/* Points of one kind: on the front, or not. */
static void put_points(FILE *pipe, const struct comparison *c, bool front)
{
    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];

        if (has_point(cell) && cell_is_pareto(c, cell) == front)
            fprintf(pipe, "%.9g %.9g\n", cell->spread.median / comparison_unit(c).us,
                    cell->energy_j);
    }
    fputs("e\n", pipe);
}

/* Names of the front alone: others would lie on each other. */
static void put_names(FILE *pipe, const struct comparison *c)
{
    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];
        char *name;

        if (!has_point(cell) || !cell_is_pareto(c, cell))
            continue;
        name = point_name(c, cell);
        fprintf(pipe, "%.9g %.9g ", cell->spread.median / comparison_unit(c).us, cell->energy_j);
        plot_text(pipe, name ? name : "");
        fputc('\n', pipe);
        free(name);
    }
    fputs("e\n", pipe);
}

int draw_pareto(const struct comparison *c)
{
    char axis[REPORT_TIME_MAX];
    struct plot plot;

    if (plot_begin_paper(&plot, c->options->pareto, 760, 480) < 0)
        return -1;
    fprintf(plot.pipe,
            "set key top right\nset xlabel '%s'\nset ylabel 'energy (J)'\n"
            "set title 'Time and energy: filled points are beaten by nothing in both'\n"
            "set grid lc rgb '#dddddd'\nset offsets graph 0.05,graph 0.3,graph 0.1,graph 0.1\n"
            "plot '-' using 1:2 with points pt 6 ps 1.2 lc rgb '#777777' notitle, "
            "'-' using 1:2 with points pt 7 ps 1.4 lc rgb '%s' notitle, "
            "'-' using 1:2:3 with labels noenhanced left offset 1,0.5 font 'Sans,9' notitle\n",
            comparison_time_title(c, true, axis), plot_colour(0));
    put_points(plot.pipe, c, false);
    put_points(plot.pipe, c, true);
    put_names(plot.pipe, c);
    return plot_end(&plot);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/draw_pareto.c - energy over time, and the front of what nothing beats in both. */
#include "tools/compare/draw.h"

#include "tools/common/tool.h"
#include "tools/compare/draw_private.h"
#include "tools/compare/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_point(const struct cell *cell)
{
    return cell_is_good(cell) && !isnan(cell->energy_j);
}

/* Whether no other one takes less of both: of all machines and values, which are in one picture,
 * where the table's stars are of rivals. */
static bool is_front(const struct comparison *c, const struct cell *cell)
{
    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *other = &c->cells[i];

        if (has_point(other) && other->spread.median <= cell->spread.median &&
            other->energy_j <= cell->energy_j &&
            (other->spread.median < cell->spread.median || other->energy_j < cell->energy_j))
            return false;
    }
    return true;
}

/* "dmdas on moon, cuda.count = 4": of what there is more than one. */
static char *point_name(const struct comparison *c, const struct cell *cell)
{
    size_t line = (size_t)(cell - c->cells) / c->nschedulers;
    size_t machine = line / c->sweep.npoints, point = line % c->sweep.npoints;
    char *values = c->sweep.naxes ? sweep_name(&c->sweep, point) : NULL;
    char *name = tool_format("%s%s%s%s%s", cell_policy(cell), c->nmachines > 1 ? " on " : "",
                             c->nmachines > 1 ? c->machines[machine] : "", values ? ", " : "",
                             values ? values : "");

    free(values);
    return name;
}

/* The next one of the front by its time, behind `before` (NULL: the first); NULL: none. */
static const struct cell *next_of_front(const struct comparison *c, const struct cell *before)
{
    const struct cell *next = NULL;

    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];
        double us = cell->spread.median;

        if (!has_point(cell) || !is_front(c, cell) ||
            (before && (us < before->spread.median ||
                        (!(us > before->spread.median) && cell <= before))))
            continue;
        if (!next || us < next->spread.median)
            next = cell;
    }
    return next;
}

struct range {
    double least, most;
};

static struct range range_of(const struct comparison *c, bool energy)
{
    struct range range = {(double)INFINITY, 0};

    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];
        double value = energy ? cell->energy_j
                              : cell->spread.median / comparison_unit(c).us;

        if (!has_point(cell))
            continue;
        range.least = fmin(range.least, value);
        range.most = fmax(range.most, value);
    }
    return range;
}

/* Whether values are of so different sizes that the small ones would lie on each other. */
static bool is_wide(struct range range)
{
    return range.least > 0 && range.most > 4 * range.least;
}

static void put_point(FILE *pipe, const struct comparison *c, const struct cell *cell,
                      unsigned number)
{
    fprintf(pipe, "%.9g %.9g %u\n", cell->spread.median / comparison_unit(c).us, cell->energy_j,
            number);
}

/* The front has numbers, whose names stand beside the picture: points may be close. */
static void put_plots(FILE *pipe, const struct comparison *c)
{
    unsigned number = 0;

    fputs("plot '-' using 1:2 with points pt 6 ps 1.1 lc rgb '#777777' title 'others'", pipe);
    for (const struct cell *cell = NULL; (cell = next_of_front(c, cell));) {
        char *name = point_name(c, cell), *title = NULL;

        title = tool_format("%u  %s", ++number, name ? name : "");
        fprintf(pipe, ", '-' using 1:2 with points pt 7 ps 1.4 lc rgb '%s' title ", plot_colour(0));
        plot_text(pipe, title ? title : "");
        free(title);
        free(name);
    }
    for (int below = 0; below < 2; below++)
        fprintf(
            pipe,
            ", '-' using 1:2:3 with labels center offset 0,%s font 'Sans,9' notitle",
            below ? "-0.9" : "0.9");
    fputc('\n', pipe);
    for (size_t i = 0; i < c->ncells; i++)
        if (has_point(&c->cells[i]) && !is_front(c, &c->cells[i]))
            put_point(pipe, c, &c->cells[i], 0);
    fputs("e\n", pipe);
    for (const struct cell *cell = NULL; (cell = next_of_front(c, cell));) {
        put_point(pipe, c, cell, 0);
        fputs("e\n", pipe);
    }
    /* Above and below in turn: neighbours may be close. */
    for (unsigned below = 0; below < 2; below++) {
        number = 0;
        for (const struct cell *cell = NULL; (cell = next_of_front(c, cell));)
            if (++number % 2 != below)
                put_point(pipe, c, cell, number);
        fputs("e\n", pipe);
    }
}

int draw_pareto(const struct comparison *c)
{
    struct range time = range_of(c, false), energy = range_of(c, true);
    char axis[REPORT_TIME_MAX];
    struct plot plot;

    if (plot_begin_paper(&plot, c->options->pareto, 860, 480) < 0)
        return -1;
    fprintf(
        plot.pipe,
        "set key outside right top Left reverse noenhanced\nset xlabel '%s%s'\n"
        "set ylabel 'energy (J)%s'\n"
        "set title 'Time and energy: nothing takes less of both than the filled points'\n"
        "set grid lc rgb '#dddddd'\nset offsets graph 0.05,graph 0.05,graph 0.08,graph 0.05\n",
        comparison_time_title(c, true, axis),
        is_wide(time) ? ", logarithmic" : "",
        is_wide(energy) ? ", logarithmic" : "");
    if (is_wide(time))
        plot_log_axis(plot.pipe, 'x', time.least, time.most);
    if (is_wide(energy))
        plot_log_axis(plot.pipe, 'y', energy.least, energy.most);
    put_plots(plot.pipe, c);
    return plot_end(&plot);
}

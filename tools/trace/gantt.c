/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/gantt.c - see gantt.h. One thread. */
#include "tools/trace/gantt.h"

#include "tools/common/plot.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 1400 /* pixels */

static double span(const struct paje_chart *chart)
{
    return chart->end > chart->start ? chart->end - chart->start : 1.0;
}

/* Whether most boxes are wide enough for an outline. */
static bool has_room(const struct paje_chart *chart)
{
    double least = 8 * span(chart) / WIDTH;
    size_t wide = 0;

    for (size_t b = 0; b < chart->nboxes; b++)
        wide += chart->boxes[b].end - chart->boxes[b].start > least;
    return 2 * wide > chart->nboxes;
}

/* Names of the rows with the share of time that each was busy. */
static void set_rows(struct plot *plot, const struct paje_chart *chart)
{
    fprintf(plot->pipe, "set ytics scale 0 (");
    for (size_t r = 0; r < chart->nrows; r++) {
        char name[96];
        double busy = 0;

        for (size_t b = 0; b < chart->nboxes; b++)
            if (chart->boxes[b].row == r)
                busy += chart->boxes[b].end - chart->boxes[b].start;
        snprintf(name, sizeof(name), "%s  %3.0f %%", chart->rows[r].name,
                 100 * busy / span(chart));
        plot_tic(plot->pipe, name);
        fprintf(plot->pipe, " %zu%s", r, r + 1 < chart->nrows ? ", " : ")\n");
    }
}

/* The boxes of one kernel; gnuplot needs at least one point, so an invisible
 * one stands outside the picture. */
static void write_boxes(struct plot *plot, const struct paje_chart *chart,
                        size_t kernel)
{
    fputs("-1 -5 -1 -1 -5 -5\n", plot->pipe);
    for (size_t b = 0; b < chart->nboxes; b++) {
        const struct paje_box *box = &chart->boxes[b];

        if (box->kernel == kernel)
            fprintf(plot->pipe, "%.6f %zu %.6f %.6f %.2f %.2f\n",
                    box->start - chart->start, box->row,
                    box->start - chart->start, box->end - chart->start,
                    (double)box->row - 0.4, (double)box->row + 0.4);
    }
    fputs("e\n", plot->pipe);
}

int gantt_draw(const struct paje_chart *chart, const char *path,
               const char *title)
{
    struct plot plot;
    size_t rows = chart->nrows ? chart->nrows : 1;
    unsigned height = 150 + 26 * (unsigned)(rows < 80 ? rows : 80);

    if (plot_begin(&plot, path, WIDTH, height) < 0)
        return -1;
    fputs("set title ", plot.pipe);
    plot_text(plot.pipe, title);
    fprintf(plot.pipe,
            "\nset xlabel 'time since the first task (ms)'\nset border 1\n"
            "set style fill solid 1.0 %s\n"
            "set key outside right top Left reverse samplen 1.5\n"
            "set grid x front lc rgb '#bbbbbb'\n"
            "set xrange [0:%.6f]\nset yrange [%.2f:-0.6]\n",
            /* Outlines separate neighbours of one kernel while there is room;
             * in their own colour they hide the seams of smoothed edges. */
            has_room(chart) ? "border lc rgb '#ffffff'" : "border", span(chart),
            (double)rows - 0.4);
    set_rows(&plot, chart);
    fputs("plot ", plot.pipe);
    for (size_t k = 0; k < chart->nkernels; k++) {
        fprintf(plot.pipe,
                "'-' using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' lw 0.4 "
                "title ",
                plot_colour(k));
        plot_text(plot.pipe, chart->kernels[k]);
        fputs(", ", plot.pipe);
    }
    fputs("NaN notitle\n", plot.pipe);
    for (size_t k = 0; k < chart->nkernels; k++)
        write_boxes(&plot, chart, k);
    return plot_end(&plot);
}

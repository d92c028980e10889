/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/gantt.c - see gantt.h. Two panels with one axis of time: rows of
 * workers and links, and below them the memory used. One thread.
 */
#include "tools/trace/gantt.h"

#include "core/base/plural.h"
#include "tools/common/plot.h"
#include "tools/common/tool.h"
#include "tools/trace/gantt_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1400, /* pixels, as all below */
    LETTER = 9,   /* width of a letter of labels and legends, roughly */
    TITLE = 40,
    AXIS = 40,           /* numbers below a panel, … */
    TEXT = 30,           /* … and what they are, below the lower one */
    MEMORY = 170,        /* height of the lower panel without its axis */
    CURVES = PLOT_SERIES /* of nodes, at most: all look different */
};

_Static_assert((int)PAJE_COPY_KINDS <= (int)PLOT_SORTS, "a colour for each");

/* A picture that is being drawn. */
struct gantt {
    const struct paje_chart *chart;
    struct gantt_rows rows;
    struct plot plot;
    double span;                /* ms */
    unsigned height, rows_high; /* pixels: all, the upper panel */
    unsigned left, right;       /* beside the panels */
    double *drawn;              /* ms, per row: see write_box */
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* --- layout --- */

static unsigned row_height(size_t n)
{
    if (n <= 40)
        return 26;
    return n <= 80 ? 18 : 14;
}

/* Letters of UTF-8 text. */
static unsigned count_letters(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void gantt_set_sizes(struct gantt *gantt)
{
    const struct gantt_rows *rows = &gantt->rows;
    unsigned label = 8, legend = 12;

    for (size_t r = 0; r < rows->n; r++)
        if (count_letters(rows->rows[r].label) > label)
            label = count_letters(rows->rows[r].label);
    for (size_t s = 0; s < rows->nseries; s++)
        if (count_letters(rows->series[s]) > legend)
            legend = count_letters(rows->series[s]);
    gantt->left = 20 + LETTER * label;
    gantt->right = 60 + LETTER * legend;
    gantt->rows_high =
        row_height(rows->n) * (unsigned)(rows->n + 1 > 5 ? rows->n + 1 : 5);
    /* The legend stands beside the rows. */
    if (gantt->rows_high < 18 * (rows->nseries + PAJE_COPY_KINDS))
        gantt->rows_high = 18 * (unsigned)(rows->nseries + PAJE_COPY_KINDS);
    gantt->height = TITLE + gantt->rows_high + AXIS + TEXT;
}

/* A panel between these lines, counted from the top. */
static void set_panel(const struct gantt *gantt, unsigned top, unsigned bottom)
{
    double width = WIDTH, height = gantt->height;

    fprintf(gantt->plot.pipe,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
            "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
            gantt->left / width, 1 - gantt->right / width, 1 - top / height,
            1 - bottom / height);
    fprintf(gantt->plot.pipe,
            "set key at screen %.6f, screen %.6f left top Left reverse "
            "samplen 1.5\n",
            1 - (gantt->right - 8) / width, 1 - top / height);
}

/* --- rows --- */

/* Rows of copies stand a little below those of workers. */
static double gantt_row_position(const struct gantt *gantt, size_t row)
{
    return (double)row + (row < gantt->rows.nworkers ? 0 : 0.5);
}

static void set_labels(const struct gantt *gantt)
{
    FILE *to = gantt->plot.pipe;

    fputs("set ytics scale 0 (", to);
    for (size_t r = 0; r < gantt->rows.n; r++) {
        plot_tic(to, gantt->rows.rows[r].label);
        fprintf(to, " %.1f%s", gantt_row_position(gantt, r),
                r + 1 < gantt->rows.n ? ", " : "");
    }
    fputs(")\n", to);
}

/* Whether most boxes are wide enough for an outline. */
static bool gantt_boxes_have_room(const struct gantt *gantt)
{
    const struct paje_chart *chart = gantt->chart;
    double narrow = 8 * gantt->span / WIDTH;
    size_t wide = 0;

    for (size_t b = 0; b < chart->nboxes; b++)
        wide += chart->boxes[b].end - chart->boxes[b].start > narrow;
    return 2 * wide > chart->nboxes;
}

/* One that ends within the same quarter of a pixel as what its series has drawn
 * in the row would not be seen. */
static void write_box(struct gantt *gantt, size_t row, double start, double end,
                      double high)
{
    double from = start - gantt->chart->start, to = end - gantt->chart->start;
    double y = gantt_row_position(gantt, row);

    if (to < gantt->drawn[row])
        return;
    gantt->drawn[row] = to + gantt->span / WIDTH / 4;
    fprintf(gantt->plot.pipe, "%.6f %.1f %.6f %.6f %.2f %.2f\n", from, y, from,
            to, y - high, y + high);
}

/* gnuplot needs at least one point, so an invisible one stands outside the
 * picture. */
static void begin_boxes(struct gantt *gantt)
{
    for (size_t r = 0; r < gantt->rows.n; r++)
        gantt->drawn[r] = -1;
    fputs("-1 -5 -1 -1 -5 -5\n", gantt->plot.pipe);
}

static void write_series(struct gantt *gantt, size_t series)
{
    const struct paje_chart *chart = gantt->chart;

    begin_boxes(gantt);
    for (size_t b = 0; b < chart->nboxes; b++) {
        const struct paje_box *box = &chart->boxes[b];

        if (gantt->rows.kernel[box->kernel] == series)
            write_box(gantt, gantt->rows.worker[box->row], box->start, box->end,
                      0.4);
    }
    fputs("e\n", gantt->plot.pipe);
}

static void gantt_write_copies(struct gantt *gantt, unsigned kind)
{
    const struct paje_chart *chart = gantt->chart;

    begin_boxes(gantt);
    for (size_t c = 0; c < chart->ncopies; c++)
        if (chart->copies[c].kind == kind)
            write_box(gantt, gantt->rows.copy[c], chart->copies[c].start,
                      chart->copies[c].end, 0.3);
    fputs("e\n", gantt->plot.pipe);
}

static bool has_kind(const struct paje_chart *chart, unsigned kind)
{
    for (size_t c = 0; c < chart->ncopies; c++)
        if (chart->copies[c].kind == kind)
            return true;
    return false;
}

static void plot_rows(struct gantt *gantt)
{
    FILE *to = gantt->plot.pipe;

    fputs("plot ", to);
    for (size_t s = 0; s < gantt->rows.nseries; s++) {
        fprintf(to,
                "'-' using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' lw 0.4 "
                "title ",
                gantt->rows.colours[s]);
        plot_text(to, gantt->rows.series[s]);
        fputs(", ", to);
    }
    /* Several may be under way at once. */
    for (unsigned k = 0; k < PAJE_COPY_KINDS; k++)
        if (has_kind(gantt->chart, k))
            fprintf(to,
                    "'-' using 1:2:3:4:5:6 with boxxyerror fillstyle "
                    "transparent solid %g noborder lc rgb '%s' title '%s', ",
                    PLOT_SORT_OPACITY, plot_sort(k), paje_copy_kind(k));
    fputs("NaN notitle\n", to);
    for (size_t s = 0; s < gantt->rows.nseries; s++)
        write_series(gantt, s);
    for (unsigned k = 0; k < PAJE_COPY_KINDS; k++)
        if (has_kind(gantt->chart, k))
            gantt_write_copies(gantt, k);
}

static void name_time(const struct gantt *gantt)
{
    fprintf(gantt->plot.pipe,
            "set xlabel 'time since the first task or transfer (%s)'\n",
            plot_time_tics(gantt->plot.pipe, gantt->span, false));
}

static void draw_rows(struct gantt *gantt, const char *title)
{
    FILE *to = gantt->plot.pipe;

    set_panel(gantt, TITLE, TITLE + gantt->rows_high);
    fputs("set title ", to);
    plot_text(to, title);
    fprintf(to,
            "\nset border 1\nset style fill solid 1.0 %s\n"
            "set grid x front lc rgb '#bbbbbb'\n"
            "set xrange [0:%.6f]\nset yrange [%.2f:-0.6]\n",
            /* Outlines separate neighbours of one kernel while there is room;
             * in their own colour they hide the seams of smoothed edges. */
            gantt_boxes_have_room(gantt) ? "border lc rgb '#ffffff'" : "border",
            gantt->span,
            gantt_row_position(gantt, gantt->rows.n ? gantt->rows.n - 1 : 0) +
                0.6);
    if (gantt->rows.n)
        set_labels(gantt);
    else
        fputs("unset ytics\n", to);
    plot_rows(gantt);
}

/* --- memory --- */

/* The nodes with the highest peaks, in their order. */
static size_t choose_nodes_by_peak(const struct paje_chart *chart, size_t *ret)
{
    size_t n = 0;

    for (size_t node = 0; node < chart->nnodes; node++) {
        size_t higher = 0;

        for (size_t other = 0; other < chart->nnodes; other++)
            higher += chart->nodes[other].peak > chart->nodes[node].peak ||
                      (other < node &&
                       chart->nodes[other].peak >= chart->nodes[node].peak);
        if (chart->nodes[node].peak > 0 && higher < CURVES)
            ret[n++] = node;
    }
    return n;
}

/* From the value that it has when the picture begins. */
static void write_curve(const struct gantt *gantt, const struct paje_node *node)
{
    FILE *to = gantt->plot.pipe;
    double value = 0, drawn = 0;
    size_t p = 0;

    while (p < node->npoints && node->points[p].time <= gantt->chart->start)
        value = node->points[p++].value;
    fprintf(to, "0 %.6f\n", value);
    for (; p < node->npoints; p++) {
        double time =
            lesser(node->points[p].time - gantt->chart->start, gantt->span);

        if (time >= gantt->span)
            break;
        value = node->points[p].value;
        if (time >= drawn)
            fprintf(to, "%.6f %.6f\n", time, value);
        drawn = time;
    }
    fprintf(to, "%.6f %.6f\ne\n", gantt->span, value);
}

static void draw_memory(struct gantt *gantt, const size_t *nodes, size_t n)
{
    const struct paje_chart *chart = gantt->chart;
    unsigned top = TITLE + gantt->rows_high + AXIS;
    size_t used = 0;
    FILE *to = gantt->plot.pipe;

    for (size_t node = 0; node < chart->nnodes; node++)
        used += chart->nodes[node].peak > 0;
    set_panel(gantt, top, top + MEMORY);
    name_time(gantt);
    fputs("unset title\nset border 3\nset ytics auto scale 1\n"
          "set yrange [0:*]\nset ylabel 'memory used (MB)'\n"
          "set grid xtics ytics back lc rgb '#dddddd'\nplot ",
          to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "'-' using 1:2 with steps lw 1.5 lc rgb '%s' dt %s title ",
                plot_colour(i), plot_dash(i));
        plot_text(to, chart->nodes[nodes[i]].name);
        fputs(", ", to);
    }
    if (used > n)
        fprintf(to, "NaN with points pt 0 title '%zu other%s'\n", used - n,
                orr_plural(used - n));
    else
        fputs("NaN notitle\n", to);
    for (size_t i = 0; i < n; i++)
        write_curve(gantt, &chart->nodes[nodes[i]]);
}

/* --- all --- */

static int gantt_write(struct gantt *gantt, const char *path, const char *title)
{
    size_t nodes[CURVES];
    size_t n = choose_nodes_by_peak(gantt->chart, nodes);

    gantt_set_sizes(gantt);
    if (n > 0)
        gantt->height += MEMORY + AXIS;
    if (plot_begin(&gantt->plot, path, WIDTH, gantt->height) < 0)
        return -1;
    fputs("set encoding utf8\nset multiplot\n", gantt->plot.pipe);
    if (n == 0)
        name_time(gantt);
    draw_rows(gantt, title);
    if (n > 0)
        draw_memory(gantt, nodes, n);
    fputs("unset multiplot\n", gantt->plot.pipe);
    return plot_end(&gantt->plot);
}

int gantt_draw(const struct paje_chart *chart, const char *path,
               const char *title)
{
    struct gantt gantt = {
        .chart = chart,
        .span = chart->end > chart->start ? chart->end - chart->start : 1.0};
    int result = gantt_rows_init(chart, &gantt.rows);

    if (result == 0)
        gantt.drawn = calloc(gantt.rows.n + 1, sizeof(*gantt.drawn));
    if (result < 0 || !gantt.drawn) {
        tool_error("%s cannot be drawn: out of memory", path);
        result = -1;
    } else {
        result = gantt_write(&gantt, path, title);
    }
    free(gantt.drawn);
    gantt_rows_done(&gantt.rows);
    return result;
}

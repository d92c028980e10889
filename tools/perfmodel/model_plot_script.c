/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_plot_script.c - the commands for gnuplot, see
 * model_plot.h. Labels of the axes carry their units ("200 µs", "4 MiB"), so
 * that sizes and times of any magnitude are legible. One thread.
 */
#include "tools/common/plot.h"
#include "tools/perfmodel/model_plot.h"
#include "tools/perfmodel/perfmodel.h"

#include <math.h>
#include <string.h>

/* Eight colours that the colour-blind can distinguish, without the yellow,
 * which is weak on white: M. Okabe, K. Ito, Color universal design (2008). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73",
                                      "#cc79a7", "#e69f00", "#56b4e9",
                                      "#444444"};
/* gnuplot's: disc, square, triangles, diamond, and the same hollow. */
static const int markers[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define POINTS_TEXT (PERFMODEL_ORIGINS_TEXT + 32)

struct range {
    double low, high;
};

/* -- data -- */

static bool value_fits_log_axis(double value)
{
    return isfinite(value) && value > 0;
}

static void count_origins(const struct model_plot_line *line,
                          struct perfmodel_origins *origins)
{
    for (unsigned i = 0; i < line->n; i++)
        origins->n[line->at[i].origin]++;
}

/* "measured, 95 % interval" or "derived, not measured": what points are. */
static const char *points_text(const struct perfmodel_origins *origins,
                               char ret[POINTS_TEXT])
{
    char names[PERFMODEL_ORIGINS_TEXT];

    snprintf(ret, POINTS_TEXT, "%s, %s", perfmodel_origins_text(origins, names),
             orr_origin_is_measured(perfmodel_origins_least(origins))
                 ? "95 % interval"
                 : "not measured");
    return ret;
}

static void write_block(const struct model_plot_line *line, const char *what,
                        const char *label, FILE *file)
{
    if (line->n == 0)
        return;
    fprintf(file, "# %s: %s\n# size value low high samples\n", label, what);
    for (unsigned i = 0; i < line->n; i++) {
        const struct model_plot_point *p = &line->at[i];

        fprintf(file, "%.17g %.9g %.9g %.9g %.0f\n", p->x, p->y,
                value_fits_log_axis(p->lo) ? p->lo : p->y,
                value_fits_log_axis(p->hi) ? p->hi : p->y, p->n);
    }
    fputs("\n\n", file);
}

static void write_points(const struct model_plot_line *line, const char *label,
                         FILE *file)
{
    struct perfmodel_origins origins = {{0}};
    char text[POINTS_TEXT];

    count_origins(line, &origins);
    write_block(line, points_text(&origins, text), label, file);
}

void model_plot_write_data(const struct model_plot *plot, FILE *file)
{
    for (unsigned i = 0; i < plot->nseries; i++) {
        const struct model_plot_series *s = &plot->series[i];

        write_points(&s->points, s->label, file);
        write_points(&s->computed, s->label, file);
        write_block(&s->curve, "interpolated, expected error", s->label, file);
        write_block(&s->regression, "fitted formula", s->label, file);
    }
}

/* -- axes -- */

static void range_widen(struct range *range, double value)
{
    if (!value_fits_log_axis(value))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static void widen_by(struct range *x, struct range *y,
                     const struct model_plot_line *line)
{
    for (unsigned i = 0; i < line->n; i++) {
        range_widen(x, line->at[i].x);
        range_widen(y, line->at[i].y);
        range_widen(y, line->at[i].lo);
        range_widen(y, line->at[i].hi);
    }
}

static void find_ranges(const struct model_plot *plot, struct range *x,
                        struct range *y)
{
    *x = *y = (struct range){INFINITY, 0};
    for (unsigned i = 0; i < plot->nseries; i++) {
        widen_by(x, y, &plot->series[i].points);
        widen_by(x, y, &plot->series[i].computed);
        widen_by(x, y, &plot->series[i].curve);
        widen_by(x, y, &plot->series[i].regression);
    }
}

/* "4 MiB" */
static void write_size(FILE *file, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned u = 0;

    for (; u + 1 < COUNT(units) && bytes >= 1024; u++)
        bytes /= 1024;
    fprintf(file, "\"%.4g %s\"", bytes, units[u]);
}

/* "200 µs", "5 mJ", "1000" */
static void write_value(FILE *file, const struct model_plot *plot, double value)
{
    static const struct {
        double factor;
        const char *prefix;
    } prefixes[] = {{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};
    double si = plot->choice.energy ? value : value / 1e6;
    unsigned p = 0;

    if (plot->choice.gflops) {
        fprintf(file, "\"%.4g\"", value);
        return;
    }
    while (p + 1 < COUNT(prefixes) && si < prefixes[p].factor * 0.9999)
        p++;
    fprintf(file, "\"%.4g %s%s\"", si / prefixes[p].factor, prefixes[p].prefix,
            plot->choice.energy ? "J" : "s");
}

/* Powers of two, some eight of them. */
static void write_log_sizes(FILE *file, struct range x)
{
    int low = (int)floor(log2(x.low)), high = (int)ceil(log2(x.high));
    int step = (high - low) / 8 + 1;
    const char *comma = "";

    fputs("set logscale x 2\nset xtics (", file);
    for (int k = low; k <= high; k++)
        if (k % step == 0) {
            fputs(comma, file);
            write_size(file, ldexp(1, k));
            fprintf(file, " %.17g", ldexp(1, k));
            comma = ", ";
        }
    fprintf(file, ")\nset xrange [%.9g:%.9g]\n",
            x.low / pow(x.high / x.low, 0.04) / 1.02,
            x.high * pow(x.high / x.low, 0.04) * 1.02);
}

/* Decades; with 2 and 5 between when there are few, every other when there are
 * many. */
static void write_log_values(FILE *file, const struct model_plot *plot,
                             struct range y)
{
    static const double digits[] = {1, 2, 5};
    double low = y.low / pow(y.high / y.low, 0.05) / 1.05;
    double high = y.high * pow(y.high / y.low, 0.05) * 1.05;
    double decades = log10(high / low);
    unsigned ndigits = decades < 3.2 ? 3 : 1;
    const char *comma = "";

    fputs("set logscale y 10\nset ytics (", file);
    for (int k = (int)floor(log10(low)); k <= (int)ceil(log10(high)); k++) {
        for (unsigned d = 0; d < 9; d++) {
            double tic = (d + 1) * pow(10, k);
            bool major =
                (d == 0 && (decades < 9 || k % 2 == 0)) ||
                (ndigits == 3 && (d + 1 == digits[1] || d + 1 == digits[2]));

            if (tic < low || tic > high)
                continue;
            fputs(comma, file);
            if (major)
                write_value(file, plot, tic);
            else
                fputs("\"\"", file);
            fprintf(file, " %.9g %d", tic, major ? 0 : 1);
            comma = ", ";
        }
    }
    fprintf(file, ")\nset yrange [%.9g:%.9g]\n", low, high);
}

/* Round steps for a linear axis, from 0 on. */
static double round_step(double high)
{
    double step = pow(10, floor(log10(high / 4)));

    if (high / step > 20)
        return 5 * step;
    return high / step > 8 ? 2 * step : step;
}

static void write_linear_values(FILE *file, const struct model_plot *plot,
                                struct range y)
{
    double step = round_step(y.high);
    const char *comma = "";

    fputs("set ytics (", file);
    for (unsigned k = 0; k * step <= y.high * 1.05; k++) {
        fputs(comma, file);
        if (k == 0)
            fputs("\"0\"", file);
        else
            write_value(file, plot, k * step);
        fprintf(file, " %.9g", k * step);
        comma = ", ";
    }
    fprintf(file, ")\nset yrange [0:%.9g]\n", y.high * 1.06);
}

static void write_linear_sizes(FILE *file, struct range x)
{
    /* Steps that are round in powers of two. */
    double step = exp2(floor(log2(x.high / 4)));
    const char *comma = "";

    fputs("set xtics (", file);
    for (unsigned k = 0; k * step <= x.high * 1.03; k++) {
        fputs(comma, file);
        write_size(file, k * step);
        fprintf(file, " %.17g", k * step);
        comma = ", ";
    }
    fprintf(file, ")\nset xrange [0:%.9g]\n", x.high * 1.04);
}

static void write_axes(const struct model_plot *plot, FILE *file)
{
    struct range x, y;

    find_ranges(plot, &x, &y);
    if (x.high == 0) /* nothing to show: left to gnuplot */
        return;
    if (plot->choice.linear)
        write_linear_sizes(file, x);
    else
        write_log_sizes(file, x);
    if (plot->choice.linear ||
        (plot->choice.gflops && !plot->choice.logarithmic))
        write_linear_values(file, plot, y);
    else
        write_log_values(file, plot, y);
    fprintf(file, "set xlabel 'size of the data'\nset ylabel '%s'\n",
            plot->choice.gflops   ? "speed (GFlop/s)"
            : plot->choice.energy ? "energy"
                                  : "time");
}

/* -- headings -- */

/* "points: measured", behind what is there. */
static void add_heading(char *text, size_t size, const char *what,
                        const char *is)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s%s: %s", n ? "  ·  " : "", what, is);
}

static void add_points(char *text, size_t size, const char *what,
                       const struct perfmodel_origins *origins)
{
    char is[POINTS_TEXT];

    for (int o = 0; o < ORR_NORIGINS; o++)
        if (origins->n[o] > 0) {
            add_heading(text, size, what, points_text(origins, is));
            return;
        }
}

static void write_headings(const struct model_plot *plot, FILE *file)
{
    struct perfmodel_origins points = {{0}}, computed = {{0}};
    bool curve = false, regression = false;
    char title[256], text[2 * POINTS_TEXT + 160] = "";

    for (unsigned i = 0; i < plot->nseries; i++) {
        count_origins(&plot->series[i].points, &points);
        count_origins(&plot->series[i].computed, &computed);
        curve |= plot->series[i].curve.n > 0;
        regression |= plot->series[i].regression.n > 0;
    }
    add_points(text, sizeof(text), "points", &points);
    add_points(text, sizeof(text), "hollow points", &computed);
    if (curve)
        add_heading(text, sizeof(text), "line, band",
                    "interpolated, expected error");
    if (regression)
        add_heading(text, sizeof(text), "dashes", "fitted formula");
    snprintf(title, sizeof(title), "%s on %s", plot->model->symbol,
             plot->choice.host);
    fputs("set label 1 ", file);
    plot_text(file, title);
    fputs(" at graph 0,1.11 font ',15' tc rgb '#111111'\n", file);
    fprintf(file,
            "set label 2 \"%s\" at graph 0,1.04 font ',10' tc rgb "
            "'#666666'\n",
            text);
}

/* -- series -- */

/* Bands are below lines, and lines below points, whatever the series. */
enum layer {
    LAYER_BANDS,
    LAYER_REGRESSIONS,
    LAYER_CURVES,
    LAYER_COMPUTED,
    LAYER_POINTS,
    NLAYERS
};

/* Where gnuplot finds the lines of a series: blocks are numbered as
 * model_plot_write_data writes them. Returns the number of the next. */
static unsigned find_blocks(const struct model_plot_series *s, unsigned first,
                            unsigned blocks[NLAYERS])
{
    blocks[LAYER_POINTS] = first;
    first += s->points.n > 0;
    blocks[LAYER_COMPUTED] = first;
    first += s->computed.n > 0;
    blocks[LAYER_BANDS] = blocks[LAYER_CURVES] = first;
    first += s->curve.n > 0;
    blocks[LAYER_REGRESSIONS] = first;
    return first + (s->regression.n > 0);
}

/* gnuplot's filled markers have their outline before them. */
static int hollow_marker(unsigned number)
{
    int marker = markers[number % COUNT(markers)];

    return number % COUNT(markers) < 5 ? marker - 1 : marker;
}

/* Points of equal devices overlap: the later ones are smaller, so that all are
 * seen. */
static double marker_size(const struct model_plot *plot, unsigned number)
{
    return plot->nseries < 2 ? 0.9 : 1.15 - 0.5 * number / (plot->nseries - 1);
}

static void write_layer(const struct model_plot *plot, unsigned number,
                        enum layer layer, unsigned block, const char *source,
                        FILE *file)
{
    const struct model_plot_series *s = &plot->series[number];
    const unsigned counts[NLAYERS] = {
        [LAYER_BANDS] = s->curve.n,       [LAYER_REGRESSIONS] = s->regression.n,
        [LAYER_CURVES] = s->curve.n,      [LAYER_COMPUTED] = s->computed.n,
        [LAYER_POINTS] = s->points.n,
    };
    const char *colour = colours[number % COUNT(colours)];

    if (counts[layer] == 0)
        return;
    if (*source == '$')
        fputs(source, file);
    else
        plot_text(file, source);
    fprintf(file, " index %u using ", block);
    switch (layer) {
    case LAYER_BANDS:
        fprintf(file,
                "1:3:4 with filledcurves fc rgb '%s' fs transparent "
                "solid 0.18 noborder",
                colour);
        break;
    case LAYER_REGRESSIONS:
        fprintf(file, "1:2 with lines lw 1.4 dt (7,5) lc rgb '%s'", colour);
        break;
    case LAYER_CURVES:
        fprintf(file, "1:2 with lines lw 1.7 lc rgb '%s'", colour);
        break;
    case LAYER_COMPUTED:
        fprintf(file, "1:2 with points pt %d ps %.2f lw 1.2 lc rgb '%s'",
                hollow_marker(number), marker_size(plot, number), colour);
        break;
    default:
        fprintf(file,
                "1:2:3:4 with yerrorbars pt %d ps %.2f lw 1.2 lc rgb "
                "'%s'",
                markers[number % COUNT(markers)], marker_size(plot, number),
                colour);
    }
    fputs(" notitle, \\\n    ", file);
}

/* A sample for the legend. */
static void write_key(const struct model_plot *plot, unsigned number,
                      FILE *file)
{
    const struct model_plot_series *s = &plot->series[number];
    const char *colour = colours[number % COUNT(colours)];

    if (s->points.n + s->computed.n > 0)
        fprintf(file, "NaN with %s pt %d ps 1 lw 1.7 lc rgb '%s' title ",
                s->curve.n ? "linespoints" : "points",
                s->points.n ? markers[number % COUNT(markers)]
                            : hollow_marker(number),
                colour);
    else
        fprintf(file, "NaN with lines lw 1.4 dt (7,5) lc rgb '%s' title ",
                colour);
    plot_text(file, s->label);
    fputs(", \\\n    ", file);
}

void model_plot_write_script(const struct model_plot *plot, FILE *file,
                             const char *source)
{
    fputs("set encoding utf8\nset border 3 lc rgb '#555555'\n"
          "set tics nomirror out\n"
          "set key outside right top Left reverse samplen 2 spacing 1.25\n"
          "set grid xtics ytics lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
          "set bars 0.5\nset tmargin 4.5\n",
          file);
    write_headings(plot, file);
    write_axes(plot, file);
    fputs("plot ", file);
    for (int layer = 0; layer < NLAYERS; layer++) {
        unsigned next = 0, blocks[NLAYERS];

        for (unsigned i = 0; i < plot->nseries; i++) {
            next = find_blocks(&plot->series[i], next, blocks);
            write_layer(plot, i, (enum layer)layer, blocks[layer], source,
                        file);
        }
    }
    for (unsigned i = 0; i < plot->nseries; i++)
        write_key(plot, i, file);
    fputs("NaN notitle\n", file);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/plot.c - the picture of `orrery validate`: on the left what is
 * measured of each kernel, as a percentage beyond its model, on the right both
 * makespans. One thread.
 */
#include "tools/validate/validate.h"

#include "tools/common/plot.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Kernels that fit one below the other. */
enum { MOST_KERNELS = 60 };

static size_t shown_kernels(const struct validation *v)
{
    return v->nkernels < MOST_KERNELS ? v->nkernels : MOST_KERNELS;
}

/* Percent by which `us` exceeds the model. */
static double percent_beyond_model(const struct validate_kernel *kernel,
                                   double us)
{
    return 100 * (us / kernel->predicted - 1);
}

/* What one colour shows. */
enum { GROUP_FITS, GROUP_DRIFT, GROUP_OFF, GROUPS };

static int plot_group_of_verdict(const struct validate_kernel *kernel)
{
    switch (kernel->verdict) {
    case DRIFT_DRIFTED:
    case DRIFT_LEVELS:
        return GROUP_DRIFT;
    case DRIFT_SHIFTED:
    case DRIFT_DISTURBED:
    case DRIFT_CANNOT_TELL:
        return GROUP_OFF;
    default:
        return GROUP_FITS;
    }
}

static void put_kernel_rows(FILE *pipe, const struct validation *v, int group)
{
    for (size_t k = 0; k < shown_kernels(v); k++) {
        const struct validate_kernel *kernel = &v->kernels[k];

        if (plot_group_of_verdict(kernel) == group && isfinite(kernel->error))
            fprintf(pipe, "%.4f %zu %.4f %.4f\n",
                    percent_beyond_model(kernel, kernel->measured.median), k,
                    percent_beyond_model(kernel, kernel->measured.min),
                    percent_beyond_model(kernel, kernel->measured.max));
    }
    fputs("e\n", pipe);
}

static bool any_with(const struct validation *v, int group)
{
    for (size_t k = 0; k < shown_kernels(v); k++)
        if (plot_group_of_verdict(&v->kernels[k]) == group &&
            isfinite(v->kernels[k].error))
            return true;
    return false;
}

static void plot_kernels(struct plot *plot, const struct validation *v)
{
    static const char *const titles[GROUPS] = {
        "fits or not checked", "drift, two levels",
        "shifted, disturbed or too noisy to tell"};
    static const unsigned colours[GROUPS] = {0, 3, 1};
    FILE *pipe = plot->pipe;
    const char *comma = "";

    fputs(
        "set title 'kernels: measured beyond predicted (where that comes "
        "from), extremes of the repetitions'\nset xlabel '%'\nset grid xtics lt 1 lc rgb '#dddddd'\n"
        "set ytics scale 0 (",
        pipe);
    for (size_t k = 0; k < shown_kernels(v); k++) {
        const struct report_kernel *id = &v->kernels[k].kernel;
        char *label =
            tool_format("%s %s %08x  %s", id->name, id->arch, id->footprint,
                        orr_origin_name(v->kernels[k].origin));

        fputs(k ? ", " : "", pipe);
        plot_tic(plot->pipe, label ? label : id->name);
        fprintf(pipe, " %zu", k);
        free(label);
    }
    fprintf(pipe,
            ")\nset yrange [%.1f:-0.5]\n"
            "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#555555'"
            "\n%s\nplot ",
            (double)shown_kernels(v) - 0.5,
            any_with(v, GROUP_DRIFT) || any_with(v, GROUP_OFF)
                ? "set key outside bottom center horizontal"
                : "set key off");
    for (int group = 0; group < GROUPS; group++) {
        if (!any_with(v, group))
            continue;
        fprintf(pipe,
                "%s'-' using 1:2:3:4 with xerrorbars pt 7 lw 1.5 lc rgb '%s' "
                "title '%s'",
                comma, plot_colour(colours[group]), titles[group]);
        comma = ", ";
    }
    fputs("\n", pipe);
    for (int group = 0; group < GROUPS; group++)
        if (any_with(v, group))
            put_kernel_rows(pipe, v, group);
    fputs("unset arrow 1\n", pipe);
}

static void put_end_rows(FILE *pipe, const struct validation *v, bool measured)
{
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct validate_end *end = &v->ends[s];
        struct validate_spread spread =
            measured ? end->measured : end->predicted;

        fprintf(pipe, "%.3f %.6f %.6f %.6f\n", s + (measured ? 0.2 : -0.2),
                spread.median / 1e3, spread.min / 1e3, spread.max / 1e3);
    }
    fputs("e\n", pipe);
}

static void plot_ends(struct plot *plot, const struct validation *v)
{
    FILE *pipe = plot->pipe;

    fputs("set title 'from end to end'\nunset xlabel\nset ylabel 'ms'\n"
          "unset grid\nset grid ytics lt 1 lc rgb '#dddddd'\n"
          "set ytics autofreq\nset yrange [0:*]\nset xtics scale 0 (",
          pipe);
    for (unsigned s = 0; s < v->nsizes; s++) {
        char *label = tool_format("%s  (%+.1f %%)",
                                  v->ends[s].size ? v->ends[s].size : "",
                                  100 * v->ends[s].error);

        fputs(s ? ", " : "", pipe);
        plot_tic(plot->pipe, label ? label : "");
        fprintf(pipe, " %u", s);
        free(label);
    }
    fprintf(
        pipe,
        ")\nset key on\nset xrange [-0.6:%.1f]\nset key inside top left\n"
        "set style fill solid 0.9 noborder\n"
        "plot '-' using 1:2:(0.36) with boxes lc rgb '%s' title "
        "'predicted', '-' using 1:2:(0.36) with boxes lc rgb '%s' title "
        "'measured', '-' using 1:2:3:4 with yerrorbars pt 7 ps 0 lw 1.5 lc rgb "
        "'#333333' notitle\n",
        v->nsizes - 0.4, plot_colour(0), plot_colour(1));
    put_end_rows(pipe, v, false);
    put_end_rows(pipe, v, true);
    put_end_rows(pipe, v, true);
}

int validation_plot(const struct validation *v, const char *path)
{
    struct plot plot;
    char *title = program_text(v->options->argv);
    unsigned height = 180 + 24 * (unsigned)shown_kernels(v);

    if (!title) {
        tool_error("out of memory");
        return -1;
    }
    if (plot_begin(&plot, path, 1200, height < 480 ? 480 : height) < 0) {
        free(title);
        return -1;
    }
    fputs("set multiplot layout 1,2 title ", plot.pipe);
    plot_text(plot.pipe, title);
    fputs("\n", plot.pipe);
    if (any_with(v, GROUP_FITS) || any_with(v, GROUP_DRIFT) ||
        any_with(v, GROUP_OFF))
        plot_kernels(&plot, v);
    plot_ends(&plot, v);
    fputs("unset multiplot\n", plot.pipe);
    free(title);
    return plot_end(&plot);
}

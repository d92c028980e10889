/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/draw.c - see findings.h: performance profiles, a line for each policy. */
#include "tools/study/findings.h"

#include "tools/common/plot.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>

/* More lines are not told apart. */
enum { MOST_LINES = PLOT_SERIES };

/* The factor up to which lines differ: of the policies that are drawn, the greatest. */
static double greatest_factor(const struct study_findings *f, size_t n)
{
    double most = 1.05;

    for (size_t i = 0; i < n; i++)
        if (isfinite(f->policies[f->order[i]].worst))
            most = fmax(most, f->policies[f->order[i]].worst);
    return fmin(most, 10);
}

/* The share at each factor, in steps of the axis, which is logarithmic. */
static void put_line(FILE *pipe, const struct study_findings *f, size_t policy, double most)
{
    const int steps = 400;

    for (int i = 0; i <= steps; i++) {
        double factor = pow(most, (double)i / steps);

        fprintf(pipe, "%.6f %.6f\n", factor,
                100 * profile_share(f->medians, f->n, f->session->study->npolicies, policy,
                                    factor * (1 + 1e-12)));
    }
    fputs("e\n", pipe);
}

int findings_draw(const struct study_findings *f, const char *path)
{
    const struct study *study = f->session->study;
    size_t n = study->npolicies < MOST_LINES ? study->npolicies : MOST_LINES;
    double most = greatest_factor(f, n);
    struct plot plot;

    if (plot_begin_paper(&plot, path, 760, 460) < 0)
        return TOOL_FAILED;
    fprintf(plot.pipe,
            "set key outside right top noenhanced\nset logscale x\nset xrange [1:%.4f]\n"
            "set yrange [0:104]\nset xlabel 'times as long as the best policy'\n"
            "set ylabel 'share of workloads, %%'\nset grid lc rgb '#dddddd'\nset xtics (%s)\n",
            most, most > 1.6 ? "1, 1.2, 1.5, 2, 3, 5, 10" : "1, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5");
    fputs("set title ", plot.pipe);
    if (n < study->npolicies)
        fprintf(plot.pipe, "'Performance profiles: the %zu best of %zu policies, %zu workloads'\n",
                n, study->npolicies, f->n);
    else
        fprintf(plot.pipe, "'Performance profiles of %zu policies on %zu workloads'\n", n,
                f->n);
    fputs("plot ", plot.pipe);
    for (size_t i = 0; i < n; i++) {
        fprintf(plot.pipe, "%s'-' with steps lw 2 dt %s lc rgb '%s' title ", i ? ", " : "",
                plot_dash(i), plot_colour(i));
        plot_text(plot.pipe, study->policies[f->order[i]]);
    }
    fputc('\n', plot.pipe);
    for (size_t i = 0; i < n; i++)
        put_line(plot.pipe, f, f->order[i], most);
    return plot_end(&plot) < 0 ? TOOL_FAILED : TOOL_OK;
}

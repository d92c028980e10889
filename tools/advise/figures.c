/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/advise/figures.c - the figures that draws have changed: those of machines, as runs
 * report them, and times of kernels that were not measured, by how their predictions differ
 * between draws.
 */
#include "tools/advise/advise.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- gathering -- */

static struct figure *figure_find(struct advice *advice, const char *name)
{
    for (size_t f = 0; f < advice->nfigures; f++)
        if (!strcmp(advice->figures[f].name, name))
            return &advice->figures[f];
    return NULL;
}

/* The figure of that name, made if there is none; NULL without memory. */
static struct figure *figure_of(struct advice *advice, const char *name, bool is_kernel)
{
    struct figure *figure = figure_find(advice, name), *more;
    size_t ndraws = advice->options->draws;

    if (figure)
        return figure;
    more = realloc(advice->figures, (advice->nfigures + 1) * sizeof(*more));
    if (!more)
        return NULL;
    advice->figures = more;
    figure = &more[advice->nfigures++];
    *figure = (struct figure){.name = strdup(name),
                              .is_kernel = is_kernel,
                              .of = calloc(advice->n, sizeof(*figure->of)),
                              .logs = calloc(ndraws, sizeof(*figure->logs)),
                              .nlogs = calloc(ndraws, sizeof(*figure->nlogs))};
    return figure->name && figure->of && figure->logs && figure->nlogs ? figure : NULL;
}

/* One more value of a figure in a draw, which is their mean. */
static void figure_add(struct figure *figure, size_t draw, double log_factor)
{
    unsigned n = ++figure->nlogs[draw];

    figure->logs[draw] += (log_factor - figure->logs[draw]) / n;
}

static int add_machine_figures(struct advice *advice, size_t c, const struct report *report,
                               size_t draw)
{
    const json_t *drawn;
    size_t i;

    json_array_foreach(json_object_get(report->json, "drawn"), i, drawn)
    {
        const char *name = json_string_value(json_object_get(drawn, "figure"));
        double factor = json_number_value(json_object_get(drawn, "factor"));
        struct figure *figure = name ? figure_of(advice, name, false) : NULL;

        if (!figure)
            return -1;
        figure->of[c] = true;
        if (factor > 0)
            figure_add(figure, draw, log(factor));
    }
    return 0;
}

/* "chol_model_gemm on NVIDIA H100 PCIe 80GB"; owned. */
static char *kernel_name(const struct candidate_of *candidate, const struct report_kernel *kernel)
{
    bool is_cpu = !strncmp(kernel->arch, "cpu", 3);
    size_t letters = strcspn(kernel->arch, "0123456789");
    const char *model = "";
    char host[32];

    if (!strncmp(kernel->arch, "cuda", 4))
        snprintf(host, sizeof(host), "CUDA%s", kernel->arch + letters);
    else if (!strncmp(kernel->arch, "opencl", 6))
        snprintf(host, sizeof(host), "OpenCL%s", kernel->arch + letters);
    else
        snprintf(host, sizeof(host), "MAIN");
    if (candidate->desc)
        model = cost_model(candidate->desc, host);
    return tool_format("%s on %s%s", kernel->name, is_cpu && *model ? "cores of " : "",
                       *model ? model : kernel->arch);
}

static const struct report_kernel *kernel_like(const struct report *report,
                                               const struct report_kernel *kernel)
{
    for (size_t k = 0; k < report->nkernels; k++)
        if (report_same_kernel(&report->kernels[k], kernel))
            return &report->kernels[k];
    return NULL;
}

/* The predictions of one kernel of one size in all draws, as factors of their mean. Those in
 * which it did not run there have none. */
static int add_kernel(struct advice *advice, size_t c, const struct report *const *reports, const struct report_kernel *kernel)
{
    size_t ndraws = advice->options->draws, n = 0;
    char *name = kernel_name(&advice->candidates[c], kernel);
    struct figure *figure = name ? figure_of(advice, name, true) : NULL;
    double mean = 0;

    free(name);
    if (!figure)
        return -1;
    figure->of[c] = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t d = 0; d < ndraws; d++) {
            const struct report_kernel *here =
                reports[d] ? kernel_like(reports[d], kernel) : NULL;

            if (!here || !(here->predicted_us > 0))
                continue;
            if (pass == 0) {
                mean += log(here->predicted_us);
                n++;
            } else {
                figure_add(figure, d, log(here->predicted_us) - mean / (double)n);
            }
        }
    return 0;
}

static bool may_be_off(const struct report_kernel *kernel)
{
    return !strcmp(kernel->origin, "derived") || !strcmp(kernel->origin, "interpolated");
}

static int add_cell(struct advice *advice, size_t c, const struct comparison *comparison,
                    const struct cell *cell)
{
    size_t ndraws = advice->options->draws, at = (size_t)(cell - comparison->cells);
    const struct report **reports = calloc(ndraws, sizeof(*reports));
    int rc = reports ? 0 : -1;

    for (size_t d = 0; rc == 0 && d < ndraws; d++) {
        const struct launch *launch = &comparison->launches[d * comparison->ncells + at];

        if (!launch->report.json)
            continue;
        reports[d] = &launch->report;
        rc = add_machine_figures(advice, c, reports[d], d);
    }
    for (size_t k = 0; rc == 0 && k < cell->launch->report.nkernels; k++)
        if (may_be_off(&cell->launch->report.kernels[k]))
            rc = add_kernel(advice, c, reports,
                            &cell->launch->report.kernels[k]);
    free(reports);
    return rc;
}

/* -- what they are worth -- */

static int by_value(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;

    if (x->value > y->value || x->value < y->value)
        return x->value > y->value ? -1 : 1;
    return strcmp(x->name, y->name);
}

int advice_value_figures(struct advice *advice)
{
    for (size_t c = 0; c < advice->n; c++)
        for (size_t w = 0; w < advice->nworkloads && !advice->candidates[c].out; w++) {
            const struct comparison *comparison = &advice->workloads[w].comparison;
            size_t npoints = comparison->sweep.npoints;
            const struct cell *cell = comparison_best(comparison, c / npoints, c % npoints);

            if (cell && add_cell(advice, c, comparison, cell) < 0)
                return -1;
        }
    for (size_t f = 0; f < advice->nfigures; f++)
        advice->figures[f].value =
            choices_figure_value(&advice->choices, advice->figures[f].logs);
    if (advice->nfigures > 0)
        qsort(advice->figures, advice->nfigures, sizeof(*advice->figures), by_value);
    return 0;
}

/* -- what limits a candidate -- */

enum { MOST_LIMITS = 2 };

/* Less than this is not worth a word. */
#define LEAST_ELASTICITY 0.05

/* How much the time depends on it, 0 where it cannot: it is none of the candidate's, or times
 * would get longer by a higher bandwidth. */
static double dependence(const struct choices *times, const struct figure *figure, size_t c)
{
    double e = figure->of[c] ? choice_elasticity(times, 0, figure->logs) : 0;
    bool shortens = !figure->is_kernel && strstr(figure->name, "bandwidth");

    return fmax(0, shortens ? -e : e);
}

char *advice_limits(const struct advice *advice, size_t c)
{
    /* By times, whatever the ranking is by. */
    const struct choices times = {1, advice->options->draws, advice->candidates[c].us};
    double before = (double)INFINITY;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0; out && i < MOST_LIMITS; i++) {
        const struct figure *most = NULL;
        double much = LEAST_ELASTICITY;

        for (size_t f = 0; f < advice->nfigures; f++) {
            double e = dependence(&times, &advice->figures[f], c);

            if (e > much && e < before) {
                much = e;
                most = &advice->figures[f];
            }
        }
        if (!most)
            break;
        before = much;
        fprintf(out, "%s%s %.0f %%", i ? ", " : "", most->name, 100 * much);
    }
    if (out)
        fclose(out);
    return text;
}

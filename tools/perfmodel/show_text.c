/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/show_text.c - the text output of `orrery perfmodel show`. */
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/estimates.h"
#include "tools/perfmodel/show.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* -- texts -- */

/* A time, or joules. */
static const char *view_value_text(const struct perfmodel_view *view,
                                   double value, char ret[PERFMODEL_TEXT])
{
    if (!view->energy || isnan(value))
        return perfmodel_time_text(value, ret);
    snprintf(ret, PERFMODEL_TEXT, "%.4g J", value);
    return ret;
}

static const char *percent_text(double ratio, char ret[PERFMODEL_TEXT])
{
    if (isnan(ratio))
        snprintf(ret, PERFMODEL_TEXT, "-");
    else
        snprintf(ret, PERFMODEL_TEXT, ratio < 0.0995 ? "%.1f %%" : "%.0f %%",
                 100 * ratio);
    return ret;
}

static const char *interval_text(const struct perfmodel_view *view, double lo,
                                 double hi, char ret[3 * PERFMODEL_TEXT])
{
    char from[PERFMODEL_TEXT], to[PERFMODEL_TEXT];

    if (isnan(lo) || isnan(hi))
        snprintf(ret, 3 * PERFMODEL_TEXT, "-");
    else
        snprintf(ret, 3 * PERFMODEL_TEXT, "%s … %s",
                 view_value_text(view, lo, from),
                 view_value_text(view, hi, to));
    return ret;
}

/* The day of a time, in UTC. */
static const char *day_text(int64_t seconds, char ret[PERFMODEL_TEXT])
{
    time_t when = (time_t)seconds;
    struct tm tm;

    if (seconds <= 0 || !gmtime_r(&when, &tm) ||
        !strftime(ret, PERFMODEL_TEXT, "%Y-%m-%d", &tm))
        snprintf(ret, PERFMODEL_TEXT, "-");
    return ret;
}

static const char *regimes_text(const struct perfmodel_view *view,
                                const struct orr_summary *summary,
                                char ret[3 * PERFMODEL_TEXT])
{
    char fast[PERFMODEL_TEXT], slow[PERFMODEL_TEXT];

    if (summary->mixed)
        snprintf(ret, 3 * PERFMODEL_TEXT, "mixed: %s (%.0f %%), %s (%.0f %%)",
                 view_value_text(view, summary->mixture.level[0], fast),
                 100 * (1 - summary->mixture.share),
                 view_value_text(view, summary->mixture.level[1], slow),
                 100 * summary->mixture.share);
    else if (summary->nregimes < 2)
        snprintf(ret, 3 * PERFMODEL_TEXT, "%s",
                 summary->nregimes ? "one" : "-");
    else
        snprintf(ret, 3 * PERFMODEL_TEXT, "%s (%.0f %%), %s (%.0f %%)",
                 view_value_text(view, summary->regimes[0].median, fast),
                 100 * summary->regimes[0].share,
                 view_value_text(view, summary->regimes[1].median, slow),
                 100 * summary->regimes[1].share);
    return ret;
}

/* -- rows, the smallest size first -- */

struct line {
    const struct orr_model_row *row;
    struct perfmodel_known known;
};

static int compare_lines(const void *left, const void *right)
{
    const struct orr_model_row *a = ((const struct line *)left)->row;
    const struct orr_model_row *b = ((const struct line *)right)->row;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static void view_add_row(const struct perfmodel_view *view, struct table *table,
                         const struct orr_model_row *row,
                         const struct perfmodel_known *known)
{
    char mean[PERFMODEL_TEXT], dev[PERFMODEL_TEXT];
    char estimate[PERFMODEL_TEXT];
    double gflops = perfmodel_gflops(row, known->estimate);

    table_add(table, "%08" PRIx32, row->hash);
    table_add(table, "%" PRIu64, row->size);
    table_add(table, "%s", view_value_text(view, row->mean, mean));
    table_add(
        table, "%s",
        percent_text(row->mean > 0 ? row->dev / row->mean : (double)NAN, dev));
    table_add(table, "%" PRIu32, row->n);
    if (isnan(gflops) || view->energy)
        table_add(table, "-");
    else
        table_add(table, gflops < 99.95 ? "%.1f" : "%.0f", gflops);
    if (known->unknown)
        table_add(table, "not known");
    else if (known->side)
        table_add(table, "%s",
                  view_value_text(view, known->side->estimate, estimate));
    else
        table_add(table, "%s", known->stale ? "stale" : "-");
    table_add(table, "%s",
              orr_origin_name(
                  perfmodel_row_origin(row, view->origin, known->side)));
}

#define NROW 8

static int view_print_rows(const struct perfmodel_view *view,
                           const struct line *lines, unsigned n)
{
    const struct table_column columns[NROW] = {
        {"footprint", false}, {"size", true},   {"mean", true},
        {"dev", true},        {"n", true},      {"GFlop/s", true},
        {"estimate", true},   {"origin", false}};
    struct table table = {0};

    for (unsigned i = 0; i < n; i++)
        view_add_row(view, &table, lines[i].row, &lines[i].known);
    if (table_end(&table, columns, NROW) < 0)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        if (lines[i].known.unknown)
            printf("%08" PRIx32 "  not known: %s\n", lines[i].row->hash,
                   lines[i].known.unknown);
    return 0;
}

static void add_robust(const struct perfmodel_view *view, struct table *table,
                       const struct orr_model_row *row,
                       const struct perfmodel_known *known)
{
    const struct orr_summary *summary = &known->summary;
    const struct orr_side_entry *side = known->side;
    char text[3 * PERFMODEL_TEXT];

    table_add(table, "%08" PRIx32, row->hash);
    table_add(table, "%s",
              view_value_text(view, summary->quantiles[ORR_Q50], text));
    table_add(table, "%s",
              interval_text(view, known->range.lo, known->range.hi, text));
    table_add(
        table, "%s",
        interval_text(view, known->interval.lo, known->interval.hi, text));
    table_add(table, "%" PRIu64 " of %" PRIu64, side->noutliers, side->nseen);
    table_add(table, "%s",
              view_value_text(view,
                              side->nfirst ? side->first_sum / side->nfirst
                                           : (double)NAN,
                              text));
    if (isnan(summary->autocorrelation))
        table_add(table, "-");
    else
        table_add(table, "%.2f", summary->autocorrelation);
    table_add(table, "%s", regimes_text(view, summary, text));
    table_add(table, "%s", day_text(side->last_time, text));
}

#define NROBUST 9

static int print_robust(const struct perfmodel_view *view,
                        const struct line *lines, unsigned n)
{
    const struct table_column columns[NROBUST] = {
        {"footprint", false},    {"median", true},   {"5 % … 95 %", true},
        {"95 % interval", true}, {"outliers", true}, {"first run", true},
        {"autocorr.", true},     {"regimes", false}, {"last measured", false}};
    struct table table = {0};
    bool any = false;

    for (unsigned i = 0; i < n; i++)
        if (lines[i].known.side) {
            add_robust(view, &table, lines[i].row, &lines[i].known);
            any = true;
        }
    if (any && !table.failed)
        putchar('\n');
    return any ? table_end(&table, columns, NROBUST) : 0;
}

/* -- formulas -- */

static void print_range(double minx, double maxx)
{
    printf(", size %.10g … %.10g", minx, maxx);
}

static void print_stored(const struct orr_model_fit *fit)
{
    if (!isnan(fit->alpha) && !isnan(fit->beta)) {
        printf("  in the file    %.4g · size^%.4g  (%" PRIu32 " samples",
               fit->alpha, fit->beta, fit->n);
        print_range((double)fit->minx, (double)fit->maxx);
        puts(")");
    }
    if (!isnan(fit->a) && !isnan(fit->b) && !isnan(fit->c))
        printf("  in the file    %.4g · size^%.4g + %.4g\n", fit->a, fit->b,
               fit->c);
    if (fit->ncoeff > 0) {
        printf("  in the file    polynomial of %u coefficients:", fit->ncoeff);
        for (unsigned i = 0; i < fit->ncoeff; i++)
            printf(" %.6g", fit->coeff[i]);
        putchar('\n');
    }
}

static void print_regression(const struct orr_power_regression *regression,
                             bool offset)
{
    char error[PERFMODEL_TEXT];

    printf("  fit            %.4g · size^%.4g", regression->a, regression->b);
    if (offset)
        printf(" + %.4g", regression->c);
    if (isnan(regression->error))
        printf("  (error unknown: too few sizes, %u", regression->npoints);
    else
        printf("  (error %s, %u sizes", percent_text(regression->error, error),
               regression->npoints);
    if (regression->noutliers > 0)
        printf(", %u set aside", regression->noutliers);
    print_range(regression->minx, regression->maxx);
    puts(regression->converged ? ")" : "; did not converge)");
}

static void print_regressions(const struct perfmodel_view *view,
                              const struct orr_model_fit *fit,
                              const struct perfmodel_regressions *regressions)
{
    char mean[PERFMODEL_TEXT], worst[PERFMODEL_TEXT];

    if (!regressions->has_power && isnan(fit->alpha) && isnan(fit->a) &&
        !fit->ncoeff)
        return;
    printf("\nformulas for the time in %s\n", view->energy ? "J" : "µs");
    print_stored(fit);
    if (regressions->has_power)
        print_regression(&regressions->power, false);
    if (regressions->has_offset)
        print_regression(&regressions->offset, true);
    if (regressions->ninner > 0)
        printf("  interpolation  error %s on average, %s at worst, of %u inner "
               "sizes\n",
               percent_text(regressions->inner_mean, mean),
               percent_text(regressions->inner_worst, worst),
               regressions->ninner);
}

/* -- all of it -- */

static void print_title(const struct orr_model_comb *comb, unsigned i)
{
    const struct orr_model_impl *impl = &comb->impls[i];
    unsigned minimum = perfmodel_minimum(), few = 0;
    unsigned long long samples = 0;
    char arch[PERFMODEL_TEXT];

    for (unsigned r = 0; r < impl->nrows; r++) {
        samples += impl->rows[r].n;
        few += impl->rows[r].n < minimum;
    }
    printf("\n%s, implementation %u: %u entr%s, %llu sample%s",
           perfmodel_arch_text(comb->devices, comb->ndevices, arch), i,
           impl->nrows, impl->nrows == 1 ? "y" : "ies", samples,
           samples == 1 ? "" : "s");
    if (few > 0)
        printf("; %u with fewer than %u, too few for a real run", few, minimum);
    putchar('\n');
}

static int make_lines(const struct perfmodel_view *view,
                      const struct orr_model_comb *comb, unsigned i,
                      struct line *lines)
{
    const struct orr_model_impl *impl = &comb->impls[i];
    int rc = 0;

    for (unsigned r = 0; rc == 0 && r < impl->nrows; r++) {
        lines[r].row = &impl->rows[r];
        rc = perfmodel_know(view->data->side, comb, i, lines[r].row,
                            &lines[r].known);
    }
    if (rc == 0)
        qsort(lines, impl->nrows, sizeof(*lines), compare_lines);
    return rc;
}

static int view_print_impl(const struct perfmodel_view *view,
                           const struct orr_model_comb *comb, unsigned i)
{
    unsigned n = comb->impls[i].nrows;
    struct line *lines = calloc((size_t)n + 1, sizeof(*lines));
    struct perfmodel_regressions regressions;
    int rc = lines ? make_lines(view, comb, i, lines) : -ENOMEM;

    if (rc == 0)
        rc = perfmodel_regressions(view->data, comb, i, &regressions);
    if (rc == 0)
        print_title(comb, i);
    if (rc == 0 && n > 0)
        rc = view_print_rows(view, lines, n);
    if (rc == 0)
        rc = print_robust(view, lines, n);
    if (rc == 0)
        print_regressions(view, &comb->impls[i].fit, &regressions);
    free(lines);
    return rc;
}

static bool model_has_rows(const struct orr_model_file *file)
{
    for (unsigned c = 0; c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++)
            if (file->combs[c].impls[i].nrows)
                return true;
    return false;
}

static void view_print_head(const struct perfmodel_view *view)
{
    struct perfmodel_origins counts;
    char origins[PERFMODEL_ORIGINS_TEXT];
    static const char *const notes[] = {
        [PERFMODEL_SIDE_NONE] =
            "none: means rule until a run with Orrery has measured",
        [PERFMODEL_SIDE_VALID] = "valid: estimates rule",
        [PERFMODEL_SIDE_PARTLY] =
            ("partly stale: where another program has measured since, the mean "
             "is used"),
        [PERFMODEL_SIDE_STALE] =
            "stale: another program has measured since, the means are used",
        [PERFMODEL_SIDE_BROKEN] = "broken: means rule",
    };

    perfmodel_count_origins(view->data, view->origin, &counts);
    printf("%s of %s\n  file       %s\n  side file  %s\n  figures    %s%s\n",
           view->symbol, view->host, view->path, notes[view->data->state],
           model_has_rows(view->data->file)
               ? perfmodel_origins_text(&counts, origins)
               : orr_origin_name(view->origin),
           view->data->file->ranged
               ? ", each off by up to twice its deviation (dev)"
               : "");
}

int perfmodel_show_text(const struct perfmodel_view *view)
{
    const struct orr_model_file *file = view->data->file;
    int rc = 0;

    view_print_head(view);
    for (unsigned c = 0; rc == 0 && c < file->ncombs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];

        if (!perfmodel_arch_wanted(view->arch, comb->devices, comb->ndevices))
            continue;
        for (unsigned i = 0; rc == 0 && i < comb->nimpls; i++)
            rc = view_print_impl(view, comb, i);
    }
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/model_findings_row.c - checks of single rows. One thread. */
#include "tools/perfmodel/estimates.h"
#include "tools/perfmodel/model_findings_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A mean this far from Σy/n was not computed from it: files have 7 digits. */
#define MEAN_ROUNDING 1e-4
#define MEAN_WRONG    0.01

/* Spread from which a mean is suspected to be made by spikes. k spikes among n
 * measures, much longer than the others, have dev/mean = √(n/k − 1): 1.8 for a
 * dozen in 50. Kernels themselves seldom reach a third. */
#define SPREAD_ODD    0.5
#define SPREAD_SPIKES 0.9

#define OUTLIERS_MANY     0.05 /* share of the samples */
#define OUTLIERS_TOO_MANY 0.2  /* the same: what is left is not what runs */
#define CORRELATION_HIGH  0.5  /* lag 1 */
#define FIRST_RUN_LONG    3    /* times the usual */

/* A time this far from what half of the runs take predicts none of them; the
 * same ratio makes a measure an outlier (perfmodel/window.h). */
#define LEVELS_APART 1.5
#define FAR_MANY     0.1 /* share of far samples that is no accident */

static bool is_time(double value)
{
    return isfinite(value) && value > 0;
}

/* The values of the row itself. Returns whether the mean can be used. */
static bool check_row_values(struct checker *checker,
                             const struct check_impl *impl,
                             const struct orr_model_row *row)
{
    struct orr_finding_place place = check_place(impl, row);
    bool good = is_time(row->mean);

    if (!good)
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR,
                         "impossible-time", &place, impl->anew,
                         "the mean is %g µs: no kernel takes that long",
                         row->mean);
    if (!is_time(row->sum) || !is_time(row->sum2) || !isfinite(row->dev) ||
        row->dev < 0) {
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR,
                         "impossible-figure", &place, impl->anew,
                         "dev %g, sum %g, sum of squares %g cannot come from "
                         "measured times",
                         row->dev, row->sum, row->sum2);
        good = false;
    }
    if (isnan(row->flops))
        orr_findings_add(
            checker->findings, ORR_SEVERITY_WARNING, "mixed-flops", &place,
            "give the tasks' codelet a footprint function that distinguishes "
            "them",
            "tasks of this footprint disagreed about their flops: "
            "different work shares one mean");
    return good;
}

/* Whether mean and deviation follow from the sums that the next measure will be
 * added to. Returns the deviation to use: when the two disagree, the smaller,
 * so that one fault is not taken for another. */
static double look_at_sums(struct checker *checker,
                           const struct check_impl *impl,
                           const struct orr_model_row *row)
{
    struct orr_finding_place place = check_place(impl, row);
    double mean = row->sum / row->n;
    double off = fabs(row->mean / mean - 1);
    double variance = row->sum2 / row->n - mean * mean;
    double computed = sqrt(variance > 0 ? variance : 0);
    double claimed = row->dev * row->dev;
    /* sum and sum2 have 7 digits, their difference has fewer. */
    double rounding = 1e-5 * mean * mean + 0.02 * claimed;

    if (off > MEAN_ROUNDING)
        orr_findings_add(checker->findings,
                         off > MEAN_WRONG ? ORR_SEVERITY_ERROR
                                          : ORR_SEVERITY_WARNING,
                         "mean-not-sum", &place, impl->anew,
                         "the mean is %g µs, but sum/n is %g µs: the file was "
                         "edited, or merged wrongly",
                         row->mean, mean);
    if (fabs(variance - claimed) <= rounding)
        return row->dev;
    if (off <= MEAN_ROUNDING)
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING,
                         "dev-not-sums", &place, impl->anew,
                         "the deviation is %g µs, but the sums give %g µs: the "
                         "file was edited, or merged wrongly",
                         row->dev, computed);
    return fmin(row->dev, computed);
}

/* The spread, from mean and deviation alone. */
static void look_at_spread(struct checker *checker,
                           const struct check_impl *impl,
                           const struct orr_model_row *row, double dev)
{
    struct orr_finding_place place = check_place(impl, row);
    double spread = dev / row->mean;

    if (spread >= SPREAD_SPIKES)
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR, "spikes",
                         &place, impl->anew,
                         "mean %g µs with deviation %g µs: a few very long "
                         "measures make this mean, most runs are much shorter",
                         row->mean, dev);
    else if (spread >= SPREAD_ODD)
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "spread",
                         &place, CHECK_MEASURE_MORE,
                         "the deviation is %.0f %% of the mean: spikes, two "
                         "regimes, or work that the footprint does not "
                         "distinguish",
                         100 * spread);
}

/* -- with a side file -- */

static void look_at_series(struct checker *checker,
                           const struct check_impl *impl,
                           const struct orr_model_row *row,
                           const struct orr_summary *summary, double estimate)
{
    struct orr_finding_place place = check_place(impl, row);

    if (summary->mixed)
        orr_findings_add(
            checker->findings, ORR_SEVERITY_NOTE, "two-populations", &place,
            "nothing for means; for times of their own give tasks of different work "
            "different footprints (starpu_perfmodel.footprint)",
            "two populations in the same shares throughout: %.0f %% of the runs take about "
            "%g µs, %.0f %% %g µs; their mean, %g µs, is taken",
            100 * (1 - summary->mixture.share), summary->mixture.level[0],
            100 * summary->mixture.share, summary->mixture.level[1], estimate);
    else if (summary->nregimes == 2)
        orr_findings_add(
            checker->findings,
            summary->regimes[1].median >
                    LEVELS_APART * summary->regimes[0].median
                ? ORR_SEVERITY_ERROR
                : ORR_SEVERITY_WARNING,
            "two-regimes", &place,
            "fix the clocks (nvidia-smi -lgc, cpupower frequency-set) or find "
            "what changes, then measure anew with STARPU_CALIBRATE=2",
            "two regimes: %.0f %% of the runs take %g µs, %.0f %% take %g µs; "
            "a simulation knows one time",
            100 * summary->regimes[0].share, summary->regimes[0].median,
            100 * summary->regimes[1].share, summary->regimes[1].median);
    else if (summary->autocorrelation > CORRELATION_HIGH)
        orr_findings_add(checker->findings, ORR_SEVERITY_NOTE,
                         "autocorrelation", &place,
                         "measure in several runs apart from each other, with "
                         "other kernels between",
                         "successive measures are correlated (lag-1 "
                         "correlation %.2f): n samples have less information "
                         "than n independent ones",
                         summary->autocorrelation);
}

static void look_at_side(struct checker *checker, const struct check_impl *impl,
                         const struct orr_model_row *row,
                         const struct orr_side_entry *side, bool mixed)
{
    struct orr_finding_place place = check_place(impl, row);
    double share =
        side->nseen ? (double)side->noutliers / (double)side->nseen : 0;
    double first = side->nfirst ? side->first_sum / side->nfirst : 0;

    /* Populations were set aside until there were enough measures of them. */
    if (share > OUTLIERS_MANY && !mixed)
        orr_findings_add(
            checker->findings,
            share > OUTLIERS_TOO_MANY ? ORR_SEVERITY_ERROR
                                      : ORR_SEVERITY_WARNING,
            "outliers", &place,
            "look for what disturbs the machine while it is measured "
            "(other programs, threads not bound, swapping)",
            "%.0f %% of %llu measures were outliers and set aside", 100 * share,
            (unsigned long long)side->nseen);
    if (first > FIRST_RUN_LONG * side->estimate)
        orr_findings_add(
            checker->findings, ORR_SEVERITY_NOTE, "first-run", &place,
            "nothing; first runs are kept out of the time",
            "the first run of a process takes %g µs, %.0f times as "
            "long as the others",
            first, first / side->estimate);
    if (fabs(row->mean / side->estimate - 1) > 0.1)
        orr_findings_add(checker->findings, ORR_SEVERITY_NOTE, "mean-moved",
                         &place,
                         "nothing for Orrery; for StarPU measure anew with "
                         "STARPU_CALIBRATE=2",
                         "the mean is %g µs, the robust estimate %g µs: StarPU "
                         "believes the one, Orrery the other",
                         row->mean, side->estimate);
}

/* Samples too far away to count in the summary, which the estimate may count.
 */
static void look_at_levels(struct checker *checker,
                           const struct check_impl *impl,
                           const struct orr_model_row *row,
                           const struct perfmodel_known *known)
{
    const struct orr_summary *summary = &known->summary;
    struct orr_finding_place place = check_place(impl, row);
    double far = summary->n ? (double)(summary->nlow + summary->nhigh) /
                                  (double)summary->n
                            : 0;
    double usual = summary->quantiles[ORR_Q50];

    if (summary->mixed)
        return; /* the estimate is their mean, which no run takes */
    if (far > FAR_MANY && summary->nregimes != 2)
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR, "two-regimes",
                         &place, impl->anew,
                         "%.0f %% of the last %u samples are far from the "
                         "others, which take %g µs: two levels, or a "
                         "calibration that was interrupted while its machine "
                         "was disturbed",
                         100 * far, summary->n, usual);
    if (summary->n && (known->estimate > LEVELS_APART * usual ||
                       known->estimate * LEVELS_APART < usual))
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR,
                         "estimate-off-samples", &place, impl->anew,
                         "simulations take %g µs, but half of the samples are "
                         "around %g µs: the estimate is of no run",
                         known->estimate, usual);
}

/* Checks by a valid side entry. Returns false when the row cannot be used. */
static bool look_with_side(struct checker *checker,
                           const struct check_impl *impl,
                           const struct orr_model_row *row,
                           const struct perfmodel_known *known)
{
    struct orr_finding_place place = check_place(impl, row);
    const struct orr_side_entry *side = known->side;

    if (!is_time(side->estimate)) {
        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR,
                         "impossible-time", &place, impl->anew,
                         "the side file's estimate is %g µs: no kernel takes "
                         "that long",
                         side->estimate);
        return false;
    }
    look_at_side(checker, impl, row, side, known->summary.mixed);
    if (known->summary.n == 0 && side->nrecent > 0)
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "side-broken",
                         &place, CHECK_MEASURE_MORE,
                         "the side file has samples that are no times");
    else {
        look_at_series(checker, impl, row, &known->summary, known->estimate);
        look_at_levels(checker, impl, row, known);
    }
    return true;
}

/* Checks by mean and deviation alone. */
static void look_without_side(struct checker *checker,
                              const struct check_impl *impl,
                              const struct orr_model_row *row, bool stale,
                              double dev)
{
    struct orr_finding_place place = check_place(impl, row);

    if (stale)
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "stale-side",
                         &place, CHECK_MEASURE_MORE,
                         "the side file is stale: another program, perhaps "
                         "StarPU, has changed this row since; its plain mean "
                         "is used");
    look_at_spread(checker, impl, row, dev);
}

static void look_at_precision(struct checker *checker,
                              const struct check_impl *impl,
                              const struct check_row *r)
{
    struct orr_finding_place place = check_place(impl, r->row);
    const struct check_options *options = checker->options;

    if (r->row->n < options->minimum)
        orr_findings_add(
            checker->findings, ORR_SEVERITY_ERROR, "few-samples", &place,
            CHECK_MEASURE_MORE,
            "%u samples: below %u a time is not taken for calibrated",
            r->row->n, options->minimum);
    else if (isnan(r->half_width))
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "imprecise",
                         &place, CHECK_MEASURE_MORE,
                         "too few samples for the precision of %g µs",
                         r->value);
    else if (r->half_width > options->confidence)
        orr_findings_add(
            checker->findings,
            r->half_width > CHECK_HOPELESS * options->confidence
                ? ORR_SEVERITY_ERROR
                : ORR_SEVERITY_WARNING,
            "imprecise", &place, CHECK_MEASURE_MORE,
            "%g µs is known to ± %.2g %% only, from %u samples; ± %.2g %% is "
            "requested",
            r->value, 100 * r->half_width, r->row->n,
            100 * options->confidence);
}

static void look_at_speed(struct checker *checker,
                          const struct check_impl *impl,
                          const struct check_row *r)
{
    struct orr_finding_place place = check_place(impl, r->row);
    int type = check_type(impl);
    double peak = type < 0 ? 0 : checker->options->peak[type];
    double gflops = r->row->flops / r->value / 1e3;

    peak *= impl->comb->devices[0].ncores;
    if (peak > 0 && gflops > peak)
        orr_findings_add(
            checker->findings, ORR_SEVERITY_ERROR, "above-peak", &place,
            "check the flops that the codelet's tasks declare, then "
            "measure anew with STARPU_CALIBRATE=2",
            "%.4g GFlop/s are more than the peak of %.4g", gflops, peak);
}

/* StarPU's rule has emptied it, or nothing was measured but first runs: what the side
 * file knows counts, if that is something. */
static int check_empty_row(struct checker *checker, const struct check_impl *impl,
                           struct check_row *r, const struct perfmodel_known *known)
{
    struct orr_finding_place place = check_place(impl, r->row);

    r->sound = !known->unknown;
    if (known->unknown) {
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "not-known", &place,
                         CHECK_MEASURE_MORE, "not known: %s", known->unknown);
        return 0;
    }
    r->origin = perfmodel_row_origin(r->row, impl->model->origin, known->side);
    r->value = known->estimate;
    r->half_width = known->half_width;
    r->independent = known->independent;
    r->calibrated = known->n >= checker->options->minimum;
    return 0;
}

static int check_row(struct checker *checker, const struct check_impl *impl,
                     struct check_row *r)
{
    struct perfmodel_known known;
    struct orr_model_row row = *r->row;
    int rc;

    r->half_width = NAN;
    r->origin = perfmodel_row_origin(r->row, impl->model->origin, NULL);
    if (row.n == 0) {
        rc = perfmodel_know(impl->model->side, impl->comb, impl->number, &row,
                            &known);
        return rc < 0 ? rc : check_empty_row(checker, impl, r, &known);
    }
    r->sound = check_row_values(checker, impl, r->row);
    if (!r->sound)
        return 0;
    row.dev = look_at_sums(checker, impl, r->row);
    rc = perfmodel_know(impl->model->side, impl->comb, impl->number, &row,
                        &known);
    if (rc < 0)
        return rc;
    r->origin = perfmodel_row_origin(r->row, impl->model->origin, known.side);
    if (known.side)
        r->sound = look_with_side(checker, impl, r->row, &known);
    else if (orr_origin_is_measured(r->origin))
        look_without_side(checker, impl, r->row, known.stale, row.dev);
    if (!r->sound)
        return 0;
    r->value = known.estimate;
    r->half_width = known.half_width;
    r->independent = known.independent;
    /* Computed figures have no spread of measures. */
    if (orr_origin_is_measured(r->origin))
        look_at_precision(checker, impl, r);
    look_at_speed(checker, impl, r);
    r->calibrated = r->row->n >= checker->options->minimum;
    return 0;
}

int check_rows(struct checker *checker, struct check_impl *impl)
{
    int rc = 0;

    for (unsigned i = 0; i < impl->nrows && rc == 0; i++) {
        impl->rows[i].row = &impl->impl->rows[i];
        rc = check_row(checker, impl, &impl->rows[i]);
    }
    return rc;
}

int check_value(const struct check_model *model,
                const struct orr_model_comb *comb, unsigned number,
                const struct orr_model_row *row, double *ret_value,
                double *ret_half_width, enum orr_origin *ret_origin)
{
    static const struct check_options options = {.confidence = 1};
    struct orr_findings unused = {0};
    struct checker checker = {.options = &options, .findings = &unused};
    struct check_impl impl = {.model = model,
                              .comb = comb,
                              .impl = &comb->impls[number],
                              .number = number};
    struct check_row r = {.row = row};
    int rc = check_row(&checker, &impl, &r);

    if (unused.failed)
        rc = -ENOMEM;
    orr_findings_done(&unused);
    if (rc < 0)
        return rc;
    *ret_origin = r.origin;
    *ret_value = *ret_half_width = NAN;
    if (r.sound) {
        *ret_value = r.value;
        *ret_half_width = r.half_width;
    }
    return 0;
}

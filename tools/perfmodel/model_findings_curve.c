/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings_curve.c - compares the rows of one
 * implementation, and checks whether its formula can be used. One thread.
 */
#include "perfmodel/curve.h"
#include "perfmodel/regression.h"
#include "tools/perfmodel/model_findings_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SIZE_LARGER 2.0 /* "grows a lot" */
#define FALL_ODD    0.7 /* what is left of the time when it does */
#define FALL_ERROR  (1 / 3.0)
#define FIT_OFF                                                                \
    1.5                 /* factor by which rows may differ from their
                         * neighbours */
#define FIT_FAR     5.0 /* ... and from which the row must be wrong */
#define FIT_ERRORS  3.0 /* or this many times what neighbours usually miss */
#define ON_LINE     1.2 /* tolerated factor from the line */
#define FORMULA_OFF 0.5 /* relative error of a formula at the rows */
#define NEIGHBOURS  5   /* rows on each side that a row is compared with */
#define LEAST_SIZES 4   /* to compare one with the others */

/* -- rows twice -- */

static void look_at_twins(struct checker *checker,
                          const struct check_impl *impl,
                          const struct check_row *a, const struct check_row *b)
{
    struct orr_finding_place place = check_place(impl, a->row);
    double ratio = b->row->mean / a->row->mean;
    bool differ = !(fabs(ratio - 1) <= checker->options->confidence);

    orr_findings_add(
        checker->findings, differ ? ORR_SEVERITY_ERROR : ORR_SEVERITY_WARNING,
        "duplicate-row", &place, impl->anew,
        "two rows of this footprint (%g µs with n %u, %g µs with n "
        "%u): which counts depends on the reader",
        a->row->mean, a->row->n, b->row->mean, b->row->n);
}

static void look_at_duplicates(struct checker *checker,
                               const struct check_impl *impl)
{
    for (unsigned i = 1; i < impl->nrows; i++)
        for (unsigned j = 0; j < i; j++)
            if (impl->rows[i].row->hash == impl->rows[j].row->hash) {
                look_at_twins(checker, impl, &impl->rows[j], &impl->rows[i]);
                break;
            }
}

/* -- time over size -- */

/* Sound rows with a size, the smallest first. */
static unsigned sorted_rows(const struct check_impl *impl,
                            const struct check_row **ret)
{
    unsigned n = 0;

    for (unsigned i = 0; i < impl->nrows; i++) {
        unsigned k;

        if (!impl->rows[i].sound || impl->rows[i].row->size == 0)
            continue;
        for (k = n++; k > 0 && ret[k - 1]->row->size > impl->rows[i].row->size;
             k--)
            ret[k] = ret[k - 1];
        ret[k] = &impl->rows[i];
    }
    return n;
}

/* Whether `big` certainly has much more to do than `small`. */
static bool is_more_work(const struct orr_model_row *small,
                         const struct orr_model_row *big)
{
    if ((double)big->size < SIZE_LARGER * (double)small->size)
        return false;
    return !(small->flops > 0 && big->flops > 0) ||
           big->flops >= SIZE_LARGER * small->flops;
}

/* The worst fall of the time where the size grows. */
static void look_at_falls(struct checker *checker,
                          const struct check_impl *impl,
                          const struct check_row *const *rows, unsigned n)
{
    const struct check_row *small = NULL, *big = NULL;
    struct orr_finding_place place;
    double worst = FALL_ODD;

    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i + 1; j < n; j++)
            if (is_more_work(rows[i]->row, rows[j]->row) &&
                rows[j]->value < worst * rows[i]->value) {
                worst = rows[j]->value / rows[i]->value;
                small = rows[i];
                big = rows[j];
            }
    if (!small)
        return;
    place = check_place(impl, big->row);
    orr_findings_add(
        checker->findings,
        worst < FALL_ERROR ? ORR_SEVERITY_ERROR : ORR_SEVERITY_WARNING,
        "falls-with-size", &place, impl->anew,
        "size %llu takes %g µs, though %llu, footprint %08x, takes "
        "%g µs: one of the two is wrong",
        (unsigned long long)big->row->size, big->value,
        (unsigned long long)small->row->size, small->row->hash, small->value);
}

/* Adds up to NEIGHBOURS rows on one side of rows[k], step +1 or -1, as points.
 * Returns how many there are then. */
static unsigned add_neighbours(const struct check_row *const *rows,
                               const bool *set_aside, unsigned n, unsigned k,
                               int step, struct orr_point *points, unsigned m)
{
    unsigned most = m + NEIGHBOURS;

    for (unsigned i = k + (unsigned)step; i < n && m < most;
         i += (unsigned)step) /* below 0 is above n */
        if (rows[i]->row->size != rows[k]->row->size && !set_aside[i])
            points[m++] = (struct orr_point){.x = (double)rows[i]->row->size,
                                             .y = rows[i]->value,
                                             .n = rows[i]->row->n};
    return m;
}

/* The estimate from the neighbouring sizes at that of rows[k]. */
static struct orr_estimate
estimate_from_others(const struct check_row *const *rows, const bool *set_aside,
                     unsigned n, unsigned k)
{
    struct orr_point points[2 * NEIGHBOURS];
    unsigned m = add_neighbours(rows, set_aside, n, k, -1, points, 0);

    m = add_neighbours(rows, set_aside, n, k, 1, points, m);
    return orr_interpolate(points, m, (double)rows[k]->row->size);
}

/* Whether a row lies so near to the straight line between the sizes beside it,
 * in logarithms, that no better curve is needed. */
static bool is_on_line(const struct check_row *const *rows,
                       const bool *set_aside, unsigned n, unsigned k)
{
    double x = log((double)rows[k]->row->size), share;
    const struct check_row *below, *above;
    unsigned i = k, j = k;

    while (i < n && (set_aside[i] || rows[i]->row->size == rows[k]->row->size))
        i--; /* below 0 is above n */
    while (j < n && (set_aside[j] || rows[j]->row->size == rows[k]->row->size))
        j++;
    if (i >= n || j >= n)
        return false;
    below = rows[i];
    above = rows[j];
    share = (x - log((double)below->row->size)) /
            log((double)above->row->size / (double)below->row->size);
    return fabs(log(rows[k]->value / below->value) -
                share * log(above->value / below->value)) < log(ON_LINE);
}

/* Finds the row that is farthest from the estimate of the others, in units of
 * the tolerance. Returns n when all are near enough. */
static unsigned find_outlier_row(const struct check_row *const *rows,
                                 const bool *set_aside, unsigned n,
                                 struct orr_estimate *ret)
{
    double worst = 1;
    unsigned found = n;

    for (unsigned k = 0; k < n; k++) {
        struct orr_estimate estimate;
        double tolerated, off;

        if (set_aside[k] || is_on_line(rows, set_aside, n, k))
            continue;
        estimate = estimate_from_others(rows, set_aside, n, k);
        if (!(estimate.value > 0))
            continue;
        tolerated =
            fmax(log(FIT_OFF), log1p(FIT_ERRORS * fmax(estimate.error, 0)));
        off = fabs(log(rows[k]->value / estimate.value)) / tolerated;
        if (off > worst) {
            worst = off;
            found = k;
            *ret = estimate;
        }
    }
    return found;
}

/* Rows that differ from the estimate of the others, the farthest first; each is
 * set aside before the rest is checked, since it distorts the estimates of its
 * neighbours. */
static void look_at_fit(struct checker *checker, const struct check_impl *impl,
                        const struct check_row *const *rows, unsigned n,
                        bool *set_aside)
{
    for (unsigned left = n; left >= LEAST_SIZES; left--) {
        struct orr_estimate estimate = {0};
        unsigned k = find_outlier_row(rows, set_aside, n, &estimate);
        struct orr_finding_place place;
        double ratio;

        if (k == n)
            return;
        set_aside[k] = true;
        place = check_place(impl, rows[k]->row);
        ratio = rows[k]->value / estimate.value;
        orr_findings_add(
            checker->findings,
            ratio > FIT_FAR || ratio < 1 / FIT_FAR ? ORR_SEVERITY_ERROR
                                                   : ORR_SEVERITY_WARNING,
            "off-the-curve", &place, impl->anew,
            "size %llu takes %g µs; the other sizes let expect %g µs",
            (unsigned long long)rows[k]->row->size, rows[k]->value,
            estimate.value);
    }
}

static int look_at_sizes(struct checker *checker, const struct check_impl *impl)
{
    const struct check_row **rows = calloc(impl->nrows, sizeof(*rows));
    bool *set_aside = calloc(impl->nrows, sizeof(*set_aside));
    int rc = rows && set_aside ? 0 : -ENOMEM;

    if (rc == 0) {
        unsigned n = sorted_rows(impl, rows);

        look_at_falls(checker, impl, rows, n);
        look_at_fit(checker, impl, rows, n, set_aside);
    }
    free(set_aside);
    free(rows);
    return rc;
}

/* -- the formula -- */

static void look_at_range(struct checker *checker,
                          const struct check_impl *impl)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct orr_finding_place place = check_place(impl, NULL);
    enum orr_severity severity = ORR_SEVERITY_WARNING;

    if (impl->nrows == 0)
        severity = ORR_SEVERITY_ERROR; /* there is no other estimate */
    if (fit->n < checker->options->minimum)
        orr_findings_add(
            checker->findings, severity, "formula-few-samples", &place,
            CHECK_MEASURE_MORE,
            "the formula rests on %u samples; below %u it is not used", fit->n,
            checker->options->minimum);
    if (!orr_fit_believed(fit, 0))
        orr_findings_add(
            checker->findings, severity, "formula-range", &place,
            "measure other sizes too: run PROGRAM with "
            "STARPU_CALIBRATE=1 for sizes from small to large",
            "the formula was fitted to sizes %llu to %llu only: it "
            "is not used before the largest exceeds the smallest by "
            "more than a ninth",
            (unsigned long long)fit->minx, (unsigned long long)fit->maxx);
}

/* Whether a regression grows and stays positive where it is used; adds a
 * finding if not. */
static bool
is_regression_good(struct checker *checker, const struct check_impl *impl,
                   double (*regression)(const struct orr_model_fit *, double),
                   const char *formula)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct orr_finding_place place = check_place(impl, NULL);
    double low = regression(fit, 0.9 * (double)fit->minx);
    double high = regression(fit, 1.1 * (double)fit->maxx);

    if (low > 0 && high >= low && isfinite(high))
        return true;
    orr_findings_add(checker->findings, ORR_SEVERITY_ERROR,
                     "formula-impossible", &place, impl->anew,
                     "%s gives %g µs at the smallest size and %g µs at the "
                     "largest: times neither fall nor vanish",
                     formula, low, high);
    return false;
}

/* Compares the regression with what was measured, by the median of the
 * errors. */
static int
look_at_agreement(struct checker *checker, const struct check_impl *impl,
                  double (*regression)(const struct orr_model_fit *, double),
                  const char *formula)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct orr_finding_place place = check_place(impl, NULL);
    double *errors = calloc(impl->nrows + 1, sizeof(*errors)), median;
    unsigned n = 0;

    if (!errors)
        return -ENOMEM;
    for (unsigned i = 0; i < impl->nrows; i++) {
        const struct check_row *r = &impl->rows[i];
        double error;
        unsigned k;

        if (!r->sound || r->row->size == 0)
            continue;
        error = fabs(regression(fit, (double)r->row->size) / r->value - 1);
        for (k = n++; k > 0 && errors[k - 1] > error; k--)
            errors[k] = errors[k - 1];
        errors[k] = error;
    }
    median = n ? errors[n / 2] : 0;
    free(errors);
    if (median > FORMULA_OFF)
        orr_findings_add(checker->findings, ORR_SEVERITY_WARNING, "formula-off",
                         &place, CHECK_MEASURE_MORE,
                         "%s is off the measured rows by %.0f %% (median)",
                         formula, 100 * median);
    return 0;
}

static int
check_regression(struct checker *checker, const struct check_impl *impl,
                 double (*regression)(const struct orr_model_fit *, double),
                 const char *formula)
{
    return is_regression_good(checker, impl, regression, formula)
               ? look_at_agreement(checker, impl, regression, formula)
               : 0;
}

static void look_at_coefficients(struct checker *checker,
                                 const struct check_impl *impl)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct orr_finding_place place = check_place(impl, NULL);
    bool any = false, broken = false;

    for (unsigned i = 0; i < fit->ncoeff; i++) {
        any |= fit->coeff[i] != 0;
        broken |= !isfinite(fit->coeff[i]);
    }
    if (broken || !any)
        orr_findings_add(
            checker->findings, ORR_SEVERITY_ERROR, "no-coefficients", &place,
            "measure with more combinations of the parameters: run "
            "PROGRAM with STARPU_CALIBRATE=1",
            "the multiple regression has no usable coefficients");
}

static int look_at_formula(struct checker *checker,
                           const struct check_impl *impl)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    bool power = isfinite(fit->alpha) && isfinite(fit->beta);
    bool offset = isfinite(fit->a) && isfinite(fit->b) && isfinite(fit->c);
    int rc = 0;

    if (fit->ncoeff > 0)
        look_at_coefficients(checker, impl);
    if (!power && !offset && fit->n == 0)
        return 0; /* a history */
    look_at_range(checker, impl);
    if (!orr_fit_believed(fit, 0))
        return 0;
    if (power)
        rc = check_regression(checker, impl, orr_model_fit_power,
                              "alpha·x^beta");
    if (rc == 0 && offset)
        rc = check_regression(checker, impl, orr_model_fit_offset, "a·x^b + c");
    return rc;
}

int check_curve(struct checker *checker, const struct check_impl *impl)
{
    int rc = 0;

    if (impl->nrows > 0) {
        look_at_duplicates(checker, impl);
        rc = look_at_sizes(checker, impl);
    }
    return rc == 0 ? look_at_formula(checker, impl) : rc;
}

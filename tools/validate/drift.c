/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/drift.c - see drift.h. No state. */
#include "tools/validate/drift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/distributions.h"
#include "perfmodel/robust.h"

/* Of a model without an error: that of 2 % confidence. */
static const double usual_error = 0.01;

/* Standard deviation that a program's makespan has between repetitions, before
 * they have shown their own; counts for DRIFT_PRIOR_DOF of them. */
static const double usual_end_noise = 0.03;

double drift_median(double *values, unsigned n)
{
    unsigned known = 0;

    for (unsigned i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[known++] = values[i];
    if (!known)
        return (double)NAN;
    orr_sort(values, known);
    return (values[(known - 1) / 2] + values[known / 2]) / 2;
}

/* The value that Student's t exceeds, on either side, with probability p. */
static double student_beyond(double p, double dof)
{
    return orr_student_within(1 - p, dof);
}

/* Makes 1.4826 · MAD of n normal values the standard deviation on average
 * (Croux & Rousseeuw 1992, "Time-efficient algorithms for two highly robust
 * estimators of scale"). */
static double mad_factor(unsigned n)
{
    static const double small[] = {0,     0,     1.196, 1.495, 1.363,
                                   1.206, 1.200, 1.140, 1.129, 1.107};

    return n < 10 ? small[n] : n / (n - 0.8);
}

/* ln(measured / predicted) of item i in repetition r at i * nreps + r, and the
 * machine's part of it, types × nreps. Owned. */
struct series {
    double *logs, *common;
};

struct check {
    struct drift_item *items;
    unsigned n, nreps;
    struct series usual, fast; /* of times, and of fast_times */
    double *work; /* owned: 2n or nreps values, whichever is more */
    struct drift *drift;
};

static bool same_kernel(const struct drift_item *a, const struct drift_item *b)
{
    return !strcmp(a->kernel, b->kernel) && !strcmp(a->type, b->type);
}

static bool estimate_is_known(const struct drift_item *item)
{
    return item->estimate > 0 && isfinite(item->estimate);
}

/* Whether no item before it is of the same kernel. */
static bool is_first_of_kernel(const struct check *j, unsigned i)
{
    for (unsigned before = 0; before < i; before++)
        if (estimate_is_known(&j->items[before]) &&
            same_kernel(&j->items[before], &j->items[i]))
            return false;
    return estimate_is_known(&j->items[i]);
}

static double log_ratio(const struct drift_item *item, double us)
{
    return estimate_is_known(item) && us > 0 ? log(us / item->estimate)
                                             : (double)NAN;
}

static void fill_logs(struct check *j)
{
    for (unsigned i = 0; i < j->n; i++)
        for (unsigned r = 0; r < j->nreps; r++) {
            const struct drift_item *item = &j->items[i];
            unsigned at = i * j->nreps + r;
            double fast = (double)NAN;

            if (item->fast_times)
                fast = log_ratio(item, item->fast_times[r]);
            j->usual.logs[at] = log_ratio(item, item->times[r]);
            j->fast.logs[at] = isnan(fast) ? j->usual.logs[at] : fast;
        }
}

/* The slowdown of all sizes of the kernel of item i in repetition r. */
static double kernel_shift(const struct check *j, const double *logs,
                           unsigned i, unsigned r, double *work)
{
    unsigned m = 0;

    for (unsigned other = i; other < j->n; other++)
        if (same_kernel(&j->items[i], &j->items[other]))
            work[m++] = logs[other * j->nreps + r];
    return drift_median(work, m);
}

/* The machine's part in one repetition: the median of at least three kernels.
 * Of two that disagree the one that is nearer to its model counts: one wrong
 * model is more likely than a changed machine and a wrong model. */
static double common_shift(const struct check *j, const double *logs,
                           const char *type, unsigned r)
{
    double *shifts = j->work, *work = j->work + j->n;
    unsigned m = 0;

    for (unsigned i = 0; i < j->n; i++)
        if (is_first_of_kernel(j, i) && !strcmp(j->items[i].type, type)) {
            double shift = kernel_shift(j, logs, i, r, work);

            if (!isnan(shift))
                shifts[m++] = shift;
        }
    if (m < 2)
        return 0;
    if (m == 2)
        return fabs(shifts[0]) < fabs(shifts[1]) ? shifts[0] : shifts[1];
    return drift_median(shifts, m);
}

static void find_types(struct check *j)
{
    struct drift *drift = j->drift;

    for (unsigned i = 0; i < j->n; i++) {
        unsigned k = 0;

        if (!is_first_of_kernel(j, i))
            continue;
        while (k < drift->ntypes &&
               strcmp(drift->types[k].name, j->items[i].type) != 0)
            k++;
        if (k == DRIFT_TYPES)
            continue;
        if (k == drift->ntypes)
            drift->types[drift->ntypes++] =
                (struct drift_type){.name = j->items[i].type};
        drift->types[k].nkernels++;
    }
}

/* The excess of item i beyond the machine's part in repetition r. */
static double excess_beyond_common(const struct check *j,
                                   const struct series *series, unsigned i,
                                   unsigned r)
{
    double common = 0;

    for (unsigned k = 0; k < j->drift->ntypes; k++)
        if (!strcmp(j->drift->types[k].name, j->items[i].type))
            common = series->common[k * j->nreps + r];
    return series->logs[i * j->nreps + r] - common;
}

/* The same, as far as the fast runs agree: the effect of a busy machine on slow
 * ones is no drift. */
static double excess_agreed_by_runs(const struct check *j, unsigned i,
                                    unsigned r)
{
    double usual = excess_beyond_common(j, &j->usual, i, r);
    double fast = excess_beyond_common(j, &j->fast, i, r);

    if (usual * fast <= 0)
        return 0;
    return fabs(usual) < fabs(fast) ? usual : fast;
}

/* Median of item i's excess, and the spread between repetitions. */
static void measure_item(struct check *j, unsigned i)
{
    struct drift_item *item = &j->items[i];
    double *work = j->work, middle;

    for (unsigned r = 0; r < j->nreps; r++) {
        work[r] = j->usual.logs[i * j->nreps + r];
        item->nreps += !isnan(work[r]);
    }
    item->shift = drift_median(work, j->nreps);
    for (unsigned r = 0; r < j->nreps; r++)
        work[r] = excess_agreed_by_runs(j, i, r);
    item->excess = drift_median(work, j->nreps);
    for (unsigned r = 0; r < j->nreps; r++)
        work[r] = excess_beyond_common(j, &j->usual, i, r);
    middle = item->usual = drift_median(work, j->nreps);
    for (unsigned r = 0; r < j->nreps; r++)
        work[r] = fabs(excess_beyond_common(j, &j->usual, i, r) - middle);
    item->noise =
        1.4826 * drift_median(work, j->nreps) * mad_factor(item->nreps);
}

/* Joins the variance of n repetitions with what others have, which counts for
 * some degrees of freedom more (Smyth 2004, "Linear models and empirical Bayes
 * methods", eq. 5; the prior's weight is fixed here). */
static double moderated_deviation(double prior, double own, double dof)
{
    return sqrt((DRIFT_PRIOR_DOF * prior * prior + dof * own * own) /
                (DRIFT_PRIOR_DOF + dof));
}

/* The noise of all sizes of the kernel of item i, where `usual` is that of all
 * kernels. */
static double kernel_noise(const struct check *j, unsigned i, double usual)
{
    double sum = 0, dof = 0;

    for (unsigned other = 0; other < j->n; other++) {
        const struct drift_item *item = &j->items[other];
        double d = item->nreps - 1.0;

        if (item->nreps < DRIFT_REPEATS || !same_kernel(item, &j->items[i]))
            continue;
        sum += d * item->noise * item->noise;
        dof += d;
    }
    return moderated_deviation(usual, sqrt(sum / dof), dof);
}

/* A few repetitions give a poor estimate of an item's noise: that of its
 * kernel's other sizes counts as well, and that of the other kernels. */
static void moderate_noise(struct check *j)
{
    double *joined = j->work, usual;

    for (unsigned i = 0; i < j->n; i++)
        joined[i] = j->items[i].nreps >= DRIFT_REPEATS ? j->items[i].noise
                                                       : (double)NAN;
    usual = drift_median(joined, j->n);
    for (unsigned i = 0; i < j->n; i++)
        if (j->items[i].nreps >= DRIFT_REPEATS)
            joined[i] =
                moderated_deviation(kernel_noise(j, i, usual),
                                    j->items[i].noise, j->items[i].nreps - 1.0);
    for (unsigned i = 0; i < j->n; i++)
        if (j->items[i].nreps >= DRIFT_REPEATS)
            j->items[i].noise = joined[i];
}

/* The median of n normal values has a standard error of √(π/2) · σ/√n. */
static double median_error(double noise, unsigned n)
{
    return sqrt(M_PI / 2 / n) * noise;
}

static void check_item(struct check *j, unsigned i)
{
    struct drift_item *item = &j->items[i];
    double error = item->error > 0 ? item->error : usual_error;
    double own = median_error(item->noise, item->nreps);

    item->threshold =
        fmax(DRIFT_LEAST, student_beyond(DRIFT_FAMILY / j->drift->nchecked,
                                         DRIFT_PRIOR_DOF + item->nreps - 1) *
                              hypot(own, error));
    for (unsigned r = 0; r < j->nreps; r++) {
        double excess = excess_agreed_by_runs(j, i, r);

        item->nabove +=
            excess * item->excess > 0 && fabs(excess) > item->threshold;
    }
    item->drifted =
        fabs(item->excess) > item->threshold && 2 * item->nabove > item->nreps;
    j->drift->ndrifted += item->drifted;
}

static void check_drift_of_type(struct check *j, unsigned k)
{
    struct drift_type *type = &j->drift->types[k];
    double *work = j->work, noise;

    memcpy(work, &j->usual.common[k * j->nreps], j->nreps * sizeof(*work));
    type->shift =
        type->nkernels > 1 ? drift_median(work, j->nreps) : (double)NAN;
    if (j->nreps < DRIFT_REPEATS || type->nkernels < 2)
        return;
    for (unsigned r = 0; r < j->nreps; r++)
        work[r] = fabs(j->usual.common[k * j->nreps + r] - type->shift);
    noise = 1.4826 * drift_median(work, j->nreps) * mad_factor(j->nreps);
    type->threshold = fmax(
        DRIFT_LEAST / 2, student_beyond(DRIFT_FAMILY, j->nreps - 1) *
                             hypot(median_error(noise, j->nreps), usual_error));
    type->shifted = fabs(type->shift) > type->threshold;
}

static void fill_common(const struct check *j, const struct series *series)
{
    for (unsigned k = 0; k < j->drift->ntypes; k++)
        for (unsigned r = 0; r < j->nreps; r++)
            series->common[k * j->nreps + r] =
                common_shift(j, series->logs, j->drift->types[k].name, r);
}

static void check_drift_of_items(struct check *j)
{
    fill_logs(j);
    find_types(j);
    fill_common(j, &j->usual);
    fill_common(j, &j->fast);
    for (unsigned i = 0; i < j->n; i++) {
        measure_item(j, i);
        j->drift->nchecked += j->items[i].nreps >= DRIFT_REPEATS;
    }
    moderate_noise(j);
    for (unsigned i = 0; i < j->n; i++)
        if (j->items[i].nreps >= DRIFT_REPEATS)
            check_item(j, i);
    for (unsigned k = 0; k < j->drift->ntypes; k++)
        check_drift_of_type(j, k);
}

static int series_init(struct series *series, unsigned n, unsigned nreps)
{
    series->logs = calloc((size_t)n * nreps + 1, sizeof(double));
    series->common = calloc((size_t)DRIFT_TYPES * nreps + 1, sizeof(double));
    return series->logs && series->common ? 0 : -ENOMEM;
}

static void series_done(struct series *series)
{
    free(series->logs);
    free(series->common);
}

int drift_check(struct drift_item *items, unsigned n, unsigned nreps,
                struct drift *ret)
{
    unsigned most = 2 * n > nreps ? 2 * n : nreps;
    struct check j = {.items = items, .n = n, .nreps = nreps, .drift = ret};
    int rc = -ENOMEM;

    *ret = (struct drift){0};
    for (unsigned i = 0; i < n; i++) {
        struct drift_item *item = &items[i];

        item->shift = item->excess = item->noise = (double)NAN;
        item->usual = (double)NAN;
        item->threshold = (double)NAN;
        item->nabove = item->nreps = 0;
        item->drifted = false;
    }
    j.work = calloc((size_t)most + 1, sizeof(double));
    if (j.work && series_init(&j.usual, n, nreps) == 0 &&
        series_init(&j.fast, n, nreps) == 0) {
        check_drift_of_items(&j);
        rc = 0;
    }
    series_done(&j.usual);
    series_done(&j.fast);
    free(j.work);
    return rc;
}

/* Of an error within that threshold. */
static enum drift_verdict verdict_within(double threshold)
{
    return threshold > DRIFT_MOST ? DRIFT_CANNOT_TELL : DRIFT_FITS;
}

enum drift_verdict drift_end_verdict(double shift, double threshold)
{
    if (isnan(shift))
        return DRIFT_NOT_CHECKED;
    return fabs(shift) > threshold ? DRIFT_DRIFTED : verdict_within(threshold);
}

enum drift_verdict drift_verdict(const struct drift_item *item, double shift)
{
    if (!estimate_is_known(item))
        return DRIFT_NO_MODEL;
    if (isnan(item->threshold) || isnan(shift))
        return DRIFT_NOT_CHECKED;
    if (item->drifted)
        return DRIFT_DRIFTED;
    if (fabs(shift) <= item->threshold)
        return verdict_within(item->threshold);
    return fabs(item->usual) > item->threshold ? DRIFT_DISTURBED
                                               : DRIFT_SHIFTED;
}

const char *drift_verdict_name(enum drift_verdict verdict, bool loud)
{
    static const char *const names[] = {
        [DRIFT_NO_MODEL] = "no model",   [DRIFT_NOT_CHECKED] = "not checked",
        [DRIFT_FITS] = "fits",           [DRIFT_CANNOT_TELL] = "cannot tell",
        [DRIFT_SHIFTED] = "shifted",
        [DRIFT_DISTURBED] = "disturbed", [DRIFT_LEVELS] = "two levels",
        [DRIFT_DRIFTED] = "drift"};

    if (loud && verdict == DRIFT_LEVELS)
        return "TWO LEVELS";
    return loud && verdict == DRIFT_DRIFTED ? "DRIFT" : names[verdict];
}

double drift_end_threshold(double *measured, unsigned n, unsigned nends)
{
    double middle = drift_median(measured, n), noise = 0, dof;
    unsigned known = 0;

    for (unsigned i = 0; i < n; i++)
        if (measured[i] > 0 && middle > 0)
            measured[known++] = fabs(log(measured[i] / middle));
    if (known > 1)
        noise = 1.4826 * drift_median(measured, known) * mad_factor(known);
    dof = known > 1 ? known - 1.0 : 0;
    noise = moderated_deviation(usual_end_noise, noise, dof);
    return fmax(DRIFT_END,
                student_beyond(DRIFT_FAMILY / nends, DRIFT_PRIOR_DOF + dof) *
                    median_error(noise, known ? known : 1));
}

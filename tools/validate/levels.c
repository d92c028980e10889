/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/levels.c - see levels.h. No state. */
#include "tools/validate/levels.h"

#include <math.h>

#include "tools/validate/drift.h"

/* Of the runs of a repetition: less is no level. */
static const double least_share = 0.03;

/* Of the outliers: those of a busy machine are of any length. */
static const double most_of_them = 0.8;

/* Outliers of all repetitions together: fewer may be alike by chance. */
static const double fewest = 8;

/* Largest over smallest that are still alike. */
static const double alike_share = 2, alike_level = 1.25;

static double sample_item(const struct levels_sample *sample, int which)
{
    return which == 0   ? sample->usual
           : which == 1 ? sample->other
                        : sample->other_share;
}

static bool values_within_ratio(const double *values, unsigned n, double ratio)
{
    double least = INFINITY, most = 0;

    for (unsigned i = 0; i < n; i++) {
        if (!(values[i] > 0))
            return false;
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    return n > 0 && most <= ratio * least;
}

bool levels_alike(const double *shares, unsigned n)
{
    return values_within_ratio(shares, n, alike_share);
}

/* The median of one item over the repetitions; NaN when they are not alike. */
static double median_if_alike(const struct levels_sample *samples, unsigned n,
                              int which, double ratio, double *work)
{
    for (unsigned i = 0; i < n; i++)
        work[i] = sample_item(&samples[i], which);
    return values_within_ratio(work, n, ratio) ? drift_median(work, n)
                                               : (double)NAN;
}

bool levels_find(const struct levels_sample *samples, unsigned n, double *work,
                 struct levels *ret)
{
    double outliers = 0;

    *ret = (struct levels){(double)NAN, (double)NAN, (double)NAN};
    if (n < DRIFT_REPEATS)
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (!(samples[i].other_share >= least_share &&
              samples[i].other_share >=
                  most_of_them * samples[i].aside_share))
            return false;
        outliers += samples[i].other_share * samples[i].runs;
    }
    ret->usual = median_if_alike(samples, n, 0, alike_level, work);
    ret->other = median_if_alike(samples, n, 1, alike_level, work);
    ret->share = median_if_alike(samples, n, 2, alike_share, work);
    return outliers >= fewest && ret->usual > 0 && ret->other > 0 &&
           ret->share > 0;
}

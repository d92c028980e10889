/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/advise/value.c - see value.h. */
#include "tools/advise/value.h"

#include <math.h>
#include <stdlib.h>

/* Slopes that are less than so many of their standard errors may be chance: where values are
 * means over draws, and where each of many figures is told. */
enum { SURE_OF_VALUE = 2, SURE_OF_SLOPE = 3 };

static double loss_of(const struct choices *choices, size_t c, size_t d)
{
    return choices->losses[c * choices->ndraws + d];
}

double choice_mean(const struct choices *choices, size_t c)
{
    double sum = 0;

    for (size_t d = 0; d < choices->ndraws; d++)
        sum += loss_of(choices, c, d);
    return sum / (double)choices->ndraws;
}

double choice_first_share(const struct choices *choices, size_t c)
{
    double first = 0;

    for (size_t d = 0; d < choices->ndraws; d++) {
        double own = loss_of(choices, c, d);
        unsigned before = 0, with = 0;

        for (size_t other = 0; other < choices->n; other++) {
            before += loss_of(choices, other, d) < own;
            with += loss_of(choices, other, d) <= own && loss_of(choices, other, d) >= own;
        }
        if (!isnan(own) && before == 0)
            first += 1.0 / with;
    }
    return first / (double)choices->ndraws;
}

size_t choices_best(const struct choices *choices)
{
    size_t best = choices->n;
    double least = (double)INFINITY;

    for (size_t c = 0; c < choices->n; c++) {
        double mean = choice_mean(choices, c);

        if (mean < least) {
            least = mean;
            best = c;
        }
    }
    return best;
}

double choices_regret(const struct choices *choices)
{
    size_t best = choices_best(choices);
    double sum = 0;

    if (best == choices->n)
        return (double)NAN;
    for (size_t d = 0; d < choices->ndraws; d++) {
        double least = loss_of(choices, best, d);

        for (size_t c = 0; c < choices->n; c++)
            if (!isnan(choice_mean(choices, c)))
                least = fmin(least, loss_of(choices, c, d));
        sum += loss_of(choices, best, d) - least;
    }
    return sum / (double)choices->ndraws;
}

/* y = mean + slope (x - mean of x). */
struct line {
    double mean, slope, mean_x;
};

/* Of values value(arg, d); the slope is 0 where it is below `sure` of its standard errors. */
static struct line fit(size_t n, const double *x, double (*value)(const void *arg, size_t d),
                       const void *arg, double sure)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, rest = 0, error;
    struct line line;

    for (size_t d = 0; d < n; d++) {
        sx += x[d];
        sy += value(arg, d);
    }
    line = (struct line){.mean = sy / (double)n, .mean_x = sx / (double)n};
    for (size_t d = 0; d < n; d++) {
        double dx = x[d] - line.mean_x;

        sxx += dx * dx;
        sxy += dx * (value(arg, d) - line.mean);
    }
    if (!(sxx > 0) || n < 4)
        return line;
    line.slope = sxy / sxx;
    for (size_t d = 0; d < n; d++) {
        double off = value(arg, d) - line.mean - line.slope * (x[d] - line.mean_x);

        rest += off * off;
    }
    error = sqrt(rest / (double)(n - 2) / sxx);
    if (!(fabs(line.slope) >= sure * error))
        line.slope = 0;
    return line;
}

struct candidate {
    const struct choices *choices;
    size_t c;
};

static double log_value(const void *arg, size_t d)
{
    const struct candidate *candidate = arg;

    return log(loss_of(candidate->choices, candidate->c, d));
}

/* What a candidate would save. */
struct saving {
    const struct choices *choices;
    size_t best, c;
};

static double saving_value(const void *arg, size_t d)
{
    const struct saving *saving = arg;

    return loss_of(saving->choices, saving->best, d) - loss_of(saving->choices, saving->c, d);
}

/* The most that any candidate is expected to save where the figure is x, at least nothing. */
static double most_saved(const struct line *lines, size_t n, double x)
{
    double most = 0;

    for (size_t c = 0; c < n; c++)
        most = fmax(most, lines[c].mean + lines[c].slope * (x - lines[c].mean_x));
    return most;
}

double choices_figure_value(const struct choices *choices, const double *figure)
{
    size_t best = choices_best(choices);
    struct line *lines = calloc(choices->n, sizeof(*lines));
    double sum = 0;

    for (size_t c = 0; lines && best < choices->n && c < choices->n; c++) {
        const struct saving saving = {choices, best, c};

        lines[c] = fit(choices->ndraws, figure, saving_value, &saving, SURE_OF_VALUE);
    }
    for (size_t d = 0; lines && d < choices->ndraws; d++)
        sum += most_saved(lines, choices->n, figure[d]);
    free(lines);
    return sum / (double)choices->ndraws;
}

double choice_elasticity(const struct choices *choices, size_t c, const double *figure)
{
    const struct candidate candidate = {choices, c};

    return fit(choices->ndraws, figure, log_value, &candidate, SURE_OF_SLOPE).slope;
}

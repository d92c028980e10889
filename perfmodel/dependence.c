/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/dependence.c - normal scores, their first-order autocorrelation
 * and the variance that it leaves to averages. One thread, own memory.
 */
#include "perfmodel/dependence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/distributions.h"

struct ranked_sample {
    double value;
    unsigned index;
};

static int ranked_sample_compare(const void *a, const void *b)
{
    const struct ranked_sample *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* Samples of one value share the mean of their scores, at Blom's plotting
 * positions (1958). */
static void ranked_set_scores(struct orr_ranked *ranked,
                              const struct ranked_sample *order)
{
    unsigned n = ranked->n;

    ranked->energy = ranked->untied = 0;
    for (unsigned i = 0, end; i < n; i = end) {
        double sum = 0;

        for (end = i; end < n && order[end].value == order[i].value; end++) {
            double z = orr_normal_quantile((end + 0.625) / (n + 0.25));

            sum += z;
            ranked->untied += z * z / n;
        }
        sum /= end - i;
        ranked->energy += sum * sum * (end - i) / n;
        for (unsigned k = i; k < end; k++)
            ranked->scores[order[k].index] = sum;
    }
    if (order[0].value == order[n - 1].value)
        ranked->energy = 0;
}

int orr_ranked_init(struct orr_ranked *ranked, const double *samples,
                    unsigned n)
{
    struct ranked_sample *order;
    char *memory = malloc(n * (sizeof(*order) + 2 * sizeof(double)));

    if (!memory)
        return -ENOMEM;
    order = (struct ranked_sample *)memory;
    ranked->n = n;
    ranked->memory = memory;
    ranked->sorted = (double *)(order + n);
    ranked->scores = ranked->sorted + n;
    for (unsigned i = 0; i < n; i++)
        order[i] = (struct ranked_sample){samples[i], i};
    qsort(order, n, sizeof(*order), ranked_sample_compare);
    for (unsigned i = 0; i < n; i++)
        ranked->sorted[i] = order[i].value;
    ranked_set_scores(ranked, order);
    return 0;
}

void orr_ranked_done(struct orr_ranked *ranked)
{
    free(ranked->memory);
    ranked->memory = NULL;
}

double orr_variance_of_mean(double phi, unsigned n)
{
    double sum = n, power = 1;

    for (unsigned k = 1; k < n && fabs(power) > 1e-7; k++) {
        power *= phi;
        sum += 2.0 * (n - k) * power;
    }
    return sum / n / n;
}

/* The indicators of "below the median" of two standard normal variables of
 * correlation r have covariance asin(r) / 2 pi (Sheppard 1899). */
double orr_variance_of_share(double phi, unsigned n)
{
    double sum = n * M_PI_2, power = 1;

    for (unsigned k = 1; k < n && fabs(power) > 1e-7; k++) {
        power *= phi;
        sum += 2.0 * (n - k) * asin(power);
    }
    return sum / (2 * M_PI) / n / n;
}

/* Chance alone makes phi of shorter series so negative that intervals would be
 * much too narrow. */
enum { FEWEST_NEGATIVE = 30 };

/* Burg's estimate (1967), which stays within -1 … 1, corrected for two biases:
 * the rounding of a clock acts like noise of its own (Sheppard 1898), and short
 * series show (1 + 3 phi) / n too little (Kendall 1954). */
static double ranked_autocorrelation(const struct orr_ranked *ranked)
{
    const double *z = ranked->scores;
    unsigned n = ranked->n;
    double both = 0, cross = 0, phi;

    for (unsigned i = 1; i < n; i++) {
        both += z[i] * z[i] + z[i - 1] * z[i - 1];
        cross += 2 * z[i] * z[i - 1];
    }
    phi = cross / both * fmin(1.5, ranked->untied / ranked->energy);
    phi = (n * phi + 1) / (n - 3.0);
    return fmax(n < FEWEST_NEGATIVE ? 0 : -0.5, fmin(0.995, phi));
}

/* Mean square of the means of all n - b + 1 stretches of b scores, whose
 * overall mean is 0. */
static double mean_square_of_batches(const double *z, unsigned n, unsigned b)
{
    double sum = 0, total = 0;

    for (unsigned i = 0; i < b; i++)
        sum += z[i];
    for (unsigned i = b;; i++) {
        total += sum * sum;
        if (i == n)
            return total / b / b / (n - b + 1);
        sum += z[i] - z[i - b];
    }
}

/* Long-run variance by the means of stretches of b samples, over what it would
 * be under `phi`; both as means of squares about the overall mean. */
static double excess_of(const struct orr_ranked *ranked, double phi, unsigned b)
{
    unsigned n = ranked->n;
    double all = orr_variance_of_mean(phi, n);
    double expected = (orr_variance_of_mean(phi, b) - all) / (1 - all);

    return mean_square_of_batches(ranked->scores, n, b) /
           (ranked->energy * expected);
}

/* Stretches whose means are looked at, as parts of the series, and the ratio
 * that less than 0.7 % of the first-order series exceed: the 99.5 % quantile
 * of chi-square over its 3/2 n/b degrees of freedom (Meketon & Schmeiser 1984),
 * and a little for phi being estimated. */
static const struct {
    unsigned parts;
    double limit, half;
} scales[] = {{10, 2.3, 4}, {39, 1.55, 8}};

struct orr_dependence orr_dependence_of(const struct orr_ranked *ranked)
{
    struct orr_dependence ret = {0, 1, ranked->n / 2.0, ranked->n};
    unsigned n = ranked->n;

    if (ranked->energy <= 0 || n < 6)
        return ret;
    ret.phi = ranked_autocorrelation(ranked);
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        unsigned b = n / scales[i].parts;
        double ratio = b < 2 ? 1 : excess_of(ranked, ret.phi, b);

        double e = b * (1 - ret.phi) / (1 + ret.phi);

        if (ratio > 1 + (scales[i].limit - 1) * sqrt(e / (e + scales[i].half)))
            ret.excess = fmax(ret.excess, ratio);
    }
    ret.n = n * (1 - ret.phi) / (1 + ret.phi) / ret.excess;
    ret.freedom = fmax(2, ret.n / 2);
    return ret;
}

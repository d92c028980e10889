/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/variation.c - see variation.h: what needs samples only. */
#include "perfmodel/variation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/dependence.h"
#include "perfmodel/distributions.h"
#include "perfmodel/robust.h"

/* Two standard errors of the autocorrelation of independent samples (Bartlett
 * 1946): what is below may be chance. */
static double significant_autocorrelation(const struct orr_ranked *ranked)
{
    double phi = orr_dependence_of(ranked).phi;

    return phi > 2 / sqrt(ranked->n) ? phi : 0;
}

/* The mean of the distribution whose quantiles are linear between the sorted
 * values. */
static double mean_of_quantiles(const double *sorted, unsigned n)
{
    double sum = -(sorted[0] + sorted[n - 1]) / 2;

    for (unsigned i = 0; i < n; i++)
        sum += sorted[i];
    return sum / (n - 1);
}

int orr_variation_of(const double *samples, unsigned n,
                     struct orr_variation *ret)
{
    struct orr_ranked ranked;
    double *factors, mean;
    int rc;

    if (n < ORR_VARIATION_LEAST)
        return 0;
    rc = orr_ranked_init(&ranked, samples, n);
    if (rc)
        return rc;
    factors = malloc(n * sizeof(*factors));
    if (factors) {
        mean = mean_of_quantiles(ranked.sorted, n);
        for (unsigned i = 0; i < n; i++)
            factors[i] = ranked.sorted[i] / mean;
        *ret =
            (struct orr_variation){.phi = significant_autocorrelation(&ranked),
                                   .n = n,
                                   .factors = factors};
    }
    orr_ranked_done(&ranked);
    return factors ? 0 : -ENOMEM;
}

void orr_variation_done(struct orr_variation *variation)
{
    free(variation->factors);
    *variation = (struct orr_variation){0};
}

double orr_variation_factor(const struct orr_variation *v, double z)
{
    double variance; /* of the logarithm */

    if (v->n > 0)
        return orr_quantile(v->factors, v->n, orr_normal_below(z));
    variance = log1p(v->deviation * v->deviation);
    return exp(sqrt(variance) * z - variance / 2);
}

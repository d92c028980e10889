/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/variation.h - how the durations of a kernel vary around their mean: the
 * distribution of samples, and how much each resembles the one before. Plain data.
 */
#pragma once

#include <stdint.h>

#include "perfmodel/model.h"

/* Standard deviation over mean where nothing was measured: what derived models of
 * the catalogue have. */
#define ORR_VARIATION_UNMEASURED 0.02

/* Samples that a distribution needs; with less only the deviation counts. */
#define ORR_VARIATION_LEAST 16

/* Ended with orr_variation_done. */
struct orr_variation {
    double deviation; /* standard deviation over mean; used if n is 0 */
    double phi;       /* lag-1 autocorrelation of the samples' normal scores,
                       * 0 … 0.995; 0 also where it may be chance */
    unsigned n;
    double *factors; /* owned; n samples over their mean, ascending */
};

/* The variation of n samples, the oldest first. With less than
 * ORR_VARIATION_LEAST the variation has none of them, and *ret is left alone.
 * Errors: -ENOMEM. */
int orr_variation_of(const double *samples, unsigned n,
                     struct orr_variation *ret);
void orr_variation_done(struct orr_variation *variation);

/* The quantile of the distribution at a standard normal variable z; its mean is 1 if
 * z is one. Of samples: linear between order statistics (Hyndman & Fan 1996, type
 * 7), never beyond the least and the greatest. Else lognormal (Johnson, Kotz,
 * Balakrishnan, "Continuous univariate distributions" I, chapter 14). */
double orr_variation_factor(const struct orr_variation *variation, double z);

/* The variation of a footprint's measures: that of the samples beside the model, or
 * the deviation of its row, or the median of those of the other rows that were
 * measured on that comb, or ORR_VARIATION_UNMEASURED. Reads the samples at the first
 * call: takes the model's lock, may block on the file. Errors: -ENOMEM. */
int orr_model_variation(struct orr_model *model, unsigned comb, unsigned impl,
                        uint32_t footprint, struct orr_variation *ret);

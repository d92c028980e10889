/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/random_series.h - series of durations for the tests of statistics,
 * from random numbers of tests/rng.h.
 */
#pragma once

#include "tests/rng.h"

/* Standard normal variables with autocorrelations phi^k. */
static inline void rng_ar1(uint64_t *rng, double phi, double *ret, unsigned n)
{
    double y = rng_normal(rng), fresh = sqrt(1 - phi * phi);

    for (unsigned i = 0; i < n; i++) {
        ret[i] = y;
        y = phi * y + fresh * rng_normal(rng);
    }
}

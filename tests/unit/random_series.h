/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/random_series.h - seeded series of durations for the tests of
 * statistics. State is the caller's.
 */
#pragma once

#include <math.h>
#include <stdint.h>

struct series_rng {
    uint64_t state;
};

/* Streams of different numbers have nothing to do with each other. */
static inline uint64_t rng_next(struct series_rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u); /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline struct series_rng rng_of(uint64_t stream)
{
    struct series_rng rng = {stream};

    rng.state = rng_next(&rng) * 0xd1342543de82ef95u;
    rng.state ^= rng_next(&rng);
    return rng;
}

/* Within 0 … 1, neither of them. */
static inline double rng_uniform(struct series_rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

static inline double rng_normal(struct series_rng *rng)
{
    double radius = sqrt(-2 * log(rng_uniform(rng)));

    return radius * cos(2 * M_PI * rng_uniform(rng));
}

/* Standard normal variables with autocorrelations phi^k. */
static inline void rng_ar1(struct series_rng *rng, double phi, double *ret,
                           unsigned n)
{
    double y = rng_normal(rng), fresh = sqrt(1 - phi * phi);

    for (unsigned i = 0; i < n; i++) {
        ret[i] = y;
        y = phi * y + fresh * rng_normal(rng);
    }
}

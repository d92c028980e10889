/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/curve_laws.h - laws with noise to fit curves to. Seeded, one
 * thread.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "perfmodel/curve.h"

struct noise {
    uint64_t state;
    double sigma;  /* of the logarithm */
    double spikes; /* share of samples that are 100 times too long */
};

/* Uniform in (0, 1): splitmix64 (Steele, Lea & Flood, OOPSLA 2014). */
static inline double noise_uniform(struct noise *noise)
{
    uint64_t z = noise->state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static inline double noise_normal(struct noise *noise)
{
    double r = sqrt(-2 * log(noise_uniform(noise)));

    return r * cos(2 * M_PI * noise_uniform(noise));
}

static inline double noise_sample(struct noise *noise, double y)
{
    double spike = noise_uniform(noise) < noise->spikes ? 100 : 1;

    return y * spike * exp(noise->sigma * noise_normal(noise));
}

static inline int noise_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Mean and standard error of `count` samples of y at x; those above three
 * times the median are left out. */
static inline struct orr_point noise_point(struct noise *noise, double x,
                                           double y, unsigned count)
{
    struct orr_point ret = {.x = x};
    double *samples = malloc(count * sizeof(*samples)), square = 0;

    for (unsigned i = 0; i < count; i++)
        samples[i] = noise_sample(noise, y);
    qsort(samples, count, sizeof(*samples), noise_compare);
    for (unsigned i = 0; i < count && samples[i] <= 3 * samples[count / 2];
         i++) {
        ret.n++;
        ret.y += samples[i];
        square += samples[i] * samples[i];
    }
    free(samples);
    ret.y /= ret.n;
    ret.error = sqrt(fmax(0, square / ret.n - ret.y * ret.y) / ret.n) / ret.y;
    return ret;
}

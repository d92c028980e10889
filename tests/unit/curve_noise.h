/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/curve_noise.h - regressions with noise to fit curves to. Seeded,
 * one thread.
 */
#pragma once

#include <math.h>
#include <stdlib.h>

#include "perfmodel/curve.h"
#include "perfmodel/robust.h"
#include "tests/rng.h"

struct noise {
    uint64_t state;
    double sigma;  /* of the logarithm */
    double spikes; /* share of samples that are 100 times too long */
};

static inline double noise_sample(struct noise *noise, double y)
{
    double spike = rng_uniform(&noise->state) < noise->spikes ? 100 : 1;

    return y * spike * exp(noise->sigma * rng_normal(&noise->state));
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
    orr_sort(samples, count);
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

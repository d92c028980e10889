/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/noise.h - simulated kernels whose lengths vary as those of real ones do
 * (ORRERY_SIM_NOISE, ORRERY_SIM_SEED), and models that are off by as much as they may
 * be (ORRERY_SIM_DRAW).
 *
 * A length is the expected one times a factor of mean 1: of the distribution that was
 * measured, or of the lognormal one with a given deviation. A task's factor depends
 * on the seed and on its place in the order of submission alone: it meets the same
 * luck whatever the policy does. Only where measures of a kernel resemble those
 * before them do its lengths follow each other likewise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/origin.h"
#include "perfmodel/variation.h"

struct orr_config;

struct orr_noise {
    bool on;
    double relative; /* standard deviation over mean; NaN: as measured */
    uint64_t seed;
    uint64_t draw; /* which of the possible errors of models; 0: none */
};

/* Reads the variables. Errors, with a message: -EINVAL for a value that is neither
 * `measured' nor a share ("0.002", "0.2 %"). */
int orr_noise_init(struct orr_noise *noise, const struct orr_config *config,
                   struct orr_error *err);

/* The half-width of an interval that holds a derived time nine times out of ten, where
 * its model states none: that of projections, perfmodel/METHODS.md. */
#define ORR_NOISE_UNSTATED 0.39

/* By what the length of a kernel is multiplied: 1 where it was measured or given. Else
 * lognormal, and within `error` nine times out of ten (NaN: not stated). A derived time
 * is off alike for all sizes on all devices of one name; one between measured sizes for
 * that footprint. All that have the draw have it alike, whatever machine and policy. */
double orr_noise_draw(const struct orr_noise *noise, const char *kernel,
                      const char *device, uint32_t footprint,
                      enum orr_origin origin, double error);

/* What noise knows of a kernel: how its measures vary, and the normal variable of the
 * run before; NaN: there was none. */
struct orr_noise_source {
    struct orr_variation variation;
    double last;
};

/* µs that task number `id` takes, of which `us` are expected. `source` is asked for
 * noise that is as large as that of the measures, and may be NULL else. */
double orr_noise_length(const struct orr_noise *noise,
                        struct orr_noise_source *source, uint64_t id,
                        double us);

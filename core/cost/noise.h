/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/noise.h - simulated kernels whose lengths vary as those of real ones do
 * (ORRERY_SIM_NOISE, ORRERY_SIM_SEED).
 *
 * A length is the expected one times a factor of the lognormal distribution with
 * mean 1. A task's factor depends on the seed and on its place in the order of
 * submission alone: it meets the same luck whatever the policy does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

struct orr_config;

struct orr_noise {
    bool on;
    double relative; /* standard deviation over mean; NaN: as measured */
    uint64_t seed;
};

/* Reads the variables. Errors, with a message: -EINVAL for a value that is neither
 * `measured' nor a share ("0.002", "0.2 %"). */
int orr_noise_init(struct orr_noise *noise, const struct orr_config *config,
                   struct orr_error *err);

/* µs that task number `id` takes, of which `us` are expected. `measured`: the
 * standard deviation over the mean of what was measured, for noise that is as large.
 * Pure. */
double orr_noise_length(const struct orr_noise *noise, double measured,
                        uint64_t id, double us);

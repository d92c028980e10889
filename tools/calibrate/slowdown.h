/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/slowdown.h - NVIDIA's GPUs that were slowed down during runs, as
 * NVML counts it: what they measured then is not what they can do. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/device/nvml.h"

enum { CALIBRATE_GPUS = 16 };

/* Zeroed before the first run. */
struct calibrate_slowdown {
    unsigned n;                                      /* GPUs that there are */
    bool known[CALIBRATE_GPUS];                      /* those that count */
    struct orr_nvml_slowdown before[CALIBRATE_GPUS]; /* the present run */
    double power_us[CALIBRATE_GPUS], heat_us[CALIBRATE_GPUS]; /* in all runs */
    double runs_us;
};

/* Before and after a run, which took so long. */
void calibrate_slowdown_begin(struct calibrate_slowdown *slowdown);
void calibrate_slowdown_end(struct calibrate_slowdown *slowdown, double run_us);

/* Names those that were slow for more than a hundredth of the time, and, if
 * kernels of NVIDIA's GPUs were measured, those of which this is not known. */
void calibrate_slowdown_warn(const struct calibrate_slowdown *slowdown,
                             bool measured);

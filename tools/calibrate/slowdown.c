/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/slowdown.c - see slowdown.h. */
#include "tools/calibrate/slowdown.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

void calibrate_slowdown_begin(struct calibrate_slowdown *slowdown)
{
    for (unsigned i = 0; i < CALIBRATE_GPUS; i++) {
        int rc = orr_nvml_slowdown(i, &slowdown->before[i]);

        if (rc == -ENODEV)
            break;
        slowdown->known[i] = rc == 0;
        slowdown->n = i + 1;
    }
}

void calibrate_slowdown_end(struct calibrate_slowdown *slowdown, double run_us)
{
    for (unsigned i = 0; i < slowdown->n; i++) {
        const struct orr_nvml_slowdown *before = &slowdown->before[i];
        struct orr_nvml_slowdown now;

        if (!slowdown->known[i] || orr_nvml_slowdown(i, &now) < 0)
            continue;
        slowdown->power_us[i] += fmax(now.power_us - before->power_us, 0);
        slowdown->heat_us[i] += fmax(now.heat_us - before->heat_us, 0);
    }
    slowdown->runs_us += run_us;
}

static void say_unknown(const struct calibrate_slowdown *slowdown)
{
    const char *problem = orr_nvml_no_slowdown();

    if (problem)
        fprintf(stderr,
                "note: whether GPUs were slowed down is not known: %s\n",
                problem);
    for (unsigned i = 0; i < slowdown->n; i++)
        if (!slowdown->known[i])
            fprintf(stderr,
                    "note: whether GPU %u (%s) was slowed down is not known: "
                    "it does not count that\n",
                    i, slowdown->before[i].name);
}

void calibrate_slowdown_warn(const struct calibrate_slowdown *slowdown,
                             bool measured)
{
    if (measured)
        say_unknown(slowdown);
    for (unsigned i = 0; i < slowdown->n; i++) {
        double power = slowdown->power_us[i] / slowdown->runs_us;
        double heat = slowdown->heat_us[i] / slowdown->runs_us;

        if (power + heat < 0.01)
            continue;
        fprintf(
            stderr,
            "warning: GPU %u (%s) has been slower than it can be for %.0f %% of the "
            "runs' time, by its power limit for %.0f %%, by heat for %.0f %%: "
            "the times of its kernels are those of a slow GPU. See "
            "`nvidia-smi -q -d PERFORMANCE', and calibrate again\n",
            i, slowdown->before[i].name, 100 * fmin(power + heat, 1),
            100 * fmin(power, 1), 100 * fmin(heat, 1));
    }
}

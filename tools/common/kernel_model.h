/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/kernel_model.h - the estimates of the kernels of a report in the
 * model files, and their precision. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "perfmodel/arch.h"
#include "tools/common/report.h"

/* Model files that have been read, each once. */
struct kernel_models;

/* Opens the sampling directories of the environment for the models of `host`.
 * *ret is ended with kernel_models_free. Errors: -ENOMEM. */
int kernel_models_new(const char *host, struct kernel_models **ret);
void kernel_models_free(struct kernel_models *models);

/* "cuda1" of a report as a device, "cpu0:4" as four cores of one. Errors:
 * -EINVAL. */
int kernel_model_device(const char *arch, struct orr_device *ret);

/* Drops what was read: files may have changed. */
void kernel_models_forget(struct kernel_models *models);

struct kernel_knowledge {
    unsigned n; /* samples; 0: there is no row, or none that has an estimate */
    /* As in struct perfmodel_known: µs; half width of the 95 % interval. */
    double estimate, confidence;
    bool independent;
    double mean; /* of the row, µs: what StarPU takes; NaN */
    /* Measures, and how many of them were set aside when they came; 0 without a
     * side file. */
    uint64_t nseen, noutliers;
    /* Statistics of the recent samples; 0 and NaN without. The lower quartile
     * only if there are enough. */
    double p25;
    bool mixed; /* regimes: of two populations that come in the same shares */
    unsigned nregimes;
    double regimes[2]; /* medians, the faster first */
    double autocorrelation;
};

/* Looks the kernel's row up. Errors: those of reading its file, with a message
 * in `err`; without a file or a row all is empty and the result 0. */
int kernel_models_find(struct kernel_models *models,
                       const struct report_kernel *kernel,
                       struct kernel_knowledge *ret, struct orr_error *err);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/estimates.h - what a run knows of the times of kernels: models, where
 * they are kept, the cost rows made of them.
 */
#pragma once

#include <starpu.h>

#include "core/cost/noise.h"

struct orr_costs_table;
struct orr_models;
struct orr_sampling;

struct orr_estimates {
    struct orr_sampling *sampling; /* [const] owned: where models are looked for */
    struct orr_models *models;     /* owned */
    unsigned homogeneous;          /* [const] bit per type whose devices share models */
    struct orr_costs_table *costs; /* owned */
    /* What the application says of each kernel, orrery_set_kernel_times; NULL */
    double (*kernel_us)(struct starpu_task *task,
                        enum starpu_worker_archtype type, unsigned impl);
    struct orr_noise noise;        /* [const] of simulated kernels */
};

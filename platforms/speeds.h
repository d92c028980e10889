/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/speeds.h - what properties of a host define: how fast it computes
 * and which device's models it uses. Any thread.
 *
 *   orrery-speed                       1.5      all its kernels
 *   orrery-kernel-speed[gemm]          0.8      kernels whose name has "gemm"
 *   orrery-kernel-speed["chol gemm"]   2        the kernel of that name
 *   orrery-models-of                   CUDA0    a device of the same type
 *
 * Times of its models are divided by speeds, those of all that apply
 * multiplied. Speeds are decimal numbers above 0.
 */
#pragma once

#include "platforms/machine_desc.h"

#define ORR_PROP_SPEED        "orrery-speed"
#define ORR_PROP_KERNEL_SPEED "orrery-kernel-speed["
#define ORR_PROP_MODELS_OF    "orrery-models-of"

/* orrery-speed, 1 without. The property was checked before. */
double orr_host_desc_speed(const struct orr_host_desc *host);

/* The pattern of property number `prop` of the host, in its original spelling
 * (gemm, "chol gemm"), and its speed; NULL for any other property. Borrowed:
 * *ret_length characters, no 0 behind them. */
const char *orr_host_desc_kernel_speed(const struct orr_host_desc *host,
                                       unsigned prop, size_t *ret_length,
                                       double *ret_speed);

/* The number of the device whose models host `host` uses, -1: its own. `kind`
 * is the prefix of its name. */
int orr_host_desc_models_of(const struct orr_host_desc *host, const char *kind);

/* Checks the properties above of one host. Returns NULL, or a message with the
 * wrong property and the remedy, in `text`. */
const char *orr_host_desc_speeds_problem(const struct orr_host_desc *host,
                                         char *text, size_t size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/law.h - how long a kernel takes on a device of the parts' table,
 * by the law of platforms/catalogue/law.py. Constant.
 */
#pragma once

#include "tools/machine/parts.h"

/* The kernel and precision that a model's symbol means, by the names that the
 * catalogue gives its models: "chol_model_gemm", "sgemm", "dgemm". false: another. */
bool machine_law_kernel(const char *symbol, enum machine_kernel *ret_kernel,
                        bool *ret_is_double);

/* The side of the tile that has so many flop. */
double machine_law_side(enum machine_kernel kernel, double flops);

/* Microseconds of a kernel with so many flop (of one tile) on a device. */
double machine_law_us(const struct machine_device *device,
                      enum machine_kernel kernel, bool is_double, double flops);

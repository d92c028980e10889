/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/rates.h - published rates of processors and devices: properties of
 * a host by which figures of one machine are projected onto another. Any
 * thread.
 *
 *   orrery-peak-fp32           19.5Tf     vector units, single precision
 *   orrery-peak-fp64           9.7Tf      the same, double precision
 *   orrery-peak-fp32-tensor    156Tf      tensor or matrix cores, operands in
 *                                         single precision (NVIDIA: TF32)
 *   orrery-peak-fp64-tensor    19.5Tf     the same, double precision
 *   orrery-memory-bandwidth    1555GBps   of a device's memory
 *
 * A device states its own. Those of MAIN are of one CPU: each CPU<n> that
 * states none has them, its memory bandwidth is what one core can use. At RAM
 * and RAM<n> orrery-memory-bandwidth is that of all channels of the node.
 */
#pragma once

#include "platforms/machine_desc.h"

enum orr_rate {
    ORR_RATE_FP32,        /* flop per second */
    ORR_RATE_FP64,        /* flop per second */
    ORR_RATE_FP32_TENSOR, /* flop per second */
    ORR_RATE_FP64_TENSOR, /* flop per second */
    ORR_RATE_MEMORY,      /* bytes per second */
    ORR_NRATES,
};

/* The name of a rate's property. */
const char *orr_rate_prop(enum orr_rate rate);

/* The rate that a host states, NaN without: of a CPU its own, else MAIN's. */
double orr_machine_desc_rate(const struct orr_machine_desc *desc, unsigned host,
                             enum orr_rate rate);

/* The same by the host's name, "CUDA0"; NaN when there is no such host. */
double orr_machine_desc_rate_of(const struct orr_machine_desc *desc,
                                const char *host, enum orr_rate rate);

/* Checks the properties above of one host. Returns NULL, or a message with the
 * wrong property and the remedy, in `text`. */
const char *orr_host_desc_rates_problem(const struct orr_host_desc *host,
                                        char *text, size_t size);

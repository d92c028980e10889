/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/power.h - what a machine draws, in watts: properties of its hosts. Any thread.
 *
 *   orrery-power-idle          350W   of MAIN: the server without devices, when nothing runs;
 *                                     of a device: when it is idle
 *   orrery-power-busy          9W     of MAIN: what each CPU draws more while it executes a
 *                                     kernel
 *                              350W   of a device: what it draws while it executes one
 *   orrery-power-busy-KERNEL   290W   the same of one kernel, by the symbol of its model or
 *                                     the name of its codelet
 *   orrery-power-copy          15W    of a device: what it draws more while data come or go at
 *                                     the full rate of an idle link
 */
#pragma once

#include "platforms/machine_desc.h"

enum orr_power { ORR_POWER_IDLE, ORR_POWER_BUSY, ORR_POWER_COPY, ORR_NPOWERS };

/* The name of its property. */
const char *orr_power_prop(enum orr_power power);

/* The power that a host states, W; NaN without. */
double orr_host_desc_power(const struct orr_host_desc *host, enum orr_power power);

/* While it executes that kernel; NaN: none is stated for it. */
double orr_host_desc_kernel_power(const struct orr_host_desc *host, const char *kernel);

/* Whether any of them states one. */
bool orr_machine_desc_has_power(const struct orr_machine_desc *desc);

/* Sets what hosts state: "MAIN idle=350W busy=9W; CUDA0 idle=60W". Errors, with a message:
 * -EINVAL: a host that there is not, or no power; -ENOMEM. */
int orr_machine_desc_set_powers(struct orr_machine_desc *desc,
                                const char *words, struct orr_error *err);

/* Checks these properties of one host. Returns NULL, or a message with the wrong property and
 * the remedy, in `text`. */
const char *orr_host_desc_power_problem(const struct orr_host_desc *host, char *text, size_t size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/driver.h - the driver of processors and main memory, which
 * every real machine has. Main calls.
 */
#pragma once

#include "core/device/open.h"

/* The rest of opening, when all drivers have added what is theirs: where workers of
 * devices run, who is near whom, how fast the links are, where main runs. Errors:
 * -ENOMEM; -EINVAL with a message. */
int orr_cpu_driver_finish(const struct orr_machine_options *options,
                          struct orr_driver *driver, struct orr_error *err);

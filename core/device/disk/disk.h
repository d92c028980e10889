/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/disk.h - disks: a driver without kernels, whose memory is
 * objects that it reads and writes. It has no devices when the machine is opened;
 * starpu_disk_register adds them.
 */
#pragma once

#include "core/device/driver.h"

enum { ORR_MAX_DISKS = 4 };

/* orr_machine_ops.add_disk of the real machine, which has the driver. */
int orr_disks_add(struct orr_machine *machine,
                  const struct orr_disk_options *options,
                  struct orr_error *err);

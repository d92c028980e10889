/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/disk/kind.c - disks, as a kind of device: no task can run there. */
#include "core/device/bus_kind.h"
#include "core/device/kind_settings.h"

static const struct orr_kind_settings settings = {
    .limit = ORR_CFG_COUNT,
    .pipeline = ORR_CFG_COUNT,
    .homogeneous = ORR_CFG_COUNT,
    .sync_copies = ORR_CFG_COUNT,
    .bus = ORR_BUS_DISK,
};

/* No type of workers is it; numbers beyond those that there are name none. */
const struct orr_device_kind orr_kind_disk = {
    .type = (enum starpu_worker_archtype)-1,
    .memory = STARPU_DISK_RAM,
    .name = "Disk",
    .variable = "DISK",
    .settings = &settings,
};

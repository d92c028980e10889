/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/energy.h - the energy that devices have taken, by their own
 * counters: RAPL for the processors, NVML for CUDA devices. A meter belongs to
 * one caller.
 */
#pragma once

#include "core/base/error.h"

struct orr_energy_meter;

/* NULL: the usual ones. Others are for tests. */
struct orr_energy_options {
    const char *powercap; /* "/sys/class/powercap" */
    const char *nvml;     /* "libnvidia-ml.so.1" */
    const char *bus; /* where the device is on the PCI bus, as gpu_device.bus;
                           * NULL: it is found by its number */
};

/* One type of counters. */
struct orr_energy_ops {
    /* Begins to count for device number `device` of its type. *ret is the
     * caller's, who ends it with close. May block on files. Errors: -ENODEV no
     * counters, -EACCES not for this user, -ENOMEM, all with a message that
     * says what to do. */
    int (*open)(const struct orr_energy_options *options, int device,
                struct orr_energy_meter **ret, struct orr_error *err);
    /* Joules since open. Errors: -EIO with a message. */
    int (*read)(struct orr_energy_meter *meter, double *ret_joules,
                struct orr_error *err);
    void (*close)(struct orr_energy_meter *meter);
};

struct orr_energy_meter {
    const struct orr_energy_ops *ops;
};

/* All processor packages together, whatever the device number: Linux's
 * powercap. A counter that wraps between open and read is corrected once, by
 * its range: at 100 W that is after 20 minutes or more. */
extern const struct orr_energy_ops orr_energy_rapl;

/* One NVIDIA GPU, by its place on the PCI bus, since CUDA counts devices in another
 * order than NVML, else by the number that NVML gives it: its total counter, which Volta and later ones have. */
extern const struct orr_energy_ops orr_energy_nvml;

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/machine.h - where the measurements of this machine are
 * stored, for `orrery calibrate bus` and `runtime`: StarPU's bus files and,
 * beside them, one description, <host>.machine.xml. One thread.
 */
#pragma once

#include "core/base/error.h"
#include "core/device/bus/measure.h"
#include "platforms/machine_desc.h"

struct calibrate_place {
    struct orr_sampling *sampling; /* owned */
    char *host;                    /* owned: STARPU_HOSTNAME or the system's */
    char *stem;                    /* owned: "<dir>/bus/<host>" */
    char *path;                    /* owned: of the description */
    int lock; /* held: excludes other calibrations; -1: not yet */
};

/* Finds the place. A message and -1 when that fails. */
int calibrate_place_open(struct calibrate_place *place);
void calibrate_place_close(struct calibrate_place *place);

/* The main memories of this machine, all devices that the environment allows, and
 * last the disk "[WAY:]PATH" unless that is NULL, to be measured;
 * machine->ops->close ends it. Errors have a message in *err. */
int calibrate_machine_open(struct orr_exec *exec, const char *disk,
                           struct orr_machine **ret, struct orr_error *err);

/* Makes the directory and waits for other calibrations. A message and -1 when
 * it cannot be written. */
int calibrate_place_lock(struct calibrate_place *place);

/* Puts what was measured on `machine` into a description of this machine: sizes
 * of memory, bandwidths within a node, a link for each pair, shared links where
 * concurrent copies slow each other down. Errors: -ENOMEM, -EINVAL, with a
 * message. */
int calibrate_describe_bus(struct orr_machine_desc *desc,
                           const struct orr_machine *machine,
                           const struct orr_bus_measures *measures,
                           struct orr_error *err);

/* Writes the description of this machine anew with these measures; runtime
 * costs stay. Needs the lock. A message and -1 when that fails. */
int calibrate_write_bus(const struct calibrate_place *place,
                        const struct orr_machine *machine,
                        const struct orr_bus_measures *measures);

/* Sets runtime costs (ORR_NCOSTS, NaN: keep what is there) and the rates of a core,
 * which it measures, in the description, or makes one. Likewise. */
int calibrate_write_costs(const struct calibrate_place *place,
                          const double *costs);

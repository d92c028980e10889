/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/places.h - to which processors the workers of devices are bound:
 * those that no worker of a processor has, near the device. By main, while a
 * machine is opened.
 */
#pragma once

#include "core/base/error.h"
#include "core/device/cpu/topology.h"

struct orr_machine;
struct orr_machine_options;

/* Binds workers whose device has a place on the PCI bus that the topology knows;
 * others stay as they are. The processor's worker i has choice->cpus[i % n]. Where
 * none near a device is free, a worker of a processor near it changes its own for a
 * free one. A list of the user's is kept to instead: devices take what comes next in
 * it. Errors: -ENOMEM, -EINVAL with a message. */
int orr_places_fill(struct orr_machine *machine,
                    const struct orr_machine_options *options,
                    const struct orr_cpus *cpus,
                    const struct orr_cpu_choice *choice, struct orr_error *err);

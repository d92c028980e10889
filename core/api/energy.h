/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/energy.h - measuring the energy of tasks, with counters that tests
 * may stand in for.
 */
#pragma once

#include <starpu.h>

#include "core/device/energy.h"

/* A measurement under way: one per type of counters and device. */
struct orr_api_energy {
    struct orr_api_energy *next;
    enum starpu_worker_archtype type;
    int devid;
    struct orr_energy_meter *meter; /* owned */
};

/* starpu_energy_start with these counters. */
int orr_api_energy_start(const struct orr_energy_options *options, int workerid,
                         enum starpu_worker_archtype type);

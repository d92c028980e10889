/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/sim-machine.h - small machine descriptions built in memory for
 * the tests of sim/, so that they need neither files nor the XML reader.
 */
#pragma once

#include "core/device/open.h"
#include "platforms/machine_desc.h"

/* What a test wants to vary; zero is a sensible machine without devices. */
struct sim_spec {
    unsigned ncpu;    /* CPU hosts; 0 means 4 */
    unsigned ncuda;   /* devices, with routes from and to RAM */
    bool peer;        /* devices copy to each other */
    double bandwidth; /* of each link, bytes/s; 0 means 1e9 */
    double latency;   /* of each link to or from RAM, seconds */
    double bus;       /* bandwidth shared by all routes, 0: no such link */
    bool costs;       /* charge what StarPU charges; else nothing costs */
    double wake;      /* µs that waking costs … */
    double wake_soon; /* … after a moment, 0: as much */
};

/* Returns a description that sim_desc_free() ends, NULL without memory. */
struct orr_machine_desc *sim_desc_new(const struct sim_spec *spec);
void sim_desc_free(struct orr_machine_desc *desc);

/* Opens such a machine: all workers, kernels skipped. Fails the test when it
 * cannot. */
struct orr_machine *sim_machine_open(const struct sim_spec *spec);

/* Options that request everything there is. */
struct orr_machine_options sim_options(void);

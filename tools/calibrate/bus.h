/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/bus.h - showing what `orrery calibrate bus` has measured. One
 * thread.
 */
#pragma once

#include "core/device/bus/measure.h"

/* The results, and where they were stored. */
struct bus_shown {
    const struct orr_machine *machine;
    const struct orr_bus_measures *measures;
    const char *host, *stem, *path;
};

/* Tables, or JSON, on standard output. Errors: -ENOMEM. */
int bus_print(const struct bus_shown *shown);
int bus_print_json(const struct bus_shown *shown);

/* Bandwidth over size as a picture. A message and -1 on failure. */
int bus_draw(const struct bus_shown *shown, const char *path);

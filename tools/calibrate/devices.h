/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/devices.h - for `orrery calibrate runtime`: what handing work to
 * this machine's devices costs. One thread, and those of drivers.
 */
#pragma once

#include "core/device/bus/launch.h"

/* Fills n samples per cost, row by row, with those of all devices in turn; NaN where
 * no device has it. Returns how many devices there are; -1 after a message. */
int calibrate_devices(unsigned n, double samples[][ORR_LAUNCH_COSTS]);

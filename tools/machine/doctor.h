/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/doctor.h - `orrery machine doctor`: checks the bus parameters
 * of a machine. One thread.
 */
#pragma once

#include <stdbool.h>

/* argv[0] is "doctor"; returns the exit code: 0 when there is no error. */
int machine_doctor(int argc, char **argv, const char *const *sampling_dirs,
                   bool json);

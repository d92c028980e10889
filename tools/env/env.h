/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/env/env.h - the parts of `orrery env`. One thread. */
#pragma once

#include <jansson.h>

/* Where libraries of vendors of GPUs were looked for, what they lack, and which
 * devices they know; the same of OpenCL's loader, and which of its devices are
 * theirs. Opens those that are there. -1: out of memory. */
int env_show_devices(void);

/* The same in a line each: how many devices, or what became of the library. */
int env_show_libraries(void);

/* The same as JSON; NULL: out of memory. */
json_t *env_devices_json(void);

/* OpenCL's part of it; `all` has those of the vendors. */
json_t *env_opencl_json(const json_t *all);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/openmp/sizes.h - what the recorder asks the object that knows the program's memory,
 * if that is in the process: by this name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ORR_OMP_FIND_BLOCK "orrery_openmp_block"

/* The smallest block that has the address; false: none that the program has allocated has. */
bool orrery_openmp_block(uint64_t address, uint64_t *ret_begin, uint64_t *ret_bytes);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/modes.h - how records write access modes: a letter per bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ORR_NMODES 6

struct orr_record_mode {
    uint32_t bit; /* of enum starpu_data_access_mode */
    char letter;
};

extern const struct orr_record_mode orr_record_modes[ORR_NMODES];

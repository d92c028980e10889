/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/bits.h - sets of numbers below 64, such as memory nodes. */
#pragma once

#include <stdint.h>

/* The set of one number. */
static inline uint64_t orr_bit(unsigned n)
{
    return UINT64_C(1) << n;
}

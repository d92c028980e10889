/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/splitmix.h - random numbers from 64 bits of state. Source: Steele,
 * Lea, Flood, "Fast splittable pseudorandom number generators", 2014. No
 * threads of its own: the state belongs to the caller.
 */
#pragma once

#include <stdint.h>

/* The next number; *state goes on. */
static inline uint64_t orr_splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The next number of the uniform distribution on [0, 1). */
static inline double orr_splitmix_unit(uint64_t *state)
{
    return (double)(orr_splitmix(state) >> 11) * 0x1p-53;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/rng.h - seeded random numbers that are the same everywhere. The state,
 * one number, is the caller's.
 */
#pragma once

#include <math.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
 * generators"). */
static inline uint64_t rng_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A state for each number, the streams of which have nothing to do with each
 * other. */
static inline uint64_t rng_of(uint64_t stream)
{
    uint64_t state = rng_next(&stream) * UINT64_C(0xd1342543de82ef95);
    uint64_t mixed = rng_next(&state);

    return state ^ mixed;
}

/* Within 0 … 1, neither of them. */
static inline double rng_uniform(uint64_t *state)
{
    return ((double)(rng_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* Box & Muller 1958. */
static inline double rng_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(rng_uniform(state)));

    return radius * cos(2 * M_PI * rng_uniform(state));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/bytes.h - what kernels do with the words of their data, the same
 * in the run, in the oracle and in printed programs, whose beginning this is.
 * All words are read and written, and a value depends on the order of those
 * who wrote it, but for SUM.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What is done with one buffer. */
enum use {
    READ,   /* its content counts */
    PEEK,   /* only looked at: the content depends on what came first */
    WRITE,  /* all of it anew */
    UPDATE, /* anew from what it was */
    SUM,    /* added to, in whatever order */
    TEMP,   /* a scratch buffer */
};

static inline uint64_t bytes_mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Four lanes, since the words of large vectors are many. */
static inline uint64_t bytes_hash(const uint64_t *v, size_t n)
{
    uint64_t lane[4] = {1, 2, 3, 4};
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            lane[k] = lane[k] * UINT64_C(0x100000001b3) + v[i + k];
    for (; i < n; i++)
        lane[i % 4] = lane[i % 4] * UINT64_C(0x100000001b3) + v[i];
    return bytes_mix(lane[0] + bytes_mix(lane[1]) + 3 * bytes_mix(lane[2]) +
                     5 * bytes_mix(lane[3]));
}

/* The content of memory when it is registered. */
static inline void bytes_fill(uint64_t *v, size_t n, uint64_t salt)
{
    for (size_t i = 0; i < n; i++)
        v[i] = salt * 31 + i;
}

/* The work of a task on one buffer; x is what it has read. */
static inline void bytes_write(uint64_t *v, size_t n, enum use use, uint64_t x)
{
    switch (use) {
    case WRITE:
    case TEMP:
        for (size_t i = 0; i < n; i++)
            v[i] = x + i;
        break;
    case UPDATE:
        for (size_t i = 0; i < n; i++)
            v[i] = v[i] * 31 + x + i;
        break;
    case SUM:
        for (size_t i = 0; i < n; i++)
            v[i] += x + i;
        break;
    case READ:
    case PEEK:
        break;
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/crc.h - the 32-bit CRC behind footprints.
 * Polynomial 0x1EDC6F41, most significant bit first, no inversion. The running
 * value is a parameter; start with 0. Any thread, no state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Feeds `n` bytes in order. */
uint32_t orr_crc_bytes(const void *bytes, size_t n, uint32_t crc);

/* What each byte of a word leaves, the highest one first: crc.c. */
extern const uint32_t orr_crc_sums[4][256];

/* Feeds the four bytes of `value`, the lowest first, on all processors: what comes out
 * stands in files. Inline: every task does. */
static inline uint32_t orr_crc_u32(uint32_t value, uint32_t crc)
{
    crc ^= __builtin_bswap32(value);
    return orr_crc_sums[0][crc >> 24] ^ orr_crc_sums[1][crc >> 16 & 255] ^
           orr_crc_sums[2][crc >> 8 & 255] ^ orr_crc_sums[3][crc & 255];
}

/* Feeds the eight bytes of `value`, the lowest first; those of the bits of a double. */
uint32_t orr_crc_size(uint64_t value, uint32_t crc);
uint32_t orr_crc_double(double value, uint32_t crc);

/* Feeds the bytes of a text without its final zero. */
uint32_t orr_crc_string(const char *text, uint32_t crc);

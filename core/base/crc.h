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

/* Feeds the four bytes of `value` in memory order. */
uint32_t orr_crc_u32(uint32_t value, uint32_t crc);

/* Feeds the eight bytes of `value`, widened to 64 bits, in memory order. */
uint32_t orr_crc_size(size_t value, uint32_t crc);

/* Feeds the bytes of a text without its final zero. */
uint32_t orr_crc_string(const char *text, uint32_t crc);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_hash.h - the 32-bit CRC behind footprints: polynomial 0x1EDC6F41,
 * most significant bit first. The running value is a parameter, start with 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `n` bytes in order. */
uint32_t starpu_hash_crc32c_be_n(const void *input, size_t n,
                                 uint32_t inputcrc);

/* The value of the pointer itself, in memory order. */
uint32_t starpu_hash_crc32c_be_ptr(void *input, uint32_t inputcrc);

/* The four bytes of `input`, the lowest first: the same on all processors. */
uint32_t starpu_hash_crc32c_be(uint32_t input, uint32_t inputcrc);

/* The bytes of a text without its final zero. */
uint32_t starpu_hash_crc32c_string(const char *str, uint32_t inputcrc);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/hash.c - the functions of starpu_hash.h. Any thread.
 */
#include <starpu_hash.h>

#include "core/base/crc.h"

uint32_t starpu_hash_crc32c_be_n(const void *input, size_t n, uint32_t inputcrc)
{
    return orr_crc_bytes(input, n, inputcrc);
}

uint32_t starpu_hash_crc32c_be_ptr(void *input, uint32_t inputcrc)
{
    return orr_crc_bytes(&input, sizeof(input), inputcrc);
}

uint32_t starpu_hash_crc32c_be(uint32_t input, uint32_t inputcrc)
{
    return orr_crc_u32(input, inputcrc);
}

uint32_t starpu_hash_crc32c_string(const char *str, uint32_t inputcrc)
{
    return orr_crc_string(str, inputcrc);
}

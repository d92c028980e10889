/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/crc.c - the 32-bit CRC behind footprints, four bits at a time: a
 * footprint is computed once per handle, so a larger table would not pay.
 */
#include "core/base/crc.h"

#include <string.h>

/* The polynomial 0x1EDC6F41 times each value of four bits. */
static const uint32_t nibbles[16] = {
    0x00000000, 0x1edc6f41, 0x3db8de82, 0x2364b1c3, 0x7b71bd04, 0x65add245,
    0x46c96386, 0x58150cc7, 0xf6e37a08, 0xe83f1549, 0xcb5ba48a, 0xd587cbcb,
    0x8d92c70c, 0x934ea84d, 0xb02a198e, 0xaef676cf,
};

static uint32_t feed_byte(unsigned char byte, uint32_t crc)
{
    crc ^= (uint32_t)byte << 24;
    crc = (crc << 4) ^ nibbles[crc >> 28];
    return (crc << 4) ^ nibbles[crc >> 28];
}

uint32_t orr_crc_bytes(const void *bytes, size_t n, uint32_t crc)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        crc = feed_byte(p[i], crc);
    return crc;
}

/* All four bytes at once: for each buffer of each task. */
uint32_t orr_crc_u32(uint32_t value, uint32_t crc)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    crc ^= value;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        crc = (crc << 4) ^ nibbles[crc >> 28];
    return crc;
}

uint32_t orr_crc_size(size_t value, uint32_t crc)
{
    uint64_t wide = value;

    return orr_crc_bytes(&wide, sizeof(wide), crc);
}

uint32_t orr_crc_string(const char *text, uint32_t crc)
{
    return orr_crc_bytes(text, strlen(text), crc);
}

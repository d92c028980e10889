/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/crc.c - the 32-bit CRC behind footprints, four bytes at a time: it is
 * fed for each buffer of each task. What a word leaves is the sum (xor) of what its
 * bits leave, each by itself: the powers of x from 32 to 63, divided by the
 * polynomial. A table per byte of the word has the sums of its eight bits.
 */
#include "core/base/crc.h"

#include <string.h>

#define BIT(byte, bit, power) ((byte) >> (bit)&1 ? (power) : 0)
#define SUM(byte, p0, p1, p2, p3, p4, p5, p6, p7)                              \
    (BIT(byte, 0, p0) ^ BIT(byte, 1, p1) ^ BIT(byte, 2, p2) ^                  \
     BIT(byte, 3, p3) ^ BIT(byte, 4, p4) ^ BIT(byte, 5, p5) ^                  \
     BIT(byte, 6, p6) ^ BIT(byte, 7, p7))
#define LOWEST(byte)                                                           \
    SUM(byte, 0x1edc6f41u, 0x3db8de82u, 0x7b71bd04u, 0xf6e37a08u, 0xf31a9b51u, \
        0xf8e959e3u, 0xef0edc87u, 0xc0c1d64fu)
#define LOW(byte)                                                              \
    SUM(byte, 0x9f5fc3dfu, 0x2063e8ffu, 0x40c7d1feu, 0x818fa3fcu, 0x1dc328b9u, \
        0x3b865172u, 0x770ca2e4u, 0xee1945c8u)
#define HIGH(byte)                                                             \
    SUM(byte, 0xc2eee4d1u, 0x9b01a6e3u, 0x28df2287u, 0x51be450eu, 0xa37c8a1cu, \
        0x58257b79u, 0xb04af6f2u, 0x7e4982a5u)
#define HIGHEST(byte)                                                          \
    SUM(byte, 0xfc93054au, 0xe7fa65d5u, 0xd128a4ebu, 0xbc8d2697u, 0x67c6226fu, \
        0xcf8c44deu, 0x81c4e6fdu, 0x1d55a2bbu)

#define FOUR(f, byte) f(byte), f(byte + 1), f(byte + 2), f(byte + 3)
#define SIXTEEN(f, byte)                                                       \
    FOUR(f, byte), FOUR(f, byte + 4), FOUR(f, byte + 8), FOUR(f, byte + 12)
#define SIXTY_FOUR(f, byte)                                                    \
    SIXTEEN(f, byte), SIXTEEN(f, byte + 16), SIXTEEN(f, byte + 32),            \
        SIXTEEN(f, byte + 48)
#define ALL(f)                                                                 \
    {                                                                          \
        SIXTY_FOUR(f, 0), SIXTY_FOUR(f, 64), SIXTY_FOUR(f, 128),               \
            SIXTY_FOUR(f, 192)                                                 \
    }

const uint32_t orr_crc_sums[4][256] = {ALL(HIGHEST), ALL(HIGH), ALL(LOW),
                                       ALL(LOWEST)};

uint32_t orr_crc_bytes(const void *bytes, size_t n, uint32_t crc)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        crc = crc << 8 ^ orr_crc_sums[3][crc >> 24 ^ p[i]];
    return crc;
}

uint32_t orr_crc_size(uint64_t value, uint32_t crc)
{
    return orr_crc_u32((uint32_t)(value >> 32),
                       orr_crc_u32((uint32_t)value, crc));
}

uint32_t orr_crc_double(double value, uint32_t crc)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return orr_crc_size(bits, crc);
}

uint32_t orr_crc_string(const char *text, uint32_t crc)
{
    return orr_crc_bytes(text, strlen(text), crc);
}

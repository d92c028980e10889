/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/decimal.c - see decimal.h. The part behind the point is a fraction of 53
 * bits over a power of two: times 10^9 it is exact in 128 bits, so that what is cut
 * off decides the rounding as in printf.
 */
#include "core/observe/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define MANTISSA (UINT64_C(1) << 52)
#define BIAS     1075 /* of the exponent, with the mantissa as an integer */
#define MOST     1e15 /* beyond that printf does it */

/* fraction × scale, rounded half to even; 0 ≤ fraction < 1. */
static uint64_t scaled(double fraction, uint64_t scale)
{
    uint64_t bits, value;
    unsigned shift;
    wide product, rest;

    memcpy(&bits, &fraction, sizeof(bits));
    shift = BIAS - (unsigned)(bits >> 52);
    if (shift >= 120) /* less than any half */
        return 0;
    product = (wide)(bits % MANTISSA + MANTISSA) * scale;
    value = (uint64_t)(product >> shift);
    rest = product - ((wide)value << shift);
    if (rest > (wide)1 << (shift - 1) ||
        (rest == (wide)1 << (shift - 1) && value % 2))
        value++;
    return value;
}

/* Writes the digits that end at `end`, at least `least`; returns their begin. */
static char *write_digits(char *end, uint64_t value, unsigned least)
{
    char *at = end;

    while (value > 0 || end - at < (long)least) {
        *--at = (char)('0' + value % 10);
        value /= 10;
    }
    return at;
}

const char *orr_decimal(double value, unsigned digits,
                        char buffer[static ORR_DECIMAL_SIZE])
{
    double size = fabs(value);
    char *end = buffer + 40, *at;
    uint64_t whole, scale = 1, part;

    assert(digits <= 9);
    /* Without decimals half to even looks at the digit before the point. */
    if (!(size < MOST) || digits == 0) {
        snprintf(buffer, ORR_DECIMAL_SIZE, "%.*f", (int)digits, value);
        return buffer;
    }
    for (unsigned d = 0; d < digits; d++)
        scale *= 10;
    whole = (uint64_t)size;
    part = scaled(size - (double)whole, scale);
    if (part == scale) {
        part = 0;
        whole++;
    }
    *end = '\0';
    at = write_digits(end, part, digits);
    *--at = '.';
    at = write_digits(at, whole, 1);
    if (signbit(value))
        *--at = '-';
    return at;
}

void orr_put_number(FILE *file, unsigned long long value)
{
    char digits[24], *end = digits + sizeof(digits) - 1;

    *end = '\0';
    fputs_unlocked(write_digits(end, value, 1), file);
}

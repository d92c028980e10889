/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/decimal.c - see decimal.h. The part behind the point is a fraction of 53
 * bits over a power of two: times 10^9 it is exact in 128 bits, so that what is cut
 * off decides the rounding as in printf.
 */
#include "core/observe/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
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

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

/* Four digits at a time: divisions are what takes long. */
char *orr_digits(char *end, uint64_t value, unsigned least)
{
    char *at = end;
    unsigned rest;

    for (; value >= 10000; value /= 10000) {
        unsigned four = (unsigned)(value % 10000);

        at -= 4;
        memcpy(at, &pairs[2 * (four / 100)], 2);
        memcpy(at + 2, &pairs[2 * (four % 100)], 2);
    }
    rest = (unsigned)value;
    if (rest >= 100) {
        at -= 2;
        memcpy(at, &pairs[2 * (rest % 100)], 2);
        rest /= 100;
    }
    if (rest >= 10) {
        at -= 2;
        memcpy(at, &pairs[2 * rest], 2);
    } else if (rest > 0) {
        *--at = (char)('0' + rest);
    }
    while (end - at < (long)least)
        *--at = '0';
    return at;
}

static const uint64_t powers[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

const char *orr_decimal(double value, unsigned digits,
                        char buffer[static ORR_DECIMAL_SIZE])
{
    double size = fabs(value);
    char *end = buffer + 40, *at;
    uint64_t whole, scale, part;

    assert(digits <= 9);
    /* Without decimals half to even looks at the digit before the point. */
    if (!(size < MOST) || digits == 0) {
        snprintf(buffer, ORR_DECIMAL_SIZE, "%.*f", (int)digits, value);
        return buffer;
    }
    scale = powers[digits];
    whole = (uint64_t)size;
    part = scaled(size - (double)whole, scale);
    if (part == scale) {
        part = 0;
        whole++;
    }
    *end = '\0';
    at = orr_digits(end, part, digits);
    *--at = '.';
    at = orr_digits(at, whole, 1);
    if (signbit(value))
        *--at = '-';
    return at;
}

const char *orr_general(struct orr_general *general, double value)
{
    uint64_t bits;
    unsigned at;

    memcpy(&bits, &value, sizeof(bits));
    at = (unsigned)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32) %
         ORR_GENERAL_KEPT;
    if (!general->kept[at].text[0] ||
        memcmp(&general->kept[at].value, &value, sizeof(value))) {
        snprintf(general->kept[at].text, sizeof(general->kept[at].text), "%.9g",
                 value);
        general->kept[at].value = value;
    }
    return general->kept[at].text;
}

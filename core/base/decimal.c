/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/decimal.c - see decimal.h. The part behind the point is a fraction of 53
 * bits over a power of two: times 10^9 it is exact in 128 bits, so that what is cut
 * off decides the rounding as in printf.
 */
#include "core/base/decimal.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/number.h"

__extension__ typedef unsigned __int128 wide;

#define MANTISSA (UINT64_C(1) << 52)
#define BIAS     1075 /* of the exponent, with the mantissa as an integer */

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

/* The same in half the bits, of what is not tiny and has three decimals, as most. */
static uint64_t thousandths(double fraction)
{
    uint64_t bits, value, product, rest, half;
    unsigned shift;

    memcpy(&bits, &fraction, sizeof(bits));
    shift = BIAS - (unsigned)(bits >> 52);
    if (shift >= 64)
        return scaled(fraction, 1000);
    product = (bits % MANTISSA + MANTISSA) * 1000;
    value = product >> shift;
    rest = product - (value << shift);
    half = UINT64_C(1) << (shift - 1);
    return value + (rest > half || (rest == half && value % 2));
}

/* -- digits ---------------------------------------------------------------- */

#define HUNDRED_MILLION UINT64_C(100000000)

/* The eight digits of a number below 10^8, the first one in the lowest byte: two numbers
 * of four digits are divided at once, then four of two. The factors are exact there. */
static uint64_t eight_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486) >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103) >> 10 & UINT64_C(0x000f000f000f000f);

    return tens | (twos - 10 * tens) << 8;
}

/* Eight bytes, in the order of their places in `text`. */
static void put_bytes(char *to, uint64_t text)
{
    text = htole64(text);
    memcpy(to, &text, sizeof(text));
}

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

/* Writes a number below 10^4, with `least` digits at least. */
static inline char *put_four(char *to, uint32_t value, unsigned least)
{
    unsigned skipped = value >= 100 ? value < 1000 : 2 + (value < 10);
    uint32_t text;
    char four[4];

    skipped = skipped < 4 - least ? skipped : 4 - least;
    memcpy(four, &pairs[2 * (value / 100)], 2);
    memcpy(four + 2, &pairs[2 * (value % 100)], 2);
    memcpy(&text, four, sizeof(text));
    text = htole32(le32toh(text) >> (8 * skipped));
    memcpy(to, &text, sizeof(text));
    return to + 4 - skipped;
}

/* Writes a number below 10^8, with `least` digits at least. */
static inline char *put_eight(char *to, uint32_t value, unsigned least)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    uint64_t digits = eight_digits(value);
    unsigned skipped = 8 - least, leading;

    if (value > 0) {
        leading = (unsigned)__builtin_ctzll(digits) / 8;
        skipped = leading < skipped ? leading : skipped;
    }
    put_bytes(to, (digits | zeros) >> (8 * skipped));
    return to + 8 - skipped;
}

char *orr_write_digits(char *to, uint64_t value, unsigned least)
{
    assert(least > 0);
    if (value < 10 && least == 1) {
        *to = (char)('0' + value);
        return to + 1;
    }
    if (value < 10000 && least <= 4)
        return put_four(to, (uint32_t)value, least);
    if (value < HUNDRED_MILLION && least <= 8)
        return put_eight(to, (uint32_t)value, least);
    to = orr_write_digits(to, value / HUNDRED_MILLION,
                          least > 8 ? least - 8 : 1);
    return put_eight(to, (uint32_t)(value % HUNDRED_MILLION), 8);
}

/* -- decimals -------------------------------------------------------------- */

static const uint64_t powers[] = {1,         10,         100,        1000,
                                  10000,     100000,     1000000,    10000000,
                                  100000000, 1000000000, 10000000000};

char *orr_write_decimal(char *to, double value, unsigned digits)
{
    double size = fabs(value);
    uint64_t whole = (uint64_t)size, part;

    assert(digits > 0 && digits <= 9 && size < ORR_DECIMAL_MOST);
    part = digits == 3 ? thousandths(size - (double)whole)
                       : scaled(size - (double)whole, powers[digits]);
    if (part == powers[digits]) {
        part = 0;
        whole++;
    }
    if (signbit(value))
        *to++ = '-';
    to = orr_write_digits(to, whole, 1);
    *to++ = '.';
    return orr_write_digits(to, part, digits);
}

const char *orr_decimal(double value, unsigned digits,
                        char buffer[static ORR_DECIMAL_SIZE])
{
    assert(digits <= 9);
    /* Without decimals half to even looks at the digit before the point. */
    if (!(fabs(value) < ORR_DECIMAL_MOST) || digits == 0)
        orr_snprintf(buffer, ORR_DECIMAL_SIZE, "%.*f", (int)digits, value);
    else
        *orr_write_decimal(buffer, value, digits) = '\0';
    return buffer;
}

/* -- all digits ------------------------------------------------------------ */

#define EXACT_DIGITS 17
#define EXACT_LEAST  1e-4 /* less has an exponent */

/* size × 10^power, rounded half to even; 2^-14 < size < 10^15, power up to 20: below 2^120,
 * exact. */
static uint64_t times_ten_to(double size, unsigned power)
{
    uint64_t bits, value;
    wide product, rest, half;
    unsigned shift;

    memcpy(&bits, &size, sizeof(bits));
    shift = BIAS - (unsigned)(bits >> 52);
    product = (wide)(bits % MANTISSA + MANTISSA) * powers[power / 2] *
              powers[power - power / 2];
    value = (uint64_t)(product >> shift);
    rest = product - ((wide)value << shift);
    half = (wide)1 << (shift - 1);
    return value + (rest > half || (rest == half && value % 2));
}

/* The seventeen digits of a size that has no exponent, as a number; *ret_place: the power of
 * ten of the first one. */
static uint64_t seventeen_digits(double size, int *ret_place)
{
    const uint64_t end = UINT64_C(100000000000000000); /* 10^17 */
    int place = ((ilogb(size) + 64) * 1233 >> 12) -
                19; /* or one more: 1233 / 4096 > log10(2) */
    uint64_t digits = times_ten_to(size, (unsigned)(EXACT_DIGITS - 1 - place));

    if (digits >= end) {
        place++;
        digits = times_ten_to(size, (unsigned)(EXACT_DIGITS - 1 - place));
    }
    if (digits < end / 10) {
        place--;
        digits = times_ten_to(size, (unsigned)(EXACT_DIGITS - 1 - place));
    }
    if (digits == end) { /* by rounding */
        place++;
        digits /= 10;
    }
    *ret_place = place;
    return digits;
}

/* The digits, the first one at that power of ten, without zeros at their end. No value that is
 * not whole is written as one that is. */
static char *put_point(char *to, uint64_t digits, int place)
{
    char text[EXACT_DIGITS + 7];
    size_t n = EXACT_DIGITS, before = 0;

    (void)orr_write_digits(text, digits, EXACT_DIGITS);
    while (text[n - 1] == '0')
        n--;
    if (place >= 0) {
        before = (size_t)place + 1;
        memcpy(to, text, before);
        to += before;
    } else {
        *to++ = '0';
    }
    *to++ = '.';
    for (; place < -1; place++)
        *to++ = '0';
    memcpy(to, text + before, n - before);
    return to + n - before;
}

char *orr_write_exact(char *to, double value)
{
    double size = fabs(value);
    bool whole = size < ORR_DECIMAL_MOST && size == floor(size);
    uint64_t digits;
    int place;

    if (!whole && !(size >= EXACT_LEAST && size < ORR_DECIMAL_MOST))
        return to + orr_snprintf(to, ORR_DECIMAL_ROOM, "%.17g", value);
    if (signbit(value))
        *to++ = '-';
    if (whole)
        return orr_write_digits(to, (uint64_t)size, 1);
    digits = seventeen_digits(size, &place);
    return put_point(to, digits, place);
}

/* The entry of the value, or the one that it may have: of the entries that are possible
 * the last one is replaced. */
static unsigned find_kept(const struct orr_general *general, double value)
{
    enum { PLACES = 8 };
    uint64_t bits;
    unsigned at;

    memcpy(&bits, &value, sizeof(bits));
    at = (unsigned)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    for (unsigned i = 1; i < PLACES; i++, at++) {
        unsigned place = at % ORR_GENERAL_KEPT;

        if (!general->kept[place].text[0] ||
            !memcmp(&general->kept[place].value, &value, sizeof(value)))
            return place;
    }
    return at % ORR_GENERAL_KEPT;
}

const char *orr_general(struct orr_general *general, double value)
{
    unsigned at = find_kept(general, value);

    if (!general->kept[at].text[0] ||
        memcmp(&general->kept[at].value, &value, sizeof(value))) {
        orr_snprintf(general->kept[at].text, sizeof(general->kept[at].text),
                     "%.9g", value);
        general->kept[at].value = value;
    }
    return general->kept[at].text;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/decimal.c - see decimal.h. The part behind the point is a fraction of 53
 * bits over a power of two: times 10^9 it is exact in 128 bits, so that what is cut
 * off decides the rounding as in printf.
 */
#include "core/observe/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
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

/* Two digits at a time: divisions are what takes long. */
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

/* Writes the digits that end at `end`, at least `least`; returns their begin. */
static char *write_digits(char *end, uint64_t value, unsigned least)
{
    char *at = end;

    while (value >= 10) {
        at -= 2;
        memcpy(at, &pairs[2 * (value % 100)], 2);
        value /= 100;
    }
    if (value > 0)
        *--at = (char)('0' + value);
    while (end - at < (long)least)
        *--at = '0';
    return at;
}

static char *write_hex(char *end, uint64_t value, unsigned least)
{
    char *at = end;

    while (value > 0 || end - at < (long)least) {
        *--at = "0123456789abcdef"[value % 16];
        value /= 16;
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

const char *orr_general(struct orr_general *general, double value)
{
    if (!general->text[0] || memcmp(&general->value, &value, sizeof(value))) {
        snprintf(general->text, sizeof(general->text), "%.9g", value);
        general->value = value;
    }
    return general->text;
}

void orr_put_number(FILE *file, unsigned long long value)
{
    char digits[24], *end = digits + sizeof(digits) - 1;

    *end = '\0';
    fputs_unlocked(write_digits(end, value, 1), file);
}

/* -- orr_print ------------------------------------------------------------ */

/* A number has at most 20 digits and a sign; so many bytes are copied of any, which
 * is quicker than as many as it has. */
enum { COPIED = 24 };

/* What is written at once. */
struct piece {
    FILE *file;
    size_t n;
    char text[512];
};

static void flush(struct piece *piece)
{
    fwrite_unlocked(piece->text, 1, piece->n, piece->file);
    piece->n = 0;
}

static void add(struct piece *piece, const char *text, size_t n)
{
    if (n > sizeof(piece->text) - piece->n)
        flush(piece);
    if (n > sizeof(piece->text)) {
        fwrite_unlocked(text, 1, n, piece->file);
        return;
    }
    memcpy(&piece->text[piece->n], text, n);
    piece->n += n;
}

/* Up to a conversion or the end, where it returns: most often a few characters, for
 * which a call is not worth its while. */
static const char *add_literal(struct piece *piece, const char *at)
{
    const char *end;

    if (sizeof(piece->text) - piece->n < COPIED)
        flush(piece);
    for (int i = 0; i < COPIED; i++, at++) {
        if (!*at || *at == '%')
            return at;
        piece->text[piece->n++] = *at;
    }
    end = strchrnul(at, '%');
    add(piece, at, (size_t)(end - at));
    return end;
}

/* One conversion, behind its per cent sign. */
struct conversion {
    char type;
    unsigned width;  /* digits at least */
    unsigned length; /* sizeof the number */
};

/* Returns what follows it. */
static const char *read_conversion(const char *at, struct conversion *ret)
{
    *ret = (struct conversion){.width = 1, .length = sizeof(int)};
    if (*at == '0')
        ret->width = 0;
    while (*at >= '0' && *at <= '9')
        ret->width = 10 * ret->width + (unsigned)(*at++ - '0');
    for (; *at == 'l' || *at == 'z'; at++)
        ret->length = sizeof(long long);
    ret->type = *at;
    assert(ret->width <= 16);
    return at + 1;
}

static void add_number(struct piece *piece, struct conversion conversion,
                       uint64_t value, bool negative)
{
    char digits[2 * COPIED], *end = digits + COPIED, *at;

    assert(conversion.type == 'x' || conversion.type == 'u' ||
           conversion.type == 'd');
    at = conversion.type == 'x' ? write_hex(end, value, conversion.width)
                                : write_digits(end, value, conversion.width);
    if (negative)
        *--at = '-';
    if (sizeof(piece->text) - piece->n < COPIED)
        flush(piece);
    memcpy(&piece->text[piece->n], at, COPIED);
    piece->n += (size_t)(end - at);
}

void orr_print(FILE *file, const char *format, ...)
{
    struct piece piece;
    struct conversion conversion;
    const char *text;
    va_list values;

    static_assert(sizeof(long) == sizeof(long long) &&
                      sizeof(size_t) == sizeof(long long),
                  "l, ll and z are one length");
    piece.file = file;
    piece.n = 0;
    va_start(values, format);
    while (*(format = add_literal(&piece, format))) {
        bool is_long;

        format = read_conversion(format + 1, &conversion);
        is_long = conversion.length > sizeof(int);
        if (conversion.type == 's') {
            text = va_arg(values, const char *);
            add(&piece, text, strlen(text));
        } else if (conversion.type == 'd') {
            int64_t value =
                is_long ? va_arg(values, long long) : va_arg(values, int);

            add_number(&piece, conversion,
                       value < 0 ? -(uint64_t)value : (uint64_t)value,
                       value < 0);
        } else {
            add_number(&piece, conversion,
                       is_long ? va_arg(values, unsigned long long)
                               : va_arg(values, unsigned),
                       false);
        }
    }
    va_end(values);
    flush(&piece);
}

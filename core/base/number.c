/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/number.c - see number.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* strtod_l, vasprintf */
#endif
#include "core/base/number.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/c_locale.h"

int orr_vfprintf(FILE *out, const char *format, va_list args)
{
    struct orr_c_locale locale = orr_c_locale_begin();
    int n = vfprintf(out, format, args);

    orr_c_locale_end(locale);
    return n;
}

int orr_vsnprintf(char *text, size_t size, const char *format, va_list args)
{
    struct orr_c_locale locale = orr_c_locale_begin();
    int n = vsnprintf(text, size, format, args);

    orr_c_locale_end(locale);
    return n;
}

int orr_vasprintf(char **ret, const char *format, va_list args)
{
    struct orr_c_locale locale = orr_c_locale_begin();
    int n = vasprintf(ret, format, args);

    orr_c_locale_end(locale);
    if (n < 0)
        *ret = NULL;
    return n;
}

int orr_fprintf(FILE *out, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = orr_vfprintf(out, format, args);
    va_end(args);
    return n;
}

int orr_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = orr_vsnprintf(text, size, format, args);
    va_end(args);
    return n;
}

int orr_asprintf(char **ret, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = orr_vasprintf(ret, format, args);
    va_end(args);
    return n;
}

/* Most numbers have few digits and no exponent. A double has all of these digits, and the power
 * of ten that the fraction is divided by: the quotient is rounded once, as the C library would
 * (Clinger 1990). Returns where the number ends; NULL: it is none of those. */
static const char *read_short(const char *text, double *ret)
{
    enum { MOST_DIGITS = 15 };
    static const double tens[MOST_DIGITS + 1] = {
        1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t value = 0;
    unsigned ndigits = 0, nbehind = 0;
    bool fraction = false;
    const char *at = text;

    for (;; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';

        if (digit <= 9) {
            if (++ndigits > MOST_DIGITS)
                return NULL;
            value = value * 10 + digit;
            nbehind += fraction;
        } else if (*at == '.' && !fraction) {
            fraction = true;
        } else {
            break;
        }
    }
    if (!ndigits || (*at && strchr("eExX", *at)) || FLT_EVAL_METHOD != 0)
        return NULL;
    *ret = (double)value / tens[nbehind];
    return at;
}

double orr_strtod(const char *text, char **end)
{
    double value;
    const char *behind = read_short(text, &value);

    if (behind && end) {
        *end = (char *)(uintptr_t)behind;
    } else if (!behind) {
        struct orr_c_locale locale = orr_c_locale_begin();

        value = strtod(text, end);
        orr_c_locale_end(locale);
    }
    return value;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/number.c - see number.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* strtod_l, vasprintf */
#endif
#include "core/base/number.h"

#include <stdlib.h>

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

double orr_strtod(const char *text, char **end)
{
    struct orr_c_locale locale = orr_c_locale_begin();
    double value = strtod(text, end);

    orr_c_locale_end(locale);
    return value;
}

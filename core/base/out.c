/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/out.c - see out.h. */
#include "core/base/out.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

enum { BUFFER_SIZE = 1 << 16 };

int orr_out_init(struct orr_out *out, FILE *file)
{
    char *buffer = malloc(BUFFER_SIZE);

    if (!buffer)
        return -ENOMEM;
    *out = (struct orr_out){file, buffer, buffer, buffer + BUFFER_SIZE};
    return 0;
}

void orr_out_done(struct orr_out *out)
{
    orr_out_flush(out);
    free(out->begin);
}

void orr_out_flush(struct orr_out *out)
{
    fwrite_unlocked(out->begin, 1, (size_t)(out->at - out->begin), out->file);
    out->at = out->begin;
}

void orr_put_long(struct orr_out *out, const char *text, size_t n)
{
    if (n > (size_t)(out->end - out->at))
        orr_out_flush(out);
    if (n > (size_t)(out->end - out->at)) {
        fwrite_unlocked(text, 1, n, out->file);
        return;
    }
    memcpy(out->at, text, n);
    out->at += n;
}

/* -- numbers --------------------------------------------------------------- */

/* So many bytes are copied of a text that is no longer, which is quicker than as many as
 * it has. */
enum { COPIED = 24 };

static_assert((int)ORR_DECIMAL_ROOM <= (int)ORR_OUT_LEAST,
              "numbers are written in their place");

void orr_put_unsigned(struct orr_out *out, uint64_t value)
{
    orr_out_room(out);
    out->at = orr_write_digits(out->at, value, 1);
}

void orr_put_signed(struct orr_out *out, int64_t value)
{
    orr_out_room(out);
    if (value < 0)
        *out->at++ = '-';
    out->at = orr_write_digits(
        out->at, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
}

void orr_put_hex(struct orr_out *out, uint64_t value, unsigned least)
{
    unsigned n = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 0;

    assert(least <= 16);
    n = n > least ? n : least;
    orr_out_room(out);
    for (unsigned i = n; i-- > 0; value /= 16)
        out->at[i] = "0123456789abcdef"[value % 16];
    out->at += n;
}

void orr_put_decimal(struct orr_out *out, double value, unsigned digits)
{
    char text[ORR_DECIMAL_SIZE];

    if (fabs(value) < ORR_DECIMAL_MOST && digits > 0) {
        orr_out_room(out);
        out->at = orr_write_decimal(out->at, value, digits);
    } else {
        orr_put_text(out, orr_decimal(value, digits, text));
    }
}

/* The number as text, whose length is returned. */
static size_t make_decimal(char text[static ORR_DECIMAL_SIZE], double value,
                           unsigned digits)
{
    if (fabs(value) < ORR_DECIMAL_MOST && digits > 0)
        return (size_t)(orr_write_decimal(text, value, digits) - text);
    return strlen(orr_decimal(value, digits, text));
}

void orr_put_same(struct orr_out *out, struct orr_same *same, double value,
                  unsigned digits)
{
    if (value != same->value) {
        same->n = make_decimal(same->text, value, digits);
        same->value = value;
    }
    if (same->n > COPIED) {
        orr_put(out, same->text, same->n);
        return;
    }
    orr_out_room(out);
    memcpy(out->at, same->text, COPIED);
    out->at += same->n;
}

/* -- orr_print ------------------------------------------------------------- */

/* One conversion of the format, read from behind its per cent sign. */
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

static void out_put_number(struct orr_out *out, struct conversion conversion,
                           uint64_t value)
{
    if (conversion.type == 'x') {
        orr_put_hex(out, value, conversion.width);
        return;
    }
    orr_out_room(out);
    out->at = orr_write_digits(out->at, value,
                               conversion.width ? conversion.width : 1);
}

void orr_print(struct orr_out *out, const char *format, ...)
{
    struct conversion conversion;
    va_list values;

    static_assert(sizeof(long) == sizeof(long long) &&
                      sizeof(size_t) == sizeof(long long),
                  "l, ll and z are one length");
    va_start(values, format);
    for (;;) {
        const char *end = strchrnul(format, '%');
        bool is_long;

        orr_put(out, format, (size_t)(end - format));
        if (!*end)
            break;
        format = read_conversion(end + 1, &conversion);
        is_long = conversion.length > sizeof(int);
        assert(strchr("sdux", conversion.type));
        if (conversion.type == 's')
            orr_put_text(out, va_arg(values, const char *));
        else if (conversion.type == 'd')
            orr_put_signed(out, is_long ? va_arg(values, long long)
                                        : va_arg(values, int));
        else
            out_put_number(out, conversion,
                           is_long ? va_arg(values, unsigned long long)
                                   : va_arg(values, unsigned));
    }
    va_end(values);
}

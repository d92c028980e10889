/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/out.h - a file that is written piece by piece through a buffer of its
 * own: for files of millions of lines, for which calls of stdio take longer than what
 * they write. An error of the file shows in ferror. One thread.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"

/* Nothing that is shorter needs to be copied byte for byte; no number is longer. */
enum { ORR_OUT_LEAST = 48 };

struct orr_out {
    FILE *file;
    char *begin, *at, *end; /* the buffer, owned; what is in it ends at `at` */
};

/* Writes to `file`, the caller's, through a buffer that orr_out_done frees. Nothing else
 * may write to the file in between, but after orr_out_flush. Errors: -ENOMEM. */
int orr_out_init(struct orr_out *out, FILE *file);

/* Hands over to the file what is in the buffer. */
void orr_out_flush(struct orr_out *out);

/* The same and frees the buffer. */
void orr_out_done(struct orr_out *out);

/* Text of any length. */
void orr_put_long(struct orr_out *out, const char *text, size_t n);

/* Makes room for ORR_OUT_LEAST bytes, which may then be copied to `at`. */
static inline void orr_out_room(struct orr_out *out)
{
    if (out->end - out->at < ORR_OUT_LEAST)
        orr_out_flush(out);
}

static inline void orr_put(struct orr_out *out, const char *text, size_t n)
{
    if (n > ORR_OUT_LEAST) {
        orr_put_long(out, text, n);
        return;
    }
    orr_out_room(out);
    memcpy(out->at, text, n);
    out->at += n;
}

/* A literal, whose length the compiler knows. */
#define ORR_PUT(out, literal) orr_put(out, literal, sizeof(literal "") - 1)

static inline void orr_put_byte(struct orr_out *out, char byte)
{
    orr_out_room(out);
    *out->at++ = byte;
}

static inline void orr_put_text(struct orr_out *out, const char *text)
{
    orr_put(out, text, strlen(text));
}

void orr_put_unsigned(struct orr_out *out, uint64_t value);
void orr_put_signed(struct orr_out *out, int64_t value);

/* Writes the number in hexadecimal, with zeros in front up to `least` digits, which is
 * at most 16. */
void orr_put_hex(struct orr_out *out, uint64_t value, unsigned least);

/* Writes the number as orr_decimal does. */
void orr_put_decimal(struct orr_out *out, double value, unsigned digits);

/* Writes the number as orr_write_exact does. */
static inline void orr_put_exact(struct orr_out *out, double value)
{
    orr_out_room(out);
    out->at = orr_write_exact(out->at, value);
}

/* A number as text that is often the same as the last one: of lines in order of time
 * many have the same. orr_same_init comes first. */
struct orr_same {
    double value;
    size_t n;
    char text[ORR_DECIMAL_SIZE];
};

static inline void orr_same_init(struct orr_same *same)
{
    same->value = (double)NAN; /* unlike any */
    same->n = 0;
}

/* As orr_put_decimal, with the same count of digits each time. */
void orr_put_same(struct orr_out *out, struct orr_same *same, double value,
                  unsigned digits);

/* fprintf for %s, %d, %u, %x and their lengths l, ll and z, with a width after a 0. */
__attribute__((format(printf, 2, 3))) void orr_print(struct orr_out *out,
                                                     const char *format, ...);

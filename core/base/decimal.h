/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/decimal.h - numbers with a fixed count of decimals as text, as printf
 * gives them and many times quicker: files of millions of times are made of them.
 * Any thread.
 */
#pragma once

#include <stdint.h>

/* Room for any double with nine decimals. */
#define ORR_DECIMAL_SIZE 328

/* Writes `value` with `digits` decimals, at most 9, into `buffer` and returns that:
 * the bytes of printf's "%.*f" in the C locale, rounded half to even. */
const char *orr_decimal(double value, unsigned digits,
                        char buffer[static ORR_DECIMAL_SIZE]);

/* Writes `value` from `to` on as printf's "%.17g" in the C locale, which distinguishes any two
 * doubles, without a 0 behind it; returns the end of the text. No more than ORR_DECIMAL_ROOM
 * bytes are written. */
char *orr_write_exact(char *to, double value);

/* Values as "%.9g"; the last texts are remembered, since tasks of a kernel have equal
 * flops. All zero at first. */
enum { ORR_GENERAL_KEPT = 32 };

struct orr_general {
    struct {
        double value;
        char text[32]; /* empty: nothing yet */
    } kept[ORR_GENERAL_KEPT];
};

/* Valid until the next call. */
const char *orr_general(struct orr_general *general, double value);

/* Writes the digits of `value` from `to` on, with zeros in front of them where they are
 * fewer than `least`, which is not 0; returns their end, behind which up to seven bytes
 * more are written. */
char *orr_write_digits(char *to, uint64_t value, unsigned least);

/* As orr_decimal, from `to` on and without a 0 behind it, of a value whose size is below
 * that, with at least one decimal; returns the end of the text. No more than
 * ORR_DECIMAL_ROOM bytes are written. */
#define ORR_DECIMAL_MOST 1e15
enum { ORR_DECIMAL_ROOM = 40 };
char *orr_write_decimal(char *to, double value, unsigned digits);

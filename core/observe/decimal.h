/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/decimal.h - numbers with a fixed count of decimals as text, as printf
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

/* Values as "%.9g", the last ones of which are remembered: tasks of a kernel have equal
 * flops. Begins as zeros. */
enum { ORR_GENERAL_KEPT = 16 };

struct orr_general {
    struct {
        double value;
        char text[32]; /* empty: nothing yet */
    } kept[ORR_GENERAL_KEPT];
};

/* Valid until the next call. */
const char *orr_general(struct orr_general *general, double value);

/* Writes the digits of `value` so that they end before `end`, with zeros in front of
 * them where they are fewer than `least`; returns their begin. */
char *orr_digits(char *end, uint64_t value, unsigned least);

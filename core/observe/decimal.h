/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/decimal.h - numbers with a fixed count of decimals as text, as printf
 * gives them and many times quicker: files of millions of times are made of them.
 * Any thread.
 */
#pragma once

#include <stdio.h>

/* Room for any double with nine decimals. */
#define ORR_DECIMAL_SIZE 328

/* Writes `value` with `digits` decimals, at most 9, into `buffer` and returns that:
 * the bytes of printf's "%.*f" in the C locale, rounded half to even. */
const char *orr_decimal(double value, unsigned digits,
                        char buffer[static ORR_DECIMAL_SIZE]);

/* A value as "%.9g", which is made again only when it is another one than last time:
 * tasks of a kernel have equal flops. Begins as zeros. */
struct orr_general {
    double value;
    char text[32];
};

const char *orr_general(struct orr_general *general, double value);

/* Writes the number; the file is not locked. */
void orr_put_number(FILE *file, unsigned long long value);

/* fprintf for %s, %d, %u, %x and their lengths l, ll and z, with a width after a 0;
 * the file is not locked. */
__attribute__((format(printf, 2, 3))) void orr_print(FILE *file,
                                                     const char *format, ...);

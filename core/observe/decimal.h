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

/* Writes the number; the file is not locked. */
void orr_put_number(FILE *file, unsigned long long value);

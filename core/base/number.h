/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/number.h - numbers as text, and back, as in C: with a point, whatever locale the
 * application has set. All that prints or reads a number that may have a fraction does it
 * by these functions, which are those of the C library otherwise. Any thread.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define ORR_PRINTS(nth, first) __attribute__((format(printf, nth, first)))

int orr_fprintf(FILE *out, const char *format, ...) ORR_PRINTS(2, 3);
int orr_vfprintf(FILE *out, const char *format, va_list args) ORR_PRINTS(2, 0);
int orr_snprintf(char *text, size_t size, const char *format, ...) ORR_PRINTS(3, 4);
int orr_vsnprintf(char *text, size_t size, const char *format, va_list args)
    ORR_PRINTS(3, 0);
/* *ret is the caller's (free), and NULL after an error. */
int orr_asprintf(char **ret, const char *format, ...) ORR_PRINTS(2, 3);
int orr_vasprintf(char **ret, const char *format, va_list args) ORR_PRINTS(2, 0);

double orr_strtod(const char *text, char **end);

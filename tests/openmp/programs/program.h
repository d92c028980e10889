/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h - what the programs share: arguments, numbers by chance, the answer. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline long argument(int argc, char **argv, int which, long usual)
{
    return argc > which ? atol(argv[which]) : usual;
}

/* The next of a sequence of numbers, the same everywhere. */
static inline unsigned chance(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Prints what was computed; the exit code says whether it is right. */
static inline int answer(const char *name, double value, double right)
{
    double off = value > right ? value - right : right - value;

    printf("%s %.10g\n", name, value);
    return off <= 1e-6 * (right < 0 ? -right : right) ? EXIT_SUCCESS : EXIT_FAILURE;
}

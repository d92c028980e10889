/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* expect.h - what the programs of this folder have in common: an expectation that
 * ends the program, and one of a result, which only executed kernels leave. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            exit(EXIT_FAILURE);                                                \
        }                                                                      \
    } while (0)

/* Kernels are not executed in a simulation unless it is asked for. */
#define EXPECT_RESULT(condition)                                               \
    do {                                                                       \
        if (!getenv("KERNELS_ARE_SKIPPED"))                                    \
            EXPECT(condition);                                                 \
    } while (0)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/programs/lines.h - what a rank has to say, a line at a time, in a file of its
 * own: launchers mix what ranks print. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Behind what the rank has said, in the folder RANK_LINES. */
__attribute__((format(printf, 2, 3))) static inline void say_line(int rank, const char *format,
                                                                  ...)
{
    const char *folder = getenv("RANK_LINES");
    char path[300];
    va_list args;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%d", folder ? folder : ".", rank);
    file = fopen(path, "a");
    if (!file)
        abort();
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

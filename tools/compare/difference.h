/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/difference.h - `orrery compare OLD.json NEW.json`: which rows of two
 * comparisons, as --json prints them, differ. One thread.
 */
#pragma once

#include <stdbool.h>

enum { DIFFERENCE_SLOWER = 3 }; /* exit code: some row has become slower */

struct difference_options {
    const char *before, *after; /* the files */
    double worse; /* share by which a median must differ to count */
    bool json, markdown;
};

/* Whether the word names such a file, and no program. */
bool difference_is_file(const char *word);

/* Whether both operands do. */
bool difference_is_meant(int noperands, char **operands);

/* Prints a row per combination of machine, settings and scheduler. Where both have
 * enough runs a rank test decides, corrected for the number of rows (Holm, "A simple
 * sequentially rejective multiple test procedure", 1979), else the medians alone.
 * Returns TOOL_OK, DIFFERENCE_SLOWER, TOOL_FAILED or, for files that cannot be read,
 * TOOL_USAGE with a message. */
int difference_print(const struct difference_options *options);

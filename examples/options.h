/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command lines of the small examples. */
#pragma once

/* "-size N", or "-check" alone, which sets 1. */
struct option {
    const char *name;
    unsigned *value;
    int is_flag;
};

/* Reads the command line into the values of `options`, whose list ends with a
 * name that is NULL. On a mistake, and for -h, prints the usage and ends the
 * program. */
void options_read(int argc, char **argv, const struct option *options,
                  const char *usage);

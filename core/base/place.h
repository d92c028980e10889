/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/place.h - where a file that is to be written lies: for those who write
 * beside it and rename, which would put a file in the place of a link, or of what the
 * process writes to already. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether it is written to and never replaced: a device, a pipe, or the file that
 * standard output or standard error is. */
bool orr_place_is_fixed(const char *path);

/* Opens one of these to write, standard output and error behind what is there; the
 * caller closes it. NULL: errno says why. */
FILE *orr_place_open(const char *path);

/* Its path behind links; the path where there is none, or leads nowhere. The caller's;
 * NULL without memory. */
char *orr_place_of(const char *path);

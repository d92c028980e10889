/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/assume.h - the option --assume of commands that simulate:
 * docs/ASSUME.md. The library reads its value. One thread.
 */
#pragma once

#include <jansson.h>

/* Lines of the help of such commands. */
#define ASSUME_HELP                                                                      \
    "      --assume 'kernel[NAME] on cuda = 20us + 2ns * n'  time of a kernel without\n" \
    "                             figures; several are separated by ;, @FILE has one\n"  \
    "                             a line; MACHINE:kernel[NAME] is for one machine\n"  \
    "                             (docs/ASSUME.md)\n"

/* Prints what the run of that report assumed, one line each behind `indent`, and
 * which of it no task needed, or what it was used instead of; nothing without. */
void assume_print(const json_t *report, const char *indent);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/printed.h - what a command prints is text: names in it, which come from
 * files, cannot tell a terminal what to do. One thread.
 */
#pragma once

#include <stdio.h>

/* From here on what is printed on `stdout` is made so that it may be shown, as
 * core/base/shown.h says, line ends and tabs aside. Once, before anything is printed;
 * printed_end ends it. Without memory standard output is as before. */
void printed_begin(void);

/* The end of standard output, which is closed, begun or not. Errors: -1, errno may say why. */
int printed_end(void);

/* The text as a field of CSV: in quotation marks when it must be (RFC 4180). */
void printed_csv(FILE *out, const char *text);

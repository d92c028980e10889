/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/printed.h - what a command prints is text: names in it, which come from
 * files, cannot tell a terminal what to do. One thread.
 */
#pragma once

#include <stdio.h>

/* From here on what is printed on `stdout` is made so that it may be shown, as
 * core/base/shown.h says, line ends and tabs aside. Once, before anything is printed;
 * tool_close ends it. Without memory standard output is as before. */
void printed_begin(void);

/* The text as a field of CSV: in quotation marks when it must be (RFC 4180). */
void printed_csv(FILE *out, const char *text);

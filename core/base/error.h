/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/error.h - the message that goes with a negative errno. A parser or
 * an opener fills one; the outermost layer prints it.
 */
#pragma once

#include <stdarg.h>

/* What went wrong and what to do about it, one or more lines without a final
 * newline. Empty: no message. */
struct orr_error {
    char text[1024];
};

/* Writes the message (printf style) unless `err` is NULL, and returns `code`, a
 * negative errno, so that callers can write `return orr_fail(err, -EINVAL, …)`.
 * Text that does not fit is cut. */
int orr_fail(struct orr_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4), visibility("default")));

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/error.c - see error.h. No state, any thread. */
#include "core/base/error.h"

#include <stdio.h>

#include "core/base/number.h"

int orr_fail(struct orr_error *err, int code, const char *format, ...)
{
    va_list args;

    if (!err)
        return code;
    va_start(args, format);
    orr_vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/check.c - see check.h. */
#include "core/base/check.h"

#include <stdlib.h>

#include "core/base/log.h"

_Noreturn void orr_check_failed(const char *file, int line,
                                const char *condition)
{
    orr_log_error("internal error: %s:%d: this does not hold: %s. Please "
                  "report it with the program that shows it.",
                  file, line, condition);
    abort();
}

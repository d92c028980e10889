/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/log.c - see log.h. One write per message, so that messages of
 * several threads do not mix.
 */
#include "core/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "core/base/shown.h"

static bool log_is_silent(void)
{
    const char *value = getenv("STARPU_SILENT");

    return value && *value && strcmp(value, "0") != 0;
}

static void log_print(const char *kind, bool is_repeatable, const char *format,
                      va_list args) __attribute__((format(printf, 3, 0)));

/* Of what is true for several ranks it is enough that one says it. */
static void log_print(const char *kind, bool is_repeatable, const char *format,
                      va_list args)
{
    char text[8192];
    int rank = orr_log_rank ? orr_log_rank() : -1;
    size_t n =
        rank < 0
            ? (size_t)snprintf(text, sizeof(text), "orrery: %s", kind)
            : (size_t)snprintf(text, sizeof(text), "orrery: rank %d: %s", rank,
                               kind);
    int wanted = orr_vsnprintf(text + n, sizeof(text) - n - 1, format, args);

    if (wanted < 0 || (is_repeatable && orr_log_was_said && orr_log_was_said(text + n)))
        return;
    orr_shown_lines(text);
    n = strlen(text);
    text[n] = '\n';
    fwrite(text, 1, n + 1, stderr);
}

void orr_log_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_print("error: ", false, format, args);
    va_end(args);
}

void orr_log_warning(const char *format, ...)
{
    va_list args;

    if (log_is_silent())
        return;
    va_start(args, format);
    log_print("warning: ", true, format, args);
    va_end(args);
}

void orr_log_notice(const char *format, ...)
{
    va_list args;

    if (log_is_silent())
        return;
    va_start(args, format);
    log_print("", true, format, args);
    va_end(args);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/log.h - messages to the user, on stderr. Any thread.
 * STARPU_SILENT=1 silences everything but errors.
 */
#pragma once

#include <stdbool.h>

/* The rank of the calling context's run among others that are one program, which is in
 * front of its messages; negative: none. The library's; what has no library has no
 * ranks. */
int orr_log_rank(void) __attribute__((weak, visibility("default")));

/* Whether another rank of the same simulation has said that already, so that it is not said
 * again; notes that it was said. Likewise. */
bool orr_log_was_said(const char *text) __attribute__((weak, visibility("default")));

/* Something cannot be done: the call fails or the program ends. */
void orr_log_error(const char *format, ...)
    __attribute__((format(printf, 1, 2), visibility("default")));

/* Something looks wrong, the run goes on. */
void orr_log_warning(const char *format, ...)
    __attribute__((format(printf, 1, 2), visibility("default")));

/* Something worth knowing. */
void orr_log_notice(const char *format, ...)
    __attribute__((format(printf, 1, 2), visibility("default")));

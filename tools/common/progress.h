/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/progress.h - how far many runs are, on a terminal, with the time that is left.
 * One thread.
 */
#pragma once

#include <stddef.h>

struct progress {
    size_t n, ended;  /* runs, and those that have ended … */
    size_t kept;      /* … of which so many were there before */
    double start_s;   /* tool_now_s() */
};

/* Shows it in place of what was shown before; nothing once all have ended, nor where standard
 * error is no terminal. */
void progress_show(const struct progress *progress);

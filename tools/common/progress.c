/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/progress.c - see progress.h. */
#include "tools/common/progress.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

void progress_show(const struct progress *progress)
{
    size_t run = progress->ended - progress->kept, left = progress->n - progress->ended;
    double each = run ? (tool_now_s() - progress->start_s) / (double)run : 0;
    long seconds = lround(each * (double)left);

    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%zu of %zu runs done", progress->ended, progress->n);
    if (left == 0)
        fputs("\r\033[K", stderr);
    else if (seconds >= 60)
        fprintf(stderr, ", about %ld min %02ld s left", seconds / 60, seconds % 60);
    else if (run)
        fprintf(stderr, ", about %ld s left", seconds);
}

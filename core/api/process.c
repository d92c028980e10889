/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/process.c - see process.h. */
#include "core/api/process.h"

/* Writable state of the process, not of a run: no runtime exists when the
 * first of it is written. */
static struct orr_process process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .pinned = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .fold_lock = PTHREAD_MUTEX_INITIALIZER,
};

struct orr_process *orr_process(void)
{
    return &process;
}

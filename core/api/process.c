/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/process.c - see process.h. */
#include "core/api/process.h"

static struct orr_process process = {
    .pinned = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .fold_lock = PTHREAD_MUTEX_INITIALIZER,
};

struct orr_process *orr_process(void)
{
    return &process;
}

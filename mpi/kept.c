/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/kept.c - see kept.h. */
#include "mpi/kept.h"

#include <stdlib.h>

#include "core/base/log.h"
#include "core/remote.h"

static void *make(void)
{
    struct orr_kept *kept = calloc(1, sizeof(*kept));

    if (kept)
        pthread_mutex_init(&kept->lock, NULL);
    return kept;
}

static void end(void *of)
{
    struct orr_kept *kept = of;

    orr_kept_free_natives(kept);
    free(kept->ranges);
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

struct orr_kept *orr_kept_enter(void)
{
    struct orr_kept *kept = orr_remote_kept(make, end);

    if (!kept) {
        orr_log_error("StarPU-MPI: out of memory");
        abort();
    }
    pthread_mutex_lock(&kept->lock);
    return kept;
}

void orr_kept_leave(struct orr_kept *kept)
{
    pthread_mutex_unlock(&kept->lock);
}

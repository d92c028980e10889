/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/exec/guest.c - see guest.h. */
#include "core/exec/guest.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/exec/runtime.h"

/* Core's locks do nothing in a simulation, which has one thread. */
static pthread_mutex_t guests = PTHREAD_MUTEX_INITIALIZER;

struct orr_context *orr_guest_enter(void)
{
    struct orr_runtime *rt = orr_runtime_adopted();
    struct orr_context *guest;

    if (!rt || !rt->exec->one_thread)
        return NULL;
    guest = calloc(1, sizeof(*guest));
    if (!guest)
        return NULL;
    guest->exec = rt->exec;
    guest->runtime = rt;
    guest->name = "a thread of the application";
    guest->frozen = 1;
    pthread_mutex_lock(&guests);
    orr_self = guest;
    return guest;
}

void orr_guest_end(struct orr_context *guest)
{
    orr_self = NULL;
    pthread_mutex_unlock(&guests);
    free(guest);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/leftovers.c - see leftovers.h. The end of a process is the process's: what
 * is known of it stands at file scope.
 */
#include "core/device/leftovers.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* The thread that takes one out of the list removes its directory. */
static _Atomic(struct orr_leftover *) leftovers[ORR_MAX_LEFTOVERS];

static void remove_one(const struct orr_leftover *leftover)
{
    char *path = leftover->path;

    while (strlen(path) >= leftover->least && rmdir(path) == 0) {
        char *slash = strrchr(path, '/');

        if (!slash)
            break;
        *slash = '\0';
    }
}

void orr_leftover_add(struct orr_leftover *leftover)
{
    for (unsigned i = 0; i < ORR_MAX_LEFTOVERS; i++) {
        struct orr_leftover *none = NULL;

        if (atomic_compare_exchange_strong(&leftovers[i], &none, leftover))
            return;
    }
}

bool orr_leftover_remove(struct orr_leftover *leftover)
{
    for (unsigned i = 0; i < ORR_MAX_LEFTOVERS; i++) {
        struct orr_leftover *expected = leftover;

        if (!atomic_compare_exchange_strong(&leftovers[i], &expected, NULL))
            continue;
        remove_one(leftover);
        return true;
    }
    return false;
}

bool orr_leftovers_exist(void)
{
    for (unsigned i = 0; i < ORR_MAX_LEFTOVERS; i++)
        if (atomic_load(&leftovers[i]))
            return true;
    return false;
}

void orr_leftovers_remove(void)
{
    for (unsigned i = 0; i < ORR_MAX_LEFTOVERS; i++) {
        const struct orr_leftover *leftover =
            atomic_exchange(&leftovers[i], NULL);

        if (leftover)
            remove_one(leftover);
    }
}

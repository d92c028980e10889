/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/together.h - threads that do something as nearly at once as threads can. */
#pragma once

#include <sched.h>
#include <stdatomic.h>

#include <orrery.h>

/* Returns when n calls have counted in *narrived. For after a barrier, from which
 * threads come one by one; in virtual time nothing is at once. Threads that share a
 * processor let each other go on. */
static inline void start_together(atomic_int *narrived, int n)
{
    enum { LOOKS = 10000 };
    int looks = 0;

    atomic_fetch_add(narrived, 1);
    while (!orrery_is_simulated() && atomic_load(narrived) < n)
        if (++looks > LOOKS)
            sched_yield();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mpi/real/nap.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum nap_state { AWAKE, WOKEN, ASLEEP };

bool nap_woken(struct nap *nap)
{
    if (atomic_load_explicit(&nap->state, memory_order_relaxed) != WOKEN)
        return false;
    /* What was written before the wake is seen behind it. */
    atomic_exchange(&nap->state, AWAKE);
    return true;
}

void nap_sleep(struct nap *nap, uint64_t ns)
{
    struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    int state = AWAKE;

    if (ns > 0 && ns <= NAP_SHORT_NS) {
        nanosleep(&most, NULL);
        return;
    }
    if (!atomic_compare_exchange_strong(&nap->state, &state, ASLEEP))
        return;
    syscall(SYS_futex, &nap->state, FUTEX_WAIT_PRIVATE, ASLEEP, ns ? &most : NULL, NULL,
            0);
    state = ASLEEP;
    atomic_compare_exchange_strong(&nap->state, &state, AWAKE);
}

void nap_wake(struct nap *nap)
{
    if (atomic_exchange(&nap->state, WOKEN) == ASLEEP)
        syscall(SYS_futex, &nap->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

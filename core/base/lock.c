/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/lock.c - the slow half of lock.h. */
#include "core/base/lock.h"

void orr_lock_wait(struct orr_lock *lock)
{
    struct orr_exec *exec = orr_self->exec;
    unsigned tries = 0;

    for (;;) {
        /* Look before writing: spinning on an exchange would steal the
         * cache line from the holder again and again. */
        while (atomic_load_explicit(&lock->taken, memory_order_relaxed))
            if (++tries % 64 == 0)
                exec->ops->relax(exec);
        if (!atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
            return;
    }
}

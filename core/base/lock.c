/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/lock.c - the slow half of lock.h, and its checks. */
#include "core/base/lock.h"

#include <sched.h>
#include <stdlib.h>

#include "core/base/log.h"

static void outside_relax(struct orr_exec *exec)
{
    (void)exec;
    (void)sched_yield();
}

void orr_lock_outside(struct orr_context *context, struct orr_exec *exec)
{
    static const struct orr_exec_ops ops = {.relax = outside_relax};

    *exec = (struct orr_exec){.ops = &ops};
    *context = (struct orr_context){.exec = exec};
}

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

static const char *rank_name(unsigned rank)
{
    static const char *const names[] = {
#define ORR_RANK(name, text) [ORR_RANK_##name] = text,
        ORR_LOCK_RANKS(ORR_RANK)
#undef ORR_RANK
    };

    return rank < ORR_NRANKS ? names[rank] : "thing of no rank";
}

void orr_lock_refuse_end(const struct orr_lock *lock)
{
    orr_log_error("the lock of a %s is let go, but none is held: its memory may be "
                  "another object's by now",
                  rank_name(lock->rank));
    abort();
}

void orr_lock_refuse(const struct orr_lock *lock, bool next)
{
    unsigned held = orr_self->ranks;
    unsigned rank = lock->rank, r = rank + next;

    if (next && !(held >> rank & 1)) {
        orr_log_error("a further lock of a %s is taken, but none is held",
                      rank_name(rank));
        abort();
    }
    while (r + 1 < ORR_NRANKS && !(held >> r & 1))
        r++;
    orr_log_error("the lock of a %s is taken while that of a %s is held: the "
                  "order is in core/base/lock.h",
                  rank_name(rank), rank_name(r));
    abort();
}

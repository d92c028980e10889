/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/lock.h - the locks behind OpenMP's locks and critical sections: a thread
 * that waits suspends its task; the first one that came is next.
 */
#pragma once

#include <stdbool.h>

#include "core/base/lock.h"
#include "core/base/wait.h"

struct orr_omp_lock {
    struct orr_lock guard;                /* rank ORR_RANK_RUNTIME */
    bool looks;                           /* [const] */
    const void *owner;                    /* [guard] NULL: free */
    unsigned depth;                       /* [owner] of nestable ones */
    struct orr_waiters waiters;           /* [guard] */
    const char *name; /* [const] of a critical section, NULL: a lock */
};

/* `looks`: a thread looks for a moment before it waits. `name`: of the critical section
 * that the lock is for, "" if that has none; NULL: it is for none. */
void orr_omp_lock_init(struct orr_omp_lock *lock, bool looks, const char *name);

/* Takes it for `owner`; waits while another owner has it. `call` is for messages. */
void orr_omp_lock_take(struct orr_omp_lock *lock, const void *owner,
                       const char *call);

/* The same without waiting; returns whether it was free. */
bool orr_omp_lock_try(struct orr_omp_lock *lock, const void *owner);

/* Whose it is now, NULL: free. */
const void *orr_omp_lock_owner(struct orr_omp_lock *lock);

/* Passes it to the first one that waits, or frees it. */
void orr_omp_lock_give(struct orr_omp_lock *lock);

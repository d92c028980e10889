/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/wait.h - how a context waits until another one lets it go on, and how it
 * says what for.
 *
 * A context that waits has a struct orr_waiter on its own stack. It enters that where
 * the one that ends the wait finds it, mostly in a queue under a lock, gives the lock
 * back and calls orr_wait. The other one takes the waiter out of the queue, and calls
 * orr_waiter_release when it has given the lock back.
 *
 * - No wake is lost: a wake is a token, which the context finds when it parks later.
 * - What was written before orr_waiter_release is seen after orr_wait.
 * - The waiter may be gone, with its stack, once it is over, which its context may see
 *   before it is woken: orr_waiter_release reads all that it needs before it says so.
 *   The context itself is still there: that of main and those of the application's
 *   threads stay until the machine closes; those that core starts are joined when all
 *   that might wake them have ended, or have told (`nactive`, orr_mailbox_await).
 * - Therefore a token may come late, to a context that waits for something else by
 *   then: whatever parks looks once more before it goes on.
 * - No context waits with a core lock held or with code of the application on its
 *   stack, but a kernel of a processor: its worker goes on with others meanwhile
 *   (core/loop/suspend.h). Public calls that wait have asked orr_may_block before.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/exec.h"

/* --- what is waited for --- */

/* On the stack of the context that waits, or constant. */
struct orr_awaited {
    /* What follows "waits for", a constant; with a describe function the kind of
     * thing. */
    const char *noun;
    /* Writes which one it is. Any thread: it reads only what the waiting context keeps
     * alive, and takes no lock. NULL: the noun says it. */
    void (*describe)(const struct orr_awaited *awaited, char *text,
                     size_t size);
    const void *object;            /* for that function … */
    unsigned long long number;     /* … likewise */
    const struct orr_handle *data; /* that have to be given back, or NULL */
    /* Where to read which context has it, NULL: there is none, or it is unknown. */
    struct orr_context *const *held_by;
};

enum { ORR_AWAITED_TEXT = 200 };

/* Writes what follows "waits for"; NULL: something of its own. */
void orr_awaited_write(const struct orr_awaited *awaited, char *text,
                       size_t size);

/* The noun with an address, "the mutex at 0x…": a describe function. */
void orr_awaited_write_address(const struct orr_awaited *awaited, char *text,
                               size_t size);

/* Writes what a context waits for that may go on meanwhile, but not end, unless text is
 * NULL; any thread. False: it waits for nothing. *ret_seen: the same wait was asked
 * about before. */
bool orr_context_tell(struct orr_context *context, char *text, size_t size,
                      bool *ret_seen);

/* --- one that waits --- */

struct orr_waiter {
    struct orr_waiter *next; /* of the queue, by its lock */
    struct orr_context *context;
    atomic_bool over;
};

/* The calling context's, in no queue. */
void orr_waiter_init(struct orr_waiter *waiter);

static inline bool orr_waiter_is_over(const struct orr_waiter *waiter)
{
    return atomic_load_explicit(&waiter->over, memory_order_acquire);
}

/* Its wait is over. Any thread, any lock; but see above what that may touch then. */
void orr_waiter_release(struct orr_waiter *waiter);

/* Blocks the calling context, whose waiter it is, until that is over. */
void orr_wait(struct orr_waiter *waiter, const struct orr_awaited *awaited);

/* The same until a time at most; returns whether it is over. */
bool orr_wait_until(struct orr_waiter *waiter,
                    const struct orr_awaited *awaited, double until_us);

/* --- queues of them --- */

/* First come, first served. Zeroed: empty. Its owner says which lock guards it. */
struct orr_waiters {
    struct orr_waiter *last; /* whose next is the first: links go round */
};

static inline struct orr_waiter *
orr_waiters_first(const struct orr_waiters *waiters)
{
    return waiters->last ? waiters->last->next : NULL;
}

/* Those that wait, the first one first; none is taken out meanwhile. */
#define orr_waiters_foreach(waiter, waiters)                                   \
    for (struct orr_waiter *waiter = orr_waiters_first(waiters); waiter;       \
         waiter = waiter == (waiters)->last ? NULL : waiter->next)

/* Makes the waiter the calling context's, and the last. */
void orr_waiters_add(struct orr_waiters *waiters, struct orr_waiter *waiter);

/* One that was taken out of another queue becomes the first. */
void orr_waiters_prepend(struct orr_waiters *waiters,
                         struct orr_waiter *waiter);

/* Takes the first one out; NULL: there is none. */
struct orr_waiter *orr_waiters_take(struct orr_waiters *waiters);

/* Takes that one out; false: it is not there. */
bool orr_waiters_remove(struct orr_waiters *waiters, struct orr_waiter *waiter);

/* Takes all of them out. */
static inline struct orr_waiters
orr_waiters_take_all(struct orr_waiters *waiters)
{
    struct orr_waiters all = *waiters;

    waiters->last = NULL;
    return all;
}

/* Releases all that were taken out, the first one first. */
void orr_waiters_release(struct orr_waiters taken);

/* --- a context that looks at everything whenever it was woken --- */

/* Blocks the calling context until it is woken, or for no reason, or the time has
 * come. */
void orr_context_park(const struct orr_awaited *awaited, double until_us)
    __attribute__((visibility("default")));

/* Any thread, any lock. */
static inline void orr_context_wake(struct orr_context *context)
{
    context->exec->ops->wake(context->exec, context);
}

/* Blocks for that long, or for as long as a processor takes for so much work; until another
 * context has ended. */
void orr_context_sleep(const struct orr_awaited *awaited, double us);
void orr_context_work(const struct orr_awaited *awaited, double us);
void orr_context_join(const struct orr_awaited *awaited,
                      struct orr_context *context);

/* For calls that ask for something, which nobody tells them, until it is so: lets that
 * much time pass, or less. */
void orr_context_poll(const struct orr_awaited *awaited, double us);

/* --- spinning --- */

/* While the condition holds. Another context, which runs and does not wait, is about to
 * change it, in a few instructions unless there is another reason, which each place
 * gives. Never simulated, where none runs meanwhile: there it does not hold. */
#define ORR_SPIN_WHILE(condition)                                              \
    do {                                                                       \
        while (condition)                                                      \
            orr_spin();                                                        \
    } while (0)

/* Lets that context run for a moment. Any thread. */
void orr_spin(void);

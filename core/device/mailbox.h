/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/mailbox.h - where the ends of operations are posted, by any thread,
 * for the workers of one memory node. A post takes no lock and needs no context;
 * one that is made wakes a worker, which takes all that there are.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/device/machine.h"

struct orr_mailbox {
    _Atomic(struct orr_post *) last; /* the newest first */
    atomic_uint nposting; /* threads that may still touch the mailbox, or wake a
                           * worker */
    /* Wakes a worker that will look; from any thread. [const] */
    void (*wake)(struct orr_mailbox *mailbox);
};

/* The operation is under way where no context performs it, up to its post:
 * so that its waiters do not count as stuck. Called by the context that
 * starts it. */
void orr_post_expect(struct orr_post *post, struct orr_exec *exec);

/* The operation has ended. The post may be gone on return. */
void orr_post(struct orr_post *post);

/* Lets all that was posted arrive, in the order in which it was; true if there
 * was any. */
bool orr_mailbox_serve(struct orr_mailbox *mailbox);

/* Whether there is something in it. */
static inline bool orr_mailbox_has(struct orr_mailbox *mailbox)
{
    return atomic_load_explicit(&mailbox->last, memory_order_relaxed) != NULL;
}

/* No thread is posting here any more, on return. Nothing is under way that would
 * be posted. */
void orr_mailbox_await(struct orr_mailbox *mailbox);

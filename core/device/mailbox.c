/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/mailbox.c - see mailbox.h. */
#include "core/device/mailbox.h"

#include "core/base/wait.h"

void orr_post_expect(struct orr_post *post, struct orr_exec *exec)
{
    post->outside = &exec->noutside;
    __atomic_fetch_add(post->outside, 1, __ATOMIC_RELAXED);
}

void orr_post(struct orr_post *post)
{
    struct orr_mailbox *mailbox = post->mailbox;
    unsigned *outside = post->outside;
    struct orr_post *last;

    post->outside = NULL;
    /* Before the post can be seen: the worker that serves it may be the last
     * one to need the worker that is woken below. */
    atomic_fetch_add_explicit(&mailbox->nposting, 1, memory_order_relaxed);
    last = atomic_load_explicit(&mailbox->last, memory_order_relaxed);
    do
        post->next = last;
    while (!atomic_compare_exchange_weak_explicit(&mailbox->last, &last, post,
                                                  memory_order_release,
                                                  memory_order_relaxed));
    mailbox->wake(mailbox);
    /* That the worker is awake is visible before the operation is seen to be
     * over. */
    if (outside)
        __atomic_fetch_sub(outside, 1, __ATOMIC_RELEASE);
    /* Pairs with orr_mailbox_await. */
    atomic_fetch_sub_explicit(&mailbox->nposting, 1, memory_order_release);
}

bool orr_mailbox_serve(struct orr_mailbox *mailbox)
{
    struct orr_post *post, *first = NULL;

    if (!orr_mailbox_has(mailbox))
        return false;
    /* Pairs with orr_post: what the operation wrote is seen. */
    post = atomic_exchange_explicit(&mailbox->last, NULL, memory_order_acquire);
    while (post) {
        struct orr_post *before = post->next;

        post->next = first;
        first = post;
        post = before;
    }
    while ((post = first)) {
        first = post->next;
        post->arrived(post);
    }
    return true;
}

void orr_mailbox_await(struct orr_mailbox *mailbox)
{
    ORR_SPIN_WHILE(
        atomic_load_explicit(&mailbox->nposting, memory_order_acquire));
}

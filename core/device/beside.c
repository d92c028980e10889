/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/beside.c - contexts of the real machine that take turns on one
 * thread. Each has a token of its own, as threads have; the one that runs may
 * park, then the thread sleeps on its token. What the thread itself has (errno,
 * keys, the owner of a mutex) they have in common.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/threads_private.h"

/* The context that owns the thread; its stack is the system's. */
static struct thread *home_of(struct thread *thread)
{
    return thread->home ? thread->home : thread;
}

static void thread_run_body(void *arg)
{
    struct thread *self = arg;

    self->body(self->arg);
    abort(); /* it never returns */
}

int orr_threads_beside(struct orr_exec *exec, const struct orr_context *init,
                       void (*body)(void *), void *arg,
                       struct orr_context **ret)
{
    struct thread *home = home_of(orr_thread_of(orr_self));
    struct thread *thread = calloc(1, sizeof(*thread));
    int err;

    if (!thread)
        return -ENOMEM;
    orr_thread_init_head(thread, exec, init);
    thread->cpu = home->cpu;
    thread->id = home->id;
    thread->home = home;
    thread->body = body;
    thread->arg = arg;
    err = orr_fiber_init(&thread->fiber, exec->stack_size, thread_run_body,
                         thread);
    if (err) {
        free(thread);
        return err;
    }
    *ret = &thread->head;
    return 0;
}

/* While another context of the thread runs its home has been left somewhere: there are
 * frames of a kernel that waits. */
void orr_threads_on_thread_stack(struct orr_exec *exec, void (*function)(void *), void *arg)
{
    struct thread *self = orr_thread_of(orr_self), *home = home_of(self);
    struct orr_away before;

    (void)exec;
    if (self == home || self->head.away) {
        function(arg);
        return;
    }
    before = orr_away_begin(&self->head);
    orr_fiber_call(&self->fiber, &home->fiber, function, arg);
    orr_away_end(&self->head, before);
}

/* The thread's own stack becomes one of those that are switched between. */
static void begin_turns(struct thread *home)
{
    orr_fiber_init_running(&home->fiber);
    atomic_store(&home->turn, home);
}

bool orr_threads_leave(struct orr_exec *exec, struct orr_context *context,
                       bool waits)
{
    struct thread *self = orr_thread_of(orr_self);
    struct thread *to = orr_thread_of(context), *home = home_of(self);
    unsigned expected = NO_TOKEN;

    (void)exec;
    if (!atomic_load_explicit(&home->turn, memory_order_relaxed))
        begin_turns(home);
    if (!atomic_compare_exchange_strong(&self->token, &expected,
                                        waits ? WAITING : SPARE)) {
        atomic_exchange(&self->token, NO_TOKEN);
        return false;
    }
    atomic_store(&home->turn, to);
    orr_self = &to->head;
    orr_fiber_switch(&self->fiber, &to->fiber);
    /* What its wakers wrote before is visible here. */
    atomic_exchange(&self->token, NO_TOKEN);
    return true;
}

void orr_threads_forget(struct orr_exec *exec, struct orr_context *context)
{
    struct thread *thread = orr_thread_of(context);

    (void)exec;
    orr_fiber_done(&thread->fiber);
    free(thread);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/hooks.c - see hooks.h. */
#include "core/worker/hooks.h"

#include "core/base/wait.h"
#include "core/worker/worker.h"

int orr_hook_add(struct orr_hooks *hooks, enum orr_hook_kind kind,
                 unsigned (*func)(void *), void *arg)
{
    for (int i = 0; i < ORR_NHOOKS; i++) {
        struct orr_hook *hook = &hooks->hooks[kind][i];

        if (atomic_exchange(&hook->taken, true))
            continue;
        atomic_store(&hook->arg, arg);
        atomic_store(&hook->func, func);
        atomic_fetch_add(&hooks->n, 1);
        return i;
    }
    return -1;
}

/* Whether workers are in the function, but for the caller. */
static bool others_are_in(struct orr_hook *hook)
{
    const struct orr_worker *self = orr_self->worker;
    bool any = false;

    for (unsigned i = 0; i < ORR_HOOK_WORDS; i++) {
        uint64_t calls = atomic_load(&hook->calls[i]);

        if (self && self->id / 64 == i)
            calls &= ~(UINT64_C(1) << self->id % 64);
        any = any || calls;
    }
    return any;
}

bool orr_hook_remove(struct orr_hooks *hooks, enum orr_hook_kind kind, int id)
{
    struct orr_hook *hook;

    if (id < 0 || id >= ORR_NHOOKS)
        return false;
    hook = &hooks->hooks[kind][id];
    if (!atomic_exchange(&hook->func, NULL))
        return false;
    atomic_fetch_sub(&hooks->n, 1);
    /* Lasts as long as a hook of the application, in which waiting is not allowed. */
    ORR_SPIN_WHILE(others_are_in(hook));
    atomic_store(&hook->taken, false);
    return true;
}

/* Whether it was there; *allow is cleared if it returned 0. The worker says first that
 * it is in the hook, and then looks; a context that removes the hook does so in the
 * other order. */
static bool call_one(struct orr_hook *hook, unsigned worker, bool *allow)
{
    _Atomic uint64_t *calls = &hook->calls[worker / 64];
    uint64_t bit = UINT64_C(1) << worker % 64;
    unsigned (*func)(void *);

    if (!atomic_load(&hook->func))
        return false;
    atomic_fetch_or(calls, bit);
    func = atomic_load(&hook->func);
    if (func && !func(atomic_load(&hook->arg)))
        *allow = false;
    atomic_fetch_and(calls, ~bit);
    return func != NULL;
}

static bool hooks_call(struct orr_hook *hooks, unsigned worker, bool *allow)
{
    bool any = false;

    for (int i = 0; i < ORR_NHOOKS; i++)
        any |= call_one(&hooks[i], worker, allow);
    return any;
}

bool orr_hooks_call(struct orr_hooks *hooks, unsigned worker)
{
    bool may_sleep = true, ignored = true, idle;

    if (!orr_hooks_are_there(hooks))
        return false;
    orr_self->frozen++;
    (void)hooks_call(hooks->hooks[ORR_HOOK_PROGRESSION], worker, &may_sleep);
    idle = hooks_call(hooks->hooks[ORR_HOOK_IDLE], worker, &ignored);
    orr_self->frozen--;
    return idle || !may_sleep;
}

void orr_hooks_tell(_Atomic(void (*)(unsigned)) *told, unsigned worker)
{
    void (*func)(unsigned) = atomic_load_explicit(told, memory_order_acquire);

    if (!func)
        return;
    orr_self->frozen++;
    func(worker);
    orr_self->frozen--;
}

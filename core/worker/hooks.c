/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/hooks.c - see hooks.h. */
#include "core/worker/hooks.h"

#include "core/base/exec.h"

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

bool orr_hook_remove(struct orr_hooks *hooks, enum orr_hook_kind kind, int id)
{
    struct orr_hook *hook;

    if (id < 0 || id >= ORR_NHOOKS)
        return false;
    hook = &hooks->hooks[kind][id];
    if (!atomic_exchange(&hook->func, NULL))
        return false;
    atomic_fetch_sub(&hooks->n, 1);
    atomic_store(&hook->taken, false);
    return true;
}

/* Whether any was there; *allow is cleared if one returned 0. */
static bool call(struct orr_hook *hooks, bool *allow)
{
    bool any = false;

    for (int i = 0; i < ORR_NHOOKS; i++) {
        unsigned (*func)(void *) = atomic_load(&hooks[i].func);

        if (!func)
            continue;
        any = true;
        if (!func(atomic_load(&hooks[i].arg)))
            *allow = false;
    }
    return any;
}

bool orr_hooks_call(struct orr_hooks *hooks)
{
    bool may_sleep = true, ignored = true, idle;

    if (atomic_load_explicit(&hooks->n, memory_order_relaxed) == 0)
        return false;
    orr_self->frozen++;
    (void)call(hooks->hooks[ORR_HOOK_PROGRESSION], &may_sleep);
    idle = call(hooks->hooks[ORR_HOOK_IDLE], &ignored);
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

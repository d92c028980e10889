/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/expert.c - what idle workers call. Any thread. */
#include "core/api/api.h"
#include "core/worker/hooks.h"
#include "core/worker/workers.h"

void starpu_wake_all_blocked_workers(void)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (unsigned w = 0; w < rt->workers->n; w++)
        orr_worker_wake(&rt->workers->at[w]);
}

static int idle_hook_add(const char *call, enum orr_hook_kind kind,
                         unsigned (*func)(void *), void *arg)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    int id = func ? orr_hook_add(&rt->workers->hooks, kind, func, arg) : -1;

    if (id < 0)
        orr_log_error("%s: %s", call,
                      func ? "all 16 places are taken: deregister a function"
                           : "the function is NULL");
    else
        starpu_wake_all_blocked_workers(); /* those asleep did not call it */
    return id;
}

static void idle_hook_remove(const char *call, enum orr_hook_kind kind, int id)
{
    if (!orr_hook_remove(&orr_runtime_need(call)->workers->hooks, kind, id))
        orr_log_error("%s: no function is registered as %d", call, id);
}

int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg)
{
    return idle_hook_add(__func__, ORR_HOOK_PROGRESSION, func, arg);
}

void starpu_progression_hook_deregister(int hook_id)
{
    idle_hook_remove(__func__, ORR_HOOK_PROGRESSION, hook_id);
}

int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg)
{
    return idle_hook_add(__func__, ORR_HOOK_IDLE, func, arg);
}

void starpu_idle_hook_deregister(int hook_id)
{
    idle_hook_remove(__func__, ORR_HOOK_IDLE, hook_id);
}

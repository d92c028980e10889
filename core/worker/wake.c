/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/wake.c - waking workers, and delaying one; see worker.h. */
#include "core/worker/worker.h"

#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

void orr_active_end(struct orr_runtime *rt)
{
    struct orr_context *stopper;

    if (atomic_fetch_sub_explicit(&rt->workers->nactive, 1,
                                  memory_order_acq_rel) != 1)
        return;
    stopper = atomic_load_explicit(&rt->workers->stopper, memory_order_relaxed);
    if (stopper)
        orr_context_wake(stopper);
}

void orr_workers_give_way(struct orr_runtime *rt)
{
    struct orr_context *who = NULL;

    if (orr_self->worker || orr_self->debt <= 0)
        return;
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];

        if (!orr_device_kind(worker->desc->type)->is_processor ||
            !worker->context)
            continue;
        if (atomic_load_explicit(&worker->state, memory_order_relaxed) !=
            ORR_WORKER_EXECUTING)
            return;
        if (!who || worker->context->debt < who->debt)
            who = worker->context;
    }
    if (who)
        who->debt += orr_self->debt;
}

void orr_worker_wake(struct orr_worker *worker)
{
    struct orr_context *context;

    /* Whoever has borrowed it finds the flag, if not the wake, when it gives it
     * back. */
    do {
        context = worker->context;
        if (atomic_load(&worker->seat) == ORR_SEAT_LENT)
            atomic_store(&worker->called, true);
    } while (context != worker->context);
    /* It is awake. Not so another one of those that this context drives. */
    if (context == orr_self &&
        (!context || !worker->mate || context->seat == worker))
        return;
    (void)orr_worker_rouse(worker);
    if (context)
        orr_context_wake(context);
}

void orr_worker_end_job(struct orr_worker *worker, struct orr_list *job)
{
    orr_lock(&worker->lock);
    orr_list_append(&worker->ended, job);
    orr_unlock(&worker->lock);
    orr_worker_wake(worker);
}

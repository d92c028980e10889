/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/exec/runtime.c - which run a caller belongs to, what it may do there, and
 * how a run ends that cannot go on. open.c opens and closes a run.
 */
#include "core/exec/runtime.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/program.h"

/* The one run that threads of the application's own belong to. Contexts do
 * not need it: they carry their runtime. */
static _Atomic(struct orr_runtime *) real_runtime;

/* --- who is calling --- */

struct orr_runtime *orr_runtime_current(const char *call)
{
    struct orr_context *self = orr_self;
    struct orr_runtime *rt;

    if (self)
        return self->runtime;
    rt = atomic_load_explicit(&real_runtime, memory_order_acquire);
    if (!rt)
        return NULL;
    self = rt->exec->ops->adopt(rt->exec);
    if (!self) {
        orr_log_error("%s: called from a second thread of the operating "
                      "system, which cannot take part in a simulation. Make "
                      "the thread with starpu_pthread_create after starpu_init, "
                      "or call from the thread that called starpu_init.",
                      call);
        return NULL;
    }
    self->runtime = rt;
    return rt;
}

struct orr_runtime *orr_runtime_adopt_or_end(const char *call)
{
    struct orr_runtime *rt = orr_runtime_current(call);

    if (rt)
        return rt;
    rt = atomic_load(&real_runtime);
    if (rt)
        orr_runtime_fail(rt); /* orr_runtime_current has said why */
    orr_log_error("%s: called before starpu_init or after starpu_shutdown",
                  call);
    abort();
}

int orr_runtime_set_rank(struct orr_runtime *rt, int rank, unsigned nranks)
{
    int none = -1;

    if (rank < 0 || (unsigned)rank >= nranks)
        return -EINVAL;
    if (rank == atomic_load(&rt->rank) && nranks == rt->nranks)
        return 0;
    if (rt->nranks)
        return -EALREADY;
    rt->nranks = nranks;
    (void)atomic_compare_exchange_strong(&rt->rank, &none, rank);
    return 0;
}

int orr_log_rank(void)
{
    const struct orr_context *self = orr_self;

    if (self && self->program)
        return self->program->rank;
    return self && self->runtime ? atomic_load_explicit(&self->runtime->rank,
                                                        memory_order_relaxed)
                                 : -1;
}

void orr_runtime_adopt_threads(struct orr_runtime *rt)
{
    struct orr_runtime *none = NULL;

    (void)atomic_compare_exchange_strong(&real_runtime, &none, rt);
}

void orr_runtime_forget_threads(struct orr_runtime *rt)
{
    struct orr_runtime *own = rt;

    (void)atomic_compare_exchange_strong(&real_runtime, &own, NULL);
}

struct orr_runtime *orr_runtime_adopted(void)
{
    return atomic_load(&real_runtime);
}

/* --- what a context may do --- */

void orr_runtime_hold_back(struct orr_runtime *rt, int change,
                           void (*let_go)(struct orr_runtime *rt))
{
    rt->let_go = let_go;
    atomic_fetch_add(&rt->nheld_back, change);
}

bool orr_may_block(const char *call)
{
    struct orr_context *self = orr_self;

    self->call = call;
    if ((!self->frozen && !self->job) ||
        (self->suspends_at && self->suspends_at == self->frozen)) {
        if (self->runtime)
            orr_runtime_let_go(self->runtime);
        return true;
    }
    if (self->away) {
        orr_log_error("%s: may not be called where orrery_call_on_thread_stack calls on "
                      "the stack of another context, as simulated kernels in Java are, "
                      "since it would wait. Give the task the data, or submit a task "
                      "behind it that has the rest.",
                      call);
        return false;
    }
    orr_log_error("%s: may not be called from a callback, nor from a kernel "
                  "that runs on a device, since it would wait. Use the "
                  "asynchronous form there, or call it from a kernel of a "
                  "processor, or from the application's main thread.",
                  call);
    return false;
}

bool orr_is_outside(const char *call)
{
    struct orr_context *self = orr_self;

    if (!self->frozen && !self->job)
        return true;
    orr_log_error("%s: may not be called from a callback or a kernel: call it "
                  "from the application's main thread.",
                  call);
    return false;
}

_Noreturn void orr_runtime_fail(struct orr_runtime *rt)
{
    orr_runtime_fail_for(rt, NULL);
}

_Noreturn void orr_runtime_fail_for(struct orr_runtime *rt, const char *how)
{
    if (rt->fail)
        rt->fail(rt, how);
    abort();
}

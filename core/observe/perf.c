/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/perf.c - see perf.h. */
#include "core/observe/perf.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

/* The public name of what a codelet keeps for its listener. */
struct starpu_perf_counter_sample_cl_values {
    struct orr_perf_target target;
};

/* A context that waits until others call a target no more, on its stack. */
struct perf_wait {
    struct perf_wait *next;
    const struct orr_context *context;
    const struct orr_perf_target *target;
    bool seen; /* in the search that is going on */
};

struct orr_perf {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME */
    int depth;            /* [lock] counting is on while it is positive */
    struct perf_wait *waits; /* [lock] */
    struct orr_perf_target global;
    struct orr_perf_target workers[];
};

/* --- which context waits for which --- */

/* What the context waits for, NULL: for nothing. */
static struct perf_wait *wait_of_locked(struct orr_perf *perf,
                                        const struct orr_context *context)
{
    struct perf_wait *wait = perf->waits;

    while (wait && wait->context != context)
        wait = wait->next;
    return wait;
}

/* Whether the context cannot go on before the caller does: it waits for calls that the
 * caller is in, or for a context that cannot go on. Each wait is followed once. */
static bool waits_for_me_locked(struct orr_perf *perf,
                                const struct orr_context *context)
{
    struct perf_wait *wait = wait_of_locked(perf, context);

    if (!wait || wait->seen)
        return false;
    wait->seen = true;
    for (const struct orr_perf_call *call = wait->target->calls; call;
         call = call->next)
        if (call->context == orr_self ||
            (call->context != context &&
             waits_for_me_locked(perf, call->context)))
            return true;
    return false;
}

/* Whether the target is called, or also kept, by a context that does not wait for the
 * caller. */
static bool others_call_locked(struct orr_perf *perf,
                               const struct orr_perf_target *target, bool kept)
{
    for (const struct orr_perf_call *call = target->calls; call;
         call = call->next) {
        if (!call->tells && !kept)
            continue;
        for (struct perf_wait *wait = perf->waits; wait; wait = wait->next)
            wait->seen = false;
        if (call->context != orr_self &&
            !waits_for_me_locked(perf, call->context))
            return true;
    }
    return false;
}

/* Waits until no context calls the target, or keeps it either, but those that could not
 * go on before the caller. */
static void await_others_locked(struct orr_perf *perf,
                                const struct orr_perf_target *target, bool kept)
    ORR_REQUIRES(perf->lock)
{
    struct perf_wait wait = {.context = orr_self, .target = target}, **link;

    if (!others_call_locked(perf, target, kept))
        return;
    wait.next = perf->waits;
    perf->waits = &wait;
    while (others_call_locked(perf, target, kept)) {
        orr_unlock(&perf->lock);
        orr_spin(); /* the caller may be in a listener, where it must not wait */
        orr_lock(&perf->lock);
    }
    for (link = &perf->waits; *link != &wait;)
        link = &(*link)->next;
    *link = wait.next;
}

/* --- telling --- */

static void begin_call_locked(struct orr_perf_target *target,
                              struct orr_perf_call *call, bool tells)
{
    call->context = orr_self;
    call->tells = tells;
    call->next = target->calls;
    target->calls = call;
}

static void end_call_locked(struct orr_perf_target *target,
                            const struct orr_perf_call *call)
{
    struct orr_perf_call **link = &target->calls;

    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
}

/* Calls of a target are made one at a time, with values that never decrease, as if a
 * lock were held, since listeners have none of their own. No lock is held while the
 * listener is called: the listener may cause counting. */
static void perf_call_listener(struct orr_perf *perf,
                               struct orr_perf_target *target, void *context)
{
    struct starpu_perf_counter_listener *listener;
    struct starpu_perf_counter_sample sample;
    struct orr_perf_call call;

    orr_lock(&perf->lock);
    if (target->listener)
        await_others_locked(perf, target, false);
    listener = target->listener;
    if (listener) {
        begin_call_locked(target, &call, true);
        sample.listener = listener;
        for (unsigned i = 0; i < ORR_PERF_NVALUES; i++)
            sample.values[i] = target->values[i];
    }
    orr_unlock(&perf->lock);
    if (!listener)
        return;
    orr_self->frozen++;
    listener->callback(listener, &sample, context);
    orr_self->frozen--;
    orr_lock(&perf->lock);
    end_call_locked(target, &call);
    orr_unlock(&perf->lock);
}

/* The codelet's target with a call that keeps it, or NULL. */
static struct orr_perf_target *hold_codelet(struct orr_perf *perf,
                                            const struct starpu_codelet *cl,
                                            struct orr_perf_call *call)
{
    struct orr_perf_target *target = NULL;

    orr_lock(&perf->lock);
    if (cl && cl->perf_counter_values) {
        target = &cl->perf_counter_values->target;
        begin_call_locked(target, call, false);
    }
    orr_unlock(&perf->lock);
    return target;
}

/* Frees it if it was taken out meanwhile, by the call itself. */
static void let_go_of_codelet(struct orr_perf *perf,
                              struct orr_perf_target *target,
                              const struct orr_perf_call *call)
{
    bool ends;

    orr_lock(&perf->lock);
    end_call_locked(target, call);
    ends = target->ends && !target->calls;
    orr_unlock(&perf->lock);
    if (ends)
        free(orr_container(target, struct starpu_perf_counter_sample_cl_values,
                           target));
}

static void tell_codelet(struct orr_perf *perf, struct starpu_codelet *cl)
{
    struct orr_perf_call call;
    struct orr_perf_target *target = hold_codelet(perf, cl, &call);

    if (!target)
        return;
    perf_call_listener(perf, target, cl);
    let_go_of_codelet(perf, target, &call);
}

/* --- counting --- */

static struct orr_perf_target *codelet_locked(const struct orr_job *job)
{
    const struct starpu_codelet *cl = job->task->cl;

    return cl && cl->perf_counter_values ? &cl->perf_counter_values->target
                                         : NULL;
}

static void raise_to(union orr_perf_value *peak, int64_t value)
{
    if (value > peak->number)
        peak->number = value;
}

static void submitted_locked(struct orr_perf_target *target)
{
    if (!target)
        return;
    target->values[ORR_PERF_SUBMITTED].number++;
    raise_to(&target->values[ORR_PERF_PEAK_SUBMITTED], ++target->blocked);
}

static void perf_given(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_perf *perf = rt->views->perf;
    struct orr_job *job = told->job;

    job->counted = 1;
    orr_lock(&perf->lock);
    submitted_locked(&perf->global);
    submitted_locked(codelet_locked(job));
    orr_unlock(&perf->lock);
    perf_call_listener(perf, &perf->global, NULL);
    tell_codelet(perf, job->task->cl);
}

/* Tasks that were submitted before the listener came are not counted down. */
static void ready_locked(struct orr_perf_target *target)
{
    if (!target || target->blocked == 0)
        return;
    target->blocked--;
    raise_to(&target->values[ORR_PERF_PEAK_READY], ++target->ready);
}

static void count_ready(struct orr_perf *perf, const struct orr_job *job)
{
    if (!job->counted)
        return;
    orr_lock(&perf->lock);
    ready_locked(&perf->global);
    ready_locked(codelet_locked(job));
    orr_unlock(&perf->lock);
}

static void started_locked(struct orr_perf_target *target)
{
    if (target && target->ready > 0)
        target->ready--;
}

static void count_started(struct orr_perf *perf, const struct orr_job *job)
{
    if (!job->counted)
        return;
    orr_lock(&perf->lock);
    started_locked(&perf->global);
    started_locked(codelet_locked(job));
    orr_unlock(&perf->lock);
}

static void perf_ready(struct orr_runtime *rt, const struct orr_told *told)
{
    count_ready(rt->views->perf, told->job);
}

/* The job comes back from its worker. If its kernel had begun it counts as ready once
 * more. */
static void perf_returned(struct orr_runtime *rt, const struct orr_told *told)
{
    if (told->started)
        count_ready(rt->views->perf, told->job);
}

static void perf_starts(struct orr_runtime *rt, const struct orr_told *told)
{
    count_started(rt->views->perf, told->job);
}

static void perf_skipped(struct orr_runtime *rt, const struct orr_told *told)
{
    count_ready(rt->views->perf, told->job);
    count_started(rt->views->perf, told->job);
}

static void perf_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_perf *perf = rt->views->perf;
    struct orr_perf_target *own = &perf->workers[told->worker->id], *codelet;
    const struct orr_job *job = told->job;
    double us = told->since;

    orr_lock(&perf->lock);
    own->values[ORR_PERF_WORKER_EXECUTED].number++;
    own->values[ORR_PERF_WORKER_TIME].real += us;
    codelet = codelet_locked(job);
    if (codelet) {
        codelet->values[ORR_PERF_CODELET_EXECUTED].number++;
        codelet->values[ORR_PERF_CODELET_TIME].real += us;
    }
    orr_unlock(&perf->lock);
    perf_call_listener(perf, own, told->worker);
    tell_codelet(perf, job->task->cl);
}

static void perf_waited(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_perf *perf = rt->views->perf;

    (void)told;
    perf_call_listener(perf, &perf->global, NULL);
}

/* --- the observer --- */

static const struct orr_observer perf_observer = {{
    [ORR_TOLD_TASK_GIVEN] = perf_given,
    [ORR_TOLD_TASK_READY] = perf_ready,
    [ORR_TOLD_TASK_STARTS] = perf_starts,
    [ORR_TOLD_TASK_RETURNED] = perf_returned,
    [ORR_TOLD_TASK_SKIPPED] = perf_skipped,
    [ORR_TOLD_TASK_EXECUTED] = perf_executed,
    [ORR_TOLD_WAITED] = perf_waited,
}};

int orr_perf_new(struct orr_runtime *rt, bool on)
{
    struct orr_perf *perf =
        calloc(1, sizeof(*perf) + rt->workers->n * sizeof(perf->workers[0]));

    if (!perf)
        return -ENOMEM;
    orr_lock_init(&perf->lock, ORR_RANK_RUNTIME);
    rt->views->perf = perf;
    orr_observers_add(&rt->observers, &perf_observer);
    if (on)
        orr_perf_switch(rt, true);
    return 0;
}

void orr_perf_free(struct orr_runtime *rt)
{
    free(rt->views->perf);
    rt->views->perf = NULL;
}

void orr_perf_switch(struct orr_runtime *rt, bool start)
{
    struct orr_perf *perf = rt->views->perf;
    /* Tasks that were counted as submitted are so to their end. */
    uint64_t begin = ORR_TOLD_BIT(ORR_TOLD_TASK_GIVEN) |
                     ORR_TOLD_BIT(ORR_TOLD_TASK_EXECUTED) |
                     ORR_TOLD_BIT(ORR_TOLD_WAITED);

    orr_lock(&perf->lock);
    perf->depth += start ? 1 : -1;
    if (perf->depth > 0)
        orr_observers_want(&rt->observers, &perf_observer, ORR_TOLD_ALL, true);
    else
        orr_observers_want(&rt->observers, &perf_observer, begin, false);
    orr_unlock(&perf->lock);
}

/* --- listeners --- */

struct orr_perf_target *orr_perf_global(struct orr_runtime *rt)
{
    return &rt->views->perf->global;
}

struct orr_perf_target *orr_perf_of_worker(struct orr_runtime *rt,
                                           unsigned worker)
{
    return &rt->views->perf->workers[worker];
}

/* A listener that is taken out may be freed afterwards: calls of it end first, but
 * those that the caller is in, and those whose context waits in the same way for a call
 * that the caller is in: two listeners may take each other out. */
static void await_calls(struct orr_runtime *rt,
                        const struct orr_perf_target *target)
{
    orr_lock(&rt->views->perf->lock);
    await_others_locked(rt->views->perf, target, true);
    orr_unlock(&rt->views->perf->lock);
}

bool orr_perf_listen(struct orr_runtime *rt, struct orr_perf_target *target,
                     struct starpu_perf_counter_listener *listener)
{
    struct orr_perf *perf = rt->views->perf;
    bool can;

    orr_lock(&perf->lock);
    can = !target->listener == (listener != NULL);
    if (can)
        target->listener = listener;
    orr_unlock(&perf->lock);
    if (can && !listener)
        await_calls(rt, target);
    return can;
}

static bool unlisten_codelet(struct orr_runtime *rt, struct starpu_codelet *cl)
{
    struct orr_perf *perf = rt->views->perf;
    struct starpu_perf_counter_sample_cl_values *values;
    bool is_called;

    orr_lock(&perf->lock);
    values = cl->perf_counter_values;
    cl->perf_counter_values = NULL;
    if (values) /* a context that waits to tell it does not */
        values->target.listener = NULL;
    orr_unlock(&perf->lock);
    if (!values)
        return false;
    await_calls(rt, &values->target);
    orr_lock(&perf->lock);
    values->target.ends = is_called = values->target.calls != NULL;
    orr_unlock(&perf->lock);
    if (!is_called)
        free(values);
    return true;
}

bool orr_perf_listen_codelet(struct orr_runtime *rt, struct starpu_codelet *cl,
                             struct starpu_perf_counter_listener *listener)
{
    struct orr_perf *perf = rt->views->perf;
    struct starpu_perf_counter_sample_cl_values *values;
    bool can;

    if (!listener)
        return unlisten_codelet(rt, cl);
    values = calloc(1, sizeof(*values));
    if (!values) {
        orr_log_error("out of memory for the counters of a codelet");
        orr_runtime_fail(rt);
    }
    values->target.listener = listener;
    orr_lock(&perf->lock);
    can = !cl->perf_counter_values;
    if (can)
        cl->perf_counter_values = values;
    orr_unlock(&perf->lock);
    if (!can)
        free(values);
    return can;
}

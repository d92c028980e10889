/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/outside.c - see outside.h. Who ends the last piece of work may be no context,
 * and takes no lock: a post has a worker look for those that wait.
 */
#include "core/job/outside.h"

#include <stdatomic.h>
#include <stdio.h>

#include "core/data/node.h"
#include "core/device/mailbox.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/inside.h"
#include "core/job/tasks.h"

/* What this sees as under way when it says that it is awaited is counted off later, by
 * one that sees that it is. */
static struct orr_waiters take_waiters_locked(struct orr_outside *outside)
{
    struct orr_waiters none = {NULL};

    atomic_store(&outside->awaited,
                 orr_waiters_first(&outside->waiters) != NULL);
    if (atomic_load(&outside->n) > 0)
        return none;
    atomic_store(&outside->awaited, false);
    return orr_waiters_take_all(&outside->waiters);
}

static void outside_look(struct orr_runtime *rt)
{
    struct orr_waiters met;

    orr_lock(&rt->lock);
    met = take_waiters_locked(&rt->tasks->outside);
    orr_unlock(&rt->lock);
    orr_waiters_release(met);
}

static void outside_post_arrived(struct orr_post *post)
{
    struct orr_outside *outside = orr_container(post, struct orr_outside, post);
    struct orr_runtime *rt = outside->runtime;

    /* One that ends from now on posts once more. */
    atomic_store(&outside->posted, false);
    outside_look(rt);
}

void orr_outside_begin(struct orr_runtime *rt)
{
    atomic_fetch_add(&rt->tasks->outside.n, 1);
    atomic_fetch_add(&rt->tasks->outside.begun, 1);
    __atomic_fetch_add(&rt->exec->noutside, 1, __ATOMIC_RELAXED);
}

void orr_outside_end(struct orr_runtime *rt)
{
    struct orr_outside *outside = &rt->tasks->outside;
    struct orr_exec *exec = rt->exec;

    if (atomic_fetch_sub(&outside->n, 1) == 1 &&
        atomic_load(&outside->awaited) &&
        !atomic_exchange(&outside->posted, true)) {
        outside->runtime = rt;
        outside->post = (struct orr_post){.mailbox = orr_nodes_find_mailbox(rt),
                                          .arrived = outside_post_arrived};
        orr_post(&outside->post);
    }
    /* That a worker is awake is visible before. */
    __atomic_fetch_sub(&exec->noutside, 1, __ATOMIC_RELEASE);
}

unsigned long orr_outside_ended_tasks(struct orr_runtime *rt)
{
    return orr_count_all_ended(rt);
}

struct awaited_outside {
    struct orr_awaited awaited; /* first */
    struct orr_runtime *rt;
};

static void outside_describe(const struct orr_awaited *awaited, char *text,
                             size_t size)
{
    struct orr_runtime *rt = ((const struct awaited_outside *)awaited)->rt;
    unsigned long tasks = orr_count_unfinished(rt);
    int at = tasks ? snprintf(text, size, "%lu submitted task%s", tasks,
                              tasks == 1 ? "" : "s")
                   : 0;

    if (at >= 0 && (size_t)at < size)
        orr_count_write_outside(rt, at ? ", and " : "", text + at,
                                size - (size_t)at);
}

static void await_none(struct orr_runtime *rt)
{
    const struct awaited_outside what = {
        .awaited = {.noun = "what is outside of tasks",
                    .describe = outside_describe},
        .rt = rt};
    struct orr_outside *outside = &rt->tasks->outside;
    struct orr_waiters met;
    struct orr_waiter waiter;

    orr_lock(&rt->lock);
    orr_waiters_add(&outside->waiters, &waiter);
    met = take_waiters_locked(outside);
    orr_unlock(&rt->lock);
    orr_waiters_release(met);
    orr_await(rt, &waiter, &what.awaited);
}

/* Where no work has begun since there was none, there was none in between, when there
 * was no task. */
int orr_outside_wait(struct orr_runtime *rt, const char *call)
{
    struct orr_outside *outside = &rt->tasks->outside;
    unsigned long begun;
    int err;

    do {
        err = orr_wait_for_n(rt, call, 0);
        if (err)
            return err;
        begun = atomic_load(&outside->begun);
        if (atomic_load(&outside->n) > 0)
            await_none(rt);
    } while (atomic_load(&outside->n) > 0 ||
             !orr_count_is_met(rt, orr_nest_here(rt), 0) ||
             atomic_load(&outside->begun) != begun);
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/single.c - what one thread of a team executes, and whose data the others
 * may copy.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/omp/entries.h"
#include "core/omp/omp.h"
#include "core/omp/share.h"

int starpu_omp_single_inline(void)
{
    struct orr_omp_task *thread = orr_omp_thread_need(__func__);
    struct orr_omp_share *share = orr_omp_share_enter(thread);
    bool mine = orr_omp_share_take(share);

    orr_omp_share_leave(thread, share);
    return mine;
}

void starpu_omp_single(void (*f)(void *arg), void *arg, int nowait)
{
    if (starpu_omp_single_inline())
        f(arg);
    if (!nowait)
        starpu_omp_barrier();
}

/* -- copyprivate -- */

/* Waits until the thread that executes the construct has published its data. */
static void wait_for_copy(struct orr_omp_task *thread,
                          struct orr_omp_share *share)
{
    static const struct orr_awaited awaited = {
        .noun = "the data of a single construct (copyprivate)"};
    struct orr_waiter self;
    bool waits;

    orr_lock(&thread->team->lock);
    waits = !share->published;
    if (waits)
        orr_waiters_add(&share->waiters, &self);
    orr_unlock(&thread->team->lock);
    if (waits)
        orr_wait(&self, &awaited);
}

static void share_publish(struct orr_omp_task *thread,
                          struct orr_omp_share *share)
{
    struct orr_waiters waiters;

    orr_lock(&thread->team->lock);
    share->published = true;
    waiters = orr_waiters_take_all(&share->waiters);
    orr_unlock(&thread->team->lock);
    orr_waiters_release(waiters);
}

/* The thread enters the construct, as the one that executes it or not. */
static struct orr_omp_share *enter_copy(struct orr_omp_task *thread, const char *call)
{
    struct orr_omp_share *share = orr_omp_share_enter(thread);

    if (!orr_may_block(call))
        abort();
    thread->copies = share;
    thread->has_copy = orr_omp_share_take(share);
    return share;
}

void *starpu_omp_single_copyprivate_inline_begin(void *data)
{
    struct orr_omp_task *thread = orr_omp_thread_need(__func__);
    struct orr_omp_share *share = enter_copy(thread, __func__);

    if (thread->has_copy) {
        share->copy = data;
        return NULL;
    }
    wait_for_copy(thread, share);
    return share->copy;
}

void starpu_omp_single_copyprivate_inline_end(void)
{
    struct orr_omp_task *thread = orr_omp_thread_need(__func__);
    struct orr_omp_share *share = thread->copies;

    if (!share) {
        orr_log_error("%s: called without "
                      "starpu_omp_single_copyprivate_inline_begin",
                      __func__);
        abort();
    }
    thread->copies = NULL;
    if (thread->has_copy)
        share_publish(thread, share);
    orr_omp_share_leave(thread, share);
    orr_omp_meet(thread);
}

void starpu_omp_single_copyprivate(void (*f)(void *arg, void *data,
                                             unsigned long long data_size),
                                   void *arg, void *data,
                                   unsigned long long data_size)
{
    void *copy = starpu_omp_single_copyprivate_inline_begin(data);

    if (orr_omp_self()->has_copy)
        f(arg, data, data_size);
    else
        memcpy(data, copy, (size_t)data_size);
    starpu_omp_single_copyprivate_inline_end();
}

/* -- the same with data that are known at its end -- */

void *orr_openmp_copy_begin(void)
{
    struct orr_omp_task *thread = orr_omp_thread_need("single copyprivate");
    struct orr_omp_share *share = enter_copy(thread, "single copyprivate");
    void *copy;

    if (thread->has_copy)
        return NULL;
    wait_for_copy(thread, share);
    copy = share->copy;
    thread->copies = NULL;
    orr_omp_share_leave(thread, share);
    return copy;
}

void orr_openmp_copy_publish(void *data)
{
    struct orr_omp_task *thread = orr_omp_thread_need("single copyprivate");
    struct orr_omp_share *share = thread->copies;

    share->copy = data;
    thread->copies = NULL;
    share_publish(thread, share);
    orr_omp_share_leave(thread, share);
}

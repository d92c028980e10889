/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/acquire.c - the application's own accesses: an acquisition is a
 * job without task that "runs" from the moment its data are there until they
 * are released. Blocking forms park the calling context meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/data/release.h"
#include "core/data/within.h"
#include "core/device/kind.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/layouts/convert.h"
#include "core/task/end.h"
#include "core/worker/workers.h"

/* A context that waits for its data, on its stack. */
struct block {
    struct orr_waiter waiter;
    double converting; /* simulated: µs for which it waits then */
};

static void unblock(void *arg)
{
    orr_waiter_release(&((struct block *)arg)->waiter);
}

/* The data are in the application's memory: even if a worker of another node calls the
 * callback, local data are not those of that worker. */
static void call_back(void (*callback)(void *), void *arg, unsigned node)
{
    struct orr_context *self = orr_self;
    struct orr_worker *worker = self->worker;

    if (worker && worker->desc->node != node)
        self->worker = NULL;
    orr_call_user(NULL, callback, arg);
    self->worker = worker;
}

/* The application finds the form of main memory, made by the context that brings
 * the data. */
static orr_kernel_func_t acquire_conversion(const struct starpu_codelet *cl,
                                            const struct orr_worker *worker)
{
    (void)worker;
    return orr_codelet_host_function(cl, 0);
}

/* Simulated, it takes what it takes on a worker of the node, if there is one; returns
 * that. */
static double acquire_convert(struct orr_runtime *rt, const struct orr_job *job,
                              unsigned node)
{
    const struct orr_converter converter = {acquire_conversion, NULL};
    unsigned k = 0;
    double us = 0;

    while (k < rt->workers->nclasses && rt->workers->classes[k].node != node)
        k++;
    if (rt->machine->kernels_take_their_length && k < rt->workers->nclasses)
        us = orr_job_conversion_us(rt, job, k);
    (void)orr_job_convert(rt, job, &converter);
    return us;
}

/* Where the application has the data. */
static unsigned acquire_node(const struct orr_job *job)
{
    return job->data.spread ? STARPU_MAIN_RAM : orr_job_own(job)->node;
}

/* They are the application's until it releases them. */
static void acquire_hold(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_handle *handle = job->accesses[0].handle;
    void (*callback)(void *) = orr_job_own(job)->callback;
    void *arg = orr_job_own(job)->arg;
    unsigned node = acquire_node(job);

    orr_job_set_state(job, ORR_JOB_RUNNING);
    if (!callback) { /* that they are there was all that was wanted */
        orr_lend_release(job);
        orr_job_drop_data(rt, job);
        orr_job_complete(rt, job);
        return;
    }
    orr_lock(&handle->lock);
    orr_list_append(&handle->acquired, &job->queue);
    orr_unlock(&handle->lock);
    /* From now on another thread may release it. */
    call_back(callback, arg, node);
}

static void acquire_copied(struct orr_runtime *rt, void *arg);

static void copy_first(struct orr_runtime *rt)
{
    struct orr_job *job =
        orr_container(rt->nodes->copied.next, struct orr_job, queue);

    orr_copy_within(rt, acquire_node(job), orr_job_own(job)->copied,
                    orr_job_own(job)->fresh, NULL, acquire_copied, job);
}

/* The next one's turn comes before the callback, which may want another one. */
static void acquire_copied(struct orr_runtime *rt, void *arg)
{
    (void)orr_list_pop(&rt->nodes->copied);
    if (!orr_list_empty(&rt->nodes->copied))
        copy_first(rt);
    acquire_hold(rt, arg);
}

/* Simulated, the application copies one after the other, as one thread of it would. */
static void acquire_copy(struct orr_runtime *rt, struct orr_job *job)
{
    bool first = orr_list_empty(&rt->nodes->copied);

    orr_list_append(&rt->nodes->copied, &job->queue);
    if (first)
        copy_first(rt);
}

/* Whether the application is the first to write to that memory, as it may now. */
static bool use_first(struct orr_handle *handle, unsigned node)
{
    bool first = orr_handle_is_untouched(handle, node);

    if (!first)
        return false;
    orr_lock(&handle->lock);
    orr_handle_touch(handle, orr_bit(node));
    orr_unlock(&handle->lock);
    return true;
}

/* The data are there. */
static void acquire_arrived(struct orr_runtime *rt, struct orr_job *job,
                            int worker)
{
    void (*callback)(void *) = orr_job_own(job)->callback;
    void *arg = orr_job_own(job)->arg;
    unsigned node = acquire_node(job);
    double us = 0;

    (void)worker;
    if (job->accesses[0].mode & STARPU_W &&
        use_first(job->accesses[0].handle, node))
        orr_job_own(job)->fresh = orr_job_own(job)->copied;
    orr_job_take_data(rt, job, node);
    if (job->converts && !job->data.spread && node < rt->nodes->nram)
        us = acquire_convert(rt, job, node);
    if (us > 0 && callback == unblock)
        ((struct block *)arg)->converting = us;
    else if (us > 0)
        orr_self->debt += us;
    if (orr_job_own(job)->copied && rt->exec->virtual_time)
        acquire_copy(rt, job);
    else
        acquire_hold(rt, job);
}

/* Without a node the datum is held, and brought nowhere. */
static void set_node(struct orr_job *job, int node)
{
    orr_job_own(job)->node = (unsigned)node;
    job->data.spread = job->accesses[0].placed = node < 0;
}

/* The application has the last word on the node. */
static void acquire_choose_node(struct orr_runtime *rt, struct orr_job *job)
{
    int node = (int)orr_job_own(job)->node;
    struct orr_context *self = orr_self;

    self->frozen++;
    orr_job_own(job)->before(orr_job_own(job)->arg, &node,
                        (enum starpu_data_access_mode)job->accesses[0].mode);
    self->frozen--;
    if (node >= (int)rt->nodes->n) {
        orr_log_error(
            "an acquisition's callback_acquired chose memory node %d: "
            "there is no such node",
            node);
        orr_runtime_fail(rt);
    }
    set_node(job, node);
}

static void acquire_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (orr_job_own(job)->before)
        acquire_choose_node(rt, job);
    if (orr_job_fetch(rt, job, job->data.spread ? 0 : orr_job_own(job)->node))
        acquire_arrived(rt, job, -1);
}

const struct orr_job_type orr_job_acquire = {
    .ready = acquire_ready,
    .arrived = acquire_arrived,
    .is_own = true,
};

int orr_data_check(const struct orr_handle *handle, const char *call)
{
    const char *trouble = orr_handle_trouble(handle);

    if (trouble) {
        orr_log_error("%s: the data handle is %s", call, trouble);
        return -EINVAL;
    }
    if (handle->partitioned) {
        orr_log_error("%s of %s: the data are partitioned: use their "
                      "sub-data, or call starpu_data_unpartition first",
                      call, orr_handle_label(handle).text);
        return -EINVAL;
    }
    return 0;
}

/* What is asked for. */
struct wish {
    uint32_t mode;
    bool sequential; /* in the order of submission, if the handle has one */
    bool if_any;     /* data without a value will do */
    bool tries;      /* -EAGAIN rather than waiting for others */
};

/* Whether contributions that no job waits for are all that is in the way. */
static bool only_partials(struct orr_handle *handle)
{
    bool result;

    orr_lock(&handle->lock);
    result = orr_turns_empty(&handle->turns) && handle->claims.n == 0 &&
             orr_handle_has_partials_locked(handle);
    orr_unlock(&handle->lock);
    return result;
}

/* The attempt is ready at once, or ends. A program that tries repeatedly is to get the
 * data in the end, so that an attempt starts to combine contributions. */
static int try_now(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_handle *handle = job->accesses[0].handle;

    if (!orr_job_try_order(rt, job)) {
        if (only_partials(handle))
            orr_data_combine(rt, handle);
        orr_lend_release(job);
        orr_job_unref(rt, job);
        return -EAGAIN;
    }
    atomic_store_explicit(&job->waiting, 0, memory_order_relaxed);
    job->type->ready(rt, job);
    return 0;
}

/* Data without a value that are to be read get one first, by a task. An attempt waits
 * for no task: it fails until the data have a value. */
static int begin_value(struct orr_runtime *rt, struct orr_job *job,
                       struct wish wish)
{
    if (wish.if_any)
        return 0;
    if (!wish.tries)
        return orr_job_begin_data(rt, job);
    return wish.mode & STARPU_R ? orr_handle_begin(rt, job->accesses[0].handle)
                                : 0;
}

const char *orr_acquire_name(enum orr_acquire_call call)
{
    static const char *const names[] = {
        [ORR_ACQUIRE_OWN] = "data acquisition",
        [ORR_ACQUIRE] = "starpu_data_acquire",
        [ORR_ACQUIRE_ON_NODE] = "starpu_data_acquire_on_node",
        [ORR_ACQUIRE_TRY] = "starpu_data_acquire_try",
        [ORR_ACQUIRE_ON_NODE_TRY] = "starpu_data_acquire_on_node_try",
        [ORR_ACQUIRE_CB] = "starpu_data_acquire_cb",
        [ORR_ACQUIRE_ON_NODE_CB] = "starpu_data_acquire_on_node_cb",
        [ORR_ACQUIRE_CB_CONSISTENCY] =
            "starpu_data_acquire_cb_sequential_consistency",
        [ORR_ACQUIRE_ON_NODE_CB_CONSISTENCY] =
            "starpu_data_acquire_on_node_cb_sequential_consistency",
        [ORR_ACQUIRE_SYNC_JOBIDS] =
            "starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids",
        [ORR_ACQUIRE_TO_COPY] = "orrery_data_acquire_to_copy",
        [ORR_ACQUIRE_FOR_TASK] = "orrery_data_acquire_for_task",
        [ORR_ACQUIRE_FETCH] = "starpu_data_fetch_on_node",
        [ORR_ACQUIRE_PREFETCH] = "starpu_data_prefetch_on_node",
        [ORR_ACQUIRE_PREFETCH_PRIO] = "starpu_data_prefetch_on_node_prio",
        [ORR_ACQUIRE_IDLE_PREFETCH] = "starpu_data_idle_prefetch_on_node",
        [ORR_ACQUIRE_IDLE_PREFETCH_PRIO] =
            "starpu_data_idle_prefetch_on_node_prio",
        [ORR_ACQUIRE_MESSAGE] = "a message",
    };

    return names[call];
}

/* Makes the job and lets it go; callback(arg) may have been called on return. Without a
 * callback the data are released when they are there. */
static int acquire_start(struct orr_runtime *rt, struct orr_handle *handle,
                         int node, struct wish wish,
                         struct orr_acquisition *how)
{
    struct orr_job *job = orr_job_new(rt, &orr_job_acquire, 1);
    struct orr_access *access;
    int err;

    if (!job)
        return -ENOMEM;
    access = &job->accesses[0];
    access->job = job;
    access->handle = handle;
    access->mode = (uint16_t)wish.mode;
    access->wants_order = wish.sequential && handle->sequential;
    access->optional = wish.if_any;
    orr_job_own(job)->call = (uint8_t)how->call;
    orr_job_own(job)->callback = how->callback;
    orr_job_own(job)->before = how->before;
    orr_job_own(job)->arg = how->arg;
    orr_job_own(job)->by = orr_self->job;
    orr_job_own(job)->copied = how->copied;
    orr_job_own(job)->fresh = how->fresh;
    job->priority = how->priority;
    how->job = -1;
    if (how->numbered && access->wants_order) {
        orr_job_number(rt, job);
        how->job = (long)job->id;
    }
    set_node(job, node);
    orr_job_nest(rt, job);
    if (orr_job_around(job))
        orr_lend_acquire(job);
    err = begin_value(rt, job, wish);
    if (err) {
        orr_lend_release(job);
        orr_job_unref(rt, job);
        return err;
    }
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    if (wish.tries)
        return try_now(rt, job);
    orr_job_order(rt, job, access);
    orr_job_release(rt, job);
    return 0;
}

/* A program that decides by such values does not do what it does for real. */
static void warn_unreal(struct orr_runtime *rt, enum orr_acquire_call call,
                        const struct orr_handle *handle, uint32_t mode)
{
    if (!handle->unreal || !(mode & STARPU_R) || rt->nodes->warned_unreal)
        return;
    rt->nodes->warned_unreal = true;
    orr_log_warning("%s: only skipped kernels have written these data, so that "
                    "their content means nothing. ORRERY_SIM_KERNELS=run "
                    "executes the kernels.",
                    orr_acquire_name(call));
}

/* What is waited for, by which call. */
struct awaited_data {
    struct orr_awaited awaited; /* first */
    const char *call;
    uint32_t mode;
};

static void acquisition_describe(const struct orr_awaited *awaited, char *text,
                                 size_t size)
{
    const struct awaited_data *a = (const struct awaited_data *)awaited;

    snprintf(text, size, "%s in %s%s%s (%s)",
             orr_handle_words(awaited->data).text,
             a->mode & STARPU_R ? "R" : "", a->mode & STARPU_W ? "W" : "",
             a->mode & STARPU_REDUX ? "REDUX" : "", a->call);
}

static int acquire_bring(struct orr_runtime *rt, enum orr_acquire_call call,
                         struct orr_handle *handle, int node, struct wish wish)
{
    const struct awaited_data what = {
        .awaited = {.noun = "data",
                    .describe = acquisition_describe,
                    .data = handle},
        .call =
            call == ORR_ACQUIRE_OWN ? orr_self->call : orr_acquire_name(call),
        .mode = wish.mode};
    struct block block = {.converting = 0};
    struct orr_acquisition how = {
        .call = call, .callback = unblock, .arg = &block};
    int err = orr_data_check(handle, orr_acquire_name(call));

    if (err)
        return err;
    if (!wish.if_any && !orr_may_block(orr_acquire_name(call)))
        return -EDEADLK;
    orr_pay();
    orr_waiter_init(&block.waiter);
    err = acquire_start(rt, handle, node, wish, &how);
    if (err)
        return err;
    orr_await(rt, &block.waiter, &what.awaited);
    if (block.converting > 0)
        orr_self->debt += block.converting;
    orr_pay();
    return 0;
}

int orr_data_bring(struct orr_runtime *rt, enum orr_acquire_call call,
                   struct orr_handle *handle, int node,
                   enum starpu_data_access_mode mode)
{
    return acquire_bring(rt, call, handle, node,
                         (struct wish){.mode = mode, .sequential = true});
}

int orr_data_bring_if_any(struct orr_runtime *rt, struct orr_handle *handle,
                          int node)
{
    return acquire_bring(
        rt, ORR_ACQUIRE_OWN, handle, node,
        (struct wish){.mode = STARPU_R, .sequential = true, .if_any = true});
}

int orr_data_bring_as_is(struct orr_runtime *rt, struct orr_handle *handle,
                         int node)
{
    return acquire_bring(rt, ORR_ACQUIRE_OWN, handle, node,
                         (struct wish){.mode = STARPU_R | STARPU_NOPLAN,
                                       .sequential = true,
                                       .if_any = true});
}

int orr_data_bring_later(struct orr_runtime *rt, struct orr_handle *handle,
                         int node)
{
    struct orr_acquisition how = {0};
    int err = orr_data_check(handle, "starpu_data_prefetch_on_node");

    if (err)
        return err;
    return acquire_start(
        rt, handle, node,
        (struct wish){.mode = STARPU_R, .sequential = true, .if_any = true},
        &how);
}

int orr_data_acquire(struct orr_runtime *rt, enum orr_acquire_call call,
                     struct orr_handle *handle, int node,
                     enum starpu_data_access_mode mode)
{
    int err = orr_data_bring(rt, call, handle, node, mode);

    if (!err)
        warn_unreal(rt, call, handle, mode);
    return err;
}

int orr_data_try_acquire(struct orr_runtime *rt, enum orr_acquire_call call,
                         struct orr_handle *handle, int node,
                         enum starpu_data_access_mode mode)
{
    int err = acquire_bring(
        rt, call, handle, node,
        (struct wish){.mode = mode, .sequential = true, .tries = true});

    if (!err)
        warn_unreal(rt, call, handle, mode);
    return err;
}

int orr_data_acquire_with(struct orr_runtime *rt, struct orr_handle *handle,
                          int node, enum starpu_data_access_mode mode,
                          struct orr_acquisition *how)
{
    int err = orr_data_check(handle, orr_acquire_name(how->call));

    if (err)
        return err;
    return acquire_start(
        rt, handle, node,
        (struct wish){.mode = mode, .sequential = how->sequential}, how);
}

/* The acquisition on the node that is to be released: the first one by the task that
 * the caller runs (or outside of tasks), else the first of all; NULL: there is none.
 * Acquisitions whose data are not there yet do not count. */
static struct orr_job *find_acquired_locked(struct orr_handle *handle, int node)
    ORR_REQUIRES(handle->lock)
{
    struct orr_job *first = NULL;

    orr_list_foreach (link, &handle->acquired) {
        struct orr_job *job = orr_container(link, struct orr_job, queue);

        if (orr_job_own(job)->node != (unsigned)node)
            continue;
        if (orr_job_own(job)->by == orr_self->job)
            return job;
        if (!first)
            first = job;
    }
    return first;
}

int orr_data_release(struct orr_runtime *rt, struct orr_handle *handle,
                     int node)
{
    struct orr_job *job;

    orr_lock(&handle->lock);
    job = find_acquired_locked(handle, node);
    if (job)
        orr_list_remove(&job->queue);
    orr_unlock(&handle->lock);
    if (!job)
        return -ENOENT;
    orr_lend_release(job);
    orr_job_drop_data(rt, job);
    orr_job_complete(rt, job);
    orr_pay();
    return 0;
}

/* One that commutes shares its place with others in any case: readers come after
 * them all. */
int orr_data_share(struct orr_runtime *rt, struct orr_handle *handle, int node,
                   enum starpu_data_access_mode mode)
{
    struct orr_released released;
    struct orr_access *access;
    struct orr_job *job;

    orr_lock(&handle->lock);
    job = find_acquired_locked(handle, node);
    orr_unlock(&handle->lock);
    if (!job)
        return -ENOENT;
    access = &job->accesses[0];
    if (mode & STARPU_W)
        return access->mode & STARPU_W ? 0 : -EACCES;
    if (orr_access_group(access) != ORR_GROUP_ALONE)
        return 0;
    orr_access_share(access, &released);
    orr_jobs_release(rt, NULL, &released);
    orr_pay();
    return 0;
}

/* --- what happens to a value in its turn --- */

static void call_after(struct orr_runtime *rt, struct orr_handle *handle,
                       uint32_t mode, bool ordered, void (*action)(void *))
{
    struct orr_job *job = orr_job_new(rt, &orr_job_after, 1);
    struct orr_access *access;

    if (!job)
        return; /* only advice, or a value that no job may read */
    access = &job->accesses[0];
    access->job = job;
    access->handle = handle;
    access->mode = (uint16_t)mode;
    access->wants_order = ordered;
    access->optional = 1; /* it only takes its turn */
    orr_job_own(job)->callback = action;
    orr_job_own(job)->arg = handle;
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_order(rt, job, access);
    orr_job_release(rt, job);
}

void orr_data_call_after(struct orr_runtime *rt, struct orr_handle *handle,
                         uint32_t mode, void (*action)(void *))
{
    call_after(rt, handle, mode, true, action);
}

/* Memory of the library's own on these nodes that is not used becomes free. */
static void release_memory(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    for (unsigned node = 0; node < handle->nnodes; node++) {
        struct orr_replicate *replicate = &handle->replicates[node];
        struct orr_block *block = NULL;

        orr_lock(&handle->lock);
        if (replicate->block && !replicate->refs && !replicate->request &&
            !(handle->valid >> node & 1) &&
            !orr_block_is_shared(replicate->block))
            block = orr_block_detach_locked(handle, node);
        orr_unlock(&handle->lock);
        orr_block_free(block);
        if (block)
            orr_node_freed(rt, node);
    }
}

static void deinitialize(void *arg)
{
    orr_handle_forget_value(arg);
}

/* In the machine's own context no method of an interface may be called: then the memory
 * is only made the first to leave. */
static void acquire_invalidate(void *arg)
{
    deinitialize(arg);
    if (!orr_self->machine)
        release_memory(arg);
}

void orr_data_invalidate_submit(struct orr_runtime *rt,
                                struct orr_handle *handle, bool keeps_memory)
{
    if (orr_data_check(handle, keeps_memory
                                   ? "starpu_data_deinitialize_submit"
                                   : "starpu_data_invalidate_submit") != 0)
        return;
    orr_data_call_after(rt, handle, STARPU_W,
                        keeps_memory ? deinitialize : acquire_invalidate);
    orr_handle_forget_beginning(handle);
}

void orr_data_invalidate(struct orr_runtime *rt, struct orr_handle *handle,
                         bool keeps_memory)
{
    const char *call =
        keeps_memory ? "starpu_data_deinitialize" : "starpu_data_invalidate";

    if (orr_data_check(handle, call) != 0 || !orr_may_block(call))
        return;
    orr_handle_wait_unordered(rt, handle);
    orr_data_call_after(rt, handle, STARPU_W,
                        keeps_memory ? deinitialize : acquire_invalidate);
    orr_handle_forget_beginning(handle);
    orr_handle_wait_idle(rt, handle, false);
}

/* The last writer has ended, but readers that were submitted before may still come:
 * their use makes the blocks young ones. */
static void no_longer_wanted(void *arg)
{
    struct orr_handle *handle = arg;
    struct orr_runtime *rt = handle->runtime;
    struct orr_deferred deferred = {0};

    orr_lock(&handle->lock);
    handle->wont_use = true;
    for (unsigned node = 0; node < handle->nnodes; node++)
        orr_node_demote(handle, node, &deferred);
    orr_unlock(&handle->lock);
    orr_deferred_run(rt, &deferred);
    if (handle->home_node >= 0 && handle->valid)
        orr_handle_prefetch(rt, handle, (unsigned)handle->home_node,
                            ORR_IDLE_PREFETCH);
}

void orr_data_wont_use(struct orr_runtime *rt, struct orr_handle *handle)
{
    for (unsigned i = 0; i < handle->nchildren; i++)
        orr_data_wont_use(rt, handle->children[i]);
    if (handle->partitioned || orr_plans_advise(rt, handle, orr_data_wont_use))
        return;
    if (orr_data_check(handle, "starpu_data_wont_use") == 0)
        orr_data_call_after(rt, handle, STARPU_R | STARPU_NOPLAN,
                            no_longer_wanted);
}

static void acquire_no_callback(void *arg)
{
    (void)arg;
}

void orr_data_combine(struct orr_runtime *rt, struct orr_handle *handle)
{
    if (orr_handle_has_partials(handle))
        orr_data_call_after(rt, handle, STARPU_R | STARPU_NOPLAN,
                            acquire_no_callback);
}

void orr_data_combine_early(struct orr_runtime *rt, struct orr_handle *handle)
{
    call_after(rt, handle, STARPU_R | STARPU_NOPLAN, false,
               acquire_no_callback);
}

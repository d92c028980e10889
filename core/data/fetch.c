/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/fetch.c - a job's data: prefetched when it was scheduled, fetched
 * before its kernel, given to it and taken back.
 */
#include <assert.h>
#include <errno.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/eviction.h"
#include "core/data/label.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/private.h"
#include "core/data/request.h"
#include "core/data/traffic.h"
#include "core/exec/runtime.h"
#include "core/job/ahead.h"
#include "core/job/job.h"
#include "core/job/tasks.h"

/* Whether the value is there, but on devices that are gone. */
static bool is_lost(const struct orr_access *access)
{
    const struct orr_handle *handle = orr_access_datum(access);

    return handle->valid && !orr_handle_values(handle);
}

static _Noreturn void fail_acquisition(struct orr_runtime *rt,
                                       const struct orr_access *access, int err,
                                       const char *data)
{
    const char *call = orr_acquire_name(orr_job_own(access->job)->call);

    if (is_lost(access) && err != -ENOMEM)
        orr_log_error("%s of %s: their only value was on a device that is lost",
                      call, data);
    else if (err == -EIO)
        orr_log_error("%s of %s: copies to memory node %u (%s) fail", call,
                      data, access->at, rt->machine->nodes[access->at].name);
    else if (err == -ENODATA)
        orr_log_error(
            "%s of %s: the data have no value: they were registered without a "
            "home node and never written, or invalidated since. Submit a task "
            "that writes them first, or register them with their memory.",
            call, data);
    else
        orr_log_error("%s of %s: no memory (%zu bytes)", call, data,
                      access->handle->size);
    orr_runtime_fail(rt);
}

void orr_access_fail(struct orr_runtime *rt, const struct orr_access *access,
                     int err)
{
    const struct orr_job *job = access->job;
    struct orr_label data = orr_handle_label(access->handle);

    if (ORR_JOB_HOLDS(job))
        fail_acquisition(rt, access, err, data.text);
    if (is_lost(access) && err != -ENOMEM)
        orr_log_error("`%s' reads buffer %u (%s), whose only value "
                      "was on a device that is lost",
                      orr_job_name(job), access->index, data.text);
    else if (err == -EIO)
        orr_log_error("`%s' cannot have buffer %u (%s) on memory "
                      "node %u (%s), to which copies fail",
                      orr_job_name(job), access->index, data.text, access->at,
                      rt->machine->nodes[access->at].name);
    else if (err == -ENODATA)
        orr_log_error(
            "`%s' reads buffer %u (%s), which has no value: it was "
            "registered without a home node and never written, or invalidated "
            "since. Submit a task that writes it first, or register it with "
            "its memory.",
            orr_job_name(job), access->index, data.text);
    else
        orr_log_error("`%s': no memory for buffer %u (%zu bytes)",
                      orr_job_name(job), access->index, access->handle->size);
    orr_runtime_fail(rt);
}

struct orr_replicate *orr_access_replicate(const struct orr_access *access,
                                           unsigned node)
{
    return access->alias || access->at != node
               ? NULL
               : &orr_access_datum(access)->replicates[node];
}

static bool access_overwrites(const struct orr_access *access)
{
    return (access->mode & STARPU_RW) == STARPU_W;
}

/* Prefetches do not evict the replicate until the job fetches its data. Only for a job
 * that the policy has: such a job is certain to fetch them. */
static void fetch_promise(struct orr_access *access, unsigned node)
{
    struct orr_handle *handle = access->handle;

    orr_lock(&handle->lock);
    /* Before a job pins its first datum it stops being ready, so a ready one has pinned
     * nothing. */
    if (!access->promised && orr_job_state(access->job) == ORR_JOB_READY) {
        access->promised = 1;
        access->node = (uint8_t)node;
        handle->replicates[node].promised++;
        if (handle->runtime->nodes->eviction->promise)
            handle->runtime->nodes->eviction->promise(access);
    }
    orr_node_touch(handle, node);
    orr_unlock(&handle->lock);
}

/* A replicate that is promised to no job any more keeps no job from having memory, and
 * no job is queued for it, unless it is used there now. */
static void withdraw_locked(struct orr_handle *handle,
                            struct orr_access *access, unsigned used,
                            struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    access->promised = 0;
    handle->replicates[access->node].promised--;
    if (handle->runtime->nodes->eviction->withdraw)
        handle->runtime->nodes->eviction->withdraw(access);
    if (handle->replicates[access->node].promised != 0 || access->node == used)
        return;
    orr_node_touch(handle, access->node);
    orr_node_retry(handle->runtime, access->node, deferred);
}

static inline void fetch_pin(struct orr_handle *handle,
                             struct orr_access *access, unsigned node,
                             struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    handle->replicates[node].refs += !access->held;
    handle->replicates[node].writers += access_overwrites(access);
    if (handle->replicates[node].block)
        orr_node_retain(handle, node);
    if (access->promised)
        withdraw_locked(handle, access, node, deferred);
    access->pinned = 1;
    access->node = (uint8_t)node;
}

/* From now on the value is what the job writes: no copy of it begins. */
static void begin_write_locked(struct orr_handle *handle,
                               struct orr_access *access)
    ORR_REQUIRES(handle->lock)
{
    handle->wont_use = false;
    orr_traffic_outdate(handle);
    handle->unreal =
        access->job->task && !handle->runtime->machine->runs_kernels;
    handle->writing++;
    access->writes = 1;
    if (access->job->task) /* an acquisition says first whether that was new */
        orr_handle_touch(handle, orr_bit(access->node));
}

/* Whether a writer on that node makes no other copy invalid and frees none: it may
 * begin when it asks for the value, before its kernel. */
static bool is_nowhere_else(const struct orr_handle *handle, unsigned node)
{
    uint64_t bit = UINT64_C(1) << node;

    return atomic_load_explicit(&handle->valid, memory_order_relaxed) == bit &&
           atomic_load_explicit(&handle->allocated, memory_order_relaxed) ==
               bit &&
           !atomic_load_explicit(&handle->loading, memory_order_relaxed);
}

/* Whether the kernel finds a value there: of private data the worker's earlier
 * contribution, if this phase had one; scratch has none. */
static bool reads_value(const struct orr_access *access)
{
    if (!access->elsewhere)
        return (access->mode & STARPU_R) != 0;
    return access->datum->valid != 0;
}

/* Adds to *spare the bytes that were reserved for the access and are not needed.
 * Returns whether there is nothing to wait for. */
static bool fetch_one(struct orr_runtime *rt, struct orr_access *access,
                      unsigned node, size_t *spare,
                      struct orr_deferred *deferred)
{
    struct orr_handle *handle = orr_access_datum(access);
    int there;

    orr_lock(&handle->lock);
    fetch_pin(handle, access, node, deferred);
    if (rt->nodes->at[node].capacity)
        *spare += orr_admit_take_locked(handle, access, node);
    access->reads = reads_value(access);
    while ((there = orr_request_need(rt, handle, node, access->reads, ORR_FETCH,
                                     access, deferred)) == -EAGAIN) {
        orr_unlock(&handle->lock);
        if (orr_deferred_more(rt, deferred) != 0)
            orr_access_fail(rt, access, -ENOMEM);
        orr_lock(&handle->lock);
    }
    if (there == 1 && access->mode & STARPU_W && is_nowhere_else(handle, node))
        begin_write_locked(handle, access);
    /* The one behind is in no cache any more where tasks wait long for what they have
     * been granted; what it leads to comes later (orr_job_look_behind). */
    if (handle == access->handle)
        orr_ahead_access(access->link.next);
    orr_unlock(&handle->lock);
    if (there == -ENODATA && access->optional)
        there = 1;
    if (there < 0)
        orr_access_fail(rt, access, there);
    if (!there)
        orr_requests_now(rt, deferred);
    return there != 0;
}

/* The memory is the worker's own. */
static void use_private(struct orr_access *access, enum orr_private kind)
{
    struct orr_job *job = access->job;
    struct orr_handle *datum;

    assert(job->worker >= 0);
    datum = orr_private_get(access->handle, kind, (unsigned)job->worker);
    orr_access_set_datum(access, datum);
    if (!datum)
        orr_access_fail(access->handle->runtime, access, -ENOMEM);
}

/* Whether an earlier access of the job uses the same memory. */
static bool access_is_alias(const struct orr_job *job,
                            const struct orr_access *access)
{
    if (access->duplicate)
        for (const struct orr_access *a = job->accesses; a < access; a++)
            if (orr_access_datum(a) == orr_access_datum(access) &&
                a->at == access->at)
                return true;
    return false;
}

/* Whose memory the job's accesses use, and where; the worker is of `node`. */
static void choose_data(struct orr_job *job, unsigned node)
{
    /* A first value that comes too late, as others have written meanwhile, is made in
     * the worker's own memory, where it is not read. The job has the datum to itself. */
    if (job->data.first) {
        struct orr_handle *handle = job->accesses[0].handle;

        orr_lock(&handle->lock);
        if (handle->valid)
            job->accesses[0].mode = STARPU_SCRATCH;
        orr_unlock(&handle->lock);
    }
    job->left = job->data.spread ? 0 : UINT64_C(1) << node;
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        access->at = (uint8_t)node;
        if (job->data.spread)
            orr_access_place(access, node);
        orr_access_set_datum(access, access->handle);
        if (access->mode & STARPU_SCRATCH)
            use_private(access, ORR_PRIVATE_SCRATCH);
        else if (access->mode & STARPU_REDUX)
            use_private(access, ORR_PRIVATE_PARTIAL);
        access->alias = access_is_alias(job, access);
    }
}

/* Pins the data on these nodes and asks for them. Each datum of the job was counted in
 * `pending` before; returns how many of these counts, the caller's own among them, are
 * to be taken off since there is nothing to wait for. */
static int fetch_ask(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};
    uint64_t asked = job->asked;
    size_t spare = 0;
    int nthere = 1;

    if (rt->nodes->counts_hits)
        orr_traffic_count_hits(rt, job);
    atomic_store_explicit(&job->data.pending, 1 + job->naccesses,
                          memory_order_relaxed);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        nthere += access->alias || access->at == ORR_NO_PLACE ||
                  !(asked >> access->at & 1) ||
                  fetch_one(rt, access, access->at, &spare, &deferred);
    }
    if (spare) {
        orr_node_unreserve(&rt->nodes->at[job->data.limited], spare);
        orr_node_retry(rt, job->data.limited, &deferred);
    }
    orr_deferred_run(rt, &deferred);
    return nthere;
}

/* Of the nodes where the job has not asked yet, it asks on those without a limit and on
 * one with a limit, devices before main memory: admit.c says why. Returns whether there
 * is one with a limit. */
static bool choose_nodes(struct orr_runtime *rt, struct orr_job *job)
{
    bool any = false;

    job->asked = 0;
    for (unsigned node = rt->nodes->n; node-- > 0;) {
        uint64_t bit = UINT64_C(1) << node;
        bool is_limited = rt->nodes->at[node].capacity != 0;

        if (!(job->left & bit) || (is_limited && any))
            continue;
        job->asked |= bit;
        job->left &= ~bit;
        orr_node_reach(&rt->nodes->at[node], job->id);
        if (is_limited)
            job->data.limited = (uint8_t)node;
        any |= is_limited;
    }
    return any;
}

/* What is read of each datum on the node: all at once, since each lock waits for what was
 * read before it. On machines of one thread alone: the handles are not locked. */
static void look_at_memory(const struct orr_runtime *rt,
                           const struct orr_job *job, unsigned node)
{
    if (!rt->exec->one_thread)
        return;
    for (unsigned i = 0; i < job->naccesses; i++)
        orr_ahead_block(job->accesses[i].handle->replicates[node].block);
}

/* Chooses what the job uses, and where it asks first. Returns whether there is a node
 * with a limit among these. */
static bool fetch_begin(struct orr_runtime *rt, struct orr_job *job,
                        unsigned node)
{
    choose_data(job, node);
    if (job->data.spread)
        return choose_nodes(rt, job);
    job->asked = job->left;
    job->left = 0;
    job->data.limited = (uint8_t)node;
    orr_node_reach(&rt->nodes->at[node], job->id);
    return rt->nodes->at[node].capacity && job->naccesses > 0;
}

/* Asks where the job's next data are used; returns whether they are there. */
static bool fetch_next(struct orr_runtime *rt, struct orr_job *job,
                       bool has_limit)
{
    /* Counts one more than the data on their way, until all data have been asked for. */
    atomic_store_explicit(&job->data.pending, 1, memory_order_relaxed);
    if (has_limit && !orr_admit(rt, job, job->data.limited))
        return false;
    return orr_count_off(&job->data.pending, fetch_ask(rt, job));
}

/* Whether each datum has its value in main memory, which is the only node, where nothing
 * is promised. That stays so: a job that would change it has its turn after this one, or
 * has had it before. */
static bool all_are_here(const struct orr_runtime *rt,
                         const struct orr_job *job)
{
    if (job->data.spread || job->data.first || rt->nodes->counts_hits ||
        !orr_memory_is_flat(rt))
        return false;
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;

        if (access->duplicate || access->held || handle->multiformat ||
            access->mode & (STARPU_SCRATCH | STARPU_REDUX) ||
            !is_nowhere_else(handle, STARPU_MAIN_RAM))
            return false;
    }
    return true;
}

/* Whether nothing can happen to the value but what jobs do in their turns: it has memory
 * on no other node, nor will have, and that here is the application's; jobs that write it
 * do. Then a task has nothing to note in the handle while it runs. */
static inline bool is_left_alone(const struct orr_handle *handle,
                                 const struct orr_job *job)
{
    return handle->nnodes == 1 && handle->home_node == STARPU_MAIN_RAM &&
           job->task && handle->runtime->machine->runs_kernels;
}

/* Nothing is asked for. */
static inline void fetch_pin_here(struct orr_access *access,
                                  const struct orr_job *job)
{
    struct orr_handle *handle = access->handle;
    const struct orr_access *next;

    access->at = STARPU_MAIN_RAM;
    orr_access_set_datum(access, handle);
    access->alias = 0;
    access->reads = (access->mode & STARPU_R) != 0;
    if (is_left_alone(handle, job)) {
        assert(!handle->replicates[STARPU_MAIN_RAM].block);
        return;
    }
    orr_lock(&handle->lock);
    fetch_pin(handle, access, STARPU_MAIN_RAM, NULL);
    if (access->mode & STARPU_W)
        begin_write_locked(handle, access);
    /* Fetched into the caches when this one was granted, it leads to the task that may be
     * ready when this one's has ended. */
    next = orr_handle_waits_behind(handle, access);
    if (next)
        orr_ahead_task(next->job->task, next->job->plain);
    orr_unlock(&handle->lock);
}

bool orr_job_fetch(struct orr_runtime *rt, struct orr_job *job, unsigned node)
{
    job->data.flat = all_are_here(rt, job);
    if (job->data.flat) {
        for (unsigned i = 0; i < job->naccesses; i++)
            fetch_pin_here(&job->accesses[i], job);
        job->asked = UINT64_C(1) << STARPU_MAIN_RAM;
        job->left = 0;
        return true;
    }
    look_at_memory(rt, job, node);
    return fetch_next(rt, job, fetch_begin(rt, job, node)) &&
           orr_job_fetch_rest(rt, job);
}

void orr_job_fetch_behind(struct orr_runtime *rt, struct orr_job *job,
                          unsigned node)
{
    (void)fetch_begin(rt, job, node);
    atomic_store_explicit(&job->data.pending, 1, memory_order_relaxed);
    orr_admit_behind(rt, job, job->data.limited);
}

bool orr_job_fetch_rest(struct orr_runtime *rt, struct orr_job *job)
{
    while (job->left)
        if (!fetch_next(rt, job, choose_nodes(rt, job)))
            return false;
    return true;
}

void orr_job_ask(struct orr_runtime *rt, struct orr_job *job)
{
    int nthere = fetch_ask(rt, job);

    /* All but the last, which says that they have arrived. */
    atomic_fetch_sub_explicit(&job->data.pending, nthere - 1,
                              memory_order_release);
    orr_job_arrive(rt, job);
}

/* Whether a job writes the value now or will write it: one that is in the order, or one
 * without order that has claimed it. Jobs without order that have not claimed it yet
 * find the request when they begin, and make it stale. */
static bool has_writer_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    static const struct orr_access reader = {.mode = STARPU_R};

    return orr_handle_will_be_written_locked(handle) ||
           orr_handle_is_claimed_locked(handle, &reader);
}

/* The value is there, in memory that nothing else may take, and no job is about to
 * change it, nor has contributed to it: the usual case. */
static bool stays_there_locked(const struct orr_runtime *rt,
                               struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock)
{
    return atomic_load_explicit(&handle->valid, memory_order_relaxed) >> node &
               1 &&
           orr_turns_empty(&handle->turns) && handle->claims.n == 0 &&
           !handle->reduction && !rt->nodes->at[node].capacity;
}

bool orr_handle_stays_there(const struct orr_runtime *rt,
                            struct orr_handle *handle, unsigned node)
{
    bool stays;

    orr_lock(&handle->lock);
    stays = stays_there_locked(rt, handle, node);
    orr_unlock(&handle->lock);
    return stays;
}

/* `value`: not only the memory; `checks`: if there is a writer, nothing is done and
 * false is returned. */
static bool handle_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                            unsigned node, enum orr_fetch_level level,
                            int priority, bool value, bool checks)
{
    struct orr_deferred deferred;
    bool done;

    orr_lock(&handle->lock);
    if (stays_there_locked(rt, handle, node)) {
        orr_unlock(&handle->lock);
        return true;
    }
    deferred = (struct orr_deferred){.priority = priority};
    while ((done = !checks || !has_writer_locked(handle)) &&
           orr_request_need(rt, handle, node, value, level, NULL, &deferred) ==
               -EAGAIN) {
        orr_unlock(&handle->lock);
        if (orr_deferred_more(rt, &deferred) != 0)
            return true; /* it would only have been faster */
        orr_lock(&handle->lock);
    }
    orr_unlock(&handle->lock);
    orr_deferred_run(rt, &deferred);
    return done;
}

void orr_handle_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node, enum orr_fetch_level level)
{
    (void)handle_prefetch(rt, handle, node, level, 0, true, false);
}

void orr_handle_allocate(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node)
{
    (void)handle_prefetch(rt, handle, node, ORR_PREFETCH, 0, false, false);
}

bool orr_handle_try_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                             unsigned node, enum orr_fetch_level level,
                             int priority)
{
    return handle_prefetch(rt, handle, node, level, priority, true, true);
}

/* Whether it is worth while to bring the value before the job asks for it. */
static bool is_prefetched(const struct orr_access *access)
{
    return !access->duplicate && access->mode & STARPU_R &&
           !(access->mode & STARPU_SCRATCH);
}

/* Promises are sorted by that number: it does not change any more. */
static void count_push(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_job_memory *memory = orr_job_memory(job);

    if (memory && !memory->pushed && orr_job_state(job) == ORR_JOB_READY)
        memory->pushed = atomic_fetch_add_explicit(&rt->tasks->last_push, 1,
                                                   memory_order_relaxed) +
                         1;
}

void orr_job_prefetch(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node, enum orr_fetch_level level)
{
    bool promises =
        rt->nodes->eviction->promises && level == ORR_PREFETCH &&
        (rt->nodes->at[node].capacity || rt->nodes->eviction->promise);

    if (rt->nodes->n == 1)
        return;
    look_at_memory(rt, job, node);
    if (promises)
        count_push(rt, job);
    if (job->task)
        job->task->prefetched = 1;
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = access->handle;
        int at = orr_access_place_for(access, node);

        if (at < 0 || !is_prefetched(access))
            continue;
        if (promises)
            fetch_promise(access, (unsigned)at);
        if ((atomic_load_explicit(&handle->valid, memory_order_relaxed) |
             atomic_load_explicit(&handle->loading, memory_order_relaxed)) >>
                at &
            1)
            continue;
        orr_handle_prefetch(rt, handle, (unsigned)at, level);
    }
}

void orr_job_expect(struct orr_runtime *rt, struct orr_job *job, unsigned node)
{
    if (!rt->nodes->eviction->promise || rt->nodes->n == 1)
        return;
    count_push(rt, job);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        int at = orr_access_place_for(access, node);

        if (at >= 0 && is_prefetched(access))
            fetch_promise(access, (unsigned)at);
    }
}

/* --- the kernel's view of the data --- */

/* Copies of the old value are of no use any more, but must not read what is being
 * written. They are made by threads that cannot wake a waiter, so the caller spins: for
 * one copy at most. */
static void handle_await_copies(const struct orr_handle *handle)
{
    ORR_SPIN_WHILE(
        atomic_load_explicit(&handle->ncopying, memory_order_acquire));
}

/* The old value on other nodes is of no use any more, and was not brought to the
 * writer: what lacks memory there is tried once more. */
static void tell_nodes(struct orr_runtime *rt, const struct orr_handle *handle,
                       unsigned node)
{
    uint64_t left =
        atomic_load_explicit(&handle->allocated, memory_order_relaxed) &
        ~(UINT64_C(1) << node);

    for (; left; left &= left - 1)
        orr_node_freed(rt, (unsigned)__builtin_ctzll(left));
}

/* Copies of the old value are out of date. A copy by which the value was to leave a
 * node, and that waits for memory, is not needed for that any more. */
static void begin_write(struct orr_runtime *rt, struct orr_access *access,
                        unsigned node)
{
    struct orr_handle *handle = orr_access_datum(access);
    struct orr_deferred deferred = {0};
    struct orr_request *dropped = NULL;

    orr_lock(&handle->lock);
    orr_handle_outdate_locked(handle, UINT64_C(1) << node);
    begin_write_locked(handle, access);
    if (handle->loading)
        dropped = orr_requests_cancel_locked(handle, &deferred);
    orr_unlock(&handle->lock);
    if (!dropped)
        return;
    orr_requests_free_dropped(rt, dropped);
    orr_deferred_run(rt, &deferred);
}

/* What is used nowhere still has a shape, on the worker's node. */
static void *fetch_take(struct orr_runtime *rt, struct orr_access *access,
                        unsigned node)
{
    struct orr_handle *handle = orr_access_datum(access);

    if (access->at == ORR_NO_PLACE)
        return handle->replicates[node].interface;
    node = access->at;
    if (access->mode & STARPU_SCRATCH)
        return handle->replicates[node].interface;
    if (access->mode & (STARPU_W | STARPU_REDUX) && !access->duplicate) {
        bool begins = !access->writes;

        if (begins)
            begin_write(rt, access, node);
        handle_await_copies(handle);
        if (begins && access_overwrites(access))
            tell_nodes(rt, handle, node);
    }
    access->job->converts |= handle->multiformat;
    return handle->replicates[node].interface;
}

void orr_job_take_data(struct orr_runtime *rt, struct orr_job *job,
                       unsigned node)
{
    if (atomic_load_explicit(&rt->nodes->nreturns, memory_order_relaxed))
        orr_traffic_use(job);
    for (unsigned i = 0; i < job->naccesses; i++) {
        void *interface = fetch_take(rt, &job->accesses[i], node);

        if (job->task && job->task->dyn_interfaces)
            job->task->dyn_interfaces[i] = interface;
        else if (job->task)
            job->task->interfaces[i] = interface;
    }
}

void orr_access_pause_write_locked(struct orr_handle *handle,
                                   struct orr_access *access)
{
    handle->writing -= access->writes;
    access->writes = 0;
}

void orr_access_resume_write(struct orr_runtime *rt, struct orr_access *access)
{
    struct orr_handle *handle = access->handle;

    if (!(access->mode & STARPU_W))
        return;
    begin_write(rt, access, access->node);
    handle_await_copies(handle);
}

void orr_access_end_write_locked(struct orr_handle *handle,
                                 struct orr_access *access)
{
    handle->replicates[access->node].writers -= access_overwrites(access);
    handle->writing -= access->writes;
    access->writes = 0;
}

void orr_access_drop_locked(struct orr_handle *handle,
                            struct orr_access *access,
                            struct orr_deferred *deferred)
{
    struct orr_replicate *replicate = &handle->replicates[access->node];

    if (!access->pinned) { /* but what was lent may have come back to a writer */
        orr_access_pause_write_locked(handle, access);
        return;
    }
    access->pinned = 0;
    if (handle == access->handle)
        access->used = 1;
    orr_access_end_write_locked(handle, access);
    if (--replicate->refs == 0 && (replicate->block || replicate->reserved))
        orr_node_offer(handle, access->node, deferred);
}

void orr_job_drop_data(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_deferred deferred = {0};

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = orr_access_datum(access);

        if (!access->pinned)
            continue;
        orr_lock(&handle->lock);
        orr_access_drop_locked(handle, access, &deferred);
        orr_unlock(&handle->lock);
    }
    if (orr_job_admitted(job))
        orr_admit_leave(rt, job, &deferred);
    orr_deferred_run(rt, &deferred);
}

/* --- writing through --- */

/* Called while the job has its turn, so that no other job writes the value, but those
 * without order. */
static void copy_to_all(struct orr_runtime *rt, struct orr_handle *handle)
{
    uint64_t left = handle->written_through;

    for (; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);

        if (node < handle->nnodes)
            orr_handle_prefetch(rt, handle, node, ORR_IDLE_PREFETCH);
    }
}

void orr_job_write_through(struct orr_runtime *rt, struct orr_job *job)
{
    bool dropped = false;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        if (!(access->mode & STARPU_W) || !access->handle->written_through ||
            access->duplicate || access->mode & STARPU_SCRATCH)
            continue;
        if (!dropped)
            orr_job_drop_data(rt, job);
        dropped = true;
        if (access->handle->valid)
            copy_to_all(rt, access->handle);
    }
}
